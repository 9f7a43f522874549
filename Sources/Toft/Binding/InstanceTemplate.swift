internal import ToftPlatform

/// A new instance of a class as bytes, for classes whose instances have no state but that of their
/// object: an accessor is a copy of them.
///
/// An initializer visits each property by itself, and draws the defaults of dates and ids, which an
/// accessor never shows: several times the cost of the memory that an instance takes.
struct InstanceTemplate: @unchecked Sendable {
    /// The runtime's metadata of the class.
    private let metadata: UnsafeRawPointer
    private let alignmentMask: Int
    /// All that follows the header, without a reference to anything.
    private let state: UnsafeRawBufferPointer

    /// The metadata and the counts of references.
    private static let headerSize = 16

    /// - Parameter instance: an unmanaged one, in which no property has a value that holds memory.
    /// - Parameter properties: those of its class.
    init(_ instance: ObjectBase, _ properties: [ModelProperty]) {
        alignmentMask = properties.reduce(MemoryLayout<Int>.alignment - 1) {
            $0 | ($1.wrapper.alignment - 1)
        }
        let size = Int(extents(of: type(of: instance)).positive)
        (metadata, state) = withExtendedLifetime(instance) {
            let address = UnsafeRawPointer(Unmanaged.passUnretained(instance).toOpaque())
            let copy = UnsafeMutableRawBufferPointer.allocate(
                byteCount: size - Self.headerSize, alignment: Self.headerSize)
            copy.copyMemory(
                from: UnsafeRawBufferPointer(
                    start: address + Self.headerSize, count: copy.count))
            return (address.load(as: UnsafeRawPointer.self), UnsafeRawBufferPointer(copy))
        }
    }

    /// An unmanaged instance, its properties as they are in the template.
    func makeInstance() -> ObjectBase {
        let object = allocateObject(metadata, Self.headerSize + state.count, alignmentMask)
        UnsafeMutableRawBufferPointer(start: object + Self.headerSize, count: state.count)
            .copyMemory(from: state)
        return Unmanaged<ObjectBase>.fromOpaque(object).takeRetainedValue()
    }
}

/// The bytes of an instance before its address, always 0 in Swift classes, and from there.
@_silgen_name("_swift_getSwiftClassInstanceExtents")
private func extents(of type: AnyClass) -> (negative: UInt, positive: UInt)
