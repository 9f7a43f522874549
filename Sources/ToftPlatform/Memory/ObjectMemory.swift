public import CPlatform

/// Memory for an instance of a class, with a header that counts one reference.
///
/// Public because only what is public is inlined in other modules.
/// - Parameters:
///   - metadata: what the runtime knows the class by.
///   - size: in bytes, with the header.
///   - alignmentMask: the alignment, less 1.
/// - Returns: the instance; what follows the header is to be filled in.
@inlinable @inline(__always)
public func allocateObject(
    _ metadata: UnsafeRawPointer, _ size: Int, _ alignmentMask: Int
) -> UnsafeMutableRawPointer {
    // If memory is exhausted, the runtime ends the process.
    platform_allocate_object(metadata, size, alignmentMask).unsafelyUnwrapped
}
