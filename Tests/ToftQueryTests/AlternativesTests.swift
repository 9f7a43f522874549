// Tests: ASCII.swift, Constant.swift, Lexer.swift, Lexer+Date.swift, Lexer+Number.swift,
// Lexer+Text.swift, WideInteger.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit

@testable import ToftQuery

/// One value after the other of one path: IN, an OR of ==, an AND of != and their kin are one test,
/// which costs the same for a row however many values there are. Each has to find the same as the
/// single comparisons.
@Suite struct AlternativesTests {
    private let session: Session
    private let thing: ClassID
    private static let count = 300
    private static let names = [
        "bool", "int", "float", "double", "decimal", "text", "data", "date", "uuid", "oid", "mixed",
        "boss",
    ]

    /// A value of a property, one of 40 different ones; some are null.
    private static func value(_ name: String, _ number: Int) -> Value {
        if number % 11 == 10 { return .null }
        let small = number % 40
        switch name {
        case "bool": return .bool(small % 2 == 0)
        case "int": return .int(Int64(small - 20))
        case "float": return small == 3 ? .float(.nan) : .float(Float(small) / 4)
        case "double": return small == 3 ? .double(.nan) : .double(Double(small) / 4)
        case "decimal": return .decimal(Decimal128("\(small).50") ?? .zero)
        case "text": return .string(small % 2 == 0 ? "Wort \(small / 2)é" : "wort \(small / 2)E")
        case "data": return .data(Array("daten \(small)".utf8))
        case "date":
            return .date(Timestamp(seconds: Int64(small / 2), nanoseconds: Int32(small % 2)))
        case "uuid": return .uuid(FixedBytes(bytes: Array(repeating: UInt8(small), count: 16)))
        case "oid":
            return .objectId(FixedBytes(bytes: Array(repeating: UInt8(small), count: 12)))
        case "mixed":
            return value(
                ["bool", "int", "double", "decimal", "text", "data", "date", "uuid"][small % 8],
                number / 8)
        default: return .null
        }
    }

