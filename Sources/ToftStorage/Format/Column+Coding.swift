extension Column {
    /// Reads the columns of a table from the catalog.
    static func decodeAll(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> [Column] {
        guard bytes.count % ColumnLayout.size == 0,
            bytes.count / ColumnLayout.size <= ClusterLimits.columns
        else { throw damage }
        var columns: [Column] = []
        guard let base = bytes.baseAddress else { return columns }
        for offset in stride(from: 0, to: bytes.count, by: ColumnLayout.size) {
            let column = try Column(decoding: base + offset)
            if let last = columns.last, last.id >= column.id { throw damage }
            columns.append(column)
        }
        return columns
    }

    /// The columns of a table for the catalog.
    static func encodeAll(_ columns: [Column]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: columns.count * ColumnLayout.size)
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            for (index, column) in columns.enumerated() {
                column.encode(to: base + index * ColumnLayout.size)
            }
        }
        return bytes
    }

    private static var damage: StorageError {
        .corrupt(page: 0, reason: "the columns of a table contradict themselves")
    }

    private init(decoding base: UnsafeRawPointer) throws(StorageError) {
        let flags = base.uint8(at: ColumnLayout.flags)
        let element = base.uint8(at: ColumnLayout.elementType)
        guard
            let type = ColumnType(
                rawValue: UInt8(truncatingIfNeeded: base.uint8(at: ColumnLayout.type)))
        else { throw Self.damage }
        let elementType = ColumnType(rawValue: UInt8(truncatingIfNeeded: element))
        self.init(
            id: UInt32(truncatingIfNeeded: base.uint32(at: ColumnLayout.id)), type: type,
            isNullable: flags & ColumnLayout.nullableFlag != 0,
            elementType: elementType,
            elementIsNullable: flags & ColumnLayout.elementNullableFlag != 0,
            wasRequired: flags & ColumnLayout.wasRequiredFlag != 0)
        guard isSound, element == 0 || elementType != nil, flags & ~ColumnLayout.allFlags == 0
        else { throw Self.damage }
    }

    /// A list has a type of elements, and is never null; other columns have none. Only nullable
    /// columns can have become so.
    var isSound: Bool {
        guard isNullable || !wasRequired else { return false }
        return type == .list
            ? elementType != nil && elementType != .list && !isNullable
            : elementType == nil && !elementIsNullable
    }

    private func encode(to base: UnsafeMutableRawPointer) {
        base.storeUInt32(Int(id), at: ColumnLayout.id)
        base.storeUInt8(Int(type.rawValue), at: ColumnLayout.type)
        base.storeUInt8(
            (isNullable ? ColumnLayout.nullableFlag : 0)
                | (elementIsNullable ? ColumnLayout.elementNullableFlag : 0)
                | (wasRequired ? ColumnLayout.wasRequiredFlag : 0), at: ColumnLayout.flags)
        base.storeUInt8(Int(elementType?.rawValue ?? 0), at: ColumnLayout.elementType)
    }
}
