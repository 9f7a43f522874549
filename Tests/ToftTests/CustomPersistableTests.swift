// Tests: CustomPersistable.swift, Query+Custom.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

/// Kept as a number.
struct Price: CustomPersistable, Hashable {
    var cents: Int

    init(_ cents: Int) { self.cents = cents }
    init(persistedValue: Int) { self.init(persistedValue) }
    var persistableValue: Int { cents }
}

/// Stored as a text; only some texts are a value.
struct Code: FailableCustomPersistable, Hashable {
    let letters: String

    init?(persistedValue: String) {
        guard persistedValue == persistedValue.uppercased() else { return nil }
        letters = persistedValue
    }

    init(_ letters: String) { self.letters = letters.uppercased() }
    var persistableValue: String { letters }
}

/// Kept as a text, and no value can be made of the empty one.
struct Site: FailableCustomPersistable, Hashable {
    let host: String

    init?(persistedValue: String) {
        guard !persistedValue.isEmpty else { return nil }
        host = persistedValue
    }

    var persistableValue: String { host }
}

class Spot: EmbeddedObject {
    @Persisted var latitude: Double
    @Persisted var longitude: Double

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Kept as an embedded object.
struct Coordinate: CustomPersistable, Hashable {
    var latitude: Double
    var longitude: Double

    init(_ latitude: Double, _ longitude: Double) {
        (self.latitude, self.longitude) = (latitude, longitude)
    }
    init(persistedValue: Spot) { self.init(persistedValue.latitude, persistedValue.longitude) }
    var persistableValue: Spot {
        Spot(value: ["latitude": latitude, "longitude": longitude])
    }
}

class Shop: Object {
    @Persisted(primaryKey: true) var code: Code
    @Persisted(indexed: true) var price: Price
    @Persisted var maybePrice: Price?
    @Persisted var maybeCode: Code?
    @Persisted var site = Site(persistedValue: "toft.example")!
    @Persisted var maybeSite: Site?
    @Persisted var start = Price(7)
    @Persisted var prices: List<Price>
    @Persisted var codes: List<Code>
    @Persisted var maybePrices: List<Price?>
    @Persisted var priceSet: MutableSet<Price>
    @Persisted var priceMap: Map<String, Price>
    @Persisted var maybePriceMap: Map<String, Price?>
    @Persisted var place: Coordinate
    @Persisted var second: Coordinate?
    @Persisted var route: List<Coordinate>
    @Persisted var named: Map<String, Coordinate>
    @Persisted var maybeNamed: Map<String, Coordinate?>
    @Persisted var next: Shop?

