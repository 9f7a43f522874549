public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

@c @implementation
public func toft_realm_create_objects(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ policy: toft_update_policy,
    _ columns: UnsafePointer<toft_input_column>?, _ column_count: Int, _ count: Int,
    _ out_object_keys: UnsafeMutablePointer<Int64>?, _ out_created: UnsafeMutablePointer<UInt8>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let policy = try UpdatePolicy(policy)
        try Argument.checkCount(count, of: MemoryLayout<toft_value>.stride, "count")
        let owner = try session.classHandle(class_key)
        var inputs: [InputColumn] = [], ofNew: [InputColumn] = []
        for column in try Argument.structures(columns, column_count, "columns") {
            let input = try InputColumn(column, of: owner, rows: count)
            if input.isForNew { ofNew.append(input) } else { inputs.append(input) }
        }
        inputs += ofNew
        let made = try session.create(
            class_key, count: count, policy: policy, valuesOfNew: ofNew.count
        ) { row, create throws(EngineError) in
            try BorrowedArguments.with { loan throws(EngineError) in
                try create(try loan.assignments(inputs, row: row))
            }
        }
        if let out_object_keys {
            for (row, object) in made.enumerated() { out_object_keys[row] = object.key }
        }
        if let out_created {
            for (row, object) in made.enumerated() { out_created[row] = object.isNew ? 1 : 0 }
        }
    }
}

@c @implementation
public func toft_realm_find_objects(
    _ realm: OpaquePointer?, _ class_key: toft_class_key,
    _ primary_keys: UnsafePointer<toft_input_column>?, _ count: Int,
    _ out_found: UnsafeMutablePointer<UInt8>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        try Argument.checkCount(count, of: MemoryLayout<toft_value>.stride, "count")
        let room = try Argument.room(out_found, count, "out_found")
        let owner = try session.classHandle(class_key)
        guard let column = try Argument.structures(primary_keys, 1, "primary_keys").first else {
            throw Argument.isNull("primary_keys")
        }
        let keys = try InputColumn(column, of: owner, rows: count)
        if let primaryKey = owner.primaryKey, primaryKey.id != keys.property {
            throw .invalidArgument("The column is not the primary key of '\(owner.name)'.")
        }
        for row in 0..<count {
            try BorrowedArguments.with { loan throws(EngineError) in
                room[row] = try session.holds(try loan.value(keys, row: row), owner) ? 1 : 0
            }
        }
    }
}

/// One property of the objects that are to be created.
struct InputColumn {
    let property: PropertyID
    /// Whether existing objects keep their values.
    let isForNew: Bool
    private let name: String
    private let layout: Layout
    private let values: UnsafeRawPointer?
    private let nulls: UnsafePointer<UInt8>?
    private let validity: UnsafePointer<UInt8>?
    private let validityOffset: Int

    /// The layout of the values in memory.
    private enum Layout {
        case bools, ints, floats, doubles, strings, datas, dates, microseconds, uuids, objectIds
        case decimals
        case values
        case links(ClassID)
        /// Bytes between offsets of four or eight bytes.
        case slices(UnsafeRawPointer, isWide: Bool, byteCount: Int, isText: Bool)
    }

    fileprivate init(_ column: toft_input_column, of owner: ClassHandle, rows: Int)
        throws(EngineError)
    {
        try Argument.flags(column.flags, known: TOFT_INPUT_NEW_ONLY.rawValue, "flags")
        isForNew = column.flags & TOFT_INPUT_NEW_ONLY.rawValue != 0
        let property = try model { () throws(ModelError) in
            try owner.property(id: column.property_key)
        }
        self.property = property.id
        name = property.name
        layout = try Self.layout(of: property, column)
        values = UnsafeRawPointer(column.values)
        nulls = column.nulls
        validity = column.validity
        validityOffset = column.validity_offset
        try Argument.checkCount(validityOffset, of: 1, "validity_offset")
        guard nulls == nil || validity == nil else {
            throw .invalidArgument("Column '\(name)' has both nulls and a bitmap of validity.")
        }
        let isEmpty = rows == 0 || column.offsets != nil && column.values_size == 0
        guard values != nil || isEmpty else {
            throw Argument.isNull("values")
        }
    }

    private static func layout(of property: PropertyHandle, _ column: toft_input_column)
        throws(EngineError) -> Layout
    {
        let size = Int(column.element_size)
        guard let offsets = column.offsets else {
            guard column.values_size == 0, column.offset_size == 0 else {
                throw .invalidArgument("Column '\(property.name)' has sizes, but no offsets.")
            }
            if size == MemoryLayout<toft_value>.size { return .values }
            if property.isCollection { throw wrongSize(property, size) }
            switch (property.type, size) {
            case (.bool, 1): return .bools
            case (.int, 8): return .ints
            case (.float, 4): return .floats
            case (.double, 8): return .doubles
            case (.date, MemoryLayout<toft_date>.size): return .dates
            case (.date, 8): return .microseconds
            case (.uuid, MemoryLayout<toft_uuid>.size): return .uuids
            case (.objectId, MemoryLayout<toft_object_id>.size): return .objectIds
            case (.decimal128, MemoryLayout<toft_decimal>.size): return .decimals
            case (.link, 8): return .links(property.targetClassID ?? 0)
            case (.string, MemoryLayout<toft_string>.size): return .strings
            case (.data, MemoryLayout<toft_data>.size): return .datas
            default: throw wrongSize(property, size)
            }
        }
        let isText = property.type == .string
        guard isText || property.type == .data, !property.isCollection, size == 1 else {
            throw wrongSize(property, size)
        }
        guard column.offset_size == 4 || column.offset_size == 8 else {
            throw .invalidArgument(
                "The offsets of column '\(property.name)' have \(column.offset_size) bytes, not 4 "
                    + "or 8.")
        }
        try Argument.checkCount(column.values_size, of: 1, "values_size")
        return .slices(
            offsets, isWide: column.offset_size == 8, byteCount: column.values_size, isText: isText)
    }

