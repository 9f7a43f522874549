// Tests: ClusterTree.swift, LeafReader.swift, Node.swift, RealmImport.swift
internal import Glibc
internal import ToftEngine
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Realm's own files with flipped bits, or cut off, each imported: an error and no new file, or a
/// new one, within a second of the processor and bounded memory, without a trap.
///
/// Worker processes do it, and say after each file what became of it, so that the death of one
/// loses one file, which the parent names.
enum RealmFileTrial {
    private static let secondsOfFile = 1
    private static let shownViolations = 20

    /// The files of `Tests/RealmFiles` that can be read, in the order of their names.
    private struct Sample {
        let name: String
        let image: [UInt8]
        let key: EncryptionKey?
        /// Places that may be headers of nodes, in a plain one.
        let headers: [Int]
    }

    private static func samples() throws -> [Sample] {
        let folder =
            #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
            + "/RealmFiles"
        guard let stream = opendir(folder) else { throw Failure("\(folder): errno \(errno)") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".realm") { names.append(name) }
        }
        var samples: [Sample] = []
        for name in names.sorted() {
            let image = try contents(of: folder + "/" + name)
            // Tests/test_realm_files.py says which keys they have.
            var key: EncryptionKey?
            if name.hasPrefix("v10-encrypted") {
                key = try EncryptionKey([UInt8](repeating: 1, count: 64))
            } else if name.contains("encrypted") {
                key = try EncryptionKey((0..<64).map { UInt8(truncatingIfNeeded: 3 * $0 + 1) })
            }
            let headers = stride(from: 24, to: max(24, image.count - 8), by: 8).filter { place in
                key == nil && image[place..<place + 4].allSatisfy { $0 == 0x41 }
            }
            samples.append(Sample(name: name, image: image, key: key, headers: headers))
        }
        return samples
    }

    private static func contents(of path: String) throws -> [UInt8] {
        let file = try PosixFile.open(path, forWriting: false, onAnyFileSystem: true)
        defer { try? file.close() }
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }

    // MARK: The parent

    static func run(files: Int, seed: UInt64) throws -> Bool {
        let directory = try TemporaryDirectory.make()
        let start = MonotonicClock.nanoseconds
        var violations: [String] = [], imported = 0, refused = 0
        var running: [(child: ChildProcess, next: Int, end: Int)] = []
        let workers = max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        func begin(_ first: Int, _ end: Int) throws {
            let child = try ChildProcess(
                Trials.executable, ["realm-worker", directory, "\(first)", "\(end)", "\(seed)"])
            running.append((child, first, end))
        }
        for worker in 0..<workers {
            try begin(files * worker / workers, files * (worker + 1) / workers)
        }
        while var worker = running.popLast() {
            while let line = worker.child.line(timeoutMilliseconds: -1) {
                switch line {
                case "imported": imported += 1
                case "refused": refused += 1
                default: violations.append("file \(worker.next): \(line)")
                }
                worker.next += 1
            }
            let code = worker.child.wait()
            guard worker.next < worker.end else { continue }
            violations.append(
                code == -SIGPROF
                    ? "file \(worker.next) takes more than \(secondsOfFile) s"
                    : "file \(worker.next) ends with \(code)")
            if violations.count < 200 { try begin(worker.next + 1, worker.end) }
        }
        for line in violations.prefix(shownViolations) {
            print("VIOLATION \(line): ToftTrials realm-again NUMBER \(seed)")
        }
        let seconds = (MonotonicClock.nanoseconds - start) / 1_000_000_000
        print(
            "damaged Realm files \(imported + refused) (\(violations.count) bad), imported "
                + "\(imported), refused \(refused), in \(seconds) s, seed \(seed)")
        TemporaryDirectory.remove(directory)
        return violations.isEmpty && imported + refused == files && imported > 0 && refused > 0
    }

    // MARK: The worker

    static func work(_ arguments: [String]) throws -> Bool {
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        guard let directory = arguments.first, numbers.count == 3 else { return false }
        let samples = try samples()
        DamageTrial.limitResources(largestFile: 4 * (samples.map(\.image.count).max() ?? 0))
        for number in numbers[0]..<numbers[1] {
            print(try outcome(number, UInt64(numbers[2]), samples, directory, first: numbers[0]))
            fflush(nil)
        }
        return true
    }

    /// One file, in this process.
    static func again(_ number: Int, seed: UInt64) throws -> Bool {
        let directory = try TemporaryDirectory.make()
        print(try outcome(number, seed, try samples(), directory, first: 0))
        print("the file is kept in \(directory)")
        return true
    }

    private static func outcome(
        _ number: Int, _ seed: UInt64, _ samples: [Sample], _ directory: String, first: Int
    ) throws -> String {
        let path = "\(directory)/\(first).realm", made = "\(directory)/\(first).toft"
        let sample = samples[number % samples.count]
        try write(damaged(sample, Seed(seed &* 1_000_003 &+ UInt64(number))), to: path)
        DamageTrial.armTimer(seconds: secondsOfFile)
        var refusal: EngineError?
        do throws(EngineError) {
            _ = try Database.importRealm(path, to: made, key: sample.key)
        } catch {
            refusal = error
        }
        DamageTrial.armTimer(seconds: 0)
        let isMade = access(made, F_OK) == 0
        unlink(made)
        guard isMade == (refusal == nil) else { return "\(sample.name): a new file is left behind" }
        switch refusal?.code {
        case nil: return "imported"
        case .internalError, .fileAccess, .diskFull, .addressSpaceExhausted:
            return "\(sample.name): \(refusal?.message ?? "")"
        default: return "refused"
        }
    }

    private static func damaged(_ sample: Sample, _ seed: Seed) -> [UInt8] {
        var random = seed, image = sample.image
        for _ in 0...random.below(3) {
            // Flags and sizes of nodes lead farther astray than values do.
            var place = random.below(image.count)
            if !sample.headers.isEmpty, random.below(2) == 0 {
                place = sample.headers[random.below(sample.headers.count)] + 4 + random.below(4)
            }
            image[place] ^= 1 << UInt8(random.below(8))
        }
        if random.below(10) == 0 { image.removeLast(random.below(image.count)) }
        return image
    }

    private static func write(_ image: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(path): errno \(errno)") }
        defer { close(descriptor) }
        let count = image.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == image.count else { throw Failure("\(path): errno \(errno)") }
    }
}