    convenience init(_ code: String, _ price: Int = 0) {
        self.init()
        self.code = Code(code)
        self.price = Price(price)
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The file as seen by an app that does not know the types.
final class RawShop: Object {
    @Persisted(primaryKey: true) var code: String
    @Persisted var maybeCode: String?
    @Persisted var codes: List<String>

    override class func _realmObjectName() -> String? { "Shop" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Types of an app's own")
struct CustomPersistableTests {
    static let types: [ObjectBase.Type] = [Shop.self, Spot.self]

    func spots(_ realm: Realm) -> Int { TestRealm.count("Spot", in: realm) }

    @Test
    func `An unmanaged object begins with what is made of nothing, or with its default`() {
        let shop = Shop()
        #expect(shop.price == Price(0) && shop.start == Price(7) && shop.maybePrice == nil)
        #expect(shop.code.letters == "" && shop.site.host == "toft.example")
        #expect(shop.place == Coordinate(0, 0) && shop.second == nil && shop.route.isEmpty)
        let schema = shop.objectSchema
        #expect(schema["price"]?.type == .int && schema["price"]?.isIndexed == true)
        #expect(schema["code"]?.type == .string && schema["maybeCode"]?.isOptional == true)
        #expect(schema["place"]?.objectClassName == "Spot" && schema["place"]?.isOptional == true)
    }

    @Test
    func `Properties and elements are written and read, also by the next process`() throws {
        try TestRealm.withFile(Self.types) { realm, url in
            let shop = Shop("a", 3)
            shop.prices.append(objectsIn: [Price(1), Price(2)])
            shop.priceSet.insert(Price(5))
            shop.priceSet.insert(Price(5))
            shop.priceSet.insert(Price(4))
            #expect(shop.priceSet.count == 2)
            shop.priceMap["x"] = Price(9)
            shop.place = Coordinate(1, 2)
            shop.route.append(Coordinate(3, 4))
            shop.named["n"] = Coordinate(5, 6)
            try realm.write { realm.add(shop) }
            #expect(shop.price == Price(3) && shop.place == Coordinate(1, 2))
            #expect(spots(realm) == 3)
            try realm.write {
                shop.price = Price(4)
                shop.maybePrice = Price(8)
                shop.maybeCode = Code("zz")
                shop.prices[0] = Price(11)
                shop.prices.append(Price(12))
                shop.codes.append(objectsIn: [Code("p"), Code("q")])
                shop.maybePrices.append(objectsIn: [nil, Price(1)])
                shop.maybePriceMap["n"] = .some(nil)
                shop.place.latitude = 10
                shop.second = Coordinate(7, 7)
                shop.route.insert(Coordinate(0, 1), at: 0)
                shop.route[1] = Coordinate(3, 5)
                shop.named["m"] = Coordinate(8, 8)
                shop.maybeNamed["e"] = .some(nil)
                shop.maybeNamed["f"] = Coordinate(9, 9)
            }
            #expect(spots(realm) == 7)
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: Self.types))
                let shop = try #require(
                    realm.object(ofType: Shop.self, forPrimaryKey: Code("a")))
                #expect(shop.price == Price(4) && shop.maybePrice == Price(8))
                #expect(shop.maybeCode == Code("zz") && shop.site.host == "toft.example")
                #expect(Array(shop.prices) == [Price(11), Price(2), Price(12)])
                #expect(Array(shop.codes) == [Code("p"), Code("q")])
                #expect(Array(shop.maybePrices) == [nil, Price(1)])
                #expect(Array(shop.priceSet) == [Price(4), Price(5)])
                #expect(shop.priceSet.contains(Price(5)) && shop.prices.index(of: Price(2)) == 1)
                #expect(shop.priceMap["x"] == Price(9) && shop.maybePriceMap["n"] == .some(nil))
                #expect(shop.place == Coordinate(10, 2) && shop.second == Coordinate(7, 7))
                #expect(Array(shop.route) == [Coordinate(0, 1), Coordinate(3, 5)])
                #expect(shop.route.last == Coordinate(3, 5))
                #expect(shop.route.index(of: Coordinate(3, 5)) == 1)
                #expect(shop.route.index(of: Coordinate(5, 3)) == nil)
                #expect(shop.named.values == [Coordinate(8, 8), Coordinate(5, 6)])
                #expect(shop.maybeNamed["e"] == .some(nil))
                #expect(shop.maybeNamed["f"] == .some(Coordinate(9, 9)))
                #expect(shop.freeze().route.map(\.latitude) == [0, 3])
            }
            try realm.write {
                shop.second = nil
                shop.maybePrice = nil
                shop.route.removeAll()
                shop.named["m"] = nil
                shop.maybeNamed.removeAll()
            }
            #expect(shop.second == nil && shop.maybePrice == nil && spots(realm) == 2)
            try realm.write { realm.delete(shop) }
            #expect(spots(realm) == 0)
        }
    }

