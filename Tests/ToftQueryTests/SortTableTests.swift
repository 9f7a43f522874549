// Tests: Grouping.swift, Kernels.swift, PathExpander.swift, Selection.swift, Sorting.swift
import Testing
import ToftModel
import ToftTestKit

@testable import ToftEngine
@testable import ToftQuery
@testable import ToftStorage

/// Sorts and groups of a few rows with nulls and ties, and links that lead in a circle.
@Suite struct SortTableTests {
    private let things: NodeDatabase

    init() throws { things = try NodeDatabase() }

    private func sorted(_ property: String, ascending: Bool, limit: Int = .max) throws -> [Int] {
        let source = things.source()
        let reader = try source.reader(things.classID)
        guard case .path(let path) = try things.expression("\(property) == null"),
            case .property(let reference, let type) = path.leaf
        else { return [] }
        let column = SortColumn(PropertyNode(ColumnRead(reference, type)), isAscending: ascending)
        let table = SortTable([column], limit: limit)
        var isFirst = true
        try things.forEachBatch(reader) { batch throws(ModelError) in
            if isFirst { try table.append(batch, batch.presentRows) }
            isFirst = false
        }
        let keys = try things.keys()
        return table.sortedKeys().compactMap { key in keys.firstIndex(of: key).map { $0 + 1 } }
    }

    @Test(arguments: ["number", "text", "moment", "mark", "price", "flag", "mixed"])
    func `SortTable puts null first, and last when it descends`(property: String) throws {
        let ascending = try sorted(property, ascending: true)
        #expect(ascending.first == 3)
        #expect(try sorted(property, ascending: false) == ascending.reversed())
    }

    @Test func `SortTable puts NaN between null and numbers`() throws {
        #expect(try sorted("ratio", ascending: true) == [3, 2, 1])
        #expect(try sorted("ratio", ascending: false) == [1, 2, 3])
    }

    @Test(arguments: [0, 1, 2, 3, 4])
    func `SortTable gives as many as its limit`(limit: Int) throws {
        #expect(
            try sorted("number", ascending: true, limit: limit) == Array([3, 1, 2].prefix(limit)))
    }

    @Test func `SortTable keeps ties in their order, both ways`() throws {
        let session = try Session.open(
            Configuration(
                location: .memory(name: "ties \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([ClassSchema("Tie", [PropertySchema("rank", .int)])])))
        let owner = try session.classHandle(named: "Tie")
        let rank = try owner.property(named: "rank").id
        try session.beginWrite()
        for row in 0..<600 { try session.create(owner.id, [(rank, .int(Int64(row / 300)))]) }
        try session.commit()
        let all = try BoundQuery(all: owner.id).keys(in: session.view)
        func sorted(_ text: String) throws -> [Int64] {
            try BoundQuery.parse(text, className: "Tie", schema: session.view.schema.stored)
                .keys(in: session.view)
        }
        #expect(try sorted("TRUEPREDICATE SORT(rank ASC)") == all)
        #expect(try sorted("TRUEPREDICATE SORT(rank DESC)") == Array(all[300...] + all[..<300]))
        #expect(
            try sorted("TRUEPREDICATE SORT(rank DESC) LIMIT(301)")
                == Array(all[300...] + all[..<1]))
    }

    @Test func `Grouping has a group for null, the first, with aggregates of nothing`() throws {
        let grouping = try Grouping(
            by: [PathSyntax(keyPath: "flag", offset: 0)],
            of: [
                (.sum, PathSyntax(keyPath: "number", offset: 0)),
                (.maximum, PathSyntax(keyPath: "number", offset: 0)),
            ], className: "Thing", schema: things.view.schema.stored, aliases: KeyPathAliases())
        let groups = try BoundQuery(all: things.classID).groups(grouping, in: things.view)
        #expect(groups.map(\.keys) == [[.null], [.bool(false)], [.bool(true)]])
        #expect(groups.map(\.count) == [1, 1, 1])
        #expect(
            groups.map(\.values) == [[.int(0), .null], [.int(5), .int(5)], [.int(1), .int(1)]])
    }

    @Test func `Grouping without keys is one group, also of no results`() throws {
        let grouping = try Grouping(
            by: [], of: [(.sum, PathSyntax(keyPath: "number", offset: 0))], className: "Thing",
            schema: things.view.schema.stored, aliases: KeyPathAliases())
        for (text, count, sum) in [("TRUEPREDICATE", 3, 6), ("number > 9", 0, 0)]
            as [(
                String, Int, Int64
            )]
        {
            let groups = try things.bound(text).groups(grouping, in: things.view)
            #expect(groups.map(\.count) == [count])
            #expect(groups.map(\.values) == [[.int(sum)]])
        }
    }

    @Test func `PathExpander comes to an end where links lead in a circle`() throws {
        let path = Array(repeating: "friends", count: 40).joined(separator: ".")
        let found = try things.bound("ANY \(path).id == 1").keys(in: things.view)
        let keys = try things.keys()
        #expect(found.compactMap { keys.firstIndex(of: $0) } == [0])
        let counted = try things.bound("\(path).@count > 0").keys(in: things.view)
        #expect(counted == keys)
    }
}

