// Four kinds of 64-bit numbers that must not be mixed up. All are little endian in the file. An
// integer literal can have each of the types; a variable of another kind cannot be used for it.

/// The number of a page: the page begins at `byteOffset` of the file. 0 and 1 are the meta pages.
package struct PageNumber: Identifier {
    package var rawValue: UInt64
    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The page that holds a byte of the file.
    @inline(__always) init(ofByte offset: UInt64) { self.init(offset / UInt64(Page.size)) }

    /// The page's offset in bytes; wraps for numbers that no file can hold.
    @inline(__always) var byteOffset: UInt64 { rawValue &* UInt64(Page.size) }
}

/// The number of a version: 1 and up, each greater than those before it. 0 means no version.
package struct Version: Identifier {
    package var rawValue: UInt64
    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The key of a tree in the catalog. No number is used for two trees of a database.
package struct TreeID: Identifier {
    package var rawValue: UInt64
    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// A byte in the endless log; the ring keeps the newest part.
package struct LogPosition: Identifier {
    package var rawValue: UInt64
    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The operations of all four.
package protocol Identifier: Hashable, Comparable, Sendable, BitwiseCopyable,
    ExpressibleByIntegerLiteral, CustomStringConvertible
{
    var rawValue: UInt64 { get set }
    init(_ rawValue: UInt64)
}

extension Identifier {
    /// No file comes near it, so a number that reaches it is damaged. Numbers below it cannot
    /// overflow by an addition.
    @inline(__always) static var limit: Self { Self(1 << 62) }
    @inline(__always) static var max: Self { Self(.max) }

    @inlinable package init(integerLiteral value: UInt64) { self.init(value) }
    // Written out, so that the modules above inline them.
    @inlinable package static func == (left: Self, right: Self) -> Bool {
        left.rawValue == right.rawValue
    }
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    @inlinable package static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
    package var description: String { String(rawValue) }

    /// The number `count` after this one.
    @inline(__always) static func + (number: Self, count: UInt64) -> Self {
        Self(number.rawValue + count)
    }
    @inline(__always) static func += (number: inout Self, count: UInt64) {
        number.rawValue += count
    }
    @inline(__always) static func &+ (number: Self, count: UInt64) -> Self {
        Self(number.rawValue &+ count)
    }
    /// The distance of this number from `other`.
    @inline(__always) static func - (number: Self, other: Self) -> UInt64 {
        number.rawValue - other.rawValue
    }
    @inline(__always) static func &- (number: Self, other: Self) -> UInt64 {
        number.rawValue &- other.rawValue
    }
}
