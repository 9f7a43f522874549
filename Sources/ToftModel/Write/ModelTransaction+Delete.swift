internal import ToftStorage

extension ModelTransaction {
    /// Deletes an object with all the embedded objects in it: links to it become null, lists lose
    /// it, what it links to stays. O(log objects) for each link from and to it.
    package func erase(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        try view.requireObject(key, owner)
        try addDelete(key, owner)
    }

    /// Deletes all objects of a class. O(objects and their links).
    package func eraseAll(_ owner: ClassHandle) throws(ModelError) {
        let table = try view.table(owner)
        var keys: [Int64] = []
        keys.reserveCapacity(table.rowCount)
        try stored { () throws(StorageError) in
            try table.forEachCluster { cluster in
                keys.append(
                    contentsOf: UnsafeBufferPointer(start: cluster.keys, count: cluster.count))
                return true
            }
        }
        for key in keys { try addDelete(key, owner) }
    }
}
