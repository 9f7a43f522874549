import Foundation
import RealmSwift

// The classes of the tests. Tests find them as an app would: no configuration names them.

class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name: String
    @Persisted var age = 18
    @Persisted var nickname: String?
    @Persisted var boss: Person?
    @Persisted var dogs: List<Dog>
    @Persisted(originProperty: "boss") var reports: LinkingObjects<Person>

    /// Not kept: no property of the database.
    var isSelected = false

    convenience init(_ id: Int, _ name: String, age: Int = 18) {
        self.init()
        self.id = id
        self.name = name
        self.age = age
    }
}

class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>

    convenience init(_ name: String, age: Int = 1) {
        self.init()
        self.name = name
        self.age = age
    }
}

/// One property of every type, each also optional and in a list.
final class Everything: Object {
    @Persisted var bool: Bool
    @Persisted var int: Int
    @Persisted var int8: Int8
    @Persisted var int16: Int16
    @Persisted var int32: Int32
    @Persisted var int64: Int64
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var maybeBool: Bool?
    @Persisted var maybeInt: Int?
    @Persisted var maybeInt8: Int8?
    @Persisted var maybeInt16: Int16?
    @Persisted var maybeInt32: Int32?
    @Persisted var maybeInt64: Int64?
    @Persisted var maybeFloat: Float?
    @Persisted var maybeDouble: Double?
    @Persisted var maybeString: String?
    @Persisted var maybeData: Data?
    @Persisted var maybeDate: Date?
    @Persisted var maybeObject: Everything?
    @Persisted var bools: List<Bool>
    @Persisted var ints: List<Int>
    @Persisted var int8s: List<Int8>
    @Persisted var floats: List<Float>
    @Persisted var doubles: List<Double>
    @Persisted var strings: List<String>
    @Persisted var datas: List<Data>
    @Persisted var dates: List<Date>
    @Persisted var objects: List<Everything>
    @Persisted var maybeInts: List<Int?>
    @Persisted var maybeStrings: List<String?>
}

/// A class whose key is a text that may be nil.
final class City: Object {
    @Persisted(primaryKey: true) var code: String?
    @Persisted var population: Int
}

/// Base classes give their properties; each class is one of its own.
class Vehicle: Object {
    @Persisted var wheels = 4
}

final class Bicycle: Vehicle {
    @Persisted var bell: Bool

    required init() {
        super.init()
        wheels = 2
    }
}

/// The older way to declare attributes of properties, and names of their own in the file.
final class Ticket: Object {
    @Persisted var number: Int
    @Persisted var title: String

    override class func primaryKey() -> String? { "number" }
    override class func indexedProperties() -> [String] { ["title"] }
    override class func propertiesMapping() -> [String: String] { ["title": "ticket_title"] }
    override class func _realmObjectName() -> String? { "SupportTicket" }
}

enum Nest {
    /// Found although it is nested and private to its file.
    fileprivate final class Egg: Object {
        @Persisted var weight: Double
    }

    static var egg: Object.Type { Egg.self }
}

/// Not in the default realms: it says so.
final class Hidden: Object {
    @Persisted var text: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

enum Mood: String, PersistableEnum {
    case calm, playful, wild
}

enum Rank: Int, PersistableEnum {
    case novice = 1
    case expert = 5
    case master = 10
}

/// Enums of both kinds: plain, optional, with an index, in a list.
final class Cat: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var mood: Mood
    @Persisted(indexed: true) var rank = Rank.expert
    @Persisted var lastMood: Mood?
    @Persisted var maybeRank: Rank?
    @Persisted var moods: List<Mood>
    @Persisted var friend: Cat?

    convenience init(_ name: String, _ mood: Mood, _ rank: Rank) {
        self.init()
        self.name = name
        self.mood = mood
        self.rank = rank
    }
}

/// The cats' file as seen by an app that does not know the enums.
final class RawCat: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var mood: String
    @Persisted(indexed: true) var rank: Int
    @Persisted var lastMood: String?
    @Persisted var maybeRank: Int?
    @Persisted var moods: List<String>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    override class func _realmObjectName() -> String? { "Cat" }
}

/// Sets and maps of every type of elements.
final class Library: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var bools: MutableSet<Bool>
    @Persisted var ints: MutableSet<Int>
    @Persisted var int8s: MutableSet<Int8>
    @Persisted var floats: MutableSet<Float>
    @Persisted var doubles: MutableSet<Double>
    @Persisted var tags: MutableSet<String>
    @Persisted var datas: MutableSet<Data>
    @Persisted var dates: MutableSet<Date>
    @Persisted var uuids: MutableSet<UUID>
    @Persisted var objectIds: MutableSet<ObjectId>
    @Persisted var decimals: MutableSet<Decimal128>
    @Persisted var moods: MutableSet<Mood>
    @Persisted var maybeInts: MutableSet<Int?>
    @Persisted var books: MutableSet<Book>
    @Persisted var flags: Map<String, Bool>
    @Persisted var counts: Map<String, Int>
    @Persisted var smallCounts: Map<String, Int8>
    @Persisted var ratios: Map<String, Float>
    @Persisted var scores: Map<String, Double>
    @Persisted var notes: Map<String, String>
    @Persisted var covers: Map<String, Data>
    @Persisted var dueDates: Map<String, Date>
    @Persisted var cards: Map<String, UUID>
    @Persisted var marks: Map<String, ObjectId>
    @Persisted var prices: Map<String, Decimal128>
    @Persisted var feelings: Map<String, Mood>
    @Persisted var maybeNotes: Map<String, String?>
    @Persisted var shelf: Map<String, Book?>

    convenience init(_ id: Int) {
        self.init()
        self.id = id
    }
}

final class Book: Object {
    @Persisted var title: String
    @Persisted var pages: Int
    @Persisted(originProperty: "books") var libraries: LinkingObjects<Library>
    @Persisted(originProperty: "shelf") var shelves: LinkingObjects<Library>

    convenience init(_ title: String, pages: Int = 100) {
        self.init()
        self.title = title
        self.pages = pages
    }
}

/// A key and no more than one property, so that a set may be part of a created object.
final class Reader: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var wishes: MutableSet<Wish>
    @Persisted var loans: Map<String, Wish?>

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }
}

final class Wish: Object {
    @Persisted(primaryKey: true) var title: String
    @Persisted var price: Int

    convenience init(_ title: String, price: Int = 0) {
        self.init()
        self.title = title
        self.price = price
    }
}
