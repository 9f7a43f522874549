package import ToftModel

/// The classes that an SQLite file becomes, and the sources of their values.
package struct SQLitePlan: Sendable, Equatable {
    /// The source of a property's values.
    package enum Source: Sendable, Equatable {
        /// A column. `dates`: how it stores them, of a date.
        case column(String, dates: DateForm?)
        /// A link: columns with the key of a row of the target's table.
        case reference([String])
        /// A list of links: each row of another table is one, from the row whose key is in the
        /// column `from` to the row whose key is in the column `to`.
        case join(table: String, from: String, to: String)
    }

    /// A table that becomes a class.
    package struct Class: Sendable, Equatable {
        package var table: String
        package var declared: ClassSchema
        /// For each property of `declared`, its source.
        package var sources: [Source]

        package init(table: String, declared: ClassSchema, sources: [Source]) {
            self.table = table
            self.declared = declared
            self.sources = sources
        }
    }

    package var classes: [Class]
    /// The differences from the SQLite file, a sentence each.
    package var notes: [String]

    package init(_ classes: [Class], notes: [String] = []) {
        self.classes = classes
        self.notes = notes
    }
}
