internal import ToftModel
internal import ToftStorage

/// Rows of a cluster, and the places in a column that their values go to.
struct ArrowPlaces {
    let rows: UnsafePointer<Int32>
    let positions: UnsafePointer<Int32>
    let count: Int
}

/// The bytes that a batch has so far, of texts and of collections.
final class ArrowBudget {
    /// A batch with more is made again with fewer rows, unless it has one.
    static let limit = 24 << 20
    private(set) var bytes = 0

    var isExceeded: Bool { bytes > Self.limit }

    func add(_ count: Int) { bytes = bytes.addingReportingOverflow(count).partialValue }

    func add(_ count: Int, of size: Int) {
        let (product, overflows) = count.multipliedReportingOverflow(by: size)
        add(overflows ? Self.limit + 1 : product)
    }
}

/// Makes a column of Arrow. `begin`, values in any order, `finish`, and again.
class ArrowColumn {
    let field: ArrowField
    @exclusivity(unchecked) private(set) final var count = 0
    @exclusivity(unchecked) final var validity = ArrowValidity(0)

    init(_ field: ArrowField) { self.field = field }

    /// Makes room for values, which are null at first.
    func begin(_ count: Int) {
        self.count = count
        validity = ArrowValidity(count)
    }

    /// Copies the property of rows of a cluster.
    func take(_ cluster: ClusterView, _ places: ArrowPlaces, _ budget: ArrowBudget)
        throws(EngineError)
    {}

    /// Copies one value.
    func put(_ cell: Cell, at position: Int, _ budget: ArrowBudget) throws(EngineError) {}

    /// The values; the column lets go of them.
    func finish() throws(EngineError) -> ArrowData {
        ArrowData(length: count, nullCount: validity.nullCount, buffers: [validity.buffer])
    }

    /// Calls `body` with each row that is not null, and marks its value as there.
    @inline(__always)
    fileprivate func forEach(
        _ places: ArrowPlaces, _ nulls: UnsafePointer<UInt64>?,
        _ body: (_ row: Int, _ position: Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        let bits = validity.bits
        var found = 0
        for index in 0..<places.count {
            let row = Int(places.rows[index])
            if nulls.isNull(row) { continue }
            let position = Int(places.positions[index])
            try body(row, position)
            bits[position &>> 3] |= 1 &<< UInt8(truncatingIfNeeded: position & 7)
            found &+= 1
        }
        validity.noteMarked(found)
    }
}

// MARK: Values of one width

/// Values of one width each: numbers, bools, dates, decimals, identifiers, keys of objects.
final class ArrowFixedColumn: ArrowColumn {
    private let property: PropertyHandle?
    private let type: PropertyType
    /// The digits behind the point of a decimal.
    private let scale: Int
    private var values = ArrowMemory(byteCount: 0)

    /// - Parameter property: nil for the keys of the objects.
    init(_ field: ArrowField, _ property: PropertyHandle?, scale: Int = 0) {
        self.property = property
        type = property?.type ?? .int
        self.scale = scale
        super.init(field)
    }

    /// Bytes of a value; bools have a bit.
    private var width: Int {
        switch type {
        case .bool: 0
        case .float: 4
        case .objectId: 12
        case .uuid, .decimal128: 16
        default: 8
        }
    }

    override func begin(_ count: Int) {
        super.begin(count)
        values = ArrowMemory(byteCount: type == .bool ? (count + 7) / 8 : count * width)
    }

    override func finish() -> ArrowData {
        defer { values = ArrowMemory(byteCount: 0) }
        return ArrowData(
            length: count, nullCount: validity.nullCount, buffers: [validity.buffer, values])
    }

    override func take(_ cluster: ClusterView, _ places: ArrowPlaces, _ budget: ArrowBudget)
        throws(EngineError)
    {
        guard let property else {
            let keys = cluster.keys
            return try fill(places, nil) { keys[$0] }
        }
        let id = property.column
        let view = try storage { () throws(StorageError) in try cluster.column(id) }
        let nulls = view.nulls
        switch type {
        case .bool:
            let bits = try storage { () throws(StorageError) in try view.bools() }
            let base = values.base
            try forEach(places, nulls) { row, position in
                if bits[row >> 6] >> UInt64(row & 63) & 1 != 0 { Self.setBit(base, position) }
            }
        case .int, .link:
            let integers = try storage { () throws(StorageError) in try view.integers() }
            try fill(places, nulls) { integers[$0] }
        case .float:
            let numbers = try storage { () throws(StorageError) in try view.float32s() }
            try fill(places, nulls) { numbers[$0] }
        case .double:
            let numbers = try storage { () throws(StorageError) in try view.float64s() }
            try fill(places, nulls) { numbers[$0] }
        case .date:
            let dates = try storage { () throws(StorageError) in try view.timestamps() }
            try fill(places, nulls) { row throws(EngineError) in
                try microseconds(dates.seconds[row], dates.nanoseconds[row])
            }
        case .uuid:
            let fixed = try storage { () throws(StorageError) in try view.fixed() }
            try fill(places, nulls) { UUIDElement(fixed[$0]) }
        case .objectId:
            let fixed = try storage { () throws(StorageError) in try view.fixed() }
            try fill(places, nulls) { ObjectIdElement(fixed[$0]) }
        case .decimal128:
            let fixed = try storage { () throws(StorageError) in try view.fixed() }
            try fill(places, nulls) { row throws(EngineError) in
                try scaled(Decimal128(stored: fixed[row]))
            }
        case .string, .data, .mixed, .linkingObjects: break
        }
    }

