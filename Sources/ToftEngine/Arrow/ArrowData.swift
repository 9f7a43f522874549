/// A column's type in Arrow: the format string of its C data interface, and what belongs to it.
package struct ArrowField {
    package var name: String
    package var format: String
    package var isNullable: Bool
    /// The name of an extension type, whose values are stored as `format` says; nil for a type of
    /// Arrow itself.
    package var extensionName: String?
    package var children: [ArrowField]
    /// The format of the values of a dictionary-encoded column; `format` is that of its indexes.
    package var dictionaryFormat: String?

    package init(
        _ name: String, _ format: String, isNullable: Bool, extensionName: String? = nil,
        children: [ArrowField] = [], dictionaryFormat: String? = nil
    ) {
        self.name = name
        self.format = format
        self.isNullable = isNullable
        self.extensionName = extensionName
        self.children = children
        self.dictionaryFormat = dictionaryFormat
    }
}

/// Memory that begins as zeros and ends with its last user.
package final class ArrowMemory {
    package let base: UnsafeMutableRawPointer

    init(byteCount: Int) {
        // Arrow advises to align memory and its length to the processor's lines.
        let count = (max(byteCount, 1) + 63) / 64 * 64
        base = .allocate(byteCount: count, alignment: 64)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    }

    deinit { base.deallocate() }
}

/// The values of a column in Arrow's layout. It does not change once it is made.
package final class ArrowData {
    package let length: Int
    package let nullCount: Int
    /// In Arrow's order; nil for the bitmap of a column without nulls.
    package let buffers: [ArrowMemory?]
    package let children: [ArrowData]
    package let dictionary: ArrowData?

    init(
        length: Int, nullCount: Int = 0, buffers: [ArrowMemory?], children: [ArrowData] = [],
        dictionary: ArrowData? = nil
    ) {
        self.length = length
        self.nullCount = nullCount
        self.buffers = buffers
        self.children = children
        self.dictionary = dictionary
    }
}

/// The bitmap of values that are there; all are null at first.
struct ArrowValidity {
    private let memory: ArrowMemory
    private let length: Int
    private(set) var validCount = 0

    init(_ length: Int) {
        memory = ArrowMemory(byteCount: (length + 7) / 8)
        self.length = length
    }

    /// The bits, for `mark`.
    var bits: UnsafeMutablePointer<UInt8> { memory.base.assumingMemoryBound(to: UInt8.self) }

    /// Marks a value that was null as there.
    @inline(__always)
    mutating func mark(_ position: Int) {
        bits[position &>> 3] |= 1 &<< UInt8(truncatingIfNeeded: position & 7)
        validCount &+= 1
    }

    /// Counts values whose bits were set by the caller.
    mutating func noteMarked(_ count: Int) { validCount &+= count }

    var nullCount: Int { length - validCount }
    /// The bitmap; nil if no value is null.
    var buffer: ArrowMemory? { nullCount == 0 ? nil : memory }
}
