internal import ToftModel
internal import ToftTestKit

/// Compares the database with the model.
extension ModelRun {
    /// The content that a session shows: its open transaction, or its version.
    func shown(_ seat: Seat) -> ModelContent { seat === writer ? content : seat.content }

    /// Compares all of a small database; otherwise the objects that were touched and some others.
    func verify(_ seat: Seat, touched: Set<ModelObject> = [], percent: Int) throws {
        let expected = shown(seat)
        let isSmall = expected.objectCount < 300
        for owner in expected.classes.indices {
            let rows = expected.classes[owner]
            let keys = try seat.session.keys(owner)
            guard keys == rows.keys else {
                throw ModelViolation(
                    "class \(owner) has the objects \(keys.prefix(20)) (\(keys.count)), not "
                        + "\(rows.keys.prefix(20)) (\(rows.keys.count))")
            }
            for (place, key) in rows.keys.enumerated()
            where isSmall || percent >= 100 || numbers.chance(percent) {
                try compare(seat, owner, key, rows.rows[place])
            }
        }
        if !isSmall {
            for object in touched {
                if let row = expected.row(object.owner, object.key) {
                    try compare(seat, object.owner, object.key, row)
                }
            }
        }
        for owner in expected.classes.indices {
            try verifyInverses(seat, owner, all: percent >= 100)
            if percent < 100 { try verifyIndexes(seat, owner, all: false) }
        }
    }

    private func compare(_ seat: Seat, _ owner: Int, _ key: Int64, _ row: [Datum]) throws {
        if let difference = try seat.session.difference(owner, key, row) {
            throw ModelViolation("object \(key) of class \(owner): \(difference)")
        }
    }

    /// The objects that link to some objects.
    private func verifyInverses(_ seat: Seat, _ owner: Int, all: Bool) throws {
        let expected = shown(seat)
        let keys = expected.classes[owner].keys
        guard !keys.isEmpty else { return }
        for (place, inverse) in expected.shape.classes[owner].inverses.enumerated() {
            for _ in 0..<(all ? min(10, keys.count) : 1) {
                let key = keys[numbers.below(keys.count)]
                let found = try seat.session.results(.inverse(owner, key, place), nil).keys()
                let wanted = expected.sources(of: key, through: inverse)
                guard found == wanted else {
                    throw ModelViolation(
                        "object \(key) of class \(owner) is linked from \(found.prefix(20)), not "
                            + "\(wanted.prefix(20)), through \(inverse)")
                }
            }
        }
    }

    /// The results of indexes: some values, and the primary keys of some objects.
    func verifyIndexes(_ seat: Seat, _ owner: Int, all: Bool) throws {
        let expected = shown(seat)
        let rows = expected.classes[owner]
        guard !rows.keys.isEmpty else { return }
        for (property, declared) in expected.shape.classes[owner].properties.enumerated()
        where declared.isIndexed || declared.isPrimaryKey {
            for _ in 0..<(all ? min(10, rows.keys.count) : 1) {
                let place = numbers.below(rows.keys.count)
                let value = rows.rows[place][property]
                if declared.isPrimaryKey {
                    guard try seat.session.find(owner, value) == rows.keys[place] else {
                        throw ModelViolation(
                            "the primary key \(value) does not find object \(rows.keys[place])")
                    }
                    continue
                }
                guard !value.isCollection else { continue }
                let question = Question(
                    owner: owner,
                    predicate: .compare(path: [], property: property, .equal, value))
                try compare(seat, question, .all(owner), rows.keys)
            }
        }
    }

    /// Everything is checked as a program can have it checked.
    func check(_ seat: Seat) throws {
        guard seat !== writer else { return }
        let problems = try seat.session.check()
        guard problems.isEmpty else {
            throw ModelViolation("the check finds " + problems.prefix(5).joined(separator: "; "))
        }
    }

    // MARK: Questions