    override func put(_ cell: Cell, at position: Int, _ budget: ArrowBudget) throws(EngineError) {
        switch cell {
        case .null, .bytes: return
        case .bool(let value): if value { Self.setBit(values.base, position) }
        case .int64(let value): store(value, position)
        case .float32(let value): store(value, position)
        case .float64(let value): store(value, position)
        case .timestamp(let date):
            store(try microseconds(date.seconds, date.nanoseconds), position)
        case .fixed(let bytes) where type == .uuid: store(UUIDElement(bytes), position)
        case .fixed(let bytes) where type == .objectId: store(ObjectIdElement(bytes), position)
        case .fixed(let bytes): store(try scaled(Decimal128(stored: bytes)), position)
        }
        validity.mark(position)
    }

    // It is deliberately a call of its own: see `ColumnCopier.fill`.
    @inline(never)
    private func fill<Element: BitwiseCopyable>(
        _ places: ArrowPlaces, _ nulls: UnsafePointer<UInt64>?,
        _ value: (Int) throws(EngineError) -> Element
    ) throws(EngineError) {
        let base = values.base
        try forEach(places, nulls) { row, position throws(EngineError) in
            base.storeBytes(
                of: try value(row), toByteOffset: position &* MemoryLayout<Element>.stride,
                as: Element.self)
        }
    }

    private func store<Element: BitwiseCopyable>(_ value: Element, _ position: Int) {
        values.base.storeBytes(
            of: value, toByteOffset: position &* MemoryLayout<Element>.stride, as: Element.self)
    }

    @inline(__always)
    private static func setBit(_ base: UnsafeMutableRawPointer, _ position: Int) {
        base.assumingMemoryBound(to: UInt8.self)[position &>> 3] |=
            1 &<< UInt8(truncatingIfNeeded: position & 7)
    }

    @inline(__always)
    private func microseconds(_ seconds: Int64, _ nanoseconds: Int32) throws(EngineError) -> Int64 {
        // Rounded down, before 1970 too.
        let fraction = Int64(nanoseconds) &- (nanoseconds < 0 ? 999 : 0)
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isBeyond) = product.addingReportingOverflow(fraction / 1_000)
        guard !overflows, !isBeyond else { throw beyond(seconds) }
        return sum
    }

    private func beyond(_ seconds: Int64) -> EngineError {
        EngineError(
            .overflow,
            "\(name) has a date \(seconds) seconds from 1970: Arrow's microseconds in 64 bits end "
                + "292,000 years from there. Leave out the property, or filter such objects.")
    }

    private func scaled(_ decimal: Decimal128) throws(EngineError) -> UInt128 {
        guard let value = decimal.scaled(by: scale) else {
            throw EngineError(
                .overflow, "\(name) has a decimal that is not one of 38 digits: \(decimal).")
        }
        return UInt128(truncatingIfNeeded: value)
    }

    private var name: String {
        property.map { "'\($0.className).\($0.name)'" } ?? "'\(field.name)'"
    }
}

// MARK: Texts

/// Texts or data. Until `finish` they are borrowed.
final class ArrowBytesColumn: ArrowColumn {
    /// Nil for texts that are put one by one.
    private let column: UInt32?
    private var values: [UnsafeRawBufferPointer] = []

    init(_ field: ArrowField, _ column: UInt32?) {
        self.column = column
        super.init(field)
    }

    override func begin(_ count: Int) {
        super.begin(count)
        values = Array(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: count)
    }

