package import ToftStorage

/// The expected content of a database: plain dictionaries.
package struct Content {
    /// The tree that lists the others and holds the number of the commit: the first that a new
    /// database makes.
    package static let directory: TreeID = 16

    package var trees: [TreeID: [[UInt8]: [UInt8]]] = [:]
    package var tables: [TreeID: TableContent] = [:]

    package init() {}

    /// The content of a snapshot.
    package init(_ snapshot: Snapshot) throws {
        guard try snapshot.hasTree(Self.directory) else { return }
        trees[Self.directory] = try Self.entries(of: Self.directory, snapshot)
        for key in keys(of: Self.directory) where key.count == 9 {
            let id = key.withUnsafeBytes(Self.number)
            if key[0] == Self.tableMark {
                tables[id] = try TableContent(snapshot.table(id))
            } else {
                trees[id] = try Self.entries(of: id, snapshot)
            }
        }
    }

    private static func entries(of id: TreeID, _ snapshot: Snapshot) throws -> [[UInt8]: [UInt8]] {
        var entries: [[UInt8]: [UInt8]] = [:]
        let cursor = try snapshot.orderedTree(id).cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            entries[Array(cursor.key)] = try Array(cursor.value)
            isThere = try cursor.next()
        }
        return entries
    }

    /// The keys of a tree, in order.
    package func keys(of tree: TreeID) -> [[UInt8]] {
        (trees[tree] ?? [:]).keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The whole content as bytes, so that two contents can be compared.
    package func canonical() -> [UInt8] {
        var bytes: [UInt8] = []
        for id in (Array(trees.keys) + Array(tables.keys)).sorted() {
            Self.append(number: id.rawValue, to: &bytes)
            tables[id]?.append(to: &bytes)
            for (key, value) in (trees[id] ?? [:]).sorted(by: {
                $0.key.lexicographicallyPrecedes($1.key)
            }) {
                key.withUnsafeBytes { Self.append($0, to: &bytes) }
                value.withUnsafeBytes { Self.append($0, to: &bytes) }
            }
        }
        return bytes
    }

    /// A canonical content with another number of the commit, which is the directory's first entry.
    static func renumbered(_ canonical: [UInt8], _ commit: UInt64) -> [UInt8] {
        var content = Content()
        content.trees[directory] = [commitKey: withUnsafeBytes(of: commit) { Array($0) }]
        let beginning = content.canonical()
        return beginning + canonical.dropFirst(beginning.count)
    }

    /// The canonical bytes of a snapshot's content.
    package static func canonical(_ snapshot: Snapshot) throws -> [UInt8] {
        var bytes: [UInt8] = []
        guard try snapshot.hasTree(directory) else { return bytes }
        var others: [(id: TreeID, isTable: Bool)] = []
        try appendTree(directory, of: snapshot, to: &bytes) { key in
            if key.count == 9 { others.append((number(key), key[0] == tableMark)) }
        }
        for (id, isTable) in others.sorted(by: { $0.id < $1.id }) {
            if isTable {
                append(number: id.rawValue, to: &bytes)
                try TableContent.append(snapshot.table(id), to: &bytes)
            } else {
                try appendTree(id, of: snapshot, to: &bytes) { _ in }
            }
        }
        return bytes
    }

    /// The number of the last commit in a snapshot; 0 without a commit.
    package static func commitNumber(_ snapshot: Snapshot) throws -> Int {
        guard try snapshot.hasTree(directory) else { return 0 }
        return try commitKey.withUnsafeBytes { key throws in
            guard let value = try snapshot.orderedTree(directory).value(forKey: key),
                value.count == 8
            else { throw Failure("no commit number") }
            return Int(value.loadUnaligned(as: UInt64.self))
        }
    }

    package static let commitKey = Array("commit".utf8)

    /// The key in the directory that lists a tree.
    package static func listing(_ id: TreeID, isTable: Bool = false) -> [UInt8] {
        [isTable ? tableMark : UInt8(ascii: "t")]
            + withUnsafeBytes(of: id.rawValue.bigEndian) { Array($0) }
    }

    private static let tableMark = UInt8(ascii: "u")

    private static func number(_ listing: UnsafeRawBufferPointer) -> TreeID {
        TreeID(UInt64(bigEndian: listing.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
    }

    private static func appendTree(
        _ id: TreeID, of snapshot: Snapshot, to bytes: inout [UInt8],
        entry: (UnsafeRawBufferPointer) -> Void
    ) throws {
        append(number: id.rawValue, to: &bytes)
        let cursor = try snapshot.orderedTree(id).cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            append(cursor.key, to: &bytes)
            append(try cursor.value, to: &bytes)
            entry(cursor.key)
            isThere = try cursor.next()
        }
    }

    private static func append(number: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    private static func append(_ part: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        append(number: UInt64(part.count), to: &bytes)
        bytes.append(contentsOf: part)
    }
}
