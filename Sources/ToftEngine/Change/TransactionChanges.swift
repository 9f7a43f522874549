internal import ToftModel
internal import ToftStorage

/// The details of the records that observers need. Inserted, deleted and changed rows are always
/// collected.
struct ChangeFilter {
    var lists: Set<CollectionRef> = []
    var objects: Set<ObjectRef> = []
    /// Properties whose changed rows are to be collected.
    var properties: Set<PropertyRef> = []
}

/// The changes of a run of commits, merged: a row that was created and deleted in it never existed.
struct TransactionChanges {
    /// The changes of the rows of one class. Keys are those of the objects.
    struct Rows {
        fileprivate(set) var inserted = IndexRanges()
        fileprivate(set) var erased = IndexRanges()
        /// Rows that existed before and still do.
        fileprivate(set) var modified = IndexRanges()
        /// Properties that were set in any of the rows.
        fileprivate(set) var properties: Set<PropertyID> = []

        var isEmpty: Bool { inserted.isEmpty && erased.isEmpty && modified.isEmpty }
    }

    private(set) var rows: [ClassID: Rows] = [:]
    private(set) var listEdits: [CollectionRef: [ListEdit]] = [:]
    /// Lists that changed in a way that the records do not describe.
    private(set) var opaqueLists: Set<CollectionRef> = []
    /// The changed properties of the observed objects.
    private(set) var properties: [ObjectRef: Set<PropertyID>] = [:]
    /// The rows in which the filter's properties were set.
    private var settings: [PropertyRef: IndexRanges] = [:]

    /// The rows that existed before, still do, and had a property of the filter set.
    func rows(of property: PropertyRef) -> IndexRanges { settings[property] ?? IndexRanges() }

    /// The rows that changed, of each class.
    var modified: [ClassID: IndexRanges] {
        rows.compactMapValues { $0.modified.isEmpty ? nil : $0.modified }
    }
}

extension TransactionChanges {
    /// Merges records. Nil if one of them is damaged or empty.
    init?(_ records: [CommitRecord], schema: StoredSchema, interest: ChangeFilter) {
        var collector = ChangeCollector(schema: schema, interest: interest)
        for record in records {
            guard !record.isTruncated, record.forEach({ collector.add($0) }) else { return nil }
        }
        rows = collector.rows()
        listEdits = collector.listEdits
        opaqueLists = collector.opaqueLists
        properties = collector.properties
        settings = collector.settings()
    }

    /// The differences of two tables, without records.
    init(
        differences: [ClassID: (inserted: IndexRanges, erased: IndexRanges, modified: IndexRanges)]
    ) {
        for (classID, difference) in differences {
            var rows = Rows()
            (rows.inserted, rows.erased, rows.modified) = difference
            self.rows[classID] = rows
        }
    }
}

/// Touches while they are gathered: keys in the order of their effects, repeated as they come.
private struct ChangeCollector {
    private struct Class {
        let id: ClassID
        let visible: Set<PropertyID>
        var inserted = KeyRuns()
        var erased = KeyRuns()
        var modified = KeyRuns()
        var properties: Set<PropertyID> = []
        /// For the filter's properties, the rows that they were set in.
        var settings: [PropertyID: KeyRuns]
    }

    private var classes: [Class]
    /// By the id of the table.
    private let indexOfTable: [TreeID: Int]
    private let interest: ChangeFilter
    private(set) var listEdits: [CollectionRef: [ListEdit]] = [:]
    private(set) var opaqueLists: Set<CollectionRef> = []
    private(set) var properties: [ObjectRef: Set<PropertyID>] = [:]

    init(schema: StoredSchema, interest: ChangeFilter) {
        let seen = schema.visibleClasses
        classes = seen.map { owner in
            let asked = interest.properties.filter { $0.classID == owner.id }.map {
                ($0.propertyID, KeyRuns())
            }
            return Class(
                id: owner.id, visible: Set(owner.visibleProperties.map(\.id)),
                settings: Dictionary(asked) { first, _ in first })
        }
        indexOfTable = Dictionary(seen.enumerated().map { ($0.element.table, $0.offset) }) {
            first, _ in
            first
        }
        self.interest = interest
    }

    mutating func add(_ effect: Effect) {
        guard let index = indexOfTable[effect.tree] else { return }
        switch RowChange(effect) {
        case .inserted: classes[index].inserted.add(effect.key, count: effect.count)
        case .erased: classes[index].erased.add(effect.key, count: effect.count)
        case .set: _ = touch(index, effect)
        case .touched:
            guard let list = touch(index, effect), interest.lists.contains(list) else { return }
            opaqueLists.insert(list)
        case .edited(let edit):
            guard let list = touch(index, effect), interest.lists.contains(list) else { return }
            listEdits[list, default: []].append(edit)
        case nil: break
        }
    }

    /// Returns the list that the effect's cell may be; nil for a column that nobody sees.
    private mutating func touch(_ index: Int, _ effect: Effect) -> CollectionRef? {
        guard classes[index].visible.contains(effect.column) else { return nil }
        classes[index].modified.add(effect.key, count: 1)
        classes[index].properties.insert(effect.column)
        if !classes[index].settings.isEmpty {
            classes[index].settings[effect.column]?.add(effect.key, count: 1)
        }
        let object = ObjectRef(classID: classes[index].id, key: effect.key)
        if interest.objects.contains(object) {
            properties[object, default: []].insert(effect.column)
        }
        return CollectionRef(owner: object, property: effect.column)
    }

    /// The net effect for the filter's properties.
    func settings() -> [PropertyRef: IndexRanges] {
        var settings: [PropertyRef: IndexRanges] = [:]
        for collected in classes where !collected.settings.isEmpty {
            let (inserted, erased) = (collected.inserted.merged(), collected.erased.merged())
            for (property, keys) in collected.settings {
                settings[PropertyRef(classID: collected.id, propertyID: property)] = keys.merged()
                    .subtracting(inserted).subtracting(erased)
            }
        }
        return settings
    }

    /// The net effect.
    func rows() -> [ClassID: TransactionChanges.Rows] {
        var rows: [ClassID: TransactionChanges.Rows] = [:]
        for collected in classes {
            let inserted = collected.inserted.merged()
            let erased = collected.erased.merged()
            var net = TransactionChanges.Rows()
            net.inserted = inserted.subtracting(erased)
            net.erased = erased.subtracting(inserted)
            net.modified = collected.modified.merged().subtracting(inserted).subtracting(erased)
            net.properties = collected.properties
            if !net.isEmpty { rows[collected.id] = net }
        }
        return rows
    }
}

/// Keys in the order of their arrival: runs of consecutive ones.
private struct KeyRuns {
    private var runs: [Range<Int>] = []

    mutating func add(_ key: Int64, count: Int) {
        let (end, overflow) = Int(key).addingReportingOverflow(count)
        guard count > 0, !overflow else { return }
        if let last = runs.last, last.upperBound == key || last.contains(Int(key)) {
            runs[runs.count - 1] = last.lowerBound..<max(last.upperBound, end)
        } else {
            runs.append(Int(key)..<end)
        }
    }

    func merged() -> IndexRanges {
        var merged = IndexRanges()
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) { merged.append(run) }
        return merged
    }
}
