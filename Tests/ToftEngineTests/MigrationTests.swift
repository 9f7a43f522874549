// Tests: ToftEngine/Migration.swift, EngineError.swift, ObjectHandle.swift,
// SchemaMigration.swift, StoredSchema+Retired.swift
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// A program that went through six versions, and its one migration.
private enum History {
    /// 1: ages are texts. 2: they are numbers. 3: the name is called fullName, and indexed. 4:
    /// people have a number. 5: a note is required. 6: dogs are hounds, and notes are removed.
    static func schema(_ version: Int) -> Schema {
        var person: [PropertySchema] = []
        if version >= 4 { person.append(PropertySchema("id", .int, isPrimaryKey: true)) }
        person.append(PropertySchema("age", version == 1 ? .string : .int))
        person.append(
            version < 3
                ? PropertySchema("name", .string)
                : PropertySchema("fullName", .string, isIndexed: true))
        if version < 6 {
            person.append(PropertySchema("note", .string, isOptional: version < 5))
        }
        let dog = version < 6 ? "Dog" : "Hound"
        person.append(.linkingObjects("dogs", from: dog, "owner"))
        return Schema([
            ClassSchema("Person", person),
            ClassSchema(dog, [PropertySchema("name", .string), .link("owner", to: "Person")]),
        ])
    }

    @Sendable static func migrate(_ migration: Migration) throws(EngineError) {
        let (old, new) = (migration.oldVersion, migration.newVersion)
        if old < 6, new >= 6 { try migration.renameClass("Dog", to: "Hound") }
        if old < 3, new >= 3 { try migration.renameProperty("Person", "name", to: "fullName") }
        var next: Int64 = 100
        try migration.enumerate("Person") { before, after throws(EngineError) in
            guard let before, let after else { return }
            if old < 2 {
                guard case .string(let age) = try before.named("age") else { return }
                try after.set("age", .int(Int64(age) ?? -1))
            }
            if old < 4, new >= 4 {
                try after.set("id", .int(next))
                next += 1
            }
            if old < 5, new == 5 {
                let note = try before.named("note")
                try after.set("note", note == .null ? .string("none") : note)
            }
        }
    }

    static func open(
        _ file: String, _ version: Int, _ handler: Migration.Handler? = migrate
    ) throws(EngineError) -> Session {
        var configuration = Configuration(
            location: .file(path: file), schema: schema(version),
            schemaVersion: UInt64(version))
        configuration.migration = handler
        return try Session.open(configuration)
    }

    /// Ada (36, with a note, the owner of Rex) and Bob ("seven", which is not a number).
    static func fill(_ file: String) throws(EngineError) {
        let session = try open(file, 1)
        try session.beginWrite()
        let ada = try session.make(
            "Person", ["name": .string("Ada"), "age": .string("36"), "note": .string("first")])
        try session.make("Person", ["name": .string("Bob"), "age": .string("seven")])
        try session.make("Dog", ["name": .string("Rex"), "owner": .link(ada.ref)])
        try session.commit()
        try session.close()
    }

