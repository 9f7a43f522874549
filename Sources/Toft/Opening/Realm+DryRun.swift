internal import ToftEngine
internal import ToftModel

extension Realm {
    /// The changes that an opening with this configuration would make to the classes of its file,
    /// in their order, and the classes and properties that it would hide, as the configuration
    /// lacks them; empty if the file is up to date. If something new may be a renamed old one, the
    /// description asks "Did you rename it?". Everything is done, the migration block too, in a
    /// transaction that is rolled back: so this throws what the opening would throw, takes as long,
    /// and leaves the file as it was, though it may have grown. The file must exist. If
    /// `deleteRealmIfMigrationNeeded` would delete it, this throws `.schemaMismatch`. Realm has
    /// nothing like it.
    ///
    /// ```swift
    /// for change in try Realm.dryRun(of: configuration) { print(change) }
    /// ```
    public static func dryRun(
        of configuration: Configuration = .defaultConfiguration
    ) throws -> [SchemaChange] {
        let blocks = OpeningBlocks(configuration)
        do throws(EngineError) {
            var engine = try configuration.engine(at: configuration.place, .thread)
            blocks.join(&engine)
            return try ToftEngine.Migration.dryRun(engine).map { SchemaChange($0) }
        } catch {
            throw blocks.cause ?? Realm.Error(error)
        }
    }

    /// A change that an opening makes to the classes of a file: see `dryRun(of:)`.
    public struct SchemaChange: Sendable, Hashable, CustomStringConvertible {
        /// The change of a class or a property.
        public enum Kind: Sendable, Hashable {
            case classAdded
            /// It is deleted, or hidden: then its objects stay.
            case classRemoved
            case classRenamed
            /// Its primary key, or which properties are unique.
            case classChanged
            case propertyAdded
            /// It is removed, or hidden: then its values stay.
            case propertyRemoved
            case propertyRenamed
            /// Its type, its index, or its delete rule.
            case propertyChanged
        }

        public let kind: Kind
        /// The name of the class afterwards, in the file.
        public let className: String
        /// The name of the property afterwards, in the file; nil for a change of a class.
        public let propertyName: String?
        /// The change in words: "property 'Person.age' is int, was string".
        public let description: String

        init(_ difference: SchemaDifference) {
            kind =
                switch difference.kind {
                case .classAdded: .classAdded
                case .classRemoved: .classRemoved
                case .classRenamed: .classRenamed
                case .classChanged: .classChanged
                case .propertyAdded: .propertyAdded
                case .propertyRemoved: .propertyRemoved
                case .propertyRenamed: .propertyRenamed
                case .propertyChanged: .propertyChanged
                }
            className = difference.className
            propertyName = difference.property
            description = difference.description
        }
    }
}