    private func compare(
        _ seat: Seat, _ question: Question, _ base: ModelBase, _ candidates: [Int64]
    ) throws {
        let expected = shown(seat)
        let results = try seat.session.results(base, question.query(expected.shape))
        try compare(results, question, expected, of: candidates)
        if case .all(let owner) = base, numbers.chance(30) {
            let first = question.answer(expected, of: candidates).first
            let query = question.query(expected.shape)
            let found = try seat.session.firstTwice(owner, query)
            guard found == [first, first] else {
                throw ModelViolation(
                    "the first of '\(query.text)' \(query.arguments.map(\.value)) is \(found), not "
                        + "\(first ?? -1)")
            }
        }
        // The text that the results give of themselves finds the same.
        guard numbers.chance(20) else { return }
        let text = try results.text()
        let again = try seat.session.results(base, ModelQuery(text: text))
        try compare(again, question, expected, of: candidates)
        let itsText = try again.text()
        guard itsText == text else { throw ModelViolation("'\(text)' is '\(itsText)' as text") }
    }

    private func compare(
        _ results: any ModelResults, _ question: Question, _ expected: ModelContent,
        of candidates: [Int64]
    ) throws {
        let query = question.query(expected.shape)
        let wanted = question.answer(expected, of: candidates)
        if numbers.chance(50) {
            let count = try results.count()
            guard count == wanted.count else {
                throw ModelViolation(
                    "'\(query.text)' \(query.arguments.map(\.value)) counts \(count), not "
                        + "\(wanted.count)")
            }
        }
        let found = try results.keys()
        guard found == wanted else {
            throw ModelViolation(
                "'\(query.text)' \(query.arguments.map(\.value)) finds \(found.prefix(20)), not "
                    + "\(wanted.prefix(20))")
        }
    }

    func ask(_ seat: Seat, _ index: Int, _ bits: UInt64) throws {
        let expected = shown(seat)
        let owner = index % expected.classes.count
        var numbers = Seed(bits)
        let question = Question(bits ^ 0xFFFF, owner, expected)
        try compare(seat, question, .all(owner), expected.classes[owner].keys)
        try aggregate(seat, question, expected, &numbers)
        try askOfSome(seat, owner, expected, &numbers)
        if seat.results.count < 4, numbers.chance(40) {
            let results = try seat.session.results(.all(owner), question.query(expected.shape))
            seat.results.append((question, results))
        }
        if let live = numbers.pick(seat.results) {
            try compare(
                live.results, live.question, expected,
                of: expected.classes[live.question.owner].keys)
        }
    }

    /// Queries the targets of a list, or the objects that link to an object.
    private func askOfSome(
        _ seat: Seat, _ owner: Int, _ expected: ModelContent, _ numbers: inout Seed
    ) throws {
        guard let key = numbers.pick(expected.classes[owner].keys),
            let row = expected.row(owner, key)
        else { return }
        let declared = expected.shape.classes[owner]
        if let inverse = numbers.pick(Array(declared.inverses.indices)), numbers.chance(50) {
            let link = declared.inverses[inverse]
            let question = Question(numbers.next(), link.origin, expected)
            try compare(
                seat, question, .inverse(owner, key, inverse),
                expected.sources(of: key, through: link))
        }
        if let list = numbers.pick(declared.collections) {
            let property = declared.properties[list]
            if property.type == .link {
                let question = Question(numbers.next(), property.target, expected)
                try compare(
                    seat, question, .list(owner, key, list),
                    row[list].values.compactMap { if case .link(let key) = $0 { key } else { nil } }
                )
            }
            if property.collection != .dictionary, let value = numbers.pick(row[list].elements) {
                let found = try seat.session.listIndex(owner, key, list, of: value)
                let wanted = row[list].elements.firstIndex {
                    Datum.sortOrder($0, value) == 0
                }
                guard found == wanted else {
                    throw ModelViolation(
                        "\(value) is found at \(found ?? -1) of a list, not at \(wanted ?? -1)")
                }
            }
        }
    }