    /// All that a session sees, a line for each object.
    static func dump(_ session: Session) throws(EngineError) -> [String] {
        var lines: [String] = []
        for owner in session.schema.visibleClasses.sorted(by: { $0.name < $1.name }) {
            let results = try session.results(of: owner.id)
            for index in 0..<(try results.count) {
                let object = try results.object(at: index)
                var line = owner.name
                for property in owner.visibleProperties.sorted(by: { $0.name < $1.name })
                where property.isStored && property.collection == .none {
                    line += " \(property.name)=\(text(try object.value(property.id)))"
                }
                lines.append(line)
            }
        }
        return lines
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .string(let text): "'\(text)'"
        case .int(let number): "\(number)"
        case .link(let ref): "#\(ref.key)"
        default: "\(value)"
        }
    }

    static let expected: [Int: [String]] = [
        1: [
            "Dog name='Rex' owner=#0", "Person age='36' name='Ada' note='first'",
            "Person age='seven' name='Bob' note=null",
        ],
        2: [
            "Dog name='Rex' owner=#0", "Person age=36 name='Ada' note='first'",
            "Person age=-1 name='Bob' note=null",
        ],
        3: [
            "Dog name='Rex' owner=#0", "Person age=36 fullName='Ada' note='first'",
            "Person age=-1 fullName='Bob' note=null",
        ],
        4: [
            "Dog name='Rex' owner=#0", "Person age=36 fullName='Ada' id=100 note='first'",
            "Person age=-1 fullName='Bob' id=101 note=null",
        ],
        5: [
            "Dog name='Rex' owner=#0", "Person age=36 fullName='Ada' id=100 note='first'",
            "Person age=-1 fullName='Bob' id=101 note='none'",
        ],
        6: [
            "Hound name='Rex' owner=#0", "Person age=36 fullName='Ada' id=100",
            "Person age=-1 fullName='Bob' id=101",
        ],
    ]
}

extension Session {
    fileprivate func idOf(_ name: String, in className: String) throws(EngineError) -> PropertyID {
        let owner = try classHandle(named: className)
        return try model { () throws(ModelError) in try owner.property(named: name).id }
    }

    @discardableResult
    func make(_ className: String, _ values: [String: Value] = [:]) throws(EngineError)
        -> ObjectHandle
    {
        var given: [(property: PropertyID, value: Value)] = []
        for (name, value) in values { given.append((try idOf(name, in: className), value)) }
        return try create(try classHandle(named: className).id, given)
    }

    fileprivate func expectSound() throws(EngineError) {
        #expect(try checkEverything().problems == [])
    }
}

extension ObjectHandle {
    fileprivate func named(_ name: String) throws(EngineError) -> Value {
        try value(try session.idOf(name, in: owner.name))
    }

    fileprivate func set(_ name: String, _ value: Value) throws(EngineError) {
        try set(try session.idOf(name, in: owner.name), value)
    }
}

/// The error of a closure, with its message.
func failure(_ body: () throws(EngineError) -> Void) -> (ErrorCode, String)? {
    do throws(EngineError) {
        try body()
        return nil
    } catch {
        let detail = error.detail.isEmpty ? "" : " " + error.detail
        return (error.code, error.message + detail)
    }
}

