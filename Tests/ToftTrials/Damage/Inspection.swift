internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// The answers of a whole use of a database: its schema, every object and list, lookups, queries,
/// the check, a write transaction, and everything again after another opening.
///
/// Every question has a number of its own, so that answers of two files can be compared one by one.
struct Inspection {
    /// The question's number -> a digest of the answer.
    private(set) var answers: [UInt32: UInt64] = [:]
    /// Questions that were answered with an error that says the file is damaged, or of another
    /// kind.
    private(set) var refusals: [UInt32] = []
    /// Questions that were answered with an error that a sound file never gives either.
    private(set) var strangeErrors: [String] = []
    /// Errors that no content of a file may cause: of system calls, or without a text.
    private(set) var wrongErrors: [String] = []
    /// The findings of the check.
    private(set) var problems: [String] = []

    /// The first of the errors behind the refusals.
    private(set) var firstError = ""

    private var base: UInt32 = 0
    private let key: EncryptionKey?
    private let queries: [String]
    private let part: Int?
    private let writesFirst: Bool

    /// Uses the database in `file`, which it writes to.
    ///
    /// - Parameter part: a number; every 24th query from there on is made, of a long table each
    ///   eighth object is read (the others as columns), and the file is opened once. Nil:
    ///   everything.
    /// - Parameter writesFirst: the transaction comes before anything is read.
    init(
        of file: any StorageFile, key: EncryptionKey? = nil,
        queries: [String] = Inspection.queries, part: Int? = nil, writesFirst: Bool = false
    ) {
        self.key = key
        self.queries = queries
        self.part = part
        self.writesFirst = writesFirst
        look(file, isFirst: true)
        guard part == nil, refusals.isEmpty, strangeErrors.isEmpty, wrongErrors.isEmpty else {
            return
        }
        base = 1 << 30
        look(file, isFirst: false)
    }

    private mutating func look(_ file: any StorageFile, isFirst: Bool) {
        ask(0) { [key] in
            try Self.open(WrappedFile(file), key)
        } then: { inspection, session in
            if isFirst, inspection.writesFirst { inspection.write(session) }
            inspection.readEverything(session)
            if isFirst {
                inspection.find(session)
                inspection.query(session)
                inspection.check(session)
                if !inspection.writesFirst { inspection.write(session) }
            } else {
                inspection.check(session)
            }
            inspection.ask(1) {
                try session.close()
            } then: { _, _ in
            }
        }
    }

