// Tests: StoreCheck.swift
internal import Glibc
internal import Synchronization
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Damaged and hostile files, each used as a whole (`Inspection`): an error or a right answer, and
/// no trap, no signal, no endless loop, no memory beyond 64 MiB and four times the file, no deep
/// stack.
///
/// Worker processes do it. A worker's present case and results are in memory that it shares with
/// the parent, so that its death loses one case, which the parent names.
enum DamageTrial {
    /// The outcome of a case.
    enum Outcome: Int, CaseIterable {
        /// Some question was answered with an error, or the check found it; all other answers are
        /// right.
        case detected
        /// All answers are right.
        case harmless
        /// Raw: answers of an earlier version, for a reason on the page on commits.
        case older
        /// Re-sealed: other answers, as the file has another content now.
        case accepted
        /// Raw: a wrong answer.
        case silent
        /// An error that does not mean damage.
        case strange
        case crashed
    }

    struct Share {
        let corpus: Int
        let damage: Damage
        let cases: Int
        /// The first case and the distance to the next.
        let first: Int
        let step: Int
    }

    static let secondsOfCase = 2
    private static let shownViolations = 20

    /// The parts of a run.
    static func shares(_ corpora: [Corpus], cases: Int, seed: UInt64) -> [Share] {
        var parts: [(corpus: Int, damage: Damage, weight: Int)] = []
        for (index, corpus) in corpora.enumerated() {
            for damage in Damage.allCases where damage.count(in: corpus) > 0 {
                // The copy of an open file is the unclean one, but for the way to open it; an
                // encrypted file is refused wherever it is damaged.
                let share = ["copied", "encrypted"].contains(corpus.name) ? 1 : 4
                parts.append((index, damage, damage.weight * share))
            }
        }
        let sum = parts.reduce(0) { $0 + $1.weight }
        var random = Seed(seed)
        return parts.map { part in
            let count = part.damage.count(in: corpora[part.corpus])
            let wanted = min(count, (cases * part.weight + sum - 1) / sum)
            let step = max(1, count / max(1, wanted))
            return Share(
                corpus: part.corpus, damage: part.damage, cases: wanted,
                first: random.below(step), step: step)
        }
    }

    // MARK: The parent

    static func run(cases floor: Int, seed: UInt64, violationLimit: Int = .max) throws -> Bool {
        let directory = try TemporaryDirectory.make()
        let corpora = try Corpus.all()
        for corpus in corpora { try corpus.save(in: directory) }
        let cases = casesToAsk(corpora, floor, seed)
        let shares = shares(corpora, cases: cases, seed: seed)
        let total = shares.reduce(0) { $0 + $1.cases }
        let workers = max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let board = try Board(directory + "/board", workers: workers, shares: shares.count)
        let found = Mutex<[String]>([])
        // Freed memory is used again: mapping images again takes longer than damaging them.
        setenv("MALLOC_MMAP_THRESHOLD_", "\(16 << 20)", 1)
        setenv("MALLOC_TRIM_THRESHOLD_", "\(64 << 20)", 1)
        let start = MonotonicClock.nanoseconds
        let threads = try (0..<workers).map { worker in
            try PlatformThread(name: "damage") {
                supervise(
                    worker, of: workers, total, directory, cases, seed, violationLimit, shares,
                    corpora.map(\.name), board
                ) { line in
                    found.withLock { $0.append(line) }
                }
            }
        }
        for thread in threads { thread.join() }
        let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
        let violations = found.withLock { $0 }
        return report(
            shares, corpora, board, violations, total: total, floor: floor, seconds, seed, directory
        )
    }

    /// Some classes have fewer cases than their share: others have more then.
    private static func casesToAsk(_ corpora: [Corpus], _ floor: Int, _ seed: UInt64) -> Int {
        var cases = floor
        while shares(corpora, cases: cases, seed: seed).reduce(0, { $0 + $1.cases }) < floor,
            cases < floor * 4
        { cases += cases / 20 + 1 }
        return cases
    }

