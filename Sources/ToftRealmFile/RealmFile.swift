package import ToftPlatform
package import ToftStorage

/// A Realm file that is read: its tables, then their objects, without realm-core. Formats 2 to 24,
/// also encrypted, also those that were written as a copy.
///
/// Nothing in such a file has a checksum, so every number is checked as it is read: a damaged or
/// malicious file gives an error. One thread; nobody writes the file meanwhile.
package final class RealmFile {
    package let format: Int
    /// Nil if no program has given the file a schema.
    package let schemaVersion: UInt64?
    package let tables: [RealmTable]

    private let bytes: FileBytes
    private let end: Int

    /// Objects in a row with some of their values.
    package struct Objects {
        /// The keys by which links name the objects.
        package let keys: [Int64]
        /// For each requested column, as many values.
        package let columns: [[RealmValue]]
    }

    /// Opens a file and reads its schema. O(classes).
    ///
    /// - Parameters:
    ///   - path: a file that nobody writes until the last value is read.
    ///   - key: 64 bytes, of an encrypted file.
    package init(_ path: String, key: EncryptionKey? = nil) throws(RealmFileError) {
        let bytes = try FileBytes(path, key: key)
        let header: Header
        do throws(RealmFileError) {
            header = try Header(bytes, isEncrypted: key != nil)
        } catch .wrongKey where Self.isOne(path) {
            throw .notEncrypted
        }
        self.bytes = bytes
        format = header.format
        end = header.end
        guard header.top != 0 else {
            schemaVersion = nil
            tables = []
            return
        }
        let nodes = NodeReader(bytes, end: header.end)
        let schema = SchemaReader(
            nodes: nodes, leaves: LeafReader(nodes: nodes, format: header.format))
        let all = try schema.tables(header.top)
        var version: UInt64?
        for table in all where table.name == "metadata" {
            guard
                let column = table.columns.first(where: { $0.name == "version" && $0.type == .int })
            else { continue }
            try Self.forEach(
                table, [column], NodeReader(bytes, end: header.end), header.format
            ) { objects in
                if version == nil, case .int(let number)? = objects.columns.first?.first {
                    version = number == -1 ? nil : UInt64(bitPattern: number)
                }
            }
        }
        schemaVersion = version
        tables =
            header.format < 10
            ? try Self.withPrimaryKeys(all, NodeReader(bytes, end: header.end), header.format) : all
    }

    /// Whether a file says that it is a Realm file. An encrypted one does not.
    package static func isOne(_ path: String) -> Bool {
        guard let bytes = try? FileBytes(path, key: nil),
            let header = try? bytes.bytes(0, count: 20)
        else { return false }
        return header[16...].elementsEqual("T-DB".utf8)
    }

    /// Which file it is, whatever its name says by now.
    package func identity() throws(RealmFileError) -> FileIdentity { try bytes.identity() }

    /// One walk over a file, which reads each table, and each column, at most once: no part of the
    /// file is read twice, also not for two tables.
    package struct Walk {
        fileprivate let nodes: NodeReader
    }

    package func walk() -> Walk { Walk(nodes: NodeReader(bytes, end: end)) }

    /// Calls `body` with all objects of a table in the order of their keys, some at a time, with
    /// the values of some columns.
    package func forEachObject(
        of table: RealmTable, _ columns: [RealmColumn], in walk: Walk,
        _ body: (Objects) throws(RealmFileError) -> Void
    ) throws(RealmFileError) {
        defer { walk.nodes.place = Place() }
        try Self.forEach(table, columns, walk.nodes, format, body)
    }

    private static func forEach(
        _ table: RealmTable, _ columns: [RealmColumn], _ nodes: NodeReader, _ format: Int,
        _ body: (Objects) throws(RealmFileError) -> Void
    ) throws(RealmFileError) {
        nodes.place.className = table.className ?? table.name
        let leaves = LeafReader(nodes: nodes, format: format)
        guard case .clusters(let ref) = table.rows else {
            return try OldTable(nodes: nodes, leaves: leaves, table: table).forEach(columns, body)
        }
        try ClusterTree(nodes: nodes).forEach(ref) { cluster throws(RealmFileError) in
            var values: [[RealmValue]] = []
            for column in columns { values.append(try leaves.column(column, of: cluster)) }
            nodes.place.property = ""
            try body(Objects(keys: cluster.keys, columns: values))
        }
    }

    /// Before format 10 a table of its own has the primary keys.
    private static func withPrimaryKeys(
        _ tables: [RealmTable], _ nodes: NodeReader, _ format: Int
    ) throws(RealmFileError) -> [RealmTable] {
        guard let keys = tables.first(where: { $0.name == "pk" }),
            let owner = keys.columns.first(where: { $0.name == "pk_table" && $0.type == .string }),
            let property = keys.columns.first(where: {
                $0.name == "pk_property" && $0.type == .string
            })
        else { return tables }
        var named = tables
        try forEach(keys, [owner, property], nodes, format) { objects in
            for (owner, property) in zip(objects.columns[0], objects.columns[1]) {
                guard case .string(let owner) = owner, case .string(let property) = property,
                    let index = named.firstIndex(where: {
                        $0.className.map { Array($0.utf8) == owner } ?? false
                    })
                else { continue }
                named[index].primaryKey = named[index].columns.firstIndex {
                    Array($0.name.utf8) == property
                }
            }
        }
        return named
    }
}

