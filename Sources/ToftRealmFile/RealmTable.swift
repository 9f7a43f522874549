/// A table of a Realm file: a class, or something that Realm itself keeps.
package struct RealmTable: Sendable {
    package enum Kind: Sendable {
        case object, embedded
        /// Its objects were sent and never kept.
        case asymmetric
    }

    /// The name in the file: `class_Dog`.
    package let name: String
    package let kind: Kind
    /// The key by which links name the table.
    package let key: Int64
    package internal(set) var columns: [RealmColumn]
    /// The index in `columns` of the primary key.
    package internal(set) var primaryKey: Int?
    /// The position of the objects.
    let rows: Rows

    enum Rows: Sendable {
        /// A tree of clusters.
        case clusters(Int)
        /// Before format 10: a tree for each column.
        case columns
    }

    /// The name of the class; nil for a table that is not a class.
    package var className: String? {
        name.hasPrefix(Self.classPrefix) ? String(name.dropFirst(Self.classPrefix.count)) : nil
    }

    static let classPrefix = "class_"
}

/// A column of a table: a property.
package struct RealmColumn: Sendable {
    package enum Index: Sendable {
        case none, general, fullText
    }

    package let name: String
    package let type: RealmType
    package let collection: RealmCollection
    /// Whether the value, or an element of the collection, may be null.
    package let isNullable: Bool
    /// The key of the table that links lead to.
    package let target: Int64?
    package let index: Index
    /// Whether it is a date of format 2 to 4: whole seconds.
    let isOldDate: Bool
    /// Its place in clusters; before format 10 in the table.
    let position: Int
    /// The distinct texts of a column that has them by number.
    let texts: [RealmValue]?
    /// Before format 10, the node with its values.
    var ref = 0
    /// Before format 10, whether a list of values may hold null.
    var isOld = false
}
