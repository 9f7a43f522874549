internal import ToftEngine
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// Groups objects as a statement says: groups, then `having`, sort, offset and limit.
struct GroupRunner {
    private let session: Session
    private let syntax: GroupSyntax
    private let results: Results
    /// The columns behind the keys, with those that only `having` and `sort` read.
    private let columns: [GroupColumn]

    init(_ session: Session, _ syntax: GroupSyntax, of results: Results) {
        self.session = session
        self.syntax = syntax
        self.results = results
        columns = syntax.values + syntax.hidden
    }

    /// A row of groups: the keys, then the values of all columns.
    private typealias Row = [Value]

    func rows() throws(EngineError) -> ValueRows {
        try check()
        var rows = try groups()
        if !syntax.having.isEmpty {
            let having = try bound()
            var kept: [Row] = []
            for row in rows where try passes(row, having) { kept.append(row) }
            rows = kept
        }
        if !syntax.sort.isEmpty { rows = try sorted(rows) }
        rows = Array(rows.dropFirst(syntax.offset))
        if let limit = syntax.limit { rows = Array(rows.prefix(limit)) }
        return try printed(rows)
    }

    /// Tries each path on no objects, so that an error shows its place.
    private func check() throws(EngineError) {
        let nothing = try results.limited(to: 0)
        for key in syntax.keys {
            try key.place.naming { () throws(EngineError) in
                _ = try nothing.groups(by: [key.keyPath])
            }
        }
        for case .aggregate(let name, let path) in columns {
            try path.place.naming { () throws(EngineError) in
                _ = try nothing.groups(by: [], values: [(name.aggregate, path.keyPath)])
            }
        }
    }

    private func groups() throws(EngineError) -> [Row] {
        var values: [(aggregate: Aggregate, path: String)] = []
        for case .aggregate(let name, let path) in columns {
            values.append((name.aggregate, path.keyPath))
        }
        return try results.groups(by: syntax.keys.map(\.keyPath), values: values).map { group in
            var next = group.values.makeIterator()
            return group.keys
                + columns.map { column in
                    if case .count = column {
                        .int(Int64(group.count))
                    } else {
                        next.next() ?? .null
                    }
                }
        }
    }

    private func index(of column: GroupColumn) -> Int {
        if case .key(let index) = column { return index }
        return syntax.keys.count + (columns.firstIndex(of: column) ?? 0)
    }

    // MARK: Order

    private func sorted(_ rows: [Row]) throws(EngineError) -> [Row] {
        let keys = syntax.sort.map { (index: index(of: $0.column), isAscending: $0.isAscending) }
        let order = rows.indices.sorted { left, right in
            for key in keys {
                let order = rows[left][key.index].order(rows[right][key.index])
                if order != 0 { return key.isAscending ? order < 0 : order > 0 }
            }
            return left < right
        }
        return order.map { rows[$0] }
    }

    // MARK: Having

    private typealias Condition = (index: Int, comparator: Comparator, value: Value)

    /// The conditions with their constants as values.
    private func bound() throws(EngineError) -> [[Condition]] {
        var alternatives: [[Condition]] = []
        for conditions in syntax.having {
            var bound: [Condition] = []
            for condition in conditions {
                bound.append(
                    (
                        index(of: condition.column), condition.comparator,
                        try Value(condition.value, condition.place)
                    ))
            }
            alternatives.append(bound)
        }
        return alternatives
    }

    private func passes(_ row: Row, _ having: [[Condition]]) throws(EngineError) -> Bool {
        having.contains { conditions in
            conditions.allSatisfy { condition in
                row[condition.index].compares(condition.comparator, condition.value)
            }
        }
    }

    // MARK: Output

    private func printed(_ rows: [Row]) throws(EngineError) -> ValueRows {
        let json = ObjectToJSON(session)
        let shown = syntax.keys.count + syntax.values.count
        let keys = syntax.keys.enumerated().map { index, key in
            PrintedColumn(key.text, isNumber: rows.contains { $0[index].isNumber })
        }
        let values = syntax.values.map { PrintedColumn($0.title(syntax.keys), isNumber: true) }
        var printed: [[JSONValue]] = []
        for row in rows {
            var cells: [JSONValue] = []
            for value in row.prefix(shown) { cells.append(try json.value(value)) }
            printed.append(cells)
        }
        return ValueRows(keys + values, printed)
    }
}

extension AggregateName {
    fileprivate var aggregate: Aggregate {
        switch self {
        case .sum: .sum
        case .avg: .average
        case .min: .minimum
        case .max: .maximum
        }
    }
}

extension Value {
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    /// A constant of `having`: a number, true, false, null, or a text.
    fileprivate init(_ written: StatementReader.Written, _ place: StatementPlace)
        throws(EngineError)
    {
        switch written {
        case .text(let text): self = .string(text)
        case .json(let bytes):
            let json = try JSONValue(bytes, at: place)
            switch json {
            case .null: self = .null
            case .bool(let value): self = .bool(value)
            case .integer(let value): self = .int(value)
            default:
                if case .numeral(let number) = json, let value = number.mixed {
                    self = value
                    return
                }
                throw EngineError(
                    place.failure(
                        "\(json.kind) can't be compared with a column.",
                        hint: "Write a number, true, false, null, or a text in quotes."))
            }
        }
    }

    /// The order of mixed values; a text beside a date, an id or a number is what it means there.
    fileprivate func order(_ other: Value) -> Int {
        let other = other.read(as: self)
        return
            (try? withBorrowed { left throws(ModelError) in
                try other.withBorrowed { right throws(ModelError) in left.mixedOrder(right) }
            }) ?? 0
    }

    private func read(as other: Value) -> Value {
        guard case .string(let text) = self else { return self }
        switch other {
        case .date: return (try? Timestamp(parsing: text)).map { Value.date($0) } ?? self
        case .uuid: return FixedBytes(uuidText: text).map { Value.uuid($0) } ?? self
        case .objectId: return FixedBytes(objectIdText: text).map { Value.objectId($0) } ?? self
        case .decimal: return Decimal128(text).map { Value.decimal($0) } ?? self
        default: return self
        }
    }

    /// Whether a comparison holds. Null and values of another kind are only unequal.
    fileprivate func compares(_ comparator: Comparator, _ other: Value) -> Bool {
        let order = order(other)
        let other = other.read(as: self)
        let isOrdered =
            !isNull && !other.isNull && (isNumber == other.isNumber)
        return switch comparator {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: isOrdered && order < 0
        case .lessOrEqual: isOrdered && order <= 0
        case .greater: isOrdered && order > 0
        case .greaterOrEqual: isOrdered && order >= 0
        default: false
        }
    }
}

extension JSONValue {
    /// JSON of a statement; an error shows the place.
    init(_ bytes: [UInt8], at place: StatementPlace) throws(EngineError) {
        do throws(EngineError) {
            self = try bytes.withUnsafeBytes { bytes in
                Result { () throws(EngineError) in try JSONParser.value(of: bytes) }
            }.get()
        } catch {
            let isWord = !bytes.contains { [0x22, 0x7B, 0x5B].contains($0) }
            throw EngineError(
                place.failure(
                    isWord
                        ? "'\(String(decoding: bytes, as: UTF8.self))' is no value."
                        : error.message,
                    hint: isWord
                        ? "A value is JSON: a number, true, false, null, a text in quotes, a "
                            + "list [...] or an object {...}." : nil))
        }
    }
}
