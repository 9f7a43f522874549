// Tests: Toft/Decimal128.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

final class Offer: Object {
    @Persisted var name: String
    @Persisted var price: Decimal128
    @Persisted var discount: Decimal128?
    @Persisted var count: Int
    @Persisted var weight: Double
    @Persisted var prices: List<Decimal128>
    @Persisted var related: List<Offer>
}

@Suite("Decimal128")
struct DecimalPropertyTests {
    private func filled(_ realm: Realm) throws {
        try realm.write {
            for (index, text) in ["1.50", "-2", "NaN", "1.5", "0.1", "1E+3"].enumerated() {
                let offer = Offer()
                offer.name = text
                offer.price = Decimal128(string: text)
                offer.discount = index % 2 == 0 ? nil : 0.5
                offer.weight = index == 4 ? 0.1 : 1.5
                offer.count = 1_000
                realm.add(offer)
            }
        }
    }

    @Test
    func `Numbers keep their digits, alone, optional and in lists, also for the next process`()
        throws
    {
        try TestRealm.withFile([Offer.self]) { realm, url in
            let offer = Offer()
            #expect(offer.price.stringValue == "0" && offer.discount == nil)
            offer.price = "1.50"
            offer.prices.append(objectsIn: [1, "1.0", "-Infinity", Decimal128.max])
            try realm.write { realm.add(offer) }
            try realm.write {
                offer.discount = "1E+3"
                offer.prices[0] = "-0"
            }
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Offer.self]))
                let offer = try #require(realm.objects(Offer.self).first)
                #expect(offer.price.stringValue == "1.50")
                #expect(offer.discount?.stringValue == "1E3")
                #expect(
                    offer.prices.map(\.stringValue) == [
                        "-0", "1.0", "-Infinity", "9.999999999999999999999999999999999E6144",
                    ])
                #expect(offer.prices.index(of: 1) == 1 && offer.prices.contains("1.00"))
            }
        }
    }

    @Test
    func `Decimals are numbers to Swift, and are made of those of Foundation`() {
        #expect(Decimal128(number: 1.5) == 1.5 && Decimal128(number: NSNumber(value: 7)) == 7)
        #expect(Decimal128(value: Decimal(string: "0.10") ?? 0) == "0.1")
        #expect(Decimal128(value: NSNumber(value: UInt64.max)) == "18446744073709551615")
        #expect(Decimal128(value: "x").isNaN && Decimal128(value: [1]).isNaN)
        #expect(Decimal128(exactly: 12) == 12 && Decimal128(exactly: Int128.max) == nil)
        #expect(Decimal128(exactly: UInt64.max) == "18446744073709551615")
        var price: Decimal128 = 10
        price += 0.5
        price *= 2
        price -= 1
        price /= 4
        #expect(price == 5)
        price.negate()
        #expect(price == -5 && price.magnitude == 5 && price.distance(to: 1) == 6)
        #expect(price.advanced(by: 0.5) == -4.5 && [1, 2.5, "3"].reduce(Decimal128.zero, +) == 6.5)
        #expect(Array(stride(from: Decimal128(0), to: 1, by: 0.25)) == [0, 0.25, 0.5, 0.75])
    }

    @Test
    func `Queries compare, sort and add up by value`() throws {
        try TestRealm.with([Offer.self]) { realm in
            try filled(realm)
            let all = realm.objects(Offer.self)
            #expect(all.where { $0.price == 1.5 }.map(\.name) == ["1.50", "1.5"])
            #expect(all.where { $0.price < 1.5 }.map(\.name) == ["-2", "0.1"])
            #expect(all.where { $0.price.contains("0.1"..."1.50") }.count == 3)
            #expect(all.where { $0.price.in([0.1, "1E+3", "NaN"]) }.count == 3)
            #expect(all.filter("price == 0.1").count == 1)
            #expect(all.filter("price == weight").map(\.name) == ["1.50", "1.5"])
            #expect(all.filter("price == count").map(\.name) == ["1E+3"])
            #expect(all.filter("price * 2 == %@", Decimal128("3.000")).count == 2)
            #expect(all.filter("discount == nil").count == 3)
            #expect(
                all.sorted(byKeyPath: "price").map(\.name) == [
                    "NaN", "-2", "0.1", "1.50", "1.5", "1E+3",
                ])
            #expect(
                all.distinct(by: ["price"]).map(\.name) == ["1.50", "-2", "NaN", "0.1", "1E+3"])
            #expect(all.sum(of: \.price).stringValue == "1001.10")
            #expect(all.average(of: \.price)?.stringValue == "200.22")
            #expect(all.average(of: \.discount)?.stringValue == "0.5")
            #expect(all.min(of: \.price)?.stringValue == "-2")
            #expect(all.max(of: \.price)?.stringValue == "1E3")
            #expect(all.where { $0.name == "none" }.sum(of: \.price) == 0)
            #expect(all.where { $0.name == "none" }.average(of: \.price) == nil)
            try realm.write {
                all[0].prices.append(objectsIn: ["0.10", "0.20", "NaN"])
                all[0].related.append(objectsIn: [all[0], all[3]])
            }
            #expect(all[0].prices.sum().stringValue == "0.30")
            #expect(all[0].prices.average()?.stringValue == "0.15")
            #expect(all[0].prices.max() == "0.2")
            #expect(
                all[0].prices.sorted().map(\.stringValue) == ["NaN", "0.10", "0.20"])
            #expect(all.where { $0.prices.sum == "0.3" && $0.prices.avg == 0.15 }.count == 1)
            #expect(all.where { $0.related.price.max == 1.5 }.count == 1)
        }
    }

    @Test
    func `What is no decimal is refused, and decimals are neither keys nor indexed`() throws {
        try TestRealm.with([Offer.self]) { realm in
            try filled(realm)
            let all = realm.objects(Offer.self)
            for query in ["price == 'x'", "price CONTAINS '1'", "price == true", "price IN 'x'"] {
                #expect(throws: Realm.Error.self, "\(query)") {
                    try Realm.attempt { _ = all.filter(query).count }
                }
            }
            #expect(all.filter("price == '1.5'").count == 2)
            #expect(throws: Realm.Error.self) {
                try Realm.attempt {
                    realm.beginWrite()
                    defer { realm.cancelWrite() }
                    realm.create(Offer.self, value: ["price": "x"] as [String: Any])
                }
            }
            try realm.write {
                let made = realm.create(
                    Offer.self, value: ["price": "2.50", "discount": 3] as [String: Any])
                #expect(made.price.stringValue == "2.50" && made.discount == 3)
            }
        }
    }

    @Test
    func `A number is made of text, literals, integers and doubles, and coded as text`() throws {
        #expect(
            Decimal128(string: "x").isNaN && Decimal128("x").isNaN && Decimal128(string: "").isNaN)
        #expect(Decimal128(string: "1e6145").isNaN && Decimal128(string: "1e-7000").isNaN)
        #expect(Decimal128(value: "1.50").stringValue == "1.50")
        #expect(Decimal128(value: Int8(-3)) == -3 && Decimal128(value: Float(0.1)) == 0.1)
        #expect(Decimal128(value: [1]).isNaN && Decimal128(value: Decimal128.min) == .min)
        let literals: [Decimal128] = [1, 0.1, "1.10", -2.5, 3.0, 1e20]
        #expect(literals.map(\.description) == ["1", "0.1", "1.10", "-2.5", "3.0", "1E20"])
        let tenth = 0.1
        #expect(Decimal128(tenth).stringValue == "0.1000000000000000055511151231257827")
        #expect(Decimal128(UInt64.max).stringValue == "18446744073709551615")
        #expect(
            Decimal128.min < 0 && Decimal128("NaN") < .min && Decimal128.max.magnitude == .max)
        #expect(-Decimal128.max == .min && Decimal128.min.magnitude == .max)
        #expect(Decimal128(1) / 3 * 3 == "0.9999999999999999999999999999999999")
        #expect((Decimal128(1) / 0).isInfinite && (Decimal128(0) / 0).isNaN)
        #expect(Decimal128("1.20") + 1 - 2 == 0.2)
        #expect(Set<Decimal128>([1, "1.0", "1.00", "NaN", "-nan"]).count == 2)
        #expect(Decimal128("2.50").doubleValue == 2.5)
        let coded = try JSONEncoder().encode(["1.50", "-Infinity"] as [Decimal128])
        #expect(String(decoding: coded, as: UTF8.self) == "[\"1.50\",\"-Infinity\"]")
        let read = try JSONDecoder().decode([Decimal128].self, from: Data("[\"1.50\",7,0.1]".utf8))
        #expect(read.map(\.stringValue) == ["1.50", "7", "0.1"])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Decimal128].self, from: Data("[\"x\"]".utf8))
        }
    }
}
