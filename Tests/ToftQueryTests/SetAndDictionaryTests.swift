// Tests: Members.swift
import Foundation
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit

@testable import ToftQuery

/// Queries on sets and dictionaries, with answers computed by hand.
///
/// Boxes: 1 and 2 hold things, 3 is empty, and 4 keeps the name of an item that is deleted. Items:
/// 10 a hammer that weighs 3, 11 a nail of 1, 12 a saw of 4.
@Suite struct SetAndDictionaryTests {
    private let session: Session
    private let box: ClassID
    private let item: ClassID

    private static let schema = Schema([
        ClassSchema(
            "Box",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("tags", .string, collection: .set),
                PropertySchema("sizes", .int, collection: .set, isOptional: true),
                PropertySchema("scores", .int, collection: .dictionary),
                PropertySchema("words", .string, collection: .dictionary, isOptional: true),
                PropertySchema("flags", .bool, collection: .dictionary),
                PropertySchema("bits", .bool, collection: .set),
                PropertySchema("items", .link, collection: .set, target: "Item"),
                PropertySchema(
                    "named", .link, collection: .dictionary, isOptional: true, target: "Item"),
            ]),
        ClassSchema(
            "Item",
            [
                PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("name", .string),
                PropertySchema("weight", .int), PropertySchema("isHeavy", .bool),
                .link("box", to: "Box"),
                .linkingObjects("boxes", from: "Box", "items"),
                .linkingObjects("labels", from: "Box", "named"),
            ]),
    ])

    init() throws {
        session = try Session.open(
            Configuration(
                location: .memory(name: "boxes \(UInt64.random(in: 0 ... .max))"),
                schema: Self.schema))
        box = try session.classHandle(named: "Box").id
        item = try session.classHandle(named: "Item").id
        try session.beginWrite()
        for (id, name, weight) in [
            (10, "hammer", 3), (11, "nail", 1), (12, "saw", 4), (13, "ghost", 0),
        ] {
            try session.create(
                item,
                [
                    (try property("id", item), .int(Int64(id))),
                    (try property("name", item), .string(name)),
                    (try property("weight", item), .int(Int64(weight))),
                ])
        }
        for id in 1...4 {
            let object = try session.create(box, [(try property("id"), .int(Int64(id)))])
            if id < 4 {
                try session.object(try ref(9 + Int64(id)))?.set(
                    try property("box", item), Value.link(object.ref))
            }
        }
        try fill()
        try session.commit()
        try session.beginWrite()
        try session.object(try ref(13))?.delete()
        try session.commit()
    }

    private func fill() throws {
        for tag in ["b", "a", "b"] { try insert(.string(tag), in: "tags", of: 1) }
        try insert(.string("b"), in: "tags", of: 2)
        for tag in ["é", ""] { try insert(.string(tag), in: "tags", of: 4) }
        for size in [Value.int(1), .null] { try insert(size, in: "sizes", of: 1) }
        for size in [5, 3] { try insert(.int(Int64(size)), in: "sizes", of: 4) }
        for id in [11, 10] { try insert(.link(try ref(Int64(id))), in: "items", of: 1) }
        try insert(.link(try ref(11)), in: "items", of: 2)
        try put(["math": .int(5), "art": .int(7)], in: "scores", of: 1)
        try put(["math": .int(9)], in: "scores", of: 2)
        try put(["": .int(0), "key one": .int(-1)], in: "scores", of: 4)
        try put(["x": .null, "y": .string("hello")], in: "words", of: 1)
        try put(["y": .string("abc")], in: "words", of: 2)
        try put(["x": .string("É")], in: "words", of: 4)
        try put(["on": .bool(true), "off": .bool(false)], in: "flags", of: 1)
        try put(["on": .bool(true)], in: "flags", of: 2)
        try put(
            ["first": .link(try ref(10)), "second": .link(try ref(11))], in: "named", of: 1)
        try put(["first": .link(try ref(12))], in: "named", of: 2)
        try put(["gone": .link(try ref(13))], in: "named", of: 4)
    }

    // MARK: Names

    private func property(_ name: String, _ owner: ClassID? = nil) throws -> PropertyID {
        try session.classHandle(owner ?? box).property(named: name).id
    }

    private func ref(_ id: Int64) throws -> ObjectRef {
        try #require(try session.find(Value.int(id), in: item)).ref
    }

    private func find(_ id: Int64) throws -> ObjectHandle {
        try #require(try session.find(Value.int(id), in: box))
    }

    private func insert(_ value: Value, in name: String, of id: Int64) throws {
        try find(id).collection(try property(name), .set).setInsert(value)
    }

    private func put(_ entries: [String: Value], in name: String, of id: Int64) throws {
        let dictionary = try find(id).collection(try property(name), .dictionary)
        for (key, value) in entries { try dictionary.dictionarySet(key, value) }
    }

    private func ids(
        _ query: String, _ arguments: [QueryArgument] = [], of owner: ClassID? = nil,
        in other: Session? = nil
    ) throws -> [Int64] {
        let owner = owner ?? box
        let id = try property("id", owner)
        let results = try (other ?? session).results(of: owner).filter(query, arguments: arguments)
        return try (0..<(try results.count)).compactMap {
            if case .int(let value) = try results.object(at: $0).value(id) { value } else { nil }
        }
    }

    private func expectSound() throws {
        #expect(try session.checkEverything().problems.isEmpty)
    }

    // MARK: Sets

    @Test(arguments: [
        ("tags == 'b'", [1, 2]), ("ALL tags == 'b'", [2, 3]), ("NONE tags == 'b'", [3, 4]),
        ("tags.@count == 2", [1, 4]), ("tags.@size == 0", [3]), ("'é' IN tags", [4]),
        ("tags ==[c] 'É'", [4]), ("tags BEGINSWITH ''", [1, 2, 4]), ("tags.length == 2", [4]),
        ("tags IN {'a', 'é'}", [1, 4]), ("tags == {'a', 'b'}", [1]), ("tags == {}", [3]),
        ("tags != {'b'}", [1, 3, 4]), ("sizes == null", [1]), ("sizes != null", [1, 4]),
        ("ALL sizes BETWEEN {3, 5}", [2, 3, 4]), ("sizes.@sum == 8", [4]),
        ("sizes.@min == null", [2, 3]), ("sizes.@max == 5", [4]), ("sizes.@avg == 1", [1]),
        ("sizes + 1 == 6", [4]), ("sizes == id", [1]), ("sizes == {null, 1}", [1]),
        ("items.name == 'nail'", [1, 2]), ("ALL items.weight > 0", [1, 2, 3, 4]),
        ("items.@max.weight == 3", [1]), ("items.@sum.weight == 1", [2]),
        ("items == obj('Item', 10)", [1]), ("NONE items == obj('Item', 11)", [3, 4]),
        ("SUBQUERY(items, $i, $i.weight > 2).@count == 1", [1]),
        ("SUBQUERY(items, $i, $i.boxes.@count == 2).@count == 1", [1, 2]),
        ("items.box.tags == 'a'", [1]), ("items.box.sizes.@count == 2", [1]),
    ]) func `A set is asked as a list is`(query: String, answer: [Int64]) throws {
        #expect(try ids(query) == answer, "\(query)")
        try expectSound()
    }

    /// A set has no order: before, only a list in ascending order was equal to one.
    @Test(arguments: [
        ("tags == {'b', 'a'}", [1]), ("tags == {'a', 'b', 'a', 'b'}", [1]), ("tags == {'a'}", []),
        ("tags == {'a', 'b', 'c'}", []), ("tags != {'b', 'a'}", [2, 3, 4]),
        ("tags ==[c] {'B', 'A'}", [1]), ("tags ==[cd] {'', 'E'}", [4]), ("{'b', 'a'} == tags", [1]),
        ("tags == {'é', ''}", [4]), ("tags == {'', 'é', null}", []), ("tags == {null}", []),
        ("tags != {}", [1, 2, 4]), ("NOT tags == {'b'}", [1, 3, 4]),
        ("sizes == {5, 3}", [4]), ("sizes == {3, 5, 3.0, '5'}", [4]), ("sizes == {1, null}", [1]),
        ("sizes == {null}", []), ("sizes == {5, 3, 3.5}", []),
        ("items == {obj('Item', 11), obj('Item', 10)}", [1]),
        ("items == {obj('Item', 10), obj('Item', 99)}", []),
        ("items.name == {'nail', 'hammer'}", [1]), ("items.weight == {3, 1, 1}", [1]),
        ("items.name == {'nail', 'nail'}", [2]), ("tags.length == {1}", [1, 2]),
        ("tags.length == {2, 0}", [4]), ("items.box.tags == {'b', 'a'}", [1]),
        // A dictionary has the order of its keys, and its values may be equal.
        ("scores == {7, 5}", [1]), ("scores == {5, 7}", []),
    ]) func `A set is equal to a list of its values in any order`(query: String, answer: [Int64])
        throws
    {
        #expect(try ids(query) == answer, "\(query)")
        try expectSound()
    }

    @Test func `What a set has of booleans is a list of them only if it has each`() throws {
        try session.beginWrite()
        defer { try? session.cancel() }
        for id: Int64 in 1...2 { try insert(.bool(true), in: "bits", of: id) }
        try insert(.bool(false), in: "bits", of: 2)
        #expect(try ids("bits == {true, false}") == [2])
        #expect(try ids("bits == {false, true}") == [2])
        #expect(try ids("bits == {true}") == [1])
        #expect(try ids("bits == {false}") == [])
        #expect(try ids("bits != {true, false}") == [1, 3, 4])
        // Items 10 and 11 are in box 1, item 11 is in box 2.
        try session.object(try ref(10))?.set(try property("isHeavy", item), Value.bool(true))
        #expect(try ids("items.isHeavy == {true, false}") == [1])
        #expect(try ids("items.isHeavy == {false}") == [2])
        #expect(try ids("items.isHeavy == {true}") == [])
        #expect(try ids("items.box.bits == {true, false}") == [1, 2])
        #expect(try ids("items.box.bits == {true}") == [])
    }

    @Test func `A set is compared with a list that is an argument, in any order`() throws {
        #expect(try ids("tags == $0", [.list([.string("b"), .string("a")])]) == [1])
        #expect(try ids("sizes != $0", [.list([.int(5), .int(3)])]) == [1, 2, 3])
        #expect(try ids("sizes == $0", [.list([])]) == [2, 3])
        // More elements than are read at once.
        try session.beginWrite()
        for size in 0..<600 { try insert(.int(Int64(size)), in: "sizes", of: 3) }
        try session.commit()
        for (sizes, answer) in [(0..<600, [Int64(3)]), (0..<599, []), (0..<601, [])] {
            let list = sizes.reversed().map { Value.int(Int64($0)) }
            #expect(try ids("sizes == $0", [.list(list)]) == answer)
        }
        let results = try session.results(of: box).filter("tags == {'b', 'a'}")
        #expect(try results.explain().contains("tags is a set of 2"))
        try expectSound()
    }

    // MARK: Dictionaries

    @Test(arguments: [
        ("scores == 5", [1]), ("scores.@values > 6", [1, 2]), ("ALL scores > 6", [2, 3]),
        ("scores[*] == 7", [1]), ("NONE scores.@values > 6", [3, 4]),
        ("scores.@count == 2", [1, 4]), ("scores.@values.@count == 1", [2]),
        ("scores.@sum == 12", [1]), ("scores.@values.@avg == -0.5", [4]),
        ("scores.@min == null", [3]), ("scores == {7, 5}", [1]), ("7 IN scores", [1]),
        ("scores IN {9, 0}", [2, 4]), ("scores + 1 == 1", [4]),
        ("scores == 'abc'", []), ("scores != 'abc'", [1, 2, 4]), ("scores == true", []),
        ("ALL scores == 'abc'", [3]), ("scores BEGINSWITH 'a'", []),
        ("scores.@max == 'abc'", []), ("words == null", [1]), ("words != null", [1, 2, 4]),
        ("words.@max == 'hello'", [1]), ("words.@min == 'É'", [4]), ("words.@min == null", [3]),
        ("words.@min < 'b'", [2]), ("flags.@min == false", [1]), ("flags.@max == true", [1, 2]),
        ("flags.@min == true", [2]), ("words.@values.length == 5", [1]),
    ]) func `The values of a dictionary are asked as a list is`(query: String, answer: [Int64])
        throws
    {
        #expect(try ids(query) == answer, "\(query)")
        try expectSound()
    }

    @Test(arguments: [
        ("scores['math'] == 9", [2]), ("scores.math == 5", [1]), ("9 == scores.math", [2]),
        ("scores['none'] == null", [1, 2, 3, 4]), ("scores['math'] == null", [3, 4]),
        ("scores['math'] != 5", [2, 3, 4]), ("NOT scores.math == 5", [2, 3, 4]),
        ("scores['math'] < 100", [1, 2]), ("scores[''] == 0", [4]),
        ("scores['key one'] < 0", [4]), ("scores['MATH'] == 5", []),
        ("scores.math IN {5, 9}", [1, 2]),
        ("scores['math'] == 'five'", []), ("scores['math'] != 'five'", [1, 2, 3, 4]),
        ("scores.math + 1 == 6", [1]), ("scores.math + scores.art == 12", [1]),
        ("scores.math > scores.art", []), ("scores.math < scores.art", [1]),
        ("ALL scores['math'] BETWEEN {5, 8}", [1]), ("ANY scores.math > 4", [1, 2]),
        ("NONE scores.math > 5", [1, 3, 4]), ("words['x'] == null", [1, 2, 3]),
        ("words['y'] CONTAINS 'l'", [1]), ("words.x ==[c] 'é'", [4]),
        ("words['y'].@size == 3", [2]), ("words.x.@count == 2", [4]), ("flags.on == true", [1, 2]),
        ("flags['off'] == false", [1]), ("flags.off == null", [2, 3, 4]),
    ]) func `A key gives its value, and a missing one null`(query: String, answer: [Int64]) throws {
        #expect(try ids(query) == answer, "\(query)")
        try expectSound()
    }

    @Test(arguments: [
        ("scores.@keys == 'art'", [1]), ("ANY scores.@keys == ''", [4]),
        ("ALL scores.@keys BEGINSWITH 'm'", [2, 3]), ("NONE scores.@keys == 'math'", [3, 4]),
        ("scores.@keys ENDSWITH[c] 'ONE'", [4]), ("scores.@keys LIKE '*a*t*'", [1, 2]),
        ("scores.@keys == {'art', 'math'}", [1]), ("scores.@keys IN {'art', 'zoo'}", [1]),
        ("scores.@keys == tags", [4]), ("named.@keys == 'gone'", [4]),
        ("items.box.scores.@keys == 'art'", [1]),
    ]) func `The keys of a dictionary are a collection of texts`(query: String, answer: [Int64])
        throws
    {
        // Two collections of values are not compared as a whole.
        if query.hasSuffix("tags") {
            #expect(throws: EngineError.self) { try ids(query) }
            #expect(try ids("ANY " + query) == answer)
        } else {
            #expect(try ids(query) == answer, "\(query)")
        }
        try expectSound()
    }

    @Test(arguments: [
        ("named['first'].name == 'hammer'", [1]), ("named.first.name == 'saw'", [2]),
        ("named.name == 'nail'", [1]), ("named.@values.name == 'saw'", [2]),
        ("named[*].weight > 3", [2]), ("named['first'] == obj('Item', 12)", [2]),
        ("named['gone'] == null", [1, 2, 3, 4]), ("named['first'] != null", [1, 2]),
        ("named['first'].name == null", [3, 4]), ("named.@count == 1", [2, 4]),
        ("ALL named.weight >= 3", [2, 3, 4]), ("named['first'].@count == 1", [1, 2]),
        ("named.gone.@count == 0", [1, 2, 3, 4]), ("named.@max.weight == 4", [2]),
        ("named.@sum.weight == 0", [3, 4]), ("ANY named['first'].name == 'saw'", [2]),
        ("SUBQUERY(named, $n, $n.weight >= 3).@count == 1", [1, 2]),
        ("named['first'].box.scores['math'] == 5", [1]), ("named.box.scores.math == 9", [1]),
        ("named['first'].box.named['first'].weight == 3", [1]), ("named == obj('Item', 11)", [1]),
        ("named['first'] == items", [1]), ("named['first'].boxes.@count == 1", [1]),
        ("named['first'].weight + id == 6", [2]),
        ("TRUEPREDICATE SORT(scores.math DESC)", [2, 1, 3, 4]),
        ("TRUEPREDICATE SORT(named['first'].weight ASC)", [3, 4, 1, 2]),
        ("TRUEPREDICATE SORT(words['y'] ASC) LIMIT(3)", [3, 4, 2]),
        ("TRUEPREDICATE DISTINCT(scores['math'])", [1, 2, 3]),
    ]) func `A key of links leads on, and deleted objects are null`(query: String, answer: [Int64])
        throws
    {
        #expect(try ids(query) == answer, "\(query)")
        try expectSound()
    }

    @Test(arguments: [
        ("boxes.@count == 2", [11]), ("ANY boxes.id == 1", [10, 11]), ("labels.id == 2", [12]),
        ("labels.@count == 0", []), ("NONE labels.scores.@keys == 'art'", [12]),
        ("@links.Box.named.id == 1", [10, 11]), ("@links.Box.items.@count == 2", [11]),
        ("@links.@count == 3", [11]), ("labels.scores['math'] == 9", [12]),
        ("SUBQUERY(boxes, $b, $b.tags == 'a').@count == 1", [10, 11]),
    ]) func `Sets and dictionaries are seen from what they link to`(query: String, answer: [Int64])
        throws
    {
        #expect(try ids(query, of: item) == answer, "\(query)")
        try expectSound()
    }

    @Test func `Arguments are keys, values and sets of values`() throws {
        #expect(try ids("scores[$0] > $1", [.value(.string("math")), .value(.int(6))]) == [2])
        #expect(try ids("named[$0].name == 'saw'", [.value(.string("first"))]) == [2])
        #expect(try ids("$K0 == 5", [.value(.string("scores.math"))]) == [1])
        #expect(try ids("tags IN $0", [.list([.string("a"), .string("é")])]) == [1, 4])
        #expect(try ids("scores['math'] IN $0", [.list([.int(9), .null])]) == [2, 3, 4])
        #expect(try ids("items == $0", [.value(.link(try ref(10)))]) == [1])
        #expect(try ids("named['first'] == $0", [.value(.link(try ref(12)))]) == [2])
        try expectSound()
    }

    // MARK: What is refused

    /// A query, the error that it is refused with, where, and a part of the message.
    typealias Refusal = (query: String, code: ErrorCode, offset: Int, words: String)

    static let refusals: [Refusal] = [
        ("tags[0] == 'a'", .invalidQuery, 5, "no index"),
        ("tags[*] == 'a'", .invalidQuery, 5, "ANY, ALL and NONE"),
        ("items[FIRST].name == 'a'", .invalidQuery, 6, "'items'"),
        ("scores[0] == 5", .invalidQuery, 7, "scores['key']"),
        ("named[LAST] == 5", .invalidQuery, 6, "named['key']"),
        ("scores.@values['a'] == 5", .invalidQuery, 15, "no index"),
        ("scores[ == 5", .querySyntax, 8, "in quotes the key"),
        ("scores['a' == 5", .querySyntax, 11, "after the index"),
        ("scores['a", .querySyntax, 7, "quote"),
        ("scores.@keys.@count == 2", .queryTypeMismatch, 13, "scores.@count"),
        ("scores.@keys == 5", .queryTypeMismatch, 16, "string"),
        ("'a' IN scores.@keys", .invalidQuery, 4, "scores.@keys == 'key'"),
        ("tags.@keys == 'a'", .queryTypeMismatch, 5, "dictionaries"),
        ("id.@values == 1", .queryTypeMismatch, 3, "dictionaries"),
        ("named == null", .queryTypeMismatch, 9, "named.@count == 0"),
        ("named == 'a'", .queryTypeMismatch, 9, "link to Item"),
        ("named.naem == 'nail'", .queryTypeMismatch, 14, "link to Item"),
        ("named.nam == 'nail'", .queryTypeMismatch, 13, "'name'"),
        ("named.first > obj('Item', 1)", .queryTypeMismatch, 12, "=="),
        ("scores['a'] BETWEEN {1, 2}", .invalidQuery, 12, "ALL"),
        ("tags == 5", .queryTypeMismatch, 8, "string"),
        ("words.@sum == 1", .queryTypeMismatch, 6, "@sum"),
        ("tag == 'a'", .invalidQuery, 0, "'tags'"),
        ("named['first'].nam == 'a'", .invalidQuery, 15, "'name'"),
        ("scores['a'].b == 1", .invalidQuery, 12, "'b'"),
        ("SUBQUERY(scores, $s, $s > 1).@count > 0", .invalidQuery, 9, "single values"),
        ("SUBQUERY(named['a'], $n, $n.id > 1).@count > 0", .invalidQuery, 9, "to one object"),
        ("SUBQUERY(id, $i, $i > 1).@count > 0", .invalidQuery, 9, "type int"),
        ("tags GEOWITHIN geoBox([0, 0], [1, 1])", .invalidQuery, 5, "Geographic search"),
        ("tags TEXT 'a'", .invalidQuery, 5, "Full-text search"),
        ("TRUEPREDICATE SORT(scores ASC)", .invalidQuery, 19, "more than one value"),
        ("TRUEPREDICATE DISTINCT(tags)", .invalidQuery, 23, "more than one value"),
        ("TRUEPREDICATE SORT(scores.@keys ASC)", .querySyntax, 26, "@keys"),
    ]

    @Test(arguments: refusals) func `What a query gets wrong is named with its place`(
        _ refusal: Refusal
    ) throws {
        let (query, code, offset, words) = refusal
        do {
            _ = try ids(query)
            Issue.record("\(query) was answered")
        } catch {
            let error = try #require(error as? EngineError)
            #expect(error.code == code, "\(query): \(error)")
            #expect(error.number == Int64(offset), "\(query): \(error)")
            #expect("\(error)".contains(words), "\(query): \(error)")
            #expect("\(error)".contains("^"), "\(query): \(error)")
        }
        try expectSound()
    }

    @Test func `An argument that is no key is refused`() throws {
        for argument in [QueryArgument.value(.int(1)), .value(.null), .list([.string("math")])] {
            #expect(throws: EngineError.self) { try ids("scores[$0] == 5", [argument]) }
        }
        #expect(throws: EngineError.self) { try ids("scores[$1] == 5", [.value(.string("math"))]) }
        try expectSound()
    }

    // MARK: As the data changes

    @Test func `A deleted object leaves sets, and leaves null under its key`() throws {
        try session.beginWrite()
        try session.object(try ref(11))?.delete()
        #expect(try ids("items.name == 'nail'") == [])
        #expect(try ids("items.@count == 1") == [1])
        #expect(try ids("named.second == null AND named.@keys == 'second'") == [1])
        try session.commit()
        #expect(try ids("items.@count == 0") == [2, 3, 4])
        #expect(try ids("named.@count == 2") == [1])
        #expect(try ids("named['second'].name == null") == [1, 2, 3, 4])
        #expect(try ids("named.@min.weight == 3") == [1])
        try session.beginWrite()
        try find(1).delete()
        try session.commit()
        #expect(try ids("@links.@count == 0", of: item) == [10])
        try expectSound()
    }

    @Test func `A transaction's changes are seen before they are committed, and only by it`() throws
    {
        let frozen = try session.frozen()
        try session.beginWrite()
        try put(["math": .int(100), "zoo": .int(1)], in: "scores", of: 3)
        try insert(.string("c"), in: "tags", of: 3)
        #expect(try ids("scores['math'] == 100 AND tags == 'c'") == [3])
        #expect(try ids("scores.@keys == 'zoo'") == [3])
        let scores = try find(3).collection(try property("scores"), .dictionary)
        #expect(try Array("math".utf8).withUnsafeBytes { try scores.dictionaryErase($0) })
        #expect(try ids("scores['math'] == 100") == [])
        #expect(try ids("scores['math'] == 100", in: frozen) == [])
        try session.cancel()
        #expect(try ids("scores.@count == 0") == [3])
        try session.beginWrite()
        try put(["math": .int(6)], in: "scores", of: 1)
        try session.commit()
        #expect(try ids("scores.math == 6") == [1])
        #expect(try ids("scores.math == 5", in: frozen) == [1])
        #expect(try ids("scores.math == 6", in: frozen) == [])
        try expectSound()
    }

    @Test(arguments: [
        "scores['math'] == 100", "scores.@keys == 'new'", "tags == 'new'",
        "named['first'].name == 'new'", "items.name == 'new'",
    ]) func `Observers of results hear of what their query asks`(query: String) throws {
        let results = try session.results(of: box).filter(query)
        var inserted: [[Int]] = []
        let token = try results.observe { inserted.append($0.collection.insertions.map { $0 }) }
        _ = try session.dispatch()
        try session.beginWrite()
        try put(["math": .int(100), "new": .int(1)], in: "scores", of: 1)
        try insert(.string("new"), in: "tags", of: 1)
        try session.object(try ref(10))?.set(try property("name", item), .string("new"))
        try session.commit()
        for _ in 0..<5000 where inserted.count < 2 {
            _ = try session.dispatch()
            usleep(1000)
        }
        #expect(inserted == [[], [0]], "\(query)")
        token.stop()
        try expectSound()
    }

    @Test func `A plan looks into collections row by row, whatever indexes there are`() throws {
        let plan = try session.results(of: box).filter("scores['math'] == 5 AND sizes > 0")
            .explain()
        #expect(plan.contains("scan 4 objects of Box"), "\(plan)")
        #expect(!plan.contains("skipping"), "\(plan)")
        #expect(plan.contains("scores['math'] is 5"), "\(plan)")
        #expect(plan.contains("ANY sizes is in"), "\(plan)")
        #expect(
            try session.results(of: box).filter("scores.@keys == 'a' SORT(scores.math ASC)")
                .explain().contains("sort by scores.math ascending"))
    }

    @Test func `Long and many dictionaries give the same as plain ones in memory`() throws {
        var random = Seed.random()
        print("dictionaries, seed \(random)")
        var expected: [Int64: [String: Int64]] = [:]
        try session.beginWrite()
        for id in Int64(100)..<700 {
            let object = try session.create(box, [(try property("id"), .int(id))])
            let dictionary = try object.collection(try property("scores"), .dictionary)
            let count = random.chance(1) ? 3000 : random.below(12)
            for _ in 0..<count {
                let key = "k\(random.below(count < 100 ? 20 : 4000))",
                    value = Int64(random.below(5))
                try dictionary.dictionarySet(key, .int(value))
                expected[id, default: [:]][key] = value
            }
            // The last owner of item 10 is queried through a link, too.
            try session.object(try ref(10))?.set(try property("box", item), Value.link(object.ref))
        }
        for id in Int64(1)...4 { try find(id).delete() }
        try session.commit()
        for key in (0..<20).map({ "k\($0)" }) + ["k3999", "k4000", "", "k", "k00"] {
            for value in Int64(0)..<5 {
                let answer = (Int64(100)..<700).filter { expected[$0]?[key] == value }
                #expect(try ids("scores['\(key)'] == \(value)") == answer)
            }
            let holders = (Int64(100)..<700).filter { expected[$0]?[key] != nil }
            #expect(try ids("scores.@keys == '\(key)'") == holders)
            #expect(try ids("scores['\(key)'] != null") == holders)
            #expect(
                try ids("box.scores['\(key)'] != null", of: item)
                    == (expected[699]?[key] == nil ? [] : [10]))
        }
        try expectSound()
    }
}
