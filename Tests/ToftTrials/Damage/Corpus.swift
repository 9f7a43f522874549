internal import Glibc
internal import Synchronization
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// A small database with everything in it that the format knows, made by the engine itself, and its
/// earlier contents.
struct Corpus {
    let name: String
    /// The image that is damaged.
    let image: [UInt8]
    /// The file's content after each of its earlier commits, oldest first.
    let history: [[UInt8]]
    /// The image of another database.
    let other: [UInt8]
    /// The key of the image; nil if it is plain.
    let key: EncryptionKey?
    let map: ImageMap
    /// The pages to damage.
    let pages: [Int]

    init(name: String, image: [UInt8], history: [[UInt8]], other: [UInt8]) throws {
        self.name = name
        self.image = image
        self.history = history
        self.other = other
        key = Self.key(of: name)
        map = try ImageMap(of: image, isEncrypted: key != nil)
        // In an encrypted file, the pages that are reachable do not show.
        pages = key == nil ? map.usedPages : Array(0..<image.count / 4_096)
    }

    /// The file that the image says it is; another one for the copy of a file that was open.
    var identity: FileIdentity {
        let base = map.meta * 4_096
        return FileIdentity(
            device: Image.word(image, base + 128),
            inode: Image.word(image, base + 136) &+ (name == "copied" ? 1 : 0))
    }

    // MARK: Making

