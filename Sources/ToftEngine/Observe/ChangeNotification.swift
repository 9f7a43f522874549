package import ToftStorage

/// One call of an observer.
package struct ChangeNotification {
    package enum Kind: Sendable {
        /// The first call for results and lists: nothing is listed, the contents can be read.
        case initial
        case update
        /// The subject was deleted. The last call.
        case deleted
        /// Changes could not be computed. The last call.
        case failure(EngineError)
    }

    package let kind: Kind
    /// The version of the last call; 0 at the first.
    package let previousVersion: Version
    /// The session's version.
    package let version: Version
    /// Of a list or of results.
    package var collection = CollectionChange()
    /// Of an object.
    package var object = ObjectChange()

    init(_ kind: Kind, from previousVersion: Version, to version: Version) {
        self.kind = kind
        self.previousVersion = previousVersion
        self.version = version
    }

    /// Whether no other call follows.
    var isLast: Bool {
        switch kind {
        case .initial, .update: false
        case .deleted, .failure: true
        }
    }
}

/// An observer's handler, called on the session's thread. It may call anything, end its own
/// observation and others.
package typealias NotificationHandler = (ChangeNotification) -> Void
