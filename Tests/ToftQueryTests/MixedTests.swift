// Tests: MixedTest.swift, MixedNodes.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage

@testable import ToftQuery

/// Queries on mixed values, with answers computed by hand.
///
/// Boxes by id: 1 holds 5, 2 holds 5.0, 3 '5', 4 a dictionary with the lists 'sizes' (1, 2) and
/// 'more', 5 a list with 5 and a dictionary, 6 nothing, 7 a link to box 1, 8 true, 9 NaN.
@Suite struct MixedTests {
    private let session: Session
    private let box: ClassID

    private static let schema = Schema([
        ClassSchema(
            "Box",
            [
                PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("number", .int),
                PropertySchema("value", .mixed),
                PropertySchema("values", .mixed, collection: .list),
                PropertySchema("map", .mixed, collection: .dictionary),
            ])
    ])

    init() throws {
        session = try Session.open(
            Configuration(
                location: .memory(name: "mixed \(UInt64.random(in: 0 ... .max))"),
                schema: Self.schema))
        let owner = try session.classHandle(named: "Box")
        box = owner.id
        let (id, number) = (
            try owner.property(named: "id").id, try owner.property(named: "number").id
        )
        let value = try owner.property(named: "value").id
        try session.beginWrite()
        let first = try session.create(box, [(id, .int(1)), (number, .int(5)), (value, .int(5))])
        let values: [Value] = [
            .double(5), .string("5"),
            .dictionary([
                ValueEntry(key: "more", value: .list([])),
                ValueEntry(key: "sizes", value: .list([.int(1), .int(2)])),
            ]),
            .list([.int(5), .dictionary([ValueEntry(key: "k", value: .string("v"))])]),
            .null, .link(first.ref), .bool(true), .double(.nan),
        ]
        for (index, content) in values.enumerated() {
            let made = try session.create(
                box, [(id, .int(Int64(index + 2))), (number, .int(1)), (value, content)])
            let list = try made.list(try owner.property(named: "values").id)
            if index < 2 { try list.append(content) }
            let map = try made.collection(try owner.property(named: "map").id, .dictionary)
            if index < 3 { try map.dictionarySet("k", content) }
        }
        try session.commit()
    }