    static let schema = Schema([
        ClassSchema(
            "Item",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("flag", .bool, isIndexed: true),
                PropertySchema("number", .int, isIndexed: true),
                PropertySchema("ratio", .float),
                PropertySchema("weight", .double),
                PropertySchema("name", .string, isIndexed: true),
                PropertySchema("blob", .data),
                PropertySchema("moment", .date, isIndexed: true),
                PropertySchema("code", .uuid, isIndexed: true),
                PropertySchema("price", .decimal128),
                PropertySchema("maybeFlag", .bool, isOptional: true),
                PropertySchema("maybeNumber", .int, isOptional: true, isIndexed: true),
                PropertySchema("maybeRatio", .float, isOptional: true),
                PropertySchema("maybeWeight", .double, isOptional: true),
                PropertySchema("note", .string, isOptional: true),
                PropertySchema("maybeBlob", .data, isOptional: true),
                PropertySchema("maybeMoment", .date, isOptional: true),
                PropertySchema("maybeToken", .objectId, isOptional: true),
                .link("mate", to: "Item"),
                .link("part", to: "Part"),
                .links("pals", to: "Item"),
                PropertySchema("flags", .bool, collection: .list),
                PropertySchema("numbers", .int, collection: .list),
                PropertySchema("ratios", .float, collection: .list),
                PropertySchema("weights", .double, collection: .list, isOptional: true),
                PropertySchema("texts", .string, collection: .list),
                PropertySchema("maybeTexts", .string, collection: .list, isOptional: true),
                PropertySchema("blobs", .data, collection: .list),
                PropertySchema("moments", .date, collection: .list),
                PropertySchema("tokens", .objectId, collection: .list),
                PropertySchema("prices", .decimal128, collection: .list, isOptional: true),
                PropertySchema("extra", .mixed, isIndexed: true),
                PropertySchema("extras", .mixed, collection: .list),
                PropertySchema("extraSet", .mixed, collection: .set),
                PropertySchema("extraMap", .mixed, collection: .dictionary),
                .linkingObjects("admirers", from: "Item", "mate"),
            ]),
        ClassSchema(
            "Part",
            [
                PropertySchema("code", .string, isPrimaryKey: true),
                PropertySchema("rank", .int, isIndexed: true),
                .link("whole", to: "Part"),
                .linkingObjects("parts", from: "Part", "whole"),
            ]),
    ])

    static let items = 12
    static let parts = 280
    static let names = ["clean", "unclean", "copied", "freed", "encrypted"]

    private static func key(of name: String) -> EncryptionKey? {
        name == "encrypted" ? try? EncryptionKey([UInt8](repeating: 7, count: 64)) : nil
    }

    /// All corpora.
    static func all() throws -> [Corpus] { try names.map { try make($0) } }

    static func make(_ name: String) throws -> Corpus {
        let memory = MemoryFile(name: "damage")
        let file = WrappedFile(memory)
        let key = key(of: name)
        try Store.format(file, encryptionKey: key)
        var history: [[UInt8]] = []
        try { try fill(file, name, key, &history) { try memory.content() } }()
        // The unclean images are those from before the file was closed.
        let isClosed = ["clean", "freed", "encrypted"].contains(name)
        let image = isClosed ? try memory.content() : history.last ?? []
        let other = MemoryFile(name: "other")
        let otherFile = WrappedFile(other)
        try Store.format(otherFile, encryptionKey: key)
        var ignored: [[UInt8]] = []
        try { try fill(otherFile, "other", key, &ignored) { try other.content() } }()
        return try Corpus(name: name, image: image, history: history, other: other.content())
    }

    private static func fill(
        _ file: any StorageFile, _ name: String, _ key: EncryptionKey?,
        _ history: inout [[UInt8]], _ content: () throws -> [UInt8]
    ) throws {
        let store = try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), firstLogPages: 8,
            encryptionKey: key)
        var policy = InsertBufferPolicy()
        policy.limits = [3, 10, 25, 60, 200]
        policy.compactionBatch = 2
        policy.levelToBatchRatio = 1
        policy.smallestTree = 10
        policy.treeToBatchRatio = 1
        store.insertBuffer.withLock { $0.policy = policy }
        let session = try Session.open(
            on: store,
            Configuration(location: .memory(name: ""), schema: schema, confinement: .caller))
        let item = try session.classHandle(named: "Item")
        let part = try session.classHandle(named: "Part")
        func value(_ name: String, _ value: Value, _ owner: ClassHandle) throws
            -> (property: PropertyID, value: Value)
        {
            (try owner.property(named: name).id, value)
        }
        try session.beginWrite()
        var partObjects: [ObjectHandle] = []
        // A database of the same content has the same pages: they are not foreign ones.
        let word = name == "other" ? "twin" : "part"
        for number in 0..<parts {
            let object = try session.create(
                part.id,
                [
                    value("code", .string("\(word) \(number * 7919 % 1_000)-\(number)"), part),
                    value("rank", .int(Int64(number % 40)), part),
                ])
            if number % 3 == 1, let whole = partObjects.last {
                try object.set(try part.property(named: "whole").id, Value.link(whole.ref))
            }
            partObjects.append(object)
        }
        try session.commit()
        history.append(try content())
        try session.beginWrite()
        var made: [ObjectHandle] = []
        for number in 0..<items {
            made.append(try addItem(number, made, partObjects, session, item))
        }
        try session.commit()
        history.append(try content())
        guard name != "other" else { return }
        // A reader of an old version keeps freed pages from being used again.
        let pinned = name == "freed" ? try store.beginRead() : nil
        let rounds = name == "freed" ? 40 : 6
        for round in 0..<rounds {
            try session.beginWrite()
            let object = made[round % items]
            try object.set(try item.property(named: "number").id, Value.int(Int64(1_000 + round)))
            try object.set(try item.property(named: "note").id, Value.string("note \(round)"))
            try object.set(
                try item.property(named: "extra").id,
                anything(round, made[(round + 3) % items], partObjects[round]))
            try session.create(
                part.id,
                [value("code", .string("new \(round)"), part), value("rank", .int(99), part)])
            if round == 2 { try partObjects[5].delete() }
            try session.commit()
            history.append(try content())
        }
        pinned?.release()
        try session.close()
    }

    private static func addItem(
        _ number: Int, _ earlier: [ObjectHandle], _ parts: [ObjectHandle], _ session: Session,
        _ item: ClassHandle
    ) throws -> ObjectHandle {
        var random = Seed(UInt64(number))
        let whole = Int64(number)
        var values: [(String, Value)] = [
            ("id", .int(whole * 3)), ("flag", .bool(number % 2 == 0)),
            ("number", .int(whole * whole - 20)), ("ratio", .float(Float(number) / 4)),
            ("weight", .double(number == 3 ? .nan : Double(number) * 1.5)),
            (
                "name",
                .string(["Ada", "Bene", "Çem", "dora", "", "Ünal"][number % 6] + "\(number)")
            ),
            ("blob", .data(random.bytes(number * 9))),
            ("moment", .date(Timestamp(seconds: whole * 86_400, nanoseconds: Int32(number)))),
            ("code", .uuid(FixedBytes(high: random.next(), low: random.next()))),
            ("price", .decimal(Decimal128(low: random.next(), high: random.next()))),
            ("part", .link(parts[number * 5].ref)),
        ]
        if number % 2 == 0 {
            values += [
                ("maybeFlag", .bool(true)), ("maybeNumber", .int(whole << 33)),
                ("maybeRatio", .float(-1)), ("maybeWeight", .double(1e300)),
                ("note", .string(String(repeating: "long note ", count: number * 30))),
                ("maybeBlob", .data(random.bytes(number == 4 ? 5_000 : 20))),
                ("maybeMoment", .date(Timestamp(seconds: -5, nanoseconds: -7))),
                ("maybeToken", .objectId(FixedBytes(high: random.next(), low: 7 << 32))),
            ]
        }
        if let mate = earlier.last { values.append(("mate", .link(mate.ref))) }
        let object = try session.create(
            item.id, try values.map { (try item.property(named: $0.0).id, $0.1) })
        func append(_ name: String, _ count: Int, _ value: (Int) -> Value) throws {
            let list = try object.list(try item.property(named: name).id)
            for index in 0..<count { try list.append(value(index)) }
        }
        let isLong = number == 5
        try append("flags", isLong ? 1_040 : number) { .bool($0 % 3 == 0) }
        try append("numbers", isLong ? 520 : number) { .int(Int64($0 * $0)) }
        try append("ratios", number % 4) { .float(Float($0)) }
        try append("weights", isLong ? 140 : number % 5) {
            $0 % 3 == 1 ? .null : .double(Double($0))
        }
        try append("texts", number == 7 ? 60 : number % 3) {
            .string(String(repeating: "text \($0) ", count: $0 == 2 ? 200 : 4))
        }
        try append("maybeTexts", number % 4) { $0 == 1 ? .null : .string("maybe \($0)") }
        try append("blobs", number % 3) { .data([UInt8](repeating: UInt8($0), count: 40)) }
        try append("moments", isLong ? 90 : number % 4) {
            .date(Timestamp(seconds: Int64($0), nanoseconds: 5))
        }
        try append("tokens", isLong ? 100 : number % 3) {
            .objectId(FixedBytes(high: UInt64($0), low: 0))
        }
        try append("prices", isLong ? 80 : number % 3) {
            $0 % 3 == 2 ? .null : .decimal(Decimal128(Double($0) / 8))
        }
        try append("pals", min(number, 6)) { .link(earlier[$0 % max(1, earlier.count)].ref) }
        let mate = earlier.last ?? object
        try object.set(
            try item.property(named: "extra").id, anything(number, mate, parts[number * 3]))
        try append("extras", isLong ? 150 : number % 6) { anything($0 + number, mate, parts[$0]) }
        let set = try object.collection(try item.property(named: "extraSet").id, .set)
        let map = try object.collection(try item.property(named: "extraMap").id, .dictionary)
        for index in 0..<(isLong ? 60 : number % 5) {
            try set.setInsert(
                index % 3 == 0
                    ? .int(Int64(index))
                    : index % 3 == 1
                        ? .string("any \(index)") : .link(parts[index * 2].ref))
            try map.dictionarySet("key \(index)", anything(index + number, mate, parts[index]))
        }
        return object
    }

    /// A mixed value of each kind in turn, lists and dictionaries within one another too.
    private static func anything(_ number: Int, _ item: ObjectHandle, _ part: ObjectHandle) -> Value
    {
        switch number % 13 {
        case 0: return .bool(true)
        case 1: return .int(Int64(number) << 20)
        case 2: return .float(2.5)
        case 3: return .double(-1e9)
        case 4: return .string("any text \(number)")
        case 5: return .data([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 70))
        case 6: return .date(Timestamp(seconds: 86_400, nanoseconds: 3))
        case 7: return .uuid(FixedBytes(high: 5, low: UInt64(number)))
        case 8: return .objectId(FixedBytes(high: 6, low: 7 << 32))
        case 9: return .decimal(Decimal128(Double(number) / 16))
        case 10: return .link(item.ref)
        case 11: return .list([.link(part.ref), .null, .list([.int(4), .link(item.ref)])])
        default:
            return .dictionary([
                ValueEntry(key: "a", value: .string("inner")),
                ValueEntry(
                    key: "b", value: .list([.dictionary([.init(key: "c", value: .link(part.ref))])])
                ),
            ])
        }
    }

    // MARK: Keeping

    /// Writes the corpus into a directory, for other processes.
    func save(in directory: String) throws {
        try Self.write(image, directory + "/\(name).image")
        try Self.write(other, directory + "/\(name).other")
        for (index, image) in history.enumerated() {
            try Self.write(image, directory + "/\(name).\(index)")
        }
    }

    init(_ name: String, savedIn directory: String) throws {
        guard let image = Self.read(directory + "/\(name).image"),
            let other = Self.read(directory + "/\(name).other")
        else { throw Failure("no corpus \(name) in \(directory)") }
        var history: [[UInt8]] = []
        while let image = Self.read(directory + "/\(name).\(history.count)") {
            history.append(image)
        }
        try self.init(name: name, image: image, history: history, other: other)
    }

    static func write(_ bytes: [UInt8], _ path: String) throws {
        guard let file = fopen(path, "we") else { throw Failure("\(path): errno \(errno)") }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw Failure("\(path): not written")
        }
    }

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
