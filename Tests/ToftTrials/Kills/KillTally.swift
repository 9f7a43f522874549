internal import ToftPlatform
internal import ToftStorage

/// The places of kills, and the faults found afterwards.
struct KillTally {
    var kills = 0
    var stops = 0
    var byMoment: [Failpoint: Int] = [:]
    var byLocks: [String: Int] = [:]
    var unreported = 0
    var waits: [Int64] = []
    var reclaimed = 0
    var largestFile: UInt64 = 0
    var randomCommits: UInt64 = 0
    var problems: [String] = []

    static let patienceNanoseconds: Int64 = 1_000_000_000

    mutating func add(_ witness: Witness, _ slot: Int) {
        kills += 1
        if witness[slot, .fulfilled] == 1, let moment = witness.moment(slot) {
            byMoment[moment, default: 0] += 1
        }
        let locks = witness.locks(slot).map { "\($0)" }
        byLocks[locks.isEmpty ? "none" : locks.joined(separator: "+"), default: 0] += 1
    }

    /// The write lock comes within a second of its owner's death; on a machine that is busy with
    /// other things, one in a hundred may wait longer.
    var isPatient: Bool {
        waits.count { $0 > Self.patienceNanoseconds } * 100 <= waits.count
            && (waits.max() ?? 0) < 5 * Self.patienceNanoseconds
    }

    func describe(_ moments: [Failpoint]) {
        print(
            "kills by lock held: "
                + byLocks.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(
                    separator: ", "))
        if Failpoint.isCompiledIn {
            print(
                "kills by moment: "
                    + moments.map { "\($0) \(byMoment[$0] ?? 0)" }.joined(separator: ", "))
        }
        let sorted = waits.sorted()
        print(
            "kills \(kills), stops \(stops), not reported but there \(unreported), pins of the "
                + "dead given back \(reclaimed), "
                + "wait for the write lock p50 "
                + "\((sorted.isEmpty ? 0 : sorted[sorted.count / 2]) / 1_000) us, longest "
                + "\((sorted.last ?? 0) / 1_000_000) ms, "
                + "largest file \(largestFile >> 10) KiB, random commits \(randomCommits), "
                + "problems \(problems.count)"
        )
        print("cases \(kills)")
        for problem in problems.prefix(10) { print("VIOLATION \(problem)") }
    }
}
