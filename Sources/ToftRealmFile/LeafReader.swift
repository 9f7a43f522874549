/// Decodes leaves: the values of one column for some objects, or a piece of a collection.
struct LeafReader {
    /// Objects of a cluster, and values of a leaf of a collection, at most.
    static let clusterSize = 256
    static let leafSize = 1_000

    let nodes: NodeReader
    let format: Int
    /// Collections within mixed values at most.
    static let nestingLimit = 100

    private func damage(_ what: String) -> RealmFileError { nodes.damage(what) }

    /// The requested form of values in a leaf.
    struct Wanted {
        var type: RealmType
        var isNullable: Bool
        /// Of a link: the table that it leads to.
        var target: Int64 = 0
        /// Whether it is a leaf of a cluster, which stores links increased by one.
        var isInCluster = false
        var texts: [RealmValue]?
        /// Values that the leaf has at most.
        var limit = LeafReader.leafSize
    }

    /// All values of a leaf.
    func values(_ node: Node, _ wanted: Wanted, nesting: Int = 0) throws(RealmFileError)
        -> [RealmValue]
    {
        guard !node.isInner else { throw damage("there is an inner node instead of values") }
        switch wanted.type {
        case .int: return try integers(node, wanted).map { $0.map(RealmValue.int) ?? .null }
        case .bool: return try bools(node, wanted)
        case .string: return try strings(node, wanted)
        case .data: return try long(node, wanted, isText: false)
        case .mixed: return try MixedLeaf(self, node, wanted, nesting).values()
        case .timestamp: return try timestamps(node, wanted)
        case .float: return try floats(node, wanted)
        case .double: return try doubles(node, wanted)
        case .decimal: return try decimals(node, wanted)
        case .link: return try links(node, wanted)
        case .objectId: return try ids(node, 12, wanted)
        case .uuid: return try ids(node, 16, wanted)
        }
    }

    private func requireSize(_ count: Int, _ wanted: Wanted) throws(RealmFileError) {
        guard count <= wanted.limit else {
            throw damage("a leaf has \(count) values, more than the \(wanted.limit) that fit")
        }
        try nodes.charge(count)
    }

    // MARK: Numbers

