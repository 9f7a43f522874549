internal import ToftModel
internal import ToftTestKit

/// A random query over the classes of a sequence: its text, and the objects that it must find,
/// computed row by row.
struct Question {
    indirect enum Predicate {
        case constant(Bool)
        case compare(path: [Int], property: Int, Operator, Datum)
        case text(path: [Int], property: Int, TextOperator, Datum)
        case among(property: Int, [Datum])
        case between(property: Int, Datum, Datum)
        case elements(Quantifier, list: Int, Operator, Datum)
        case linked(Quantifier, list: Int, property: Int, Operator, Datum)
        case count(list: Int, Operator, Int)
        case inverseCount(Int, Operator, Int)
        /// The value under a dictionary's key, or a property of the object there.
        case entry(dictionary: Int, key: [UInt8], property: Int?, Operator, Datum)
        case keys(Quantifier, dictionary: Int, Operator, Datum)
        /// The number of links from mixed values of a property.
        case mixedLinks(origin: Int, property: Int, Operator, Int)
        case not(Predicate)
        case and([Predicate])
        case or([Predicate])
    }

    enum Operator: String, CaseIterable {
        case equal = "==", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">",
            greaterOrEqual = ">="
    }

    enum TextOperator: String, CaseIterable {
        case begins = "BEGINSWITH", ends = "ENDSWITH", contains = "CONTAINS"
        /// The text anywhere, as a regular expression.
        case matches = "MATCHES"
    }

    enum Quantifier: String, CaseIterable {
        case any = "ANY", all = "ALL", none = "NONE"
    }

    struct Key {
        var path: [Int]
        var property: Int
        var isAscending: Bool
    }

    let owner: Int
    var predicate: Predicate
    var sort: [Key] = []
    var distinct: [Key] = []
    var limit: Int?
    /// The number of results left out before the limit.
    var offset = 0
}

// MARK: Making one

extension Question {
    /// The query that a number means, in a class as it is now.
    init(_ bits: UInt64, _ owner: Int, _ content: ModelContent, isPlain: Bool = false) {
        var numbers = Seed(bits)
        self.owner = owner
        predicate = Self.predicate(&numbers, owner, content, depth: 2)
        guard !isPlain else { return }
        if numbers.chance(30) {
            for _ in 0...numbers.below(2) {
                if let key = Self.key(&numbers, owner, content) { sort.append(key) }
            }
        }
        if numbers.chance(15), let key = Self.key(&numbers, owner, content) { distinct = [key] }
        if numbers.chance(15) { limit = numbers.below(8) }
        if numbers.chance(10) { offset = 1 + numbers.below(4) }
    }

    private static func key(_ numbers: inout Seed, _ owner: Int, _ content: ModelContent) -> Key? {
        let path = path(&numbers, owner, content)
        let last = path.isEmpty ? owner : content.shape.classes[owner].properties[path[0]].target
        let found = content.shape.classes[last].properties.indices.filter {
            let property = content.shape.classes[last].properties[$0]
            return !property.isCollection && property.type != .data && property.type != .link
        }
        guard let property = numbers.pick(found) else { return nil }
        return Key(path: path, property: property, isAscending: numbers.chance(60))
    }

    /// At most one link to follow.
    private static func path(_ numbers: inout Seed, _ owner: Int, _ content: ModelContent) -> [Int]
    {
        guard numbers.chance(25) else { return [] }
        let links = content.shape.classes[owner].properties.indices.filter {
            let property = content.shape.classes[owner].properties[$0]
            return !property.isCollection && property.type == .link
        }
        return numbers.pick(links).map { [$0] } ?? []
    }

    private static func predicate(
        _ numbers: inout Seed, _ owner: Int, _ content: ModelContent, depth: Int
    ) -> Predicate {
        let choice = numbers.below(depth > 0 ? 10 : 7)
        switch choice {
        case 7: return .not(predicate(&numbers, owner, content, depth: depth - 1))
        case 8, 9:
            let parts = (0..<2 + numbers.below(2)).map { _ in
                predicate(&numbers, owner, content, depth: depth - 1)
            }
            return choice == 8 ? .and(parts) : .or(parts)
        default: return leaf(&numbers, owner, content) ?? .constant(!numbers.chance(10))
        }
    }

