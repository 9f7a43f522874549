internal import ToftStorage

/// Gives each object of classes that become embedded one owner: Realm's automatic handling of
/// backlinks in migrations.
///
/// 1. Objects that are not embedded are walked through with all objects embedded in them. The first
///    link that leads to an object becomes its owner. For each further link the object is copied,
///    with its values and its links; objects within it are copied for the copy in turn, as its
///    links come second there.
/// 2. Objects that no walk has reached have no owner, or only each other. They are deleted.
/// 3. Meanwhile no class that is walked through is embedded: a link that changes deletes nothing.
/// 4. Sets and mixed values own nothing; their links stay, for the check that follows.
struct OwnerArrangement {
    private let transaction: ModelTransaction
    /// True if objects of a class are to be embedded, by the position of the class.
    private let isWalked: [Bool]
    /// The links of each class that own, by its position.
    private let owning: [[PropertyHandle]]
    /// The objects that have an owner, by the position of the class.
    private var owned: [KeySet]

    /// Changes objects of the classes that become embedded by a plan, before it is carried out.
    /// O(links of all classes that link to them), and the copies.
    static func run(_ plan: SchemaPlan, in writing: WriteTransaction) throws(ModelError) {
        var stored = try SchemaTree.read(writing.view)
        let classes = plan.target.embeddedClasses(in: plan.embedded)
        for index in stored.classes.indices where classes.contains(stored.classes[index].id) {
            stored.classes[index].isEmbedded = false
        }
        let transaction = ModelTransaction(
            writing, schema: ModelSchema(stored), buffer: WriteBuffer())
        var arrangement = OwnerArrangement(transaction, classes)
        try arrangement.giveOwners()
        try arrangement.deleteOthers()
        try transaction.buffer.flush()
        try transaction.checkUniques()
        try transaction.handOver()
    }

    private init(_ transaction: ModelTransaction, _ classes: [ClassID]) {
        let schema = transaction.view.schema
        let isWalked = schema.classes.map { classes.contains($0.id) }
        self.transaction = transaction
        self.isWalked = isWalked
        owning = schema.classes.map { owner in
            owner.links.filter { property in
                property.type == .link && property.collection != .set
                    && property.targetPosition.map { isWalked[$0] } == true
            }
        }
        owned = Array(repeating: KeySet(), count: schema.classes.count)
    }

    private var view: ModelView { transaction.view }

    // MARK: Owners

    private mutating func giveOwners() throws(ModelError) {
        for owner in view.schema.classes
        where !isWalked[owner.position] && !owning[owner.position].isEmpty {
            var rank = 0
            while true {
                let keys = try keys(of: owner, from: rank)
                if keys.isEmpty { break }
                for key in keys { try walk(from: key, owner) }
                rank += keys.count
            }
        }
    }

    /// The keys of some objects of a class, in their order. Borrowed bytes become invalid.
    private func keys(of owner: ClassHandle, from rank: Int) throws(ModelError) -> [Int64] {
        try stored { () throws(StorageError) in
            try CurrentCall.checkInterruption()
            try transaction.writing.spillKept()
        }
        let table = try view.table(owner)
        return try stored { () throws(StorageError) in
            guard rank < table.rowCount else { return [] }
            let (cluster, first) = try table.cluster(atRank: rank)
            return (first..<cluster.count).map { cluster.keys[$0] }
        }
    }

    /// Gives owners to all objects within an object that is not embedded.
    private mutating func walk(from key: Int64, _ owner: ClassHandle) throws(ModelError) {
        var waiting = [(key: key, position: owner.position, depth: 0)]
        while let holder = waiting.popLast() {
            for property in owning[holder.position] {
                guard let position = property.targetPosition else { continue }
                for (index, target) in try targets(of: holder.key, property) {
                    let key = try own(target, position, at: index, of: holder.key, property)
                    guard !owning[position].isEmpty else { continue }
                    guard holder.depth < Limits.nestedEmbeddedObjects else {
                        throw .embeddedTooDeep(
                            className: property.className, property: property.name,
                            limit: Limits.nestedEmbeddedObjects)
                    }
                    waiting.append((key, position, holder.depth + 1))
                }
            }
        }
    }

    /// The objects that a property links to, each with its index in a list or dictionary.
    private func targets(of key: Int64, _ property: PropertyHandle) throws(ModelError)
        -> [(index: Int, target: Int64)]
    {
        guard property.isCollection else {
            guard case .int64(let target) = try view.cell(key, property) else { return [] }
            return [(0, target)]
        }
        let list = try view.list(key, property)
        var found: [(index: Int, target: Int64)] = []
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            if case .int64(let target) = cell { found.append((index, target)) }
        }
        return found
    }

    /// Makes a link the owner of its target, or of a copy if that has an owner.
    /// - Returns: the link's new target.
    private mutating func own(
        _ target: Int64, _ position: Int, at index: Int, of key: Int64, _ property: PropertyHandle
    ) throws(ModelError) -> Int64 {
        if owned[position].insert(target) { return target }
        // Objects that are shared over many levels become very many copies.
        try stored { () throws(StorageError) in try CurrentCall.checkInterruption() }
        let copy = try transaction.copy(target, view.schema.classes[position])
        _ = owned[position].insert(copy)
        if property.isCollection {
            try transaction.replace(index, of: key, property, by: .int64(copy))
        } else {
            try transaction.put(.int64(copy), to: key, property)
        }
        return copy
    }

    // MARK: Others

    private func deleteOthers() throws(ModelError) {
        for owner in view.schema.classes where isWalked[owner.position] {
            var others: [Int64] = [], rank = 0
            while true {
                let keys = try keys(of: owner, from: rank)
                if keys.isEmpty { break }
                others += keys.filter { !owned[owner.position].contains($0) }
                rank += keys.count
            }
            for key in others { try transaction.buffer.addDelete(key, owner, derived: false) }
        }
    }
}

extension ModelTransaction {
    /// Creates an object with the values and the links of another one of its class, which has no
    /// primary key.
    fileprivate func copy(_ key: Int64, _ owner: ClassHandle) throws(ModelError) -> Int64 {
        arena.reset()
        prepared.pointee.begin(owner)
        for (position, property) in owner.properties.enumerated() where property.isStored {
            guard property.isCollection else {
                let cell = arena.copy(try view.cell(key, property))
                prepared.pointee.add(RowValue(column: property.column, tag: position, cell: cell))
                continue
            }
            let values = try prepareCopy(of: try view.list(key, property))
            guard property.collection == .dictionary else {
                prepared.pointee.add(
                    RowValue(column: property.column, tag: position, list: values))
                continue
            }
            _ = try prepareCopy(of: try view.dictionaryKeys(key, property))
            prepared.pointee.addDictionary(values, property, position)
        }
        return try insert(owner)
    }

    private func prepareCopy(of list: ListView) throws(ModelError) -> Range<Int> {
        let first = prepared.pointee.listCells.count
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            prepared.pointee.addListCell(arena.copy(cell))
        }
        return first..<prepared.pointee.listCells.count
    }
}

/// Keys of objects. Takes little memory if it has most keys of a range.
private struct KeySet {
    /// 64 keys each.
    private var words: [Int64: UInt64] = [:]

    /// False if the set has it already.
    mutating func insert(_ key: Int64) -> Bool {
        let bit: UInt64 = 1 << UInt64(key & 63)
        let word = words[key >> 6, default: 0]
        guard word & bit == 0 else { return false }
        words[key >> 6] = word | bit
        return true
    }

    func contains(_ key: Int64) -> Bool {
        words[key >> 6, default: 0] & 1 << UInt64(key & 63) != 0
    }
}
