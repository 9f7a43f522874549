internal import ToftModel
internal import ToftRealmFile

/// The imported classes of a Realm file, and their declarations in Toft.
struct RealmImportSchema {
    /// A table that becomes a class.
    struct Class {
        let table: RealmTable
        let declared: ClassSchema
        /// The columns that become properties, in the order of those.
        let columns: [RealmColumn]
    }

    private(set) var classes: [Class] = []
    private(set) var renamings: [RealmImportReport.Renaming] = []
    private(set) var leftOut: [String] = []

    /// Classes of Realm's own partial sync.
    private static let ownClasses: Set = [
        "__Class", "__Permission", "__Realm", "__ResultSets", "__Role", "__User",
    ]
    /// Columns of Realm's own sync begin so.
    private static let ownColumn = "!"

    init(_ file: RealmFile) {
        var names: [Int64: String] = [:], tables: [RealmTable] = []
        for table in file.tables {
            guard let name = table.className, !Self.ownClasses.contains(name) else { continue }
            if table.kind == .asymmetric {
                leftOut.append("class '\(name)' is asymmetric, so its objects were never readable")
                continue
            }
            let known = Set(names.values)
            names[table.key] = Self.name(name, Limits.classNameBytes) { known.contains($0) }
            tables.append(table)
        }
        for table in tables { add(table, names) }
    }

    private mutating func add(_ table: RealmTable, _ names: [Int64: String]) {
        let old = table.className ?? table.name, name = names[table.key] ?? old
        if name != old { renamings.append(.init(old: old, new: name)) }
        let columns = table.columns.filter { column in
            guard !column.name.hasPrefix(Self.ownColumn) else { return false }
            guard column.type == .link, column.target.map({ names[$0] != nil }) != true else {
                return true
            }
            leftOut.append("'\(old).\(column.name)' leads to a class that is left out")
            return false
        }
        var declared = ClassSchema(name, isEmbedded: table.kind == .embedded)
        var taken = Set<String>()
        for column in columns {
            let own = Self.name(column.name, Limits.propertyNameBytes) { taken.contains($0) }
            taken.insert(own)
            if own != column.name {
                renamings.append(.init(old: "\(old).\(column.name)", new: own))
            }
            var property = PropertySchema(
                own, PropertyType(column.type), collection: CollectionKind(column.collection),
                isOptional: column.isOptional,
                target: column.type == .link ? column.target.flatMap { names[$0] } : nil)
            property.isPrimaryKey =
                table.primaryKey.map { table.columns[$0].name == column.name } ?? false
            switch column.index {
            case .none: break
            case .fullText:
                leftOut.append("the full-text index of '\(old).\(column.name)' has no counterpart")
            case .general where property.isPrimaryKey: break
            case .general
            where column.collection != .none || !property.type.canBeIndexed:
                leftOut.append("the index of '\(old).\(column.name)' has no counterpart")
            case .general: property.isIndexed = true
            }
            declared.properties.append(property)
        }
        classes.append(Class(table: table, declared: declared, columns: columns))
    }

    private static func name(_ old: String, _ limit: Int, isTaken: (String) -> Bool) -> String {
        NameRules.allowed(old, limit: limit, isTaken: isTaken)
    }
}

extension RealmColumn {
    /// Whether the property, or an element of it, may be null in Toft.
    fileprivate var isOptional: Bool {
        guard type == .link else { return isNullable }
        return collection == .none || collection == .dictionary
    }
}

extension PropertyType {
    fileprivate init(_ type: RealmType) {
        self =
            switch type {
            case .int: .int
            case .bool: .bool
            case .string: .string
            case .data: .data
            case .mixed: .mixed
            case .timestamp: .date
            case .float: .float
            case .double: .double
            case .decimal: .decimal128
            case .link: .link
            case .objectId: .objectId
            case .uuid: .uuid
            }
    }
}

extension CollectionKind {
    fileprivate init(_ collection: RealmCollection) {
        self =
            switch collection {
            case .none: .none
            case .list: .list
            case .set: .set
            case .dictionary: .dictionary
            }
    }
}
