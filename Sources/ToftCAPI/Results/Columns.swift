public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_results_columns(
    _ results: OpaquePointer?, _ first: UInt64, _ columns: UnsafePointer<toft_column>?,
    _ column_count: Int, _ capacity: Int,
    _ out_rows: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_rows, "out_rows")
        try Argument.checkCount(capacity, of: MemoryLayout<toft_string>.stride, "capacity")
        var buffers: [ColumnBuffer] = []
        for column in try Argument.structures(columns, column_count, "columns") {
            buffers.append(try ColumnBuffer(column, in: results))
        }
        out.pointee = try results.read(buffers, from: Argument.index(first), capacity: capacity)
    }
}

@c @implementation
public func toft_realm_columns(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ object_keys: UnsafePointer<Int64>?,
    _ nulls: UnsafePointer<UInt8>?, _ count: Int, _ columns: UnsafePointer<toft_column>?,
    _ column_count: Int
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let keys = try Argument.array(object_keys, count, "object_keys")
        try Argument.checkCount(count, of: MemoryLayout<toft_string>.stride, "count")
        var buffers: [ColumnBuffer] = []
        for column in try Argument.structures(columns, column_count, "columns") {
            buffers.append(try ColumnBuffer(column, of: try session.classHandle(class_key)))
        }
        try session.read(buffers, of: class_key, keys: keys, nulls: nulls)
    }
}

extension ColumnBuffer {
    fileprivate init(_ column: toft_column, in results: Results) throws(EngineError) {
        guard let classID = results.classID else {
            throw EngineError(
                .typeMismatch, "These are results of values; columns are those of objects.")
        }
        try self.init(column, of: try results.session.classHandle(classID))
    }

    /// A column of C: the caller's element size has to be that of the property's type.
    fileprivate init(_ column: toft_column, of owner: ClassHandle) throws(EngineError) {
        guard let values = column.values else { throw Argument.isNull("values") }
        let needed = try Self.elementSize(of: column.property_key, owner)
        guard column.element_size == needed else {
            throw .invalidArgument(
                "The elements of column \(column.property_key) have \(needed) bytes, but "
                    + "element_size is \(column.element_size)."
            )
        }
        self.init(
            property: column.property_key == 0 ? nil : column.property_key, values: values,
            nulls: column.nulls)
    }

    private static func elementSize(of key: PropertyID, _ owner: ClassHandle) throws(EngineError)
        -> Int
    {
        if key == 0 { return MemoryLayout<Int64>.size }
        let property = try model { () throws(ModelError) in try owner.property(id: key) }
        guard let size = elementSize(of: property) else {
            throw EngineError(
                .typeMismatch,
                "Property '\(property.className).\(property.name)' is not a single value and can't "
                    + "be read as a column."
            )
        }
        return size
    }
}
