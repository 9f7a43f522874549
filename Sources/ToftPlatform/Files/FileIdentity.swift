/// A file's identity, whatever its path: two paths, symbolic links and hard links to one file have
/// one identity.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
