// Tests: ExactSum.swift
import Testing

@testable import ToftModel

/// Sums of doubles are rounded once.
@Suite struct ExactSumTests {
    private static let least = Double.leastNonzeroMagnitude
    private static let greatestSubnormal = Double.leastNormalMagnitude - least

    private static let sums: [([Double], Double)] = [
        ([0.1, 0.2, 0.3], 0.6), ([1e308, 1e308, -1e308], 1e308), ([1, 1e100, 1, -1e100], 2),
        ([.infinity, 1], .infinity), ([-.infinity, 1e308], -.infinity),
        ([least, least, -least], least),
        ([9_007_199_254_740_992, 1, 1], 9_007_199_254_740_994),
        ([9_007_199_254_740_992, 1, least], 9_007_199_254_740_994),
        ([1.7976931348623157e308, 1.7976931348623157e308], .infinity), ([], 0), ([-0.0], 0),
        ([2.2250738585072014e-308, -least], greatestSubnormal), ([.nan, 2], 2),
    ]

    @Test(arguments: sums)
    func `The sum is the double next to it in any order`(values: [Double], expected: Double) {
        for values in [values, values.reversed()] {
            var sum = ExactSum()
            for value in values {
                let counts = sum.add(value)
                #expect(counts == !value.isNaN)
            }
            #expect(sum.value == expected)
        }
    }

    @Test func `Infinities of both signs are NaN and an average does not overflow`() {
        var sum = ExactSum()
        _ = sum.add(.infinity)
        _ = sum.add(-.infinity)
        #expect(sum.value.isNaN && sum.average(of: 2).isNaN)
        sum = ExactSum()
        for _ in 0..<3 { _ = sum.add(0x1p1023) }
        #expect(sum.value == .infinity && sum.average(of: 3) == 0x1p1023)
    }

    @Test func `An average is the double next to the quotient`() {
        // The sum has 54 bits: rounded before it is divided, it gives another quotient.
        let averages: [([Int64], Double)] = [
            ([1 << 54, 3, 0], 0x1.5555555555556p+52), ([.max, .max], 0x1p63),
            ([.min, .min], -0x1p63),
            ([1 << 53, 1], 4_503_599_627_370_496), ([1 << 55, 2, 0, 0], 9_007_199_254_740_992),
            ([1 << 55, 5, 0, 0], 9_007_199_254_740_994), ([-1, 0, 0], -1 / 3), ([0, 0], 0),
            ([.max, 13, -.max], 13 / 3),
        ]
        for (values, expected) in averages {
            let sum = values.reduce(Int128(0)) { $0 + Int128($1) }
            #expect(ExactSum.average(sum, of: values.count) == expected, "\(values)")
        }
        // Half of the least double is a tie, which is rounded to the even one.
        for (count, expected) in [(1, 3), (2, 2), (3, 1), (4, 1), (5, 1), (6, 0), (7, 0)] {
            var sum = ExactSum()
            for _ in 0..<3 { _ = sum.add(-Self.least) }
            #expect(sum.average(of: count) == -Self.least * Double(expected), "\(count)")
        }
    }

    @Test func `Blocks of numbers of other sizes add up as single ones do`() {
        var state: UInt64 = 5
        var (blocks, singles) = (ExactSum(), ExactSum())
        for exponent in [0, 0, 40, -300, 0, 900, -1000, 900, 1000] {
            // Multiples of 2^(exponent - 53), some negative, some 0.
            let values = (0..<64).map { row -> Double in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let value =
                    Double(state >> 11)
                    * Double(sign: .plus, exponent: exponent - 53, significand: 1)
                return row % 7 == 0 ? 0 : row % 3 == 0 ? -value : value
            }
            for count in [64, 64, 64, 63, 48, 38, 32, 17, 16, 15] {
                values.withUnsafeBufferPointer { buffer in
                    guard let start = buffer.baseAddress else { return }
                    #expect(blocks.add(start, .max >> (64 - count)) == count)
                }
                for value in values[..<count] { _ = singles.add(value) }
                #expect(blocks.value == singles.value)
                #expect(blocks.average(of: 7) == singles.average(of: 7))
            }
        }
        #expect(blocks.value != 0)
    }

    @Test(arguments: [0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 254, 255, 256])
    func `Blocks of any length add up as single numbers do`(count: Int) {
        // The greatest numbers that fit to 1.9 and greater ones, those that rounding halves up or
        // down, those whose last bit is the least that fits, and others that do not fit.
        let kinds: [(Int) -> Double] = [
            { _ in 1.9999999999999998 }, { _ in -1.9999999999999998 },
            { _ in 3.9 }, { _ in -3.9 },
            { _ in 15.9 }, { _ in 1.9 }, { _ in -15.9 },
            { $0 == 0 ? 1.9 : 0x1p-42 }, { $0 == 0 ? 1.9 : 0x1.8p-41 },
            { $0 == 0 ? 1.9 : -0x1p-42 }, { $0 == 0 ? 1.9 : 0x1.0000000000001p-34 },
            { $0 == 0 ? 1.9 : 0x1.0000000000001p-33 }, { $0 == 0 ? 1.9 : 0x1p-85 },
            { $0 == 0 ? 1.9 : 0x1p-86 }, { $0 == 0 ? 1.9 : 0x1p-87 }, { $0 % 2 == 0 ? 0 : -0.0 },
            { $0 == 200 ? .nan : 3.7 }, { Double($0) / 10 },
            { $0 == 1 ? Self.least : 3.7 }, { $0 == 1 ? 0x1p300 : 3.7 },
        ]
        var (blocks, singles) = (ExactSum(), ExactSum())
        for (kind, number) in kinds.enumerated() {
            let values = (0..<max(1, count)).map(number)
            // The second time the scale fits.
            for _ in 1...2 {
                var counting = 0
                for value in values[..<count] where singles.add(value) { counting += 1 }
                values.withUnsafeBufferPointer { buffer in
                    guard let start = buffer.baseAddress else { return }
                    #expect(blocks.add(start, count: count) == counting, "\(kind)")
                }
                #expect(blocks.value == singles.value, "\(kind)")
                #expect(blocks.average(of: 7) == singles.average(of: 7), "\(kind)")
            }
        }
    }

    @Test func `Numbers and their opposites are zero whatever their size and order`() {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("exact sums, seed \(seed)")
        var state = seed
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 32 ^ state << 17
        }
        for round in 0..<400 {
            var values: [Double] = []
            for _ in 0..<96 {
                // Near one another, or anywhere.
                let exponent = round % 2 == 0 ? 1000 + next() % 40 : next() % 2047
                let value = Double(bitPattern: exponent << 52 | next() & 0xF_FFFF_FFFF_FFFF)
                values += [value, -value]
            }
            for index in values.indices { values.swapAt(index, Int(next() % 192)) }
            let extra = Double(bitPattern: (1 + next() % 2046) << 52)
            var sum = ExactSum()
            values.withUnsafeBufferPointer { values in
                guard let start = values.baseAddress else { return }
                let counts = [
                    sum.add(start, .max), sum.add(start + 64, 0xFFFF), sum.add(extra) ? 1 : 0,
                    sum.add(start + 64, ~0xFFFF), sum.add(start + 128, .max),
                ]
                #expect(counts == [64, 16, 1, 48, 64])
            }
            #expect(sum.value == extra, "seed \(seed), round \(round)")
        }
    }
}
