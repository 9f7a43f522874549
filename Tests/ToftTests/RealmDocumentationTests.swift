// Tests: ObjectKeyIdentifiable.swift, ThreadSafe.swift, Realm+Objects.swift
import Foundation
import RealmSwift
import Testing

// No `@testable`: only the API that an app can see.

// The models of the stories, in one place as an app has them.

class StoryDog: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var color = ""
    @Persisted var currentCity = ""
    @Persisted var citiesVisited: MutableSet<String>
    @Persisted var companion: AnyRealmValue
    @Persisted(originProperty: "dogs") var owner: LinkingObjects<StoryPerson>
    @Persisted var dateLastSeen: Date?

    var firstLetter: String { name.first.map(String.init) ?? "" }
}

class StoryPerson: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted(indexed: true) var name: String
    @Persisted var lastName = ""
    @Persisted var address: StoryAddress?
    @Persisted var friends: List<StoryPerson>
    @Persisted var dogs: List<StoryDog>
    @Persisted var favoriteParksByCity: Map<String, String>
    @Persisted var clubs: List<StoryClub>

    /// Several properties may be declared in one init of an app's own.
    convenience init(name: String, age: Int) {
        self.init()
        self.name = name
        id = age
    }
}

class StoryClub: Object {
    @Persisted var name: String
    @Persisted var dogs: Map<String, StoryDog?>
    @Persisted(originProperty: "clubs") var members: LinkingObjects<StoryPerson>
}

class StoryAddress: EmbeddedObject {
    @Persisted var street: String?
    @Persisted var city: String
    @Persisted var country: String?
}

class StoryTask: Object {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var name: String
    @Persisted var isComplete = false
    @Persisted var assignee: String?
    @Persisted var priority: Int
    @Persisted var progressMinutes: Int
    @Persisted var status = StoryStatus.notStarted
    @Persisted var labels: MutableSet<String>
    @Persisted var ratings: List<Int>
    @Persisted var lastEvent: StoryEvent?
    @Persisted(originProperty: "tasks") var projects: LinkingObjects<StoryProject>
}

enum StoryStatus: String, PersistableEnum, CaseIterable {
    case notStarted, inProgress, complete
}

class StoryEvent: EmbeddedObject {
    @Persisted var details: String
}

class StoryProject: Object {
    @Persisted var name: String
    @Persisted var tasks: List<StoryTask>
    @Persisted var budget: Decimal128
    @Persisted var numbers: Map<String, Int>
}

struct StoryCoordinate: Hashable {
    var latitude: Double
    var longitude: Double
}

class StoryLocation: EmbeddedObject {
    @Persisted var latitude: Double
    @Persisted var longitude: Double
}

extension StoryCoordinate: CustomPersistable {
    public typealias PersistedType = StoryLocation

    public init(persistedValue: StoryLocation) {
        self.init(latitude: persistedValue.latitude, longitude: persistedValue.longitude)
    }

    public var persistableValue: StoryLocation {
        StoryLocation(value: [latitude, longitude])
    }
}

struct StoryColor: FailableCustomPersistable, Hashable {
    var name: String

    public typealias PersistedType = String

    public init?(persistedValue: String) {
        guard persistedValue != "none" else { return nil }
        name = persistedValue
    }

    public var persistableValue: String { name }
}

class StoryStop: Object {
    @Persisted var place: StoryCoordinate?
    @Persisted var route: List<StoryCoordinate>
    @Persisted var color: StoryColor?
}

class StoryRecord: Object, Codable {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var count: Int
    @Persisted var tags: List<String>
    @Persisted var notes: Map<String, String>
    @Persisted var parent: StoryPart?
}

class StoryPart: EmbeddedObject, Codable {
    @Persisted var weight: Double?
}

class StoryPersonProjection: Projection<StoryPerson> {
    @Projected(\StoryPerson.name) var firstName
    @Projected(\StoryPerson.lastName.localizedUppercase) var lastNameCaps
    @Projected(\StoryPerson.address?.city) var homeCity
    @Projected(\StoryPerson.friends.projectTo.name) var friendsFirstName:
        ProjectedCollection<String>
}

/// The actor of the documentation: it opens a realm of its own and answers with plain values.
actor StoryActor {
    var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    var count: Int { realm.objects(StoryTask.self).count }

    func create(name: String, priority: Int) async throws -> UUID {
        try await realm.asyncWrite {
            realm.create(StoryTask.self, value: ["name": name, "priority": priority])._id
        }
    }

    func update(_ id: UUID, name: String) async throws {
        try await realm.asyncWrite {
            realm.create(
                StoryTask.self, value: ["_id": id, "name": name] as [String: Any],
                update: .modified)
        }
    }

    func name(of id: UUID) -> String? {
        realm.object(ofType: StoryTask.self, forPrimaryKey: id)?.name
    }

    func delete(_ id: UUID) async throws {
        try await realm.asyncWrite {
            let task = realm.object(ofType: StoryTask.self, forPrimaryKey: id)
            realm.delete(task!)
        }
    }

    func close() { realm = nil }
}

