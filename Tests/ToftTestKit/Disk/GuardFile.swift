package import ToftPlatform

/// An image of a file in memory that says which file it is. Its mapping ends with its last page: a
/// read beyond that ends the process, as for a mapped file on a disk.
package final class GuardFile: WrappedFile, @unchecked Sendable {
    private let fileIdentity: FileIdentity

    /// Copies an image. `identity`: which file it says that it is.
    package init(_ image: [UInt8], identity: FileIdentity) throws {
        fileIdentity = identity
        super.init(try MemoryFile(content: image))
    }

    package override func identity() throws(SystemError) -> FileIdentity { fileIdentity }

    package override func close() throws(SystemError) { try base.close() }
}
