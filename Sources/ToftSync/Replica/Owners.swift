/// Paths that unanswered changes of a replica own: they show what the replica has written,
/// whatever the server says meanwhile. And the adds that count on top of what it says.
package struct Owners: Sendable {
    /// Object -> steps -> how many unanswered ops own the path.
    private var owned: [ObjectID: [[Step]: Int]] = [:]
    private var adds: [Path: Sum] = [:]

    /// Adds whose sum may be wider than a number, as some may be dropped.
    private struct Sum: Sendable {
        var count = 0
        var amount: Int128 = 0
    }

    package init() {}

    var hasAdds: Bool { !adds.isEmpty }

    mutating func insert(_ changeset: Changeset, _ schema: Schema) {
        for op in changeset.ops {
            op.eachOwned(schema) { owned[$0.object, default: [:]][$0.steps, default: 0] += 1 }
            if case .add(let path, let amount) = op {
                adds[path, default: Sum()].count += 1
                adds[path]?.amount += Int128(amount)
            }
        }
    }

    mutating func remove(_ changeset: Changeset, _ schema: Schema) {
        for op in changeset.ops {
            op.eachOwned(schema) { path in
                guard let count = owned[path.object]?[path.steps] else { return }
                owned[path.object]?[path.steps] = count > 1 ? count - 1 : nil
                if owned[path.object]?.isEmpty == true { owned[path.object] = nil }
            }
            if case .add(let path, let amount) = op {
                adds[path]?.count -= 1
                adds[path]?.amount -= Int128(amount)
                if adds[path]?.count == 0 { adds[path] = nil }
            }
        }
    }

    /// Whether a path or one that it is below is owned. O(steps).
    package func covers(_ path: Path) -> Bool {
        guard let steps = owned[path.object] else { return false }
        return (0...path.steps.count).contains { steps[Array(path.steps[..<$0])] != nil }
    }

    /// The server's number together with the unanswered adds. A number that would be too large
    /// shows without them, as the server is going to drop such adds.
    package func shown(_ value: Int64, at path: Path) -> Int64 {
        guard let sum = adds[path] else { return value }
        return Int64(exactly: Int128(value) + sum.amount) ?? value
    }
}
