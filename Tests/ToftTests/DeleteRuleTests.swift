// Tests: DeleteRule.swift, Persisted.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

class Shipment: Object {
    @Persisted(deleteRule: .cascade) var parcels: List<Freight>
    @Persisted(deleteRule: .cascade) var spare: MutableSet<Freight>
    @Persisted(deleteRule: .cascade) var named: Map<String, Freight?>
    @Persisted(deleteRule: .deny) var kept: Freight?
    @Persisted(deleteRule: .nullify) var seen: List<Freight>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Freight: Object {
    @Persisted var name: String
    @Persisted(deleteRule: .cascade) var next: Freight?

    convenience init(_ name: String, next: Freight? = nil) {
        self.init()
        self.name = name
        self.next = next
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Links take their targets with them, or keep them")
struct DeleteRuleTests {
    static let types: [ObjectBase.Type] = [Shipment.self, Freight.self]

    func names(_ realm: Realm) -> String {
        realm.objects(Freight.self).map(\.name).sorted().joined()
    }

    @Test
    func `A cascade deletes what links of each kind lead to, and circles end`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                let shipment = Shipment(), seen = Freight("e")
                let one = Freight("a", next: Freight("b"))
                one.next?.next = one
                shipment.parcels.append(one)
                shipment.spare.insert(Freight("c"))
                shipment.named["x"] = Freight("d")
                shipment.named["y"] = .some(nil)
                shipment.seen.append(seen)
                realm.add(shipment)
                #expect(names(realm) == "abcde")
                realm.delete(shipment)
                #expect(names(realm) == "e" && one.isInvalidated && !seen.isInvalidated)
            }
        }
    }

    @Test
    func `What a denying link leads to goes only with the object that links`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                let shipment = Shipment(), parcel = Freight("a")
                shipment.kept = parcel
                realm.add(shipment)
                expectError(.deletionDenied) { realm.delete(parcel) }
                expectError(.deletionDenied) { realm.delete(realm.objects(Freight.self)) }
                #expect(names(realm) == "a")
                realm.deleteAll()
                #expect(names(realm) == "" && realm.objects(Shipment.self).isEmpty)
            }
            #expect(
                Shipment().objectSchema.properties.map(\.deleteRule)
                    == [.cascade, .cascade, .cascade, .deny, .nullify])
        }
    }
}
