internal import ToftModel

/// The classes of a sequence, as the model knows them.
struct Shape: Equatable {
    var classes: [ShapeClass] = []
}

struct ShapeClass: Equatable {
    var name: String
    /// Its objects live in others.
    var isEmbedded = false
    var properties: [ShapeProperty] = []
    var inverses: [ShapeInverse] = []
    /// Properties that no two objects have the same values of.
    var uniques: [[Int]] = []

    var primaryKey: Int? { properties.firstIndex { $0.isPrimaryKey } }
    /// Lists, sets and dictionaries.
    var collections: [Int] { properties.indices.filter { properties[$0].isCollection } }
    /// Collections whose elements are given, not made in them.
    var editable: [Int] { collections.filter { !properties[$0].isOwning } }
    /// Properties that may hold lists and dictionaries within mixed values.
    var nesting: [Int] {
        properties.indices.filter {
            properties[$0].type == .mixed && properties[$0].collection != .set
        }
    }
    /// Properties that embedded objects live in.
    var owning: [Int] { properties.indices.filter { properties[$0].isOwning } }
    /// Properties that have aggregates.
    var addable: [Int] {
        properties.indices.filter {
            !properties[$0].isCollection
                && [.int, .float, .double, .date, .decimal].contains(properties[$0].type)
        }
    }
    /// Links whose targets go with an object.
    var cascading: [Int] {
        properties.indices.filter { properties[$0].isOwning || properties[$0].rule == .cascade }
    }
    /// Properties that can be set: all but collections, the primary key and those that own an
    /// object.
    var settable: [Int] {
        properties.indices.filter {
            !properties[$0].isCollection && !properties[$0].isPrimaryKey && !properties[$0].isOwning
        }
    }
}

enum ShapeType: Int, CaseIterable {
    case bool, int, float, double, text, data, date, link, uuid, objectId, decimal, mixed

    var stored: PropertyType {
        switch self {
        case .bool: .bool
        case .int: .int
        case .float: .float
        case .double: .double
        case .text: .string
        case .data: .data
        case .date: .date
        case .link: .link
        case .uuid: .uuid
        case .objectId: .objectId
        case .decimal: .decimal128
        case .mixed: .mixed
        }
    }

    var canBeIndexed: Bool {
        switch self {
        case .bool, .int, .text, .date, .uuid, .objectId, .mixed: true
        case .float, .double, .data, .link, .decimal: false
        }
    }

    var zero: Datum {
        switch self {
        case .bool: .bool(false)
        case .int: .int(0)
        case .float: .float(0)
        case .double: .double(0)
        case .text: .text([])
        case .data: .data([])
        case .date: .date(0, 0)
        case .link, .mixed: .null
        case .uuid: .uuid(Array(repeating: 0, count: 16))
        case .objectId: .objectId(Array(repeating: 0, count: 12))
        case .decimal: .decimal(0, 6176 << 49)
        }
    }
}

struct ShapeProperty: Equatable {
    var name: String
    var type: ShapeType
    var collection = CollectionKind.none
    var isNullable = false
    var isIndexed = false
    var isPrimaryKey = false
    /// An object without a given primary key gets the next one.
    var isCounted = false
    /// The class that a link leads to.
    var target = 0
    /// The effect of deletions along a link.
    var rule = DeleteRule.nullify
    /// Whether that class is embedded.
    var isOwning = false

    var isCollection: Bool { collection != .none }

    /// Whether a value, or an element of the collection, may be null.
    var takesNull: Bool {
        type == .link
            ? collection == .none || collection == .dictionary : isNullable || type == .mixed
    }

    /// The initial value of a new object.
    var initial: Datum { isCollection ? .list([]) : takesNull ? .null : type.zero }
}

/// The objects of a class that link to an object through a property.
struct ShapeInverse: Equatable {
    var name: String
    var origin: Int
    var property: Int
}

extension Shape {
    /// Whether deletions take others with them, or may be denied, by rules of links.
    var hasRules: Bool { classes.contains { $0.properties.contains { $0.rule != .nullify } } }

    /// The schema that the engine is opened with.
    var schema: Schema {
        Schema(
            classes.map { declared in
                ClassSchema(
                    declared.name, isEmbedded: declared.isEmbedded,
                    declared.properties.map { property in
                        PropertySchema(
                            property.name, property.type.stored,
                            collection: property.collection, isOptional: property.takesNull,
                            isPrimaryKey: property.isPrimaryKey,
                            isAutoIncremented: property.isCounted, isIndexed: property.isIndexed,
                            deleteRule: property.rule,
                            target: property.type == .link ? classes[property.target].name : nil)
                    }
                        + declared.inverses.map {
                            .linkingObjects(
                                $0.name, from: classes[$0.origin].name,
                                classes[$0.origin].properties[$0.property].name)
                        },
                    uniques: declared.uniques.map { $0.map { declared.properties[$0].name } })
            })
    }
}
