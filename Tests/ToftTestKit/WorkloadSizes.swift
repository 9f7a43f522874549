/// The sizes in a random workload. A uniform mix hides behaviour at a limit: most workloads stay
/// near one.
package enum SizeProfile: String, CaseIterable, Sendable {
    case tiny, boundary, large
}

/// The sizes of one random workload, drawn once: their range decides which faults it finds.
package struct WorkloadSizes: Sendable {
    package let profile: SizeProfile
    /// The length that most texts of a boundary workload have.
    package let anchor: Int
    private let spread: Int

    /// `percentLarge`: of all workloads, those with sizes from the upper end.
    package init(_ numbers: inout Seed, percentTiny: Int = 55, percentLarge: Int = 3) {
        let choice = numbers.below(100)
        profile = choice < percentTiny ? .tiny : choice < 100 - percentLarge ? .boundary : .large
        anchor = numbers.pick(Self.anchors) ?? 0
        spread = numbers.below(4)
    }

    private static let anchors = [
        0, 1, 10, 20, 62, 64, 66, 199, 200, 201, 214, 216, 218, 221, 224, 228, 250, 1_000, 1_016,
        1_024, 1_100, 2_046, 2_048, 4_000, 4_096, 4_200,
    ]

    /// The length of a text or of data.
    package func length(_ numbers: inout Seed) -> Int {
        switch profile {
        case .tiny: return numbers.chance(95) ? numbers.below(14) : numbers.below(300)
        case .boundary:
            if numbers.chance(75) { return max(0, anchor + numbers.below(spread * 2 + 1) - spread) }
            return numbers.chance(60) ? numbers.below(24) : Self.boundary(&numbers)
        case .large:
            if numbers.chance(80) { return numbers.below(60) }
            return numbers.chance(70) ? Self.boundary(&numbers) : 65_530 + numbers.below(12)
        }
    }

    private static func boundary(_ numbers: inout Seed) -> Int {
        switch numbers.below(6) {
        case 0: 62 + numbers.below(5)
        case 1: 198 + numbers.below(5)
        case 2: 214 + numbers.below(15)
        case 3: 1_000 + numbers.below(101)
        case 4: 2_044 + numbers.below(8)
        default: 4_000 + numbers.below(201)
        }
    }

    /// The number of objects that a command makes.
    package func objects(_ numbers: inout Seed) -> Int {
        switch profile {
        case .tiny: return numbers.chance(90) ? 1 : 1 + numbers.below(6)
        case .boundary:
            if numbers.chance(85) { return 1 + numbers.below(3) }
            return numbers.pick([7, 8, 9, 16, 20, 32, 40, 64, 128, 250, 255, 256, 257, 258]) ?? 8
        case .large:
            return numbers.chance(80)
                ? 1 + numbers.below(40)
                : numbers.pick([255, 256, 257, 500, 1_000, 2_000, 5_000]) ?? 255
        }
    }

    /// The number of elements that are inserted into a list at once; `width`: of an element in its
    /// block.
    package func elements(_ numbers: inout Seed, width: Int) -> Int {
        switch profile {
        case .tiny: return 1 + numbers.below(numbers.chance(95) ? 3 : 40)
        case .boundary:
            guard numbers.chance(35) else { return 1 + numbers.below(3) }
            return max(1, 1_016 / max(1, width) - 3 + numbers.below(7))
        case .large:
            return 1 + numbers.below(numbers.chance(80) ? 20 : 3_000)
        }
    }
}
