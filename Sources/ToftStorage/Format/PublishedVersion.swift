/// A version that readers may see.
package struct PublishedVersion: Equatable, Sendable {
    package var version: Version
    package var root: Ref
    /// The file is at least so large as long as this version is pinned.
    package var fileSize: UInt64
    /// The end of the log after it.
    package var log: LogEnd
    /// The log is durable up to here, see `Coordinator.durableLog(of:)`.
    package var durableLog: LogPosition

    package init(
        version: Version, root: Ref, fileSize: UInt64, log: LogEnd = .start,
        durableLog: LogPosition = 0
    ) {
        self.version = version
        self.root = root
        self.fileSize = fileSize
        self.log = log
        self.durableLog = durableLog
    }
}

extension PublishedVersion {
    /// The version of a meta.
    init(_ meta: Meta) {
        self.init(
            version: meta.version, root: meta.root, fileSize: meta.pageCount * UInt64(Page.size),
            log: meta.log, durableLog: meta.log.position)
    }
}
