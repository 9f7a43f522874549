internal import ToftTestKit

/// The ingredients of a sequence: sizes, and the frequency of each command.
struct ModelProfile {
    let sizes: WorkloadSizes
    let nullPercent: Int
    /// Weights of the kinds of commands; 0 for those that this sequence leaves out.
    let weights: [Int]
    let commandCount: Int
    /// The number of primary keys to draw from, so that some meet.
    let keySpace: Int

    static let kinds: [(name: String, weight: Int)] = [
        ("create", 140), ("upsert", 80), ("createEach", 25), ("set", 140), ("setRun", 20),
        ("setSame", 30), ("add", 40), ("setMany", 50), ("erase", 60), ("eraseAll", 5),
        ("eraseFound", 10), ("own", 80), ("nest", 120),
        ("insert", 120), ("replace", 50), ("remove", 50), ("move", 40), ("swap", 40),
        ("clear", 10), ("assign", 30), ("commit", 120), ("rollback", 15), ("flush", 10),
        ("checkpoint", 10), ("begin", 15), ("open", 10), ("close", 10), ("freeze", 10),
        ("look", 20), ("refresh", 30), ("dispatch", 10), ("reopen", 10), ("kill", 12),
        ("copy", 6), ("compact", 6), ("compactStep", 12), ("changeKey", 4),
        ("addClass", 3), ("addProperty", 8), ("toggleIndex", 8), ("makeOptional", 10),
        ("migrate", 12),
        ("query", 60), ("find", 30),
        ("observe", 15), ("stop", 3), ("countUp", 25),
    ]

    init(_ numbers: inout Seed) {
        sizes = WorkloadSizes(&numbers)
        nullPercent = numbers.pick([0, 5, 30]) ?? 0
        keySpace = numbers.pick([4, 12, 40, 10_000]) ?? 12
        let disabled = numbers.below(60)
        let commits = numbers.pick([1, 4, 12]) ?? 4
        var weights: [Int] = []
        for kind in Self.kinds {
            let isKept = kind.name == "commit" || kind.name == "create"
            let isOff = !isKept && numbers.chance(disabled)
            weights.append(
                isOff ? 0 : kind.name == "commit" ? kind.weight * commits / 4 : kind.weight)
        }
        self.weights = weights
        commandCount =
            switch sizes.profile {
            case .tiny: 50 + numbers.below(150)
            case .boundary: 40 + numbers.below(140)
            case .large: 20 + numbers.below(60)
            }
    }
}
