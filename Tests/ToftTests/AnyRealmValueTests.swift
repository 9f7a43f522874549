// Tests: AnyRealmValue.swift, AnyRealmValue+Persistable.swift, CollectionIterator.swift,
// LiveValue.swift, Query+AnyRealmValue.swift, ValueConversion.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

class Setting: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var value: AnyRealmValue
    @Persisted var history: List<AnyRealmValue>
    @Persisted var choices: MutableSet<AnyRealmValue>
    @Persisted var parts: Map<String, AnyRealmValue>

    convenience init(_ name: String, _ value: AnyRealmValue = .none) {
        self.init()
        self.name = name
        self.value = value
    }
}

@Suite("Values of any type")
struct AnyRealmValueTests {
    /// A setting with a value in a file.
    private func withSetting(
        _ value: AnyRealmValue = .none, _ body: (Realm, Setting) throws -> Void
    ) throws {
        try TestRealm.withFile { realm, _ in
            let setting = Setting("one", value)
            try realm.write { realm.add(setting) }
            try body(realm, setting)
        }
    }

    @Test
    func `The least, the greatest, the sum and the mean of mixed values, by key path`() throws {
        try TestRealm.with { realm in
            let settings = realm.objects(Setting.self)
            #expect(settings.min(of: \.value) == nil && settings.average(of: \.value) == nil)
            #expect(settings.sum(of: \.value) == .decimal128(0))
            let values: [AnyRealmValue] = [.int(3), .double(0.5), .none, .string("x"), .int(-1)]
            try realm.write {
                for (index, value) in values.enumerated() { realm.add(Setting("\(index)", value)) }
            }
            #expect(settings.min(of: \.value) == .int(-1))
            #expect(settings.max(of: \.value) == .string("x"))
            #expect(settings.sum(of: \.value) == .decimal128("2.5"))
            let numbers = settings.filter("value < 10")
            #expect(numbers.max(of: \.value) == .int(3) && numbers.count == 3)
            let mean = settings.filter("value == 3 OR value == 0.5").average(of: \.value)
            #expect(mean == .decimal128("1.75"))
        }
    }

    private let scalars: [AnyRealmValue] = [
        .none, .int(5), .int(.min), .bool(true), .bool(false), .float(1.5), .double(-0.1),
        .double(.infinity), .string(""), .string("caf\u{e9}"), .data(Data()),
        .data(Data([0, 255])), .date(Date(timeIntervalSince1970: -1.5)),
        .objectId(.generate()), .decimal128("1.50"), .uuid(UUID()),
    ]

    /// The content of a value, lists and dictionaries too, as text.
    private func text(_ value: AnyRealmValue) -> String {
        switch value {
        case .list(let list): "[" + list.map { text($0) }.joined(separator: " ") + "]"
        case .dictionary(let map):
            "{"
                + map.sorted { $0.key < $1.key }.map { "\($0.key):\(text($0.value))" }
                .joined(separator: " ") + "}"
        case .object(let object): (object as? Dog)?.name ?? (object as? Person)?.name ?? "object"
        case .none: "-"
        default: value.content.map { "\($0)" } ?? "?"
        }
    }

    // MARK: Values

    @Test
    func `A value of every type goes in and comes out, before it is added and after`() throws {
        try TestRealm.withFile { realm, _ in
            for (number, value) in scalars.enumerated() {
                let setting = Setting("\(number)", value)
                setting.history.append(value)
                setting.choices.insert(value)
                setting.parts["k"] = value
                func expectAll() {
                    #expect(setting.value == value && Array(setting.history) == [value])
                    #expect(Array(setting.choices) == [value] && setting.parts["k"] == value)
                    #expect(setting.history[0] == value && setting.choices[0] == value)
                    #expect(setting.parts.values == [value])
                }
                expectAll()
                try realm.write { realm.add(setting) }
                expectAll()
                try realm.write {
                    setting.value = "other"
                    setting.value = value
                    setting.history[0] = 1
                    setting.history[0] = value
                    setting.parts["k"] = true
                    setting.parts.updateValue(value, forKey: "k")
                    setting.choices.removeAll()
                    setting.choices.insert(value)
                }
                expectAll()
                #expect(setting.freeze().value == value)
            }
        }
    }

    @Test
    func `Each type has its accessor, which gives nil for all others`() {
        let dog = Dog("Rex")
        let values = scalars + [.object(dog), [1, "a"], ["k": 2.5]]
        let ints = values.map(\.intValue), bools = values.map(\.boolValue)
        #expect(ints.compactMap { $0 } == [5, .min] && bools.compactMap { $0 } == [true, false])
        #expect(values.compactMap(\.floatValue) == [1.5])
        #expect(values.compactMap(\.doubleValue) == [-0.1, .infinity])
        #expect(values.compactMap(\.stringValue) == ["", "caf\u{e9}"])
        #expect(values.compactMap(\.dataValue).count == 2)
        #expect(values.compactMap(\.dateValue) == [Date(timeIntervalSince1970: -1.5)])
        #expect(values.compactMap(\.objectIdValue).count == 1)
        #expect(values.compactMap(\.decimal128Value) == ["1.50"])
        #expect(values.compactMap(\.uuidValue).count == 1)
        #expect(values.compactMap { $0.object(Dog.self) } == [dog])
        #expect(values.compactMap { $0.object(Person.self) } == [])
        #expect(values.compactMap(\.listValue).map { Array($0) } == [[1, "a"]])
        #expect(values.compactMap { $0.dictionaryValue?["k"] } == [2.5])
        #expect(AnyRealmValue.int(1) != .double(1) && AnyRealmValue() == .none)
        #expect(Set(values).count == values.count)
        let property = Setting.sharedSchemaProperty("value")
        #expect(property?.type == .any && property?.isOptional == true)
    }

