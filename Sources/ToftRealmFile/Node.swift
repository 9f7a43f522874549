/// A stored array: its header and the position of its elements. Sizes of elements are bits for
/// numbers and bytes otherwise, as `kind` says.
struct Node {
    static let headerSize = 8

    enum Kind: UInt8 {
        /// Numbers, of `width` bits each.
        case numbers
        /// Elements of `width` bytes each.
        case values
        /// Bytes.
        case bytes
    }

    let ref: Int
    /// Whether it is an inner node of a tree.
    let isInner: Bool
    let hasRefs: Bool
    /// Its meaning depends on the node's place in the file.
    let hasContext: Bool
    let kind: Kind
    let width: Int
    /// The number of elements.
    let size: Int
    let payload: UnsafeRawBufferPointer

    /// One of the numbers; those of at least 8 bits are signed. `index` is below `size`.
    func number(_ index: Int) -> Int64 {
        switch width {
        case 1: Int64(payload[index / 8] >> (index % 8) & 1)
        case 2: Int64(payload[index / 4] >> (index % 4 * 2) & 3)
        case 4: Int64(payload[index / 2] >> (index % 2 * 4) & 15)
        case 8: Int64(Int8(bitPattern: payload[index]))
        case 16:
            Int64(
                Int16(
                    littleEndian: payload.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)))
        case 32:
            Int64(
                Int32(
                    littleEndian: payload.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)))
        case 64:
            Int64(littleEndian: payload.loadUnaligned(fromByteOffset: 8 * index, as: Int64.self))
        default: 0
        }
    }

    /// An element as an unsigned number.
    func unsigned(_ index: Int) -> UInt64 {
        let number = UInt64(bitPattern: number(index))
        return width < 64 ? number & (1 << UInt64(width) &- 1) : number
    }
}

/// The content of a slot of a node with refs.
enum Slot {
    case nothing
    case ref(Int)
    case tagged(Int64)
}

/// Reads the nodes of a file once each: a file is a tree, so a repeated node is damage, and no walk
/// runs in a cycle.
final class NodeReader {
    /// Elements that may be read for each byte of the file, and besides: a header of eight bytes
    /// may claim millions.
    private static let elementsPerByte = 128
    private static let elementsBesides = 4096
    /// Levels of a tree.
    static let depthLimit = 24

    let bytes: FileBytes
    /// Nodes end before this.
    let end: Int
    /// The class, the property and the key of the object that are read, for messages.
    var place = Place()
    private var isVisited: [UInt64]
    private var budget: Int

    init(_ bytes: FileBytes, end: Int) {
        self.bytes = bytes
        self.end = end
        isVisited = [UInt64](repeating: 0, count: end / 512 + 1)
        budget = end * Self.elementsPerByte + Self.elementsBesides
    }

    func damage(_ what: String) -> RealmFileError { .damaged(what, place: place.description) }

    // MARK: Nodes

    /// The node at a ref, which is met for the first time.
    func node(_ ref: Int) throws(RealmFileError) -> Node {
        guard ref % 8 == 0, ref >= 24, ref <= end - Node.headerSize else {
            throw damage("\(ref) is not the place of a node")
        }
        let bit: UInt64 = 1 << (ref / 8 % 64)
        guard isVisited[ref / 512] & bit == 0 else {
            throw damage("the node at \(ref) is met twice")
        }
        isVisited[ref / 512] |= bit
        let header = try bytes.bytes(ref, count: Node.headerSize)
        let flags = header[4], code = Int(flags & 7)
        guard let kind = Node.Kind(rawValue: flags >> 3 & 3) else {
            throw damage("the node at \(ref) is of an unknown kind")
        }
        let width = (1 << code) >> 1
        let size = Int(header[5]) << 16 | Int(header[6]) << 8 | Int(header[7])
        let length =
            switch kind {
            case .numbers: (size * width + 7) / 8
            case .values: size * width
            case .bytes: size
            }
        guard length <= end - ref - Node.headerSize else {
            throw damage("the node at \(ref) ends beyond the file")
        }
        return Node(
            ref: ref, isInner: flags & 0x80 != 0, hasRefs: flags & 0x40 != 0,
            hasContext: flags & 0x20 != 0, kind: kind, width: width, size: size,
            payload: try bytes.bytes(ref + Node.headerSize, count: length))
    }

