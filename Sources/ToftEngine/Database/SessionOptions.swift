/// The options of an opening that its session keeps.
package struct SessionOptions: Sendable {
    /// Whose thread a session is.
    package enum Confinement: Sendable {
        /// The thread that opens it; use on another one is an error.
        case thread
        /// No thread: the caller makes sure that calls come one after the other (a serial queue, an
        /// actor, a lock).
        case caller
    }

    package var confinement = Confinement.thread
    /// Whether the session was opened for reading only.
    package var isReadOnly = false
    /// How long `beginWrite` waits for other writers. Nil: as long as it takes; 0: not at all.
    package var writeTimeoutMilliseconds: Int?
    /// Versions at most that may be read or newest when a write transaction begins, over all
    /// processes; nil: any number.
    package var maximumActiveVersions: UInt64?
}
