package import ToftPlatform

/// A disk whose mappings show another file than its descriptor.
package final class LayeredFile: WrappedFile, @unchecked Sendable {
    private let mapped: any StorageFile

    package init(_ base: any StorageFile, mapping: any StorageFile) {
        mapped = mapping
        super.init(base)
    }

    package override func map(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer)
        throws(SystemError)
    {
        try mapped.map(range, at: address)
    }
}
