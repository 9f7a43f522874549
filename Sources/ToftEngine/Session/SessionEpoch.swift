internal import ToftPlatform

/// Tells a caller, at the cost of a few loads, if a session has moved: it is in memory of its own,
/// which lives as long as the session.
///
/// Nothing has changed since an epoch, if `number` is unchanged and `word` holds `generation`,
/// which it does in this process alone. Callers compare it themselves: calls from one module into
/// another are not inlined.
package struct SessionEpoch {
    /// The first field. It grows with every change that may affect reads, or their addresses: a
    /// holder of pointers into the file compares it before each use.
    package internal(set) var number: UInt64 = 1
    /// The value of `word` in a process that was not forked since.
    package let generation = ForkGuard.generation
    package let word = ForkGuard.word
}
