internal import ToftPlatform
internal import ToftStorage

/// Makes a failing sequence short: takes commands out by halves, quarters..., then makes their
/// numbers small.
enum ModelShrinker {
    static func shrink(_ program: ModelProgram, seconds: Int64 = 60) -> ModelProgram {
        let end = MonotonicClock.nanoseconds + seconds * 1_000_000_000
        var best = program
        func fails(_ best: inout ModelProgram, _ commands: [Command]) -> Bool {
            guard MonotonicClock.nanoseconds < end else { return false }
            var candidate = best
            candidate.commands = commands
            guard ModelTrial.failure(of: candidate) != nil else { return false }
            best = candidate
            return true
        }
        var isSmaller = true
        while isSmaller, MonotonicClock.nanoseconds < end {
            let before = best.commands
            drop(&best, fails)
            simplify(&best, fails)
            isSmaller = best.commands != before
        }
        return best
    }

    private static func drop(
        _ best: inout ModelProgram, _ fails: (inout ModelProgram, [Command]) -> Bool
    ) {
        var size = max(1, best.commands.count / 2)
        while true {
            var start = 0
            while start < best.commands.count {
                var commands = best.commands
                commands.removeSubrange(start..<min(start + size, commands.count))
                if !fails(&best, commands) { start += size }
            }
            if size == 1 { return }
            size /= 2
        }
    }

    private static func simplify(
        _ best: inout ModelProgram, _ fails: (inout ModelProgram, [Command]) -> Bool
    ) {
        for index in best.commands.indices {
            var isSmaller = true
            while isSmaller {
                isSmaller = false
                for candidate in best.commands[index].smaller
                where candidate != best.commands[index] {
                    var commands = best.commands
                    commands[index] = candidate
                    if fails(&best, commands) {
                        isSmaller = true
                        break
                    }
                }
            }
        }
    }
}

extension Draw {
    /// Simpler draws, the simplest first.
    fileprivate var smaller: [Draw] {
        var found: [Draw] = []
        if size > 0 { found += [Draw(0, bits), Draw(size / 2, bits), Draw(size - 1, bits)] }
        if size < 0 { found.append(Draw(0, bits)) }
        if bits > 0 { found += [Draw(size, 0), Draw(size, bits >> 8), Draw(size, bits / 2)] }
        return found
    }
}

