// Tests: Shell.swift, QuestionRunner.swift, GroupRunner.swift, ChangeRunner.swift,
// ObjectColumn.swift, ObjectRows.swift, PathReader.swift, SchemaText.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftQuery
import ToftTestKit

@testable import ToftShell

@Suite struct ShellTests {
    private static let schema = Schema([
        ClassSchema(
            "Person",
            [
                PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("name", .string),
                PropertySchema("age", .int, isOptional: true, isIndexed: true),
                PropertySchema("born", .date, isOptional: true),
                .link("boss", to: "Person"), .links("dogs", to: "Dog"),
                PropertySchema("tags", .string, collection: .list),
                PropertySchema("marks", .int, collection: .dictionary),
            ]),
        ClassSchema(
            "Dog",
            [PropertySchema("name", .string), .linkingObjects("owners", from: "Person", "dogs")]),
    ])

    private static let people = [
        #"create Dog {"name": "Rex"}"#,
        #"create Person {"id": 1, "name": "Ann", "age": 50, "tags": ["a", "b"]}"#,
        #"set Person id=1 marks={"x": 1}"#,
        #"create Person {"id": 2, "name": "Bob", "age": 30, "boss": 1, "dogs": [{"name": "Max"}]}"#,
        #"create Person {"id": 3, "name": "Cid", "boss": 2, "born": "2001-02-03T00:00:00Z"}"#,
        #"create Person {"id": 4, "name": "Dan", "age": 30, "boss": 1, "tags": ["c"]}"#,
    ]

    /// Runs a test with a shell on a file that has people; the file is checked afterwards.
    private func withShell(
        _ mode: OutputMode = .json, _ body: (Shell, TestConsole, TemporaryDatabase) throws -> Void
    ) throws {
        try withTemporaryDatabase { file in
            try Session.open(
                Configuration(location: .file(path: file.path), schema: Self.schema)
            ).close()
            let console = TestConsole()
            let shell = Shell(file.path, Shell.Options(mode: mode), console: console)
            try shell.open()
            for statement in Self.people { _ = try shell.run(statement) }
            _ = console.kept.take()
            try body(shell, console, file)
            try shell.close()
            try file.check()
        }
    }

    /// The lines that a statement prints.
    private func lines(_ shell: Shell, _ console: TestConsole, _ statement: String) throws
        -> [String]
    {
        _ = try shell.run(statement)
        return console.kept.take().split(separator: "\n").map(String.init)
    }