    override func take(_ cluster: ClusterView, _ places: ArrowPlaces, _ budget: ArrowBudget)
        throws(EngineError)
    {
        guard let column else { return }
        let (nulls, texts) = try storage { () throws(StorageError) in
            try cluster.nullableBytes(column)
        }
        var bytes = 0
        // Many links to one object are side by side.
        var (last, text) = (-1, UnsafeRawBufferPointer(start: nil, count: 0))
        try values.withUnsafeMutableBufferPointer { values throws(EngineError) in
            try forEach(places, nulls) { row, position throws(EngineError) in
                if row != last {
                    text = try storage { () throws(StorageError) in try texts[row] }
                    last = row
                }
                values[position] = text
                bytes &+= text.count
            }
        }
        budget.add(bytes)
    }

    override func put(_ cell: Cell, at position: Int, _ budget: ArrowBudget) {
        guard case .bytes(let bytes) = cell else { return }
        values[position] = bytes
        budget.add(bytes.count)
        validity.mark(position)
    }

    override func finish() -> ArrowData {
        defer { values = [] }
        return Self.data(values, validity)
    }

    /// Texts in Arrow's layout with offsets of 64 bits.
    fileprivate static func data(_ values: [UnsafeRawBufferPointer], _ validity: ArrowValidity)
        -> ArrowData
    {
        let offsets = ArrowMemory(byteCount: (values.count + 1) * 8)
        let bytes = ArrowMemory(byteCount: values.reduce(0) { $0 + $1.count })
        let ends = offsets.base.assumingMemoryBound(to: Int64.self) + 1
        var end = 0
        values.withUnsafeBufferPointer { values in
            for (index, text) in values.enumerated() {
                if let base = text.baseAddress, !text.isEmpty {
                    (bytes.base + end).copyMemory(from: base, byteCount: text.count)
                    end &+= text.count
                }
                ends[index] = Int64(end)
            }
        }
        return ArrowData(
            length: values.count, nullCount: validity.nullCount,
            buffers: [validity.buffer, offsets, bytes])
    }
}

/// Texts that repeat: a number for each, and each text once.
final class ArrowCodedColumn: ArrowColumn {
    private let column: UInt32
    private var indexes = ArrowMemory(byteCount: 0)
    private var texts = ArrowTexts()

    init(_ field: ArrowField, _ column: UInt32) {
        self.column = column
        super.init(field)
    }

    override func begin(_ count: Int) {
        super.begin(count)
        indexes = ArrowMemory(byteCount: count * 4)
        texts.forgetIfMany()
    }

    override func take(_ cluster: ClusterView, _ places: ArrowPlaces, _ budget: ArrowBudget)
        throws(EngineError)
    {
        let (nulls, bytes) = try storage { () throws(StorageError) in
            try cluster.nullableBytes(column)
        }
        let before = texts.byteCount
        let indexes = indexes.base.assumingMemoryBound(to: Int32.self)
        if let coding = bytes.coding {
            var known = ContiguousArray<Int32>(repeating: -1, count: 256)
            try forEach(places, nulls) { row, position throws(EngineError) in
                let code = Int(coding.codes[row])
                if known[code] < 0 {
                    let text = try storage { () throws(StorageError) in try bytes.text(code) }
                    known[code] = texts.index(of: text)
                }
                indexes[position] = known[code]
            }
        } else {
            try forEach(places, nulls) { row, position throws(EngineError) in
                let text = try storage { () throws(StorageError) in try bytes[row] }
                indexes[position] = texts.index(of: text)
            }
        }
        budget.add(texts.byteCount - before)
    }

    override func finish() -> ArrowData {
        defer { indexes = ArrowMemory(byteCount: 0) }
        return ArrowData(
            length: count, nullCount: validity.nullCount, buffers: [validity.buffer, indexes],
            dictionary: texts.data())
    }
}

/// Different texts, each with the number of its first use. They are copied.
struct ArrowTexts {
    /// More are not kept from one batch to the next.
    private static let keptCount = 1 << 16
    private static let keptBytes = 4 << 20

    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// Numbers by the hash of their texts, -1 for free places; their count is a power of two.
    private var places = [Int32](repeating: -1, count: 64)
    /// The texts in Arrow's layout, if no text was added since.
    private var made: ArrowData?

    var byteCount: Int { bytes.count }

    mutating func forgetIfMany() {
        if ends.count > Self.keptCount || bytes.count > Self.keptBytes { self = ArrowTexts() }
    }

    /// The number of a text.
    mutating func index(of text: UnsafeRawBufferPointer) -> Int32 {
        var place = Self.hash(text) & (places.count - 1)
        while places[place] >= 0 {
            if isText(Int(places[place]), text) { return places[place] }
            place = (place + 1) & (places.count - 1)
        }
        let index = Int32(ends.count)
        places[place] = index
        bytes.append(contentsOf: text)
        ends.append(bytes.count)
        made = nil
        if ends.count * 2 > places.count { grow() }
        return index
    }

