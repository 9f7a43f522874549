public import Toft

// Names of RealmSwift that Toft does not have: the compiler says what to write instead.

/// An app of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class App {}

/// How an app of the server is reached.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class AppConfiguration {}

/// A user who has logged in.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class User {}

/// The facts that a server knows of a user.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct UserProfile {}

/// How a user has logged in.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct UserIdentity {}

/// The secret of a user who logs in.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum Credentials {}

/// How a realm is synchronised.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct SyncConfiguration {}

/// A connection to the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class SyncSession {}

/// The settings that all connections share.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class SyncManager {}

/// An error of a connection.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct SyncError {}

/// How long connections wait.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct SyncTimeoutOptions {}

/// The choice of what happens when client and server differ.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum ClientResetMode {}

/// Which part of the data is synchronised.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum PartitionValue {}

/// A query whose results are synchronised.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct SyncSubscription {}

/// The queries whose results are synchronised.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct SyncSubscriptionSet {}

/// How far subscriptions are.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum SyncSubscriptionState {}

/// A query whose results are to be synchronised.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct QuerySubscription<T> {}

/// When a subscription waits for the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum WaitForSyncMode {}

/// Whether progress is of up- or downloads.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum ProgressDirection {}

/// When progress ends.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum ProgressMode {}

/// A service of the server that has collections.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class MongoClient {}

/// A database of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class MongoDatabase {}

/// A collection of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class MongoCollection {}

/// A stream of changes of a collection of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct ChangeStream {}

/// An observer of changes on the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public protocol ChangeEventDelegate {}

/// How a collection of the server is searched.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class FindOptions {}

/// How one document of the server is changed.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class FindOneAndModifyOptions {}

/// How many documents of the server were changed.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public final class UpdateResult {}

/// The functions of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct Functions {}

/// A function of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct FunctionCallable {}

/// A client that registers a device for messages of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct PushClient {}

/// A client that registers users of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct EmailPasswordAuth {}

/// A client that makes keys of users of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct APIKeyAuth {}

/// A key of a user of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct UserAPIKey {}

/// A value that may be in documents of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public protocol BSON {}

/// A value in a document of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public enum AnyBSON {}

/// Settings of what the server is told of reads and writes.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct EventConfiguration {}

/// The client that tells the server of reads and writes.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct Events {}

/// How a user logs in.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public struct Provider {}

/// An object that only goes to a server.
@available(*, unavailable, message: "Toft has no sync with a server: derive from Object")
open class AsymmetricObject {}

/// A document of the server.
@available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
public typealias Document = [String: Any]

extension Realm {
    /// The connection to the server.
    @available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
    public var syncSession: Any? { nil }

    /// The queries whose results are synchronised.
    @available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
    public var subscriptions: Any? { nil }

    /// The client that tells the server of reads and writes.
    @available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
    public var events: Any? { nil }
}

extension Realm.Configuration {
    /// How the realm is synchronised.
    @available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
    public var syncConfiguration: Any? { nil }

    /// Settings of what the server is told of reads and writes.
    @available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
    public var eventConfiguration: Any? { nil }
}

extension Results {
    /// Has a server send what these results find.
    @available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
    public func subscribe(name: String? = nil) -> Results { self }

    /// Has a server send what these results find no longer.
    @available(*, unavailable, message: "Toft has no sync with a server: open a local Realm()")
    public func unsubscribe() {}
}

extension Realm.Error {
    /// A session with the server that the client can't take part in.
    @available(*, unavailable, message: "Toft has no sync with a server")
    public static var incompatibleSession: Code { .fail }

    /// A query that the server refuses to synchronise.
    @available(*, unavailable, message: "Toft has no sync with a server")
    public static var subscriptionFailed: Code { .fail }

    /// A history of changes that the client can't take part in.
    @available(*, unavailable, message: "Toft has no sync with a server")
    public static var incompatibleHistories: Code { .fail }

    /// A backup before an upgrade of the file's format, which Toft makes in no opening.
    @available(*, unavailable, message: "Import files of Realm with Realm.importRealmFile")
    public static var backupFailed: Code { .fail }
}
