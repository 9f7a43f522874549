/// A random sequence that a failing test can print and repeat (SplitMix64).
package struct Seed: RandomNumberGenerator, CustomStringConvertible {
    /// The start of the sequence, which a test prints.
    package let value: UInt64
    private var state: UInt64

    package init(_ value: UInt64) {
        self.value = value
        state = value
    }

    /// A sequence that differs from run to run.
    package static func random() -> Seed { Seed(UInt64.random(in: 0...UInt64(UInt32.max))) }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0..<limit.
    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(limit, 1))) }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// True in `percent` of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// One of the elements.
    package mutating func pick<Element>(_ elements: some RandomAccessCollection<Element>)
        -> Element?
    {
        elements.isEmpty
            ? nil : elements[elements.index(elements.startIndex, offsetBy: below(elements.count))]
    }

    /// One of the elements, which must not be empty.
    package mutating func one<Element>(of elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    package var description: String { "seed \(value)" }
}
