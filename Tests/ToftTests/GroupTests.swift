// Tests: Groups.swift
import Foundation
import Testing
import ToftTestKit

@testable import Toft

/// Groups of objects, which Realm does not have.
@Suite struct GroupTests {
    final class GroupShop: Object {
        @Persisted var name = ""
        @Persisted var city: String?
    }

    final class GroupSale: Object {
        @Persisted var shop: GroupShop?
        @Persisted var amount = 0
        @Persisted var weight: Double?
        @Persisted var day = Date(timeIntervalSince1970: 0)
    }

    private func realm() throws -> Realm {
        let realm = try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: "groups \(UInt64.random(in: 0 ... .max))",
                objectTypes: [GroupShop.self, GroupSale.self]))
        try realm.write {
            let north = realm.create(GroupShop.self, value: ["name": "north", "city": "Bonn"])
            let south = realm.create(GroupShop.self, value: ["name": "south"])
            for (index, shop) in [north, south, north, nil, north].enumerated() {
                let sale = GroupSale()
                sale.shop = shop
                sale.amount = index
                sale.weight = index == 2 ? nil : Double(index) / 2
                sale.day = Date(timeIntervalSince1970: Double(index))
                realm.add(sale)
            }
        }
        return realm
    }

    @Test func `Groups are sorted by their keys and have what was asked of them`() throws {
        let sales = try realm().objects(GroupSale.self)
        let groups = sales.groups(
            by: "shop.name",
            values: [.sum("amount"), .average("weight"), .min("day"), .max("amount")])
        #expect(groups.map(\.keys) == [[.none], [.string("north")], [.string("south")]])
        #expect(groups.map(\.count) == [1, 3, 1])
        #expect(groups[1].values[0] == .int(6))
        #expect(groups[1].values[1] == .double(1), "of 0 and 2; nil does not count")
        #expect(groups[1].values[2] == .date(Date(timeIntervalSince1970: 0)))
        #expect(groups[1].values[3] == .int(4))
        #expect(sales.where { $0.amount > 9 }.groups(by: "amount").isEmpty)
        let both = sales.groups(by: "shop.city", "amount").map(\.keys)
        #expect(both.first == [.none, .int(1)] && both.count == 5)
    }
}
