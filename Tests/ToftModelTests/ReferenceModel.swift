@testable import ToftModel
import ToftStorage

/// The expected content of a database, in plain dictionaries.
struct ReferenceModel: Equatable {
    struct Object: Equatable {
        var values: [String: Value] = [:]
        var lists: [String: [Value]] = [:]
        var sets: [String: Set<Value>] = [:]
        var dictionaries: [String: [String: Value]] = [:]

        /// The values of each property.
        var contents: [(String, [Value])] {
            values.map { ($0, [$1]) } + lists.map { ($0, $1) } + sets.map { ($0, Array($1)) }
                + dictionaries.map { ($0, Array($1.values)) }
        }
    }

    /// Objects by class and key.
    var classes: [String: [Int64: Object]] = [:]

    /// The greatest primary key that each class has had, if its keys are counted.
    var counters: [String: Int64] = [:]

    /// The delete rules of the links of each class, and the names of all classes.
    var rules: [String: [String: DeleteRule]] = [:]
    var names: [ClassID: String] = [:]

    /// The names of embedded classes.
    var embedded: [ClassID: String] = [:]

    static func == (left: ReferenceModel, right: ReferenceModel) -> Bool {
        left.classes == right.classes
    }

    /// Deletes an embedded object that nothing leads to any more.
    mutating func drop(_ value: Value?) {
        guard case .link(let ref) = value, let name = embedded[ref.classID] else { return }
        erase(name, ref.key, id: ref.classID)
    }

    /// Links to an object become null, those in dictionaries too; lists and sets lose it; the
    /// embedded objects in it go.
    mutating func erase(_ name: String, _ key: Int64, id: ClassID) {
        guard let object = classes[name]?[key] else { return }
        let children = cascade(from: object, name)
        classes[name]?[key] = nil
        let gone = Value.link(ObjectRef(classID: id, key: key))
        for (name, objects) in classes {
            for (key, object) in objects {
                for (property, value) in object.values where value.count(of: gone) > 0 {
                    classes[name]?[key]?.values[property] = value.without(gone)
                }
                for (property, list) in object.lists
                where list.contains(where: { $0.count(of: gone) > 0 }) {
                    classes[name]?[key]?.lists[property] =
                        property.hasSuffix("mixed")
                        ? list.map { $0.without(gone) } : list.filter { $0 != gone }
                }
                for property in object.sets.keys {
                    classes[name]?[key]?.sets[property]?.remove(gone)
                }
                for (property, dictionary) in object.dictionaries {
                    for (entry, value) in dictionary where value.count(of: gone) > 0 {
                        classes[name]?[key]?.dictionaries[property]?[entry] = value.without(gone)
                    }
                }
            }
        }
        for case .link(let ref) in children {
            if let name = names[ref.classID] { erase(name, ref.key, id: ref.classID) }
        }
    }

    /// The objects deleted with an object: the embedded objects in it, and the targets of cascading
    /// links.
    func cascade(from object: Object, _ name: String) -> [Value] {
        object.contents.flatMap { property, values in
            values.filter {
                guard case .link(let ref) = $0 else { return false }
                return embedded[ref.classID] != nil || rules[name]?[property] == .cascade
            }
        }
    }

    /// Whether a link of an object that stays denies the deletion of some objects.
    func isDenied(_ roots: [Value]) -> Bool {
        var going: Set<Value> = [], waiting = roots
        while let value = waiting.popLast() {
            guard case .link(let ref) = value, let name = names[ref.classID],
                let object = classes[name]?[ref.key], going.insert(value).inserted
            else { continue }
            waiting += cascade(from: object, name)
        }
        for (id, name) in names {
            for (key, object) in classes[name] ?? [:]
            where !going.contains(.link(ObjectRef(classID: id, key: key))) {
                for (property, values) in object.contents where rules[name]?[property] == .deny {
                    if values.contains(where: going.contains) { return true }
                }
            }
        }
        return false
    }

    /// The objects that link to one, each as often as it does, in the order of their keys.
    func sources(of target: Value, _ name: String, _ property: String) -> [Int64] {
        (classes[name] ?? [:]).sorted { $0.key < $1.key }.flatMap { key, object in
            let count =
                object.lists[property].map { $0.reduce(0) { $0 + $1.count(of: target) } }
                ?? object.sets[property].map { $0.contains(target) ? 1 : 0 }
                ?? object.dictionaries[property].map {
                    $0.values.reduce(0) { $0 + $1.count(of: target) }
                }
                ?? object.values[property]?.count(of: target) ?? 0
            return [Int64](repeating: key, count: count)
        }
    }

    /// Reads everything that a view holds.
    init(reading view: ModelView) throws {
        for owner in view.schema.visibleClasses {
            if owner.isEmbedded { embedded[owner.id] = owner.name }
            var objects: [Int64: Object] = [:]
            let table = try view.table(owner)
            for rank in 0..<table.rowCount {
                let key = try table.key(atRank: rank)
                var object = Object()
                for property in owner.visibleProperties where property.isStored {
                    switch property.collection {
                    case .none: object.values[property.name] = try view.value(key, property)
                    case .list: object.lists[property.name] = try view.listValues(key, property)
                    case .set: object.sets[property.name] = Set(try view.listValues(key, property))
                    case .dictionary:
                        object.dictionaries[property.name] = try view.dictionary(key, property)
                    }
                }
                objects[key] = object
            }
            classes[owner.name] = objects
        }
    }

    init() {}

    /// True if two objects of a class have the same values of some properties, without a null.
    func hasDuplicates(_ name: String, _ properties: [String]) -> Bool {
        let rows = (classes[name] ?? [:]).values.map { object in
            properties.map { object.values[$0] ?? .null }
        }.filter { !$0.contains(.null) }
        return Set(rows).count < rows.count
    }
}

extension ModelView {
    /// Everything that a dictionary holds.
    fileprivate func dictionary(_ key: Int64, _ property: PropertyHandle) throws
        -> [String: Value]
    {
        var found: [String: Value] = [:]
        for (index, value) in try listValues(key, property).enumerated() {
            found[try dictionaryKey(key, property, at: index)] = value
        }
        return found
    }
}

extension Value {
    /// Whether it is a list or a dictionary.
    var isCollection: Bool {
        switch self {
        case .list, .dictionary: true
        default: false
        }
    }

    var entries: [ValueEntry] { if case .dictionary(let entries) = self { entries } else { [] } }

    /// The elements of a list, or the values of a dictionary.
    var elements: [Value] {
        switch self {
        case .list(let values): values
        case .dictionary(let entries): entries.map(\.value)
        default: []
        }
    }

    /// A collection of the same kind with other elements, as many for a dictionary.
    func with(_ elements: [Value]) -> Value {
        guard case .dictionary(let entries) = self else { return .list(elements) }
        return .dictionary(zip(entries, elements).map { ValueEntry(key: $0.key, value: $1) })
    }

    /// The number of occurrences of a value in this one.
    func count(of wanted: Value) -> Int {
        isCollection
            ? elements.reduce(0) { $0 + $1.count(of: wanted) } : self == wanted ? 1 : 0
    }

    /// The value with null in place of another.
    func without(_ gone: Value) -> Value {
        isCollection ? with(elements.map { $0.without(gone) }) : self == gone ? .null : self
    }
}

extension [String: Value] {
    /// The entries in the order of the keys' bytes.
    var entries: [ValueEntry] {
        map { ValueEntry(key: $0.key, value: $0.value) }.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
    }
}