    private func aggregate(
        _ seat: Seat, _ question: Question, _ expected: ModelContent, _ numbers: inout Seed
    ) throws {
        let declared = expected.shape.classes[question.owner]
        guard let what = numbers.pick(ModelAggregate.allCases) else { return }
        let keys = question.answer(expected, of: expected.classes[question.owner].keys)
        let rows = keys.compactMap { expected.row(question.owner, $0) }
        let links = declared.properties.indices.filter {
            declared.properties[$0].type == .link && !declared.properties[$0].isCollection
        }
        if numbers.chance(40), let link = numbers.pick(links) {
            let step = declared.properties[link]
            let target = expected.shape.classes[step.target]
            guard let property = numbers.pick(target.addable) else { return }
            let values = rows.map { row in
                guard case .link(let key) = row[link] else { return Datum.null }
                return expected.row(step.target, key)?[property] ?? .null
            }
            let end = target.properties[property]
            try compare(
                seat, question, what, "\(step.name).\(end.name)", values, end.type, expected)
        }
        guard let property = numbers.pick(declared.addable) else { return }
        let asked = declared.properties[property]
        let values = rows.map { $0[property] }
        guard what.value(of: values, asked.type) != nil else { return }
        try compare(seat, question, what, asked.name, values, asked.type, expected)
        let plain = declared.properties.indices.filter {
            !declared.properties[$0].isCollection && declared.properties[$0].type != .link
        }
        if numbers.chance(40), let key = numbers.pick(plain) {
            try group(seat, question, expected, by: key, what, of: property, keys)
        }
    }

    /// An aggregate of a path's `values`, null if a link is.
    private func compare(
        _ seat: Seat, _ question: Question, _ what: ModelAggregate, _ path: String,
        _ values: [Datum], _ type: ShapeType, _ expected: ModelContent
    ) throws {
        guard let wanted = what.value(of: values, type) else { return }
        let query = question.query(expected.shape)
        let results = try seat.session.results(.all(question.owner), query)
        let result = try results.aggregate(what, of: path)
        guard Datum.sortOrder(result, wanted) == 0 else {
            throw ModelViolation(
                "the \(what) of '\(path)' over '\(query.text)' \(query.arguments.map(\.value)) is "
                    + "\(result), not \(wanted)")
        }
    }

    /// Groups of the objects `found`, each with its key, its size and an aggregate.
    private func group(
        _ seat: Seat, _ question: Question, _ expected: ModelContent, by key: Int,
        _ what: ModelAggregate, of property: Int, _ found: [Int64]
    ) throws {
        let declared = expected.shape.classes[question.owner]
        let type = declared.properties[property].type
        var wanted: [(key: Datum, values: [Datum])] = []
        for row in found.compactMap({ expected.row(question.owner, $0) }) {
            if row[key].kind >= Datum.object(0, 0).kind { return }
            if let index = wanted.firstIndex(where: { Datum.sortOrder($0.key, row[key]) == 0 }) {
                wanted[index].values.append(row[property])
            } else {
                guard wanted.count < 100 else { return }
                wanted.append((row[key], [row[property]]))
            }
        }
        wanted.sort { Datum.sortOrder($0.key, $1.key) < 0 }
        let values = wanted.map { what.value(of: $0.values, type) }
        // A sum beyond 64 bits is an error.
        guard !values.contains(where: { $0 == nil }) else { return }
        let query = question.query(expected.shape)
        let groups = try seat.session.results(.all(question.owner), query).groups(
            by: declared.properties[key].name, what, of: declared.properties[property].name)
        let isRight =
            groups.count == wanted.count
            && groups.indices.allSatisfy { index in
                Datum.sortOrder(groups[index].key, wanted[index].key) == 0
                    && groups[index].count == wanted[index].values.count
                    && Datum.sortOrder(groups[index].value, values[index] ?? .null) == 0
            }
        guard isRight else {
            throw ModelViolation(
                "the groups of '\(declared.properties[key].name)' with the \(what) of "
                    + "'\(declared.properties[property].name)' over '\(query.text)' "
                    + "\(query.arguments.map(\.value)) are \(groups), not \(wanted)")
        }
    }

