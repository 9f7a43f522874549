// Tests: ObjectId.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

final class Parcel: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted(indexed: true) var code: UUID
    @Persisted(indexed: true) var batch: ObjectId?
    @Persisted var receipt: UUID?
    @Persisted var stops: List<UUID>
    @Persisted var scans: List<ObjectId?>
    @Persisted var contains: Parcel?
}

final class Shelf: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var name: String
}

@Suite("UUID and ObjectId")
struct IdentifierTests {
    private static let first = UUID(uuidString: "00000000-0000-0000-0000-000000000001")
    private static let last = UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")

    @Test
    func `A property without a default begins with a new identifier, an optional one with nil`() {
        let (one, two) = (Parcel(), Parcel())
        #expect(one.id != two.id && one.code != two.code)
        #expect(one.batch == nil && one.receipt == nil && one.stops.isEmpty)
    }

    @Test
    func `Both are written and read, alone, optional and in lists, also by the next process`()
        throws
    {
        try TestRealm.withFile([Parcel.self]) { realm, url in
            let parcel = Parcel()
            let id = parcel.id
            let (code, batch, stop) = (parcel.code, ObjectId.generate(), UUID())
            parcel.batch = batch
            parcel.stops.append(objectsIn: [code, stop])
            parcel.scans.append(objectsIn: [batch, nil])
            try realm.write { realm.add(parcel) }
            #expect(parcel.id == id && parcel.code == code && parcel.batch == batch)
            try realm.write {
                parcel.receipt = stop
                parcel.batch = nil
                parcel.scans[1] = id
            }
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Parcel.self]))
                let parcel = try #require(realm.object(ofType: Parcel.self, forPrimaryKey: id))
                #expect(parcel.id == id && parcel.code == code)
                #expect(parcel.batch == nil && parcel.receipt == stop)
                #expect(Array(parcel.stops) == [code, stop])
                #expect(Array(parcel.scans) == [batch, id])
            }
        }
    }

    @Test
    func `A primary key is unique and found; upserts change the object that has it`() throws {
        try TestRealm.with([Shelf.self]) { realm in
            let id = UUID()
            try realm.write {
                realm.create(Shelf.self, value: ["id": id, "name": "left"] as [String: Any])
                realm.create(
                    Shelf.self, value: ["id": id, "name": "right"] as [String: Any],
                    update: .modified)
            }
            #expect(realm.objects(Shelf.self).count == 1)
            #expect(realm.object(ofType: Shelf.self, forPrimaryKey: id)?.name == "right")
            #expect(realm.object(ofType: Shelf.self, forPrimaryKey: UUID()) == nil)
        }
    }

    @Test
    func `Queries compare, order and list them, with an index and without`() throws {
        try TestRealm.with([Parcel.self]) { realm in
            var seed = SystemRandomNumberGenerator()
            var parcels: [(id: ObjectId, code: UUID, receipt: UUID?)] = []
            try realm.write {
                for number in 0..<600 {
                    let parcel = Parcel()
                    if number == 0, let first = Self.first { parcel.code = first }
                    if number == 1, let last = Self.last { parcel.code = last }
                    parcel.receipt = number % 3 == 0 ? nil : UUID()
                    if number % 50 == 0 { parcel.stops.append(parcel.code) }
                    realm.add(parcel)
                    parcels.append((parcel.id, parcel.code, parcel.receipt))
                }
            }
            func text(_ id: UUID) -> String { id.uuidString.lowercased() }
            let all = realm.objects(Parcel.self)
            let some = try #require(parcels.randomElement(using: &seed))
            #expect(all.where { $0.code == some.code }.map(\.id) == [some.id])
            #expect(all.where { $0.code != some.code }.count == 599)
            #expect(all.filter("code == uuid(\(text(some.code)))").first?.id == some.id)
            #expect(all.filter("id == oid(\(some.id))").count == 1)
            #expect(all.filter("id == %@", some.id).first?.code == some.code)
            #expect(
                all.filter("code IN %@", [some.code, parcels[1].code, UUID()]).count
                    == Set([some.code, parcels[1].code]).count)
            for (operation, holds) in [
                ("<", { $0 < $1 }), ("<=", { $0 <= $1 }), (">", { $0 > $1 }), (">=", { $0 >= $1 }),
            ] as [(String, (String, String) -> Bool)] {
                for bound in [some.code, parcels[0].code, parcels[1].code] {
                    #expect(
                        all.filter("code \(operation) %@", bound).count
                            == parcels.filter { holds(text($0.code), text(bound)) }.count)
                }
            }
            #expect(all.filter("receipt == nil").count == 200)
            #expect(all.filter("ANY stops == %@", parcels[50].code).map(\.id) == [parcels[50].id])
            let sorted = Array(all.sorted(byKeyPath: "receipt").map(\.receipt))
            #expect(
                sorted
                    == parcels.map(\.receipt).sorted {
                        ($0.map(text) ?? "") < ($1.map(text) ?? "")
                    })
            #expect(all.sorted(byKeyPath: "id").map(\.id) == parcels.map(\.id).sorted())
            #expect(all.distinct(by: ["code"]).count == 600)
        }
    }

    @Test
    func `A comparison with a value of another type is refused with its place`() throws {
        try TestRealm.with([Parcel.self]) { realm in
            let all = realm.objects(Parcel.self)
            for query in [
                "code == 'x'", "id == 7", "code BEGINSWITH 'x'", "id == uuid(\(UUID().uuidString))",
            ] {
                let error = #expect(throws: Realm.Error.self, "\(query)") {
                    try Realm.attempt { _ = all.filter(query).count }
                }
                #expect(error?.localizedDescription.isEmpty == false)
            }
        }
    }

    @Test
    func `An object id is read from 24 digits, tells its time and sorts by it`() throws {
        let id = try ObjectId(string: "0123456789abcDEF00112233")
        #expect(id.stringValue == "0123456789abcdef00112233" && "\(id)" == id.stringValue)
        #expect(id == ObjectId("0123456789ABCDEF00112233"))
        for wrong in [
            "", "0123456789abcdef0011223", "0123456789abcdef001122334", "g" + "\(id)".dropFirst(),
        ] {
            #expect(throws: Realm.Error.self, "\(wrong)") { try ObjectId(string: wrong) }
        }
        #expect(throws: Realm.Error.self) { try Realm.attempt { _ = ObjectId("nonsense") } }
        let time = Date(timeIntervalSince1970: 1_800_000_000)
        let made = ObjectId(timestamp: time, machineId: 0xABCDEF, processId: 0x1234)
        #expect(made.timestamp == time)
        #expect(made.stringValue.hasPrefix("6b49d200abcdef1234"))
        #expect(
            ObjectId(timestamp: .distantPast, machineId: 0, processId: 0).timestamp
                .timeIntervalSince1970 == 0)
        #expect(
            ObjectId(timestamp: .distantFuture, machineId: 0, processId: 0).timestamp
                .timeIntervalSince1970 == Double(UInt32.max))
        #expect(ObjectId() < made)
        #expect(abs(ObjectId.generate().timestamp.timeIntervalSinceNow) < 60)
        let many = (0..<10_000).map { _ in ObjectId.generate() }
        #expect(Set(many).count == 10_000)
        let coded = try JSONEncoder().encode([id])
        #expect(String(decoding: coded, as: UTF8.self) == "[\"0123456789abcdef00112233\"]")
        #expect(try JSONDecoder().decode([ObjectId].self, from: coded) == [id])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ObjectId].self, from: Data("[\"x\"]".utf8))
        }
    }
}
