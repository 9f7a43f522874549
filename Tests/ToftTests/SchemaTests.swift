// Tests: Toft/Schema.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

private final class MistypedKey: Object {
    @Persisted var name: String

    override class func primaryKey() -> String? { "nmae" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class MistypedIndex: Object {
    @Persisted var age: Int

    override class func indexedProperties() -> [String] { ["agee"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// As Realm's first guides spell a class: it compiles.
private class EarlyDog: Object {
    dynamic var name = ""
    dynamic var age = 0

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class EarlyPerson: Object {
    @Persisted var name: String
    let dogs = List<Dog>()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class LaterPerson: EarlyPerson {
    @Persisted var age: Int
}

private final class EarlyAddress: EmbeddedObject {
    dynamic var street = ""

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class WithSet: Object {
    @Persisted var id: Int
    var tags = MutableSet<String>()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class WithMap: EmbeddedObject {
    @Persisted var id: Int
    var counts: Map<String, Int>?

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class WithLinks: Object {
    @Persisted var id: Int
    var owners: LinkingObjects<Person> = Dog().owners

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class WithLazy: Object {
    @Persisted var id: Int
    lazy var dogs = List<Dog>()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class WithIgnored: Object {
    @Persisted var id: Int
    var cached = List<Dog>()

    override class func ignoredProperties() -> [String] { ["cached"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The shared base of several classes, without a property.
private class Sharing: Object {
    var text: String { "shared" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class Shared1: Sharing {
    @Persisted var id: Int
}

/// With variables below a class that stores.
private final class Half: EarlyBase {
    @Persisted var id: Int
}

private class EarlyBase: Object {
    dynamic var title = ""
    dynamic var owner: Dog?
    let formatter = DateFormatter()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Classes become a schema")
struct SchemaTests {
    /// They stored nothing, in silence.
    @Test
    func `A class that stores nothing, or a lazy collection, is refused`() throws {
        func failure(_ type: ObjectBase.Type) -> Realm.Error? {
            do {
                _ = try Realm(configuration: TestRealm.inMemory([type, Dog.self, Person.self]))
                return nil
            } catch {
                #expect((error as? Realm.Error)?.code == .invalidSchema)
                return error as? Realm.Error
            }
        }
        func problem(_ type: ObjectBase.Type) -> String { failure(type)?.message ?? "" }
        #expect(
            problem(EarlyDog.self)
                == "No properties are defined for 'EarlyDog'. Did you remember to mark them with "
                + "'@Persisted' in your model? Not marked: 'name', 'age'.")
        #expect(
            problem(EarlyAddress.self).hasPrefix("No properties are defined for 'EarlyAddress'"))
        let lazy = problem(WithLazy.self)
        #expect(lazy.contains("'WithLazy.dogs' is not stored"), "\(lazy)")
        #expect(
            lazy.contains("Write @Persisted var dogs: List<Dog>, or name it in ignoredProperties()")
        )
        // Linking objects that name no property.
        #expect(failure(WithLinks.self)?.description.contains("'WithLinks") == true)
        #expect(problem(WithMap.self).contains("'WithMap.counts' is not stored"))
        for type in [EarlyPerson.self, LaterPerson.self, WithSet.self] as [ObjectBase.Type] {
            #expect(problem(type) == "")
        }
        // All at once.
        do {
            _ = try Realm(configuration: TestRealm.inMemory([EarlyDog.self, EarlyAddress.self]))
            Issue.record("opened")
        } catch {
            #expect("\(error)".contains("'EarlyDog'") && "\(error)".contains("'EarlyAddress'"))
        }
        for types in [[WithIgnored.self, Dog.self, Person.self], [Sharing.self, Shared1.self]]
            as [[ObjectBase.Type]]
        {
            try TestRealm.with(types) { realm in
                try realm.write { realm.add(types.count == 2 ? Shared1() : Dog()) }
            }
        }
    }

    @Test
    func
        `Subclasses of Object are found: nested, private, local and derived ones too`()
    {
        final class Local: Object {
            @Persisted var text: String
        }
        let names = Set(ClassDiscovery.objectTypes().map { $0.className() })
        #expect(
            names.isSuperset(of: [
                "Person", "Dog", "Everything", "City", "Vehicle", "Bicycle", "SupportTicket", "Egg",
                "Hidden", "Local",
            ]))
        #expect(!names.contains("Object"))
        #expect(
            ClassDiscovery.objectTypes().map(ObjectIdentifier.init).contains(
                ObjectIdentifier(Nest.egg)))
    }

    @Test
    func `Generic classes are left out, for they are no single class`() {
        class Box<Content>: Object {
            @Persisted var label: String
        }
        let boxes = ClassDiscovery.objectTypes().filter { "\($0)".hasPrefix("Box") }
        #expect(boxes.isEmpty)
    }

    @Test
    func `Properties come in the order of declaration, with type, optionality, key and index`()
        throws
    {
        let schema = Person().objectSchema
        #expect(schema.className == "Person")
        #expect(
            schema.properties.map(\.name) == [
                "id", "name", "age", "nickname", "boss", "dogs", "reports",
            ])
        #expect(
            schema.properties.map(\.type) == [
                .int, .string, .int, .string, .object, .object, .linkingObjects,
            ])
        #expect(schema.primaryKeyProperty?.name == "id")
        #expect(schema["name"]?.isIndexed == true)
        #expect(schema["nickname"]?.isOptional == true)
        #expect(schema["age"]?.isOptional == false)
        #expect(schema["boss"]?.objectClassName == "Person")
        #expect(schema["dogs"]?.isArray == true)
        #expect(schema["isSelected"] == nil)
    }

    @Test
    func `A derived class has its base class's properties first`() {
        #expect(Bicycle().objectSchema.properties.map(\.name) == ["wheels", "bell"])
        #expect(Bicycle().wheels == 2)
    }

    @Test
    func `Objects of a derived class are not among those of its base`() throws {
        try TestRealm.with { realm in
            try realm.write {
                realm.add(Vehicle())
                realm.add(Bicycle())
            }
            #expect(realm.objects(Vehicle.self).map(\.wheels) == [4])
            #expect(realm.objects(Bicycle.self).map(\.wheels) == [2])
            #expect(!realm.objects(Vehicle.self).contains { $0 is Bicycle })
        }
    }

    @Test
    func `A computed property wraps a stored one and is not stored itself`() throws {
        final class Thermometer: Object {
            @Persisted var celsius: Double
            var fahrenheit: Double {
                get { celsius * 9 / 5 + 32 }
                set { celsius = (newValue - 32) * 5 / 9 }
            }
            var text: String { "\(celsius) C" }
        }
        #expect(Thermometer().objectSchema.properties.map(\.name) == ["celsius"])
        try TestRealm.with([Thermometer.self]) { realm in
            let thermometer = Thermometer()
            thermometer.fahrenheit = 32
            try realm.write {
                realm.add(thermometer)
                thermometer.fahrenheit = 212
            }
            let stored = try #require(realm.objects(Thermometer.self).first)
            #expect(stored.celsius == 100 && stored.fahrenheit == 212 && stored.text == "100.0 C")
            expectError(.invalidQuery) {
                realm.objects(Thermometer.self).filter("fahrenheit > 0").count
            }
        }
    }

    @Test
    func `Class functions name key, index, column and class as well`() {
        let schema = Ticket().objectSchema
        #expect(schema.className == "SupportTicket")
        #expect(schema.primaryKeyProperty?.name == "number")
        #expect(schema["title"]?.isIndexed == true)
        #expect(schema["title"]?.columnName == "ticket_title")
    }

    @Test
    func `A realm has all classes but those excluded, or those that its configuration names`()
        throws
    {
        try TestRealm.with { realm in
            #expect(realm.schema["Person"] != nil)
            #expect(realm.schema["Hidden"] == nil)
        }
        try TestRealm.with([Hidden.self]) { realm in
            #expect(realm.schema.objectSchema.map(\.className) == ["Hidden"])
            try realm.write { realm.add(Hidden()) }
            expectError(.noSuchClass) { _ = realm.objects(Person.self) }
        }
    }

    @Test
    func `A class that links out of the realm's classes is refused, with every problem`() throws {
        do {
            _ = try Realm(configuration: TestRealm.inMemory([Person.self]))
            Issue.record("opened")
        } catch let error as Realm.Error {
            #expect(error.code == .invalidSchema)
            #expect(error.detail.contains("Person.dogs"))
        }
    }

    @Test
    func `Every code of the engine has the same name and number here`() {
        let codes = Realm.Error.Code.allCases.map { "\($0) \($0.rawValue)" }
        #expect(codes == ErrorCodes.engine)
    }

    @Test
    func `A name that is no property's is refused where a class gives it`() throws {
        for (type, name) in [(MistypedKey.self, "nmae"), (MistypedIndex.self, "agee")]
            as [(ObjectBase.Type, String)]
        {
            do {
                _ = try Realm(configuration: TestRealm.inMemory([type]))
                Issue.record("'\(name)' was taken")
            } catch {
                #expect((error as? Realm.Error)?.code == .invalidSchema)
                #expect("\(error)".contains("'\(name)'"))
            }
        }
    }
}