    @Test
    func `Dictionaries and names give values, or what they are kept as`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                let shop = realm.create(
                    Shop.self,
                    value: [
                        "code": "AB", "price": Price(1), "maybePrice": 2, "prices": [3, Price(4)],
                        "place": ["latitude": 1.5],
                        "route": [Coordinate(1, 1), ["longitude": 2.0]],
                        "priceMap": ["a": 5],
                    ] as [String: Any])
                #expect(shop.code == Code("ab") && shop.maybePrice == Price(2))
                #expect(Array(shop.prices) == [Price(3), Price(4)])
                #expect(shop.place == Coordinate(1.5, 0) && shop.route[1] == Coordinate(0, 2))
                #expect(shop.priceMap["a"] == Price(5))
                shop["price"] = 6
                #expect(shop.price == Price(6) && shop.value(forKey: "price") as? Price == Price(6))
                shop["place"] = Coordinate(2, 2)
                expectError(.typeMismatch) { shop.setValue("lower", forKey: "maybeCode") }
                expectError(.nullNotAllowed) { shop.setValue(nil, forKey: "price") }
                realm.create(
                    Shop.self, value: ["code": "AB", "place": ["latitude": 3.0]] as [String: Any],
                    update: .modified)
                #expect(shop.place.latitude == 3 && shop.price == Price(6))
                let copy = Shop(value: shop)
                #expect(copy.place == shop.place && Array(copy.prices) == Array(shop.prices))
            }
            #expect(spots(realm) == 3)
        }
    }

    @Test
    func `Queries compare what is kept`() throws {
        try TestRealm.with(Self.types) { realm in
            let a = Shop("a", 1), b = Shop("b", 2), c = Shop("c", 3)
            a.place = Coordinate(1, 2)
            b.place = Coordinate(1, 3)
            b.second = Coordinate(4, 4)
            b.maybePrice = Price(5)
            c.prices.append(objectsIn: [Price(8), Price(9)])
            c.priceSet.insert(Price(8))
            c.priceMap["k"] = Price(8)
            c.next = a
            try realm.write { realm.add([a, b, c]) }
            let shops = realm.objects(Shop.self)
            func codes(_ isIncluded: (Query<Shop>) -> Query<Bool>) -> String {
                shops.where(isIncluded).map(\.code.letters).sorted().joined()
            }
            #expect(codes { $0.price == Price(2) } == "B")
            #expect(codes { $0.price != Price(2) } == "AC")
            #expect(codes { $0.price >= Price(2) } == "BC")
            #expect(codes { $0.price < Price(2) || $0.price > Price(2) } == "AC")
            #expect(codes { $0.price <= Price(1) } == "A")
            #expect(codes { $0.price.in([Price(1), Price(3)]) } == "AC")
            #expect(codes { $0.maybePrice == Price(5) } == "B")
            #expect(codes { $0.maybePrice == nil } == "AC")
            #expect(codes { $0.code == Code("c") } == "C")
            #expect(codes { $0.site == Site(persistedValue: "toft.example")! } == "ABC")
            #expect(codes { $0.maybeSite != nil } == "")
            #expect(codes { $0.next.price == Price(1) } == "C")
            #expect(codes { $0.prices.contains(Price(9)) } == "C")
            #expect(codes { $0.prices.containsAny(in: [Price(1), Price(8)]) } == "C")
            #expect(codes { $0.priceSet.contains(Price(8)) } == "C")
            #expect(codes { $0.priceMap["k"] == Price(8) } == "C")
            #expect(codes { $0.code.persistableValue.starts(with: "B") } == "B")
            #expect(codes { $0.maybePrice.persistableValue > 4 } == "B")
            #expect(codes { $0.place == Coordinate(1, 3) } == "B")
            #expect(codes { $0.place != Coordinate(1, 3) } == "AC")
            #expect(codes { $0.second == Coordinate(4, 4) } == "B")
            #expect(codes { $0.second == nil } == "AC")
            #expect(codes { $0.place.persistableValue.longitude > 2.5 } == "B")
            #expect(codes { $0.second.persistableValue.latitude == 4 } == "B")
            #expect(
                shops.filter("price == %@ OR code == %@", Price(1), "C").map(\.code.letters)
                    .sorted()
                    == ["A", "C"])
            #expect(shops.sorted(byKeyPath: "price", ascending: false).first?.code == Code("c"))
            try realm.write {
                for latitude in 0..<4 { c.route.append(Coordinate(Double(latitude), 0)) }
            }
            let far = c.route.filter("latitude > 1").sorted(byKeyPath: "latitude", ascending: false)
            #expect(far.map(\.latitude) == [3, 2] && far.first?.latitude == 3)
            #expect(Array(c.prices.sorted(byKeyPath: "self", ascending: false)).count == 2)
        }
    }

    @Test
    func `Queries find what is kept as an object, also in collections`() throws {
        try TestRealm.with(Self.types) { realm in
            let a = Shop("a"), b = Shop("b"), c = Shop("c")
            a.place = Coordinate(1, 2)
            b.second = Coordinate(1, 2)
            a.route.append(objectsIn: [Coordinate(1, 1), Coordinate(2, 2)])
            b.route.append(Coordinate(1, 2))
            a.named["n"] = Coordinate(3, 4)
            b.maybeNamed["n"] = Coordinate(3, 4)
            b.maybeNamed["o"] = .some(nil)
            (b.next, c.next) = (a, b)
            try realm.write { realm.add([a, b, c]) }
            func codes(_ isIncluded: (Query<Shop>) -> Query<Bool>) -> String {
                realm.objects(Shop.self).where(isIncluded).map(\.code.letters).sorted().joined()
            }
            #expect(codes { $0.place.in([Coordinate(1, 2), Coordinate(5, 5)]) } == "A")
            #expect(codes { $0.place.in([]) } == "")
            #expect(codes { $0.second.in([Coordinate(1, 2), nil]) } == "ABC")
            #expect(codes { $0.route.contains(Coordinate(2, 2)) } == "A")
            // One of the elements has both.
            #expect(codes { $0.route.contains(Coordinate(1, 2)) } == "B")
            #expect(codes { $0.route == Coordinate(1, 2) } == "B")
            #expect(codes { $0.route != Coordinate(1, 2) } == "A")
            #expect(codes { ($0.route == Coordinate(1, 2)).count == 1 } == "B")
            #expect(codes { ($0.route != Coordinate(1, 2)).count == 2 } == "A")
            #expect(codes { !$0.route.contains(Coordinate(1, 2)) } == "AC")
            #expect(
                codes { $0.route.containsAny(in: [Coordinate(2, 2), Coordinate(1, 2)]) } == "AB")
            #expect(codes { $0.next.route.contains(Coordinate(1, 2)) } == "C")
            #expect(codes { $0.named.contains(Coordinate(3, 4)) } == "A")
            #expect(codes { $0.named.containsAny(in: [Coordinate(3, 4)]) } == "A")
            #expect(codes { $0.named["n"] == Coordinate(3, 4) } == "A")
            #expect(codes { $0.named.values == Coordinate(3, 4) } == "A")
            #expect(codes { $0.maybeNamed.contains(Coordinate(3, 4)) } == "B")
            let shops = realm.objects(Shop.self)
            expectError(.invalidQueryArgument) { shops.filter("place == %@", Coordinate(1, 2)) }
            expectError(.invalidQueryArgument) { shops.filter("place IN %@", [Coordinate(1, 2)]) }
            #expect(b.route.index(of: Coordinate(1, 2)) == 0)
            #expect(b.route.index(of: Coordinate(2, 1)) == nil)
        }
    }

    @Test
    func `What is kept and no value is nil where it can be, else misuse`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("shops.realm")
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [RawShop.self]))
                try realm.write {
                    realm.create(
                        RawShop.self,
                        value: ["code": "low", "maybeCode": "low", "codes": ["A", "b"]]
                            as [String: Any])
                }
            }
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: Self.types))
            let shop = try #require(realm.objects(Shop.self).first)
            #expect(shop.maybeCode == nil)
            expectError(.typeMismatch) { #expect(shop.code == Code("")) }
            #expect(shop.codes[0] == Code("a"))
            expectError(.typeMismatch) { #expect(shop.codes[1] == Code("")) }
            #expect(shop.place == Coordinate(0, 0) && shop.second == nil)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Observers name such properties`() throws {
        let configuration = TestRealm.inMemory(Self.types)
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let shop = Shop("a", 1)
            try realm.write { realm.add(shop) }
            var changes: [String] = []
            let token = try loop.inside {
                shop.observe(keyPaths: [\.price, \.place, \.route]) {
                    (change: ObjectChange<Shop>) in
                    if case .change(_, let properties) = change {
                        changes += properties.map(\.name)
                    }
                }
            }
            try realm.write {
                shop.price = Price(2)
                shop.start = Price(1)
                shop.place = Coordinate(1, 1)
                shop.route.append(Coordinate(2, 2))
            }
            loop.wait { changes.count == 3 }
            #expect(changes.sorted() == ["place", "price", "route"])
            token.invalidate()
            try TestRealm.check(realm)
        }
    }
}
