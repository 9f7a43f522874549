internal import ToftModel

/// All that a database holds in one version: arrays, and nothing clever.
struct ModelContent {
    var shape: Shape
    var classes: [ModelRows]
}

/// The objects of one class in the order of their keys.
struct ModelRows {
    var keys: [Int64] = []
    /// One value for each property, in the order of the class.
    var rows: [[Datum]] = []
    /// The object of each primary key.
    var primaryKeys: [Datum: Int64] = [:]
    /// The greatest primary key so far, if keys are counted.
    var counter: Int64 = 0

    /// Moves the counter to a primary key that is greater.
    mutating func count(_ key: Datum) {
        if case .int(let key) = key { counter = max(counter, key) }
    }

    /// The index of a key; nil if there is no such object.
    func index(of key: Int64) -> Int? {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? low : nil
    }
}

extension ModelContent {
    init(_ shape: Shape) {
        self.shape = shape
        classes = shape.classes.map { _ in ModelRows() }
    }

    /// Whether two objects have equal values of a unique constraint.
    var hasDuplicates: Bool {
        for (declared, rows) in zip(shape.classes, classes) {
            for unique in declared.uniques {
                var known: Set<[Datum]> = []
                for row in rows.rows {
                    let values = unique.map { row[$0] }
                    if !values.contains(.null), !known.insert(values).inserted { return true }
                }
            }
        }
        return false
    }

    var objectCount: Int { classes.reduce(0) { $0 + $1.keys.count } }

    func row(_ owner: Int, _ key: Int64) -> [Datum]? {
        classes[owner].index(of: key).map { classes[owner].rows[$0] }
    }

    /// The object that has a primary key.
    func find(_ owner: Int, _ value: Datum) -> Int64? {
        classes[owner].primaryKeys[value]
    }

    /// The objects that link to one, each as often as it does, in the order of their keys.
    func sources(of key: Int64, through inverse: ShapeInverse) -> [Int64] {
        var found: [Int64] = []
        let origin = classes[inverse.origin]
        for (place, row) in origin.rows.enumerated() {
            switch row[inverse.property] {
            case .link(key): found.append(origin.keys[place])
            case .list(let elements):
                for element in elements where element.value == .link(key) {
                    found.append(origin.keys[place])
                }
            default: break
            }
        }
        return found
    }

    // MARK: Changes

    mutating func insert(_ owner: Int, _ key: Int64, _ row: [Datum]) {
        classes[owner].keys.append(key)
        classes[owner].rows.append(row)
        if let property = shape.classes[owner].primaryKey {
            classes[owner].primaryKeys[row[property]] = key
            if shape.classes[owner].properties[property].isCounted {
                classes[owner].count(row[property])
            }
        }
    }

    /// Begins to count the primary keys of a class, or no longer does.
    mutating func toggleCounter(_ owner: Int, _ property: Int) {
        shape.classes[owner].properties[property].isCounted.toggle()
        guard shape.classes[owner].properties[property].isCounted else { return }
        for row in classes[owner].rows { classes[owner].count(row[property]) }
    }

    /// Removes the objects at a run of places: links to them become null, also those in
    /// dictionaries; lists and sets lose them. Returns
    /// the objects whose links changed.
    mutating func erase(_ owner: Int, _ places: Range<Int>) -> [ModelObject] {
        erase(owner, Set(classes[owner].keys[places])) { rows in
            rows.keys.removeSubrange(places)
            rows.rows.removeSubrange(places)
        }
    }

    /// Erases any objects of a class.
    mutating func erase(_ owner: Int, keys: Set<Int64>) -> [ModelObject] {
        erase(owner, keys) { rows in
            let kept = rows.keys.indices.filter { !keys.contains(rows.keys[$0]) }
            rows.rows = kept.map { rows.rows[$0] }
            rows.keys = kept.map { rows.keys[$0] }
        }
    }