@globalActor actor StoryBackground: GlobalActor {
    static let shared = StoryBackground()
}

@StoryBackground
private func addInBackground(_ configuration: Realm.Configuration) async throws -> Int {
    let realm = try await Realm(configuration: configuration, actor: StoryBackground.shared)
    try await realm.asyncWrite { realm.add(StoryDog(value: ["name": "Lita", "age": 10])) }
    return realm.objects(StoryDog.self).count
}

/// Code that many apps write around their classes.
final class StoryItem: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var title: String = "untitled"
    @Persisted var isFavorite: Bool = false
    @Persisted var parts = List<StoryItem>()
    @Persisted var tags = MutableSet<String>()
    @Persisted var counts = Map<String, Int>()
    @Persisted var price: Double?
    @Persisted private(set) var created = Date()
    @Persisted(originProperty: "parts") var wholes: LinkingObjects<StoryItem>

    lazy var upper = title.uppercased()
    static let empty = "untitled"
    var label: String { "\(title) \(price ?? 0)" }

    required init() {
        super.init()
    }

    convenience init(title: String, price: Double? = nil) {
        self.init()
        self.title = title
        self.price = price
    }

    override class func indexedProperties() -> [String] { ["title"] }
    override class func ignoredProperties() -> [String] { ["upper"] }
}

final class StoryItemProjection: Projection<StoryItem>, ObjectKeyIdentifiable {
    @Projected(\StoryItem.title) var title
}

protocol StoryRepository {
    associatedtype Model: Object
    var realm: Realm { get }
}

extension StoryRepository {
    func all() -> Results<Model> { realm.objects(Model.self) }
    func find(_ key: some Any) -> Model? { realm.object(ofType: Model.self, forPrimaryKey: key) }
    func save(_ model: Model) throws { try realm.write { realm.add(model, update: .all) } }
}

private struct ItemRepository: StoryRepository {
    typealias Model = StoryItem
    let realm: Realm
}

extension Results {
    fileprivate func toArray() -> [Element] { Array(self) }
}

extension Realm {
    fileprivate func safeWrite(_ block: () throws -> Void) throws {
        if isInWriteTransaction { try block() } else { try write(block) }
    }

    fileprivate func everything<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        objects(type)
    }
}

extension Object {
    fileprivate func stored() throws { try realm?.safeWrite { realm?.add(self) } }
}

private func titles<Items: RealmCollection>(_ items: Items) -> [String]
where Items.Element == StoryItem {
    items.map(\.title)
}

private func count<Element>(_ items: AnyRealmCollection<Element>) -> Int { items.count }

/// The classes of an older and a newer version of an app.
private enum Before {
    final class StoryMember: Object {
        @Persisted var firstName = ""
        @Persisted var lastName = ""
        @Persisted var age: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

private enum After {
    final class StoryMember: Object {
        @Persisted(primaryKey: true) var id: String
        @Persisted var fullName = ""
        @Persisted var yearsSinceBirth: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

@Suite("What the documentation of Realm Swift shows")
struct RealmDocumentationTests {
    private func realm() throws -> Realm {
        try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
    }

    @Test
    func `Objects are created, read, updated and deleted`() throws {
        let realm = try realm()
        let dog = StoryDog()
        dog.name = "Rex"
        dog.age = 10
        let max = StoryDog(value: ["name": "Max", "age": 5] as [String: Any])
        let named = StoryDog(value: [ObjectId.generate(), "Bear", 3] as [Any])
        try! realm.write {
            realm.add(dog)
            realm.add([max, named])
        }
        let dogs = realm.objects(StoryDog.self)
        #expect(dogs.count == 3 && named.age == 3)
        let specificDog = realm.object(ofType: StoryDog.self, forPrimaryKey: dog._id)
        #expect(specificDog?.name == "Rex")

        let toUpdate = realm.objects(StoryDog.self).first!
        try! realm.write {
            toUpdate.name = "Wolfie"
            toUpdate.age += 1
        }
        #expect(dog.name == "Wolfie" && dog.age == 11)
        try realm.write {
            realm.create(
                StoryDog.self, value: ["_id": dog._id, "color": "brown"] as [String: Any],
                update: .modified)
            let copy = StoryDog()
            copy._id = max._id
            copy.name = "Maxine"
            realm.add(copy, update: .modified)
            dogs.setValue("Paris", forKey: "currentCity")
            dogs.first?.setValue("Rome", forKeyPath: "currentCity")
        }
        #expect(dog.age == 11 && dog.color == "brown" && max.name == "Maxine")
        #expect(dogs.filter("currentCity == 'Paris'").count == 2)
        let result = try realm.write { () -> String in
            realm.delete(named)
            return "deleted"
        }
        #expect(result == "deleted" && named.isInvalidated)
        try realm.write {
            let young = dogs.where { $0.age < 3 }
            realm.delete(young)
        }
        #expect(Array(dogs) == [dog])
        try realm.write { realm.deleteAll() }
        #expect(dogs.isEmpty && realm.isEmpty)
    }