extension LeafReader {
    /// The values of one column for the objects of a cluster.
    fileprivate func column(_ column: RealmColumn, of cluster: Cluster) throws(RealmFileError)
        -> [RealmValue]
    {
        nodes.place.property = column.name
        guard column.position + 1 < cluster.node.size else {
            throw nodes.damage("a cluster has no values of the column")
        }
        let leaf = try nodes.node(try nodes.ref(cluster.node, column.position + 1))
        var values: [RealmValue] = []
        if column.collection == .none {
            var wanted = Wanted(type: column.type, isNullable: column.isNullable)
            wanted.target = column.target ?? 0
            wanted.isInCluster = true
            wanted.texts = column.texts
            wanted.limit = Self.clusterSize
            values = try self.values(leaf, wanted)
        } else {
            guard leaf.kind == .numbers, !leaf.isInner, leaf.size <= Self.clusterSize else {
                throw nodes.damage("the node at \(leaf.ref) has no collections")
            }
            try nodes.charge(leaf.size)
            for index in 0..<leaf.size {
                nodes.place.key = index < cluster.keys.count ? cluster.keys[index] : nil
                guard let ref = try nodes.optionalRef(leaf, index) else {
                    values.append(column.collection == .dictionary ? .dictionary([]) : .list([]))
                    continue
                }
                values.append(try collection(ref, column))
            }
            nodes.place.key = nil
        }
        guard values.count == cluster.keys.count else {
            throw nodes.damage(
                "\(cluster.keys.count) objects have \(values.count) values of the column")
        }
        return values
    }
}

/// The first 24 bytes of a file, or the last 16 of one that was written as a copy.
private struct Header {
    /// The topmost node's position; 0 if the file is empty.
    var top: Int
    var format: Int
    /// Nodes end before this.
    var end: Int

    private static let size = 24
    private static let footerSize = 16
    private static let footerMagic: UInt64 = 0x3034_1252_37E5_26C8
    private static let formats = [2...11, 20...24]

    init(_ bytes: FileBytes, isEncrypted: Bool) throws(RealmFileError) {
        guard bytes.size >= Self.size else { throw .notRealm }
        let header = try bytes.bytes(0, count: Self.size)
        guard header[16..<20].elementsEqual("T-DB".utf8) else {
            throw isEncrypted ? .wrongKey : .notRealm
        }
        guard bytes.size % 8 == 0 else { throw .cut("its size is not a multiple of 8 bytes") }
        let selected = Int(header[23] & 1)
        var top = UInt64(
            littleEndian: header.loadUnaligned(fromByteOffset: 8 * selected, as: UInt64.self))
        format = Int(header[20 + selected])
        end = bytes.size
        if top == .max, selected == 0 {
            guard bytes.size >= Self.size + Self.footerSize else { throw .cut("it has no footer") }
            let footer = try bytes.bytes(bytes.size - Self.footerSize, count: Self.footerSize)
            let magic = footer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            guard UInt64(littleEndian: magic) == Self.footerMagic else {
                throw .cut("it has no footer")
            }
            top = UInt64(littleEndian: footer.loadUnaligned(as: UInt64.self))
            end -= Self.footerSize
        }
        guard let place = Int(exactly: top) else {
            throw .damaged("the topmost node is nowhere", place: "")
        }
        self.top = place
        if top == 0, format == 0 { return }
        let format = format
        guard Self.formats.contains(where: { $0.contains(format) }) else {
            throw .unknownFormat(format)
        }
    }
}
