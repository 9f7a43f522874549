/// A replica's number in one realm, which the server gives. In what a replica sends, and in its
/// file, 0 stands for its own number, as the server may not have given one yet.
package struct ReplicaNumber: Hashable, Comparable, Sendable {
    package let rawValue: UInt32

    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static let own = ReplicaNumber(0)

    package static func < (left: ReplicaNumber, right: ReplicaNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A class's number in a realm; the server's dictionary gives it a name.
package struct ClassNumber: Hashable, Comparable, Sendable {
    package let rawValue: UInt32

    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static func < (left: ClassNumber, right: ClassNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A property's number within its class.
package struct PropertyNumber: Hashable, Comparable, Sendable {
    package let rawValue: UInt32

    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static func < (left: PropertyNumber, right: PropertyNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A thing that a replica has made, told by its counter: an element of a list, or an object
/// whose class has no primary key.
package struct MadeID: Hashable, Comparable, Sendable {
    package let replica: ReplicaNumber
    package let counter: UInt64

    package init(_ replica: ReplicaNumber, _ counter: UInt64) {
        self.replica = replica
        self.counter = counter
    }

    package static func < (left: MadeID, right: MadeID) -> Bool {
        left.replica != right.replica
            ? left.replica < right.replica : left.counter < right.counter
    }
}

/// A list or dictionary within a mixed value; the engine that makes it gives it a random number.
package struct CollectionID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// 12 bytes, as they stand in memory.
package struct Bytes12: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt32

    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }
}

/// 16 bytes, as they stand in memory.
package struct Bytes16: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The name of an object within its class: the primary key or, if the class has no such key,
/// what made it.
package enum ObjectKey: Hashable, Sendable {
    case null
    case int(Int64)
    case text(Text)
    case objectID(Bytes12)
    case uuid(Bytes16)
    case made(MadeID)
}

/// An object of a realm, by the same name on all replicas and for ever.
package struct ObjectID: Hashable, Sendable {
    package let type: ClassNumber
    package let key: ObjectKey

    package init(_ type: ClassNumber, _ key: ObjectKey) {
        self.type = type
        self.key = key
    }
}
