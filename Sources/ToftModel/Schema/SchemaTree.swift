internal import ToftStorage

/// The system tree that holds the schema.
enum SchemaTree {
    /// The tree's id.
    static let id = SystemTree.schema

    /// The generation of a snapshot's schema, 0 where it has none: one look-up.
    static func generation(in snapshot: Snapshot) throws(ModelError) -> UInt64 {
        try header(in: snapshot)?.generation ?? 0
    }

    /// Reads and checks the whole schema.
    static func read(_ snapshot: Snapshot) throws(ModelError) -> StoredSchema {
        guard var schema = try header(in: snapshot) else { return StoredSchema() }
        try readClasses(into: &schema, snapshot)
        try schema.validate()
        return schema
    }

    private static func header(in snapshot: Snapshot) throws(ModelError) -> StoredSchema? {
        let bytes = try stored { () throws(StorageError) -> [UInt8]? in
            guard try snapshot.hasTree(id) else { return nil }
            let tree = try snapshot.orderedTree(id)
            return try SchemaEncoding.headerKey.withBytes { key throws(StorageError) in
                try tree.value(forKey: key).map(Array.init)
            }
        }
        guard let bytes else { return nil }
        return try StoredSchema(decodingHeader: bytes)
    }

    private static func readClasses(into schema: inout StoredSchema, _ snapshot: Snapshot)
        throws(ModelError)
    {
        let records = try stored { () throws(StorageError) -> [[UInt8]] in
            var records: [[UInt8]] = []
            let tree = try snapshot.orderedTree(id)
            let cursor = try tree.cursor()
            let first: [UInt8] = [SchemaEncoding.classKeyPrefix]
            var isThere = try first.withBytes { key throws(StorageError) in try cursor.seek(key) }
            while isThere, cursor.key.first == SchemaEncoding.classKeyPrefix {
                records.append(Array(try cursor.value))
                isThere = try cursor.next()
            }
            return records
        }
        for record in records { schema.classes.append(try StoredClass(decoding: record)) }
    }
}
