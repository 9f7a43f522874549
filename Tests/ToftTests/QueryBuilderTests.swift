// Tests: Toft/Query.swift, Query+Map.swift, Query+AnyRealmValue.swift, Query+Custom.swift,
// Toft/Aggregates.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

enum BuilderNumber: Int, PersistableEnum { case one = 1, two, three }
enum BuilderText: String, PersistableEnum { case a, b, c }

struct BuilderPrice: CustomPersistable, Comparable {
    let cents: Int
    init(persistedValue: Int) { cents = persistedValue }
    var persistableValue: Int { cents }
    static func < (left: Self, right: Self) -> Bool { left.cents < right.cents }
}

struct BuilderTag: FailableCustomPersistable {
    let text: String
    init?(persistedValue: String) {
        guard persistedValue != "bad" else { return nil }
        text = persistedValue
    }
    var persistableValue: String { text }
}

final class Builder: Object {
    @Persisted var int: Int
    @Persisted var int8: Int8
    @Persisted var optInt: Int?
    @Persisted var double: Double
    @Persisted var decimal: Decimal128
    @Persisted var date: Date
    @Persisted var text: String
    @Persisted var optText: String?
    @Persisted var number = BuilderNumber.one
    @Persisted var optNamed: BuilderText?
    @Persisted var price: BuilderPrice
    @Persisted var optPrice: BuilderPrice?
    @Persisted var tag = BuilderTag(persistedValue: "x")
    @Persisted var any: AnyRealmValue
    @Persisted var ints: List<Int>
    @Persisted var optInts: List<Int?>
    @Persisted var texts: List<String>
    @Persisted var numbers: List<BuilderNumber>
    @Persisted var named: MutableSet<BuilderText>
    @Persisted var prices: List<BuilderPrice>
    @Persisted var priceSet: MutableSet<BuilderPrice>
    @Persisted var priceMap: Map<String, BuilderPrice>
    @Persisted var optPriceMap: Map<String, BuilderPrice?>
    @Persisted var optTags: List<BuilderTag?>
    @Persisted var intMap: Map<String, Int>
    @Persisted var textMap: Map<String, String>
    @Persisted var numberMap: Map<String, BuilderNumber?>
    @Persisted var children: List<Builder>
    @Persisted var parent: Builder?

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Queries in Swift, as programs for RealmSwift write them")
struct QueryBuilderTests {
    typealias Condition = (Query<Builder>) -> Query<Bool>

    private func with(_ body: (Realm, Builder) throws -> Void) throws {
        try TestRealm.with([Builder.self]) { realm in
            let one = Builder()
            (one.int, one.int8, one.double, one.decimal) = (5, 3, 1.5, 2.5)
            one.date = Date(timeIntervalSince1970: 100)
            (one.text, one.optText) = ("Foo bar", "abc")
            (one.number, one.optNamed) = (.two, .b)
            one.price = BuilderPrice(persistedValue: 100)
            one.optPrice = BuilderPrice(persistedValue: 7)
            one.any = ["k": [1, 5]]
            one.ints.append(objectsIn: [1, 2, 3])
            one.optInts.append(objectsIn: [1, 2])
            one.texts.append("Hello")
            one.numbers.append(objectsIn: [.one, .three])
            one.named.insert(.c)
            one.prices.append(objectsIn: [1, 2].map { BuilderPrice(persistedValue: $0) })
            one.priceSet.insert(BuilderPrice(persistedValue: 5))
            one.priceMap["a"] = BuilderPrice(persistedValue: 9)
            one.optPriceMap["b"] = BuilderPrice(persistedValue: 3)
            one.optPriceMap.updateValue(nil, forKey: "c")
            one.optTags.append(objectsIn: [BuilderTag(persistedValue: "t"), nil])
            one.intMap["x"] = 4
            one.textMap["k"] = "Value"
            one.numberMap["e"] = .two
            try realm.write { realm.add(one) }
            try body(realm, one)
        }
    }