    static func open(_ file: any StorageFile, _ key: EncryptionKey? = nil) throws -> Session {
        let store = try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), encryptionKey: key)
        return try Session.open(
            on: store, Configuration(location: .memory(name: ""), confinement: .caller))
    }

    // MARK: Asking

    private mutating func ask<Answer>(
        _ question: UInt32, _ body: () throws -> Answer,
        then: (inout Inspection, Answer) -> Void
    ) {
        do { then(&self, try body()) } catch { note(error, question) }
    }

    private mutating func answer(_ question: UInt32, _ body: (inout Digest) throws -> Void) {
        do {
            var digest = Digest()
            try body(&digest)
            answers[base + question] = digest.value
        } catch { note(error, question) }
    }

    private mutating func note(_ error: any Error, _ question: UInt32) {
        let reported: EngineError?
        switch error {
        case let error as EngineError: reported = error
        case let error as SystemError: reported = EngineError(StorageError(error))
        case let error as StorageError: reported = EngineError(error)
        case let error as ModelError: reported = EngineError(error)
        default: reported = nil
        }
        // The message that a program would read.
        let message = reported?.message ?? ""
        let text = "question \(base + question): \(error): \(message)"
        switch reported?.code {
        case .fileAccess, .diskFull, .permissionDenied, .addressSpaceExhausted, nil:
            wrongErrors.append(text)
        case _ where message.utf8.count < 20: wrongErrors.append(text)
        case .corrupt, .notADatabase, .unsupportedFormat, .internalError:
            if refusals.isEmpty { firstError = "\(error)" }
            refusals.append(base + question)
        default: strangeErrors.append(text)
        }
    }

    // MARK: The questions

    private mutating func readEverything(_ session: Session) {
        answer(10) { digest in
            for owner in session.schema.classes {
                digest.add(owner.name)
                for property in owner.properties {
                    digest.add(property.name)
                    digest.add(UInt64(property.type.rawValue))
                    digest.add(property.isOptional ? 1 : 0)
                }
            }
        }
        for (number, owner) in session.schema.classes.enumerated().prefix(8) {
            let first = UInt32(number + 1) << 16
            answer(first) { digest in
                digest.add(UInt64(try session.count(of: owner.id)))
                digest.add(UInt64(bitPattern: (try? owner.property(named: "id")) == nil ? 0 : 1))
            }
            ask(first + 1) {
                try session.results(of: owner.id).keys()
            } then: {
                inspection, keys in
                inspection.answer(first + 1) { digest in
                    for key in keys { digest.add(UInt64(bitPattern: key)) }
                }
                let properties = owner.visibleProperties
                inspection.answer(first + 2) { digest in
                    let results = try session.results(of: owner.id)
                    for property in properties where property.isStored && !property.isCollection {
                        try Self.read(property, of: results, keys.count, &digest)
                    }
                }
                for key in keys.prefix(1_000) {
                    guard inspection.asks(key, of: keys.count) else { continue }
                    let question = first + 3 + UInt32(truncatingIfNeeded: key & 0x3FFF)
                    inspection.answer(question) {
                        try Self.read(session.handle(key, owner), properties, &$0)
                    }
                }
            }
        }
    }

    private func asks(_ key: Int64, of count: Int) -> Bool {
        guard let part, count > 64 else { return true }
        return (key & 0xFF) % 8 == Int64(part % 8)
    }

    /// Reads a property of all objects at once.
    private static func read(
        _ property: PropertyHandle, of results: Results, _ count: Int, _ digest: inout Digest
    ) throws {
        guard let size = ColumnBuffer.elementSize(of: property) else { return }
        let count = min(count, 1_000)
        var values = [UInt8](repeating: 0, count: count * size)
        var nulls = [UInt8](repeating: 0, count: count)
        try values.withUnsafeMutableBytes { values throws in
            try nulls.withUnsafeMutableBufferPointer { nulls throws in
                guard let place = values.baseAddress, let nulls = nulls.baseAddress else { return }
                let buffer = ColumnBuffer(property: property.id, values: place, nulls: nulls)
                let read = try results.read([buffer], from: 0, capacity: count)
                digest.add(UInt64(read))
                digest.add(UnsafeRawBufferPointer(start: nulls, count: read))
                for row in 0..<read where nulls[row] == 0 {
                    let element = place + row * size
                    switch property.type {
                    case .string, .data:
                        digest.add(
                            UnsafeRawBufferPointer(
                                start: element.load(as: UnsafeRawPointer?.self),
                                count: element.load(fromByteOffset: 8, as: Int.self)))
                    // The bytes after the nanoseconds are padding.
                    case .date: digest.add(UnsafeRawBufferPointer(start: element, count: 12))
                    default: digest.add(UnsafeRawBufferPointer(start: element, count: size))
                    }
                }
            }
        }
    }

    private static func read(
        _ object: ObjectHandle, _ properties: [PropertyHandle], _ digest: inout Digest
    ) throws {
        for property in properties {
            if property.isCollection {
                let list = try object.collection(property.id, property.collection)
                let cells = try list.cells(from: 0, limit: .max)
                digest.add(UInt64(cells.count))
                for (index, cell) in cells.enumerated() {
                    if index % 16 == 0 {
                        digest.add(try list.value(at: index))
                    } else {
                        digest.add(cell)
                    }
                }
                if property.type == .mixed {
                    for value in try list.liveValues() { try add(value, to: &digest) }
                }
            } else if property.type == .mixed {
                try add(try object.live(property.id), to: &digest)
                digest.add(try object.value(property.id))
            } else if property.isStored {
                digest.add(try object.value(property.id))
            } else {
                for key in try object.linkingObjects(property.id).keys() {
                    digest.add(UInt64(bitPattern: key))
                }
            }
        }
    }

    /// A mixed value, read as by a program that descends from one collection to the next.
    private static func add(_ value: LiveValue, to digest: inout Digest) throws {
        switch value {
        case .value(let value): digest.add(value)
        case .collection(let collection):
            digest.add(UInt64(try collection.count))
            for value in try collection.liveValues() { try add(value, to: &digest) }
        }
    }

    private mutating func find(_ session: Session) {
        for (number, key) in [Value.int(0), .int(9), .int(33), .int(4)].enumerated() {
            answer(100 + UInt32(number)) { digest in
                let owner = try session.classHandle(named: "Item")
                digest.add(UInt64(bitPattern: try session.find(key, in: owner.id)?.ref.key ?? -1))
            }
        }
        for (number, code) in ["part 0-0", "part 919-1", "new 3", "nothing"].enumerated() {
            answer(110 + UInt32(number)) { digest in
                let owner = try session.classHandle(named: "Part")
                let found = try session.find(Value.string(code), in: owner.id)
                digest.add(UInt64(bitPattern: found?.ref.key ?? -1))
            }
        }
    }

    private mutating func query(_ session: Session) {
        for (number, query) in queries.enumerated()
        where part == nil || (number + (part ?? 0)) % 24 == 0 {
            answer(200 + UInt32(number)) { digest in
                let name = query.hasPrefix("Part:") ? "Part" : "Item"
                let owner = try session.classHandle(named: name)
                let text = name == "Part" ? String(query.dropFirst(5)) : query
                for key in try session.results(of: owner.id).filter(text).keys() {
                    digest.add(UInt64(bitPattern: key))
                }
            }
        }
    }

    private mutating func check(_ session: Session) {
        ask(300) {
            try session.checkEverything()
        } then: { inspection, findings in
            inspection.problems += findings.problems
        }
    }

    private mutating func write(_ session: Session) {
        answer(400) { digest in
            let item = try session.classHandle(named: "Item")
            let part = try session.classHandle(named: "Part")
            try session.beginWrite()
            do {
                let object = try session.create(
                    part.id,
                    [
                        (try part.property(named: "code").id, .string("written")),
                        (try part.property(named: "rank").id, .int(7)),
                    ])
                if let first = try session.find(Value.int(9), in: item.id) {
                    try first.set(try item.property(named: "name").id, Value.string("renamed"))
                    try first.set(try item.property(named: "part").id, Value.link(object.ref))
                    let list = try first.list(try item.property(named: "numbers").id)
                    try list.append(Value.int(5))
                    let any = try item.property(named: "extra").id
                    try first.set(any, Value.list([.link(object.ref), .list([.int(1)])]))
                    try first.collection(any, .list).nested(at: 1, .list).append(Value.int(2))
                }
                if let long = try session.find(Value.int(15), in: item.id) {
                    let list = try long.list(try item.property(named: "numbers").id)
                    try list.append(Value.int(6))
                }
                if let gone = try session.find(Value.int(6), in: item.id) { try gone.delete() }
                try session.commit()
            } catch {
                if session.isWriting { try session.cancel() }
                throw error
            }
            digest.add(1)
        }
    }

    static let queries = [
        "number > 10", "number == 1001", "number BETWEEN {0, 50}", "number != 5",
        "flag == true", "flag == false AND number < 20", "ratio >= 1.5", "weight < 10",
        "name == 'Ada0'", "name BEGINSWITH 'B'", "name ENDSWITH '3'", "name CONTAINS[c] 'D'",
        "name LIKE '*a*'", "name ==[c] 'ADA6'", "name IN {'Ada0', 'dora3'}", "note == nil",
        "note != nil", "note CONTAINS 'note'", "maybeNumber == nil", "maybeNumber > 5",
        "maybeFlag == true", "maybeMoment == nil", "mate == nil", "mate.number > 0",
        "part.rank < 20", "part.whole.rank > 3", "pals.@count > 2", "ANY pals.number > 10",
        "ALL pals.number > -30", "NONE pals.flag == true", "numbers.@sum > 100",
        "numbers.@max > 50", "numbers.@count == 520", "ANY numbers == 9", "ANY texts CONTAINS '2'",
        "ANY maybeTexts == nil", "flags.@count > 4", "weights.@avg > 0", "moments.@count > 1",
        "admirers.@count > 0", "ANY admirers.number > 0", "TRUEPREDICATE SORT(number DESC)",
        "number > 0 SORT(name ASC) LIMIT(4)", "TRUEPREDICATE DISTINCT(flag)",
        "Part:rank == 7", "Part:rank > 30 AND code BEGINSWITH 'part'", "Part:code == 'new 3'",
        "Part:whole.code CONTAINS '1'", "Part:parts.@count > 0", "Part:rank < 3 SORT(code DESC)",
        "extra > 1", "extra == 'any text 4'", "extra == nil", "extra BEGINSWITH 'any'",
        "extra.@type == 'list'", "ANY extras == 2.5", "extras.@count > 3",
        "ANY extraSet == 'any 1'", "extraMap['key 0'] == true",
        "ANY extraMap.@keys == 'key 2'", "@links.Item.extra.@count > 0",
        "Part:@links.Item.extras.@count > 1", "TRUEPREDICATE SORT(extra ASC)",
        "SUBQUERY(pals, $p, $p.number > 0).@count > 1",
    ]
}

