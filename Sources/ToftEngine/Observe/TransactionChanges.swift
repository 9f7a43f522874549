internal import ToftModel
internal import ToftStorage

/// A list in the database.
struct ListPlace: Hashable, Sendable {
    let owner: ObjectRef
    let property: PropertyID
}

/// Which details of the records somebody asks for. Which rows came, went and changed is always
/// gathered.
struct ChangeFilter {
    var lists: Set<ListPlace> = []
    var objects: Set<ObjectRef> = []
    /// Properties of which it is to be known in which rows they were set.
    var properties: Set<PropertyPlace> = []
}

/// What a run of commits did, merged: a row that came and went in it was never there.
struct TransactionChanges {
    /// What happened to the rows of one class. Keys are those of the objects.
    struct Rows {
        fileprivate(set) var inserted = IndexRanges()
        fileprivate(set) var erased = IndexRanges()
        /// Rows that were there before and still are.
        fileprivate(set) var modified = IndexRanges()
        /// Properties that were set in any of the rows.
        fileprivate(set) var properties: Set<PropertyID> = []

        var isEmpty: Bool { inserted.isEmpty && erased.isEmpty && modified.isEmpty }
    }

    private(set) var rows: [ClassID: Rows] = [:]
    private(set) var listEdits: [ListPlace: [ListEdit]] = [:]
    /// Lists that changed in a way that the records do not tell.
    private(set) var opaqueLists: Set<ListPlace> = []
    /// What was set in the objects asked for.
    private(set) var properties: [ObjectRef: Set<PropertyID>] = [:]
    /// The rows in which the properties asked for were set.
    private var settings: [PropertyPlace: IndexRanges] = [:]

    /// The rows that were there before, still are, and had a property set that was asked for.
    func rows(of property: PropertyPlace) -> IndexRanges { settings[property] ?? IndexRanges() }

    /// The rows that changed, of each class.
    var modified: [ClassID: IndexRanges] {
        rows.compactMapValues { $0.modified.isEmpty ? nil : $0.modified }
    }
}

extension TransactionChanges {
    /// Merges records. Nil where one of them is damaged or holds nothing.
    init?(_ records: [CommitRecord], schema: StoredSchema, interest: ChangeFilter) {
        var gathering = ChangeCollector(schema: schema, interest: interest)
        for record in records {
            guard !record.isTruncated, record.forEach({ gathering.add($0) }) else { return nil }
        }
        rows = gathering.rows()
        listEdits = gathering.listEdits
        opaqueLists = gathering.opaqueLists
        properties = gathering.properties
        settings = gathering.settings()
    }

    /// What two tables differ in, where there are no records.
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
        /// Of the properties asked for, the rows that they were set in.
        var settings: [PropertyID: KeyRuns]
    }

    private var classes: [Class]
    /// By the id of the table.
    private let places: [UInt64: Int]
    private let interest: ChangeFilter
    private(set) var listEdits: [ListPlace: [ListEdit]] = [:]
    private(set) var opaqueLists: Set<ListPlace> = []
    private(set) var properties: [ObjectRef: Set<PropertyID>] = [:]

    init(schema: StoredSchema, interest: ChangeFilter) {
        let seen = schema.visibleClasses
        classes = seen.map { owner in
            let asked = interest.properties.filter { $0.classID == owner.id }.map {
                ($0.property, KeyRuns())
            }
            return Class(
                id: owner.id, visible: Set(owner.visibleProperties.map(\.id)),
                settings: Dictionary(asked) { first, _ in first })
        }
        places = Dictionary(seen.enumerated().map { ($0.element.table, $0.offset) }) { first, _ in
            first
        }
        self.interest = interest
    }

    mutating func add(_ effect: Effect) {
        guard let place = places[effect.tree] else { return }
        switch effect.kind {
        case .rowInsert, .rowsInserted: classes[place].inserted.add(effect.key, count: effect.count)
        case .rowErase, .rowsErased: classes[place].erased.add(effect.key, count: effect.count)
        case .cellSet: _ = touch(place, effect)
        case .cellTouched:
            guard let list = touch(place, effect) else { return }
            if interest.lists.contains(list) { opaqueLists.insert(list) }
        case .listInsert: edit(place, effect, .insert(effect.index))
        case .listSet: edit(place, effect, .set(effect.index))
        case .listErase: edit(place, effect, .erase(effect.index))
        case .listMove: edit(place, effect, .move(effect.index, effect.otherIndex))
        case .listSwap: edit(place, effect, .swap(effect.index, effect.otherIndex))
        case .listClear: edit(place, effect, .clear)
        case .treePut, .treeDelete, .treeCreate, .treeDrop, .columnAdd, .columnRemove: break
        }
    }

    private mutating func touch(_ place: Int, _ effect: Effect) -> ListPlace? {
        guard classes[place].visible.contains(effect.column) else { return nil }
        classes[place].modified.add(effect.key, count: 1)
        classes[place].properties.insert(effect.column)
        if !classes[place].settings.isEmpty {
            classes[place].settings[effect.column]?.add(effect.key, count: 1)
        }
        let object = ObjectRef(classID: classes[place].id, key: effect.key)
        if interest.objects.contains(object) {
            properties[object, default: []].insert(effect.column)
        }
        return ListPlace(owner: object, property: effect.column)
    }

    private mutating func edit(_ place: Int, _ effect: Effect, _ edit: ListEdit) {
        guard let list = touch(place, effect), interest.lists.contains(list) else { return }
        listEdits[list, default: []].append(edit)
    }

    /// The net effect for the properties asked for.
    func settings() -> [PropertyPlace: IndexRanges] {
        var settings: [PropertyPlace: IndexRanges] = [:]
        for gathered in classes where !gathered.settings.isEmpty {
            let (inserted, erased) = (gathered.inserted.merged(), gathered.erased.merged())
            for (property, keys) in gathered.settings {
                settings[PropertyPlace(classID: gathered.id, property: property)] = keys.merged()
                    .subtracting(inserted).subtracting(erased)
            }
        }
        return settings
    }

    /// The net effect.
    func rows() -> [ClassID: TransactionChanges.Rows] {
        var rows: [ClassID: TransactionChanges.Rows] = [:]
        for gathered in classes {
            let inserted = gathered.inserted.merged()
            let erased = gathered.erased.merged()
            var net = TransactionChanges.Rows()
            net.inserted = inserted.subtracting(erased)
            net.erased = erased.subtracting(inserted)
            net.modified = gathered.modified.merged().subtracting(inserted).subtracting(erased)
            net.properties = gathered.properties
            if !net.isEmpty { rows[gathered.id] = net }
        }
        return rows
    }
}

/// Keys as they come: runs where they follow each other.
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