    @Test
    func `Numbers of all types are equal in a managed set, and sorted with all other values`()
        throws
    {
        try withSetting { realm, setting in
            let dog = Dog("Rex")
            let ascending: [AnyRealmValue] = [
                .none, false, true, .double(-1), .int(0), .float(0.5), .decimal128("0.75"), 1,
                "a", "b", .data(Data([1])), .date(Date(timeIntervalSince1970: 0)),
                .objectId(.generate()), .uuid(UUID()), .object(dog),
            ]
            let unmanaged = MutableSet<AnyRealmValue>()
            unmanaged.insert(objectsIn: [1, .double(1), .decimal128("1.0"), true, "1"])
            #expect(unmanaged.count == 3 && unmanaged.contains(.float(1)))
            try realm.write {
                setting.history.append(objectsIn: ascending.reversed())
                setting.choices.insert(objectsIn: ascending.reversed())
                setting.choices.insert(objectsIn: [.float(1), .double(0), .decimal128("0.750")])
            }
            #expect(setting.choices.map { text($0) } == ascending.map { text($0) })
            #expect(setting.choices.contains(.decimal128("1.00")) && !setting.choices.contains(2))
            #expect(setting.choices.index(of: .object(dog)) == ascending.count - 1)
            #expect(setting.choices.index(of: .object(Dog("new"))) == nil)
            #expect(setting.history.sorted().map { text($0) } == ascending.map { text($0) })
            #expect(setting.history.index(of: .int(1)) == 7)
            #expect(setting.history.index(of: .object(Dog("new"))) == nil)
            #expect(realm.objects(Dog.self).count == 1)
            #expect(setting.history.sum() == .decimal128("1.25"))
            #expect(setting.history.average() == .decimal128("0.25"))
            try realm.write { setting.choices.remove(.double(1)) }
            #expect(setting.choices.count == ascending.count - 1)
        }
    }

    // MARK: Objects

    @Test
    func `Objects are added with their owner, also from deep within, in a circle too`() throws {
        try TestRealm.withFile { realm, _ in
            let (rex, fido) = (Dog("Rex"), Dog("Fido")), ada = Person(1, "Ada")
            let setting = Setting("one", ["dogs": [.object(rex), ["x": .object(fido)]]])
            setting.history.append(.object(setting))
            setting.choices.insert(.object(rex))
            setting.parts["p"] = .object(ada)
            try realm.write { realm.add(setting) }
            #expect(rex.realm != nil && fido.realm != nil && ada.realm != nil)
            #expect(realm.objects(Dog.self).count == 2)
            #expect(text(setting.value) == "{dogs:[Rex {x:Fido}]}")
            #expect(setting.history[0].object(Setting.self) == setting)
            #expect(setting.parts["p"]?.object(Person.self)?.name == "Ada")
            try realm.write {
                setting.value.dictionaryValue?["more"] = [.object(Dog("Bello"))]
                setting.history.append(.object(Dog("Waldi")))
            }
            #expect(text(setting.value) == "{dogs:[Rex {x:Fido}] more:[Bello]}")
            #expect(realm.objects(Dog.self).count == 4)
            try TestRealm.with { other in
                try other.write {
                    expectError(.wrongRealm) { other.add(Setting("a", .object(rex))) }
                }
            }
        }
    }

    @Test
    func `A link to a deleted object becomes nil, in a set it goes`() throws {
        try withSetting { realm, setting in
            let (rex, fido) = (Dog("Rex"), Dog("Fido"))
            try realm.write {
                setting.value = ["a": .object(rex), "b": [1, [.object(rex), .object(fido)]]]
                setting.history.append(objectsIn: [.object(rex), [.object(rex)], .object(fido)])
                setting.choices.insert(objectsIn: [.object(rex), .object(fido), 1])
                setting.parts["r"] = .object(rex)
                setting.parts["f"] = .object(fido)
            }
            let list = try #require(setting.value.dictionaryValue?["b"]?.listValue)
            try realm.write { realm.delete(rex) }
            #expect(text(setting.value) == "{a:- b:[1 [- Fido]]}")
            #expect(setting.history.map { text($0) } == ["-", "[-]", "Fido"])
            #expect(setting.choices.map { text($0) } == ["1", "Fido"])
            #expect(setting.parts["r"] == AnyRealmValue.none && setting.parts.count == 2)
            #expect(!list.isInvalidated && list.count == 2)
            try realm.write { realm.delete(realm.objects(Dog.self)) }
            #expect(text(setting.value) == "{a:- b:[1 [- -]]}" && setting.choices.count == 1)
        }
    }

