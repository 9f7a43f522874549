internal import ToftModel
internal import ToftStorage

/// An observer's position: the version of its last notification.
struct ObservedVersion: Sendable {
    let view: ModelView
    /// The results in that version, if they have been evaluated.
    var order: ResultRows?

    var version: Version { view.version }
}
