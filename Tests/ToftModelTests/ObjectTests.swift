// Tests: Object.swift
import Testing
@testable import ToftModel
import ToftStorage

@Suite struct ObjectTests {
    static let scalars: [PropertyType] = [
        .bool, .int, .float, .double, .string, .data, .date, .uuid, .objectId, .decimal128,
    ]
    static let everything = ClassSchema(
        "Everything",
        scalars.map { PropertySchema("\($0)", $0) }
            + scalars.map { PropertySchema("optional_\($0)", $0, isOptional: true) })
    static let samples: [(String, Value)] = [
        ("bool", .bool(true)), ("int", .int(.min)), ("float", .float(1.5)),
        ("double", .double(-0.0)), ("string", .string("a\u{0}é😀")),
        ("data", .data([0, 255, 0])),
        ("date", .date(Timestamp(seconds: -5, nanoseconds: -999_999_999))),
        ("uuid", .uuid(FixedBytes(high: .max, low: 1))),
        ("objectId", .objectId(FixedBytes(high: 1, low: .max << 32))),
        ("decimal128", .decimal(.greatest)),
    ]

    @Test func `A new object has nulls and zeros`() throws {
        let database = try ModelDatabase(Self.everything)
        let key = try database.write { try $0.create("Everything") }
        try database.read { view throws in
            for type in Self.scalars {
                #expect(try view.value(key, "Everything", "optional_\(type)") == .null)
            }
            #expect(try view.value(key, "Everything", "bool") == .bool(false))
            #expect(try view.value(key, "Everything", "int") == .int(0))
            #expect(try view.value(key, "Everything", "float") == .float(0))
            #expect(try view.value(key, "Everything", "double") == .double(0))
            #expect(try view.value(key, "Everything", "string") == .string(""))
            #expect(try view.value(key, "Everything", "data") == .data([]))
            #expect(
                try view.value(key, "Everything", "date")
                    == .date(Timestamp(seconds: 0, nanoseconds: 0)))
            #expect(try view.value(key, "Everything", "uuid") == .uuid(.zero))
            #expect(try view.value(key, "Everything", "objectId") == .objectId(.zero))
            #expect(try view.value(key, "Everything", "decimal128").description == "0")
        }
        try database.check()
    }

    @Test func `Every type reads back what was set and can be null where it is optional`() throws {
        let database = try ModelDatabase(Self.everything)
        let key = try database.write { transaction throws in
            let key = try transaction.create("Everything")
            for (name, value) in Self.samples {
                try transaction.set(key, "Everything", name, value)
                try transaction.set(key, "Everything", "optional_" + name, value)
            }
            return key
        }
        try database.read { view throws in
            for (name, value) in Self.samples {
                #expect(try view.value(key, "Everything", name) == value)
                #expect(try view.value(key, "Everything", "optional_" + name) == value)
            }
        }
        try database.write { transaction throws in
            for (name, _) in Self.samples {
                try transaction.set(key, "Everything", "optional_" + name, .null)
            }
        }
        try database.read { view throws in
            for (name, _) in Self.samples {
                #expect(try view.value(key, "Everything", "optional_" + name) == .null)
            }
        }
        try database.check()
    }

    @Test func `Null for what is not optional and other types are refused`() throws {
        let database = try ModelDatabase(Self.everything)
        try database.write { transaction throws in
            let key = try transaction.create("Everything")
            for (name, _) in Self.samples {
                #expect(
                    message { try transaction.set(key, "Everything", name, .null) }
                        == "Property 'Everything.\(name)' is not optional and can't be null.")
                for (other, value) in Self.samples where other != name {
                    #expect(
                        message { try transaction.set(key, "Everything", name, value) }
                            == "Property 'Everything.\(name)' holds \(name), not \(other).")
                }
            }
        }
        try database.check()
    }

    @Test func `A value may fill its limit and not one byte more`() throws {
        let database = try ModelDatabase(
            ClassSchema(
                "A",
                [PropertySchema("text", .string, isIndexed: true), PropertySchema("bytes", .data)]))
        let limit = 16 * 1024 * 1024 - 1
        let key = try database.write { transaction throws in
            let key = try transaction.create("A")
            try transaction.set(key, "A", "text", .string(String(repeating: "x", count: limit)))
            try transaction.set(key, "A", "bytes", .data([UInt8](repeating: 7, count: limit)))
            let tooLong = message {
                try transaction.set(
                    key, "A", "text", .string(String(repeating: "x", count: limit + 1)))
            }
            #expect(
                tooLong
                    == "A value of 16777216 bytes is too long for property 'A.text'; "
                    + "the limit is 16777215 bytes."
            )
            #expect(
                message {
                    try transaction.set(
                        key, "A", "bytes", .data([UInt8](repeating: 7, count: limit + 1)))
                }.contains("too long"))
            return key
        }
        try database.read { view throws in
            guard case .string(let text) = try view.value(key, "A", "text") else {
                throw ModelError.noSuchClass("A")
            }
            #expect(text.utf8.count == limit)
        }
        try database.check()
    }

    @Test func `Text that is not UTF-8 is refused`() throws {
        let database = try ModelDatabase(ClassSchema("A", [PropertySchema("text", .string)]))
        try database.write { transaction throws in
            let key = try transaction.create("A"), text = try database.property("A", "text")
            for bytes: [UInt8] in [
                [0xFF], [0xC3], [0x61, 0xED, 0xA0, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
                Array("12345678".utf8) + [0x80],
            ] {
                bytes.withUnsafeBytes { bytes in
                    #expect(
                        message { try transaction.set(key, text, BorrowedValue.string(bytes)) }
                            == "The text for property 'A.text' is not valid UTF-8.")
                }
            }
        }
        try database.check()
    }

    @Test func `Dates have nanoseconds of the sign of their seconds`() throws {
        let database = try ModelDatabase(ClassSchema("A", [PropertySchema("date", .date)]))
        try database.write { transaction throws in
            let key = try transaction.create("A")
            for (seconds, nanoseconds) in [
                (Int64(1), Int32(-1)), (-1, 1), (0, 1_000_000_000), (0, -1_000_000_000),
            ] {
                let date = Value.date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
                #expect(
                    message { try transaction.set(key, "A", "date", date) }.contains("is invalid"))
            }
            for (seconds, nanoseconds) in [
                (Int64.max, Int32(999_999_999)), (.min, -999_999_999), (0, -1), (0, 1),
            ] {
                let date = Value.date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
                try transaction.set(key, "A", "date", date)
                #expect(try transaction.view.value(key, "A", "date") == date)
            }
        }
        try database.check()
    }

    @Test func `Unknown classes properties and objects are named`() throws {
        let database = try ModelDatabase(ClassSchema("A", [PropertySchema("x", .int)]))
        try database.write { transaction throws in
            #expect(message { try transaction.create("B") } == "The schema has no class 'B'.")
            #expect(
                message { try transaction.create("A", ["y": .int(1)]) }
                    == "Class 'A' has no property 'y'.")
            #expect(
                message { try transaction.set(9, "A", "x", .int(1)) }
                    == "The object of class 'A' has been deleted or invalidated.")
            #expect(
                message { try transaction.erase(9, "A") }
                    == "The object of class 'A' has been deleted or invalidated.")
            #expect(
                message { _ = try transaction.view.value(-1, "A", "x") }
                    == "The object of class 'A' has been deleted or invalidated.")
        }
        try database.check()
    }

    @Test
    func `Keys are never used again even after the last object went and the file was reopened`()
        throws
    {
        let database = try ModelDatabase(ClassSchema("A"))
        var seen = Set<Int64>()
        for _ in 0..<20 {
            let key = try database.write { transaction throws in
                let key = try transaction.create("A")
                try transaction.erase(key, "A")
                return try transaction.create("A")
            }
            #expect(seen.insert(key).inserted)
            try database.write { try $0.erase(key, "A") }
            try database.reopen(ClassSchema("A"))
        }
        try database.check()
    }

    @Test func `Setting several properties is all or nothing`() throws {
        let database = try ModelDatabase(
            ClassSchema(
                "A",
                [
                    PropertySchema("x", .int), PropertySchema("y", .string),
                    PropertySchema("l", .int, collection: .list),
                ]))
        try database.write { transaction throws in
            let owner = try database.handle("A"), x = try owner.property(named: "x"),
                y = try owner.property(named: "y")
            let key = try transaction.create("A", ["x": .int(1), "y": .string("one")])
            #expect(throws: ModelError.self) {
                try transaction.set(key, owner, [(x, .int(2)), (y, .int(3))])
            }
            #expect(try transaction.view.value(key, "A", "x") == .int(1))
            #expect(throws: ModelError.self) {
                try transaction.create("A", ["x": .int(5), "y": .null])
            }
            #expect(try transaction.view.count(owner) == 1)
            try transaction.set(key, owner, [(x, .int(2)), (y, .string("two")), (x, .int(7))])
            #expect(try transaction.view.value(key, "A", "x") == .int(7))
        }
        try database.check()
    }

    @Test func `A rolled back transaction leaves nothing`() throws {
        let database = try ModelDatabase(
            ClassSchema("A", [PropertySchema("x", .int, isPrimaryKey: true)]))
        try database.write { try $0.create("A", ["x": .int(1)]) }
        try database.rolledBack { transaction throws in
            try transaction.create("A", ["x": .int(2)])
            try transaction.erase(try #require(try transaction.view.find("A", .int(1))), "A")
        }
        try database.read { view throws in
            #expect(try view.find("A", .int(1)) != nil)
            #expect(try view.find("A", .int(2)) == nil)
        }
        try database.check()
    }

    @Test func `A reader keeps its version while objects change`() throws {
        let database = try ModelDatabase(
            ClassSchema("A", [PropertySchema("x", .int, isIndexed: true)]))
        let key = try database.write { try $0.create("A", ["x": .int(1)]) }
        let before = try database.view()
        try database.write { transaction throws in
            try transaction.set(key, "A", "x", .int(2))
            try transaction.create("A", ["x": .int(1)])
        }
        #expect(try before.value(key, "A", "x") == .int(1))
        #expect(try before.keys("A", "x", equalTo: .int(1)) == [key])
        #expect(try database.read { try $0.value(key, "A", "x") } == .int(2))
        before.snapshot.release()
        try database.check()
    }

    @Test func `Bytes that come from the database itself can be set`() throws {
        let database = try ModelDatabase(
            ClassSchema("A", [PropertySchema("text", .string, isIndexed: true)]))
        try database.write { transaction throws in
            let text = try database.property("A", "text")
            let first = try transaction.create(
                "A", ["text": .string("some text that lies in a page")])
            for _ in 0..<300 {
                let second = try transaction.create("A")
                guard case .bytes(let bytes) = try transaction.view.cell(first, text) else {
                    continue
                }
                try transaction.set(second, text, BorrowedValue.string(bytes))
                guard case .bytes(let again) = try transaction.view.cell(first, text) else {
                    continue
                }
                try transaction.set(first, text, BorrowedValue.string(again))
                #expect(
                    try transaction.view.value(second, "A", "text")
                        == .string("some text that lies in a page"))
            }
        }
        try database.check()
    }
}