    private static func leaf(_ numbers: inout Seed, _ owner: Int, _ content: ModelContent)
        -> Predicate?
    {
        let declared = content.shape.classes[owner]
        if numbers.chance(15), !declared.inverses.isEmpty {
            return .inverseCount(
                numbers.below(declared.inverses.count), numbers.pick(Operator.allCases) ?? .equal,
                numbers.below(3))
        }
        if numbers.chance(10) {
            let origin = numbers.below(content.classes.count)
            let found = content.shape.classes[origin].properties.indices.filter {
                content.shape.classes[origin].properties[$0].type == .mixed
            }
            if let property = numbers.pick(found) {
                return .mixedLinks(
                    origin: origin, property: property, numbers.pick(Operator.allCases) ?? .equal,
                    numbers.below(3))
            }
        }
        if numbers.chance(20), let list = numbers.pick(declared.collections) {
            return listLeaf(&numbers, owner, list, content)
        }
        let path = path(&numbers, owner, content)
        let last = path.isEmpty ? owner : declared.properties[path[0]].target
        let scalars = content.shape.classes[last].properties.indices.filter {
            !content.shape.classes[last].properties[$0].isCollection
        }
        guard let place = numbers.pick(scalars) else { return nil }
        let property = content.shape.classes[last].properties[place]
        let value = value(&numbers, last, place, content)
        guard !value.isCollection else { return nil }
        if property.type == .text || property.type == .mixed, numbers.chance(35),
            case .text(let bytes) = value
        {
            let part = part(of: bytes, &numbers)
            // A longer text is not a regular expression.
            let operators = TextOperator.allCases.filter { $0 != .matches || part.count < 1_900 }
            return .text(
                path: path, property: place, numbers.pick(operators) ?? .begins, .text(part))
        }
        let isOrdered =
            property.type == .int || property.type == .float
            || property.type == .double || property.type == .date || property.type == .decimal
        if path.isEmpty, numbers.chance(15), property.type != .link, property.type != .data {
            return .among(
                property: place,
                (0...numbers.below(3)).map { _ in self.value(&numbers, last, place, content) }
                    .filter { !$0.isNull && $0.kind < Datum.object(0, 0).kind })
        }
        if path.isEmpty, isOrdered, numbers.chance(15) {
            let other = self.value(&numbers, last, place, content)
            if !value.isNull, !other.isNull, !value.isNaN, !other.isNaN {
                return .between(property: place, value, other)
            }
        }
        return .compare(
            path: path, property: place, operation(&numbers, property, value), value)
    }

    private static func operation(
        _ numbers: inout Seed, _ property: ShapeProperty, _ value: Datum
    ) -> Operator {
        let isOrdered =
            property.type != .bool && property.type != .data && property.type != .link
            && (property.type != .mixed || [2, 3, 5].contains(value.kind))
        guard isOrdered, !value.isNull else { return numbers.chance(60) ? .equal : .notEqual }
        return numbers.chance(40) ? .equal : numbers.pick(Operator.allCases) ?? .equal
    }

    private static func listLeaf(
        _ numbers: inout Seed, _ owner: Int, _ list: Int, _ content: ModelContent
    ) -> Predicate? {
        let property = content.shape.classes[owner].properties[list]
        if property.collection == .dictionary, numbers.chance(50) {
            return dictionaryLeaf(&numbers, owner, list, content)
        }
        if numbers.chance(50) {
            return .count(
                list: list, numbers.pick(Operator.allCases) ?? .equal, numbers.below(4))
        }
        let quantifier = numbers.pick(Quantifier.allCases) ?? .any
        guard property.type == .link else {
            let values = content.classes[owner].rows.prefix(20).flatMap { $0[list].values }
            guard let value = numbers.pick(values), !value.isNull, !value.isCollection else {
                return nil
            }
            var single = property
            single.collection = .none
            return .elements(quantifier, list: list, operation(&numbers, single, value), value)
        }
        let target = property.target
        let scalars = content.shape.classes[target].properties.indices.filter {
            !content.shape.classes[target].properties[$0].isCollection
        }
        guard let place = numbers.pick(scalars) else { return nil }
        let value = value(&numbers, target, place, content)
        guard !value.isCollection else { return nil }
        return .linked(
            quantifier, list: list, property: place,
            operation(&numbers, content.shape.classes[target].properties[place], value), value)
    }

