package import ToftStorage

/// Holds rows, primary keys, indexes, links and backlinks of a version against each other.
///
/// Rules: 1. an index or primary key tree has exactly one entry for each row, the one that its
/// value makes; 2. every link leads to a row; 3. the backlinks of a property are its links,
/// counted; 4. text is UTF-8; 5. keys are at least 0 and below the table's next key; 6. the
/// elements of a set and the keys of a dictionary ascend, and a dictionary has as many values as
/// keys; 7. exactly one link leads to an embedded object; 8. no auto-incremented primary key is
/// greater than its counter; 9. the tree of a unique constraint has exactly one entry for each row
/// without null, and no two rows the same values; 10. the copy of the schema, unless it is of an
/// earlier generation, is the schema.
package struct ModelCheck {
    private var view: ModelView
    private var problems: [String] = []
    /// At most this many problems are reported.
    private static let limit = 100

    /// Every problem found, in plain words; at most a hundred. O(everything).
    ///
    /// - Throws: errors that do not mean damage: `addressSpaceExhausted`, `interrupted`...
    package static func run(_ view: ModelView) throws(ModelError) -> [String] {
        var check = ModelCheck(view: view)
        do throws(ModelError) { try view.unflushed?.flushAll() } catch {
            try error.requireDamage()
            return ["changes that wait can't be written: \(error.message)"]
        }
        try check.checkSchema()
        for owner in view.schema.classes { try check.run(owner) }
        return check.problems
    }

    /// Checks a whole version: its bytes, then their consistency with the schema. O(everything).
    package static func run(_ snapshot: Snapshot) throws(ModelError) -> CheckReport {
        var report = try stored { () throws(StorageError) in try StoreCheck.run(snapshot) }
        do throws(ModelError) {
            report.problems += try run(try ModelView(snapshot))
        } catch {
            try error.requireDamage()
            report.problems.append("the schema: \(error.message)")
        }
        return report
    }

    private init(view: ModelView) {
        self.view = view
    }

    private mutating func checkSchema() throws(ModelError) {
        do throws(ModelError) {
            let schema = try SchemaTree.read(view.snapshot)
            let copy = try SchemaTree.read(view.snapshot, from: SchemaTree.copy)
            if copy.generation == schema.generation, copy != schema {
                add("the copy of the schema is another one")
            }
        } catch {
            try error.requireDamage()
            add("the schema: \(error.message)")
        }
    }

    private mutating func run(_ owner: ClassHandle) throws(ModelError) {
        do throws(ModelError) {
            try checkRows(owner)
        } catch {
            try error.requireDamage()
            add("class '\(owner.name)': \(error.message)")
        }
    }

    private mutating func add(_ problem: String) {
        if problems.count < Self.limit { problems.append(problem) }
    }

    private mutating func checkRows(_ owner: ClassHandle) throws(ModelError) {
        var table = try view.table(owner)
        var entries = ContiguousArray(repeating: 0, count: owner.properties.count)
        var uniqueEntries = ContiguousArray(repeating: 0, count: owner.uniques.count)
        var rank = 0
        while rank < table.rowCount {
            try stored { () throws(StorageError) in try CurrentCall.checkInterruption() }
            let (cluster, first) = try stored { () throws(StorageError) in
                try table.cluster(atRank: rank)
            }
            var row = first
            while row < cluster.count {
                checkKey(cluster.keys[row], table, owner)
                if owner.isEmbedded { try checkOwner(of: cluster.keys[row], owner) }
                for (index, constraint) in owner.uniques.enumerated() {
                    uniqueEntries[index] += try checkUniqueEntry(constraint, cluster.keys[row])
                }
                for (position, property) in owner.properties.enumerated() where property.isStored {
                    entries[position] += try checkProperty(property, cluster, row, owner)
                }
                row += 1
                if view.isFilled { break }
            }
            rank += row - first
            if let next = try view.again() {
                view = next
                table = try view.table(owner)
            }
        }
        for (index, constraint) in owner.uniques.enumerated() {
            try checkUnique(constraint, entries: uniqueEntries[index])
        }
        for (position, property) in owner.properties.enumerated() where property.isStored {
            try checkTotals(property, owner, rows: table.rowCount, backlinks: entries[position])
        }
    }

    private mutating func checkKey(_ key: Int64, _ table: TableReader, _ owner: ClassHandle) {
        if key < 0 || key >= table.nextKey {
            add(
                "class '\(owner.name)' has the key \(key), which is not below its next key "
                    + "\(table.nextKey)"
            )
        }
    }

    /// `checkLink` makes sure that every link has its entries.
    private mutating func checkOwner(of key: Int64, _ owner: ClassHandle) throws(ModelError) {
        var links = 0
        for property in owner.incoming {
            links += try view.backlinkCount(to: key, of: owner.id, through: property)
        }
        if links != 1 {
            add("the embedded object \(key) of class '\(owner.name)' has \(links) owners")
        }
    }

    /// Checks one property of one row. Returns the number of backlink entries that the row must
    /// have made.
    private mutating func checkProperty(
        _ property: PropertyHandle, _ cluster: ClusterView, _ row: Int, _ owner: ClassHandle
    ) throws(ModelError) -> Int {
        let key = cluster.keys[row]
        if property.isCollection {
            if property.collection == .dictionary { try checkKeys(property, cluster, row) }
            return try checkElements(property, cluster, row)
        }
        let cell = try stored { () throws(StorageError) in try cluster.cell(row, property.column) }
        if case .null = cell, !property.isOptional { add("\(describe(property, key)) is null") }
        checkValue(property, key, cell)
        if property.isPrimaryKey, try view.find(cell: cell, property, owner) != key {
            add("\(describe(property, key)) is not found by its value")
        }
        if property.isIndexed { try checkIndexEntry(property, key, cell) }
        if property.type == .mixed {
            var links: [ObjectRef: Int] = [:]
            checkMixed(property, key, cell, &links)
            return try checkLinks(property, key, links)
        }
        guard property.type == .link, case .int64(let target) = cell else { return 0 }
        try checkLink(property, key, target, of: nil, count: 1)
        return 1
    }

    /// Checks a mixed value and counts its links.
    private mutating func checkMixed(
        _ property: PropertyHandle, _ key: Int64, _ cell: Cell, _ links: inout [ObjectRef: Int]
    ) {
        do throws(ModelError) {
            let value = try MixedValue(cell)
            try value.check()
            if case .scalar(.null) = value, case .bytes = cell { throw MixedFormat.damaged }
            for target in try MixedValue.links(in: cell) { links[target, default: 0] += 1 }
        } catch {
            add("\(describe(property, key)): \(error.message)")
        }
    }

    private mutating func checkLinks(
        _ property: PropertyHandle, _ key: Int64, _ links: [ObjectRef: Int]
    ) throws(ModelError) -> Int {
        for (target, count) in links {
            guard view.schema.anyClass(id: target.classID) != nil else {
                add("\(describe(property, key)) links to an object of class #\(target.classID)")
                continue
            }
            try checkLink(property, key, target.key, of: target.classID, count: count)
        }
        return links.count
    }

    /// Reads a value as a caller would: text is UTF-8.
    private mutating func checkValue(_ property: PropertyHandle, _ key: Int64, _ cell: Cell) {
        do { try property.requireText(cell) } catch {
            add("\(describe(property, key)): \(error.message)")
        }
    }

    private mutating func checkKeys(_ property: PropertyHandle, _ cluster: ClusterView, _ row: Int)
        throws(ModelError)
    {
        let key = cluster.keys[row]
        let (names, values) = try stored { () throws(StorageError) in
            (
                try cluster.list(property.keysColumn, row),
                try cluster.list(property.column, row)
            )
        }
        if names.count != values.count {
            add("\(describe(property, key)) has \(names.count) keys and \(values.count) values")
        }
        try checkOrder(names, property, key, as: .string)
        for index in 0..<names.count {
            let name = try stored { () throws(StorageError) in try names.cell(at: index) }
            guard case .bytes(let bytes) = name, UTF8Text.isValid(bytes) else {
                add("\(describe(property, key)) has a key at \(index) that is not UTF-8")
                continue
            }
        }
    }

    /// Each element comes after the one before it.
    private mutating func checkOrder(
        _ list: ListView, _ property: PropertyHandle, _ key: Int64, as type: PropertyType
    ) throws(ModelError) {
        for index in 0..<max(list.count - 1, 0) {
            let (first, second) = try stored { () throws(StorageError) in
                (try list.cell(at: index), try list.cell(at: index + 1))
            }
            if !first.isBefore(second, of: type) {
                add("\(describe(property, key)) does not ascend at \(index + 1)")
            }
        }
    }

    private mutating func checkElements(
        _ property: PropertyHandle, _ cluster: ClusterView, _ row: Int
    ) throws(ModelError) -> Int {
        var links: [ObjectRef: Int] = [:]
        let key = cluster.keys[row]
        let list = try stored { () throws(StorageError) in try cluster.list(property.column, row) }
        if property.collection == .set { try checkOrder(list, property, key, as: property.type) }
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            if case .null = cell, !property.isOptional {
                add("\(describe(property, key)) has a null at \(index)")
            }
            if property.type == .mixed {
                checkMixed(property, key, cell, &links)
                continue
            }
            if case .int64(let target) = cell, property.type == .link {
                links[ObjectRef(classID: property.targetClassID ?? 0, key: target), default: 0] += 1
            }
            checkValue(property, key, cell)
        }
        return try checkLinks(property, key, links)
    }

    private mutating func checkLink(
        _ property: PropertyHandle, _ key: Int64, _ target: Int64, of owner: ClassID?, count: Int
    ) throws(ModelError) {
        if let position = owner.flatMap({ view.schema.anyClass(id: $0)?.position })
            ?? property.targetPosition,
            try !view.exists(target, view.schema.classes[position])
        {
            add("\(describe(property, key)) links to \(target), which is not there")
        }
        let tree = try view.backlinkTree(property)
        let found = try KeyBytes.with { bytes throws(ModelError) -> Int in
            bytes.put(target: target, of: property.backlinkClass(owner ?? 0))
            bytes.put(objectKey: key)
            let entry = bytes.bytes
            let value = try stored { () throws(StorageError) in try tree.value(forKey: entry) }
            return try value.map { value throws(ModelError) in try BacklinkEntry.links(value) } ?? 0
        }
        if found != count {
            add(
                "\(describe(property, key)) links \(count) times to \(target), "
                    + "backlinks say \(found)"
            )
        }
    }

    private mutating func checkIndexEntry(_ property: PropertyHandle, _ key: Int64, _ cell: Cell)
        throws(ModelError)
    {
        let tree = try view.indexTree(property)
        let isThere = try KeyBytes.with { bytes throws(ModelError) -> Bool in
            guard bytes.put(cell, of: property.type, optional: property.isOptional) else {
                return false
            }
            bytes.put(objectKey: key)
            let entry = bytes.bytes
            return try stored { () throws(StorageError) in try tree.value(forKey: entry) != nil }
        }
        if !isThere { add("\(describe(property, key)) is not in its index") }
    }

    /// Checks for the exact number of entries: with those that were found, there is no other.
    private mutating func checkTotals(
        _ property: PropertyHandle, _ owner: ClassHandle, rows: Int, backlinks: Int
    ) throws(ModelError) {
        if property.isPrimaryKey {
            try compare(view.primaryKeyTree(owner), rows, "the primary key", property)
            try checkCounter(property, owner)
        }
        if property.isIndexed { try compare(view.indexTree(property), rows, "the index", property) }
        if property.type.canLink {
            try compare(view.backlinkTree(property), backlinks, "the backlinks", property)
        }
    }

    /// Returns the number of entries that the row must have in the tree of a constraint: 0 or 1.
    private mutating func checkUniqueEntry(_ constraint: UniqueConstraint, _ key: Int64)
        throws(ModelError) -> Int
    {
        guard let hash = try view.uniqueHash(key, constraint) else { return 0 }
        let tree = try view.uniqueTree(constraint)
        let isThere = try KeyBytes.with { bytes throws(ModelError) -> Bool in
            bytes.putUnique(hash, key)
            let entry = bytes.bytes
            return try stored { () throws(StorageError) in try tree.value(forKey: entry) != nil }
        }
        if !isThere, let property = constraint.properties.first {
            add("\(describe(property, key)) is not in its unique constraint")
        }
        return 1
    }

    /// In a transaction that is going on two objects may have the same values.
    private mutating func checkUnique(_ constraint: UniqueConstraint, entries: Int)
        throws(ModelError)
    {
        guard let property = constraint.properties.first else { return }
        try compare(view.uniqueTree(constraint), entries, "the unique constraint", property)
        guard view.unflushed == nil else { return }
        do { try view.checkUnique(constraint) } catch {
            guard case .duplicateValues = error else { throw error }
            add(error.message)
        }
    }

    private mutating func checkCounter(_ property: PropertyHandle, _ owner: ClassHandle)
        throws(ModelError)
    {
        guard property.isAutoIncremented, let tree = owner.primaryKeyTree else { return }
        let counter = try KeyCounter.read(owner.id, in: view.snapshot)
        let greatest = try KeyCounter.greatest(in: tree, view.snapshot)
        if greatest > counter {
            add(
                "'\(property.className).\(property.name)' counts \(counter), but is \(greatest) "
                    + "in an object")
        }
    }

    private mutating func compare(
        _ tree: TreeReader, _ expected: Int, _ what: String, _ property: PropertyHandle
    ) throws(ModelError) {
        let found = try stored { () throws(StorageError) in try tree.count }
        if found != expected {
            add(
                "\(what) of '\(property.className).\(property.name)' have \(found) entries, not "
                    + "\(expected)"
            )
        }
    }

    private func describe(_ property: PropertyHandle, _ key: Int64) -> String {
        "'\(property.className).\(property.name)' of object \(key)"
    }
}
