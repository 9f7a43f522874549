internal import ToftModel
internal import ToftStorage

/// A query's plan as text for people: a line for each step, in their order, and the reads of a run.
struct Explanation {
    private(set) var text = ""

    init(
        _ trace: Trace, _ base: QueryBase, _ view: ModelView, count: Int, nanoseconds: Int64
    ) throws(ModelError) {
        guard let plan = trace.plan else { return }
        let owner = view.schema.anyClass(id: plan.classID)
        let name = owner?.name ?? "?"
        let rows = try owner.map { owner throws(ModelError) in try view.count(owner) } ?? 0
        let scan = "scan \(rows) objects of \(name)" + Self.skipping(plan.zones)
        var isDecided = false
        switch plan.access {
        case .given:
            if case .keys(let keys) = base { line("take \(keys.count) objects of \(name)") }
        case .scan: line(scan)
        case .index(let index, let decides):
            if let found = trace.indexed {
                line("look up \(index.description): \(Self.number(found, "object"))")
                isDecided = decides
            } else {
                line(scan + ": \(index.description) would take longer")
            }
        }
        for (index, step) in plan.steps.enumerated() {
            add(step, withoutFilter: index == 0 && isDecided)
        }
        var read = "read \(Self.number(trace.rows, "object"))"
        if trace.clusters > 0 { read += " in \(Self.number(trace.clusters, "cluster"))" }
        if trace.skippedClusters > 0 {
            read += ", skipped \(Self.number(trace.skippedClusters, "cluster"))"
        }
        line(read + "; \(Self.found(count, plan.answer)) in \(Self.seconds(nanoseconds)) seconds")
    }

    /// The answer in words.
    private static func found(_ count: Int, _ answer: QueryAnswer) -> String {
        switch answer {
        case .keys: number(count, "result")
        case .firstKeys: "the first \(number(count, "result"))"
        case .lastKey: count == 0 ? "no result" : "the last result"
        case .unordered: "\(number(count, "result")) in any order"
        case .count: "counted \(number(count, "result"))"
        case .exists: count == 0 ? "no result" : "a result"
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String {
        let microseconds = String(max(0, nanoseconds) / 1000 % 1_000_000)
        return "\(max(0, nanoseconds) / 1_000_000_000)."
            + String(repeating: "0", count: 6 - microseconds.utf8.count) + microseconds
    }

    private static func number(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private static func skipping(_ zones: [ZoneMapFilter]) -> String {
        guard !zones.isEmpty else { return "" }
        return ", skipping clusters by the bounds of \(zones.count) "
            + (zones.count == 1 ? "column" : "columns")
    }

    private mutating func add(_ step: QueryPlan.Step, withoutFilter: Bool) {
        for predicate in step.filter where !withoutFilter {
            if case .constant(true) = predicate { continue }
            line("filter \(predicate.explanation)")
        }
        switch step.ordering {
        case nil: break
        case .limit(let count)?: line("limit to \(count)")
        case .offset(let count)?: line("leave out the first \(count)")
        case .sort(let keys)?:
            line(
                "sort by "
                    + keys.map {
                        "\($0.description) \($0.isAscending ? "ascending" : "descending")"
                    }.joined(separator: ", "))
        case .distinct(let keys)?:
            line("keep the first of each " + keys.map(\.description).joined(separator: ", "))
        }
    }

    private mutating func line(_ words: String) {
        text += text.isEmpty ? words : "\n" + words
    }
}

extension BoundPredicate {
    /// In words, with constants in the form that the executor tests.
    var explanation: String {
        switch self {
        case .constant(let value): value ? "everything" : "nothing"
        case .not(let inner): "not (\(inner.explanation))"
        case .and(let parts):
            parts.map { $0.isCompound ? "(\($0.explanation))" : $0.explanation }.joined(
                separator: " and ")
        case .or(let parts):
            parts.map { $0.isCompound ? "(\($0.explanation))" : $0.explanation }.joined(
                separator: " or ")
        case .test(let value, let test, let quantifier):
            "\(Self.prefix(quantifier, value))\(value.description) "
                + test.explanation(isObjectID: value.type == .objectId)
        case .wholeList(let value, let tests): "\(value.description) is a list of \(tests.count)"
        case .wholeSet(let value, let tests): "\(value.description) is a set of \(tests.count)"
        case .pair(let left, let comparator, _, let right, _, _):
            "\(left.description) \(comparator) \(right.description)"
        }
    }

    private var isCompound: Bool {
        switch self {
        case .and, .or: true
        default: false
        }
    }

    private static func prefix(_ quantifier: Quantifier, _ value: BoundExpression) -> String {
        value.multiplePath == nil && quantifier != .none ? "" : "\(quantifier.rawValue) "
    }
}

extension ColumnPredicate {
    fileprivate func explanation(isObjectID: Bool) -> String {
        switch self {
        case .null(let passes): passes ? "is null" : "is not null"
        case .constant(let value): value ? "is anything" : "is nothing"
        case .bool(let value, let isInverted): "is \(isInverted ? "not " : "")\(value)"
        case .int(let low, let high, let isInverted):
            Self.range("\(low)", "\(high)", low == high, isInverted)
        case .members(let members): "is one of \(members.count)"
        case .double(let low, let high, let isInverted, _):
            Self.range("\(low)", "\(high)", low == high, isInverted)
        case .date(let low, let high, let isInverted):
            Self.range(
                "T\(low.seconds):\(low.nanoseconds)", "T\(high.seconds):\(high.nanoseconds)",
                low == high, isInverted)
        case .fixed(let low, let high, let isInverted):
            isObjectID
                ? Self.range(low.objectIdText, high.objectIdText, low == high, isInverted)
                : Self.range(low.uuidText, high.uuidText, low == high, isInverted)
        case .decimal(let low, let high, let isInverted):
            Self.range(
                Decimal128(orderKey: low).description, Decimal128(orderKey: high).description,
                low == high, isInverted)
        case .text(let text):
            "\(text.operation)\(text.options.isEmpty ? "" : "[c]") "
                + "'\(String(decoding: text.needle.prefix(60), as: UTF8.self))'"
        case .mixed(let test):
            "\(test.comparator.rawValue)\(test.options.isEmpty ? "" : "[c]") "
                + (test.link == nil ? test.value.description : "one object")
        case .link(_, let isInverted): "is \(isInverted ? "not " : "")one object"
        case .any(let tests):
            tests.count > 4
                ? "is one of \(tests.count)"
                : tests.map { $0.explanation(isObjectID: isObjectID) }.joined(separator: " or ")
        case .all(let tests):
            tests.map { $0.explanation(isObjectID: isObjectID) }.joined(separator: " and ")
        case .not(let test): "not (\(test.explanation(isObjectID: isObjectID)))"
        }
    }

    private static func range(_ low: String, _ high: String, _ isOne: Bool, _ isInverted: Bool)
        -> String
    {
        "is \(isInverted ? "not " : "")\(isOne ? low : "in \(low)...\(high)")"
    }
}
