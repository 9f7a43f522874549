internal import Foundation

/// The changes of something live, one after the other, as `observe` tells them: an `AsyncSequence`.
///
/// ```swift
/// for await change in realm.objects(Dog.self).changes {
///     guard case .update(let dogs, _, let insertions, _) = change else { continue }
///     for index in insertions { print("new:", dogs[index].name) }
/// }
/// ```
///
/// To be gone through where the realm belongs: on its actor, or on the main actor that of the main
/// thread. The observation begins with the loop and ends with it, with its task, and with what is
/// observed. A loop that takes its time misses nothing: changes wait, each with the indices of its
/// own time, while what is observed goes on to what it is now. Anywhere else there is nothing, and
/// it is misuse, as with `observe`.
public struct ChangeSequence<Change>: AsyncSequence {
    public typealias Element = Change
    public typealias Failure = Never

    private let begin: (@escaping (Change) -> Void) -> NotificationToken
    private let isLast: (Change) -> Bool

    init(
        isLast: @escaping (Change) -> Bool = { _ in false },
        _ begin: @escaping (@escaping (Change) -> Void) -> NotificationToken
    ) {
        self.isLast = isLast
        self.begin = begin
    }

    /// Begins the observation.
    public func makeAsyncIterator() -> Iterator {
        Iterator(waiting: WaitingChanges(begin, isLast))
    }

    /// One loop through the changes.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let waiting: WaitingChanges<Change>

        /// The next change, as soon as there is one; nil after the last, and once the task has been
        /// cancelled.
        /// - Parameter actor: where this is called; not to be given.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async
            -> Change?
        {
            await waiting.next(isolation: actor)
        }
    }
}

@available(*, unavailable, message: "Changes belong to the actor of their realm")
extension ChangeSequence: Sendable {}

/// The changes that an observer was told and a loop has not taken yet.
///
/// `@unchecked Sendable`: the lock guards what changes; the changes themselves are put in and taken
/// out where the realm belongs.
private final class WaitingChanges<Change>: @unchecked Sendable {
    private let lock = NSLock()
    private var changes: [Change] = []
    private var isOver = false
    private var sleeper: CheckedContinuation<Void, Never>?
    private var token: NotificationToken?

    init(
        _ begin: (@escaping (Change) -> Void) -> NotificationToken,
        _ isLast: @escaping (Change) -> Bool
    ) {
        let token = begin { [weak self] change in self?.add(change, isLast: isLast(change)) }
        self.token = token
        if token.isEnded { isOver = true }
    }

    private func add(_ change: Change, isLast: Bool) {
        wake {
            guard !isOver else { return }
            changes.append(change)
            isOver = isLast
        }
    }

    /// Ends the observation; what waits is forgotten.
    private func end() {
        wake {
            isOver = true
            changes = []
        }
        lock.withLock { token }?.invalidate()
    }

    private func wake(after change: () -> Void) {
        let sleeper = lock.withLock {
            change()
            defer { self.sleeper = nil }
            return self.sleeper
        }
        sleeper?.resume()
    }

    func next(isolation actor: isolated (any Actor)?) async -> Change? {
        while true {
            let (found, isOver) = take()
            if found != nil || isOver { return found }
            await withTaskCancellationHandler {
                await withCheckedContinuation(isolation: actor) { sleep($0) }
            } onCancel: {
                end()
            }
        }
    }

    private func take() -> (change: Change?, isOver: Bool) {
        lock.withLock { (changes.isEmpty ? nil : changes.removeFirst(), isOver) }
    }

    private func sleep(_ continuation: CheckedContinuation<Void, Never>) {
        let isDue = lock.withLock {
            let isDue = isOver || !changes.isEmpty
            if !isDue { sleeper = continuation }
            return isDue
        }
        if isDue { continuation.resume() }
    }
}

// MARK: Subjects

extension RealmCollection {
    /// The changes that `observe` tells of the collection, for a `for await` loop: first
    /// `.initial`, then an `.update` for each change.
    public var changes: ChangeSequence<RealmCollectionChange<Self>> { changes(of: nil) }

    /// The changes, of which only some properties of the elements count as their modification.
    /// - Parameter keyPaths: as of `observe`.
    public func changes(keyPaths: [String]) -> ChangeSequence<RealmCollectionChange<Self>> {
        changes(of: keyPaths)
    }

    private func changes(of keyPaths: [String]?) -> ChangeSequence<RealmCollectionChange<Self>> {
        ChangeSequence(isLast: { if case .error = $0 { true } else { false } }) { block in
            observe(keyPaths: keyPaths, block)
        }
    }
}

extension Map {
    /// The changes that `observe` tells of the map, for a `for await` loop: first `.initial`, then
    /// an `.update` for each change.
    public var changes: ChangeSequence<RealmMapChange<Map>> { changes(of: nil) }

    /// The changes, of which only some properties of the values count as their modification.
    /// - Parameter keyPaths: as of `observe`.
    public func changes(keyPaths: [String]) -> ChangeSequence<RealmMapChange<Map>> {
        changes(of: keyPaths)
    }

    private func changes(of keyPaths: [String]?) -> ChangeSequence<RealmMapChange<Map>> {
        ChangeSequence(isLast: { if case .error = $0 { true } else { false } }) { block in
            self.observe(keyPaths: keyPaths, block)
        }
    }
}

extension ThreadConfined where Self: ObjectBase {
    /// The changes that `observe` tells of the object, for a `for await` loop, which ends when the
    /// object has been deleted.
    public var changes: ChangeSequence<ObjectChange<Self>> { changes(of: nil) }

    /// The changes of some properties alone.
    /// - Parameter keyPaths: as of `observe`.
    public func changes(keyPaths: [String]) -> ChangeSequence<ObjectChange<Self>> {
        changes(of: keyPaths)
    }

    private func changes(of keyPaths: [String]?) -> ChangeSequence<ObjectChange<Self>> {
        ChangeSequence(isLast: \.isLast) { block in self.observe(keyPaths: keyPaths, block) }
    }
}

extension ProjectionObservable {
    /// The changes that `observe` tells of the projection, for a `for await` loop, which ends when
    /// the object has been deleted.
    public var changes: ChangeSequence<ObjectChange<Self>> {
        ChangeSequence(isLast: \.isLast) { block in self.observe(block) }
    }
}

extension RealmSectionedResult {
    /// The changes that `observe` tells of the sections, or the one section, for a `for await`
    /// loop.
    public var changes: ChangeSequence<SectionedResultsChange<Self>> {
        ChangeSequence { block in observe(block) }
    }
}

extension Realm {
    /// The notifications that `observe` tells of the realm, for a `for await` loop.
    public var changes: ChangeSequence<Notification> {
        ChangeSequence { block in observe { notification, _ in block(notification) } }
    }
}

extension ObjectChange {
    /// Whether nothing comes after it.
    fileprivate var isLast: Bool {
        switch self {
        case .change: false
        case .deleted, .error: true
        }
    }
}
