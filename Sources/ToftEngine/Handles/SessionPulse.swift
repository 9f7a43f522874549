internal import ToftStorage

/// What tells at the cost of a few loads whether a session is where it was: it lies in memory of its own, which lives as long as the session.
package struct SessionPulse {
    /// Grows with everything that may change what is read, or where it lies: whoever keeps pointers into the file compares it before each use.
    package internal(set) var moment: UInt64 = 1
    /// Whose thread the session is, for who wants to ask quickly: set by the door, 0 where that can't be told so.
    package var thread: UInt = 0
    private let generation = ForkGuard.generation
    private let word = ForkGuard.word

    /// Whether nothing has changed since a moment, in this process. Says nothing of threads.
    @inline(__always)
    package func isAt(_ moment: UInt64) -> Bool {
        self.moment == moment && word.pointee == generation
    }
}