    // MARK: Lists and dictionaries

    @Test
    func `Every way to change a list within a value`() throws {
        for isManaged in [false, true] {
            try withSetting([1, [2, 3], ["k": []]]) { realm, managed in
                let setting = isManaged ? managed : Setting("two", [1, [2, 3], ["k": []]])
                let outer = try #require(setting.value.listValue)
                let inner = try #require(outer[1].listValue)
                let deepest = try #require(outer[2].dictionaryValue?["k"]?.listValue)
                #expect(outer.count == 3 && Array(inner) == [2, 3] && deepest.isEmpty)
                #expect((outer.realm != nil) == isManaged)
                try realm.write {
                    inner.append(4)
                    inner.insert("a", at: 0)
                    inner.append(objectsIn: [true, 5.5])
                    #expect(text(setting.value) == "[1 [a 2 3 4 true 5.5] {k:[]}]")
                    inner.remove(at: 1)
                    inner.move(from: 0, to: 2)
                    inner.swapAt(0, 1)
                    #expect(text(setting.value) == "[1 [4 3 a true 5.5] {k:[]}]")
                    inner.removeSubrange(0..<2)
                    inner[1] = ["x"]
                    inner[1].listValue?.append("y")
                    inner.replaceSubrange(0..<1, with: [7, 8])
                    inner.removeLast()
                    #expect(text(setting.value) == "[1 [7 8 [x y]] {k:[]}]")
                    deepest.append(objectsIn: [[[]], "z"])
                    deepest[0].listValue?[0].listValue?.append(9)
                    #expect(text(setting.value) == "[1 [7 8 [x y]] {k:[[[9]] z]}]")
                    // Others move: the lists stay the same.
                    outer.insert("first", at: 0)
                    outer.move(from: 2, to: 3)
                    inner.append("!")
                    deepest.removeAll()
                    #expect(text(setting.value) == "[first 1 {k:[]} [7 8 [x y] !]]")
                    #expect(inner.index(of: "!") == 3 && inner.contains(8))
                    #expect(inner.index(of: ["x", "y"]) == 2)
                    var seen: [String] = []
                    for element in inner {
                        seen.append(text(element))
                        inner.append(element)
                    }
                    #expect(seen == ["7", "8", "[x y]", "!"] && inner.count == 8)
                    expectError(.indexOutOfRange) { inner[8] }
                    expectError(.indexOutOfRange) { inner[-1] }
                    expectError(.indexOutOfRange) { inner.insert(1, at: 9) }
                    expectError(.indexOutOfRange) { inner.remove(at: 8) }
                    expectError(.indexOutOfRange) { inner.move(from: 0, to: 8) }
                    expectError(.indexOutOfRange) { inner.removeSubrange(6..<9) }
                    #expect(inner.count == 8)
                }
            }
        }
    }

    @Test
    func `Every way to change a dictionary within a value`() throws {
        for isManaged in [false, true] {
            try withSetting(["b": 2, "m": ["x": 1]]) { realm, managed in
                let setting = isManaged ? managed : Setting("two", ["b": 2, "m": ["x": 1]])
                let outer = try #require(setting.value.dictionaryValue)
                let inner = try #require(outer["m"]?.dictionaryValue)
                try realm.write {
                    outer["a"] = [1]
                    outer["a"]?.listValue?.append(2)
                    inner["y"] = "why"
                    inner["x"] = nil
                    inner["not there"] = nil
                    inner.updateValue(.none, forKey: "n")
                    #expect(text(setting.value) == "{a:[1 2] b:2 m:{n:- y:why}}")
                    #expect(outer.count == 3 && Set(outer.keys) == ["a", "b", "m"])
                    #expect(inner["n"] == AnyRealmValue.none && inner["q"] == nil)
                    inner.merge(["y": 5, "z": 6]) { _, new in [new] }
                    #expect(text(.dictionary(inner)) == "{n:- y:[5] z:6}")
                    expectError(.invalidArgument) { inner["a.b"] = 1 }
                    expectError(.invalidArgument) { inner["$a"] = 1 }
                    inner.removeObject(for: "n")
                    for (key, value) in inner { inner[key + "'"] = value }
                    #expect(text(.dictionary(inner)) == "{y:[5] y':[5] z:6 z':6}")
                    inner.removeAll()
                    inner[""] = true
                    #expect(text(setting.value) == "{a:[1 2] b:2 m:{:true}}")
                }
            }
        }
    }

