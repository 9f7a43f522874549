// Tests: BoundPath.swift, ClassReader.swift, ClusterColumn.swift, ColumnPredicate.swift,
// ColumnRead.swift, DataSource.swift, HighBits.swift, Kernels.swift, MaterializedColumn.swift,
// PredicateNode.swift, RowPredicate.swift, ValueNode.swift, ValueType.swift, Vector.swift
import Testing
import ToftTestKit
@testable import ToftModel
@testable import ToftQuery
@testable import ToftStorage

/// The innermost loops against loops that anybody can read.
@Suite struct LoopTests {
    /// Memory with integers of a width, each at most as large as that can represent.
    private func with(_ values: [Int64], _ width: IntegerWidth, _ body: (IntegerColumn) -> Void) {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: 8 + values.count * width.bytes, alignment: 8)
        defer { memory.deallocate() }
        for (row, value) in values.enumerated() {
            memory.storeInteger(value, width, at: 8 + row * width.bytes)
        }
        body(IntegerColumn(UnsafeRawPointer(memory + 8), width, count: values.count))
    }

    /// Any integer of a width, mostly near a few places.
    private func integer(_ width: IntegerWidth, _ random: inout some RandomNumberGenerator) -> Int64
    {
        let reach = Int64.max >> Int64(64 - 8 * width.bytes)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return reach
        case 1: return -reach - 1
        case 2: return Int64.random(in: -reach - 1...reach, using: &random)
        default: return Int64.random(in: -5...5, using: &random)
        }
    }

    @Test(arguments: [IntegerWidth.one, .two, .four, .eight])
    func `Ranges of integers are found in every width`(width: IntegerWidth) {
        var random = Seed.random()
        print("loops, seed \(random)")
        for _ in 0..<3_000 {
            let count = [1, 7, 8, 15, 16, 17, 63, 64, 65, 100, 128, 230, 255, 256][
                Int.random(in: 0..<14, using: &random)]
            let values = (0..<count).map { _ in integer(width, &random) }
            var bounds = [
                integer(width, &random),
                integer(Bool.random(using: &random) ? .eight : width, &random),
            ]
            if Int.random(in: 0..<4, using: &random) == 0 { bounds[1] = bounds[0] }
            if Int.random(in: 0..<8, using: &random) > 0 { bounds.sort() }
            with(values, width) { column in
                let mask = IntLoops.range(column, count: count, bounds[0], bounds[1])
                var expected = Selection.empty
                for row in 0..<count where bounds[0] <= values[row] && values[row] <= bounds[1] {
                    expected.insert(row)
                }
                #expect(mask == expected, "\(bounds) in \(values)")
                let found = IntLoops.count(column, count: count, bounds[0], bounds[1])
                #expect(found == expected.count, "\(bounds) in \(values)")
            }
        }
    }

    @Test(arguments: [IntegerWidth.one, .two, .four, .eight])
    func `As many rows are counted as there are, up to a full cluster`(width: IntegerWidth) {
        for count in 1...ClusterLimits.rows {
            with([Int64](repeating: -3, count: count), width) { column in
                #expect(IntLoops.count(column, count: count, -3, -3) == count)
                #expect(IntLoops.count(column, count: count, -4, 9) == count)
                #expect(IntLoops.count(column, count: count, -2, 9) == 0)
                guard width == .one else { return }
                let codes = column.base.assumingMemoryBound(to: UInt8.self)
                #expect(IntLoops.count(codes, count: count, equal: UInt8(bitPattern: -3)) == count)
                #expect(IntLoops.count(codes, count: count, equal: 3) == 0)
            }
        }
    }

    @Test func `Ranges and extremes of doubles are found, with NaN and infinities among them`() {
        let seed = Seed.random()
        print("loops of doubles, seed \(seed)")
        var random = seed
        let odd = [Double.nan, .infinity, -.infinity, 0, -0.0, .greatestFiniteMagnitude]
        for _ in 0..<3_000 {
            let counts = [1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 230, 255, 256]
            let count = counts.randomElement(using: &random) ?? 1
            let isOdd = Int.random(in: 0..<3, using: &random) == 0
            func number() -> Double {
                isOdd && Int.random(in: 0..<20, using: &random) == 0
                    ? odd.randomElement(using: &random) ?? 0
                    : Double.random(in: -2...2, using: &random).rounded(.down) / 2
            }
            let values = (0..<256).map { _ in number() }
            let (low, high) = (number(), number())
            var expected = Selection.empty
            for row in 0..<count where values[row] >= low && values[row] <= high {
                expected.insert(row)
            }
            values.withUnsafeBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return }
                #expect(DoubleLoops.range(base, count: count, low, high) == expected)
                let part = 8 * Int.random(in: 1...8, using: &random)
                let found = DoubleLoops.extremes(base, part)
                let first = values[..<part]
                if first.contains(where: \.isNaN) {
                    #expect(found == nil)
                } else {
                    #expect(found?.least == first.min() && found?.greatest == first.max())
                }
            }
        }
    }

    @Test(arguments: [IntegerWidth.one, .two, .four, .eight])
    func `Integers of every width are widened and summed up`(width: IntegerWidth) {
        var random = Seed(7)
        for count in [1, 63, 64, 200, 230, 256] {
            let values = (0..<count).map { _ in integer(width, &random) }
            var wanted = Selection.first(count)
            if count == 200 {
                for row in stride(from: 3, to: 150, by: 7) {
                    wanted = wanted.subtracting(.first(row + 1)) | .first(row) & wanted
                }
            }
            with(values, width) { column in
                let vector = Vector(.int)
                vector.useOwnStorage()
                vector.use(column)
                let rows = (0..<count).filter { wanted[$0] }
                let chosen = rows.map { values[$0] }
                let sum = chosen.reduce(Int128(0)) { $0 + Int128($1) }
                #expect(result(.sum, vector, wanted) == Int64(exactly: sum).map { .int($0) })
                #expect(result(.minimum, vector, wanted) == chosen.min().map { .int($0) } ?? .null)
                #expect(result(.maximum, vector, wanted) == chosen.max().map { .int($0) } ?? .null)
                #expect((0..<count).map { vector.ints[$0] } == values)
                #expect((0..<count).map { column[$0] } == values)
            }
        }
    }

    @Test(arguments: [TextTest.Operation.equal, .notEqual, .beginsWith])
    func `What the first bytes of a text say is what a look at all of it says`(
        operation: TextTest.Operation
    ) {
        let seed = Seed.random()
        print("first bytes of texts, seed \(seed)")
        var random = seed
        // Pairs that differ in the bit that distinguishes A from a, and letters that fold to ASCII.
        let parts = [
            "a", "A", "z", "Z", "1", "\u{11}", "@", "`", "[", "{", "\0", "é", "\u{301}",
            "\u{212A}", "ß",
        ]
        func bytes(_ most: Int) -> [UInt8] {
            let letters = Int.random(in: 0..<3, using: &random) == 0 ? parts.count : 4
            return (0..<Int.random(in: 0...most, using: &random)).flatMap { _ in
                Array(parts[Int.random(in: 0..<letters, using: &random)].utf8)
            }
        }
        let choices: [StringOptions] = [
            [], [.caseInsensitive], [.diacriticInsensitive],
            [.caseInsensitive, .diacriticInsensitive],
        ]
        for round in 0..<20_000 {
            let options = choices[round % 4]
            let needle = bytes(10)
            let text = Bool.random(using: &random) ? needle + bytes(3) : bytes(12)
            let matcher = TextMatcher(
                TextTest(
                    operation: operation,
                    needle: options.isEmpty ? needle : CaseFolding.folded(needle, options),
                    options: options))
            let around = (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }
            (around + text + around).withUnsafeBytes { memory in
                let place = UnsafeRawBufferPointer(rebasing: memory[8..<8 + text.count])
                let passes = matcher.matches(place) != matcher.isInverted
                let quick = matcher.quick
                let first = memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                #expect(quick.verdict(place) ?? passes == passes, "\(needle), \(text)")
                #expect(quick.head?.admits(first) ?? true || !passes, "\(needle), \(text)")
            }
        }
    }

    private func result(_ operation: AggregateOperation, _ vector: Vector, _ wanted: Selection)
        -> ToftModel.Value?
    {
        var aggregation = Aggregation(operation, of: .int)
        aggregation.add(vector, wanted)
        return aggregation.result
    }
}
