// Tests: ModelTransaction.swift
internal import Glibc
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// The model-based random test: sequences of random commands through the engine and through the C
/// API, each compared with a model of arrays.
///
///     ToftTrials model --commands N --sequences N [--first SEED]   at least so many
///     ToftTrials model --minutes N [--commands N]                  and at least so long
///     ToftTrials model --seed N                                    one, shrunk where it fails
enum ModelTrial {
    struct Options {
        var commands = 100_000
        var sequences = 1_000
        var minutes = 0
        var first: UInt64 = 1
        var seed: UInt64?
        var violationLimit = 5
        var shrinks = true

        init(_ arguments: [String]) {
            var index = 0
            func number() -> Int {
                index + 1 < arguments.count ? Int(arguments[index + 1]) ?? 0 : 0
            }
            while index < arguments.count {
                switch arguments[index] {
                case "--commands": commands = number()
                case "--sequences": sequences = number()
                case "--minutes": minutes = number()
                case "--first": first = UInt64(number())
                case "--seed": seed = UInt64(number())
                default: break
                }
                index += 2
            }
        }
    }

    static func run(_ arguments: [String]) throws -> Bool { run(Options(arguments)) }

    static func run(_ options: Options) -> Bool {
        ModelAlarm.install()
        if let seed = options.seed { return runOne(ModelProgram(seed: seed), options) }
        var report = ModelReport()
        for program in ModelRegressions.programs {
            if let violation = attempt(program, &report) {
                report.violations += 1
                print("VIOLATION a bug that was mended is back: \(violation)\n\(program)")
            }
        }
        let end = MonotonicClock.nanoseconds + Int64(options.minutes) * 60_000_000_000
        var seed = options.first
        while report.violations < options.violationLimit,
            report.commands < options.commands || report.sequences < options.sequences
                || MonotonicClock.nanoseconds < end
        {
            let program = ModelProgram(seed: seed)
            if let violation = attempt(program, &report) {
                report.violations += 1
                tell(violation, program, options)
            }
            seed += 1
        }
        print("cases \(report.commands)")
        report.show(lastSeed: seed - 1, options)
        let isEnough =
            report.commands >= options.commands && report.sequences >= options.sequences
        if !isEnough && report.violations == 0 { print("VIOLATION fewer cases than the floor") }
        return report.violations == 0 && isEnough
    }

    /// Runs sequences, at most the floor, until one fails. True if all succeeded.
    static func hunt() -> Bool {
        var options = Options(["--commands", "1500000", "--sequences", "15000"])
        options.violationLimit = 1
        options.shrinks = false
        return run(options)
    }

    /// Runs a sequence; returns the fault, if any.
    private static func attempt(_ program: ModelProgram, _ report: inout ModelReport) -> String? {
        ModelAlarm.begin(program.seed)
        let run = ModelRun(program)
        defer { report.add(program, run) }
        do {
            try run.run()
            return nil
        } catch {
            return "\(error)"
        }
    }

    static func failure(of program: ModelProgram) -> String? {
        ModelAlarm.begin(program.seed)
        do {
            try ModelRun(program).run()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func runOne(_ program: ModelProgram, _ options: Options) -> Bool {
        print(
            "\(program.interface), \(program.ground), \(program.sizes), "
                + "dirty limit \(program.dirtyLimit), "
                + "\(program.commands.count) commands")
        guard let violation = failure(of: program) else {
            print("seed \(program.seed): nothing is wrong")
            return true
        }
        tell(violation, program, options)
        return false
    }

    private static func tell(_ violation: String, _ program: ModelProgram, _ options: Options) {
        print("VIOLATION seed \(program.seed): \(violation)")
        fflush(nil)
        guard options.shrinks else { return }
        let shrunk = ModelShrinker.shrink(program)
        print("again: ToftTrials model --seed \(program.seed)")
        print("shrunk to \(shrunk.commands.count) commands: \(failure(of: shrunk) ?? "gone")")
        print("\(shrunk)")
        let run = ModelRun(shrunk, isTraced: true)
        _ = try? run.run()
        let lines = (run.driver as? TracingDriver)?.lines ?? []
        print("its calls" + (lines.count > 120 ? ", the last 120 of \(lines.count)" : "") + ":")
        for line in lines.suffix(120) { print("    \(line)") }
        fflush(nil)
    }
}

/// Says which sequence it was when the process dies of it, or hangs.
enum ModelAlarm {
    nonisolated(unsafe) private static var seed: UInt64 = 0

    static func begin(_ seed: UInt64) {
        self.seed = seed
        // Seconds of the processor (the largest sequences take 10) and of the clock, for waits.
        var limit = itimerval()
        limit.it_value.tv_sec = 300
        setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &limit, nil)
        alarm(1_200)
    }

    static func install() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM, SIGPROF] {
            signal(number) { number in
                ModelAlarm.tell(number)
                _exit(1)
            }
        }
    }

    private static func tell(_ signal: Int32) {
        var text: [UInt8] = Array("VIOLATION the process ended by signal ".utf8)
        text += Array("\(signal) in seed \(seed)\n".utf8)
        _ = text.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
