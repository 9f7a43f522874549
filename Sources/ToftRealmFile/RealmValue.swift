/// A value of a Realm file.
package enum RealmValue: Sendable, Equatable {
    case null
    /// A value of more than 16 MB, which Realm has stored in pieces, and reads as null.
    case tooLong
    case int(Int64)
    case bool(Bool)
    /// Bit for bit, even if it is not a number.
    case float(UInt32)
    case double(UInt64)
    /// Realm never checked that it is UTF-8.
    case string([UInt8])
    case data([UInt8])
    case timestamp(seconds: Int64, nanoseconds: Int32)
    /// The words of the binary encoding of IEEE 754-2008.
    case decimal(low: UInt64, high: UInt64)
    /// 12 bytes.
    case objectId([UInt8])
    /// 16 bytes in the order of the text.
    case uuid([UInt8])
    /// `table`: the key of the table that it leads to.
    case link(table: Int64, key: Int64)
    /// Of a set too, in the order of the file.
    case list([RealmValue])
    case dictionary([RealmEntry])
}

/// A key of a dictionary and its value.
package struct RealmEntry: Sendable, Equatable {
    package var key: [UInt8]
    package var value: RealmValue
}

/// The types of columns by the numbers of the file.
package enum RealmType: Int, Sendable {
    case int = 0
    case bool = 1
    case string = 2
    case data = 4
    case mixed = 6
    case timestamp = 8
    case float = 9
    case double = 10
    case decimal = 11
    case link = 12
    case objectId = 15
    case uuid = 17
}

/// Number of values that a column has for each object.
package enum RealmCollection: Sendable {
    case none, list, set, dictionary
}
