internal import Dispatch
internal import ToftEngine
internal import ToftExchange
internal import ToftModel
internal import ToftStorage
internal import Synchronization

/// Work that takes longer than a page waits. Each job has the number of the message that began it,
/// runs on a thread of its own, tells its progress, and answers when it is done. It reads a frozen
/// version, or writes with a session of its own.
final class Jobs: Sendable {
    /// A job's view of the page: how far it is, and whether it is to end.
    final class Progress: Sendable {
        private let id: Int64
        private let send: Conversation.Sending
        private let shown = Mutex(-1)
        private let isCancelled = Atomic(false)
        /// Ends the queries of the job's session.
        private let interruption: Interruption?

        init(
            _ id: Int64, _ send: @escaping Conversation.Sending, _ interruption: Interruption?
        ) {
            self.id = id
            self.send = send
            self.interruption = interruption
        }

        func cancel() {
            isCancelled.store(true, ordering: .relaxed)
            interruption?.interrupt()
        }

        /// Tells the page, at most once for each percent.
        /// - Throws: `interrupted` if the job is to end.
        func advance(to done: Int, of total: Int) throws(EngineError) {
            guard !isCancelled.load(ordering: .relaxed) else {
                throw EngineError(.interrupted, "It was ended before it was done.")
            }
            let percent = Int((Double(done) * 100 / Double(max(1, total))).rounded(.down))
            let isNew = shown.withLock { shown in
                defer { shown = percent }
                return shown != percent
            }
            guard isNew else { return }
            let event = JSONValue.object([
                ("event", .text("progress")), ("job", .integer(id)), ("percent", .count(percent)),
            ])
            send("\(event)")
        }
    }

    private let send: Conversation.Sending
    private let running = Mutex<[Int64: Progress]>([:])

    init(_ send: @escaping Conversation.Sending) { self.send = send }

    func cancel(_ id: Int64) { running.withLock { $0[id] }?.cancel() }

    func cancelAll() {
        for progress in running.withLock({ Array($0.values) }) { progress.cancel() }
    }

    /// - Parameter interruption: that of the job's session.
    private func run(
        _ id: Int64, _ interruption: Interruption? = nil,
        _ work: @escaping (Progress) throws -> JSONValue
    ) {
        let progress = Progress(id, send, interruption)
        running.withLock { $0[id] = progress }
        // It is called once, by the thread that the job gets.
        nonisolated(unsafe) let work = work
        DispatchQueue.global().async { [self] in
            let answer: (String, JSONValue)
            do {
                answer = ("ok", try work(progress))
            } catch {
                answer = ("error", EngineError(of: error).json)
            }
            running.withLock { $0[id] = nil }
            send("\(JSONValue.object([("id", .integer(id)), answer]))")
        }
    }
}

// MARK: Reading

extension Jobs {
    func statistics(of property: PropertyHandle, in results: Results, id: Int64) {
        run(id, results.session.interruption) { _ in
            try Statistics(of: property, in: results).json()
        }
    }

    func check(_ session: Session, id: Int64) {
        run(id, session.interruption) { _ in
            let findings = try session.checkEverything()
            return .object([
                ("problems", .list(findings.problems.map { .text($0) })),
                ("pages", .count(findings.pageCount)), ("objects", .count(findings.objectCount)),
            ])
        }
    }

    func copy(_ session: Session, to path: String, key: EncryptionKey?, id: Int64) {
        run(id, session.interruption) { _ in
            try session.writeCopy(to: path, encryptionKey: key)
            return .object([("path", .text(path))])
        }
    }

    /// Writes the objects of results to a file, as JSON lines or comma-separated values.
    func export(
        _ results: Results, _ owner: ClassHandle, to path: String, isCSV: Bool, id: Int64
    ) {
        run(id, results.session.interruption) { progress in
            let session = results.session, total = try results.count
            var text: ObjectText =
                isCSV ? .csv(of: owner, in: session) : .json(of: owner, in: session)
            var done = 0
            try TextFile.create(path, from: session) { file in
                try file.write(text.header)
                try results.forEachObject { object in
                    try file.write(try text.line(of: object))
                    done += 1
                    try progress.advance(to: done, of: total)
                }
            }
            return .object([("path", .text(path)), ("objects", .count(done))])
        }
    }
}

// MARK: Writing

extension Jobs {
    /// Adds the objects of a file of text to a class, as one transaction.
    func load(
        _ path: String, into name: String, _ configuration: Configuration, isCSV: Bool,
        updates: Bool, id: Int64
    ) {
        run(id) { progress in
            let session = try Session.open(configuration)
            defer { try? session.close() }
            let owner = try session.classHandle(named: name)
            var lines = try ObjectLines(path: path) { _ in "" }
            let size = try StudioFolder.size(of: path)
            if isCSV { try lines.readCSV(of: owner, in: session, ignoresUnknown: false) }
            var objects = ObjectsFromJSON(session, policy: updates ? .modified : .error)
            try session.beginWrite()
            do {
                try objects.add(&lines, of: owner) { _, lines in
                    try progress.advance(to: lines.position, of: size)
                }
                try session.commit()
            } catch {
                if session.isWriting { try session.cancel() }
                throw error
            }
            return .object([
                ("created", .count(objects.created)), ("updated", .count(objects.updated)),
            ])
        }
    }

    /// Bytes that one commit of a compaction moves at most.
    private static let compactionStep: UInt64 = 4 << 20

    /// Gives free space back beside the readers and writers of the file.
    func compact(_ configuration: Configuration, id: Int64) {
        run(id) { progress in
            let session = try Session.open(configuration)
            defer { try? session.close() }
            var step = try session.compactStep(movingAtMost: Self.compactionStep)
            let before = step.sizeBefore
            while step.hasMore {
                try progress.advance(
                    to: Int(clamping: before - min(before, step.sizeAfter)),
                    of: Int(clamping: before))
                step = try session.compactStep(movingAtMost: Self.compactionStep)
            }
            return .object([
                ("bytesBefore", .number(before)), ("bytesAfter", .number(step.sizeAfter)),
                ("heldBytes", .number(step.heldSize)),
            ])
        }
    }

    /// Reads what is left of a damaged file into a new one.
    func salvage(_ path: String, to newPath: String, key: EncryptionKey?, id: Int64) {
        run(id) { _ in
            let report = try Database.salvage(
                path, to: newPath, encryptionKey: key, newKey: key)
            let classes = report.classes.map { found in
                JSONValue.object([
                    ("name", .text(found.name)), ("objects", .count(found.objects)),
                    ("missing", found.missing.map { .count($0) } ?? .null),
                ])
            }
            return .object([
                ("path", .text(newPath)), ("isComplete", .bool(report.isComplete)),
                ("classes", .list(classes)),
                ("problems", .list(report.problems.map { .text($0) })),
            ])
        }
    }
}
