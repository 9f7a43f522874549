public import CPlatform

/// Memory for an instance of a class, with a header that counts one reference.
///
/// It is public because only public code is inlined in other modules.
/// - Parameters:
///   - metadata: the runtime's metadata of the class.
///   - size: in bytes, with the header.
///   - alignmentMask: the alignment, less 1.
/// - Returns: the instance; the caller fills in the part after the header.
@inlinable @inline(__always)
public func allocateObject(
    _ metadata: UnsafeRawPointer, _ size: Int, _ alignmentMask: Int
) -> UnsafeMutableRawPointer {
    // If memory is exhausted, the runtime ends the process.
    platform_allocate_object(metadata, size, alignmentMask).unsafelyUnwrapped
}
