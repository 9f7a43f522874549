/// The place of an element in its list: elements are in the order of their labels and, of equal
/// labels, in that of their ids.
///
/// The server's labels are whole numbers. A replica needs a label for an element before the server
/// has given one: a number between those of the neighbours, exact however often a gap is halved. It
/// never leaves the replica.
package struct Label: Hashable, Comparable, Sendable {
    package let whole: Int64
    /// Binary digits behind the point, 32 in each, without zeros at the end.
    private let fraction: [UInt32]

    package init(_ whole: Int64) {
        self.whole = whole
        fraction = []
    }

    private init(_ whole: Int64, _ fraction: [UInt32]) {
        var fraction = fraction
        while fraction.last == 0 { fraction.removeLast() }
        self.whole = whole
        self.fraction = fraction
    }

    package var isWhole: Bool { fraction.isEmpty }

    package static func < (left: Label, right: Label) -> Bool {
        left.whole != right.whole
            ? left.whole < right.whole
            : left.fraction.lexicographicallyPrecedes(right.fraction)
    }

    /// One place before or behind; the label itself at the ends of the numbers.
    package func moved(by distance: Int64) -> Label {
        let (sum, overflow) = whole.addingReportingOverflow(distance)
        return overflow ? self : Label(sum, fraction)
    }

    /// The middle of two labels.
    package static func middle(_ left: Label, _ right: Label) -> Label {
        let count = max(left.fraction.count, right.fraction.count)
        var digits = [UInt32](repeating: 0, count: count + 1)
        var carry: UInt64 = 0
        for index in (0..<count).reversed() {
            let sum = left.digit(index) + right.digit(index) + carry
            digits[index] = UInt32(truncatingIfNeeded: sum)
            carry = sum >> 32
        }
        let sum = Int128(left.whole) + Int128(right.whole) + Int128(carry)
        var lowest = UInt32(truncatingIfNeeded: sum & 1)
        for index in digits.indices {
            let digit = digits[index]
            digits[index] = digit >> 1 | lowest << 31
            lowest = digit & 1
        }
        return Label(Int64(sum >> 1), digits)
    }

    private func digit(_ index: Int) -> UInt64 {
        index < fraction.count ? UInt64(fraction[index]) : 0
    }
}

/// An element of a list by its label and its id: what elements are in the order of.
package struct ElementPlace: Hashable, Comparable, Sendable {
    package let label: Label
    package let id: MadeID

    package init(_ label: Label, _ id: MadeID) {
        self.label = label
        self.id = id
    }

    package static func < (left: ElementPlace, right: ElementPlace) -> Bool {
        left.label != right.label ? left.label < right.label : left.id < right.id
    }
}
