// Tests: Cell+Equality.swift, List+Persistable.swift, ModelTransaction+Lists.swift,
// ModelView+Collections.swift, ListView+Values.swift
import Testing
@testable import ToftModel
import ToftStorage

@Suite struct ListTests {
    static let scalars: [PropertyType] = [
        .bool, .int, .float, .double, .string, .data, .date, .uuid, .objectId, .decimal128,
    ]
    static let lists = ClassSchema(
        "Lists",
        scalars.map { PropertySchema("\($0)", $0, collection: .list) }
            + scalars.map {
                PropertySchema("optional_\($0)", $0, collection: .list, isOptional: true)
            } + [PropertySchema("one", .int)])

    func ints(_ values: Int64...) -> [Value] { values.map { .int($0) } }

    @Test func `Lists hold every type with nulls only where they are optional`() throws {
        let database = try ModelDatabase(Self.lists)
        try database.write { transaction throws in
            let key = try transaction.create("Lists")
            for (name, value) in ObjectTests.samples {
                #expect(try transaction.view.values(key, "Lists", name) == [])
                try transaction.append(key, "Lists", name, value, value)
                try transaction.append(key, "Lists", "optional_" + name, .null, value, .null)
                #expect(try transaction.view.values(key, "Lists", name) == [value, value])
                #expect(
                    try transaction.view.values(key, "Lists", "optional_" + name) == [
                        .null, value, .null,
                    ])
                #expect(
                    message { try transaction.append(key, "Lists", name, .null) }.contains(
                        "can't be null"))
                for (other, wrong) in ObjectTests.samples where other != name {
                    #expect(
                        message { try transaction.append(key, "Lists", name, wrong) }
                            == "Property 'Lists.\(name)' holds list of \(name), not \(other).")
                }
            }
        }
        try database.check()
    }

    @Test func `Elements are inserted replaced moved swapped and removed`() throws {
        let database = try ModelDatabase(Self.lists)
        try database.write { transaction throws in
            let key = try transaction.create("Lists"), list = try database.property("Lists", "int")
            try transaction.append(key, "Lists", "int", .int(1), .int(2), .int(3), .int(4))
            try transaction.listInsert(key, list, at: 0, .int(0))
            try transaction.listInsert(key, list, at: 5, .int(5))
            #expect(try transaction.view.values(key, "Lists", "int") == ints(0, 1, 2, 3, 4, 5))
            try transaction.listSet(key, list, at: 2, Value.int(22))
            try transaction.listMove(key, list, from: 0, to: 3)
            #expect(try transaction.view.values(key, "Lists", "int") == ints(1, 22, 3, 0, 4, 5))
            try transaction.listMove(key, list, from: 5, to: 0)
            #expect(try transaction.view.values(key, "Lists", "int") == ints(5, 1, 22, 3, 0, 4))
            try transaction.listSwap(key, list, 0, 4)
            #expect(try transaction.view.values(key, "Lists", "int") == ints(0, 1, 22, 3, 5, 4))
            try transaction.listErase(key, list, 1..<3)
            #expect(try transaction.view.values(key, "Lists", "int") == ints(0, 3, 5, 4))
            #expect(try transaction.view.listIndex(key, list, of: .int(5)) == 2)
            #expect(try transaction.view.listIndex(key, list, of: .int(6)) == nil)
            try transaction.clear(key, list)
            #expect(try transaction.view.listCount(key, list) == 0)
        }
        try database.check()
    }

    @Test func `Indexes out of range are errors and change nothing`() throws {
        let database = try ModelDatabase(Self.lists)
        try database.write { transaction throws in
            let key = try transaction.create("Lists"), list = try database.property("Lists", "int")
            try transaction.append(key, "Lists", "int", .int(1), .int(2))
            let outOfBounds = "Index 2 is out of bounds (must be less than 2)."
            #expect(
                message { try transaction.listSet(key, list, at: 2, Value.int(0)) } == outOfBounds)
            #expect(message { try transaction.listErase(key, list, at: 2) } == outOfBounds)
            #expect(message { try transaction.listErase(key, list, 1..<3) } == outOfBounds)
            #expect(message { try transaction.listMove(key, list, from: 2, to: 0) } == outOfBounds)
            #expect(message { try transaction.listMove(key, list, from: 0, to: 2) } == outOfBounds)
            #expect(message { try transaction.listSwap(key, list, 0, 2) } == outOfBounds)
            #expect(message { _ = try transaction.view.listValue(key, list, at: 2) } == outOfBounds)
            #expect(
                message { try transaction.listInsert(key, list, at: 3, .int(0)) }
                    == "Index 3 is out of bounds (must be less than 3).")
            #expect(
                message { try transaction.listInsert(key, list, at: -1, .int(0)) }
                    == "Index -1 is out of bounds (must be less than 3).")
            #expect(
                message { try transaction.listErase(key, list, at: .max) }.contains("out of bounds")
            )
            #expect(try transaction.view.values(key, "Lists", "int") == ints(1, 2))
        }
        try database.check()
    }

    @Test func `A list is no value and a value is no list`() throws {
        let database = try ModelDatabase(Self.lists)
        try database.write { transaction throws in
            let key = try transaction.create("Lists")
            #expect(
                message { try transaction.set(key, "Lists", "int", .int(1)) }
                    == "Property 'Lists.int' holds list of int, not int.")
            #expect(
                message { _ = try transaction.view.value(key, "Lists", "int") }
                    == "Property 'Lists.int' is a list; use the list functions.")
            #expect(
                message { try transaction.append(key, "Lists", "one", .int(1)) }
                    == "Property 'Lists.one' is not a list.")
            #expect(
                message { try transaction.append(99, "Lists", "int", .int(1)) }.contains(
                    "deleted or invalidated"))
        }
        try database.check()
    }

    @Test func `Values are inserted all or none`() throws {
        let database = try ModelDatabase(Self.lists)
        try database.write { transaction throws in
            let key = try transaction.create("Lists"), list = try database.property("Lists", "int")
            let values: [BorrowedValue] = [.int(1), .int(2), .bool(true)]
            #expect(throws: ModelError.self) {
                try values.withUnsafeBufferPointer { try transaction.listAppend(key, list, $0) }
            }
            #expect(try transaction.view.listCount(key, list) == 0)
            try values.prefix(2).withContiguousStorageIfAvailable {
                try transaction.listAppend(key, list, $0)
            }
            #expect(try transaction.view.values(key, "Lists", "int") == ints(1, 2))
        }
        try database.check()
    }

    @Test func `Long lists work as short ones do`() throws {
        let database = try ModelDatabase(Self.lists)
        try database.write { transaction throws in
            let key = try transaction.create("Lists"),
                list = try database.property("Lists", "optional_string")
            var expected: [Value] = []
            for index in 0..<3_000 {
                let value = index % 7 == 0 ? Value.null : .string("element \(index)")
                let place = index % 3 == 0 ? index / 2 : index
                try transaction.listInsert(key, list, at: place, value)
                expected.insert(value, at: place)
            }
            try transaction.listMove(key, list, from: 2_999, to: 5)
            expected.insert(expected.removeLast(), at: 5)
            try transaction.listErase(key, list, 100..<2_900)
            expected.removeSubrange(100..<2_900)
            #expect(try transaction.view.values(key, "Lists", "optional_string") == expected)
            try transaction.erase(key, "Lists")
        }
        try database.check()
    }

    @Test func `Assigning a list replaces it or changes what differs`() throws {
        let database = try ModelDatabase(Self.lists)
        try database.write { transaction throws in
            let key = try transaction.create("Lists"), list = try database.property("Lists", "int")
            for policy in [UpdatePolicy.all, .modified] {
                for values in [[1, 2, 3], [1, 5], [], [7, 7, 7, 7]] as [[Int64]] {
                    let borrowed = values.map { BorrowedValue.int($0) }
                    try borrowed.withUnsafeBufferPointer {
                        try transaction.assign(.list($0), to: key, list, policy: policy)
                    }
                    #expect(
                        try transaction.view.values(key, "Lists", "int") == values.map { .int($0) })
                }
            }
        }
        try database.check()
    }
}