    func find(_ seat: Seat, _ index: Int, _ draw: Draw) throws {
        let expected = shown(seat)
        let owner = index % expected.classes.count
        guard let property = expected.shape.classes[owner].primaryKey else { return }
        let value = draw.value(expected.shape.classes[owner].properties[property], in: expected)
        let found = try seat.session.find(owner, value)
        guard found == expected.find(owner, value) else {
            throw ModelViolation(
                "the primary key \(value) finds object \(found ?? -1), not "
                    + "\(expected.find(owner, value) ?? -1)")
        }
    }

    // MARK: Observers

    func observe(_ seat: Seat, _ index: Int, _ object: Int, _ bits: UInt64) throws {
        guard writer == nil, !seat.isFrozen, seat.watchers.count < 8 else { return }
        let expected = seat.content
        let owner = index % expected.classes.count
        var numbers = Seed(bits)
        guard
            let (subject, watched) = try subject(seat, owner, object, expected, &numbers)
        else { return }
        let watcher = Watcher(watched, expected)
        watcher.token = try seat.session.observe(subject) { [unowned watcher] in
            watcher.receive($0)
        }
        seat.watchers.append(watcher)
        // The first call comes before anything else does.
        try refresh(seat)
    }

    private func subject(
        _ seat: Seat, _ owner: Int, _ object: Int, _ expected: ModelContent, _ numbers: inout Seed
    ) throws -> (ModelSubject, Watcher.Subject)? {
        let declared = expected.shape.classes[owner]
        let keys = expected.classes[owner].keys
        switch numbers.below(10) {
        case 0: return (.database, .database)
        case 1, 2:
            guard !keys.isEmpty else { return nil }
            let key = keys[object % keys.count]
            return (.object(owner, key), .object(owner, key))
        case 3, 4:
            guard !keys.isEmpty, let list = numbers.pick(declared.collections) else {
                return nil
            }
            let key = keys[object % keys.count]
            return (.list(owner, key, list), .list(owner, key, list))
        case 5:
            guard !keys.isEmpty, let inverse = numbers.pick(Array(declared.inverses.indices)) else {
                return nil
            }
            let key = keys[object % keys.count]
            return (
                .results(try seat.session.results(.inverse(owner, key, inverse), nil)),
                .linking(owner, key, inverse)
            )
        case 6, 7:
            var question = Question(owner: owner, predicate: .constant(true))
            question.limit = nil
            return (.results(try seat.session.results(.all(owner), nil)), .found(question))
        default:
            let question = Question(numbers.next(), owner, expected)
            return (
                .results(
                    try seat.session.results(.all(owner), question.query(expected.shape))),
                .found(question)
            )
        }
    }
}

extension ModelAggregate {
    /// The aggregate of values of one type; nil without a value, or if it depends on the order in
    /// which they are added.
    func value(of values: [Datum], _ type: ShapeType) -> Datum? {
        let values = values.filter { !$0.isNull && !$0.isNaN }
        switch self {
        case .minimum: return values.min { Datum.sortOrder($0, $1) < 0 } ?? .null
        case .maximum: return values.max { Datum.sortOrder($0, $1) < 0 } ?? .null
        case .sum, .average:
            guard type != .date, type != .decimal else { return nil }
            if type == .int, self == .sum {
                let total = values.reduce(Int128(0)) {
                    if case .int(let value) = $1 { $0 + Int128(value) } else { $0 }
                }
                return Int64(exactly: total).map { .int($0) }
            }
            var total = 0.0
            for value in values {
                let number: Double =
                    switch value {
                    case .int(let value): Double(value)
                    case .float(let value): Double(value)
                    case .double(let value): value
                    default: 0
                    }
                // Only such sums are exact in any order.
                guard abs(number) < 1_048_576, (number * 8).rounded() == number * 8 else {
                    return nil
                }
                total += number
            }
            if self == .sum { return .double(total) }
            return values.isEmpty ? .null : .double(total / Double(values.count))
        }
    }
}
