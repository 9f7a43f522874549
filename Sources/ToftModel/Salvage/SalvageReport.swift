package import ToftStorage

/// The parts of a file that a salvage has read and has not read.
package struct SalvageReport: Sendable, Equatable {
    /// A property whose values were lost.
    package struct Property: Sendable, Equatable {
        package var name: String
        /// Objects that were kept and have null or the default instead.
        package var lost: Int
    }

    package struct Class: Sendable, Equatable {
        package var name: String
        /// Objects in the new file.
        package var objects = 0
        /// Objects of the newest version that were not found anywhere; nil if their number is
        /// unknown.
        package var missing: Int?
        /// Objects that were found in an older version alone: they may have been changed or deleted
        /// since.
        package var older = 0
        /// Objects in parts of the file that no checksum covers any more: they agree with
        /// themselves.
        package var unverified = 0
        /// Objects that were found and left out: without a primary key or with that of another
        /// one, with unique values of another one, or embedded and without an owner.
        package var dropped = 0
        /// Links to lost objects: they are null now, or were removed from their collection.
        package var cutLinks = 0
        /// The properties that have lost values, in the order of the schema.
        package var properties: [Property] = []

        package init(name: String) { self.name = name }

        /// Whether all objects of the newest version were found with all their values.
        package var isComplete: Bool {
            missing == 0 && older + unverified + dropped + cutLinks == 0 && properties.isEmpty
        }
    }

    /// The newest readable version, the source of the objects.
    package var version: Version = 0
    /// Whether nothing led to the schema any more, so that it was found by reading every page.
    package var isSchemaUnverified = false
    /// In the order of the schema.
    package var classes: [Class] = []
    /// Descriptions of damage, in plain words; at most twenty.
    package var problems: [String] = []

    /// Whether nothing is missing, and nothing was found damaged.
    package var isComplete: Bool {
        !isSchemaUnverified && problems.isEmpty && classes.allSatisfy(\.isComplete)
    }
}