    /// Expects conditions to find the object, or not to.
    private func expect(
        _ isFound: Bool, _ conditions: [Condition],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try with { realm, _ in
            for (index, condition) in conditions.enumerated() {
                let count = try Realm.attempt { realm.objects(Builder.self).where(condition).count }
                #expect(count == (isFound ? 1 : 0), "\(index)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test
    func `Ranges of every kind hold values, and all elements of collections`() throws {
        try expect(
            true,
            [
                { $0.int.contains(1...5) }, { $0.int.contains(5...) }, { $0.int.contains(...5) },
                { $0.int8.contains(1...5) }, { $0.double.contains(1..<2) },
                { $0.decimal.contains(1...3) },
                { $0.date.contains(.distantPast...Date(timeIntervalSince1970: 100)) },
                { $0.ints.contains(1...3) }, { $0.ints.contains(0...) },
                { $0.optInts.contains(0...2) }, { $0.intMap.contains(3..<5) },
                { $0.number.contains(.one ... .two) },
                {
                    $0.price.contains(
                        BuilderPrice(persistedValue: 1)...BuilderPrice(persistedValue: 100))
                },
            ])
        try expect(
            false,
            [
                { $0.int.contains(1..<5) }, { $0.int.contains(..<5) },
                { $0.optInt.contains(1...5) },
                { $0.ints.contains(1..<3) }, { $0.ints.contains(...2) },
            ])
    }

    @Test
    func `A list, a set and a map are asked whether any value is such a one`() throws {
        try expect(
            true,
            [
                { $0.ints == 1 }, { $0.ints > 2 }, { $0.intMap == 4 }, { $0.intMap >= 4 },
                { $0.ints.avg == 2 }, { $0.ints.avg > 1.5 }, { $0.ints.sum == 6 },
                { $0.ints.min == 1 && $0.ints.max == 3 }, { $0.intMap.avg == 4 },
                { $0.numbers == .three }, { $0.numbers.contains(.one) },
                { $0.texts.starts(with: "he", options: .caseInsensitive) },
                { $0.texts.contains("ELL", options: [.caseInsensitive, .diacriticInsensitive]) },
                { $0.texts.like("H*o") }, { $0.texts.equals("HELLO", options: .caseInsensitive) },
                { $0.textMap.keys == "k" }, { $0.textMap.values.ends(with: "ue") },
                { $0.textMap.keys.starts(with: "K", options: .caseInsensitive) },
            ])
        try expect(
            false,
            [
                { $0.ints > 3 }, { $0.children.ints == 1 }, { $0.children.intMap["x"] == 1 },
                { $0.children.int.avg > 2 }, { $0.parent.int == 3 },
            ])
    }

    @Test
    func `Enums are asked as what they are, and as what is kept`() throws {
        try expect(
            true,
            [
                { $0.number == .two }, { $0.number > .one }, { $0.number.rawValue == 2 },
                { $0.optNamed == .b }, { $0.optNamed.rawValue.starts(with: "b") },
                { $0.optNamed.in([.b, .c]) }, { $0.numbers.rawValue == 3 },
                { $0.numbers.rawValue > 2 }, { $0.numbers.rawValue.contains(1...3) },
                { $0.named.contains(.c) }, { $0.named.rawValue.contains("c") },
                { $0.named.rawValue.starts(with: "c") }, { $0.numberMap["e"] == .two },
                { $0.numberMap.rawValue.contains(2) }, { $0.numberMap.values.rawValue == 2 },
            ])
    }

    @Test
    func `Types of an app's own are asked everywhere`() throws {
        func price(_ cents: Int) -> BuilderPrice { BuilderPrice(persistedValue: cents) }
        try expect(
            true,
            [
                { $0.price == price(100) }, { $0.price > price(99) },
                { $0.price.persistableValue == 100 }, { $0.optPrice.persistableValue > 3 },
                { $0.optPrice < price(8) }, { $0.price.in([price(100)]) },
                { $0.optPrice.in([price(7), nil]) }, { $0.prices.contains(price(1)) },
                { $0.prices.containsAny(in: [price(2)]) }, { $0.prices.persistableValue == 2 },
                { $0.prices.max == price(2) }, { $0.priceSet.contains(price(5)) },
                { $0.priceSet > price(4) }, { $0.priceMap["a"] == price(9) },
                { $0.priceMap.values == price(9) }, { $0.priceMap.persistableValue.contains(9) },
                { $0.optPriceMap["b"] == price(3) }, { $0.optPriceMap["c"] == nil },
                { $0.tag.persistableValue.starts(with: "x") }, { $0.optTags.contains(nil) },
            ])
        try with { realm, one in
            #expect(one.prices.min() == price(1) && one.prices.sum() == price(3))
            #expect(one.priceMap.max() == price(9) && one.priceSet.contains(price(5)))
            #expect(one.optPriceMap["b"]! == price(3) && one.optPriceMap["c"]! == nil)
            #expect(one.optTags[0]?.text == "t" && one.optTags[1] == nil)
            let all = realm.objects(Builder.self)
            #expect(all.sum(of: \.price) == price(100) && all.max(of: \.optPrice) == price(7))
            #expect(all.sorted(by: \.price).count == 1)
        }
    }

    @Test
    func `Elements of mixed values are asked by key, by index, and any of them`() throws {
        try expect(
            true,
            [
                { $0.any["k"][0] == .int(1) }, { $0.any["k"][.any] == .int(5) },
                { $0.any[.any][.any] == .int(5) },
            ])
        try expect(false, [{ $0.any["k"][1] == .int(1) }, { $0.any["k"][.any] == .int(2) }])
    }

    // MARK: Generic code

    private func compared<Root: Object, T: _Persistable>(
        _ realm: Realm, _ value: T, _ path: (Query<Root>) -> Query<T>
    ) -> [Int] where T.PersistedType: _QueryNumeric {
        let all = realm.objects(Root.self)
        return [
            all.where { path($0) == value }.count, all.where { path($0) != value }.count,
            all.where { path($0) > value }.count, all.where { path($0) <= value }.count,
        ]
    }

    private func aggregated<Root: Object, T: RealmCollection>(
        _ realm: Realm, _ value: T.Element, _ path: (Query<Root>) -> Query<T>
    ) -> [Int] where T.Element.PersistedType: _QueryNumeric {
        let all = realm.objects(Root.self)
        return [
            all.where { path($0).min == value }.count, all.where { path($0).avg > value }.count,
            all.where { path($0) >= value }.count,
            all.where { path($0).contains(value) }.count,
        ]
    }

    private func extremes<T: RealmCollection>(_ collection: T) -> (T.Element?, T.Element)
    where T.Element.PersistedType: MinMaxType, T.Element.PersistedType: AddableType {
        (collection.min(), collection.sum())
    }

    @Test
    func `Generic code names the kept type in its constraints`() throws {
        try with { realm, one in
            #expect(compared(realm, 5) { (q: Query<Builder>) in q.int } == [1, 0, 0, 1])
            #expect(compared(realm, nil) { (q: Query<Builder>) in q.optInt } == [1, 0, 0, 1])
            let price = BuilderPrice(persistedValue: 99)
            #expect(compared(realm, price) { (q: Query<Builder>) in q.price } == [0, 1, 1, 0])
            #expect(aggregated(realm, 1) { (q: Query<Builder>) in q.ints } == [1, 1, 1, 1])
            #expect(extremes(one.ints) == (1, 6))
            #expect(extremes(one.prices).0?.cents == 1)
        }
    }

    @Test
    func `Collections of optional values and mixed ones are summed up`() throws {
        try with { realm, one in
            #expect(one.optInts.min() == 1 && one.optInts.sum() == 3)
            #expect(one.optInts.average() == 1.5 && one.ints.average() == 2)
            let whole: Int? = one.ints.average()
            #expect(whole == 2)
            let all = realm.objects(Builder.self)
            #expect(all.average(of: \.int) == 5 && all.sum(of: \.optInt) == 0)
            #expect(
                all.max(of: \.optInt) == nil && all.min(of: \.date)?.timeIntervalSince1970 == 100)
            let sum: Double = all.sum(ofProperty: "double")
            #expect(sum == 1.5)
            let mixed = List<AnyRealmValue>()
            #expect(mixed.sum() == .decimal128(0) && mixed.min() == nil)
            mixed.append(objectsIn: [1, 2.5])
            #expect(mixed.max() == .double(2.5) && mixed.average() == .decimal128(1.75))
        }
    }
}