    @Test
    func `Objects link to one another, and embedded ones live in their owner`() throws {
        let realm = try realm()
        let address = StoryAddress(value: ["city": "Cuneo", "street": "Via 1"])
        let ada = StoryPerson(
            value: [
                "id": 1, "name": "Ada", "address": address,
                "dogs": [["name": "Rex", "age": 2], ["name": "Fido", "age": 8]],
                "friends": [["id": 2, "name": "Ben"]],
                "clubs": [["name": "Agility"]],
            ] as [String: Any])
        try realm.write { realm.add(ada) }
        let rex = realm.objects(StoryDog.self).where { $0.name == "Rex" }.first!
        #expect(rex.owner.first == ada && rex.owner.first?.name == "Ada")
        #expect(ada.clubs[0].members.map(\.name) == ["Ada"])
        #expect(realm.objects(StoryPerson.self).where { $0.address.city == "Cuneo" }.count == 1)
        #expect(
            realm.objects(StoryPerson.self).filter("address.city == %@", "Cuneo").count == 1)
        #expect(realm.objects(StoryPerson.self).where { $0.dogs.name == "Rex" }.count == 1)
        #expect(realm.objects(StoryDog.self).where { $0.owner.name == "Ada" }.count == 2)
        #expect(realm.objects(StoryDog.self).filter("ANY owner.name == 'Ada'").count == 2)
        try realm.write {
            ada.address?.street = "Via 2"
            let club = ada.clubs[0]
            club.dogs["best"] = rex
            ada.dogs.remove(at: 0)
        }
        #expect(ada.clubs[0].dogs["best"]??.name == "Rex" && ada.dogs.count == 1)
        try realm.write {
            realm.delete(rex)
            ada.address = StoryAddress(value: ["city": "Turin"])
        }
        #expect(ada.clubs[0].dogs["best"] == .some(nil) && address.isInvalidated)
        try realm.write {
            ada.address = nil
            realm.delete(ada.dogs)
            realm.delete(ada)
        }
        #expect(realm.objects(StoryDog.self).isEmpty && realm.objects(StoryPerson.self).count == 1)
    }

    @Test
    func `Lists, sets and maps are changed and gone through`() throws {
        let realm = try realm()
        let (person, dog) = (StoryPerson(name: "Ada", age: 1), StoryDog())
        let (rex, fido) = (StoryDog(value: ["name": "Rex"]), StoryDog(value: ["name": "Fido"]))
        try realm.write {
            realm.add(person)
            realm.add(dog)
            person.dogs.append(rex)
            person.dogs.append(objectsIn: [fido, rex])
            person.dogs.move(from: 0, to: 1)
            dog.citiesVisited.insert(objectsIn: ["Paris", "Rome"])
            dog.citiesVisited.insert("Rome")
        }
        #expect(person.dogs.map(\.name) == ["Fido", "Rex", "Rex"])
        #expect(dog.citiesVisited.count == 2 && dog.citiesVisited.contains("Rome"))
        let journeys = StoryDog(value: ["citiesVisited": ["Rome", "Oslo"]])
        try realm.write {
            realm.add(journeys)
            #expect(dog.citiesVisited.intersects(journeys.citiesVisited))
            dog.citiesVisited.formUnion(journeys.citiesVisited)
            #expect(dog.citiesVisited.sorted().map { $0 } == ["Oslo", "Paris", "Rome"])
            dog.citiesVisited.subtract(journeys.citiesVisited)
            #expect(Array(dog.citiesVisited) == ["Paris"])
            dog.citiesVisited.remove("Paris")
        }
        try realm.write {
            person.favoriteParksByCity = ["New York": "Domino Park", "Chicago": "Wiggly Field"]
            person.favoriteParksByCity["Chicago"] = "Bark Park"
            person.favoriteParksByCity.setValue("Bush Park", forKey: "Ottawa")
        }
        for element in person.favoriteParksByCity {
            #expect(!element.key.isEmpty && !element.value.isEmpty)
        }
        #expect(person.favoriteParksByCity["Chicago"] == "Bark Park")
        #expect(person.favoriteParksByCity.keys.sorted() == ["Chicago", "New York", "Ottawa"])
        try realm.write {
            person.favoriteParksByCity.removeObject(for: "Ottawa")
            person.favoriteParksByCity["Chicago"] = nil
            person.dogs.removeAll()
        }
        #expect(person.favoriteParksByCity.count == 1 && rex.owner.isEmpty)
        let people = realm.objects(StoryPerson.self)
        #expect(people.where { $0.favoriteParksByCity["New York"] == "Domino Park" }.count == 1)
        #expect(people.where { $0.favoriteParksByCity.keys.starts(with: "New") }.count == 1)
        #expect(people.where { $0.favoriteParksByCity.values.contains("Park") }.count == 1)
        #expect(people.where { $0.favoriteParksByCity.contains("Domino Park") }.count == 1)
    }