    private static func supervise(
        _ worker: Int, of workers: Int, _ total: Int, _ directory: String, _ cases: Int,
        _ seed: UInt64, _ limit: Int, _ shares: [Share], _ names: [String], _ board: Board,
        _ note: (String) -> Void
    ) {
        var next = worker
        var bad = 0
        while next < total, bad < 200, !board.isOver {
            board[worker] = UInt64(next)
            guard
                let child = try? ChildProcess(
                    Trials.executable,
                    [
                        "damage-worker", directory, "\(worker)", "\(workers)", "\(next)",
                        "\(cases)",
                        "\(seed)", "\(limit)",
                    ])
            else { return note("a worker does not start") }
            while let line = child.line(timeoutMilliseconds: -1) {
                bad += 1
                note(line)
            }
            let code = child.wait()
            guard code != 0 else { return }
            bad += 1
            if bad >= limit { board.isOver = true }
            let at = Int(board[worker])
            let (share, number) = find(at, in: shares)
            board.count(.crashed, share)
            let what =
                code == -SIGPROF || code == -SIGVTALRM
                ? "takes more than \(secondsOfCase) s" : "ends with signal \(-code)"
            note("\(again(shares[share], number, names)): \(what)")
            next = at + workers
        }
    }

    private static func again(_ share: Share, _ number: Int, _ names: [String]) -> String {
        "ToftTrials damage-again \(names[share.corpus]) \(share.damage.rawValue) \(number)"
    }

    /// The share and the number of the case at a position of the run.
    private static func find(_ position: Int, in shares: [Share]) -> (share: Int, number: Int) {
        var rest = position
        for (index, share) in shares.enumerated() {
            if rest < share.cases { return (index, share.first + rest * share.step) }
            rest -= share.cases
        }
        return (0, 0)
    }

    private static func report(
        _ shares: [Share], _ corpora: [Corpus], _ board: Board, _ violations: [String], total: Int,
        floor: Int, _ seconds: Double, _ seed: UInt64, _ directory: String
    ) -> Bool {
        var sums = [Int](repeating: 0, count: Outcome.allCases.count)
        for damage in Damage.allCases {
            var counts = [Int](repeating: 0, count: Outcome.allCases.count)
            for (index, share) in shares.enumerated() where share.damage == damage {
                for outcome in Outcome.allCases {
                    counts[outcome.rawValue] += board.cases(outcome, index)
                }
            }
            for index in sums.indices { sums[index] += counts[index] }
            let text = Outcome.allCases.filter { counts[$0.rawValue] > 0 }.map {
                "\($0) \(counts[$0.rawValue])"
            }
            print("\(damage.rawValue): \(text.joined(separator: ", "))")
        }
        let done = sums.reduce(0, +)
        for line in violations.prefix(shownViolations) { print("VIOLATION \(line)") }
        if done < floor { print("VIOLATION \(done) files, fewer than \(floor)") }
        let text = Outcome.allCases.map { "\($0) \(sums[$0.rawValue])" }.joined(separator: ", ")
        print("cases \(done)")
        print(
            "damaged files \(done) (\(violations.count) bad), \(text), in \(Int(seconds)) s, "
                + "seed \(seed)")
        let isGood = violations.isEmpty && done >= floor
        if isGood {
            TemporaryDirectory.remove(directory)
        } else {
            print("the corpora are kept in \(directory): the last argument of damage-again")
        }
        return isGood
    }

    // MARK: The worker

    static func work(_ arguments: [String]) throws -> Bool {
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        guard let directory = arguments.first, numbers.count == 6 else { return false }
        let (worker, workers, start, cases) = (numbers[0], numbers[1], numbers[2], numbers[3])
        let corpora = try Corpus.names.map { try Corpus($0, savedIn: directory) }
        let shares = shares(corpora, cases: cases, seed: UInt64(numbers[4]))
        let board = try Board(directory + "/board", workers: workers, shares: shares.count)
        let judges = try corpora.map { try DamageJudge($0) }
        let memory = limitResources(largestFile: corpora.map(\.image.count).max() ?? 0)
        let total = shares.reduce(0) { $0 + $1.cases }
        var bad = 0
        for position in stride(from: start, to: total, by: workers) where !board.isOver {
            board[worker] = UInt64(position)
            let (index, number) = find(position, in: shares)
            let share = shares[index]
            limitMemory(memory, corpora[share.corpus])
            armTimer()
            let (outcome, why) = try judges[share.corpus].judge(share.damage, number)
            board.count(outcome, index)
            if outcome == .silent || outcome == .strange {
                print("\(again(share, number, Corpus.names)): \(why)")
                fflush(nil)
                bad += 1
                if bad >= numbers[5] { board.isOver = true }
                if bad >= 100 { break }
            }
        }
        return true
    }

