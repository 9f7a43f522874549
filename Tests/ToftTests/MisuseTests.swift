// Tests: Misuse.swift, OpenWrites.swift, RealmError+Code.swift, RealmError.swift,
// StandardOutput.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Misuse prints what is wrong and stops the process")
struct MisuseTests {
    /// Expects a process to have ended by the default handler, with a code on its standard error.
    private func expectStop(
        _ result: ExitTest.Result?, _ code: Realm.Error.Code,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            text.contains("Toft was misused. \(code): "), "\(text)", sourceLocation: sourceLocation)
    }

    @Test
    func `Setting a property outside a write transaction`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            let person = Person(1, "Ada")
            try realm.write { realm.add(person) }
            person.age = 5
        }
        expectStop(result, .notInTransaction)
    }

    @Test
    func `Changing a list outside a write transaction`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            let person = Person(1, "Ada")
            try realm.write { realm.add(person) }
            person.dogs.append(Dog("Rex"))
        }
        expectStop(result, .notInTransaction)
    }

    @Test
    func `Adding outside a write transaction`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            realm.add(Dog("Rex"))
        }
        expectStop(result, .notInTransaction)
    }

    @Test
    func `A second object with the same primary key`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            try realm.write {
                realm.add(Person(1, "Ada"))
                realm.add(Person(1, "Ben"))
            }
        }
        expectStop(result, .duplicatePrimaryKey)
    }

    @Test
    func `Reading a property of a deleted object`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            let dog = Dog("Rex")
            try realm.write { realm.add(dog) }
            try realm.write { realm.delete(dog) }
            print(dog.name)
        }
        expectStop(result, .objectDeleted)
    }

    @Test
    func `Reading a raw value that no case of the property's enum has`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let name = "misuse"
            let raw = try Realm(
                configuration: Realm.Configuration(
                    inMemoryIdentifier: name, objectTypes: [RawCat.self]))
            try raw.write { raw.add(RawCat(value: ["name": "Tom", "mood": "furious"])) }
            let realm = try Realm(
                configuration: Realm.Configuration(
                    inMemoryIdentifier: name, objectTypes: [Cat.self]))
            print(realm.objects(Cat.self)[0].mood)
        }
        expectStop(result, .typeMismatch)
    }

    @Test
    func `Observing a key path that names nothing`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            _ = realm.objects(Dog.self).observe(
                keyPaths: ["nam"], on: DispatchQueue(label: "observer")
            ) { _ in }
        }
        expectStop(result, .noSuchProperty)
    }

    @Test
    func `Changing what is frozen`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            let dog = Dog("Rex")
            try realm.write { realm.add(dog) }
            dog.freeze().age = 5
        }
        expectStop(result, .readOnly)
    }

    @Test
    func `Observing what is frozen`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            let dog = Dog("Rex")
            try realm.write { realm.add(dog) }
            _ = dog.freeze().observe(on: DispatchQueue(label: "observer")) {
                (_: ObjectChange<Dog>) in
            }
        }
        expectStop(result, .observationUnavailable)
    }

    @Test
    func `Freezing what was made in this transaction`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            let dog = Dog("Rex")
            try realm.write { realm.add(dog) }
            try realm.write {
                let new = Dog("Fido")
                realm.add(new)
                _ = new.freeze()
            }
        }
        expectStop(result, .noSuchObject)
    }

    @Test
    func `Asking a frozen realm for a later write`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            realm.freeze().writeAsync {}
        }
        expectStop(result, .readOnly)
    }

    @Test
    func `A query that is none`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            print(realm.objects(Dog.self).filter("name ==").count)
        }
        expectStop(result, .querySyntax)
    }

    @Test
    func `An index out of range`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            print(realm.objects(Dog.self)[0].name)
        }
        expectStop(result, .indexOutOfRange)
    }

    @Test
    func `A wrong thread`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = Box(
                try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse")))
            try elsewhere { print(realm.value.objects(Dog.self).count) }
        }
        expectStop(result, .wrongThread)
    }

    @Test
    func `A transaction inside a transaction`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            realm.beginWrite()
            realm.beginWrite()
        }
        expectStop(result, .alreadyInTransaction)
    }

    @Test
    func `The end of a transaction that did not begin`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            // A commit throws; a call that can't throw stops the process.
            do { try realm.commitWrite() } catch let error as Realm.Error
                where error.code == .notInTransaction
            { realm.cancelWrite() }
        }
        expectStop(result, .notInTransaction)
    }

    @Test
    func `Observing where no run loop is running`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
                _ = realm.objects(Dog.self).observe { _ in }
            }
        }
        expectStop(result, .observationUnavailable)
    }

    @Test
    func `A handler of the app's own hears it, and the program goes on when it returns`() async {
        await #expect(processExitsWith: .success) {
            let errors = Shared<[Realm.Error]>([])
            Realm.misuseHandler = { error in errors.change { $0.append(error) } }
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "misuse"))
            let dog = Dog("Rex", age: 4)
            try realm.write { realm.add(dog) }
            dog.age = 5
            let missing = realm.objects(Dog.self)[7]
            let codes = errors.current.map(\.code)
            guard codes == [.notInTransaction, .indexOutOfRange], dog.age == 4, missing.realm == nil
            else { exit(1) }
            guard errors.current[1].number == 7, errors.current[1].message.contains("7") else {
                exit(2)
            }
        }
    }

    @Test
    func `attempt throws the first misuse of its block, and gives back what it returns`() throws {
        try TestRealm.with { realm in
            let dog = Dog("Rex", age: 4)
            try realm.write { realm.add(dog) }
            let age = try Realm.attempt { dog.age }
            #expect(age == 4)
            do {
                try Realm.attempt {
                    dog.age = 5
                    dog.name = ""
                    _ = realm.objects(Dog.self)[9]
                }
                Issue.record("no error")
            } catch let error as Realm.Error {
                #expect(error.code == .notInTransaction)
                #expect(error.description.hasPrefix("notInTransaction: "))
            }
            #expect(dog.age == 4 && dog.name == "Rex")
        }
    }

    @Test
    func `attempt throws the misuse also where its block throws afterwards`() throws {
        try TestRealm.with { realm in
            expectError(.invalidQuery) {
                try Realm.attempt {
                    guard realm.objects(Dog.self).filter("color == 1").count > 0 else {
                        throw CancellationError()
                    }
                }
            }
            #expect(throws: CancellationError.self) {
                try Realm.attempt { throw CancellationError() }
            }
        }
    }

    @Test
    func `A task that attempt's block began tells the handler of misuse after it`() async {
        await #expect(processExitsWith: .success) {
            let errors = Shared<[Realm.Error]>([])
            Realm.misuseHandler = { error in errors.change { $0.append(error) } }
            let (ended, end) = AsyncStream.makeStream(of: Void.self)
            let task = try Realm.attempt {
                Task {
                    for await _ in ended { break }
                    _ = Dog("Rex").freeze()
                }
            }
            end.yield()
            await task.value
            guard errors.current.count == 1 else { exit(1) }
        }
    }

    @Test
    func `attempt inside a write cancels it by throwing`() throws {
        try TestRealm.with { realm in
            expectError(.duplicatePrimaryKey) {
                try realm.write {
                    try Realm.attempt {
                        realm.add(Person(1, "Ada"))
                        realm.add(Person(1, "Ben"))
                    }
                }
            }
            #expect(realm.objects(Person.self).isEmpty)
        }
    }

    @Test
    func `Linking objects can't be set`() throws {
        try TestRealm.with { realm in
            let dog = Dog("Rex")
            try realm.write { realm.add(dog) }
            expectError(.readOnlyProperty) { try realm.write { dog.owners = dog.owners } }
        }
    }

    @Test
    func `An object of another realm can't be linked`() throws {
        try TestRealm.with { realm in
            try TestRealm.with { other in
                let (ada, ben) = (Person(1, "Ada"), Person(2, "Ben"))
                try realm.write { realm.add(ada) }
                try other.write { other.add(ben) }
                expectError(.wrongRealm) { try realm.write { ada.boss = ben } }
                expectError(.wrongRealm) { try realm.write { realm.delete(ben) } }
                expectError(.invalidArgument) { try realm.write { realm.delete(Dog("Unmanaged")) } }
            }
        }
    }

    @Test
    func `Values that are too long are refused`() throws {
        try TestRealm.with { realm in
            let dog = Dog("Rex")
            try realm.write { realm.add(dog) }
            expectError(.valueTooLong) {
                try realm.write { dog.name = String(repeating: "x", count: 16 << 20) }
            }
            #expect(dog.name == "Rex")
        }
    }

    /// They named something else than the mistake.
    @Test
    func `A mistake's message says what it is and what to do`() throws {
        func message(_ block: () throws -> Void) -> String {
            do {
                try Realm.attempt(block)
                return ""
            } catch {
                return (error as? Realm.Error)?.message ?? ""
            }
        }
        try TestRealm.with { realm in
            #expect(
                message { _ = realm.object(ofType: Dog.self, forPrimaryKey: 1) }
                    == "'Dog' has no primary key, so no object of it can be found by one.")
            #expect(
                message { _ = realm.objects(Object.self) }
                    == "'Object' is what all classes derive from, and has no objects itself: name "
                    + "one of the realm's classes.")
            for quoted in ["name == “Rex”", "name == ‘Rex’", "name == “Rex and Tom”"] {
                let text = message { _ = realm.objects(Dog.self).filter(quoted).count }
                #expect(text.contains("straight quotes, ' or \", not in curly ones"), "\(text)")
            }
            // Within quotes they are text.
            let texts = "name == '“Rex”' OR name == \"‘\""
            #expect(realm.objects(Dog.self).filter(texts).isEmpty)
            try realm.write {
                realm.add(Person(1, "Ada"))
                for given in [["a": 1], "Rex"] as [Any] {
                    let text = message { _ = Person(value: ["dogs": given]) }
                    #expect(
                        text.hasPrefix("'Person.dogs' is a list and takes an array, not"),
                        "\(text)")
                }
                let again = message { realm.add(Person(1, "Bob")) }
                #expect(
                    again.hasSuffix("Change that object, or add this one with update: .modified."))
            }
        }
    }
}