    private static func wrongSize(_ property: PropertyHandle, _ size: Int) -> EngineError {
        .invalidArgument(
            "An element of column '\(property.name)' can't have \(size) bytes: see "
                + "toft_input_column.")
    }

    /// Whether a row has no value.
    @inline(__always)
    fileprivate func isNull(_ row: Int) -> Bool {
        if let nulls { return nulls[row] != 0 }
        guard let validity else { return false }
        let bit = validityOffset + row
        return validity[bit >> 3] >> UInt8(bit & 7) & 1 == 0
    }

    /// The value in a row; nil for one that is a `toft_value`, at `generic`.
    fileprivate func value(_ row: Int) throws(EngineError) -> BorrowedValue? {
        if isNull(row) { return .null }
        if case .slices(let offsets, let isWide, let byteCount, let isText) = layout {
            return try slice(row, offsets, isWide, byteCount, isText)
        }
        switch layout {
        case .bools: return .bool(element(row, UInt8.self) != 0)
        case .ints: return .int(element(row, Int64.self))
        case .floats: return .float(element(row, Float.self))
        case .doubles: return .double(element(row, Double.self))
        case .links(let target):
            return .link(ObjectRef(classID: target, key: element(row, Int64.self)))
        case .dates: return .date(Timestamp(element(row, toft_date.self)))
        case .microseconds:
            let (seconds, rest) = element(row, Int64.self).quotientAndRemainder(
                dividingBy: 1_000_000)
            return .date(Timestamp(seconds: seconds, nanoseconds: Int32(rest) * 1_000))
        case .uuids: return .uuid(FixedBytes(element(row, toft_uuid.self)))
        case .objectIds: return .objectId(FixedBytes(element(row, toft_object_id.self)))
        case .decimals: return .decimal(Decimal128(element(row, toft_decimal.self)))
        case .strings:
            let text = element(row, toft_string.self)
            return .string(try Argument.bytes(UnsafeRawPointer(text.data), text.size, "values"))
        case .datas:
            let data = element(row, toft_data.self)
            return .data(try Argument.bytes(data.data, data.size, "values"))
        case .values, .slices: return nil
        }
    }

    /// The value in a row of a column of `toft_value`.
    fileprivate func generic(_ row: Int) -> toft_value {
        var value = toft_value()
        let size = MemoryLayout<toft_value>.size
        withUnsafeMutableBytes(of: &value) { memory in
            memory.copyMemory(
                from: UnsafeRawBufferPointer(
                    start: values.unsafelyUnwrapped + row * size, count: size))
        }
        return value
    }

    @inline(__always)
    private func element<Element: BitwiseCopyable>(_ row: Int, _: Element.Type) -> Element {
        values.unsafelyUnwrapped.loadUnaligned(
            fromByteOffset: row * MemoryLayout<Element>.stride, as: Element.self)
    }

    private func slice(
        _ row: Int, _ offsets: UnsafeRawPointer, _ isWide: Bool, _ byteCount: Int, _ isText: Bool
    ) throws(EngineError) -> BorrowedValue {
        func offset(_ index: Int) -> Int64 {
            isWide
                ? offsets.loadUnaligned(fromByteOffset: index * 8, as: Int64.self)
                : Int64(offsets.loadUnaligned(fromByteOffset: index * 4, as: Int32.self))
        }
        let start = offset(row), end = offset(row + 1)
        guard 0 <= start, start <= end, end <= Int64(byteCount) else {
            throw .invalidArgument(
                "Column '\(name)' has the offsets \(start) and \(end) into \(byteCount) bytes.")
        }
        let bytes = try Argument.bytes(
            values.map { $0 + Int(start) }, Int(end - start), "values")
        return isText ? .string(bytes) : .data(bytes)
    }
}

extension BorrowedArguments {
    /// The values of a row.
    fileprivate mutating func assignments(_ columns: [InputColumn], row: Int)
        throws(EngineError) -> UnsafeBufferPointer<Assignment>
    {
        let assignments: UnsafeMutableBufferPointer<Assignment> = buffer(of: columns.count)
        for index in columns.indices {
            let column = columns[index]
            assignments.initializeElement(
                at: index, to: Assignment(column.property, try value(column, row: row)))
        }
        return UnsafeBufferPointer(rebasing: assignments[..<columns.count])
    }

    /// The value of a column in a row.
    @inline(__always)
    fileprivate mutating func value(_ column: InputColumn, row: Int) throws(EngineError)
        -> BorrowedValue
    {
        if let given = try column.value(row) { return given }
        return try value(column.generic(row), "values")
    }
}