    /// One case, in this process: `CORPUS CLASS NUMBER [DIRECTORY]`.
    static func again(_ arguments: [String]) throws -> Bool {
        guard arguments.count >= 3, let damage = Damage(rawValue: arguments[1]),
            let number = Int(arguments[2])
        else { return false }
        let corpus =
            arguments.count > 3
            ? try Corpus(arguments[0], savedIn: arguments[3]) : try Corpus.make(arguments[0])
        let judge = try DamageJudge(corpus)
        limitMemory(limitResources(largestFile: corpus.image.count), corpus)
        armTimer()
        let (outcome, why) = try judge.judge(damage, number)
        print("\(outcome): \(why)")
        print("changed: \(judge.changes(damage, number))")
        return outcome != .silent && outcome != .strange
    }

    /// Ends the process with a signal once it has used the processor so long; 0: never.
    static func armTimer(seconds: Int = secondsOfCase) {
        var limit = itimerval()
        limit.it_value.tv_sec = seconds
        setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &limit, nil)
    }

    /// Memory that reading an encrypted file reserves, and mostly never touches: a region of each
    /// mapping.
    private static let reserved = 8 * Page.perRegion * Page.size

    /// Limits the memory of a case beside the reserved memory.
    private static func limitMemory(_ bytes: Int, _ corpus: Corpus) {
        var data = rlimit()
        getrlimit(__rlimit_resource_t(2), &data)
        data.rlim_cur = rlim_t(bytes + (corpus.key == nil ? 0 : reserved))
        setrlimit(__rlimit_resource_t(2), &data)
    }

    /// Limits the resources of the process; returns the bytes of memory for a case.
    @discardableResult
    static func limitResources(largestFile: Int) -> Int {
        var used = 0
        if let status = fopen("/proc/self/status", "re") {
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, status) != nil {
                let text = String(
                    decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
                    as: UTF8.self)
                if text.hasPrefix("VmData:") {
                    used = Int(text.split { !$0.isNumber }.first ?? "0") ?? 0
                }
            }
            fclose(status)
        }
        let bytes = used * 1_024 + 64 << 20 + 4 * largestFile
        var data = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes + reserved))
        setrlimit(__rlimit_resource_t(2), &data)
        var stack = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
        setrlimit(__rlimit_resource_t(3), &stack)
        var core = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(4), &core)
        return bytes
    }
}

/// Words that parent and workers share: the present case of each worker, and the outcomes of each
/// share.
private final class Board: @unchecked Sendable {
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let workers: Int

    init(_ path: String, workers: Int, shares: Int) throws {
        self.workers = workers
        let count = workers + 1 + shares * DamageTrial.Outcome.allCases.count
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        guard descriptor >= 0, ftruncate(descriptor, count * 8) == 0,
            let memory = mmap(nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            memory != MAP_FAILED
        else { throw Failure("\(path): errno \(errno)") }
        words = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// Whether enough was found.
    var isOver: Bool {
        get { words[workers].load(ordering: .relaxed) != 0 }
        set { words[workers].store(newValue ? 1 : 0, ordering: .relaxed) }
    }

    subscript(worker: Int) -> UInt64 {
        get { words[worker].load(ordering: .relaxed) }
        set { words[worker].store(newValue, ordering: .relaxed) }
    }

    private func index(_ outcome: DamageTrial.Outcome, _ share: Int) -> Int {
        workers + 1 + share * DamageTrial.Outcome.allCases.count + outcome.rawValue
    }

    func count(_ outcome: DamageTrial.Outcome, _ share: Int) {
        words[index(outcome, share)].add(1, ordering: .relaxed)
    }

    func cases(_ outcome: DamageTrial.Outcome, _ share: Int) -> Int {
        Int(words[index(outcome, share)].load(ordering: .relaxed))
    }
}
