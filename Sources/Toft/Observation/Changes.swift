/// What happened to a collection since the observer was last called. Indices ascend.
public enum RealmCollectionChange<CollectionType> {
    /// The first call: the collection is there to be read.
    case initial(CollectionType)
    /// Elements went, came or changed. Deletions and modifications are indices in the old contents,
    /// insertions in the new: take the deletions out from the last to the first, put the insertions
    /// in from the first to the last. An element that moves is a deletion and an insertion. A list
    /// whose object was deleted is told with all its elements as deletions.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// Changes could not be worked out; the last call.
    case error(any Error)
}

/// What happened to an object since the observer was last called.
public enum ObjectChange<ObjectType> {
    /// Changes could not be worked out; the last call.
    case error(any Error)
    /// Properties were set, also to the value that they had, or lists edited.
    case change(ObjectType, [PropertyChange])
    /// The object is gone; the last call.
    case deleted
}

/// A property that was set.
public struct PropertyChange {
    public let name: String
    /// The value that the property had at the last call, also where this thread's own commit
    /// changed it, as Realm does not tell it. Nil for lists and linking objects, and for a link to
    /// what has been deleted since. A linked object shows what it holds now.
    public let oldValue: Any?
    /// The value that the property has now; nil for lists and linking objects.
    public let newValue: Any?
}

extension Realm {
    /// What an observer of a whole realm is told.
    public enum Notification: String, Sendable {
        /// The realm shows a newer version now.
        case didChange = "RLMRealmDidChangeNotification"
        /// There is a newer version, and the realm does not go to it by itself (`autorefresh`).
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }
}

/// What an observer of a whole realm has called.
public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void