    @Test
    func `A value of any type says which it has`() throws {
        let realm = try realm()
        let dogs = ["a", "b", "c", "d"].map { StoryDog(value: ["name": $0]) }
        try realm.write {
            realm.add(dogs)
            dogs[0].companion = .string("Fluffy the Cat")
            dogs[1].companion = .object(dogs[0])
            dogs[2].companion = .int(5)
            dogs[3].companion = AnyRealmValue.none
        }
        let told = realm.objects(StoryDog.self).map { dog -> String in
            switch dog.companion {
            case .string(let text): "string \(text)"
            case .object: "dog \(dog.companion.object(StoryDog.self)?.name ?? "")"
            case .int(let number): "int \(number)"
            case .none: "none"
            default: "other"
            }
        }
        #expect(Array(told) == ["string Fluffy the Cat", "dog a", "int 5", "none"])
        let all = realm.objects(StoryDog.self)
        #expect(all.where { $0.companion == .string("Fluffy the Cat") }.count == 1)
        #expect(all.where { $0.companion != .none }.count == 3)
        try realm.write {
            dogs[3].companion = AnyRealmValue.fromDictionary([
                "toys": .fromArray([.string("ball"), .int(3)]), "good": .bool(true),
            ])
        }
        #expect(dogs[3].companion.dictionaryValue?["toys"]?.listValue?[0].stringValue == "ball")
        #expect(all.where { $0.companion["good"] == .bool(true) }.count == 1)
        #expect(all.where { $0.companion["toys"][0] == .string("ball") }.count == 1)
    }

    private func filled(_ realm: Realm) throws {
        let tasks: [(String, String?, Int, Int, Bool)] = [
            ("Buy milk", "Ali", 5, 30, true), ("buy eggs", nil, 8, 0, false),
            ("Éclairs", "Jamie", 10, 120, false), ("Walk", "Ali", 1, 45, false),
        ]
        try realm.write {
            let project = realm.create(StoryProject.self, value: ["name": "New Project"])
            project.budget = "12.50"
            project.numbers["a"] = 3
            for (name, assignee, priority, minutes, isComplete) in tasks {
                let task = StoryTask()
                task.name = name
                task.assignee = assignee
                task.priority = priority
                task.progressMinutes = minutes
                task.isComplete = isComplete
                task.status = isComplete ? .complete : .inProgress
                task.labels.insert(name)
                task.ratings.append(objectsIn: [priority, minutes])
                task.lastEvent = StoryEvent(value: ["details": name])
                project.tasks.append(task)
            }
            realm.create(StoryProject.self, value: ["name": "Empty"])
        }
    }

    @Test
    func `Queries are written in Swift`() throws {
        let realm = try realm()
        try filled(realm)
        let tasks = realm.objects(StoryTask.self)
        func names(_ condition: (Query<StoryTask>) -> Query<Bool>) -> [String] {
            tasks.where(condition).map(\.name)
        }
        let (milk, eggs, cake, walk) = ("Buy milk", "buy eggs", "Éclairs", "Walk")
        #expect(names { $0.priority > 5 } == [eggs, cake])
        #expect(names { $0.progressMinutes > 30 && $0.assignee == "Ali" } == [walk])
        #expect(names { $0.assignee == nil } == [eggs])
        #expect(names { !$0.isComplete && $0.priority >= 8 } == [eggs, cake])
        #expect(names { $0.isComplete } == [milk])
        #expect(names { $0.priority.contains(5...8) } == [milk, eggs])
        #expect(names { $0.priority.contains(5..<8) } == [milk])
        #expect(names { $0.name.starts(with: "buy", options: .caseInsensitive) } == [milk, eggs])
        #expect(names { $0.name.ends(with: "s") } == [eggs, cake])
        #expect(names { $0.name.contains("al") } == [walk])
        #expect(
            names {
                $0.name.contains("e", options: [.caseInsensitive, .diacriticInsensitive])
            } == [eggs, cake])
        #expect(names { $0.name.like("?uy*") } == [milk, eggs])
        #expect(names { $0.name.equals("walk", options: .caseInsensitive) } == [walk])
        #expect(names { $0.assignee.in(["Ali", "Jamie"]) } == [milk, cake, walk])
        #expect(names { $0.status == .complete } == [milk])
        #expect(names { $0.status.in([.inProgress, .notStarted]) } == [eggs, cake, walk])
        #expect(names { $0.labels.contains("Walk") } == [walk])
        #expect(names { $0.labels.containsAny(in: [milk, walk]) } == [milk, walk])
        #expect(names { $0.ratings.contains(120) } == [cake])
        #expect(names { $0.ratings.max > 40 } == [cake, walk])
        #expect(names { $0.ratings.count == 2 }.count == 4)
        #expect(names { $0.lastEvent.details == "Walk" } == [walk])
        #expect(names { $0.projects.name == "New Project" }.count == 4)
        #expect(names { $0.projects.count == 0 }.isEmpty)
        #expect(names { $0.priority < $0.progressMinutes } == [milk, cake, walk])

