// Tests: Failpoint.swift
internal import Glibc
internal import ToftPlatform
internal import ToftTestKit

/// The tests of the tests: for each mutant the trial that owns it is run on the engine with that
/// one mistake, and has to find it. Only a build of the copy that `Tests/mutants.py` makes has
/// mutants.
enum MutantTrials {
    /// Runs all, the one that is named, or the given number, others each time.
    static func run(_ choice: String?) throws -> Bool {
        #if TOFT_MUTANTS
        // Some mutants make the engine crash; its stack, with names, would take seconds each time.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        let mutants =
            if let count = choice.flatMap({ Int($0) }) {
                Array(Mutant.allCases.shuffled().prefix(count))
            } else {
                Mutant.allCases.filter { choice == nil || $0.rawValue == choice }
            }
        var found = 0
        var counts: [Int] = []
        // Two hunts at a time: each keeps one core busy.
        var hunts: [(mutant: Mutant, child: ChildProcess, start: Int64)] = []
        var waiting = mutants[...]
        while !hunts.isEmpty || !waiting.isEmpty {
            while hunts.count < 2, let mutant = waiting.popFirst() {
                setenv("TOFT_MUTANT", mutant.rawValue, 1)
                hunts.append(
                    (
                        mutant, try ChildProcess(Trials.executable, ["hunt", mutant.trial]),
                        MonotonicClock.nanoseconds
                    ))
                unsetenv("TOFT_MUTANT")
            }
            let (mutant, child, start) = hunts.removeFirst()
            // The alarm of the hunt ends a wait.
            var lines: [String] = []
            while let line = child.line(timeoutMilliseconds: -1) { lines.append(line) }
            let code = child.wait()
            // A hunt ends with 1 when it has found something wrong. A signal would mean that the
            // mutant made the engine crash or hang.
            let isFound = code == 1
            if isFound { found += 1 }
            let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
            let violation =
                lines.first { $0.hasPrefix("VIOLATION") }?.dropFirst(10).prefix(150)
                ?? (code < 0 ? "ended by signal \(-code)" : "")
            let cases = lines.first { $0.hasPrefix("cases ") }?.dropFirst(6) ?? "?"
            if isFound, let count = Int(cases) { counts.append(count) }
            print(
                "\(isFound ? "found" : "NOT FOUND") \(mutant.rawValue) by \(mutant.trial), "
                    + "\(cases) cases, \(Int(seconds * 1_000)) ms: \(violation)")
        }
        counts.sort()
        print(
            "mutants found \(found)/\(mutants.count), median of cases until then "
                + "\(counts.isEmpty ? 0 : counts[counts.count / 2])")
        return found == mutants.count && !mutants.isEmpty
        #else
        print("this build has no mutants: see Tests/mutants.py")
        return false
        #endif
    }

    /// Runs a trial until something is wrong. True: nothing was.
    static func hunt(_ name: String) throws -> Bool {
        // Against a hang; a machine that others load takes a minute for the slowest.
        alarm(180)
        switch name {
        case "crash": return try CrashTrials.hunt()
        case "faults": return try FaultTrials.run(stride: 1, violationLimit: 1)
        case "kills": return try KillTrial.run(kills: 300, seed: 1)
        case "interleavings": return try InterleavingTrials.run()
        case "files": return try FileTrials.run()
        case "model": return ModelTrial.hunt()
        case "query": return try QueryTrial.run(texts: 20_000, seed: 1, violationLimit: 1)
        case "differential":
            return try DifferentialTrial.run(queries: 20_000, seed: 1, violationLimit: 1)
        case "damage": return try DamageTrial.run(cases: 60_000, seed: 1, violationLimit: 1)
        default: throw Failure("no trial \(name)")
        }
    }
}
