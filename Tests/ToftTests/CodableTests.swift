// Tests: Persisted+Codable.swift, Addition.swift, EmbeddedObject.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

enum Size: String, PersistableEnum, Codable { case small, large }

class Toy: Object, Codable {
    @Persisted var name: String

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Collar: EmbeddedObject, Codable {
    @Persisted var color: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Puppy: Object, Codable {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var nickname: String?
    @Persisted var born: Date
    @Persisted var photo: Data
    @Persisted var weight: Decimal128?
    @Persisted var chip: UUID?
    @Persisted var size: Size
    @Persisted var toy: Toy?
    @Persisted var collar: Collar?
    @Persisted var toys: List<Toy>
    @Persisted var tags: MutableSet<String>
    @Persisted var scores: Map<String, Int>
    @Persisted var walks = 3
    @Persisted(originProperty: "friend") var admirers: LinkingObjects<Puppy>
    @Persisted var friend: Puppy?

    /// Neither `walks` nor `admirers`.
    enum CodingKeys: String, CodingKey {
        case id, name, nickname, born, photo, weight, chip, size, toy, collar, toys, tags, scores
        case friend = "best_friend"
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Each has an id, a code and a time of its own, though none is given.
final class Postcard: Object, Codable {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted(indexed: true) var code: UUID
    @Persisted var sent: Date

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Codable classes")
struct CodableTests {
    static let types: [ObjectBase.Type] = [Puppy.self, Toy.self, Collar.self]

    static let json = """
        {"id": 1, "name": "Rex", "born": "2001-02-03T04:05:06Z", "photo": "AQI=",
         "weight": "12.5", "size": "large", "toy": {"name": "ball"}, "collar": {"color": "red"},
         "toys": [{"name": "bone"}, {"name": "stick"}], "tags": ["a", "b"],
         "scores": {"x": 1, "y": 2}, "nickname": null,
         "best_friend": {"id": 2, "name": "Fay", "born": "2001-02-03T04:05:06Z", "photo": "",
            "size": "small", "toys": [], "tags": [], "scores": {}}}
        """

    var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    func puppy() throws -> Puppy { try decoder.decode(Puppy.self, from: Data(Self.json.utf8)) }

    func expectRex(_ puppy: Puppy) {
        #expect(puppy.id == 1 && puppy.name == "Rex" && puppy.nickname == nil)
        #expect(puppy.born == Date(timeIntervalSince1970: 981_173_106))
        #expect(puppy.photo == Data([1, 2]) && puppy.weight == Decimal128(string: "12.5"))
        #expect(puppy.chip == nil && puppy.size == .large && puppy.walks == 3)
        #expect(puppy.toy?.name == "ball" && puppy.collar?.color == "red")
        #expect(puppy.toys.map(\.name) == ["bone", "stick"])
        #expect(Set(puppy.tags) == ["a", "b"] && puppy.scores["y"] == 2)
        #expect(puppy.friend?.name == "Fay" && puppy.friend?.friend == nil)
    }

    @Test
    func `A class is decoded, added, and is then like any other`() throws {
        try TestRealm.with(Self.types) { realm in
            let puppy = try puppy()
            expectRex(puppy)
            let toys = puppy.toys
            try realm.write { realm.add(puppy) }
            expectRex(puppy)
            #expect(toys.realm == realm && puppy.toys === toys)
            #expect(realm.objects(Puppy.self).count == 2 && realm.objects(Toy.self).count == 3)
            #expect(realm.object(ofType: Puppy.self, forPrimaryKey: 2)?.admirers.map(\.id) == [1])
            try realm.write {
                // An update of an existing object.
                realm.add(try self.puppy(), update: .modified)
                puppy.toys.append(Toy("rope"))
            }
            #expect(puppy.toys.count == 3 && realm.objects(Puppy.self).count == 2)
        }
    }

    @Test
    func `An unmanaged object is encoded, and comes back`() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys]
        let coded = try encoder.encode(try puppy())
        expectRex(try decoder.decode(Puppy.self, from: coded))
        #expect(
            try String(decoding: encoder.encode(Toy("ball")), as: UTF8.self)
                == #"{"name":"ball"}"#)
        let text = String(decoding: try encoder.encode(Puppy()), as: UTF8.self)
        #expect(text.contains(#""nickname":null"#) && text.contains(#""toys":[]"#))
        #expect(!text.contains("walks"))
    }

    @Test
    func `What is missing or wrong is an error`() {
        for json in [
            #"{}"#, #"{"name": null}"#, #"{"name": 3}"#,
        ] {
            #expect(throws: DecodingError.self) {
                try decoder.decode(Toy.self, from: Data(json.utf8))
            }
        }
    }

    @Test
    func `A managed object is encoded by way of a copy`() throws {
        try TestRealm.with(Self.types) { realm in
            let toy = Toy("ball")
            let puppy = Puppy(value: ["id": 1, "tags": ["a"], "scores": ["x": 1]] as [String: Any])
            try realm.write { realm.add([toy]) }
            try realm.write { realm.add(puppy) }
            do {
                _ = try JSONEncoder().encode(toy)
                Issue.record("a managed object was encoded")
            } catch {
                #expect((error as? Realm.Error)?.code == .unsupported)
            }
            let coded = try JSONEncoder().encode(Toy(value: toy))
            #expect(String(decoding: coded, as: UTF8.self) == #"{"name":"ball"}"#)
            #expect(try JSONEncoder().encode(puppy.tags) == Data(#"["a"]"#.utf8))
            #expect(try JSONEncoder().encode(puppy.scores) == Data(#"{"x":1}"#.utf8))
        }
    }

    @Test
    func `What JSONSerialization gives makes an object`() throws {
        try TestRealm.with(Self.types) { realm in
            let json = try JSONSerialization.jsonObject(
                with: Data(
                    #"""
                    {"id": 7, "name": "Rex", "nickname": null, "toy": {"name": "ball"},
                     "toys": [{"name": "a"}, {"name": "b"}], "tags": ["t"], "scores": {"x": 1},
                     "size": "large", "collar": {"color": "red"}}
                    """#.utf8))
            try realm.write {
                let puppy = realm.create(Puppy.self, value: json)
                #expect(puppy.id == 7 && puppy.toy?.name == "ball" && puppy.toys.count == 2)
                #expect(puppy.scores["x"] == 1 && puppy.size == .large && puppy.nickname == nil)
                #expect(puppy.collar?.color == "red")
                realm.create(Puppy.self, value: ["id": 7, "name": "Max"], update: .modified)
                #expect(puppy.name == "Max" && puppy.toys.count == 2)
            }
        }
    }

    @Test
    func `What is drawn for an object is encoded as the object goes on having it`() throws {
        let parcel = Postcard()
        let first = try JSONDecoder().decode(Postcard.self, from: JSONEncoder().encode(parcel))
        #expect(first.id == parcel.id && first.code == parcel.code && first.sent == parcel.sent)
        let again = Postcard(value: parcel)
        #expect(again.id == parcel.id && again.code == parcel.code && again.sent == parcel.sent)
        #expect(Postcard().id != parcel.id && Postcard().code != parcel.code)
    }
}
