internal import ToftPlatform
internal import ToftStorage

/// Encodes values for a mixed property and checks them.
struct MixedWriter {
    /// Checks links; nil for a search value.
    let targets: (any LinkTargets)?
    let property: PropertyHandle
    private var encoder = MixedEncoder()
    var bytes: [UInt8] { encoder.bytes }

    init(_ targets: (any LinkTargets)?, _ property: PropertyHandle) {
        self.targets = targets
        self.property = property
    }

    /// Appends a value.
    /// - Parameter depth: the number of collections around it.
    @inline(never)
    mutating func put(_ value: BorrowedValue, depth: Int) throws(ModelError) {
        switch value {
        case .string(let bytes) where bytes.count > Limits.valueBytes,
            .data(let bytes) where bytes.count > Limits.valueBytes:
            throw tooLong(bytes.count)
        case .string(let text) where !UTF8Text.isValid(text):
            throw .invalidText(className: property.className, property: property.name)
        case .date(let date) where !date.isSound:
            throw .invalidDate(className: property.className, property: property.name)
        case .link(let target): try targets?.checkTarget(target, of: property)
        case .list(let values):
            return try putCollection(MixedFormat.list, count: values.count, depth) {
                writer throws(ModelError) in
                for value in values { try writer.put(value, depth: depth + 1) }
            }
        case .dictionary(let entries):
            let ordered = BorrowedEntry.ascending(entries)
            return try putCollection(MixedFormat.dictionary, count: ordered.count, depth) {
                writer throws(ModelError) in
                for entry in ordered {
                    try writer.putKey(entry.key)
                    try writer.put(entry.value, depth: depth + 1)
                }
            }
        default: break
        }
        encoder.put(value)
        try checkLength()
    }

    /// Appends a key of a dictionary; its value comes next.
    mutating func putKey(_ key: UnsafeRawBufferPointer) throws(ModelError) {
        try property.checkEntryKey(key)
        encoder.put(UInt32(truncatingIfNeeded: key.count))
        encoder.bytes.append(contentsOf: key)
    }

    private mutating func putCollection(
        _ tag: UInt8, count: Int, _ depth: Int,
        _ body: (inout MixedWriter) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard depth < Limits.nestedCollections else {
            throw .nestedTooDeep(
                className: property.className, property: property.name,
                limit: Limits.nestedCollections)
        }
        try ModelError.requireStack()
        encoder.put(tag, UInt64.random(in: .min ... .max))
        encoder.put(UInt32(truncatingIfNeeded: count))
        let length = bytes.count
        encoder.put(UInt32(0))
        try body(&self)
        try checkLength()
        store(bytes.count - length - 4, at: length, in: &encoder.bytes)
    }

    /// Throws if the value has become longer than a value may be.
    private func checkLength() throws(ModelError) {
        guard bytes.count <= Limits.valueBytes else { throw tooLong(bytes.count) }
    }

    private func tooLong(_ length: Int) -> ModelError {
        .valueTooLong(
            className: property.className, property: property.name, length: length,
            limit: Limits.valueBytes)
    }
}

extension PropertyHandle {
    /// Calls `body` with the search cell of a value, a mixed one too: see `soughtCell`.
    func withSoughtCell<Result>(
        _ value: BorrowedValue, in schema: ModelSchema,
        _ body: (Cell) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        guard type == .mixed else { return try body(try soughtCell(value, in: schema)) }
        if case .null = value { return try body(.null) }
        var writer = MixedWriter(nil, self)
        try writer.put(value, depth: 0)
        return try writer.bytes.withBytes { bytes throws(ModelError) in try body(.bytes(bytes)) }
    }
}

/// The objects that mixed values may link to.
protocol LinkTargets: AnyObject {
    /// Throws unless a mixed value may link to an object: it exists, and is not embedded.
    func checkTarget(_ target: ObjectRef, of property: PropertyHandle) throws(ModelError)
}
