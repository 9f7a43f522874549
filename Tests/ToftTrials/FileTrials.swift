internal import ToftStorage
internal import ToftTestKit

/// What only a real file shows: system calls that write less than they were asked to, and the order in which a file comes to its name.
enum FileTrials {
    static func run() throws -> Bool {
        #if TOFT_TRIALS
        let problems = try [shortWrites(), creation()].compactMap { $0 }
        for problem in problems { print("VIOLATION \(problem)") }
        print("cases 2\nfiles: 2 stories (\(problems.count) bad)")
        return problems.isEmpty
        #else
        print("files: needs a build with -D TOFT_TRIALS")
        return true
        #endif
    }

    #if TOFT_TRIALS
    /// A kernel may write a part only; the rest has to follow.
    private static func shortWrites() throws -> String? {
        Probe.writeLimit = 1_000
        defer { Probe.writeLimit = .max }
        return try withTemporaryDirectory { directory in
            let path = directory + "/short.toft"
            do {
                try autoreleased { try Ledger.create(in: try Store.open(StoreConfiguration(location: .file(path: path)))) }
                let store = try Store.open(StoreConfiguration(location: .file(path: path)))
                let report = try store.check()
                let snapshot = try store.beginRead()
                defer { snapshot.release() }
                let sum = try Ledger.Copy(snapshot).sum
                return report.isSound && sum == Ledger.sum ? nil : "short writes: \(report.problems.prefix(2)), sum \(sum)"
            } catch {
                return "short writes: \(error)"
            }
        }
    }

    private static func autoreleased(_ body: () throws -> Void) throws { try body() }

    /// Content, sync, name, sync of the directory: in this order, or a power failure leaves half a file under the name, or none.
    private static func creation() throws -> String? {
        try withTemporaryDirectory { directory in
            let order = MomentList()
            Probe.observer = { order.append($0) }
            defer { Probe.observer = nil }
            _ = try Store.open(StoreConfiguration(location: .file(path: directory + "/new.toft")))
            let wanted: [Probe.Moment] = [.creationWritten, .creationSynced, .creationNamed, .directorySynced, .creationDurable]
            let found = Array(order.moments.prefix(wanted.count))
            return found == wanted ? nil : "a file was created in the order \(found)"
        }
    }
    #endif
}