@Suite struct MigrationTests {
    @Test func `A file goes through every version of a program one after the other`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            for version in 1...6 {
                let session = try History.open(file.path, version)
                #expect(try History.dump(session) == History.expected[version])
                #expect(try session.schemaVersion == UInt64(version))
                try session.expectSound()
                try session.close()
            }
        }
    }

    @Test(arguments: 2...6)
    func `A file of the first version goes to a later one at once`(_ version: Int) throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let session = try History.open(file.path, version)
            #expect(try History.dump(session) == History.expected[version])
            try session.expectSound()
            if version >= 4 {
                let person = try session.classHandle(named: "Person").id
                #expect(try session.find(Value.int(101), in: person)?.ref.key == 1)
                try session.beginWrite()
                #expect(
                    code { () throws(EngineError) in
                        try session.make("Person", ["id": .int(100)])
                    } == .duplicatePrimaryKey)
                try session.make("Person", ["id": .int(102)])
                try session.commit()
                try session.expectSound()
            }
            try session.close()
        }
    }

    @Test func `The handler is called for older files only, not for new ones`() throws {
        try withTemporaryDatabase { file in
            let refuse: Migration.Handler = { _ throws(EngineError) in
                throw EngineError(.invalidArgument, "called")
            }
            try History.open(file.path, 1, refuse).close()
            try History.open(file.path, 1, refuse).close()
            #expect(
                failure { () throws(EngineError) in _ = try History.open(file.path, 2, refuse) }?.1
                    == "called")
            #expect(
                code { () throws(EngineError) in _ = try History.open(file.path, 0) }
                    == .schemaVersionTooLow)
            try History.open(file.path, 1, refuse).close()
        }
    }

    @Test func `What the handler throws leaves the file as it was`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let before = try History.open(file.path, 1)
            let version = try before.version
            for version in 2...6 {
                let thrown = failure { () throws(EngineError) in
                    _ = try History.open(file.path, version) { migration throws(EngineError) in
                        try History.migrate(migration)
                        let new = try migration.new()
                        try new.make("Person", ["age": .int(1)])
                        throw EngineError(.invalidArgument, "enough")
                    }
                }
                #expect(thrown?.1 == "enough")
            }
            #expect(try !before.refresh())
            #expect(try before.version == version)
            #expect(try History.dump(before) == History.expected[1])
            try before.expectSound()
        }
    }

    @Test(
        arguments: [Configuration.Confinement.thread, .caller],
        [Configuration.Confinement.thread, .caller])
    func `What would wait for the migration on its thread is an error at once`(
        _ confinement: Configuration.Confinement, _ other: Configuration.Confinement
    ) throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            var configuration = Configuration(
                location: .file(path: file.path), schema: History.schema(2), schemaVersion: 2)
            configuration.confinement = confinement
            var given = configuration
            given.confinement = other
            let inner = given
            configuration.migration = { migration throws(EngineError) in
                try History.migrate(migration)
                var again = inner
                again.migration = { _ throws(EngineError) in
                    throw EngineError(.invalidArgument, "called")
                }
                var wider = inner
                wider.schema = Schema([ClassSchema("Note")])
                wider.schemaVersion = nil
                for refused in [again, wider] {
                    #expect(
                        code { () throws(EngineError) in _ = try Session.open(refused) }
                            == .alreadyInTransaction)
                    #expect(
                        code { () throws(EngineError) in _ = try Migration.dryRun(refused) }
                            == .alreadyInTransaction)
                }
                // An opening that does not wait succeeds, and sees the old file.
                var narrow = inner
                (narrow.schema, narrow.schemaVersion) = (nil, nil)
                let reader = try Session.open(narrow)
                #expect(try History.dump(reader) == History.expected[1])
                #expect(
                    code { () throws(EngineError) in try reader.beginWrite() }
                        == .alreadyInTransaction)
                #expect(
                    code { () throws(EngineError) in try reader.flush() }
                        == .alreadyInTransaction)
                #expect(
                    code { () throws(EngineError) in
                        _ = try reader.compactStep(movingAtMost: 0)
                    } == .alreadyInTransaction)
                try reader.close()
            }
            let session = try Session.open(configuration)
            #expect(try History.dump(session) == History.expected[2])
            try session.beginWrite()
            try session.cancel()
            try session.expectSound()
            try session.close()
        }
    }

    @Test func `Without a handler nothing that holds values changes its type`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let refused = failure { () throws(EngineError) in
                _ = try History.open(file.path, 2, nil)
            }
            #expect(refused?.0 == .schemaMismatch)
            #expect(
                refused?.1.contains(
                    "property 'Person.age' is string in the file and int in the declared schema")
                    == true)
            try History.open(file.path, 1).close()
        }
    }

    @Test func `A primary key with equal values is refused and named`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let long = String(repeating: "long", count: 100)
            for (text, shown) in [("same", "'same'"), (long, "\(Value.string(long))")] {
                let refused = failure { () throws(EngineError) in
                    var configuration = Configuration(
                        location: .file(path: file.path),
                        schema: Schema([
                            ClassSchema(
                                "Person",
                                [
                                    PropertySchema("name", .string, isPrimaryKey: true),
                                    PropertySchema("age", .string),
                                ])
                        ]), schemaVersion: 2)
                    configuration.migration = { migration throws(EngineError) in
                        try migration.enumerate("Person") { _, after throws(EngineError) in
                            try after?.set("name", .string(text))
                        }
                    }
                    _ = try Session.open(configuration)
                }
                #expect(refused?.0 == .duplicatePrimaryKey)
                #expect(
                    refused?.1
                        == "Primary key property 'Person.name' has duplicate values after "
                        + "migration: several objects have \(shown). The file stays as it was."
                )
            }
            let session = try History.open(file.path, 1)
            #expect(try History.dump(session) == History.expected[1])
            try session.expectSound()
        }
    }

    @Test func `What can't be renamed says why`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            func refused(_ version: Int, _ body: @escaping Migration.Handler) -> String? {
                failure { () throws(EngineError) in
                    _ = try History.open(file.path, version, body)
                }?.1
            }
            func rename(_ version: Int, _ owner: String, _ old: String, _ new: String) -> String? {
                refused(version) { migration throws(EngineError) in
                    try migration.renameProperty(owner, old, to: new)
                }
            }
            #expect(
                rename(3, "Cat", "name", "x")
                    == "Cannot rename properties for type 'Cat' because it does not exist.")
            #expect(
                rename(3, "Person", "nom", "fullName")
                    == "Cannot rename property 'Person.nom' because it does not exist.")
            #expect(
                rename(2, "Person", "name", "note")
                    == "Cannot rename property 'Person.name' to 'note' because the source property "
                    + "still exists.")
            #expect(
                rename(3, "Person", "name", "age")
                    == "Cannot rename property 'Person.name' to 'age' because it would change from "
                    + "type 'string' to 'int'.")
            #expect(
                rename(6, "Person", "note", "fullName")
                    == "Cannot rename property 'Person.note' to 'fullName' because it would change "
                    + "from optional to required: copy the values into the new property instead.")
            #expect(
                rename(3, "Person", "name", "")
                    == "Cannot rename property 'Person.name' to '': a name can't be empty.")
            #expect(rename(3, "Person", "name", "__1")?.contains("is '__' and a number") == true)
            #expect(
                refused(2) { migration throws(EngineError) in
                    try migration.renameClass("Dog", to: "Hound")
                }
                    == "Cannot rename class 'Dog' to 'Hound' because the schema still has the "
                    + "class 'Dog'.")
            #expect(
                refused(6) { migration throws(EngineError) in
                    try migration.renameClass("Cat", to: "Hound")
                } == "Cannot rename class 'Cat' to 'Hound' because it does not exist.")
            #expect(
                refused(6) { migration throws(EngineError) in
                    _ = try migration.new()
                    try migration.renameClass("Dog", to: "Hound")
                }?.contains("rename classes before") == true)
            let session = try History.open(file.path, 1)
            #expect(try History.dump(session) == History.expected[1])
            try session.expectSound()
        }
    }

    /// Earlier it opened, and the values were lost.
    @Test func `What ends with a name that is not declared is refused, and says what is near`()
        throws
    {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            func refused(_ version: Int, _ body: @escaping Migration.Handler) -> String? {
                failure { () throws(EngineError) in
                    _ = try History.open(file.path, version, body)
                }?.1
            }
            let typo = refused(3) { migration throws(EngineError) in
                try migration.renameProperty("Person", "name", to: "fulName")
            }
            #expect(
                typo
                    == "Cannot rename property 'Person.name' to 'fulName' because the class has no "
                    + "such property, and a name for the meantime has to be renamed again. Did you "
                    + "mean 'fullName'?")
            let meantime = refused(3) { migration throws(EngineError) in
                try migration.renameProperty("Person", "name", to: "x")
                try migration.renameProperty("Person", "x", to: "y")
            }
            #expect(meantime?.hasPrefix("Cannot rename property 'Person.name' to 'y'") == true)
            let owner = refused(6) { migration throws(EngineError) in
                try migration.renameClass("Dog", to: "Hond")
            }
            #expect(
                owner?.hasPrefix("Cannot rename class 'Dog' to 'Hond' because the schema") == true)
            let session = try History.open(file.path, 1)
            #expect(try History.dump(session) == History.expected[1])
            try session.expectSound()
        }
    }

    /// With one object it worked, and with three it failed at the second.
    @Test(arguments: [1, 3])
    func `A rename while objects are gone through is refused, however many there are`(_ count: Int)
        throws
    {
        try withTemporaryDatabase { file in
            func open(_ name: String, _ version: UInt64, _ handler: Migration.Handler? = nil) throws
                -> Session
            {
                var configuration = Configuration(
                    location: .file(path: file.path),
                    schema: Schema([ClassSchema("Note", [PropertySchema(name, .string)])]),
                    schemaVersion: version)
                configuration.migration = handler
                return try Session.open(configuration)
            }
            let session = try open("text", 1)
            try session.beginWrite()
            for _ in 0..<count { _ = try session.make("Note", ["text": .string("kept")]) }
            try session.commit()
            try session.close()
            let refused = #expect(throws: EngineError.self) {
                try open("body", 2) { migration throws(EngineError) in
                    try migration.enumerate("Note") { _, _ throws(EngineError) in
                        try migration.renameProperty("Note", "text", to: "body")
                    }
                }
            }
            #expect(refused?.message.contains("inside enumerateObjects") == true)
            let after = try open("body", 2) { migration throws(EngineError) in
                try migration.enumerate("Note") { _, _ throws(EngineError) in }
                try migration.renameProperty("Note", "text", to: "body")
            }
            #expect(
                try History.dump(after) == [String](repeating: "Note body='kept'", count: count))
            try after.expectSound()
        }
    }

    @Test func `A name for the meantime leads over two versions, and what is left out is gone`()
        throws
    {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let session = try History.open(file.path, 3) { migration throws(EngineError) in
                try migration.renameProperty("Person", "name", to: "title")
                try migration.renameProperty("Person", "title", to: "fullName")
            }
            #expect(
                try History.dump(session)[1...] == [
                    "Person age=0 fullName='Ada' note='first'",
                    "Person age=0 fullName='Bob' note=null",
                ])
            try session.expectSound()
        }
    }

    @Test func `A property that was removed comes back empty`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            try History.open(file.path, 6).close()
            var configuration = Configuration(
                location: .file(path: file.path),
                schema: Schema([
                    ClassSchema(
                        "Person",
                        [
                            PropertySchema("id", .int, isPrimaryKey: true),
                            PropertySchema("note", .string, isOptional: true),
                        ])
                ]), schemaVersion: 7)
            configuration.migration = { _ in }
            let session = try Session.open(configuration)
            #expect(
                try History.dump(session) == ["Person id=100 note=null", "Person id=101 note=null"])
            try session.expectSound()
        }
    }

    @Test func `A class whose data is deleted is gone and links to it are null`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let dogs = Schema([ClassSchema("Dog", [PropertySchema("name", .string)])])
            var configuration = Configuration(
                location: .file(path: file.path), schema: dogs, schemaVersion: 2)
            configuration.migration = { migration throws(EngineError) in
                #expect(try !migration.deleteData("Cat"))
                #expect(try migration.deleteData("Person"))
                #expect(try !migration.deleteData("Person"))
                #expect(try migration.new().make("Dog", ["name": .string("Rover")]).isValid)
                #expect(try History.dump(migration.old) == History.expected[1])
            }
            let session = try Session.open(configuration)
            #expect(try History.dump(session) == ["Dog name='Rex'", "Dog name='Rover'"])
            try session.expectSound()
            configuration.schema = Schema([
                dogs.classes[0], ClassSchema("Person", [PropertySchema("age", .double)]),
            ])
            configuration.migration = nil
            let again = try Session.open(configuration)
            #expect(try again.count(of: again.classHandle(named: "Person").id) == 0)
            try again.expectSound()
        }
    }

    @Test func `A class that is not declared any more stays until its data is deleted`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            func open(_ names: [String], version: UInt64, deleting gone: String? = nil) throws
                -> Session
            {
                // An inverse link would need the other class.
                var classes = History.schema(1).classes.filter { names.contains($0.name) }
                for index in classes.indices {
                    classes[index].properties.removeAll { $0.type == .linkingObjects }
                }
                var configuration = Configuration(
                    location: .file(path: file.path), schema: Schema(classes),
                    schemaVersion: version)
                configuration.migration = { migration throws(EngineError) in
                    if let gone { #expect(try migration.deleteData(gone)) }
                }
                return try Session.open(configuration)
            }
            try open(["Person"], version: 2).close()
            let again = try open(["Person", "Dog"], version: 3)
            #expect(try History.dump(again) == History.expected[1])
            try again.expectSound()
            try again.close()
            try open(["Person"], version: 4, deleting: "Dog").close()
            let last = try open(["Person", "Dog"], version: 5)
            #expect(try last.count(of: last.classHandle(named: "Dog").id) == 0)
            #expect(try last.count(of: last.classHandle(named: "Person").id) == 2)
            try last.expectSound()
        }
    }

    @Test func `An optional property that becomes required is a new one`() throws {
        try withTemporaryDatabase { file in
            func open(optional: Bool, version: UInt64, _ handler: Migration.Handler? = nil) throws
                -> Session
            {
                var configuration = Configuration(
                    location: .file(path: file.path),
                    schema: Schema([
                        ClassSchema("Note", [PropertySchema("text", .string, isOptional: optional)])
                    ]), schemaVersion: version)
                configuration.migration = handler
                return try Session.open(configuration)
            }
            let session = try open(optional: true, version: 1)
            try session.beginWrite()
            _ = try session.make("Note", ["text": .string("kept")])
            _ = try session.make("Note", [:])
            try session.commit()
            let before = try History.dump(session)
            try session.close()

            #expect(throws: EngineError.self) { try open(optional: false, version: 2) }
            let refused = #expect(throws: EngineError.self) {
                try open(optional: false, version: 2) { migration throws(EngineError) in
                    try migration.renameProperty("Note", "text", to: "text")
                }
            }
            #expect(refused?.code == .invalidArgument)
            let untouched = try open(optional: true, version: 1)
            #expect(try History.dump(untouched) == before)
            try untouched.close()

            let after = try open(optional: false, version: 2) { _ in }
            #expect(try History.dump(after) == ["Note text=''", "Note text=''"])
            try after.expectSound()
        }
    }

    @Test func `The transaction of a migration can't be ended by its handler`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let session = try History.open(file.path, 2) { migration throws(EngineError) in
                let new = try migration.new()
                #expect(code { () throws(EngineError) in try new.commit() } == .insideCallback)
                #expect(code { () throws(EngineError) in try new.cancel() } == .insideCallback)
                #expect(
                    code { () throws(EngineError) in try migration.old.beginWrite() } == .readOnly)
                try History.migrate(migration)
            }
            #expect(try History.dump(session) == History.expected[2])
            let newest = try History.open(file.path, 3) { migration throws(EngineError) in
                let new = try migration.new()
                #expect(code { () throws(EngineError) in try new.close() } == .insideCallback)
                try History.migrate(migration)
            }
            #expect(try History.dump(newest) == History.expected[3])
            try newest.expectSound()
        }
    }

    @Test func `A session of the old schema stays where it is and says what to do`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let old = try History.open(file.path, 1)
            let people = try old.results(of: old.classHandle(named: "Person").id)
            try History.open(file.path, 2).close()
            for _ in 0..<2 {
                let refused = failure { () throws(EngineError) in try old.refresh() }
                #expect(refused?.0 == .schemaMismatch)
                #expect(refused?.1.contains("migrated to schema version 2") == true)
                #expect(
                    code { () throws(EngineError) in try old.beginWrite() } == .schemaMismatch)
            }
            #expect(try people.count == 2)
            #expect(try History.dump(old) == History.expected[1])
            #expect(
                code { () throws(EngineError) in _ = try History.open(file.path, 1) }
                    == .schemaVersionTooLow)
            try old.close()
            let new = try History.open(file.path, 2)
            #expect(try History.dump(new) == History.expected[2])
            try new.expectSound()
        }
    }

    @Test func `A session whose classes a migration leaves alone goes on`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            let dogs = try Session.open(
                Configuration(
                    location: .file(path: file.path),
                    schema: Schema([ClassSchema("Dog", [PropertySchema("name", .string)])])))
            try History.open(file.path, 5).close()
            #expect(try dogs.refresh())
            try dogs.beginWrite()
            try dogs.make("Dog", ["name": .string("Rover")])
            try dogs.commit()
            #expect(try History.dump(dogs) == ["Dog name='Rex'", "Dog name='Rover'"])
            try dogs.expectSound()
        }
    }

    // MARK: Embedded classes

    /// 1: companies have a seat, which is in a country. 2: the seat is an office, embedded in its
    /// company, as the land is in it. 3: nothing is embedded.
    private static func seats(_ version: Int) -> Schema {
        let (address, country) = version == 1 ? ("Address", "Country") : ("Place", "Land")
        return Schema([
            ClassSchema("Company", [.link(version == 1 ? "seat" : "office", to: address)]),
            ClassSchema(
                address, isEmbedded: version == 2,
                [
                    PropertySchema("id", .int, isPrimaryKey: version == 1),
                    .link("country", to: country),
                ]),
            ClassSchema(country, isEmbedded: version == 2, [PropertySchema("name", .string)]),
        ])
    }

    private static func seats(
        _ file: String, _ version: Int, handlesBacklinks: Bool = false,
        _ handler: Migration.Handler? = nil
    ) throws(EngineError) -> Session {
        var configuration = Configuration(
            location: .file(path: file), schema: seats(version), schemaVersion: UInt64(version))
        configuration.migration = handler
        configuration.handlesBacklinksInMigrations = handlesBacklinks
        return try Session.open(configuration)
    }

    /// Two companies in one country; the second has no seat.
    private static func fillSeats(_ file: String) throws(EngineError) {
        let session = try seats(file, 1)
        try session.beginWrite()
        let norway = try session.make("Country", ["name": .string("Norway")])
        let seat = try session.make("Address", ["id": .int(7), "country": .link(norway.ref)])
        try session.make("Company", ["seat": .link(seat.ref)])
        try session.make("Company")
        try session.commit()
        try session.close()
    }

    @Test(arguments: [false, true])
    func `A class and the one in it become embedded under other names`(_ handles: Bool) throws {
        try withTemporaryDatabase { file in
            try Self.fillSeats(file.path)
            let old = try Self.seats(file.path, 1)
            let migrate: Migration.Handler = { migration throws(EngineError) in
                try migration.renameClass("Address", to: "Place")
                try migration.renameClass("Country", to: "Land")
                try migration.renameProperty("Company", "seat", to: "office")
                let new = try migration.new()
                // They are ordinary objects still.
                let results = try new.results(of: try new.classHandle(named: "Company").id)
                let land = try new.results(of: try new.classHandle(named: "Land").id).object(at: 0)
                let place = try new.make("Place", ["id": .int(7), "country": .link(land.ref)])
                try results.object(at: 1).set("office", .link(place.ref))
                if !handles {
                    let other = try new.make("Land", ["name": .string("Norway")])
                    try place.set("country", .link(other.ref))
                } else {
                    try new.make("Place")
                }
            }
            let sessions = [
                try Self.seats(file.path, 2, handlesBacklinks: handles, migrate),
                try Self.seats(file.path, 2),
            ]
            for session in sessions {
                #expect(
                    try History.dump(session) == [
                        "Company office=#0", "Company office=#1", "Land name='Norway'",
                        "Land name='Norway'", "Place country=#0 id=7", "Place country=#1 id=7",
                    ])
                #expect(
                    code { () throws(EngineError) in
                        try session.beginWrite()
                        try session.make("Land")
                    } == .embeddedObject)
                try session.cancel()
            }
            // A session with the old classes keeps its version.
            for _ in 0..<2 {
                let refused = failure { () throws(EngineError) in try old.refresh() }
                #expect(refused?.0 == .schemaMismatch)
            }
            #expect(try History.dump(old).count == 4)
            let companies = try sessions[0].classHandle(named: "Company").id
            try sessions[0].beginWrite()
            try sessions[0].results(of: companies).object(at: 0).delete()
            try sessions[0].commit()
            #expect(try History.dump(sessions[0]).count == 3)
            try sessions[0].expectSound()
        }
    }

    @Test func `A session hears that a class is embedded, or is not any more`() throws {
        try withTemporaryDatabase { file in
            try Self.seats(file.path, 2).close()
            let embedded = try Self.seats(file.path, 2)
            let free = try Self.seats(file.path, 3)
            let refused = failure { () throws(EngineError) in try embedded.refresh() }
            #expect(refused?.0 == .schemaMismatch)
            #expect(refused?.1.contains("class 'Place' is not embedded any more") == true)
            var again = Self.seats(2)
            again.classes.removeAll { $0.name != "Land" }
            try Session.open(
                Configuration(
                    location: .file(path: file.path), schema: again, schemaVersion: 4)
            ).close()
            #expect(
                failure { () throws(EngineError) in try free.refresh() }?.1.contains(
                    "class 'Land' is embedded now") == true)
            // A session that accepts the file's classes continues.
            let any = try Session.open(Configuration(location: .file(path: file.path)))
            #expect(try any.classHandle(named: "Land").isEmbedded)
            try any.expectSound()
        }
    }

    @Test func `Objects that can't be embedded leave the file as it was`() throws {
        try withTemporaryDatabase { file in
            try Self.fillSeats(file.path)
            let rename: Migration.Handler = { migration throws(EngineError) in
                try migration.renameClass("Address", to: "Place")
                try migration.renameClass("Country", to: "Land")
            }
            // The link of the companies is removed, as it was not renamed.
            let refused = failure { () throws(EngineError) in
                _ = try Self.seats(file.path, 2, rename)
            }
            #expect(refused?.0 == .schemaMismatch)
            #expect(
                refused?.1.contains("class 'Place' has objects that can't be embedded: 1 without")
                    == true)
            let old = try Self.seats(file.path, 1)
            #expect(try History.dump(old).count == 4)
            try old.close()
            var readOnly = Configuration(
                location: .file(path: file.path), mode: .readOnly, schema: Self.seats(1),
                schemaVersion: 2)
            readOnly.schema?.classes[2].isEmbedded = true
            #expect(
                failure { () throws(EngineError) in _ = try Session.open(readOnly) }?.1.contains(
                    "class 'Country' is not embedded in the file, which is read-only") == true)
            let new = try Self.seats(file.path, 2, handlesBacklinks: true, rename)
            #expect(try History.dump(new) == ["Company office=null", "Company office=null"])
            try new.expectSound()
        }
    }

    @Test func `A file that is read-only and has to be migrated is refused`() throws {
        try withTemporaryDatabase { file in
            try History.fill(file.path)
            var configuration = Configuration(
                location: .file(path: file.path), mode: .readOnly, schema: History.schema(1),
                schemaVersion: 2)
            configuration.migration = { _ throws(EngineError) in
                throw EngineError(.invalidArgument, "called")
            }
            let given = configuration
            let opening = failure { () throws(EngineError) in try Session.open(given).close() }
            let dryRun = failure { () throws(EngineError) in _ = try Migration.dryRun(given) }
            for refused in [opening, dryRun] {
                #expect(refused?.0 == .schemaMismatch)
                #expect(refused?.1.contains("migrated to schema version 2") == true)
            }
            // Without a migration nothing has to be done: the version that it shows is the file's.
            configuration.migration = nil
            let session = try Session.open(configuration)
            #expect(try session.schemaVersion == 1)
            #expect(try History.dump(session) == History.expected[1])
            configuration.migration = { _ in }
            configuration.schemaVersion = 1
            try Session.open(configuration).close()
        }
    }
}
