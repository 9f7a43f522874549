internal import ToftEngine
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// The statistics of one column of results: nulls, different values, the least and the greatest,
/// the most frequent ones, a histogram. The engine groups the column in one pass.
struct Statistics {
    private let writer: CellWriter
    private let results: Results
    private let property: PropertyHandle

    private static let mostFrequent = 10
    private static let bins = 24

    init(of property: PropertyHandle, in results: Results) {
        self.results = results
        self.property = property
        writer = CellWriter(session: results.session, limits: .table)
    }

    func json() throws(EngineError) -> JSONValue {
        let count = JSONValue.count(try results.count)
        if property.isCollection || property.type == .linkingObjects {
            let empty = try number(where: "\(property.name).@count", "$K0 == 0")
            return .object([("count", count), ("empty", .count(empty))])
        }
        if property.type == .mixed || property.type == .data {
            let nulls = try number(where: property.name, "$K0 == nil")
            return .object([("count", count), ("nulls", .count(nulls))])
        }
        let groups = try results.groups(by: [property.name]).compactMap { group in
            group.keys.first.map { (value: $0, count: group.count) }
        }
        let present = groups.filter { !$0.value.isNull }
        var members: [(String, JSONValue)] = [
            ("count", count), ("distinct", .count(present.count)),
            ("nulls", .count(groups.reduce(0) { $0 + ($1.value.isNull ? $1.count : 0) })),
        ]
        if let least = present.first, let greatest = present.last, property.type != .link {
            members.append(("least", try writer.cell(least.value)))
            members.append(("greatest", try writer.cell(greatest.value)))
        }
        try addNumbers(to: &members)
        members.append(("top", try top(of: present)))
        members.append(("bins", histogram(of: present)))
        return .object(members)
    }

    /// The number of results that pass a condition on a path.
    private func number(where path: String, _ condition: String) throws(EngineError) -> Int {
        try results.filter(condition, arguments: [.value(.string(path))]).count
    }

    private func addNumbers(to members: inout [(String, JSONValue)]) throws(EngineError) {
        switch property.type {
        case .int, .float, .double, .decimal128:
            let average = try results.aggregate(.average, of: property.id)
            members.append(("average", try writer.cell(average)))
            do throws(EngineError) {
                members.append(
                    ("sum", try writer.cell(try results.aggregate(.sum, of: property.id))))
            } catch {
                guard error.code == .overflow else { throw error }
            }
        default: break
        }
    }

    private func top(of groups: [(value: Value, count: Int)]) throws(EngineError) -> JSONValue {
        var top: [(value: Value, count: Int)] = []
        for group in groups {
            if top.count == Self.mostFrequent, let last = top.last, last.count >= group.count {
                continue
            }
            let place = top.firstIndex { $0.count < group.count } ?? top.count
            top.insert(group, at: place)
            if top.count > Self.mostFrequent { top.removeLast() }
        }
        var cells: [JSONValue] = []
        for group in top {
            cells.append(.list([try writer.cell(group.value), .count(group.count)]))
        }
        return .list(cells)
    }

    /// Numbers of objects in ranges of equal width: each is its beginning, its end and the number.
    private func histogram(of groups: [(value: Value, count: Int)]) -> JSONValue {
        let numbers = groups.compactMap { group in
            group.value.position.map { (number: $0, count: group.count) }
        }
        guard let least = numbers.first?.number, let greatest = numbers.last?.number,
            least < greatest, (greatest - least).isFinite
        else { return .list([]) }
        let width = (greatest - least) / Double(Self.bins)
        var counts = [Int](repeating: 0, count: Self.bins)
        for (number, count) in numbers {
            let bin = Int(((number - least) / width).rounded(.down))
            counts[max(0, min(bin, Self.bins - 1))] += count
        }
        return .list(
            counts.enumerated().map { bin, count in
                let start = least + Double(bin) * width
                return .list([.double(start), .double(start + width), .count(count)])
            })
    }
}

extension Value {
    /// A number's place on a line; a date's seconds since 1970.
    fileprivate var position: Double? {
        let number: Double? =
            switch self {
            case .int(let value): Double(value)
            case .float(let value): Double(value)
            case .double(let value): value
            case .decimal(let value): value.nearestDouble
            case .date(let date): Double(date.seconds) + Double(date.nanoseconds) / 1e9
            default: nil
            }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }
}