        let projects = realm.objects(StoryProject.self)
        func projectNames(_ condition: (Query<StoryProject>) -> Query<Bool>) -> [String] {
            projects.where(condition).map(\.name)
        }
        #expect(projectNames { $0.tasks.priority.max > 5 } == ["New Project"])
        #expect(projectNames { $0.tasks.progressMinutes.sum > 100 } == ["New Project"])
        #expect(projectNames { $0.tasks.progressMinutes.avg == 48.75 } == ["New Project"])
        #expect(projectNames { $0.tasks.count == 0 } == ["Empty"])
        #expect(
            projectNames { ($0.tasks.isComplete == false && $0.tasks.assignee == "Ali").count == 1 }
                == ["New Project"])
        #expect(projectNames { ($0.tasks.priority > 5).count > 5 }.isEmpty)
        #expect(projectNames { $0.budget > 10 } == ["New Project"])
        #expect(projectNames { $0.numbers["a"] == 3 } == ["New Project"])
        #expect(projectNames { $0.tasks.contains(tasks[0]) } == ["New Project"])
    }

    @Test
    func `Queries are written as text, sorted, told apart and summed up`() throws {
        let realm = try realm()
        try filled(realm)
        let tasks = realm.objects(StoryTask.self)
        #expect(tasks.filter("priority > 5 AND isComplete == false").count == 2)
        #expect(tasks.filter("assignee IN %@", ["Ali", "Jamie"]).count == 3)
        #expect(tasks.filter("name BEGINSWITH[c] 'buy'").count == 2)
        #expect(tasks.filter("%K == %@", "assignee", "Ali").count == 2)
        #expect(tasks.filter("priority BETWEEN {5, 8}").count == 2)
        #expect(tasks.filter("status == %@", StoryStatus.complete).count == 1)
        let projects = realm.objects(StoryProject.self)
        #expect(projects.filter("tasks.@count == 0").count == 1)
        #expect(projects.filter("tasks.@avg.progressMinutes > 40").count == 1)
        #expect(projects.filter("ANY tasks.priority > 9").count == 1)
        #expect(
            projects.filter(
                "SUBQUERY(tasks, $task, $task.isComplete == NO AND $task.assignee == 'Ali')"
                    + ".@count == 1"
            ).count == 1)
        let sorted = tasks.sorted(byKeyPath: "priority", ascending: false)
        #expect(sorted.first?.priority == 10 && sorted.last?.priority == 1)
        #expect(tasks.sorted(by: \.name, ascending: true).map(\.priority)[1] == 1)
        let several = tasks.sorted(by: [
            SortDescriptor(keyPath: "assignee"),
            SortDescriptor(keyPath: "priority", ascending: false),
        ])
        #expect(several.map(\.priority) == [8, 5, 1, 10])
        #expect(tasks.sorted(by: ["isComplete", "priority"]).last?.isComplete == true)
        #expect(tasks.distinct(by: ["assignee"]).count == 3)
        #expect(tasks.distinct(by: [\.assignee]).count == 3)
        let sum: Int = tasks.sum(ofProperty: "progressMinutes")
        #expect(sum == 195 && tasks.sum(of: \.progressMinutes) == 195)
        #expect(tasks.average(ofProperty: "priority") == 6.0)
        #expect((tasks.max(ofProperty: "priority") as Int?) == 10)
        #expect(tasks.min(of: \.priority) == 1)
        #expect(tasks.index(matching: "priority == 8") == 1)
        #expect(tasks.index(matching: { $0.priority == 10 }) == 2)
        #expect(tasks.value(forKey: "priority") as? [Int] == [5, 8, 10, 1])
    }

    @Test
    func `Results come in sections`() throws {
        let realm = try realm()
        try realm.write {
            for name in ["Bob", "Ada", "Ben", "Ann"] {
                realm.create(StoryDog.self, value: ["name": name])
            }
        }
        let dogs = realm.objects(StoryDog.self)
        let byLetter = dogs.sectioned(by: \.firstLetter, ascending: true)
        #expect(byLetter.allKeys == ["A", "B"] && byLetter[0].map(\.name) == ["Ada", "Ann"])
        let sorted = dogs.sectioned(
            by: { String($0.name.prefix(1)) },
            sortDescriptors: [
                SortDescriptor(keyPath: "name", ascending: false)
            ])
        #expect(
            sorted.map(\.key) == ["B", "A"] && sorted[IndexPath(item: 1, section: 0)].name == "Ben")
        for section in sorted {
            for dog in section { #expect(dog.firstLetter == section.key) }
        }
    }

