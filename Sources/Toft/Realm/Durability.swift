internal import ToftEngine
internal import ToftPlatform
internal import ToftStorage

extension Realm {
    /// When a write transaction is durable: there again after the machine stops (power, kernel).
    /// Whichever is chosen, every process sees the transaction when it has been committed, and no
    /// crash or kill of a process loses it.
    ///
    /// ```swift
    /// for reading in readings {
    ///     try realm.write(durability: .deferred) { realm.add(reading) }
    /// }
    /// try realm.flush()        // now all of them are on disk
    /// ```
    public enum Durability: Sendable {
        /// When the commit returns. It costs a durable write.
        case immediate
        /// When the commit returns. Commits of several threads of the process share a durable
        /// write: more of them in a second, while one may take longer. Alone it is like
        /// `immediate`.
        case group
        /// Later: with the next commit that is not deferred, with `flush()`, about a second after
        /// the last commit, when much waits (16 MiB), or when the file is closed. Until then a
        /// crash of the machine may take back the last commits, never one while a later one stays.
        /// It costs no durable write. Large transactions, and the first in a file since it was
        /// closed, are durable when they return.
        case deferred
    }

    /// Makes every commit so far durable, of any realm and any process, and returns then; at once
    /// when all are. Waits for other writers.
    public func flush() throws {
        defer { Diagnostics.deliver() }
        do throws(EngineError) {
            try session.verify()
            try session.engine.flush()
        } catch {
            throw Realm.Error(telling: error)
        }
    }
}

extension Realm.Durability {
    /// The storage's form of it.
    var stored: ToftStorage.Durability {
        switch self {
        case .immediate: .immediate
        case .group: .group
        case .deferred: .deferred
        }
    }
}
