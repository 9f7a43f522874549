internal import Foundation
internal import ToftEngine

extension Realm {
    // MARK: Opening

    /// Opens a database for an actor: the realm, and everything read from it, is used in code that
    /// is isolated to it, whichever thread that runs on. Waiting and building by an opening happen
    /// on a thread of its own, while the actor does other work. A cancelled task throws
    /// `CancellationError`, and the file is then as it was.
    ///
    /// ```swift
    /// actor Kennel {
    ///     var realm: Realm!
    ///     init() async throws { realm = try await Realm(actor: self) }
    ///
    ///     func add(_ name: String) async throws {
    ///         try await realm.asyncWrite { realm.add(Dog(value: ["name": name])) }
    ///     }
    /// }
    /// ```
    ///
    /// Opening again for the same actor gives the same instance. The actor is not kept alive.
    /// - Parameters:
    ///   - configuration: of the database. Its `interruption` and `progress` are not looked at.
    ///   - actor: where the realm belongs.
    ///   - downloadBeforeOpen: has no effect without sync.
    public init<Owner: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: isolated Owner,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws {
        self.init(try await RealmSession.opened(configuration, for: actor))
    }

    /// Opens a database for the main actor: `let realm = try await Realm()`.
    /// - Parameters:
    ///   - configuration: of the database.
    ///   - downloadBeforeOpen: has no effect without sync.
    @MainActor
    public init(
        configuration: Configuration = .defaultConfiguration,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws {
        self.init(try await RealmSession.opened(configuration, for: MainActor.shared))
    }

    /// Opens a database for the actor that the calling code is isolated to:
    /// `let realm = try await Realm.open()`.
    /// - Parameters:
    ///   - configuration: of the database.
    ///   - _isolation: where this is called; not to be given.
    ///   - downloadBeforeOpen: has no effect without sync.
    /// - Returns: the realm, as `init(configuration:actor:)` gives it.
    public static func open(
        configuration: Configuration = .defaultConfiguration,
        _isolation: isolated any Actor = #isolation,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws -> Realm {
        Realm(try await RealmSession.opened(configuration, for: _isolation))
    }

    /// The time at which a synchronised realm downloads what others have changed. Without sync
    /// there is nothing to download.
    public enum OpenBehavior: Sendable {
        /// It opens at once.
        case never
        /// When it opens for the first time.
        case once
        /// Whenever it opens.
        case always
    }

    // MARK: Writing and refreshing

    /// Runs the block in a write transaction and commits, as `write` does; while other writers, of
    /// any process, hold the lock, the actor does other work. Waiting writes of one realm happen in
    /// the order of the calls.
    ///
    /// It waits for another task's `beginWrite` of this realm, too; in the transaction of its own
    /// task it would wait without end, and throws `.alreadyInTransaction`.
    ///
    /// A task that is cancelled before its block runs throws `CancellationError`, and nothing is
    /// written. Differs from Realm: the commit reaches the disk before the actor continues.
    /// - Parameters:
    ///   - durability: when the changes are on disk, if not at once. Realm has nothing like it.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: makes the changes; an error that it throws cancels them.
    /// - Returns: the block's result.
    @discardableResult
    public func asyncWrite<Result>(
        durability: Durability = .immediate, _isolation: isolated any Actor = #isolation,
        _ block: () throws -> Result
    ) async throws -> Result {
        try await session.beginLater(_isolation)
        return try finishWrite([], durability, block)
    }

    /// Goes to the newest version and calls the observers that are due, after other work of the
    /// actor that waits.
    /// - Parameter _isolation: the caller's isolation; not to be given.
    /// - Returns: false if no version is newer, as `refresh`.
    @discardableResult
    public func asyncRefresh(_isolation: isolated any Actor = #isolation) async -> Bool {
        await Task.yield()
        return refresh()
    }
}

extension RealmSession {
    /// Opens a database for an actor.
    fileprivate static func opened(
        _ configuration: Realm.Configuration, for actor: isolated any Actor
    ) async throws -> RealmSession {
        let held = try await OpenedElsewhere.open(configuration)
        // Open until the actor has its own: so that one in memory stays.
        defer { withExtendedLifetime(held) {} }
        return try RealmSession.open(configuration.opened, Place(actor))
    }

    /// Begins a write transaction when nobody else writes, and earlier requests have begun. Other
    /// work happens meanwhile, but nothing between the beginning and the return.
    fileprivate func beginLater(_ actor: isolated any Actor) async throws {
        lastWriteID &+= 1
        let id = lastWriteID
        waitingTasks.append(id)
        defer { waitingTasks.removeAll { $0 == id } }
        let start = ContinuousClock.now
        while true {
            try Task.checkCancellation()
            if waitingTasks.first == id, try beginNow(since: start) { return }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// The identity of the running task; nil outside of tasks.
    static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// Whether a write transaction of this realm is open that continues while the running task
    /// waits.
    private var isWritingElsewhere: Bool { isWriting && writingTask != Self.currentTask }

    /// Begins a write transaction if nobody else writes.
    private func beginNow(since start: ContinuousClock.Instant) throws -> Bool {
        do {
            try beginWrite(timeoutMilliseconds: 0)
            return true
        } catch {
            let error = Realm.Error(wrapping: error)
            let isOverdue = configuration.writeTimeout.map { ContinuousClock.now - start > $0 }
            let isWait =
                error.code == .lockTimeout
                || error.code == .alreadyInTransaction && isWritingElsewhere
            guard isWait, isOverdue != true else {
                throw error
            }
            return false
        }
    }
}

/// A realm that a thread of its own has opened, kept until another one is. `@unchecked Sendable`:
/// it is never used, only released.
private struct OpenedElsewhere: @unchecked Sendable {
    let realm: Realm

    static func open(_ configuration: Realm.Configuration) async throws -> OpenedElsewhere {
        let interruption = Realm.Interruption()
        var opening = configuration.opened
        opening.interruption = interruption
        try Task.checkCancellation()
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    Thread { [opening] in
                        continuation.resume(
                            with: Result {
                                OpenedElsewhere(realm: try Realm(configuration: opening))
                            })
                    }.start()
                }
            } onCancel: {
                interruption.interrupt()
            }
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }
}