    /// Integers; nil is null.
    func integers(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [Int64?] {
        try nodes.requireNumbers(node)
        guard wanted.isNullable else {
            try requireSize(node.size, wanted)
            return (0..<node.size).map { node.number($0) }
        }
        guard node.size >= 1 else { throw damage("a leaf lacks the number that means null") }
        try requireSize(node.size - 1, wanted)
        let null = node.number(0)
        return (1..<node.size).map { index in
            let number = node.number(index)
            return number == null ? nil : number
        }
    }

    private func bools(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        if format < 10, wanted.isNullable {
            return try integers(node, wanted).map { $0.map { .bool($0 != 0) } ?? .null }
        }
        try nodes.requireNumbers(node)
        try requireSize(node.size, wanted)
        var values: [RealmValue] = []
        for index in 0..<node.size {
            switch node.number(index) {
            case 0: values.append(.bool(false))
            case 1: values.append(.bool(true))
            case 3 where wanted.isNullable: values.append(.null)
            default: throw damage("a bool is neither true nor false")
            }
        }
        return values
    }

    private func links(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        try nodes.requireNumbers(node)
        try requireSize(node.size, wanted)
        var values: [RealmValue] = []
        for index in 0..<node.size {
            let number = node.number(index)
            if wanted.isInCluster {
                // A negative key leads to an object that is known and was deleted.
                values.append(number <= 0 ? .null : .link(table: wanted.target, key: number - 1))
            } else if number >= 0 {
                values.append(.link(table: wanted.target, key: number))
            }
        }
        return values
    }

    private func timestamps(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        guard node.hasRefs, node.kind == .numbers, node.size == 2 else {
            throw damage("a leaf of dates does not have its two parts")
        }
        var nullable = wanted, plain = wanted
        nullable.isNullable = true
        plain.isNullable = false
        let seconds = try integers(try nodes.node(try nodes.ref(node, 0)), nullable)
        let nanoseconds = try integers(try nodes.node(try nodes.ref(node, 1)), plain)
        return try dates(seconds, nanoseconds)
    }

    /// Dates of their parts.
    func dates(_ seconds: [Int64?], _ nanoseconds: [Int64?]) throws(RealmFileError) -> [RealmValue]
    {
        guard seconds.count == nanoseconds.count else {
            throw damage("there are \(seconds.count) seconds and \(nanoseconds.count) nanoseconds")
        }
        var values: [RealmValue] = []
        for (second, nanosecond) in zip(seconds, nanoseconds) {
            guard let second else {
                values.append(.null)
                continue
            }
            values.append(try date(second, nanosecond ?? 0))
        }
        return values
    }

    func date(_ seconds: Int64, _ nanoseconds: Int64) throws(RealmFileError) -> RealmValue {
        guard nanoseconds > -1_000_000_000, nanoseconds < 1_000_000_000,
            nanoseconds >= 0 || seconds <= 0, nanoseconds <= 0 || seconds >= 0
        else { throw damage("a date has \(nanoseconds) nanoseconds") }
        return .timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    // MARK: Values of a fixed width

    private func requireValues(_ node: Node, _ widths: [Int]) throws(RealmFileError) {
        guard !node.hasRefs, node.kind == .values, node.size == 0 || widths.contains(node.width)
        else { throw damage("the node at \(node.ref) does not have the values that are due") }
    }

    private func floats(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        try requireValues(node, [4])
        try requireSize(node.size, wanted)
        return (0..<node.size).map { index in
            let bits = UInt32(
                littleEndian: node.payload.loadUnaligned(
                    fromByteOffset: 4 * index, as: UInt32.self))
            return wanted.isNullable && bits == 0x7FC0_00AA ? .null : .float(bits)
        }
    }

    private func doubles(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        try requireValues(node, [8])
        try requireSize(node.size, wanted)
        return (0..<node.size).map { index in
            let bits = word(node, 8 * index)
            return wanted.isNullable && bits == 0x7FF8_0000_0000_00AA ? .null : .double(bits)
        }
    }

    private func word(_ node: Node, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: node.payload.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private func decimals(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        try requireValues(node, [0, 4, 8, 16])
        try requireSize(node.size, wanted)
        return (0..<node.size).map { index in
            switch node.width {
            case 0: return node.hasContext ? DecimalWords.zero.value : .null
            case 4:
                let bits = UInt32(
                    littleEndian: node.payload.loadUnaligned(
                        fromByteOffset: 4 * index, as: UInt32.self))
                return bits == 0x7C00_00AA ? .null : DecimalWords(of: bits).value
            case 8:
                let bits = word(node, 8 * index)
                return bits == 0x7C00_0000_0000_00AA ? .null : DecimalWords(of: bits).value
            default:
                let words = DecimalWords(
                    low: word(node, 16 * index), high: word(node, 16 * index + 8))
                return words.high == 0x7C << 56 && words.low == 0xAA ? .null : words.value
            }
        }
    }

    private func ids(_ node: Node, _ size: Int, _ wanted: Wanted) throws(RealmFileError)
        -> [RealmValue]
    {
        guard !node.hasRefs, node.kind == .values, node.size == 0 || node.width == 1 else {
            throw damage("the node at \(node.ref) has no ids")
        }
        let blockSize = 8 * size + 1
        let blocks = (node.size + blockSize - 1) / blockSize
        let bytes = node.size - blocks
        guard bytes >= 0, bytes % size == 0 else { throw damage("an id is cut off") }
        let count = bytes / size
        guard (count + 7) / 8 == blocks else { throw damage("an id is cut off") }
        try requireSize(count, wanted)
        return (0..<count).map { index in
            let block = index / 8 * blockSize, within = index % 8
            if wanted.isNullable, node.payload[block] >> within & 1 == 1 { return .null }
            let start = block + 1 + within * size
            let id = [UInt8](node.payload[start..<start + size])
            return size == 12 ? .objectId(id) : .uuid(id)
        }
    }

    // MARK: Texts and data

    /// Texts, which have one of four forms.
    func strings(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        if node.hasRefs { return try long(node, wanted, isText: true) }
        if node.kind == .values { return try short(node, wanted) }
        guard let texts = wanted.texts else { throw damage("texts are encoded by unknown numbers") }
        try nodes.requireNumbers(node)
        try requireSize(node.size, wanted)
        var values: [RealmValue] = []
        for index in 0..<node.size {
            let number = node.number(index)
            guard number >= 0, number < texts.count else {
                throw damage("text \(number) of \(texts.count) is wanted")
            }
            values.append(texts[Int(number)])
        }
        return values
    }

    private func short(_ node: Node, _ wanted: Wanted) throws(RealmFileError) -> [RealmValue] {
        try requireSize(node.size, wanted)
        guard node.width > 0 else {
            return [RealmValue](
                repeating: wanted.isNullable ? .null : .string([]), count: node.size)
        }
        var values: [RealmValue] = []
        for index in 0..<node.size {
            let start = index * node.width
            let padding = Int(node.payload[start + node.width - 1])
            if padding == node.width {
                values.append(wanted.isNullable ? .null : .string([]))
                continue
            }
            guard padding < node.width else { throw damage("a short text is longer than its room") }
            values.append(
                .string([UInt8](node.payload[start..<start + node.width - 1 - padding])))
        }
        return values
    }

    /// Values with an end each in one blob, or with a blob each.
    private func long(_ node: Node, _ wanted: Wanted, isText: Bool) throws(RealmFileError)
        -> [RealmValue]
    {
        guard node.hasRefs, node.kind == .numbers else {
            throw damage("the node at \(node.ref) has neither texts nor data")
        }
        return node.hasContext
            ? try big(node, wanted, isText) : try medium(node, wanted, isText)
    }

    private func medium(_ node: Node, _ wanted: Wanted, _ isText: Bool) throws(RealmFileError)
        -> [RealmValue]
    {
        guard node.size == 2 || node.size == 3 else {
            throw damage("a leaf of long values does not have its parts")
        }
        let ends = try nodes.node(try nodes.ref(node, 0))
        try nodes.requireNumbers(ends)
        try requireSize(ends.size, wanted)
        let blob = try blob(try nodes.ref(node, 1))
        var nulls: Node?
        if node.size == 3, let ref = try nodes.optionalRef(node, 2) {
            let found = try nodes.numbers(ref)
            guard found.size == ends.size else {
                throw damage("a leaf has null flags for too few values")
            }
            nulls = found
        }
        let stands: Int64 = format < 10 && isText ? 0 : 1
        var values: [RealmValue] = [], start = 0
        for index in 0..<ends.size {
            let end = ends.number(index)
            guard end >= start, end <= blob.count else { throw damage("a long value ends nowhere") }
            let part = UnsafeRawBufferPointer(rebasing: blob[start..<Int(end)])
            start = Int(end)
            if wanted.isNullable, nulls?.number(index) == stands {
                values.append(.null)
            } else if let nulls, nulls.number(index) == stands, format >= 10 {
                values.append(isText ? .string([]) : .data([]))
            } else {
                values.append(try value(part, isText))
            }
        }
        return values
    }

    private func big(_ node: Node, _ wanted: Wanted, _ isText: Bool) throws(RealmFileError)
        -> [RealmValue]
    {
        try requireSize(node.size, wanted)
        var values: [RealmValue] = []
        for index in 0..<node.size {
            guard let ref = try nodes.optionalRef(node, index) else {
                values.append(wanted.isNullable ? .null : isText ? .string([]) : .data([]))
                continue
            }
            let part = try nodes.node(ref)
            if part.hasRefs, part.hasContext {
                values.append(.tooLong)
                continue
            }
            values.append(try value(try requireBlob(part), isText))
        }
        return values
    }

    private func blob(_ ref: Int) throws(RealmFileError) -> UnsafeRawBufferPointer {
        try requireBlob(try nodes.node(ref))
    }

    private func requireBlob(_ node: Node) throws(RealmFileError) -> UnsafeRawBufferPointer {
        // An empty one may be of any kind.
        guard node.kind == .bytes || node.size == 0, !node.hasRefs, !node.isInner else {
            throw damage("the node at \(node.ref) has no bytes")
        }
        return node.payload
    }

    private func value(_ bytes: UnsafeRawBufferPointer, _ isText: Bool) throws(RealmFileError)
        -> RealmValue
    {
        guard isText else { return .data([UInt8](bytes)) }
        guard bytes.last == 0 else { throw damage("a long text does not end with a zero") }
        return .string([UInt8](bytes.dropLast()))
    }
}

/// The two words of a decimal of 128 bits.
struct DecimalWords {
    var low: UInt64
    var high: UInt64

    static let zero = DecimalWords(low: 0, high: UInt64(exponentBias) << 49)
    private static let exponentBias = 6176

    var value: RealmValue { .decimal(low: low, high: high) }

    init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Converts a decimal of 32 bits.
    init(of bits: UInt32) {
        self.init(
            UInt64(bits) << 32, exponentBits: 8, bias: 101, coefficientBits: 23,
            greatest: 9_999_999)
    }

    /// Converts a decimal of 64 bits.
    init(of bits: UInt64) {
        self.init(
            bits, exponentBits: 10, bias: 398, coefficientBits: 53,
            greatest: 9_999_999_999_999_999)
    }

    /// `bits`: the number in the upper bits; from below: coefficient, exponent, sign.
    private init(
        _ bits: UInt64, exponentBits: Int, bias: Int, coefficientBits: Int, greatest: UInt64
    ) {
        let sign = bits & 1 << 63
        let special = (bits >> 58) & 0x1F
        guard special < 0x1E else {
            self.init(low: 0, high: sign | (special == 0x1E ? 0x78 << 56 : 0x7C << 56))
            return
        }
        let isLarge = (bits >> 61) & 3 == 3
        let exponent = (bits << (isLarge ? 3 : 1)) >> (64 - UInt64(exponentBits))
        let unused = 63 - exponentBits - coefficientBits
        let below = isLarge ? coefficientBits - 2 : coefficientBits
        let mask = UInt64(1) << UInt64(below) - 1
        var coefficient = bits >> UInt64(unused) & mask
        if isLarge { coefficient |= 4 << UInt64(below) }
        if coefficient > greatest { coefficient = 0 }
        let widened = UInt64(Int(exponent) - bias + Self.exponentBias)
        self.init(low: coefficient, high: sign | widened << 49)
    }
}
