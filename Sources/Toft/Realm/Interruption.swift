internal import ToftEngine

extension Realm {
    /// Ends long operations from another thread: `Realm.interruption` the waits and queries of a
    /// realm, one of your own in `Realm.Configuration.interruption` an opening. Any thread may use
    /// it. Realm has nothing like it.
    ///
    /// ```swift
    /// let interruption = realm.interruption
    /// stopButton.action = { interruption.interrupt() }
    /// try realm.write { ... }      // throws Realm.Error with code .interrupted
    /// ```
    public struct Interruption: Sendable {
        let engine: ToftEngine.Interruption

        init(_ engine: ToftEngine.Interruption) {
            self.engine = engine
        }

        /// One that is not a realm's, to be given to configurations.
        public init() {
            self.init(ToftEngine.Interruption())
        }

        /// Ends pending operations with `.interrupted`: a wait within 50 ms, a query within the
        /// next thousand objects. For a realm it ends nothing that begins later; an opening whose
        /// configuration has it also ends if this was called before.
        public func interrupt() { engine.interrupt() }
    }

    /// Ends waits for other writers (`write`, `beginWrite`, `flush`) and queries of this realm,
    /// from any thread. Pending operations end with `.interrupted`; a call that can't throw it
    /// passes it to `failureHandler`, so run a query that may be interrupted in `Realm.attempt`.
    /// For a frozen realm it ends the queries of all threads. Realm has nothing like it.
    public var interruption: Interruption { Interruption(session.engine.interruption) }
}
