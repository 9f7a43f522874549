internal import ToftStorage

/// The system tree that holds the schema, and another one with the same records except the key
/// counters: without a schema a file's content cannot be interpreted, and one damaged page must not
/// take it. Every change of the schema writes both; only a salvage and the check read the copy.
///
/// Files from before the copy existed have no copy, or one of an earlier generation, until the
/// schema changes.
enum SchemaTree {
    /// The tree's id.
    static let id = SystemTree.schema
    /// The id of the copy.
    static let copy = SystemTree.schemaCopy

    /// The generation of a snapshot's schema, or 0 without a schema: one lookup.
    static func generation(in snapshot: Snapshot, of id: TreeID = id) throws(ModelError) -> UInt64 {
        try header(in: snapshot, id)?.generation ?? 0
    }

    /// The header of a snapshot's schema alone: the version and the generation, no classes; nil
    /// without a schema.
    static func header(in snapshot: Snapshot) throws(ModelError) -> StoredSchema? {
        try header(in: snapshot, id)
    }

    /// Reads and checks the whole schema, or its copy.
    static func read(_ snapshot: Snapshot, from id: TreeID = id) throws(ModelError) -> StoredSchema
    {
        guard var schema = try header(in: snapshot, id) else { return StoredSchema() }
        try readClasses(into: &schema, snapshot, id)
        try schema.validate()
        return schema
    }

    private static func header(in snapshot: Snapshot, _ id: TreeID) throws(ModelError)
        -> StoredSchema?
    {
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

    private static func readClasses(
        into schema: inout StoredSchema, _ snapshot: Snapshot, _ id: TreeID
    ) throws(ModelError) {
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
