internal import ToftStorage

extension ModelTransaction {
    /// Erases an object: links to it become null, lists lose it, what it links to stays. O(log objects) for each link from and to it.
    package func erase(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        try view.requireObject(key, owner)
        for property in owner.links { try removeLinks(of: key, property) }
        for property in owner.incoming { try nullifyLinks(to: key, property) }
        for property in owner.indexed { try removeIndex(try view.cell(key, property), property, key) }
        if let property = owner.primaryKey { try removePrimaryKey(try view.cell(key, property), property, owner, key) }
        let table = try view.rows(owner)
        try stored { () throws(StorageError) in try writing.rowErase(table, id: owner.table, key, derived: false) }
    }

    /// Erases all objects of a class. O(objects and their links).
    package func eraseAll(_ owner: ClassHandle) throws(ModelError) {
        while let key = try lastKey(owner) { try erase(key, owner) }
    }

    private func lastKey(_ owner: ClassHandle) throws(ModelError) -> Int64? {
        let table = try view.rows(owner)
        guard table.rowCount > 0 else { return nil }
        return try stored { () throws(StorageError) in try table.key(atRank: table.rowCount - 1) }
    }

    /// Takes the backlinks of what the object links to away; its own links go with its row.
    private func removeLinks(of key: Int64, _ property: PropertyHandle) throws(ModelError) {
        if property.isList {
            for target in try linkTargets(key, property) { try dropBacklink(property, target: target, source: key) }
        } else if case .int64(let target) = try view.cell(key, property) {
            try dropBacklink(property, target: target, source: key)
        }
    }

    /// Makes every link through `property` to the object null, and takes the object out of lists.
    private func nullifyLinks(to key: Int64, _ property: PropertyHandle) throws(ModelError) {
        var sources: [Int64] = []
        try view.forEachBacklink(to: key, through: property) { source, _ in
            sources.append(source)
            return true
        }
        for source in sources {
            if property.isList {
                try eraseElements(linking: key, from: source, property)
            } else {
                try putCell(.null, to: source, property, derived: true)
            }
            try dropBacklink(property, target: key, source: source)
        }
    }

    /// Removes every element that links to `target`, from the last to the first.
    private func eraseElements(linking target: Int64, from source: Int64, _ property: PropertyHandle) throws(ModelError) {
        var places: [Int] = []
        let list = try view.list(source, property)
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            if case .int64(target) = cell { places.append(index) }
        }
        for place in places.reversed() {
            try change(source, property) { table, id throws(StorageError) in
                try writing.listErase(table, id: id, source, property.column, at: place, derived: true)
            }
        }
    }
}
