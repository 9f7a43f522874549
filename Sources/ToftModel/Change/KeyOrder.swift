/// Where things that have keys stand in the order of these: sorted by digits, so that each key is
/// looked at few times however many there are.
struct KeyOrder: ~Copyable {
    struct Item {
        /// Sorts as the key does, or as its beginning.
        var head: UInt64
        /// Which one it is.
        var index: UInt32
    }

    private(set) var items: UnsafeMutableBufferPointer<Item>

    /// `count` items, to be set before `sort`.
    init(count: Int, _ item: (Int) -> Item) {
        items = .allocate(capacity: count)
        for index in 0..<count { items.initializeElement(at: index, to: item(index)) }
    }

    deinit { items.deallocate() }

    /// The head of a number.
    @inline(__always)
    static func head(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ (1 << 63) }

    /// Sorts by heads; those with equal ones stay in their order.
    mutating func sort() {
        guard items.count > 256 else {
            return items.sort { $0.head != $1.head ? $0.head < $1.head : $0.index < $1.index }
        }
        var other = UnsafeMutableBufferPointer<Item>.allocate(capacity: items.count)
        var starts = Self.starts(items)
        for digit in 0..<8 where !Self.isSame(digit, starts, items.count) {
            let shift = UInt64(digit * 8)
            for item in items {
                let place = digit &* 256 &+ Int(truncatingIfNeeded: (item.head >> shift) & 0xFF)
                other[Int(starts[place])] = item
                starts[place] &+= 1
            }
            swap(&items, &other)
        }
        other.deallocate()
    }

    /// For each of the eight digits, where the items with each of its values begin.
    private static func starts(_ items: UnsafeMutableBufferPointer<Item>) -> ContiguousArray<UInt32>
    {
        var starts = ContiguousArray<UInt32>(repeating: 0, count: 8 * 256)
        for item in items {
            var rest = item.head
            for digit in 0..<8 {
                starts[digit &* 256 &+ Int(truncatingIfNeeded: rest & 0xFF)] &+= 1
                rest >>= 8
            }
        }
        for digit in 0..<8 {
            var sum: UInt32 = 0
            for place in digit * 256..<digit * 256 + 256 {
                (starts[place], sum) = (sum, sum &+ starts[place])
            }
        }
        return starts
    }

    /// Whether all items have the same value of a digit.
    private static func isSame(_ digit: Int, _ starts: ContiguousArray<UInt32>, _ count: Int)
        -> Bool
    {
        for place in digit * 256..<digit * 256 + 256 where starts[place] > 0 {
            return Int(starts[place]) == count
        }
        return true
    }
}