extension Command {
    /// The command with smaller numbers.
    fileprivate var smaller: [Command] {
        func numbers(_ value: Int) -> [Int] {
            value > 0 ? Array(Set([0, value / 2, value - 1])).sorted().filter { $0 != value } : []
        }
        func counts(_ value: Int) -> [Int] {
            value > 1 ? Array(Set([1, value / 2, value - 1])).sorted().filter { $0 != value } : []
        }
        func values(_ draws: [Draw?]) -> [[Draw?]] {
            var found: [[Draw?]] = []
            for (index, draw) in draws.enumerated() {
                guard let draw else { continue }
                for candidate in [nil] + draw.smaller.map(Optional.some) {
                    var copy = draws
                    copy[index] = candidate
                    found.append(copy)
                }
            }
            return found
        }
        switch self {
        case .create(let owner, let count, let draws):
            return counts(count).map { .create(class: owner, count: $0, values: draws) }
                + values(draws).map { .create(class: owner, count: count, values: $0) }
        case .upsert(let owner, let count, let policy, let draws):
            return counts(count).map {
                .upsert(class: owner, count: $0, policy: policy, values: draws)
            }
                + values(draws).map {
                    .upsert(class: owner, count: count, policy: policy, values: $0)
                }
        case .createEach(let owner, let count, let durability, let draws):
            return counts(count).map {
                .createEach(class: owner, count: $0, durability: durability, values: draws)
            }
                + values(draws).map {
                    .createEach(class: owner, count: count, durability: durability, values: $0)
                }
        case .set(let owner, let object, let property, let draw):
            return numbers(object).map {
                .set(class: owner, object: $0, property: property, draw)
            } + draw.smaller.map { .set(class: owner, object: object, property: property, $0) }
        case .setRun(let owner, let object, let count, let property, let draw):
            return counts(count).map {
                .setRun(class: owner, object: object, count: $0, property: property, draw)
            }
                + numbers(object).map {
                    .setRun(class: owner, object: $0, count: count, property: property, draw)
                }
                + draw.smaller.map {
                    .setRun(class: owner, object: object, count: count, property: property, $0)
                }
        case .setSame(let owner, let object, let property):
            return numbers(object).map { .setSame(class: owner, object: $0, property: property) }
        case .add(let owner, let object, let property, let amount):
            return numbers(object).map {
                .add(class: owner, object: $0, property: property, amount: amount)
            }
                + (amount == 1
                    ? [] : [.add(class: owner, object: object, property: property, amount: 1)])
        case .countUp(let owner, let object, let count, let property, let list, let draw):
            return counts(count).map {
                .countUp(
                    class: owner, object: object, count: $0, property: property, list: list, draw)
            }
                + numbers(object).map {
                    .countUp(
                        class: owner, object: $0, count: count, property: property, list: list,
                        draw)
                }
        case .setMany(let owner, let object, let draws):
            return numbers(object).map { .setMany(class: owner, object: $0, values: draws) }
                + values(draws).map { .setMany(class: owner, object: object, values: $0) }
        case .erase(let owner, let object, let count):
            return counts(count).map { .erase(class: owner, object: object, count: $0) }
                + numbers(object).map { .erase(class: owner, object: $0, count: count) }
        case .insert(let owner, let object, let list, let at, let count, let draw):
            return counts(count).map {
                .insert(class: owner, object: object, list: list, at: at, count: $0, draw)
            }
                + numbers(at).map {
                    .insert(class: owner, object: object, list: list, at: $0, count: count, draw)
                }
                + numbers(object).map {
                    .insert(class: owner, object: $0, list: list, at: at, count: count, draw)
                }
                + draw.smaller.map {
                    .insert(class: owner, object: object, list: list, at: at, count: count, $0)
                }
        case .replace(let owner, let object, let list, let at, let draw):
            return numbers(at).map {
                .replace(class: owner, object: object, list: list, at: $0, draw)
            }
                + draw.smaller.map {
                    .replace(class: owner, object: object, list: list, at: at, $0)
                }
        case .remove(let owner, let object, let list, let at, let count):
            return counts(count).map {
                .remove(class: owner, object: object, list: list, at: at, count: $0)
            }
                + numbers(at).map {
                    .remove(class: owner, object: object, list: list, at: $0, count: count)
                }
        case .move(let owner, let object, let list, let from, let to):
            return numbers(from).map {
                .move(class: owner, object: object, list: list, from: $0, to: to)
            }
                + numbers(to).map {
                    .move(class: owner, object: object, list: list, from: from, to: $0)
                }
        case .swap(let owner, let object, let list, let one, let other):
            return numbers(one).map {
                .swap(class: owner, object: object, list: list, $0, other)
            }
                + numbers(other).map {
                    .swap(class: owner, object: object, list: list, one, $0)
                }
        case .assign(let owner, let object, let list, let count, let draw):
            return counts(count).map {
                .assign(class: owner, object: object, list: list, count: $0, draw)
            }
                + draw.smaller.map {
                    .assign(class: owner, object: object, list: list, count: count, $0)
                }
        case .nest(let owner, let object, let property, let path, let at, let action, let draw):
            return numbers(path).map {
                .nest(
                    class: owner, object: object, property: property, path: $0, at: at,
                    action: action, draw)
            }
                + draw.smaller.map {
                    .nest(
                        class: owner, object: object, property: property, path: path, at: at,
                        action: action, $0)
                }
        default: return []
        }
    }
}
