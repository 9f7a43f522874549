internal import Synchronization
internal import ToftEngine

/// A variable for something that belongs to a thread: a read gives the instance of the
/// reading thread's realm; nil once the object has been deleted.
///
/// ```swift
/// final class Kennel: @unchecked Sendable {
///     @ThreadSafe var favourite: Dog?
/// }
/// ```
///
/// Reading it opens the realm on this thread and takes it to the newest version, unless it is
/// writing. Only managed values can be kept so.
@propertyWrapper
public final class ThreadSafe<Confined: ThreadConfined>: Sendable {
    private struct Kept {
        let carrier: _Carrier
        let configuration: Realm.Configuration
    }

    private let kept: Mutex<Kept?>

    public init(wrappedValue: Confined?) {
        kept = Mutex(Self.keep(wrappedValue))
    }

    /// The value, in this thread's realm.
    public var wrappedValue: Confined? {
        get {
            guard let kept = kept.withLock({ $0 }) else { return nil }
            return Misuse.reporting { () -> Confined? in
                let session = try RealmSession.open(kept.configuration, nil)
                _ = try session.engine.refresh()
                return try kept.carrier.resolve(session) as? Confined
            } ?? nil
        }
        set {
            let new = Self.keep(newValue)
            kept.withLock { $0 = new }
        }
    }

    private static func keep(_ value: Confined?) -> Kept? {
        guard let value else { return nil }
        return Misuse.reporting { () -> Kept? in
            let carrier = try value._carry()
            return value.realm.map { Kept(carrier: carrier, configuration: $0.configuration) }
        } ?? nil
    }
}
