/// A version that readers may see.
package struct PublishedVersion: Equatable, Sendable {
    package var version: UInt64
    package var root: Ref
    /// The file is at least so large as long as this version is pinned.
    package var fileSize: UInt64
    /// Where the log stands after it.
    package var log: LogPosition
    /// The log is durable up to here, see `Coordinator.durableLog(of:)`.
    package var durableLog: UInt64

    package init(
        version: UInt64, root: Ref, fileSize: UInt64, log: LogPosition = .start,
        durableLog: UInt64 = 0
    ) {
        self.version = version
        self.root = root
        self.fileSize = fileSize
        self.log = log
        self.durableLog = durableLog
    }
}
