/// A session's part in observation.
struct ObservationScope {
    /// The session's channel of the notifier, from the first observer on.
    var channel: Channel?
    /// Whether the notifier works for the channel.
    var isServed = false
    /// Number of nested handlers that the session is in.
    var depth = 0
    /// True while observers of the whole database are being notified of the session's own commit.
    var isNotifyingOwnCommit = false
}