    private static func dictionaryLeaf(
        _ numbers: inout Seed, _ owner: Int, _ dictionary: Int, _ content: ModelContent
    ) -> Predicate {
        var property = content.shape.classes[owner].properties[dictionary]
        let entries = content.classes[owner].rows.prefix(20).flatMap { $0[dictionary].elements }
        let key = numbers.pick(entries)?.key ?? Array("none".utf8)
        if numbers.chance(30) {
            return .keys(
                numbers.pick(Quantifier.allCases) ?? .any, dictionary: dictionary,
                numbers.pick(Operator.allCases) ?? .equal, .text(key))
        }
        if property.type == .link, numbers.chance(60) {
            let other = content.shape.classes[property.target]
            let scalars = other.properties.indices.filter { !other.properties[$0].isCollection }
            if let place = numbers.pick(scalars) {
                let value = value(&numbers, property.target, place, content)
                guard !value.isCollection else { return .constant(true) }
                return .entry(
                    dictionary: dictionary, key: key, property: place,
                    operation(&numbers, other.properties[place], value), value)
            }
        }
        let value = numbers.pick(entries)?.value ?? .null
        guard !value.isCollection else { return .constant(true) }
        property.collection = .none
        return .entry(
            dictionary: dictionary, key: key, property: nil,
            operation(&numbers, property, value), value)
    }

    /// A value that some object has, or another.
    private static func value(
        _ numbers: inout Seed, _ owner: Int, _ property: Int, _ content: ModelContent
    ) -> Datum {
        let rows = content.classes[owner].rows
        if numbers.chance(80), let row = numbers.pick(rows) { return row[property] }
        let declared = content.shape.classes[owner].properties[property]
        return Draw(
            declared.takesNull && numbers.chance(20) ? -1 : numbers.below(8), numbers.next()
        )
        .value(declared, in: content)
    }

    private static func part(of bytes: [UInt8], _ numbers: inout Seed) -> [UInt8] {
        // Characters of two bytes occur at the beginning only, and stay whole.
        let isWide = bytes.first ?? 0 >= 0x80
        if isWide || numbers.chance(30) { return bytes }
        let start = numbers.below(bytes.count + 1)
        return Array(bytes[start..<start + numbers.below(bytes.count - start + 1)])
    }
}

// MARK: As text

extension Question {
    func query(_ shape: Shape) -> ModelQuery {
        var query = ModelQuery(text: "")
        query.text = text(predicate, shape, &query.arguments)
        if !sort.isEmpty {
            let keys = sort.map {
                name($0.path, $0.property, shape) + ($0.isAscending ? " ASC" : " DESC")
            }
            query.text += " SORT(" + keys.joined(separator: ", ") + ")"
        }
        if !distinct.isEmpty {
            let keys = distinct.map { name($0.path, $0.property, shape) }
            query.text += " DISTINCT(" + keys.joined(separator: ", ") + ")"
        }
        if offset > 0 { query.text += " OFFSET(\(offset))" }
        if let limit { query.text += " LIMIT(\(limit))" }
        return query
    }

    private func name(_ path: [Int], _ property: Int, _ shape: Shape) -> String {
        guard let link = path.first else { return shape.classes[owner].properties[property].name }
        let through = shape.classes[owner].properties[link]
        return through.name + "." + shape.classes[through.target].properties[property].name
    }

    private func argument(
        _ value: Datum, _ arguments: inout [ModelQuery.Argument], target: Int = 0
    ) -> String {
        arguments.append(ModelQuery.Argument(value: value, target: target))
        return "$\(arguments.count - 1)"
    }

    private func target(_ path: [Int], _ property: Int, _ shape: Shape) -> Int {
        let last = path.isEmpty ? owner : shape.classes[owner].properties[path[0]].target
        return shape.classes[last].properties[property].target
    }