    @Test
    func `Observers hear of objects, collections, maps and sections`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(
                configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
            let dog = StoryDog(value: ["name": "Spot"])
            let person = StoryPerson(name: "Ada", age: 1)
            try realm.write {
                realm.add(dog); realm.add(person)
            }
            let told = Box<[String]>([])
            let tokens = try loop.inside { () -> [NotificationToken] in
                let object = dog.observe { change in
                    switch change {
                    case .change(_, let properties):
                        for property in properties {
                            told.value.append("\(property.name) is \(property.newValue!)")
                        }
                    case .error(let error): told.value.append("\(error)")
                    case .deleted: told.value.append("deleted")
                    }
                }
                let typed = dog.observe(keyPaths: [\StoryDog.age]) {
                    (change: ObjectChange<StoryDog>) in
                    if case .change(let dog, _) = change { told.value.append("age \(dog.age)") }
                }
                let results = realm.objects(StoryDog.self).observe {
                    (changes: RealmCollectionChange) in
                    switch changes {
                    case .initial(let dogs): told.value.append("initial \(dogs.count)")
                    case .update(_, let deletions, let insertions, let modifications):
                        told.value.append("-\(deletions) +\(insertions) *\(modifications)")
                    case .error(let error): fatalError("\(error)")
                    }
                }
                let map = person.favoriteParksByCity.observe { changes in
                    switch changes {
                    case .initial: told.value.append("map")
                    case .update(let map, let deletions, let insertions, let modifications):
                        told.value.append(
                            "map \(map.count) \(deletions) \(insertions) \(modifications)")
                    case .error: told.value.append("error")
                    }
                }
                let list = person.dogs.observe(keyPaths: ["name"], on: nil) { changes in
                    if case .update(let dogs, _, _, _) = changes {
                        told.value.append("list \(dogs.count)")
                    }
                }
                let sections = realm.objects(StoryDog.self).sectioned(by: \.firstLetter).observe {
                    changes in
                    switch changes {
                    case .initial(let sections): told.value.append("sections \(sections.count)")
                    case .update(
                        _, _, let insertions, _, let sectionsToInsert, _):
                        told.value.append("sections \(insertions) \(sectionsToInsert.count)")
                    }
                }
                return [object, typed, results, map, list, sections]
            }
            loop.wait { told.value.count == 3 }
            #expect(told.value.sorted() == ["initial 1", "map", "sections 1"])
            told.value = []
            try realm.write {
                dog.age = 4
                person.favoriteParksByCity["Oslo"] = "Frogner"
                person.dogs.append(dog)
            }
            loop.wait { told.value.count == 6 }
            #expect(
                told.value.sorted() == [
                    "-[] +[] *[0]", "age 4", "age is 4", "list 1", "map 1 [] [\"Oslo\"] []",
                    "sections [] 0",
                ])
            told.value = []
            try realm.write(withoutNotifying: tokens) { dog.age = 5 }
            loop.rest()
            #expect(told.value.isEmpty)
            try realm.write { realm.delete(dog) }
            loop.wait { told.value.contains("deleted") }
            tokens.forEach { $0.invalidate() }
        }
    }

    @Test
    func `What is frozen, referenced or wrapped goes to other threads`() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
        let realm = try Realm(configuration: configuration)
        let dog = StoryDog(value: ["name": "Rex", "age": 1])
        try realm.write { realm.add(dog) }
        let frozen = Box((dog.freeze(), realm.objects(StoryDog.self).freeze(), realm.freeze()))
        @ThreadSafe var safe = dog
        let reference = ThreadSafeReference(to: dog)
        let wrapper = _safe
        try elsewhere {
            #expect(frozen.value.0.name == "Rex" && frozen.value.1[0].age == 1)
            #expect(frozen.value.2.objects(StoryDog.self).isFrozen)
            let realm = try Realm(configuration: configuration)
            guard let dog = realm.resolve(reference) else { return }
            try realm.write { dog.age += 1 }
            let thawed = frozen.value.0.thaw()
            try thawed?.realm?.write { thawed?.age += 1 }
            try realm.write { wrapper.wrappedValue?.age += 1 }
        }
        realm.refresh()
        #expect(dog.age == 4 && safe?.age == 4 && frozen.value.0.age == 1)
        #expect(frozen.value.1.thaw()?.first?.age == 4)
    }

    @Test
    func `An actor has its realm, and writes with await`() async throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
        let actor = try await StoryActor(configuration)
        let id = try await actor.create(name: "Keep it safe", priority: 3)
        try await actor.update(id, name: "Keep it secret")
        let name = await actor.name(of: id)
        #expect(name == "Keep it secret")
        let count = try await addInBackground(configuration)
        #expect(count == 1)
        try await actor.delete(id)
        let left = await actor.count
        #expect(left == 0)
        await actor.close()
    }

    @Test
    func `A projection shows some of an object`() throws {
        let realm = try realm()
        try realm.write {
            realm.create(
                StoryPerson.self,
                value: [
                    "id": 1, "name": "Jason", "lastName": "Bourne",
                    "address": ["city": "Zurich"], "friends": [["id": 2, "name": "Marie"]],
                ] as [String: Any])
        }
        let people = realm.objects(StoryPersonProjection.self)
        let jason = people.where { $0.name == "Jason" }.first!
        #expect(jason.lastNameCaps == "BOURNE" && jason.homeCity == "Zurich")
        #expect(Array(jason.friendsFirstName) == ["Marie"])
        try realm.write { jason.firstName = "David" }
        #expect(realm.object(ofType: StoryPerson.self, forPrimaryKey: 1)?.name == "David")
        let sorted = people.sorted(by: [SortDescriptor(keyPath: "name")])
        #expect(sorted.map(\.firstName) == ["David", "Marie"])
        let person = realm.object(ofType: StoryPerson.self, forPrimaryKey: 1)!
        #expect(StoryPersonProjection(projecting: person) == jason)
    }

    @Test
    func `Types of an app's own are kept, asked for and read`() throws {
        let realm = try realm()
        let (here, there) = (
            StoryCoordinate(latitude: 1, longitude: 2), StoryCoordinate(latitude: 3, longitude: 4)
        )
        let stop = StoryStop()
        stop.place = here
        stop.route.append(objectsIn: [here, there])
        stop.color = StoryColor(persistedValue: "red")
        try realm.write { realm.add(stop) }
        #expect(
            stop.place == here && Array(stop.route) == [here, there] && stop.color?.name == "red")
        let stops = realm.objects(StoryStop.self)
        #expect(stops.where { $0.place == here }.count == 1)
        #expect(stops.where { $0.place.persistableValue.latitude > 2 }.isEmpty)
        try realm.write {
            stop.place = there
            stop.color = nil
        }
        #expect(stops.where { $0.place == there && $0.color == nil }.count == 1)
    }

    @Test
    func `Objects are coded`() throws {
        let json = """
            {"_id": "a", "count": 2, "tags": ["x"], "notes": {"k": "v"}, "parent": {"weight": 1.5}}
            """
        let record = try JSONDecoder().decode(StoryRecord.self, from: Data(json.utf8))
        #expect(record.tags[0] == "x" && record.notes["k"] == "v" && record.parent?.weight == 1.5)
        let realm = try realm()
        let text = try JSONEncoder().encode(record)
        #expect(try JSONDecoder().decode(StoryRecord.self, from: text).count == 2)
        try realm.write { realm.add(record) }
        #expect(realm.object(ofType: StoryRecord.self, forPrimaryKey: "a")?.count == 2)
    }

    @Test
    func `What apps build around their classes goes on working`() throws {
        let repository = ItemRepository(realm: try realm())
        let realm = repository.realm
        let part = StoryItem(title: "wheel", price: 10)
        let item = StoryItem(title: "car", price: 100)
        item.parts.append(part)
        item.tags.insert("new")
        item.counts["wheels"] = 4
        #expect(item.id != part.id && part.id == part.id)
        try repository.save(item)
        try item.stored()
        #expect(repository.find(item._id)?.id == item.id && item.wholes.isEmpty)
        #expect(realm.objects(StoryItemProjection.self).first?.id != nil)
        let items = repository.all()
        #expect(
            items.toArray().count == 2 && titles(items.sorted(by: \.title)) == ["car", "wheel"])
        #expect(titles(item.parts) == ["wheel"] && titles(part.wholes) == ["car"])
        #expect(count(AnyRealmCollection(item.parts)) == 1)
        #expect(realm.everything(StoryItem.self).count == 2)
        #expect(realm.everything(StoryItemProjection.self).map(\.title).contains("car"))
        #expect(item.upper == "CAR" && item.label == "car 100.0")
        #expect(part.isSameObject(as: item.parts[0]) && item.parts.first == part)

        // The standard library's operations on any collection.
        #expect(items.first(where: { $0.price == 10 })?.title == "wheel")
        #expect(items.contains { $0.title == "car" } && !items.contains { $0.isFavorite })
        #expect(items.sorted { $0.title > $1.title }.map(\.title) == ["wheel", "car"])
        #expect(items.filter { $0.price ?? 0 > 50 }.map(\.title) == ["car"])
        #expect(items.compactMap(\.price).reduce(0, +) == 110)
        #expect(Array(items.prefix(1)).count == 1 && items[0..<1].count == 1)
        #expect(Array(items.reversed()).count == 2 && items.enumerated().map(\.offset) == [0, 1])
        #expect(Dictionary(grouping: items, by: \.title).count == 2)
        #expect(Set(items.map(\.title)) == ["car", "wheel"])
        #expect(items.max { ($0.price ?? 0) < ($1.price ?? 0) }?.title == "car")
        #expect(items.isEmpty == false && items.last != nil && items.indices.count == 2)
        var seen: [String] = []
        items.forEach { seen.append($0.title) }
        for (index, item) in items.enumerated() { #expect(seen[index] == item.title) }
        let optional: Results<StoryItem>? = items
        #expect(optional?.count == 2 && (optional?.realm?.isEmpty == false))
        try realm.write {
            for item in items { item.isFavorite.toggle() }
            item.price? += 1
            item.price! -= 2
            item.parts.first?.title += "s"
            item.parts[0].price = nil
        }
        #expect(items.where { $0.isFavorite }.count == 2 && item.price == 99)
        #expect(part.title == "wheels" && part.price == nil)
        #expect(
            items.where { $0.price == nil }.count == 1 && items.where { $0.price > 5 }.count == 1)
    }

    @Test
    func `What JSON holds becomes objects`() throws {
        let realm = try realm()
        let json = """
            [{"title": "car", "isFavorite": true, "price": 3, "tags": ["a", "b"],
              "counts": {"wheels": 4}, "parts": [{"title": "wheel", "price": null}]},
             {"title": "bike", "price": 1.5, "parts": [], "counts": {}}]
            """
        let values = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let items = try #require(values as? [[String: Any]])
        try realm.write {
            for item in items { realm.create(StoryItem.self, value: item) }
            let project = #"{"name": "P", "budget": 12.5, "numbers": {"a": 1}, "tasks": []}"#
            realm.create(
                StoryProject.self,
                value: try JSONSerialization.jsonObject(with: Data(project.utf8)))
        }
        let car = try #require(realm.objects(StoryItem.self).where { $0.title == "car" }.first)
        #expect(car.isFavorite && car.price == 3 && car.tags.contains("b"))
        #expect(car.counts["wheels"] == 4 && car.parts[0].title == "wheel")
        #expect(car.parts[0].price == nil && realm.objects(StoryItem.self).count == 3)
        #expect(realm.objects(StoryProject.self).first?.budget == 12.5)
    }

    @Test
    func `A migration makes one property of two and renames another`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("default.realm")
        do {
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, schemaVersion: 1, objectTypes: [Before.StoryMember.self]))
            try realm.write {
                realm.create(
                    Before.StoryMember.self,
                    value: ["firstName": "Ada", "lastName": "L.", "age": 36] as [String: Any])
            }
        }
        let configuration = Realm.Configuration(
            fileURL: url, schemaVersion: 2,
            migrationBlock: { migration, oldSchemaVersion in
                if oldSchemaVersion < 2 {
                    migration.renameProperty(
                        onType: After.StoryMember.className(), from: "age", to: "yearsSinceBirth")
                    migration.enumerateObjects(ofType: After.StoryMember.className()) {
                        oldObject, newObject in
                        let firstName = oldObject!["firstName"] as? String
                        let lastName = oldObject!["lastName"] as? String
                        newObject!["fullName"] = "\(firstName!) \(lastName!)"
                        newObject!["id"] = UUID().uuidString
                    }
                }
            }, objectTypes: [After.StoryMember.self])
        let realm = try Realm(configuration: configuration)
        let member = realm.objects(After.StoryMember.self).first
        #expect(member?.fullName == "Ada L." && member?.yearsSinceBirth == 36)
        #expect(try schemaVersionAtURL(url) == 2 && realm.configuration.fileURL == url)
        let copy = folder.appendingPathComponent("copy.realm")
        try realm.writeCopy(toFile: copy)
        let bundled = Realm.Configuration(
            fileURL: copy, readOnly: true, schemaVersion: 2, objectTypes: [After.StoryMember.self])
        #expect(try Realm(configuration: bundled).objects(After.StoryMember.self).count == 1)
    }

    @Test
    func `Errors are caught as any others`() {
        let nowhere = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/nowhere/default.realm"), readOnly: true)
        do {
            _ = try Realm(configuration: nowhere)
            Issue.record("it was opened")
        } catch let error as Realm.Error where error.code == .fileNotFound {
            #expect(!error.localizedDescription.isEmpty)
        } catch {
            Issue.record(error)
        }
        let result = Result { try Realm(configuration: nowhere) }
        #expect(throws: Realm.Error.self) { try result.get() }
        #expect((try? Realm(configuration: nowhere)) == nil)
    }

    @Test
    func `Writes happen soon, and a background queue has its realm`() throws {
        try LoopThread.run { loop in
            let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
            let realm = try Realm(configuration: configuration)
            let done = Box<[String]>([])
            _ = try loop.inside {
                realm.writeAsync {
                    realm.add(StoryItem(title: "later"))
                } onComplete: { error in
                    done.value.append(error == nil ? "written" : "failed")
                }
            }
            loop.wait { !done.value.isEmpty }
            #expect(done.value == ["written"] && realm.objects(StoryItem.self).count == 1)
            let queue = DispatchQueue(label: "background")
            try queue.sync {
                let realm = try Realm(configuration: configuration, queue: queue)
                try realm.write { realm.objects(StoryItem.self).first?.title = "changed" }
            }
            realm.refresh()
            #expect(realm.objects(StoryItem.self).first?.title == "changed")
        }
    }
}
