package import ToftPlatform
internal import ToftStorage

/// A disk on which the file is cut each time just after its size was read.
package final class CutFile: WrappedFile, @unchecked Sendable {
    private let end: UInt64

    /// The file is cut to `pages` pages.
    package init(_ base: any StorageFile, pages: Int) {
        end = UInt64(pages * Page.size)
        super.init(base)
    }

    package override func size() throws(SystemError) -> UInt64 {
        let size = try base.size()
        try base.truncate(to: min(size, end))
        return size
    }
}