    private mutating func erase(
        _ owner: Int, _ keys: Set<Int64>, _ remove: (inout ModelRows) -> Void
    ) -> [ModelObject] {
        guard !keys.isEmpty else { return [] }
        if let property = shape.classes[owner].primaryKey {
            for key in keys {
                guard let row = row(owner, key) else { continue }
                classes[owner].primaryKeys[row[property]] = nil
            }
        }
        let children = children(owner, keys)
        remove(&classes[owner])
        var touched: [ModelObject] = []
        func isGone(_ value: Datum) -> Bool {
            if case .object(owner, let key) = value { keys.contains(key) } else { false }
        }
        for source in classes.indices {
            for (index, property) in shape.classes[source].properties.enumerated()
            where property.type == .mixed {
                for place in classes[source].rows.indices {
                    let old = classes[source].rows[place][index]
                    guard let new = old.without(isGone) else { continue }
                    // A set loses them.
                    classes[source].rows[place][index] =
                        property.collection == .set
                        ? .list(old.elements.filter { !isGone($0) }) : new
                    touched.append(ModelObject(owner: source, key: classes[source].keys[place]))
                }
            }
            for (index, property) in shape.classes[source].properties.enumerated()
            where property.type == .link && property.target == owner {
                for place in classes[source].rows.indices
                where unlink(keys, source, place, index, property.collection) {
                    touched.append(ModelObject(owner: source, key: classes[source].keys[place]))
                }
            }
        }
        for (target, keys) in children { touched += erase(target, keys: keys) }
        return touched
    }

    /// Whether a link keeps some objects of a class from being deleted.
    func isDenied(_ owner: Int, _ keys: [Int64]) -> Bool {
        guard shape.hasRules else { return false }
        var going = classes.map { _ in Set<Int64>() }
        var waiting = [(owner, Set(keys))]
        while let (owner, keys) = waiting.popLast() {
            let new = keys.subtracting(going[owner])
            going[owner].formUnion(new)
            if !new.isEmpty { waiting += children(owner, new) }
        }
        for (source, declared) in shape.classes.enumerated() {
            for (index, property) in declared.properties.enumerated() where property.rule == .deny {
                for (key, row) in zip(classes[source].keys, classes[source].rows)
                where !going[source].contains(key) {
                    for case .link(let target) in row[index].targets
                    where going[property.target].contains(target) {
                        return true
                    }
                }
            }
        }
        return false
    }

    /// The objects that go with some, by their class: those embedded in them, and those that
    /// cascading links lead to.
    private func children(_ owner: Int, _ keys: Set<Int64>) -> [(Int, Set<Int64>)] {
        let cascading = shape.classes[owner].cascading
        guard !cascading.isEmpty else { return [] }
        var children: [(Int, Set<Int64>)] = []
        for property in cascading {
            var found: Set<Int64> = []
            for key in keys {
                for case .link(let child) in row(owner, key)?[property].targets ?? [] {
                    found.insert(child)
                }
            }
            children.append((shape.classes[owner].properties[property].target, found))
        }
        return children
    }

    private mutating func unlink(
        _ keys: Set<Int64>, _ source: Int, _ place: Int, _ property: Int,
        _ collection: CollectionKind
    ) -> Bool {
        func isGone(_ value: Datum) -> Bool {
            if case .link(let key) = value { keys.contains(key) } else { false }
        }
        let value = classes[source].rows[place][property]
        if collection == .none {
            guard isGone(value) else { return false }
            classes[source].rows[place][property] = .null
            return true
        }
        let elements = value.elements
        guard elements.contains(where: { isGone($0.value) }) else { return false }
        let left = elements.compactMap { element -> Datum? in
            guard isGone(element.value) else { return element }
            guard case .entry(let key, _) = element else { return nil }
            return .entry(key, .null)
        }
        classes[source].rows[place][property] = .list(left)
        return true
    }

    /// The number of links to each object of a class, from mixed values of a property.
    func mixedLinks(to owner: Int, from origin: Int, _ property: Int) -> [Int64: Int] {
        var counts: [Int64: Int] = [:]
        for row in classes[origin].rows {
            row[property].forEachObject { if $0 == owner { counts[$1, default: 0] += 1 } }
        }
        return counts
    }

    mutating func addProperty(_ owner: Int, _ property: ShapeProperty) {
        shape.classes[owner].properties.append(property)
        for place in classes[owner].rows.indices {
            classes[owner].rows[place].append(property.initial)
        }
    }
}

/// Names an object.
struct ModelObject: Hashable {
    var owner: Int
    var key: Int64
}
