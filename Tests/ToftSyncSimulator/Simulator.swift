import Glibc
internal import ToftSync
internal import ToftTestKit

/// ToftSyncSimulator [SCHEDULES] [FIRST SEED] | seed N | --benchmark
@main
enum Simulator {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--benchmark" { return Benchmark.run() }
        if arguments.first == "seed", arguments.count == 2, let seed = UInt64(arguments[1]) {
            exit(run(from: seed, count: 1) ? 0 : 1)
        }
        let numbers = arguments.map { UInt64($0) }
        guard !numbers.contains(nil), numbers.count < 3 else {
            print("usage: ToftSyncSimulator [SCHEDULES] [FIRST SEED] | seed N | --benchmark")
            exit(2)
        }
        let count = numbers.first.flatMap { $0 } ?? 1000
        exit(run(from: numbers.count > 1 ? numbers[1] ?? 0 : 0, count: count) ? 0 : 1)
    }

    private static func run(from first: UInt64, count: UInt64) -> Bool {
        var (changesets, ops) = (0, 0)
        var counts: [String: Int] = [:]
        for seed in first..<first + count {
            let schedule = Schedule(seed: seed)
            if let found = failure(of: schedule, &counts) {
                print("seed \(seed), profile \(schedule.profile.name): \(found)")
                let short = schedule.shrunk()
                print("shrunk from \(schedule.events.count) events to \(short.events.count):")
                for event in short.events { print("  \(event)") }
                if let found = failure(of: short, &counts) { print("  \(found)") }
                return false
            }
            changesets += schedule.events.count { $0.kind == .write }
            ops += schedule.events.count
        }
        let more = counts.sorted { $0.key < $1.key }.map { ", \($0.value) \($0.key)" }.joined()
        print("\(count) schedules hold: \(ops) events, \(changesets) transactions\(more)")
        return true
    }
}