    @Test
    func `Lists and dictionaries as elements of collections are live, wherever they move`() throws {
        try withSetting { realm, setting in
            try realm.write {
                setting.history.append(objectsIn: [[1], ["k": 2], 3])
                setting.parts["l"] = [4]
                setting.parts["m"] = ["k": [5]]
            }
            let list = try #require(setting.history[0].listValue)
            let map = try #require(setting.history[1].dictionaryValue)
            let deep = try #require(setting.parts["m"]?.dictionaryValue?["k"]?.listValue)
            try realm.write {
                setting.history.move(from: 0, to: 2)
                setting.history.insert(0, at: 0)
                setting.parts["a"] = "first"
                list.append("one")
                map["two"] = 2
                deep.append("three")
                for value in setting.history { value.listValue?.append("loop") }
                for (_, value) in setting.parts { value.listValue?.append("loop") }
            }
            #expect(
                setting.history.map { text($0) } == ["0", "{k:2 two:2}", "3", "[1 one loop]"])
            #expect(
                setting.parts.map { text($0.value) } == ["first", "[4 loop]", "{k:[5 three]}"])
            try realm.write { setting.history.remove(at: 3) }
            #expect(list.isInvalidated && !map.isInvalidated)
            expectError(.collectionInvalidated) { list.count }
            try realm.write { expectError(.typeMismatch) { setting.choices.insert([1]) } }
            try realm.write { expectError(.typeMismatch) { setting.choices.insert(["a": 1]) } }
            #expect(setting.choices.isEmpty)
        }
    }

    @Test
    func `Assigning copies; a property's own list assigned to it stays the same`() throws {
        try withSetting([1]) { realm, setting in
            let mine: List<AnyRealmValue> = [2]
            let own = try #require(setting.value.listValue)
            try realm.write {
                setting.value = setting.value
                own.append(3)
                #expect(text(setting.value) == "[1 3]")
                own.append(.list(own))
                #expect(text(setting.value) == "[1 3 [1 3]]")
                setting.value = .list(mine)
            }
            #expect(own.isInvalidated && mine.realm == nil)
            mine.append(4)
            #expect(text(setting.value) == "[2]")
            let other = Setting("two", .list(mine))
            try realm.write {
                realm.add(other)
                setting.value = other.value
                other.value.listValue?.append("other")
            }
            #expect(text(setting.value) == "[2 4]" && text(other.value) == "[2 4 other]")
            #expect(mine.realm == nil && mine.count == 2)
        }
    }

    /// A list within lists, `depth` in all, the innermost empty.
    private func nested(_ depth: Int, dictionaries: Bool = false) -> AnyRealmValue {
        var value: AnyRealmValue = dictionaries ? [:] : []
        for _ in 1..<depth { value = dictionaries ? ["k": value] : [value] }
        return value
    }

    @Test
    func `Lists and dictionaries nest to a depth of 100 and no deeper`() throws {
        for dictionaries in [false, true] {
            try withSetting { realm, setting in
                func next(_ value: AnyRealmValue) -> AnyRealmValue? {
                    value.listValue?.first ?? value.dictionaryValue?["k"]
                }
                try realm.write { setting.value = nested(100, dictionaries: dictionaries) }
                var (deepest, depth) = (setting.value, 1)
                while let inner = next(deepest) { (deepest, depth) = (inner, depth + 1) }
                #expect(depth == 100)
                try realm.write {
                    deepest.listValue?.append(5)
                    deepest.dictionaryValue?["n"] = 5
                    expectError(.valueTooLong) {
                        deepest.listValue?.append([])
                        deepest.dictionaryValue?["n"] = [:]
                    }
                    expectError(.valueTooLong) {
                        setting.value = nested(101, dictionaries: dictionaries)
                    }
                    setting.history.append(nested(100, dictionaries: dictionaries))
                    expectError(.valueTooLong) {
                        setting.parts["a"] = nested(101, dictionaries: dictionaries)
                    }
                    let endless: List<AnyRealmValue> = []
                    endless.append(.list(endless))
                    expectError(.valueTooLong) { setting.value = .list(endless) }
                    #expect(endless.description.contains("<Maximum depth exceeded>"))
                    endless.removeAll()
                }
                #expect(deepest.listValue?.count ?? deepest.dictionaryValue?.count == 1)
                #expect(setting.history.count == 1 && setting.parts.isEmpty)
            }
        }
    }

    // MARK: Errors

    @Test
    func `A list whose value was replaced is invalid, and a write is needed to change one`() throws
    {
        try withSetting([[1], ["k": 2]]) { realm, setting in
            let outer = try #require(setting.value.listValue)
            let inner = try #require(outer[0].listValue)
            let map = try #require(outer[1].dictionaryValue)
            expectError(.notInTransaction) { inner.append(1) }
            expectError(.notInTransaction) { map["k"] = 1 }
            expectError(.notInTransaction) { setting.value = 5 }
            expectError(.notInTransaction) { setting.value = setting.value }
            expectError(.typeMismatch) { inner.filter("self == 1") }
            realm.beginWrite()
            outer.append(3)
            setting.value = 6
            #expect(inner.isInvalidated)
            realm.cancelWrite()
            #expect(!inner.isInvalidated && text(setting.value) == "[[1] {k:2}]")
            try realm.write { outer[0] = [1] }
            #expect(inner.isInvalidated && !map.isInvalidated && !outer.isInvalidated)
            try realm.write {
                expectError(.collectionInvalidated) { inner.append(1) }
                setting.value = ["k": 1]
            }
            #expect(outer.isInvalidated && map.isInvalidated)
            try realm.write {
                expectError(.collectionInvalidated) { map["k"] = 1 }
                expectError(.collectionInvalidated) { outer.removeAll() }
            }
            expectError(.collectionInvalidated) { outer[0] }
            expectError(.collectionInvalidated) { map["k"] }
            expectError(.collectionInvalidated) { map.keys }
            expectError(.collectionInvalidated) { Array(inner) }
            expectError(.collectionInvalidated) { inner.sorted().count }
            expectError(.collectionInvalidated) { map.sorted().count }
            let last = try #require(setting.value.dictionaryValue)
            try realm.write { realm.delete(setting) }
            #expect(last.isInvalidated)
            expectError(.collectionInvalidated) { last.count }
            expectError(.objectDeleted) { setting.value }
        }
    }

    // MARK: Results and observers of collections within a value

    /// The elements of results, as text.
    private func text(_ results: Results<AnyRealmValue>) -> String {
        "[" + results.map { text($0) }.joined(separator: " ") + "]"
    }

    @Test
    func `Lists and maps within a value are sorted, told apart and summed up, live`() throws {
        try withSetting([[3, "a", 1.5, 3.0, [1]], ["k": 2, "l": "b"]]) { realm, setting in
            let outer = try #require(setting.value.listValue)
            let list = try #require(outer[0].listValue)
            let map = try #require(outer[1].dictionaryValue)
            let sorted = list.sorted(), distinct = list.distinct()
            #expect(text(sorted) == "[1.5 3 3.0 a [1]]" && text(distinct) == "[3 a 1.5 [1]]")
            #expect(text(list.sorted(ascending: false)) == "[[1] a 3 3.0 1.5]")
            #expect(list.sum() == .decimal128(7.5) && list.average() == .decimal128(2.5))
            #expect(text(list.min() ?? .none) == "1.5" && list.index(of: .double(3)) == 0)
            #expect(list.index(of: .int(7)) == nil && text(map.sorted()) == "[2 b]")
            let frozen = sorted.freeze(), frozenList = list.freeze(), frozenMap = map.freeze()
            try realm.write {
                list.remove(at: 1)
                list.append(-1)
                map["k"] = nil
                #expect(text(sorted) == "[-1 1.5 3 3.0 [1]]" && text(map.sorted()) == "[b]")
            }
            #expect(text(frozen) == "[1.5 3 3.0 a [1]]" && frozenList.count == 5)
            #expect(
                text(frozenList.sorted()) == text(frozen) && text(frozenMap.sorted()) == "[2 b]")
            #expect(frozenList.thaw() == list && frozenMap.thaw() == map)
            try realm.write { outer.remove(at: 0) }
            #expect(list.isInvalidated && sorted.isInvalidated && !map.isInvalidated)
            expectError(.collectionInvalidated) { sorted.count }
            #expect(frozenList.thaw() == nil && text(frozen) == "[1.5 3 3.0 a [1]]")
        }
    }

    @Test
    func `Lists and maps within a value tell what came, went and was set, and their end`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let setting = Setting("one", ["list": [1, 2, [3]], "map": ["a": 1, "b": [5]]])
            try realm.write { realm.add(setting) }
            let root = try #require(setting.value.dictionaryValue)
            let list = try #require(root["list"]?.listValue),
                inner = try #require(list[2].listValue)
            let map = try #require(root["map"]?.dictionaryValue)
            typealias Log = SetAndMapObservationTests.Log
            let logs = (0..<5).map { _ in Log() }
            let tokens = try loop.inside {
                [
                    root.observe { logs[0].add($0) }, list.observe { logs[1].add($0) },
                    inner.observe { logs[2].add($0) }, map.observe { logs[3].add($0) },
                    list.sorted().observe { logs[4].add($0) },
                ]
            }
            loop.wait { logs.allSatisfy { $0.count == 1 } }
            #expect(
                logs.map(\.last) == [
                    "initial 2", "initial 3", "initial 1", "initial 2", "initial 3",
                ])
            func change(_ body: @escaping @Sendable (Map<String, AnyRealmValue>) -> Void) throws {
                try elsewhere {
                    let realm = try Realm(configuration: configuration)
                    let setting = realm.object(ofType: Setting.self, forPrimaryKey: "one")
                    let root = try #require(setting?.value.dictionaryValue)
                    try realm.write { body(root) }
                }
            }
            try change { root in
                root["list"]?.listValue?.insert("new", at: 0)
                root["list"]?.listValue?[2] = "two"
                root["list"]?.listValue?[3].listValue?.append(4)
            }
            loop.wait { logs[0].count == 2 && logs[2].count == 2 && logs[4].count == 2 }
            #expect(logs[0].last == "2 -[] +[] *[\"list\"]" && logs[1].last == "4 -[] +[0] *[1, 2]")
            #expect(logs[2].last == "2 -[] +[1] *[]" && logs[3].count == 1)
            try change { root in
                root["map"]?.dictionaryValue?["a"] = nil
                root["map"]?.dictionaryValue?["b"]?.listValue?.append(6)
                root["map"]?.dictionaryValue?["c"] = 7
            }
            loop.wait { logs[3].count == 2 && logs[0].count == 3 }
            #expect(logs[3].last == "2 -[\"a\"] +[\"c\"] *[\"b\"]" && logs[1].count == 2)
            try change { root in root["list"]?.listValue?.remove(at: 3) }
            loop.wait { logs[2].count == 3 && logs[1].count == 3 }
            #expect(logs[1].last == "3 -[3] +[] *[]" && logs[2].last == "0 -[0, 1] +[] *[]")
            #expect(inner.isInvalidated)
            try change { root in root["list"] = nil }
            loop.wait { logs[1].count == 4 && logs[0].count == 5 && logs[4].count == 4 }
            #expect(
                logs[0].last == "1 -[\"list\"] +[] *[]" && logs[1].last == "0 -[0, 1, 2] +[] *[]")
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.deleteAll() }
            }
            loop.wait { logs[0].count == 6 && logs[3].count == 3 }
            #expect(
                logs[0].last == "0 -[\"map\"] +[] *[]"
                    && logs[3].last == "0 -[\"b\", \"c\"] +[] *[]")
            withExtendedLifetime(tokens) {}
            try TestRealm.check(realm)
        }
    }

    // MARK: Indexes

    class IndexedValue: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var value: AnyRealmValue
        @Persisted var plain: AnyRealmValue
    }

    @Test
    func `An index finds values by kind, and numbers by their value`() throws {
        try TestRealm.withFile { realm, _ in
            let values = scalars + [.int(1), .double(1), .decimal128(1), .float(1)]
            try realm.write {
                for (id, value) in (values + [.list([1]), .dictionary(["a": 1])]).enumerated() {
                    let object = IndexedValue()
                    object.id = id
                    (object.value, object.plain) = (value, value)
                    realm.add(object)
                }
            }
            let all = realm.objects(IndexedValue.self)
            #expect(all.filter("value == 1").count == 4 && all.filter("value > 1.25").count == 4)
            #expect(all.where { $0.value == .string("caf\u{e9}") }.count == 1)
            for value in values {
                guard let content = value.content else { continue }
                let found = all.filter("value == %@", content)
                let plain = all.filter("plain == %@", content)
                #expect(Array(found.map(\.id)) == Array(plain.map(\.id)))
            }
            try realm.write {
                let one = try #require(all.filter("value == 1").first)
                one.value = "one"
                #expect(
                    all.filter("value == 1").count == 3 && all.filter("value == 'one'").count == 1)
                one.value = .object(one)
                realm.delete(all.filter("value == 1"))
                #expect(all.filter("value == 1").isEmpty && all.filter("value == 'one'").isEmpty)
                let other = IndexedValue()
                other.id = -1
                realm.add(other)
                other.value = .object(one)
                realm.delete(one)
                #expect(other.value == .none && all.filter("value == nil").count == 2)
            }
            try TestRealm.check(realm)
        }
    }

    // MARK: Classes

    @Test
    func `A link to an object of a class that the realm leaves out is an error`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("test.realm")
            do {
                let realm = try Realm(configuration: Realm.Configuration(fileURL: url))
                try realm.write { realm.add(Setting("one", .object(Dog("Rex")))) }
                try realm.close()
            }
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: [Setting.self]))
            let setting = try #require(realm.objects(Setting.self).first)
            expectError(.noSuchClass) { setting.value }
            try realm.write { setting.value = 1 }
            try TestRealm.check(realm)
        }
    }

    // MARK: Created, described, coded

    @Test
    func `Values are made of what create and key-value access are given`() throws {
        try TestRealm.withFile { realm, _ in
            let uuid = UUID()
            try realm.write {
                let setting = realm.create(
                    Setting.self,
                    value: [
                        "name": "one",
                        "value": [
                            "a": [1, 2.5, "x", true, NSNull()] as [Any], "u": uuid,
                            "d": Dog("Rex"),
                        ],
                        "history": [1, "a", [1] as [Any]] as [Any],
                        "choices": [1, 1.0, "1"] as [Any], "parts": ["k": Data([1])],
                    ] as [String: Any])
                #expect(
                    text(setting.value) == "{a:[1 2.5 x true -] d:Rex u:\(uuid)}")
                #expect(setting.history.map { text($0) } == ["1", "a", "[1]"])
                #expect(setting.choices.count == 2 && setting.parts["k"] == .data(Data([1])))
                setting["value"] = [Mood.wild, Int8(3)] as [Any]
                #expect(text(setting.value) == "[wild 3]")
                setting["value"] = nil
                #expect(setting.value(forKey: "value") as? AnyRealmValue == AnyRealmValue.none)
                setting.setValue(Substring("sub"), forKey: "value")
                #expect(setting.value == "sub")
                expectError(.typeMismatch) { setting["value"] = Thread.current }
                realm.create(
                    Setting.self, value: ["name": "one", "value": 7] as [String: Any],
                    update: .modified)
                #expect(setting.value == 7 && setting.history.count == 3)
                let copy = realm.create(
                    Setting.self, value: Setting("two", [[1], .object(Dog("Fido"))]))
                #expect(text(copy.value) == "[[1] Fido]")
                realm.create(Setting.self, value: Setting("two", ["z": .none]), update: .all)
                #expect(text(copy.value) == "{z:-}")
            }
            let unmanaged = Setting(value: ["name": "u", "value": [1, [2] as [Any]] as [Any]])
            let copy = Setting(value: unmanaged)
            copy.value.listValue?[1].listValue?.append(3)
            #expect(text(copy.value) == "[1 [2 3]]" && text(unmanaged.value) == "[1 [2]]")
        }
    }

    @Test
    func `Values are coded and described by what they hold`() throws {
        let value: AnyRealmValue = ["a": [1, 2.5, "x", true, .list([])], "b": [:], "n": .none]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let coded = try encoder.encode(value)
        #expect(
            String(decoding: coded, as: UTF8.self)
                == #"{"a":[1,2.5,"x",true,[]],"b":{},"n":null}"#)
        #expect(text(try JSONDecoder().decode(AnyRealmValue.self, from: coded)) == text(value))
        #expect(throws: EncodingError.self) { try encoder.encode(AnyRealmValue.object(Dog("Rex"))) }
        try withSetting(value) { _, setting in
            let again = try encoder.encode(setting.value)
            #expect(again == coded)
            #expect(setting.description.contains("[0] 1,\n"))
            #expect(setting.description.contains("value = Map<string, mixed> <0x"))
        }
    }

    @Test
    func `Queries compare values by type and number, also deep within`() throws {
        try TestRealm.with { realm in
            let rex = Dog("Rex")
            let values: [AnyRealmValue] = [
                .none, 5, 5.0, .decimal128("7"), "5", "abc", true, .object(rex),
                [1, ["k": "deep"]],
                ["a": 5, "b": [2, 3]],
            ]
            try realm.write {
                for (number, value) in values.enumerated() {
                    realm.add(Setting("\(number)", value))
                }
            }
            let all = realm.objects(Setting.self)
            func names(_ results: Results<Setting>) -> String {
                results.map(\.name).sorted().joined(separator: " ")
            }
            #expect(names(all.where { $0.value == .int(5) }) == "1 2")
            #expect(names(all.where { $0.value == 5.0 }) == "1 2")
            #expect(names(all.where { $0.value == .none }) == "0")
            #expect(names(all.where { $0.value == "5" }) == "4")
            #expect(names(all.where { $0.value == true }) == "6")
            #expect(names(all.where { $0.value == .object(rex) }) == "7")
            #expect(names(all.where { $0.value != 5 }) == "0 3 4 5 6 7 8 9")
            #expect(names(all.where { $0.value > .float(5) }) == "3")
            #expect(names(all.where { $0.value.in([7, "abc"]) }) == "3 5")
            #expect(names(all.where { $0.value["a"] == 5 }) == "9")
            #expect(names(all.where { $0.value["b"][1] == 3 }) == "9")
            #expect(names(all.where { $0.value[1]["k"] == "deep" }) == "8")
            #expect(names(all.filter("value == %@", AnyRealmValue.double(7))) == "3")
            #expect(names(all.filter("value BEGINSWITH 'a'")) == "5")
            #expect(all.where { $0.value == .object(Dog("new")) }.isEmpty)
            let sorted = all.sorted(by: \.value).map(\.name)
            #expect(sorted.first == "0" && sorted.dropFirst().first == "6")
            try realm.write { all[1].history.append(objectsIn: [1, "x"]) }
            #expect(names(all.where { $0.history.contains("x") }) == all[1].name)
        }
    }

    // MARK: Threads and observers

    @Test
    func `Frozen, thawed and carried to another thread`() throws {
        try withSetting(["k": [1, 2]]) { realm, setting in
            let list = try #require(setting.value.dictionaryValue?["k"]?.listValue)
            let frozen = Box((setting.freeze(), list.freeze()))
            try realm.write { list.removeAll() }
            #expect(frozen.value.1.isFrozen && Array(frozen.value.1) == [1, 2] && list.isEmpty)
            #expect(text(frozen.value.0.value) == "{k:[1 2]}")
            #expect(frozen.value.1.thaw() == list && frozen.value.1.thaw()?.count == 0)
            expectError(.readOnly) { frozen.value.1.append(1) }
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                for _ in 0..<50 where frozen.value.0.value.dictionaryValue?["k"] == nil {
                    Issue.record("a frozen value is gone")
                }
            }
            let reference = ThreadSafeReference(to: list), configuration = realm.configuration
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                let list = try #require(realm.resolve(reference))
                try realm.write { list.append("elsewhere") }
            }
            realm.refresh()
            #expect(Array(list) == ["elsewhere"])
            let late = ThreadSafeReference(to: list)
            try realm.write { setting.value = .none }
            #expect(realm.resolve(late) == nil && frozen.value.1.thaw() == nil)
        }
    }

    @Test
    func `A change deep within a value is told as one of the property`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let setting = Setting("one", ["k": [[1]]])
            setting.history.append([2])
            try realm.write { realm.add(setting) }
            let lines = Shared<[String]>([])
            let tokens = try loop.inside {
                [
                    setting.observe { (change: ObjectChange<Setting>) in
                        guard case .change(_, let properties) = change else { return }
                        lines.change { $0.append(properties.map(\.name).joined(separator: " ")) }
                    },
                    setting.history.observe { change in
                        guard case .update(_, _, _, let changed) = change else { return }
                        lines.change { $0.append("history \(changed)") }
                    },
                    realm.objects(Setting.self).observe { change in
                        guard case .update(_, _, _, let changed) = change else { return }
                        lines.change { $0.append("all \(changed)") }
                    },
                ]
            }
            loop.rest()
            func write(_ body: @escaping @Sendable (Setting) -> Void) throws -> [String] {
                lines.change { $0 = [] }
                try elsewhere {
                    let realm = try Realm(configuration: configuration)
                    let setting = try #require(
                        realm.object(ofType: Setting.self, forPrimaryKey: "one"))
                    try realm.write { body(setting) }
                }
                loop.wait { lines.current.contains { $0.hasPrefix("all") } }
                loop.rest()
                return lines.current.sorted()
            }
            let deep = try write {
                $0.value.dictionaryValue?["k"]?.listValue?[0].listValue?.append(2)
            }
            #expect(deep == ["all [0]", "value"])
            let element = try write { $0.history[0].listValue?[0] = 5 }
            #expect(element == ["all [0]", "history", "history [0]"])
            withExtendedLifetime(tokens) {}
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Who observes mixed values hears of changes of the objects that they link to`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                let far = Setting("far", 1)
                let near = Setting("near", .object(far)), one = Setting("one")
                realm.add([far, near, one])
                one.history.append(objectsIn: [0, .object(near), .int(2), ["k": .object(near)]])
                one.choices.insert(objectsIn: [.int(5), .object(near)])
                one.parts["a"] = .object(near)
                one.parts["b"] = 1
                one.value = ["list": [1, .object(near)], "none": 3]
            }
            let one = try #require(realm.object(ofType: Setting.self, forPrimaryKey: "one"))
            let root = try #require(one.value.dictionaryValue),
                list = try #require(root["list"]?.listValue)
            typealias Log = SetAndMapObservationTests.Log
            let logs = (0..<7).map { _ in Log() }
            let tokens = try loop.inside {
                [
                    one.history.observe { logs[0].add($0) },
                    one.choices.observe { logs[1].add($0) },
                    one.parts.observe { logs[2].add($0) }, root.observe { logs[3].add($0) },
                    list.observe { logs[4].add($0) },
                    one.history.sorted(ascending: false).observe { logs[5].add($0) },
                    one.history.distinct().observe { logs[6].add($0) },
                ]
            }
            loop.wait { logs.allSatisfy { $0.count == 1 } }
            func write(_ name: String, _ body: @escaping @Sendable (Setting) -> Void) throws {
                try elsewhere {
                    let realm = try Realm(configuration: configuration)
                    let found = realm.object(ofType: Setting.self, forPrimaryKey: name)
                    let setting = try #require(found)
                    try realm.write { body(setting) }
                }
            }
            try write("far") { $0.value = 2 }
            loop.wait { logs.allSatisfy { $0.count == 2 } }
            #expect(
                logs.map(\.last) == [
                    "4 -[] +[] *[1, 3]", "2 -[] +[] *[1]", "2 -[] +[] *[\"a\"]",
                    "2 -[] +[] *[\"list\"]", "2 -[] +[] *[1]", "4 -[] +[] *[0, 1]",
                    "4 -[] +[] *[1, 3]",
                ])
            try write("one") {
                $0.history.remove(at: 0)
                $0.history[0] = 7
                $0.value.dictionaryValue?["none"] = 4
            }
            loop.wait { [0, 3, 5, 6].allSatisfy { logs[$0].count == 3 } }
            #expect(logs[0].last == "3 -[0] +[] *[1]" && logs[3].last == "2 -[] +[] *[\"none\"]")
            try write("near") { $0.value = 3 }
            loop.wait { logs[0].count == 4 }
            #expect(logs[0].last == "3 -[] +[] *[2]" && logs[1].count == 3 && logs[2].count == 3)
            loop.rest()
            withExtendedLifetime(tokens) {}
            try TestRealm.check(realm)
        }
    }
}

extension Setting {
    fileprivate static func sharedSchemaProperty(_ name: String) -> Property? {
        Setting().objectSchema[name]
    }
}