    private static func hash(_ text: UnsafeRawBufferPointer) -> Int {
        guard let base = text.baseAddress else { return 0 }
        return Int(truncatingIfNeeded: Checksum.of(base, count: text.count))
    }

    private func start(_ index: Int) -> Int { index == 0 ? 0 : ends[index - 1] }

    private func isText(_ index: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        let range = start(index)..<ends[index]
        return bytes.withUnsafeBytes {
            UnsafeRawBufferPointer(rebasing: $0[range]).isSame(as: text)
        }
    }

    private mutating func grow() {
        places = [Int32](repeating: -1, count: places.count * 4)
        bytes.withUnsafeBytes { bytes in
            for index in ends.indices {
                let text = UnsafeRawBufferPointer(rebasing: bytes[start(index)..<ends[index]])
                var place = Self.hash(text) & (places.count - 1)
                while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
                places[place] = Int32(index)
            }
        }
    }

    /// All texts in Arrow's layout.
    mutating func data() -> ArrowData {
        if let made { return made }
        let data = bytes.withUnsafeBytes { bytes in
            var validity = ArrowValidity(ends.count)
            var texts: [UnsafeRawBufferPointer] = []
            for index in ends.indices {
                texts.append(UnsafeRawBufferPointer(rebasing: bytes[start(index)..<ends[index]]))
                validity.mark(index)
            }
            return ArrowBytesColumn.data(texts, validity)
        }
        made = data
        return data
    }
}

/// Decimals that Arrow's type does not hold, as texts.
final class ArrowDecimalTextColumn: ArrowColumn {
    private let property: PropertyHandle
    private let texts: ArrowJSONColumn

    init(_ field: ArrowField, _ property: PropertyHandle) {
        self.property = property
        texts = ArrowJSONColumn(field)
        super.init(field)
    }

    override func begin(_ count: Int) { texts.begin(count) }
    override func finish() -> ArrowData { texts.finish() }

    override func take(_ cluster: ClusterView, _ places: ArrowPlaces, _ budget: ArrowBudget)
        throws(EngineError)
    {
        let id = property.column
        let view = try storage { () throws(StorageError) in try cluster.column(id) }
        let fixed = try storage { () throws(StorageError) in try view.fixed() }
        for index in 0..<places.count {
            let row = Int(places.rows[index])
            if view.nulls.isNull(row) { continue }
            put(.fixed(fixed[row]), at: Int(places.positions[index]), budget)
        }
    }

    override func put(_ cell: Cell, at position: Int, _ budget: ArrowBudget) {
        guard case .fixed(let bytes) = cell else { return }
        texts.put(text: Decimal128(stored: bytes).description, at: position, budget)
    }
}

// MARK: Objects within objects

/// Embedded objects: a column for each of their properties.
final class ArrowStructColumn: ArrowColumn {
    let columns: [ArrowColumn]

    init(_ field: ArrowField, _ columns: [ArrowColumn]) {
        self.columns = columns
        super.init(field)
    }

    /// Notes that there is an object.
    @inline(__always)
    func mark(_ position: Int) { validity.mark(position) }

    override func finish() throws(EngineError) -> ArrowData {
        var children: [ArrowData] = []
        for column in columns { children.append(try column.finish()) }
        return ArrowData(
            length: count, nullCount: validity.nullCount, buffers: [validity.buffer],
            children: children)
    }
}

// MARK: Values as JSON

/// Texts that are made: values of any type as JSON.
final class ArrowJSONColumn: ArrowColumn {
    private var texts: [String] = []

    override func begin(_ count: Int) {
        super.begin(count)
        texts = Array(repeating: "", count: count)
    }

    func put(_ json: JSONValue, at position: Int, _ budget: ArrowBudget) {
        if case .null = json { return }
        put(text: json.description, at: position, budget)
    }

    func put(text: String, at position: Int, _ budget: ArrowBudget) {
        budget.add(text.utf8.count)
        texts[position] = text
        validity.mark(position)
    }

    override func finish() -> ArrowData {
        defer { texts = [] }
        let offsets = ArrowMemory(byteCount: (texts.count + 1) * 8)
        let bytes = ArrowMemory(byteCount: texts.reduce(0) { $0 + $1.utf8.count })
        let ends = offsets.base.assumingMemoryBound(to: Int64.self) + 1
        var end = 0
        for index in texts.indices {
            texts[index].withUTF8 { text in
                if let base = text.baseAddress {
                    (bytes.base + end).copyMemory(from: base, byteCount: text.count)
                }
                end += text.count
            }
            ends[index] = Int64(end)
        }
        return ArrowData(
            length: count, nullCount: validity.nullCount,
            buffers: [validity.buffer, offsets, bytes])
    }
}