/// A digest of a row of answers.
struct Digest {
    private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0xFF51_AFD7_ED55_8CCD
        value ^= value >> 29
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    mutating func add(_ value: FixedBytes) {
        add(value.high)
        add(value.low)
    }

    mutating func add(_ value: Value) {
        switch value {
        case .null: add(1)
        case .bool(let value): add(value ? 3 : 2)
        case .int(let value): add(UInt64(bitPattern: value))
        case .float(let value): add(UInt64(value.bitPattern))
        case .double(let value): add(value.bitPattern)
        case .string(let value): add(value)
        case .data(let value): value.withUnsafeBytes { add($0) }
        case .date(let value):
            add(UInt64(bitPattern: value.seconds))
            add(UInt64(bitPattern: Int64(value.nanoseconds)))
        case .link(let value): add(UInt64(bitPattern: value.key))
        case .uuid(let value), .objectId(let value): add(value)
        case .decimal(let value):
            add(value.stored)
            add(value.orderKey)
            add(value.description)
        case .list(let values):
            add(UInt64(values.count))
            for value in values { add(value) }
        case .dictionary(let entries):
            for entry in entries {
                add(entry.key)
                add(entry.value)
            }
        }
    }

    mutating func add(_ cell: Cell) {
        switch cell {
        case .null: add(1)
        case .bool(let value): add(value ? 3 : 2)
        case .int64(let value): add(UInt64(bitPattern: value))
        case .float32(let value): add(UInt64(value.bitPattern))
        case .float64(let value): add(value.bitPattern)
        case .timestamp(let value):
            add(UInt64(bitPattern: value.seconds))
            add(UInt64(bitPattern: Int64(value.nanoseconds)))
        case .bytes(let bytes): add(bytes)
        case .fixed(let value): add(value)
        }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        if let start = bytes.baseAddress { add(Checksum.of(start, count: bytes.count)) }
    }
}