    @Test func `A whole number of more digits than a decimal has is compared exactly`() throws {
        try withValues([
            .decimal(try #require(Decimal128("1E34"))), .double(1e34), .int(.max),
            .decimal(.infinity), .double(-.infinity), .double(1e35),
        ]) { ids throws in
            // 1E34 + 1, which is not a decimal, and the double next to 1E34, exactly.
            let large = "10000000000000000000000000000000001"
            #expect(try found("value == \(large)") == [])
            #expect(try found("value >= \(large)") == [ids[3], ids[5]])
            #expect(try found("value > \(large)") == [ids[3], ids[5]])
            #expect(try found("value < \(large) AND value > 9") == [ids[0], ids[1], ids[2]])
            #expect(try found("value IN {\(large), \(large), \(large), 5}") == [1, 2])
            #expect(try found("value BETWEEN {\(large), inf}") == [ids[3], ids[5]])
            let exactly = "9999999999999999455752309870428160"
            #expect(try found("value == \(exactly)") == [ids[1]])
            #expect(try found("value == 99999999999999996863366107917975552") == [ids[5]])
            let list = "{1E34, 99999999999999996863366107917975552, \(large), \(exactly)}"
            #expect(try found("value IN \(list)") == [ids[0], ids[1], ids[5]])
            #expect(try found("value > 99999999999999996863366107917975551") == [ids[3], ids[5]])
            #expect(try found("value > 99999999999999996863366107917975553") == [ids[3]])
            #expect(try found("value <= -\(large)") == [ids[4]])
        }
    }

    /// Runs a body with further boxes, from 10 on, which have these values.
    private func withValues(_ values: [Value], _ body: (_ ids: [Int64]) throws -> Void) throws {
        try session.beginWrite()
        defer { try? session.cancel() }
        let owner = try session.classHandle(named: "Box")
        for (index, value) in values.enumerated() {
            _ = try session.create(
                box,
                [
                    (try owner.property(named: "id").id, .int(Int64(10 + index))),
                    (try owner.property(named: "value").id, value),
                ])
        }
        try body(values.indices.map { Int64(10 + $0) })
    }

    @Test func `Two mixed values that are no texts are compared by value, whatever the options`()
        throws
    {
        let owner = try session.classHandle(named: "Box")
        let map = try owner.property(named: "map").id
        try withValues([.int(5), .string("Ab"), .bool(true), .null, .string("5"), .data([65])]) {
            ids throws in
            let others: [Value] = [
                .double(5), .string("aB"), .bool(true), .null, .int(5), .string("a"),
            ]
            for (id, value) in zip(ids, others) {
                let object = try #require(try session.find(Value.int(id), in: box))
                try object.collection(map, .dictionary).dictionarySet("k", value)
            }
            #expect(try found("value ==[c] map['k'] AND id >= 10") == Array(ids[..<4]))
            #expect(try found("map['k'] ==[cd] value AND id >= 10") == Array(ids[..<4]))
            #expect(try found("value !=[c] map['k'] AND id >= 10") == Array(ids[4...]))
            #expect(try found("value ==[c] number AND id >= 10") == [])
            #expect(try found("value ==[c] 5 AND id >= 10") == [ids[0]])
            #expect(try found("value ==[c] 'aB'") == [ids[1]])
        }
    }

    @Test func `The type of one element is compared with each of a list, as the element is`() throws
    {
        #expect(try found("values[0].@type == {'double', 'string'}") == [2, 3])
        #expect(try found("values[LAST].@type != {'double'}") == [3])
        #expect(try found("values.@type == {'double', 'string'}") == [])
        #expect(try found("values.@type == {'double'}") == [2])
        #expect(try found("value[0].@type == {'int', 'double'}") == [5])
        #expect(try found("value.sizes.@type == {'list', 'int'}") == [4])
        #expect(try found("value.sizes[0] == {1, 7}") == [4])
        #expect(try found("value.more.@count == {0, 1}") == [4])
    }

    private func found(_ query: String, _ arguments: [QueryArgument] = []) throws -> [Int64] {
        try session.results(of: box).filter(query, arguments: arguments).keys().map { $0 + 1 }
    }

    @Test(arguments: [
        ("value == 5", [1, 2]), ("value == 5.0", [1, 2]), ("value == '5'", [3]),
        ("value != 5", [3, 4, 5, 6, 7, 8, 9]), ("value == null", [6]), ("value > 4", [1, 2]),
        ("value < 6", [1, 2]), ("value == NaN", [9]), ("value == true", [8]),
        ("value == number", [1]), ("number == value", [1]), ("value == obj('Box', 1)", [7]),
        ("value IN {5, true}", [1, 2, 8]), ("value BETWEEN {4, 6}", [1, 2]),
        ("value BEGINSWITH '5'", [3]), ("value BEGINSWITH[c] '5'", [3]),
        ("value + 1 == 6", [1, 2]),
    ]) func `Values are compared with those of their kind`(query: String, ids: [Int64]) throws {
        #expect(try found(query) == ids)
    }

    @Test(arguments: [
        ("value.sizes[0] == 1", [4]), ("value['sizes'][*] == 2", [4]),
        ("value.sizes[LAST] == 2", [4]),
        ("value.sizes[2] == null", []), ("value.absent == null", [4]),
        ("value.@keys == 'more'", [4]),
        ("value[0] == 5", [5]), ("value[1].k == 'v'", [5]), ("value[*].k == 'v'", [5]),
        ("value.number == 5", [7]), ("value.value == 5", [7]), ("value.@count == 2", [4, 5]),
        ("value.sizes.@count == 2", [4]), ("value.more.@size == 0", [4]),
        ("NONE value.sizes[*] == 1", [1, 2, 3, 5, 6, 7, 8, 9]),
        ("values == 5", [2]), ("values[0] == '5'", [3]), ("values.@sum == 5", [2]),
        ("map.k == '5'", [3]), ("map['k'].sizes[0] == 1", [4]), ("map.@values == 5", [2]),
        ("@links.@count == 1", [1]), ("@links.Box.value.id == 7", [1]),
    ]) func `Paths lead into lists, dictionaries and linked objects`(query: String, ids: [Int64])
        throws
    {
        #expect(try found(query) == ids, "\(query)")
    }

    @Test(arguments: [
        ("value.@type == 'int'", [1]), ("value.@type == 'NUMERIC'", [1, 2, 9]),
        ("value.@type == 'null'", [6]), ("value.@type IN {'list', 'dictionary'}", [4, 5]),
        ("value.@type != 'link'", [1, 2, 3, 4, 5, 6, 8, 9]), ("value[*].@type == 'int'", [5]),
        ("value.sizes.@type == 'list'", [4]),
    ]) func `Types have names`(query: String, ids: [Int64]) throws {
        #expect(try found(query) == ids)
    }

    @Test func `Values sort by kind and then by value and equal numbers are told apart once`()
        throws
    {
        #expect(try found("TRUEPREDICATE SORT(value ASC)") == [6, 8, 9, 1, 2, 3, 7, 5, 4])
        #expect(try found("TRUEPREDICATE DISTINCT(value)") == [1, 3, 4, 5, 6, 7, 8, 9])
        let results = try session.results(of: box)
        let value = try session.classHandle(named: "Box").property(named: "value").id
        guard case .decimal(let sum) = try results.aggregate(.sum, of: value) else {
            Issue.record("the sum is no decimal")
            return
        }
        #expect(sum.description == "10")
        #expect(try results.aggregate(.minimum, of: value) == .bool(true))
    }

    /// Values that are near each other, some of them equal in number or in their first 200 bytes.
    private static let neighbours: [Value] = {
        var values: [Value] = [.null, .bool(false), .bool(true), .uuid(.zero), .objectId(.zero)]
        let doubles: [Double] = [
            -0.0, 0, 0.1, 0.5, 1, 0x1p53, 0x1p53 + 2, 1e300, .infinity, -.infinity, .nan,
        ]
        for number in doubles {
            values.append(.double(number))
            values.append(.float(Float(number)))
            values.append(.decimal(Decimal128(number)))
        }
        let integers: [Int64] = [0, 1, -1, 1 << 53, 1 << 53 + 1, .max, .min]
        for number in integers {
            values.append(.int(number))
            values.append(.decimal(Decimal128(number)))
        }
        for text in ["", "a", "a\0", "a\0b", "b", longText, longText + "x", longText + "y"] {
            values.append(.string(text))
            values.append(.data(Array(text.utf8)))
        }
        if let tenth = Decimal128("0.1") { values.append(.decimal(tenth)) }
        values.append(.list([]))
        values.append(.list([.int(1)]))
        values.append(.dictionary([]))
        values.append(.date(Timestamp(seconds: 0, nanoseconds: 0)))
        values.append(.date(Timestamp(seconds: -1, nanoseconds: -1)))
        values.append(.link(ObjectRef(classID: 1, key: 0)))
        return values
    }()
    private static let longText = String(repeating: "l", count: 200)

    @Test func `An index gives the answers that there are without it`() throws {
        let session = try Session.open(
            Configuration(
                location: .memory(name: "twins \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([
                    ClassSchema(
                        "Twin",
                        [
                            PropertySchema("plain", .mixed),
                            PropertySchema("indexed", .mixed, isIndexed: true),
                        ])
                ])))
        let owner = try session.classHandle(named: "Twin"),
            plain = try owner.property(named: "plain").id,
            indexed = try owner.property(named: "indexed").id
        try session.beginWrite()
        let first = try session.create(owner.id, [])
        for number in 0..<2_280 {
            let place = number % 30, values = Self.neighbours
            var value: Value = place > 2 ? .int(Int64(number)) : values[number / 30 % values.count]
            if case .link = value { value = .link(first.ref) }
            _ = try session.create(owner.id, [(plain, value), (indexed, value)])
        }
        try session.commit()
        var served = 0
        func compare(_ query: String, _ arguments: [QueryArgument] = []) throws {
            let all = try session.results(of: owner.id)
            let one = try all.filter("plain " + query, arguments: arguments),
                other = try all.filter("indexed " + query, arguments: arguments)
            #expect(try one.keys() == other.keys(), "\(query) \(arguments)")
            if try other.explain().contains("index Twin.indexed") { served += 1 }
        }
        for comparator in ["==", "!=", "<", "<=", ">", ">="] {
            for value in Self.neighbours {
                if case .list = value { continue }
                if case .dictionary = value { continue }
                var value = value
                if case .link = value { value = .link(first.ref) }
                switch value {
                case .bool, .link:
                    if comparator.first == "<" || comparator.first == ">" { continue }
                default: break
                }
                try compare("\(comparator) $0", [.value(value)])
                try compare("\(comparator) $0 AND plain != 7", [.value(value)])
            }
            for text in ["0.1", "9007199254740993", "1e400", "-0.0", "'a'"] {
                try compare("\(comparator) \(text)")
            }
        }
        try compare("IN {1, 0.1, 'a', true, null}")
        try compare("BETWEEN {0.1, 1}")
        try compare("==[c] 'A'")
        try compare("BEGINSWITH 'a'")
        #expect(served > 300)
        #expect(try session.checkEverything().problems.isEmpty)
    }

    @Test(arguments: [
        ("value.@type == 'colour'", "numeric"), ("number.@type == 'int'", "mixed"),
        ("value.@type > 'int'", "=="), ("value.@sum == 1", "@sum"), ("value == $0", "collection"),
    ]) func `What can't be asked is an error that says why`(query: String, words: String) throws {
        let error = #expect(throws: EngineError.self) {
            _ = try found(query, [.value(.list([.int(1)]))])
        }
        let message = "\(error?.message ?? "") \(error?.detail ?? "")"
        #expect(message.contains(words), "\(message)")
    }
}
