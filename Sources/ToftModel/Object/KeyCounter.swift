internal import ToftStorage

/// The counter of an auto-incremented primary key: the greatest key that an object of the class has
/// had, or 0 if all were lower.
///
/// A new object without a primary key gets the next one. A greater key that the caller gives moves
/// the counter there; a key that is not greater leaves it. The deletion of an object leaves it too,
/// so that a key is used only once. It is in the schema tree, under `SchemaEncoding.counterKey`,
/// and changes in the transaction that creates the objects, and transactions never overlap.
enum KeyCounter {
    /// The counter in a version; 0 if the class was never counted.
    static func read(_ id: ClassID, in snapshot: Snapshot) throws(ModelError) -> Int64 {
        let bytes = try stored { () throws(StorageError) -> [UInt8]? in
            let tree = try snapshot.orderedTree(SchemaTree.id)
            return try SchemaEncoding.counterKey(id).withBytes { key throws(StorageError) in
                try tree.value(forKey: key).map(Array.init)
            }
        }
        guard let bytes else { return 0 }
        var reader = SchemaReader(bytes[...])
        let counter = try reader.number(Int64.self)
        guard counter >= 0 else {
            throw .damagedSchema("the key counter of class \(id) is \(counter)")
        }
        return counter
    }

    static func write(_ counter: Int64, _ id: ClassID, in writing: WriteTransaction)
        throws(ModelError)
    {
        var writer = SchemaWriter()
        writer.put(counter)
        try stored { () throws(StorageError) in
            try SchemaEncoding.counterKey(id).withBytes { key throws(StorageError) in
                try writer.bytes.withBytes { value throws(StorageError) in
                    try writing.treePut(SchemaTree.id, key, value, derived: true)
                }
            }
        }
    }

    /// The greatest primary key in the tree of a class, or 0 if all are lower. O(log objects).
    static func greatest(in tree: TreeID, _ snapshot: Snapshot) throws(ModelError) -> Int64 {
        let end = [UInt8](repeating: .max, count: 9)
        return try stored { () throws(StorageError) in
            let cursor = try snapshot.orderedTree(tree).cursor()
            let isThere = try end.withBytes { end throws(StorageError) in
                try cursor.seek(before: end)
            }
            return isThere ? max(0, KeyBytes.lastInt(cursor.key) ?? 0) : 0
        }
    }
}
