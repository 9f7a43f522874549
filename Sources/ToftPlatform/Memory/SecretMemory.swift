internal import Glibc

/// Memory for keys: zeroed at its end.
///
/// `@unchecked Sendable`: it is filled before it is shared.
package final class SecretMemory: @unchecked Sendable {
    package let bytes: UnsafeMutableRawBufferPointer

    /// Zeroed memory.
    package init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) }
        bytes.deallocate()
    }
}
