/// The order of items by 64-bit numbers: sorted digit by digit, so that each item is visited eight
/// times at most, however many there are.
package struct RadixSort: ~Copyable {
    package struct Item {
        /// The number to sort by: the key, or its first eight bytes.
        package var head: UInt64
        /// The item's index.
        package var index: UInt32

        package init(head: UInt64, index: UInt32) {
            self.head = head
            self.index = index
        }
    }

    package private(set) var items: UnsafeMutableBufferPointer<Item>

    /// Makes `count` items in the order of their numbers; `sort` sorts them.
    package init(count: Int, _ item: (Int) -> Item) {
        items = .allocate(capacity: count)
        for index in 0..<count { items.initializeElement(at: index, to: item(index)) }
    }

    deinit { items.deallocate() }

    /// The head of a number: sorts unsigned as the number does signed.
    @inline(__always)
    package static func head(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ (1 << 63) }

    /// Sorts by heads; items with equal heads keep their order. O(items).
    package mutating func sort() {
        guard items.count > 256 else {
            return items.sort { $0.head != $1.head ? $0.head < $1.head : $0.index < $1.index }
        }
        var other = UnsafeMutableBufferPointer<Item>.allocate(capacity: items.count)
        var starts = Self.starts(items)
        for digit in 0..<8 where !Self.isSame(digit, starts, items.count) {
            let shift = UInt64(digit * 8)
            for item in items {
                let bucket = digit &* 256 &+ Int(truncatingIfNeeded: (item.head >> shift) & 0xFF)
                other[Int(starts[bucket])] = item
                starts[bucket] &+= 1
            }
            swap(&items, &other)
        }
        other.deallocate()
    }

    /// For each of the eight digits, the index of the first item with each of its 256 values.
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
            for bucket in digit * 256..<digit * 256 + 256 {
                (starts[bucket], sum) = (sum, sum &+ starts[bucket])
            }
        }
        return starts
    }

    /// Whether all items have the same value of a digit.
    private static func isSame(_ digit: Int, _ starts: ContiguousArray<UInt32>, _ count: Int)
        -> Bool
    {
        for bucket in digit * 256..<digit * 256 + 256 where starts[bucket] > 0 {
            return Int(starts[bucket]) == count
        }
        return true
    }
}
