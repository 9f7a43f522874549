package import ToftModel
package import ToftQuery

/// Turns a line of the shell into a statement:
///
///     Person where age > 5 sort(name) limit 20 show name, boss.name
///     Person where age > 5 group city: count, avg(age) having count > 3 sort(count desc)
///     Person count
///     explain Person where age > 5
///     create Person {"id": 5, "name": "Rex"}
///     set Person id=5 age=3, name='Max'        set Person where age > 5 age=3
///     delete Person id=5                       delete Person where age > 5
///     begin, commit, cancel, undo
package struct StatementParser {
    private var reader: StatementReader

    private init(_ reader: StatementReader) { self.reader = reader }

    /// - Parameter schema: names with a hyphen are names only if a schema has them.
    package static func parse(_ text: String, schema: StoredSchema? = nil) throws(QueryError)
        -> Statement
    {
        var parser = StatementParser(try StatementReader(text, schema: schema))
        return try parser.statement()
    }

    /// Parses the part of a question behind the class, and its condition, from options of a
    /// command: columns, keys of groups and aggregates. Each text is a list with commas.
    package static func answer(
        fields: String?, keys: String?, aggregates: [(name: AggregateName, path: String)],
        counts: Bool
    ) throws(QueryError) -> Question.Answer {
        if let fields {
            var parser = StatementParser(try StatementReader(fields))
            let paths = try parser.paths()
            try parser.end("',' or the end of the columns")
            return .objects(paths)
        }
        var groups = GroupSyntax()
        if let keys {
            var parser = StatementParser(try StatementReader(keys))
            groups.keys = try parser.paths()
            try parser.end("',' or the end of the groups")
        } else if aggregates.isEmpty {
            return counts ? .count : .objects([])
        }
        if counts || aggregates.isEmpty { groups.values.append(.count) }
        for (name, path) in aggregates {
            var parser = StatementParser(try StatementReader(path))
            let path = try parser.reader.path()
            try parser.end("the end of the path")
            groups.values.append(.aggregate(name, of: path))
        }
        return .groups(groups)
    }

    private mutating func statement() throws(QueryError) -> Statement {
        let statement = try wholeStatement()
        try end("the end of the statement")
        return statement
    }

    private func end(_ expected: String, hint: String? = nil) throws(QueryError) {
        guard reader.isAtEnd else { throw reader.unexpected(expected, hint: hint) }
    }

    private mutating func wholeStatement() throws(QueryError) -> Statement {
        if try reader.accept("create") { return .create(try creation()) }
        if try reader.accept("set") { return .set(try change()) }
        if try reader.accept("delete") { return .delete(try deletion()) }
        if try reader.accept("explain") { return .explain(try question()) }
        if try reader.accept("begin") { return .begin }
        if try reader.accept("commit") { return .commit }
        if try reader.accept("cancel") { return .cancel }
        if try reader.accept("undo") { return .undo }
        return .question(try question())
    }

    private mutating func className() throws(QueryError) -> NamedPlace {
        let place = reader.place
        return NamedPlace(name: try reader.name("the name of a class"), place: place)
    }

    // MARK: Questions

    private mutating func question() throws(QueryError) -> Question {
        var question = Question(owner: try className())
        let predicate = try reader.accept("where") ? try reader.predicate() : nil
        var orderings = try reader.orderings()
        if try reader.accept("show") {
            question.answer = .objects(try paths())
            orderings += try reader.orderings()
        } else if try reader.accept("group") {
            question.answer = .groups(try groups())
        } else if let column = try aggregate() {
            question.answer = try aggregates(from: column)
        }
        if predicate != nil || !orderings.isEmpty {
            question.query = reader.query(predicate, orderings)
        }
        try end(
            Self.clauses(question, predicate != nil),
            hint: predicate == nil && orderings.isEmpty && question.answer.isWhole
                ? "A condition begins with where: \(question.owner.name) where ..." : nil)
        return question
    }

    /// The words that may come next, for the error.
    private static func clauses(_ question: Question, _ hasPredicate: Bool) -> String {
        switch question.answer {
        case .objects(let paths) where paths.isEmpty:
            (hasPredicate ? "and, or, " : "where, ")
                + "sort, limit, offset, distinct, show, group, count or the end"
        case .objects: "',', sort, limit, offset or the end"
        case .count: "the end"
        case .groups: "',', having, sort, limit, offset or the end"
        }
    }

    private mutating func paths() throws(QueryError) -> [StatementReader.Path] {
        var paths: [StatementReader.Path] = []
        repeat { paths.append(try reader.path()) } while try reader.accept(.comma)
        return paths
    }

    /// `count`, or aggregates of all objects.
    private mutating func aggregates(from first: GroupColumn) throws(QueryError)
        -> Question.Answer
    {
        var groups = GroupSyntax()
        groups.values = [first]
        while try reader.accept(.comma) { groups.values.append(try requiredAggregate()) }
        return groups.values == [.count] ? .count : .groups(groups)
    }

    // MARK: Groups

    /// `section: count, sum(size) having count > 3 sort(count desc) limit 10`
    private mutating func groups() throws(QueryError) -> GroupSyntax {
        var groups = GroupSyntax()
        groups.keys = try paths()
        if try reader.accept(.colon) {
            repeat {
                groups.values.append(try requiredAggregate())
            } while try reader.accept(.comma)
        } else {
            groups.values = [.count]
        }
        if try reader.accept("having") { groups.having = try having(&groups) }
        if try reader.accept("sort") { try sort(&groups) }
        while true {
            if try reader.accept("limit") {
                groups.limit = try number("limit")
            } else if try reader.accept("offset") {
                groups.offset = try number("offset")
            } else {
                return groups
            }
        }
    }

    /// `count`, or `sum(path)` and its kin; nil if another word is next.
    private mutating func aggregate() throws(QueryError) -> GroupColumn? {
        if try reader.accept("count") { return .count }
        for name in AggregateName.allCases where reader.word == name.rawValue {
            _ = try reader.accept(name.rawValue)
            try reader.expect(.openParenthesis, "after \(name.rawValue)")
            let path = try reader.path()
            try reader.expect(.closeParenthesis, "to close \(name.rawValue)")
            return .aggregate(name, of: path)
        }
        return nil
    }

    private mutating func requiredAggregate() throws(QueryError) -> GroupColumn {
        guard let column = try aggregate() else {
            throw reader.unexpected("count, sum(path), avg(path), min(path) or max(path)")
        }
        return column
    }

    /// A column of the groups: an aggregate, or one of the keys. An aggregate that is not among
    /// the values becomes a hidden one.
    private mutating func column(_ groups: inout GroupSyntax) throws(QueryError) -> GroupColumn {
        if let column = try aggregate() {
            if !groups.values.contains(column), !groups.hidden.contains(column) {
                groups.hidden.append(column)
            }
            return column
        }
        let path = try reader.path()
        guard let index = groups.keys.firstIndex(where: { $0.text == path.text }) else {
            throw path.place.failure(
                "'\(path.text)' is no column of the groups.",
                hint: "The columns are what they are grouped by, count, and aggregates such as "
                    + "sum(\(path.text)).")
        }
        return .key(index)
    }

    /// Conditions that are joined by `and` and, less tightly, by `or`.
    private mutating func having(_ groups: inout GroupSyntax) throws(QueryError)
        -> [[GroupCondition]]
    {
        var alternatives: [[GroupCondition]] = []
        repeat {
            var conditions: [GroupCondition] = []
            repeat {
                let column = try column(&groups)
                guard let comparator = try reader.comparator() else {
                    throw reader.unexpected("one of == != < <= > >=")
                }
                let place = reader.place
                conditions.append(
                    GroupCondition(
                        column: column, comparator: comparator, value: try reader.written(),
                        place: place))
            } while try reader.accept("and")
            alternatives.append(conditions)
        } while try reader.accept("or")
        return alternatives
    }

    private mutating func sort(_ groups: inout GroupSyntax) throws(QueryError) {
        try reader.expect(.openParenthesis, "after sort")
        repeat {
            let column = try column(&groups)
            var isAscending = true
            if try reader.accept("desc") {
                isAscending = false
            } else if try reader.accept("descending") {
                isAscending = false
            } else if try reader.accept("asc") {
            } else {
                _ = try reader.accept("ascending")
            }
            groups.sort.append((column, isAscending))
        } while try reader.accept(.comma)
        try reader.expect(.closeParenthesis, "to close sort")
    }

    private mutating func number(_ word: String) throws(QueryError) -> Int {
        let isInParentheses = try reader.accept(.openParenthesis)
        let place = reader.place
        guard case .json(let bytes) = try reader.written(),
            let number = Int(String(decoding: bytes, as: UTF8.self)), number >= 0
        else {
            throw place.failure("\(word) takes a whole number from 0 on.")
        }
        if isInParentheses { try reader.expect(.closeParenthesis, "to close \(word)") }
        return number
    }

    // MARK: Changes

    private mutating func creation() throws(QueryError) -> Creation {
        let owner = try className()
        let place = reader.place
        guard case .json(let json) = try reader.written(), json.first == UInt8(ascii: "{") else {
            throw place.failure(
                "The object to create is JSON.",
                hint: "Write create \(owner.name) {\"name\": \"Rex\"}.")
        }
        return Creation(owner: owner, json: json, place: place)
    }

    private mutating func change() throws(QueryError) -> Change {
        let selection = try selection("set")
        var assignments: [Change.Assigned] = []
        while !reader.isAtEnd {
            let place = reader.place
            let name = try reader.name("the name of a property")
            try reader.expect(.equal, "and the new value")
            let valuePlace = reader.place
            assignments.append(
                Change.Assigned(
                    property: NamedPlace(name: name, place: place),
                    value: try reader.written(), valuePlace: valuePlace))
            if try reader.accept(.comma), reader.isAtEnd {
                throw reader.unexpected("the name of a property")
            }
        }
        guard !assignments.isEmpty else {
            throw reader.unexpected(
                "a property and its new value",
                hint: "Write set \(selection.owner.name) id=5 age=3, or set "
                    + "\(selection.owner.name) where ... age=3.")
        }
        return Change(selection: selection, assignments: assignments)
    }

    private mutating func deletion() throws(QueryError) -> Selection {
        try selection("delete")
    }

    /// `Person where ...` or `Person id=5`
    private mutating func selection(_ verb: String) throws(QueryError) -> Selection {
        let owner = try className()
        if try reader.accept("where") {
            let predicate = try reader.predicate()
            let query = reader.query(predicate, try reader.orderings())
            return Selection(owner: owner, objects: .query(query))
        }
        let place = reader.place
        guard !reader.isAtEnd else {
            throw reader.unexpected(
                "where and a condition, or the primary key and its value",
                hint: "All objects are chosen by: \(verb) \(owner.name) where TRUEPREDICATE")
        }
        let name = try reader.name("where, or the primary key and its value")
        try reader.expect(.equal, "and the value of the primary key")
        let value = try reader.written()
        return Selection(
            owner: owner, objects: .key(NamedPlace(name: name, place: place), value))
    }
}

extension Question.Answer {
    /// Whether all properties of the objects are asked for.
    fileprivate var isWhole: Bool {
        if case .objects(let paths) = self { paths.isEmpty } else { false }
    }
}