    init() throws {
        func property(_ name: String, _ type: PropertyType) -> PropertySchema {
            var property = PropertySchema(name, type, isOptional: true)
            property.isIndexed = type.canBeIndexed
            return property
        }
        session = try Session.open(
            Configuration(
                location: .memory(name: "alternatives \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([
                    ClassSchema(
                        "Thing",
                        [
                            PropertySchema("id", .int, isPrimaryKey: true),
                            property("bool", .bool), property("int", .int),
                            property("float", .float), property("double", .double),
                            property("decimal", .decimal128), property("text", .string),
                            PropertySchema("bare", .string, isOptional: true),
                            property("data", .data), property("date", .date),
                            property("uuid", .uuid), property("oid", .objectId),
                            property("mixed", .mixed), .link("boss", to: "Thing"),
                            .links("rows", to: "Thing"),
                            PropertySchema("words", .string, collection: .list),
                        ])
                ])))
        let owner = try session.classHandle(named: "Thing")
        thing = owner.id
        func id(_ name: String) throws -> PropertyID { try owner.property(named: name).id }
        try session.beginWrite()
        var made: [ObjectHandle] = []
        for number in 0..<Self.count {
            var values: [(property: PropertyID, value: Value)] = [
                (try id("id"), .int(Int64(number)))
            ]
            for (place, name) in Self.names.dropLast().enumerated() {
                // Factors without a common divisor with 40: each value occurs equally often.
                let factor = [3, 7, 9, 13, 17, 19, 21, 23, 27, 29, 31][place]
                values.append((try id(name), Self.value(name, number * factor)))
            }
            values.append((try id("bare"), Self.value("text", number * 3)))
            let object = try session.create(thing, values)
            if number % 3 > 0 { try object.set(try id("boss"), Value.link(made[number / 5].ref)) }
            let (rows, words) = (try object.list(try id("rows")), try object.list(try id("words")))
            for row in 0..<min(number, number % 4) {
                try rows.append(Value.link(made[row * 7 % number].ref))
            }
            for word in 0..<number % 3 {
                try words.append(Self.value("text", (number + word) % 10))
            }
            made.append(object)
        }
        try session.commit()
    }

    private func keys(_ query: String, _ arguments: [QueryArgument] = []) throws -> Set<Int64> {
        Set(try session.results(of: thing).filter(query, arguments: arguments).keys())
    }

    private func constants(for name: String, _ random: inout Seed) throws -> [Value] {
        try (0..<random.one(of: [1, 2, 3, 12, 60])).map { _ in
            guard name == "boss" else { return Self.value(name, random.below(120)) }
            let object = try session.find(Value.int(Int64(random.below(60))), in: thing)
            return random.chance(10) ? .null : object.map { Value.link($0.ref) } ?? .null
        }
    }

    @Test(arguments: names + ["bare"])
    func `Each way to ask for several values finds what single comparisons find`(name: String)
        throws
    {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Seed(seed)
        let type = name == "bare" ? "text" : name
        let folds = ["text", "bare", "mixed", "data"].contains(name)
        for _ in 0..<12 {
            let values = try constants(for: type, &random)
            let arguments = values.map(QueryArgument.value)
            let options = folds ? random.one(of: ["", "[c]", "[cd]"]) : ""
            for path in [name, "boss.\(name)", "rows.\(name)"] where name != "boss" || path == name
            {
                var expected: Set<Int64> = []
                for value in values {
                    expected.formUnion(try keys("\(path) ==\(options) $0", [.value(value)]))
                }
                let places = arguments.indices.map { "$\($0)" }
                let each = places.map { "\(path) ==\(options) \($0)" }
                let half = each.count / 2
                func agrees(_ query: String, _ given: [QueryArgument]? = nil) throws {
                    let found = try keys(query, given ?? arguments)
                    #expect(found == expected, "\(query), seed \(seed)")
                }
                try agrees("\(path) IN\(options) $0", [.list(values)])
                try agrees("\(path) IN\(options) {\(places.joined(separator: ", "))}")
                try agrees("ANY {\(places.joined(separator: ", "))} ==\(options) \(path)")
                try agrees(each.joined(separator: " OR "))
                if half > 0 {
                    try agrees(
                        "(\(each[..<half].joined(separator: " OR "))) OR "
                            + "(\(each[half...].joined(separator: " OR ")))")
                }
                let all = Set((0..<Self.count).map { Int64($0) })
                let none = path.hasPrefix("rows") ? "NONE \(path) ==" : "\(path) !="
                let others = try keys(
                    places.map { "\(none)\(options) \($0)" }.joined(separator: " AND "), arguments)
                #expect(others == all.subtracting(expected), "\(path), seed \(seed)")
                let not = try keys("NOT \(path) IN\(options) $0", [.list(values)])
                #expect(not == all.subtracting(expected), "\(path), seed \(seed)")
                let nots = try keys(
                    each.map { "NOT \($0)" }.joined(separator: " AND "), arguments)
                #expect(nots == all.subtracting(expected), "\(path), seed \(seed)")
            }
        }
    }

    @Test func `Many values are one test, in every form`() throws {
        func plan(_ query: String, _ arguments: [QueryArgument] = []) throws -> String {
            try session.results(of: thing).filter(query, arguments: arguments).explain()
        }
        let words = (0..<200).map { "'w\($0)'" }
        let texts = QueryArgument.list((0..<200).map { .string("w\($0)") })
        for (query, test) in [
            ("bare IN {\(words.joined(separator: ","))}", "is one of 200"),
            (words.map { "bare == \($0)" }.joined(separator: " OR "), "is one of 200"),
            ("bare IN[c] $0", "is one of 200"), ("boss.bare IN $0", "is one of 200"),
            ("NOT bare IN $0", "not (bare is one of 200)"),
            (words.map { "bare != \($0)" }.joined(separator: " AND "), "not (bare is one of 200)"),
            (words.map { "NOT bare == \($0)" }.joined(separator: " AND "), "is one of 200"),
            ("bare != ALL $0", "not (is one of 200)"),
            (words.map { "(bare == \($0))" }.joined(separator: " OR "), "is one of 200"),
            ("ANY words IN $0", "ANY words is one of 200"),
            ("NONE words IN $0", "NONE words is one of 200"),
            (
                words.map { "ALL words != \($0)" }.joined(separator: " AND "),
                "not (ANY words is one"
            ),
            ("mixed IN[c] $0", "is one of 200"), ("rows.bare IN $0", "is one of 200"),
        ] { #expect(try plan(query, [texts]).contains(test), "\(query.prefix(60))") }
        let mixedForms = "bare == 'a' OR int == 1 OR bare == 'b' OR int == 2 OR int == 3"
        #expect(try plan(mixedForms).contains("is one of 3"))
        // All are three different tests.
        #expect(try keys("bare == 'a' OR bare ==[c] 'A' OR bare == 'b'").isEmpty)
    }

    @Test func `An index is asked where that takes less time than to look at all`() throws {
        func plan(_ query: String, _ arguments: [QueryArgument]) throws -> String {
            try session.results(of: thing).filter(query, arguments: arguments).explain()
        }
        for name in ["int", "text", "date", "uuid", "oid", "mixed"] {
            let few = QueryArgument.list((0..<3).map { Self.value(name, 500 + $0) })
            let many = QueryArgument.list((0..<40).map { Self.value(name, $0) })
            #expect(try plan("\(name) IN $0", [few]).hasPrefix("look up index Thing.\(name)"))
            let text = try plan("\(name) IN $0", [many])
            #expect(text.hasPrefix("scan") && text.contains("would take longer"), "\(name)")
        }
        let few = QueryArgument.list((0..<10).map { .int($0) })
        #expect(try plan("id IN $0", [few]).hasPrefix("look up primary key Thing.id, 10 values"))
        #expect(try keys("id IN $0", [few]).count == 10)
    }

    @Test func `Objects by their primary keys may be missing, which is a null link`() throws {
        let all = try keys("TRUEPREDICATE")
        let lone = try keys("boss == null")
        let expected = try keys("boss == obj('Thing', 1)").union(keys("boss == obj('Thing', 2)"))
        let list = "{obj('Thing', 1), obj('Thing', 2), obj('Thing', 2)}"
        #expect(try keys("boss IN \(list)") == expected && !expected.isEmpty)
        let missing = "{obj('Thing', 1), obj('Thing', 2), obj('Thing', 9999)}"
        #expect(try keys("boss IN \(missing)") == expected.union(lone))
        #expect(try keys("NOT boss IN \(missing)") == all.subtracting(expected.union(lone)))
        #expect(try keys("mixed IN \(missing)") == keys("mixed == null"))
        let each = (0..<5).map { "boss == obj('Thing', \($0))" }.joined(separator: " OR ")
        #expect(try keys(each) == keys("boss.id < 5"))
        #expect(try keys("ANY rows IN \(list)") == keys("ANY rows.id IN {1, 2}"))
    }
}