    private func text(
        _ predicate: Predicate, _ shape: Shape, _ arguments: inout [ModelQuery.Argument]
    ) -> String {
        let declared = shape.classes[owner]
        switch predicate {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let path, let property, let operation, let value):
            let given =
                value.isNull
                ? "null" : argument(value, &arguments, target: target(path, property, shape))
            return "\(name(path, property, shape)) \(operation.rawValue) \(given)"
        case .text(let path, let property, let operation, var value):
            if operation == .matches, case .text(let part) = value {
                value = .text(Array(".*".utf8) + part + Array(".*".utf8))
            }
            let given = argument(value, &arguments)
            return "\(name(path, property, shape)) \(operation.rawValue) \(given)"
        case .among(let property, let values):
            return "\(declared.properties[property].name) IN \(argument(.list(values), &arguments))"
        case .between(let property, let low, let high):
            return
                "\(declared.properties[property].name) BETWEEN {\(argument(low, &arguments)), "
                + "\(argument(high, &arguments))}"
        case .elements(let quantifier, let list, let operation, let value):
            return
                "\(quantifier.rawValue) \(declared.properties[list].name) \(operation.rawValue) "
                + argument(value, &arguments)
        case .linked(let quantifier, let list, let property, let operation, let value):
            let other = shape.classes[declared.properties[list].target].properties[property]
            let given =
                value.isNull
                ? "null" : argument(value, &arguments, target: other.target)
            return
                "\(quantifier.rawValue) \(declared.properties[list].name).\(other.name) "
                + "\(operation.rawValue) \(given)"
        case .count(let list, let operation, let count):
            return "\(declared.properties[list].name).@count \(operation.rawValue) \(count)"
        case .inverseCount(let inverse, let operation, let count):
            return "\(declared.inverses[inverse].name).@count \(operation.rawValue) \(count)"
        case .entry(let dictionary, let key, let property, let operation, let value):
            let links = declared.properties[dictionary]
            let other = property.map { shape.classes[links.target].properties[$0] }
            let entry = "\(links.name)[\(argument(.text(key), &arguments))]"
            let given =
                value.isNull
                ? "null" : argument(value, &arguments, target: (other ?? links).target)
            return entry + (other.map { ".\($0.name)" } ?? "") + " \(operation.rawValue) \(given)"
        case .keys(let quantifier, let dictionary, let operation, let key):
            return
                "\(quantifier.rawValue) \(declared.properties[dictionary].name).@keys "
                + "\(operation.rawValue) \(argument(key, &arguments))"
        case .mixedLinks(let origin, let property, let operation, let count):
            let from = shape.classes[origin]
            return "@links.\(from.name).\(from.properties[property].name).@count "
                + "\(operation.rawValue) \(count)"
        case .not(let part): return "NOT (\(text(part, shape, &arguments)))"
        case .and(let parts):
            return parts.map { "(\(text($0, shape, &arguments)))" }.joined(separator: " AND ")
        case .or(let parts):
            return parts.map { "(\(text($0, shape, &arguments)))" }.joined(separator: " OR ")
        }
    }
}

// MARK: Answered row by row

/// Values that DISTINCT compares.
private struct Combination: Hashable {
    let values: [Datum]

    static func == (left: Combination, right: Combination) -> Bool {
        zip(left.values, right.values).allSatisfy { Datum.sortOrder($0, $1) == 0 }
    }

    func hash(into hasher: inout Hasher) {
        for value in values {
            // Numbers may equal others of another type; so may elements of a collection.
            if case .decimal = value { continue }
            if MixedNumbers.rank(value) == nil, !value.isCollection { value.hash(into: &hasher) }
        }
    }
}

extension Question {
    /// The keys of the objects that the query finds among `candidates`, in order.
    func answer(_ content: ModelContent, of candidates: [Int64]) -> [Int64] {
        let rows = content.classes[owner]
        var counts: [Int: [Int64: Int]] = [:]
        var found: [(key: Int64, row: [Datum])] = []
        for key in candidates {
            guard let index = rows.index(of: key) else { continue }
            if holds(predicate, key, rows.rows[index], content, &counts) {
                found.append((key, rows.rows[index]))
            }
        }
        if !sort.isEmpty {
            let values = found.map { item in
                sort.map { value($0.path, $0.property, item.row, content) }
            }
            found = values.indices.sorted { left, right in
                for (index, key) in sort.enumerated() {
                    let order = Datum.sortOrder(values[left][index], values[right][index])
                    if order != 0 { return (order < 0) == key.isAscending }
                }
                return left < right
            }.map { found[$0] }
        }
        if !distinct.isEmpty {
            var seen: Set<Combination> = []
            found = found.filter { item in
                let values = distinct.map { value($0.path, $0.property, item.row, content) }
                return seen.insert(Combination(values: values)).inserted
            }
        }
        if offset > 0 { found = Array(found.dropFirst(offset)) }
        if let limit { found = Array(found.prefix(limit)) }
        return found.map(\.key)
    }

    private func value(_ path: [Int], _ property: Int, _ row: [Datum], _ content: ModelContent)
        -> Datum
    {
        guard let link = path.first else { return row[property] }
        guard case .link(let key) = row[link],
            let target = content.row(content.shape.classes[owner].properties[link].target, key)
        else { return .null }
        return target[property]
    }

