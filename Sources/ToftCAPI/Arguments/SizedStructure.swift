internal import CToft
internal import ToftEngine

/// A C structure that begins with its own size, so that it can grow: convention 4 of toft.h.
protocol SizedStructure {
    init()
    var size: Int { get set }
    /// Its size in ABI version 2: the least that is accepted.
    static var firstSize: Int { get }
}

extension toft_error: SizedStructure { static var firstSize: Int { 56 } }
extension toft_property_schema: SizedStructure { static var firstSize: Int { 64 } }
extension toft_unique: SizedStructure { static var firstSize: Int { 24 } }
extension toft_class_schema: SizedStructure { static var firstSize: Int { 48 } }
extension toft_configuration: SizedStructure { static var firstSize: Int { 88 } }
extension toft_write_options: SizedStructure { static var firstSize: Int { 16 } }
extension toft_commit_options: SizedStructure { static var firstSize: Int { 32 } }
extension toft_observe_options: SizedStructure { static var firstSize: Int { 32 } }
extension toft_class_info: SizedStructure { static var firstSize: Int { 48 } }
extension toft_property_info: SizedStructure { static var firstSize: Int { 48 } }
extension toft_column: SizedStructure { static var firstSize: Int { 32 } }
extension toft_input_column: SizedStructure { static var firstSize: Int { 72 } }
extension toft_database_info: SizedStructure { static var firstSize: Int { 80 } }
extension toft_check_report: SizedStructure { static var firstSize: Int { 32 } }
extension toft_compaction: SizedStructure { static var firstSize: Int { 24 } }
extension toft_compaction_step: SizedStructure { static var firstSize: Int { 48 } }
extension toft_salvage_options: SizedStructure { static var firstSize: Int { 104 } }
extension toft_salvage_report: SizedStructure { static var firstSize: Int { 40 } }
extension toft_import_realm_options: SizedStructure { static var firstSize: Int { 112 } }
extension toft_import_realm_report: SizedStructure { static var firstSize: Int { 40 } }

extension Argument {
    /// A structure that the caller filled in. Members that an older caller does not know read as
    /// zero.
    static func structure<Structure: SizedStructure>(
        _ pointer: UnsafePointer<Structure>?, _ name: StaticString
    ) throws(EngineError) -> Structure {
        let pointer = try self.pointer(pointer, name)
        return try copy(UnsafeRawPointer(pointer), size: size(of: pointer, name), name)
    }

    /// Options that the caller may leave out: NULL reads as zeros.
    static func options<Structure: SizedStructure>(
        _ pointer: UnsafePointer<Structure>?, _ name: StaticString
    ) throws(EngineError) -> Structure {
        pointer == nil ? Structure() : try structure(pointer, name)
    }

    /// An array of structures, spaced by the size that the first one gives.
    static func structures<Structure: SizedStructure>(
        _ pointer: UnsafePointer<Structure>?, _ count: Int, _ name: StaticString
    )
        throws(EngineError) -> [Structure]
    {
        _ = try array(pointer, count, name)
        guard count > 0, let pointer else { return [] }
        let stride = try size(of: pointer, name)
        var structures: [Structure] = []
        for index in 0..<count {
            let element = UnsafeRawPointer(pointer) + index * stride
            guard element.loadUnaligned(as: Int.self) == stride else {
                throw .invalidArgument(
                    "Element \(index) of '\(name)' has another size than the first.")
            }
            structures.append(try copy(element, size: stride, name))
        }
        return structures
    }

    /// Writes a result, only the members that the caller knows, and their size into its `size`.
    /// Call it last: nothing may fail after it.
    static func fill<Structure: SizedStructure>(
        _ pointer: UnsafeMutablePointer<Structure>, _ structure: Structure
    ) {
        var structure = structure
        structure.size = min(pointer.pointee.size, MemoryLayout<Structure>.size)
        withUnsafeBytes(of: structure) { bytes in
            UnsafeMutableRawPointer(pointer).copyMemory(
                from: bytes.baseAddress.unsafelyUnwrapped, byteCount: structure.size)
        }
    }

    /// Room for a structure whose size the caller has set.
    static func outStructure<Structure: SizedStructure>(
        _ pointer: UnsafeMutablePointer<Structure>?, _ name: StaticString
    )
        throws(EngineError) -> UnsafeMutablePointer<Structure>
    {
        let pointer = try out(pointer, name)
        _ = try size(of: UnsafePointer(pointer), name)
        return pointer
    }

    /// The largest structure that a later version could have; more is a size that nobody set.
    private static var largestSize: Int { 4096 }

    private static func size<Structure: SizedStructure>(
        of pointer: UnsafePointer<Structure>, _ name: StaticString
    ) throws(EngineError) -> Int {
        let size = UnsafeRawPointer(pointer).loadUnaligned(as: Int.self)
        guard size >= Structure.firstSize, size <= largestSize, size % 8 == 0 else {
            throw .invalidArgument(
                "The size of '\(name)' is \(UInt(bitPattern: size)), not "
                    + "sizeof(\(Structure.self)); use TOFT_INITIALIZE."
            )
        }
        return size
    }

    private static func copy<Structure: SizedStructure>(
        _ source: UnsafeRawPointer, size: Int, _ name: StaticString
    ) throws(EngineError) -> Structure {
        let known = MemoryLayout<Structure>.size
        if size > known {
            for offset in known..<size
            where source.load(fromByteOffset: offset, as: UInt8.self) != 0 {
                throw EngineError(
                    .unsupported,
                    "'\(name)' needs something that this version of the library does not have.")
            }
        }
        var structure = Structure()
        withUnsafeMutableBytes(of: &structure) { bytes in
            bytes.baseAddress.unsafelyUnwrapped.copyMemory(
                from: source, byteCount: min(size, known))
        }
        return structure
    }
}