    /// A node of refs, with at least as many slots.
    func refs(_ ref: Int, atLeast least: Int = 0) throws(RealmFileError) -> Node {
        let node = try node(ref)
        guard node.hasRefs, !node.isInner, node.kind == .numbers, node.size >= least else {
            throw damage("the node at \(ref) does not have the \(least) refs that it needs")
        }
        try charge(node.size)
        return node
    }

    /// A node of numbers.
    func numbers(_ ref: Int) throws(RealmFileError) -> Node {
        let node = try node(ref)
        try requireNumbers(node)
        try charge(node.size)
        return node
    }

    func requireNumbers(_ node: Node) throws(RealmFileError) {
        guard !node.hasRefs, !node.isInner, node.kind == .numbers else {
            throw damage("the node at \(node.ref) has no numbers")
        }
    }

    /// Counts elements that are about to be read.
    func charge(_ count: Int) throws(RealmFileError) {
        budget -= count
        guard budget >= 0 else { throw damage("it says that it has more values than it can have") }
    }

    // MARK: Slots

    func slot(_ node: Node, _ index: Int) throws(RealmFileError) -> Slot {
        let value = node.number(index)
        if value == 0 { return .nothing }
        if value & 1 == 1 { return .tagged(value >> 1) }
        guard value > 0, value < end else { throw damage("a ref leads out of the file") }
        return .ref(Int(value))
    }

    /// A slot that has a ref or nothing.
    func optionalRef(_ node: Node, _ index: Int) throws(RealmFileError) -> Int? {
        switch try slot(node, index) {
        case .nothing: return nil
        case .ref(let ref): return ref
        case .tagged: throw damage("slot \(index) of the node at \(node.ref) has no ref")
        }
    }

    /// A slot that has a ref.
    func ref(_ node: Node, _ index: Int) throws(RealmFileError) -> Int {
        guard let ref = try optionalRef(node, index) else {
            throw damage("slot \(index) of the node at \(node.ref) is empty")
        }
        return ref
    }

    /// The number in a slot; an empty slot is 0.
    func tagged(_ node: Node, _ index: Int) throws(RealmFileError) -> Int64 {
        switch try slot(node, index) {
        case .nothing: return 0
        case .tagged(let number): return number
        case .ref: throw damage("slot \(index) of the node at \(node.ref) has no number")
        }
    }

    // MARK: Trees

    /// Calls `body` with each leaf of a B+tree from left to right; it returns the leaf's number of
    /// values. Returns the sum.
    func forEachLeaf(
        _ ref: Int, _ body: (Node) throws(RealmFileError) -> Int
    ) throws(RealmFileError) -> Int {
        try forEachLeaf(ref, depth: 0, body)
    }

    private func forEachLeaf(
        _ ref: Int, depth: Int, _ body: (Node) throws(RealmFileError) -> Int
    ) throws(RealmFileError) -> Int {
        guard depth < Self.depthLimit else { throw damage("a tree is too deep") }
        let node = try node(ref)
        guard node.isInner else { return try body(node) }
        guard node.hasRefs, node.kind == .numbers, node.size >= 3 else {
            throw damage("the inner node at \(ref) has no children")
        }
        try charge(node.size)
        let children = node.size - 2
        if case .ref(let offsets) = try slot(node, 0) {
            try checkOffsets(try numbers(offsets), children)
        }
        var count = 0
        for child in 1...children {
            count += try forEachLeaf(try self.ref(node, child), depth: depth + 1, body)
        }
        guard try tagged(node, node.size - 1) == Int64(count) else {
            throw damage("a tree has \(count) values, and says another number")
        }
        return count
    }

    private func checkOffsets(_ offsets: Node, _ children: Int) throws(RealmFileError) {
        guard offsets.size == children - 1 else { throw damage("a tree lacks an offset") }
        for index in 0..<offsets.size
        where index > 0 && offsets.unsigned(index) < offsets.unsigned(index - 1) {
            throw damage("the offsets of a tree do not ascend")
        }
    }
}

/// A value's place in the file, for messages.
struct Place: CustomStringConvertible {
    var className = ""
    var property = ""
    var key: Int64?

    var description: String {
        guard !className.isEmpty else { return "" }
        let path = property.isEmpty ? className : "\(className).\(property)"
        return key.map { "\(path) of the object with the key \($0)" } ?? path
    }
}