    @Test func `Questions are answered with the columns that they name`() throws {
        try withShell { shell, console, _ throws in
            for (statement, expected) in [
                (
                    "Person where age > 5 sort(name desc) limit 1 show name, boss.name, tags;",
                    [#"{"name":"Dan","boss.name":"Ann","tags":["c"]}"#]
                ),
                (
                    "Person where id in {1, 3} show id, boss.name, boss.boss.id, boss",
                    [
                        #"{"id":1,"boss.name":null,"boss.boss.id":null,"boss":null}"#,
                        #"{"id":3,"boss.name":"Bob","boss.boss.id":1,"boss":2}"#,
                    ]
                ),
                (
                    "Person where id <= 2 show dogs.name, dogs.@count, tags.@count, tags[0], "
                        + "tags[LAST], marks['x'], marks.@keys, marks['y']",
                    [
                        #"{"dogs.name":[],"dogs.@count":0,"tags.@count":2,"tags[0]":"a","#
                            + #""tags[LAST]":"b","marks['x']":1,"marks.@keys":["x"],"#
                            + #""marks['y']":null}"#,
                        #"{"dogs.name":["Max"],"dogs.@count":1,"tags.@count":0,"tags[0]":null,"#
                            + #""tags[LAST]":null,"marks['x']":null,"marks.@keys":[],"#
                            + #""marks['y']":null}"#,
                    ]
                ),
                (
                    "Person where @links.Person.boss.@count > 1 show name, @links.Person.boss.name,"
                        + " @links.Person.boss.@avg.age, @links.@count",
                    [
                        #"{"name":"Ann","@links.Person.boss.name":["Bob","Dan"],"#
                            + #""@links.Person.boss.@avg.age":30.0,"@links.@count":2}"#
                    ]
                ),
                (
                    "Dog where name == 'Max' show owners, owners.age, _key",
                    [#"{"owners":[2],"owners.age":[30],"_key":1}"#]
                ),
                (
                    "Person where born == 2001-02-03@00:00:00 show born",
                    [#"{"born":"2001-02-03T00:00:00Z"}"#]
                ),
                ("Person count", [#"{"count":4}"#]),
                ("Person where age > 100 count", [#"{"count":0}"#]),
                ("Person where age > 100", []),
                ("Person count, sum(age), min(age), max(name.@count)", nil),
            ] as [(String, [String]?)] {
                guard let expected else {
                    #expect(throws: EngineError.self, "\(statement)") { try shell.run(statement) }
                    continue
                }
                #expect(try lines(shell, console, statement) == expected, "\(statement)")
            }
        }
    }

    @Test func `All properties are shown where no columns are named`() throws {
        try withShell { shell, console, _ throws in
            #expect(
                try lines(shell, console, "Person where id == 2") == [
                    #"{"id":2,"name":"Bob","age":30,"born":null,"boss":1,"dogs":[1],"tags":[],"#
                        + #""marks":{}}"#
                ])
            #expect(
                try lines(shell, console, "Dog") == [
                    #"{"_key":0,"name":"Rex"}"#, #"{"_key":1,"name":"Max"}"#,
                ])
        }
    }

    @Test func `Groups are counted, filtered, sorted and cut`() throws {
        try withShell { shell, console, _ throws in
            for (statement, expected) in [
                (
                    "Person group age",
                    [
                        #"{"age":null,"count":1}"#, #"{"age":30,"count":2}"#,
                        #"{"age":50,"count":1}"#,
                    ]
                ),
                (
                    "Person group boss.name: count, avg(age) having count > 1",
                    [#"{"boss.name":"Ann","count":2,"avg(age)":30.0}"#]
                ),
                (
                    "Person group age: count sort(count desc, age desc) limit 2",
                    [#"{"age":30,"count":2}"#, #"{"age":50,"count":1}"#]
                ),
                (
                    "Person group age having age >= 40 or count == 2 and age != null offset 1",
                    [#"{"age":50,"count":1}"#]
                ),
                (
                    "Person group name: max(age) having max(age) < 40 and name != 'Bob'",
                    [#"{"name":"Dan","max(age)":30}"#]
                ),
                (
                    "Person group born having born > '2000-01-01T00:00:00Z'",
                    [#"{"born":"2001-02-03T00:00:00Z","count":1}"#]
                ),
                (
                    "Person count, sum(age), min(age), max(age)",
                    [#"{"count":4,"sum(age)":110,"min(age)":30,"max(age)":50}"#]
                ),
            ] {
                #expect(try lines(shell, console, statement) == expected, "\(statement)")
            }
        }
    }

    @Test func `Arguments stand for values`() throws {
        try withShell { shell, console, file throws in
            try shell.close()
            var options = Shell.Options(mode: .json)
            options.arguments = [.value(.int(30)), .value(.string("Bob"))]
            let other = Shell(file.path, options, console: console)
            try other.open()
            #expect(
                try lines(other, console, "Person where age == $0 and name != $1 show id")
                    == [#"{"id":4}"#])
            try other.close()
            try shell.open()
        }
    }

    @Test(arguments: [
        ("Persn", "Person", 0), ("Person where agee > 5", "agee", 13),
        ("Person show nme", "nme", 12), ("Person show name.x", "no objects", 17),
        ("Person show boss.nme", "nme", 17), ("Person show boss.@count", "@count", 17),
        ("Person show name[0]", "index", 17), ("Person show @links.Cat.x", "class", 19),
        ("Person show @links.Dog.name", "links to", 19), ("Person group nme", "nme", 13),
        ("Person group age: sum(name)", "sum", 22),
        ("Person group age having size > 3", "size", 24),
        ("Person where age == 'x'", "age", 20), ("create Cat {}", "Cat", 7),
        (#"create Person {"id": 1}"#, "primary key", 14), (#"create Person {"id": }"#, "JSON", 14),
        (#"create Person {"id": 9, "nme": 1}"#, "nme", 14), ("set Person id=9 age=3", "9", 11),
        ("set Person name='x' age=3", "primary key", 11), ("set Dog _key=1 name='x'", "_key", 8),
        ("set Person id=1 age='x'", "age", 20), ("set Person id=1 nme=3", "nme", 16),
        ("set Person id=1 age=x", "no value", 20), ("set Person id=1 id=3", "can't be changed", 19),
        ("set Person id=1 boss=77", "77", 21), ("delete Person id='x'", "id", 14),
    ])
    func `A mistake is told with its place, and changes nothing`(
        statement: String, word: String, column: Int
    ) throws {
        try withShell { shell, console, _ throws in
            let before = try lines(shell, console, "Person")
            let error = #expect(throws: EngineError.self) { try shell.run(statement) }
            let told = (error?.message ?? "") + (error?.detail ?? "")
            #expect(told.contains(word), "\(told)")
            let caret = error?.detail.split(separator: "\n").last
            #expect(caret.map { $0.count - 5 } == column, "\(told)")
            #expect(try lines(shell, console, "Person") == before)
        }
    }

    @Test func `Objects are set and deleted after a question with their number`() throws {
        try withShell { shell, console, _ throws in
            console.answer = false
            #expect(
                try lines(shell, console, "set Person where age == 30 age=31, tags=[\"n\"]")
                    == ["nothing was changed"])
            console.answer = true
            #expect(
                try lines(shell, console, "set Person where age == 30 age=31, tags=[\"n\"]")
                    == ["2 objects of 'Person' changed"])
            #expect(
                try lines(shell, console, "Person where age == 31 show id, tags") == [
                    #"{"id":2,"tags":["n"]}"#, #"{"id":4,"tags":["n"]}"#,
                ])
            #expect(
                try lines(shell, console, "set Person id=4 boss=3, born='2020-01-01T00:00:00Z'")
                    == ["1 object of 'Person' changed"])
            #expect(
                try lines(shell, console, "Person where boss.name == 'Cid' show id, born")
                    == [#"{"id":4,"born":"2020-01-01T00:00:00Z"}"#])
            #expect(
                try lines(shell, console, "delete Person where id > 2")
                    == ["2 objects of 'Person' deleted"])
            #expect(
                console.questions == [
                    "Set age, tags of 2 objects of 'Person'?",
                    "Set age, tags of 2 objects of 'Person'?", "Delete 2 objects of 'Person'?",
                ])
            #expect(
                try lines(shell, console, "delete Person where id > 2")
                    == ["no object of 'Person' matches"])
            console.answer = nil
            let error = #expect(throws: EngineError.self) {
                try shell.run("delete Person where TRUEPREDICATE")
            }
            #expect(error?.message.contains("--yes") == true)
            #expect(try lines(shell, console, "Person count") == [#"{"count":2}"#])
        }
    }

    @Test func `The last change is taken back`() throws {
        try withShell { shell, console, _ throws in
            console.answer = true
            let before = try lines(shell, console, "Person sort(id)")
            for change in [
                "set Person where id < 3 age=99, tags=[], boss=null, marks={\"y\": 2}",
                "delete Person id=1", "delete Person where id in {1, 2}",
                #"create Person {"id": 9}"#,
            ] {
                _ = try shell.run(change)
                #expect(try lines(shell, console, "Person sort(id)") != before, "\(change)")
                _ = try shell.run("undo")
                #expect(console.kept.take().contains("taken back"), "\(change)")
                let after = try lines(shell, console, "Person sort(id)")
                #expect(after == before, "\(change)")
                #expect(throws: EngineError.self) { try shell.run("undo") }
            }
        }
    }

    @Test func `A change that another one has replaced is not taken back`() throws {
        try withShell { shell, console, file throws in
            _ = try shell.run("set Person id=1 age=51")
            let other = Shell(file.path, Shell.Options(mode: .json), console: TestConsole())
            try other.open()
            _ = try other.run("set Person id=1 age=52")
            try other.close()
            let error = #expect(throws: EngineError.self) { try shell.run("undo") }
            #expect(error?.message.contains("changed since") == true)
            _ = console.kept.take()
            #expect(try lines(shell, console, "Person where id == 1 show age") == [#"{"age":52}"#])
        }
    }

    @Test func `Several changes are one transaction`() throws {
        try withShell { shell, console, file throws in
            let other = Shell(file.path, Shell.Options(mode: .json), console: TestConsole())
            let seen = TestConsole()
            let reader = Shell(file.path, Shell.Options(mode: .json), console: seen)
            try reader.open()
            _ = try shell.run("begin")
            _ = try shell.run("set Person id=1 age=51")
            _ = try shell.run("delete Person id=2")
            // A statement that fails leaves those before it.
            #expect(throws: EngineError.self) {
                try shell.run("set Person id=1 name='x', age='y'")
            }
            #expect(
                try lines(reader, seen, "Person where id <= 2 show age")
                    == [#"{"age":50}"#, #"{"age":30}"#])
            _ = try shell.run("commit")
            _ = console.kept.take()
            #expect(
                try lines(reader, seen, "Person where id <= 2 show age, name")
                    == [#"{"age":51,"name":"Ann"}"#])
            _ = try shell.run("undo")
            #expect(
                try lines(reader, seen, "Person where id <= 2 show age")
                    .sorted() == [#"{"age":30}"#, #"{"age":50}"#])
            _ = try shell.run("begin")
            _ = try shell.run("set Person id=1 age=77")
            #expect(throws: EngineError.self) { try shell.run("undo") }
            #expect(throws: EngineError.self) { try shell.run("begin") }
            _ = try shell.run("cancel")
            #expect(throws: EngineError.self) { try shell.run("commit") }
            #expect(throws: EngineError.self) { try shell.run("cancel") }
            #expect(try lines(reader, seen, "Person where id == 1 show age") == [#"{"age":50}"#])
            // The end of the shell cancels, too.
            _ = try shell.run("begin")
            _ = try shell.run("set Person id=1 age=77")
            try shell.close()
            #expect(try lines(reader, seen, "Person where id == 1 show age") == [#"{"age":50}"#])
            try reader.close()
            try other.close()
            try shell.open()
        }
    }

    @Test func `Commands show classes, indexes and the schema`() throws {
        try withShell { shell, console, _ throws in
            #expect(
                try lines(shell, console, ".classes") == [
                    #"{"class":"Person","objects":4,"primaryKey":"id","embedded":false}"#,
                    #"{"class":"Dog","objects":2,"primaryKey":null,"embedded":false}"#,
                ])
            #expect(
                try lines(shell, console, ".indexes") == [
                    #"{"class":"Person","properties":"id","kind":"primary key"}"#,
                    #"{"class":"Person","properties":"age","kind":"index"}"#,
                ])
            #expect(try lines(shell, console, ".schema Dog").first == "Dog  (2 objects)")
            #expect(try lines(shell, console, ".mode") == ["json"])
            _ = try shell.run(".mode csv")
            #expect(try lines(shell, console, "Dog show name").first?.hasPrefix("name") == true)
            #expect(try lines(shell, console, ".help").contains { $0.hasPrefix(".mode") })
            #expect(try lines(shell, console, ".explain Person where age == 3").isEmpty == false)
            _ = try shell.run(".mode json")
            _ = try shell.run(".timer on")
            #expect(try lines(shell, console, "Dog count").last?.hasPrefix("time: ") == true)
            #expect(try !shell.run(".quit"))
            #expect(throws: EngineError.self) { try shell.run(".key nothing.key") }
            #expect(try lines(shell, console, "Dog count").isEmpty == false)
        }
    }

    @Test func `A watch shows the objects at first`() throws {
        try withShell { shell, console, _ throws in
            #expect(
                try lines(shell, console, ".watch Person where age > 5").first?
                    .hasSuffix(": 3 objects") == true)
        }
    }

    @Test func `A file that nobody may write is opened for reading`() throws {
        try withShell { shell, console, file throws in
            try shell.close()
            var options = Shell.Options(mode: .json)
            options.isReadOnly = true
            let reader = Shell(file.path, options, console: console)
            try reader.open()
            #expect(try lines(reader, console, "Person count") == [#"{"count":4}"#])
            let error = #expect(throws: EngineError.self) {
                try reader.run("set Person id=1 age=3")
            }
            #expect(error?.code == .readOnly)
            try reader.close()
            try shell.open()
        }
    }

    @Test func `A file that is missing leaves the shell without one`() throws {
        try withShell { shell, console, file throws in
            let error = #expect(throws: EngineError.self) {
                try shell.run(".open \(file.path).missing")
            }
            #expect(error?.code == .fileNotFound)
            #expect(throws: EngineError.self) { try shell.run("Person") }
            _ = try shell.run(".open \(file.path)")
            #expect(try lines(shell, console, "Person count").isEmpty == false)
        }
    }
}
