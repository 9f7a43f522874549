/// Builds a record of the schema tree: little-endian numbers and counted strings.
struct SchemaWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func put(_ text: String) {
        put(UInt16(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a part with its length before it, so that a reader that knows fewer fields can skip
    /// the rest.
    mutating func putCounted(_ build: (inout SchemaWriter) -> Void) {
        var part = SchemaWriter()
        build(&part)
        put(UInt32(truncatingIfNeeded: part.bytes.count))
        bytes.append(contentsOf: part.bytes)
    }
}

/// Reads such a record. Throws `damagedSchema` if the bytes are not such a record.
struct SchemaReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    mutating func take(_ count: Int) throws(ModelError) -> ArraySlice<UInt8> {
        guard count <= bytes.count else { throw .damagedSchema("a record ends early") }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(ModelError)
        -> Number
    {
        let taken = try take(MemoryLayout<Number>.size)
        return taken.reversed().reduce(into: Number.zero) {
            $0 = ($0 << 8) | Number(truncatingIfNeeded: $1)
        }
    }

    mutating func text(limit: Int) throws(ModelError) -> String {
        let count = Int(try number(UInt16.self))
        guard count > 0, count <= limit else {
            throw .damagedSchema("a name is \(count) bytes long")
        }
        guard let text = String(validating: try take(count), as: UTF8.self) else {
            throw .damagedSchema("a name is not UTF-8")
        }
        return text
    }

    /// A part that was written with its length.
    mutating func counted() throws(ModelError) -> SchemaReader {
        SchemaReader(try take(Int(try number(UInt32.self))))
    }
}
