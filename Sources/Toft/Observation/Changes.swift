/// The changes of a collection since the observer was last called. Indices ascend.
public enum RealmCollectionChange<CollectionType> {
    /// The first call: the collection can be read.
    case initial(CollectionType)
    /// Elements were deleted, inserted or changed. Deletions and modifications are indices in the
    /// old contents, insertions in the new: remove the deletions from the last to the first, insert
    /// the insertions from the first to the last. An element that moves is a deletion and an
    /// insertion. A list whose object was deleted is reported with all its elements as deletions.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// Changes could not be computed; the last call.
    case error(any Error)
}

/// The changes of an object since the observer was last called.
public enum ObjectChange<ObjectType> {
    /// Changes could not be computed; the last call.
    case error(any Error)
    /// Properties were set, also to the value that they had, or lists edited.
    case change(ObjectType, [PropertyChange])
    /// The object is deleted; the last call.
    case deleted
}

/// A property that was set.
public struct PropertyChange {
    public let name: String
    /// The value that the property had at the last call, even if this thread's own commit changed
    /// it, which Realm does not report. Nil for lists and linking objects, and for a link to an
    /// object that was deleted since. A linked object shows its present values.
    public let oldValue: Any?
    /// The value that the property has now; nil for lists and linking objects.
    public let newValue: Any?
}

/// A projected property that was set.
public typealias ProjectedPropertyChange = PropertyChange

extension Realm {
    /// The notifications for an observer of a whole realm.
    public enum Notification: String, Sendable {
        /// The realm shows a newer version now.
        case didChange = "RLMRealmDidChangeNotification"
        /// There is a newer version, and the realm does not go to it by itself (`autorefresh`).
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }
}

/// The block of an observer of a whole realm.
public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void