/// The innermost loops in each width, at the limits of a batch.
@Suite struct KernelTests {
    @Test(
        arguments: [IntegerWidth.one, .two, .four, .eight], [1, 15, 16, 17, 63, 64, 65, 255, 256])
    func `IntLoops finds the first, the last and no other row`(width: IntegerWidth, count: Int) {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * width.bytes, alignment: 8)
        defer { memory.deallocate() }
        for marked in Set([0, count / 2, count - 1]) {
            for row in 0..<count {
                memory.storeInteger(row == marked ? 100 : -100, width, at: row * width.bytes)
            }
            let column = IntegerColumn(UnsafeRawPointer(memory), width, count: count)
            var expected = Selection.empty
            expected.insert(marked)
            #expect(IntLoops.range(column, count: count, 0, 127) == expected)
            #expect(IntLoops.range(column, count: count, 100, 100) == expected)
            #expect(IntLoops.count(column, count: count, 0, .max) == 1)
            #expect(
                IntLoops.range(column, count: count, .min, -1)
                    == Selection.first(count).subtracting(expected))
            #expect(IntLoops.range(column, count: count, 1, -1).isEmpty)
        }
    }

    @Test(arguments: [1, 7, 8, 9, 255, 256])
    func `DoubleLoops leaves NaN out of every range`(count: Int) {
        var values = [Double](repeating: 1, count: count)
        values[count - 1] = .nan
        let found = DoubleLoops.range(values, count: count, -.infinity, .infinity)
        #expect(found == Selection.first(count - 1))
        var expected = Selection.empty
        expected.insert(count - 1)
        #expect(DoubleLoops.notANumber(values, count: count) == expected)
    }

    @Test func `IntLoops finds the rows of a code and of verdicts`() {
        let codes: [UInt8] = (0..<256).map { UInt8($0 % 3) }
        let verdicts: [UInt8] = [0, 1]
        let found = IntLoops.verdicts(codes, count: 255, verdicts, verdicts.count)
        #expect(found == IntLoops.equal(codes, count: 255, 1))
        #expect(found.count == 85)
        #expect(IntLoops.count(codes, count: 256, equal: 0) == 86)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 128, 255, 256, 257])
    func `Selection has the rows before a count, at most a full batch`(count: Int) {
        let rows = Selection.first(count)
        #expect(rows.count == min(count, Selection.capacity))
        #expect(rows.leadingCount == min(count, Selection.capacity))
        #expect(rows.last == (count == 0 ? nil : min(count, Selection.capacity) - 1))
        var walk = rows.rows
        var walked = 0
        while let row = walk.next() {
            #expect(row == walked)
            walked += 1
        }
        #expect(walked == rows.count)
    }
}