    private func holds(
        _ predicate: Predicate, _ key: Int64, _ row: [Datum], _ content: ModelContent,
        _ counts: inout [Int: [Int64: Int]]
    ) -> Bool {
        switch predicate {
        case .constant(let value): return value
        case .compare(let path, let property, let operation, let value):
            return operation.holds(self.value(path, property, row, content), value)
        case .text(let path, let property, let operation, let value):
            return operation.holds(self.value(path, property, row, content), value)
        case .among(let property, let values):
            return values.contains { Operator.equal.holds(row[property], $0) }
        case .between(let property, let low, let high):
            return Operator.greaterOrEqual.holds(row[property], low)
                && Operator.lessOrEqual.holds(row[property], high)
        case .elements(let quantifier, let list, let operation, let value):
            return quantifier.holds(row[list].values) { operation.holds($0, value) }
        case .linked(let quantifier, let list, let property, let operation, let value):
            let target = content.shape.classes[owner].properties[list].target
            // Keys of a dictionary that lead to no object do not count.
            return quantifier.holds(row[list].values.filter { !$0.isNull }) { element in
                guard case .link(let key) = element, let row = content.row(target, key) else {
                    return false
                }
                return operation.holds(row[property], value)
            }
        case .count(let list, let operation, let count):
            return operation.holds(.int(Int64(row[list].elements.count)), .int(Int64(count)))
        case .inverseCount(let inverse, let operation, let count):
            if counts[inverse] == nil { counts[inverse] = sourceCounts(inverse, content) }
            return operation.holds(.int(Int64(counts[inverse]?[key] ?? 0)), .int(Int64(count)))
        case .entry(let dictionary, let key, let property, let operation, let value):
            var found = row[dictionary].elements.first { $0.key == key }?.value ?? .null
            if let property {
                let target = content.shape.classes[owner].properties[dictionary].target
                if case .link(let key) = found, let row = content.row(target, key) {
                    found = row[property]
                } else {
                    found = .null
                }
            }
            return operation.holds(found, value)
        case .keys(let quantifier, let dictionary, let operation, let key):
            return quantifier.holds(row[dictionary].elements.map { .text($0.key) }) {
                operation.holds($0, key)
            }
        case .mixedLinks(let origin, let property, let operation, let count):
            let name = -1 - origin * 100 - property
            if counts[name] == nil {
                counts[name] = content.mixedLinks(to: owner, from: origin, property)
            }
            return operation.holds(.int(Int64(counts[name]?[key] ?? 0)), .int(Int64(count)))
        case .not(let part): return !holds(part, key, row, content, &counts)
        case .and(let parts):
            for part in parts where !holds(part, key, row, content, &counts) { return false }
            return true
        case .or(let parts):
            for part in parts where holds(part, key, row, content, &counts) { return true }
            return false
        }
    }

    /// The number of links to each object.
    private func sourceCounts(_ inverse: Int, _ content: ModelContent) -> [Int64: Int] {
        let link = content.shape.classes[owner].inverses[inverse]
        var counts: [Int64: Int] = [:]
        for row in content.classes[link.origin].rows {
            switch row[link.property] {
            case .link(let key): counts[key, default: 0] += 1
            case .list(let elements):
                for case .link(let key) in elements.map(\.value) {
                    counts[key, default: 0] += 1
                }
            default: break
            }
        }
        return counts
    }
}

extension Question.Operator {
    /// Null equals null and is neither less nor greater than anything.
    func holds(_ left: Datum, _ right: Datum) -> Bool {
        if left.isNull || right.isNull {
            let areBoth = left.isNull && right.isNull
            switch self {
            case .equal, .lessOrEqual, .greaterOrEqual: return areBoth
            case .notEqual: return !areBoth
            case .less, .greater: return false
            }
        }
        guard let order = Datum.order(left, right) else { return self == .notEqual }
        switch self {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        }
    }
}

extension Question.TextOperator {
    func holds(_ left: Datum, _ right: Datum) -> Bool {
        guard case .text(let text) = left, case .text(let part) = right else { return false }
        guard part.count <= text.count else { return false }
        switch self {
        case .begins: return text.starts(with: part)
        case .ends: return text.suffix(part.count).elementsEqual(part)
        case .contains, .matches:
            return (0...text.count - part.count).contains {
                text[$0..<$0 + part.count].elementsEqual(part)
            }
        }
    }
}

extension Question.Quantifier {
    func holds(_ elements: [Datum], _ test: (Datum) -> Bool) -> Bool {
        switch self {
        case .any: elements.contains(where: test)
        case .all: elements.allSatisfy(test)
        case .none: !elements.contains(where: test)
        }
    }
}
