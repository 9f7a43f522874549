package import ToftEngine
package import ToftModel
internal import ToftStorage

/// Guesses the class of the objects in a file of comma-separated values or of JSON lines.
///
/// 1. The whole file is read: a property gets the narrowest type that holds all of its values
///    exactly, of bool, int, double, decimal, date, uuid and string, in this order.
/// 2. A field of a file of comma-separated values is a number only if it is written as one would
///    write it: `007` and `+5` are texts. A date needs a time, and a zone, or is a day.
/// 3. A property is optional if a value is null or missing. One without any value is an optional
///    string.
/// 4. An array of values of one type is a list; every other array, an object, and values of several
///    types are mixed. In a file of comma-separated values these are texts.
package struct SchemaGuess {
    private var properties: [Property] = []
    /// The places in `properties` by name.
    private var places: [String: Int] = [:]
    private var count = 0

    private struct Property {
        let name: String
        var types = Types()
        var elements = Types()
        /// Objects that have a value, null too.
        var noted = 0
        var hasNull = false
        var hasValue = false
        var isList = false
        var isMixed = false
    }

    /// The types that hold all values so far.
    private struct Types {
        private(set) var possible: Set<PropertyType>?
        var hasNull = false

        mutating func note(_ types: Set<PropertyType>) {
            possible = possible.map { $0.intersection(types) } ?? types
        }

        /// The narrowest; nil if no type holds all of them.
        var narrowest: PropertyType? {
            let order: [PropertyType] = [.bool, .int, .double, .decimal128, .date, .uuid, .string]
            guard let possible else { return .string }
            return order.first(where: possible.contains)
        }
    }

    /// Reads all lines that are left.
    /// - Parameter csvDelimiter: the byte between fields; nil: the lines are JSON.
    package init(_ lines: inout ObjectLines, csvDelimiter: UInt8?) throws(EngineError) {
        guard let delimiter = csvDelimiter else {
            while let json = try lines.next() {
                let line = lines.number
                try lines.naming(line) { () throws(EngineError) in try note(json) }
            }
            return
        }
        guard let header = try lines.nextLine(isQuoting: true) else { throw lines.isEmpty }
        let names = try lines.naming(lines.number) { () throws(EngineError) in
            try CSV.names(in: header, delimiter)
        }
        for name in names { _ = place(of: name) }
        while let record = try lines.nextLine(isQuoting: true) {
            count += 1
            try lines.naming(lines.number) { () throws(EngineError) in
                let fields = try CSV.fields(of: record, delimiter)
                guard fields.count == names.count else {
                    throw CSV.wrongCount(fields.count, names.count)
                }
                for (place, field) in fields.enumerated() { note(field, at: place) }
            }
        }
    }

    private mutating func place(of name: String) -> Int {
        if let known = places[name] { return known }
        places[name] = properties.count
        properties.append(Property(name: name))
        return properties.count - 1
    }

    // MARK: Values

    private mutating func note(_ field: CSV.Field, at place: Int) {
        properties[place].noted += 1
        if field.text.isEmpty, !field.isQuoted {
            properties[place].hasNull = true
            return
        }
        properties[place].hasValue = true
        properties[place].types.note(Self.types(ofText: field.text, isField: true))
    }

    private mutating func note(_ json: JSONValue) throws(EngineError) {
        guard case .dictionary(let members) = json else {
            throw EngineError(.typeMismatch, "An object is due, not \(json.kind).")
        }
        count += 1
        for (name, value) in members {
            let place = place(of: name)
            properties[place].noted += 1
            note(value, in: &properties[place])
        }
    }

    private func note(_ value: JSONValue, in property: inout Property) {
        switch value {
        case .null: property.hasNull = true
        case .list(let elements):
            if property.hasValue, !property.isList { property.isMixed = true }
            (property.hasValue, property.isList) = (true, true)
            for element in elements {
                switch element {
                case .null: property.elements.hasNull = true
                case .list, .dictionary: property.isMixed = true
                default: property.elements.note(Self.types(of: element))
                }
            }
        case .dictionary: (property.hasValue, property.isMixed) = (true, true)
        default:
            if property.isList { property.isMixed = true }
            property.hasValue = true
            property.types.note(Self.types(of: value))
        }
    }

    /// The types that hold a value of JSON exactly.
    private static func types(of value: JSONValue) -> Set<PropertyType> {
        switch value {
        case .bool: [.bool]
        case .integer(let number):
            Int64(exactly: Double(number)) == number
                ? [.int, .double, .decimal128] : [.int, .decimal128]
        case .numeral(let number):
            if case .double? = number.mixed { [.double, .decimal128] } else { [.decimal128] }
        case .text(let text): types(ofText: text, isField: false)
        case .null, .number, .double, .list, .dictionary: []
        }
    }

    /// - Parameter isField: whether all that is not a text is written as one, too.
    private static func types(ofText text: String, isField: Bool) -> Set<PropertyType> {
        var types: Set<PropertyType> = [.string]
        if FixedBytes(uuidText: text) != nil { types.insert(.uuid) }
        if looksLikeDate(text), (try? Timestamp(parsing: text)) != nil { types.insert(.date) }
        guard isField else { return types }
        if ["true", "false"].contains(text.lowercased()) { types.insert(.bool) }
        if isPlainNumber(text), let number = JSONValue.field(ofNumber: text) {
            types.formUnion(Self.types(of: number))
        }
        return types
    }

    /// Whether a text begins with a year, a month and a day with hyphens.
    private static func looksLikeDate(_ text: String) -> Bool {
        let bytes = Array(text.utf8.prefix(10))
        guard bytes.count == 10 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            [4, 7].contains(index)
                ? byte == UInt8(ascii: "-") : UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        }
    }

    /// Whether a number is written without a plus sign and without zeros in front.
    private static func isPlainNumber(_ text: String) -> Bool {
        var digits = text.utf8[...]
        if digits.first == UInt8(ascii: "-") { digits.removeFirst() }
        guard let first = digits.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= first else {
            return false
        }
        let second = digits.dropFirst().first
        return first != UInt8(ascii: "0") || second.map { $0 < 0x30 || $0 > 0x39 } ?? true
    }

    // MARK: The class

    /// The class that was guessed.
    /// - Parameters:
    ///   - name: its name.
    ///   - primaryKey: the property that is to be its primary key, if any.
    /// - Throws: `noSuchProperty`, `invalidSchema` for a property that can't be the primary key;
    ///   `invalidArgument` for a file without objects.
    package func classSchema(named name: String, primaryKey: String?) throws(EngineError)
        -> ClassSchema
    {
        guard !properties.isEmpty, count > 0 else {
            throw EngineError(
                .invalidArgument,
                "There is no object whose properties could be guessed: say with --schema which it "
                    + "has.")
        }
        if let primaryKey, places[primaryKey] == nil {
            let names = properties.map(\.name)
            let hint = NearestName.hint(for: primaryKey, among: names).map { " \($0)" } ?? ""
            throw EngineError(
                .noSuchProperty, "There is no property '\(primaryKey)' for a primary key.\(hint)")
        }
        var schemas: [PropertySchema] = []
        for property in properties where !isKey(property.name) {
            schemas.append(try schema(property, isPrimaryKey: property.name == primaryKey))
        }
        return ClassSchema(name, schemas)
    }

    /// Whether a member is an object's own key, which links have.
    private func isKey(_ name: String) -> Bool { name == "_key" }

    private func schema(_ property: Property, isPrimaryKey: Bool) throws(EngineError)
        -> PropertySchema
    {
        let scalar = property.isList ? property.elements : property.types
        let type = property.isMixed ? .mixed : scalar.narrowest ?? .mixed
        let isList = property.isList && type != .mixed
        let isNull = property.hasNull || property.noted < count || !property.hasValue
        let isOptional = isList ? scalar.hasNull : isNull || type == .mixed
        guard !isPrimaryKey || !isOptional && !isList && type.canBePrimaryKey else {
            let kind = isOptional ? "\(type.name) that may be null" : type.name
            throw EngineError(
                .invalidSchema,
                "'\(property.name)' can't be the primary key: it is \(isList ? "a list of " : "")"
                    + "\(kind).")
        }
        return PropertySchema(
            property.name, type, collection: isList ? .list : .none, isOptional: isOptional,
            isPrimaryKey: isPrimaryKey)
    }
}
