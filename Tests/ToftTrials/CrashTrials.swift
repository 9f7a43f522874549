// Tests: Recovery.swift
internal import Synchronization
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Crash images of all scripted workloads and of random ones, on both cores, until there are
/// enough.
enum CrashTrials {
    /// The scripted ones do the same with each seed except for the values, the random ones do all
    /// differently.
    static func run(floor: Int, seed: UInt64 = 1) throws -> Bool {
        print("crash, seed \(seed)")
        let start = MonotonicClock.nanoseconds
        let work = Work(floor: floor, seed: seed)
        let threads = try (0..<2).map { number in
            try PlatformThread(name: "crash \(number)", stackSize: 8 << 20) { work.run() }
        }
        for thread in threads { thread.join() }
        let report = work.report
        let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
        for model in CrashModel.allCases {
            print(
                "\(model.rawValue): \(report.tried[model] ?? 0) images "
                    + "(\(report.generated[model] ?? 0) with repetitions)"
            )
        }
        for violation in report.violations { print("VIOLATION \(violation)") }
        print(
            "crash images \(report.triedCount) (\(report.violations.count) bad), "
                + "\(work.workloads) workloads, \(report.disks.count) distinct disks, "
                + "\(report.contents.count) distinct contents, "
                + "longest recovery \(report.longestOpening / 1_000_000) ms, 95% bound "
                + "\(bound(report)), \(Int(seconds)) s"
        )
        if report.triedCount < floor { print("too few: the floor is \(floor)") }
        return try report.violations.isEmpty && report.triedCount >= floor && areLiesFound()
    }

    /// With no failure in N images chosen by chance, fewer than 3/N of all such are bad, 19 times
    /// of 20.
    private static func bound(_ report: CrashReport) -> String {
        "1 in \(max(1, report.triedCount / 3))"
    }

    /// One workload once more, all of whose images are tried.
    static func again(_ name: String, seed: UInt64) throws -> Bool {
        let random =
            name.hasPrefix("random ")
            ? UInt64(name.dropFirst(7)).map(Workload.random(seed:)) : nil
        guard
            let workload = random
                ?? (Workload.scripted + [.random]).first(where: { $0.name == name })
        else { throw Failure("no workload \(name)") }
        var limits = name.hasPrefix("random") ? CrashImages.Limits.few : CrashImages.Limits()
        limits.percentWithAftermath = 10
        let report = try CrashTrial.run(workload, seed: seed, limits: limits)
        for violation in report.violations { print("VIOLATION \(violation)") }
        print("crash images \(report.triedCount) (\(report.violations.count) bad)")
        return report.violations.isEmpty
    }

    /// One workload after the other until something is wrong. True: nothing was.
    static func hunt() throws -> Bool {
        var cases = 0
        for (number, workload)
            in (Workload.scripted.reversed() + [
                .random, .random(seed: 1), .random, .random(seed: 2),
            ]).enumerated()
        {
            var limits = CrashImages.Limits.few
            limits.percentWithAftermath = 10
            limits.percentTried = 50
            let report = try CrashTrial.run(
                workload, seed: UInt64(number), limits: limits, violationLimit: 1)
            cases += report.triedCount
            guard let violation = report.violations.first else { continue }
            print("VIOLATION \(violation)")
            print("cases \(cases)")
            return false
        }
        return true
    }

    /// Forgets syncs and loses writes below the engine. A simulation that did not notice would
    /// prove nothing.
    private static func areLiesFound() throws -> Bool {
        var found = 0
        // Without a log, whose replay would mend some of it.
        var liar = Workload.scripted[3]
        liar.firstLogPages = 0
        for lie in RecordingFile.Lie.allCases {
            let report = try CrashTrial.run(liar, seed: 1, lies: [lie])
            if report.violations.isEmpty {
                print("NOT FOUND \(lie.rawValue): \(report.triedCount) images")
            } else {
                found += 1
            }
        }
        print("lies to the disk found \(found)/\(RecordingFile.Lie.allCases.count)")
        return found == RecordingFile.Lie.allCases.count
    }

    /// Workloads to be done, shared by the threads.
    private final class Work: Sendable {
        private struct State {
            var next = 0
            var report = CrashReport()
        }

        /// Random workloads at least.
        private static let randomWorkloads = 15

        private let state = Mutex(State())
        private let floor: Int

        private let seed: UInt64

        init(floor: Int, seed: UInt64) {
            self.floor = floor
            self.seed = seed
        }

        var report: CrashReport { state.withLock { $0.report } }
        var workloads: Int { state.withLock { $0.next } }

        func run() {
            while let index = take() {
                let (workload, seed, limits) = workload(index)
                do {
                    let report = try CrashTrial.run(workload, seed: seed, limits: limits)
                    state.withLock { $0.report.merge(report) }
                } catch {
                    state.withLock {
                        $0.report.violations.append("\(workload.name), seed \(seed): \(error)")
                    }
                }
            }
        }

        private func take() -> Int? {
            state.withLock { state in
                guard
                    state.next < Workload.scripted.count + Self.randomWorkloads
                        || state.report.triedCount < floor
                else { return nil }
                defer { state.next += 1 }
                return state.next
            }
        }

        /// The scripted ones in depth, then random ones, each less deeply, so that there are many.
        private func workload(_ index: Int) -> (Workload, UInt64, CrashImages.Limits) {
            var limits = CrashImages.Limits()
            // All of the scripted ones' images are several times 100,000.
            limits.percentTried = min(100, max(5, floor / 2_000))
            if index < Workload.scripted.count { return (Workload.scripted[index], seed, limits) }
            limits = .few
            let number = seed &* 1_000_003 &+ UInt64(index)
            var workload = index % 2 == 0 ? Workload.random : .random(seed: number)
            // A quarter of them on an encrypted file.
            if index / 2 % 4 == 0 {
                workload.encryptionKey = try? EncryptionKey(
                    (0..<64).map { UInt8(truncatingIfNeeded: number) &+ $0 })
            }
            return (workload, number, limits)
        }
    }
}
