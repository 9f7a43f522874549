// Tests: Salvage.swift, CollectionHandle+Contents.swift,
// CollectionHandle+SetsAndDictionaries.swift, InterruptProbe.swift,
// ModelTransaction+Restore.swift, SalvageReader.swift, SalvageReport.swift, SalvageSource.swift,
// Session+Objects.swift, TableSalvage.swift, WholeNodes.swift
import Foundation
import Testing
import ToftModel
import ToftPlatform
import ToftTestKit

@testable import ToftEngine
@testable import ToftStorage

/// Damaged files, and the content salvaged from them.
@Suite struct SalvageTests {
    @Test func `A sound file is salvaged whole, with its keys, indexes and counters`() throws {
        try withLibrary { library in
            let (report, content) = try library.salvage()
            #expect(report.isComplete, "\(report.problems) \(report.classes)")
            #expect(content == library.content)
            try Library.opening(library.newPath) { session in
                #expect(session.schema.stored.version == 3)
                let book = try session.classHandle(named: "Book")
                #expect(try session.find(Value.int(707), in: book.id)?.ref.key == 707)
                let rank = try book.property(named: "rank")
                #expect(rank.isIndexed)
                #expect(
                    try session.results(of: book.id).filter("rank == 3").count
                        == library.content["Book"]?.count { $0.value["rank"] == .int(3) })
                try session.beginWrite()
                let visit = try session.classHandle(named: "Visit")
                let made = try session.create(visit.id, [])
                // The last one was deleted: its number is not given out again.
                #expect(
                    try made.value(try visit.property(named: "number").id)
                        == .int(Int64(Library.visits + 1)))
                try session.commit()
            }
        }
    }

    @Test func `A damaged cluster loses its objects, and the links to them`() throws {
        try withLibrary { library in
            let cluster = try #require(library.clusters(of: "Book").dropFirst(2).first)
            library.image[cluster.byteOffset + 200] ^= 0x10
            let (report, content) = try library.salvage()
            let books = try library.classReport("Book", report)
            let missing = try #require(books.missing)
            #expect((1...256).contains(missing))
            #expect(books.objects + missing == Library.books)
            #expect(books.older + books.unverified == 0)
            #expect(books.cutLinks > 0)
            // The notes of the lost books have lost their owners.
            #expect(try library.classReport("Note", report).dropped > 0)
            #expect(!report.isComplete)
            #expect(report.problems.contains { $0.contains("checksum") }, "\(report.problems)")
            try library.expectKept(content, report)
        }
    }

    @Test func `A damaged page of columns loses values, and keeps the objects`() throws {
        try withLibrary { library in
            let whole = library.image
            var losses = 0
            for cluster in library.clusters(of: "Book") {
                library.image = whole
                // Of the extent's last page only the heap is. An older copy of it may still be
                // whole: then nothing is lost.
                let pages = library.word(cluster.byteOffset + 4) & 0xFFFF_FFFF
                #expect(pages > 2)
                library.image[cluster.byteOffset + Int(pages - 1) * 4_096 + 8] ^= 1
                let (report, content) = try library.salvage()
                let books = try library.classReport("Book", report)
                #expect(books.missing == 0 && books.objects == Library.books)
                #expect(books.properties.allSatisfy { (1...256).contains($0.lost) })
                losses += books.properties.isEmpty ? 0 : 1
                try library.expectKept(content, report)
            }
            #expect(losses > 0)
        }
    }

    @Test func `A lost long value is null, and a lost list is empty`() throws {
        try withLibrary { library in
            let isBlob = { (page: Int) in
                library.image[page * 4_096] == 11
                    && library.image[(page * 4_096 + 32)...].starts(with: Array("long long".utf8))
            }
            let blob = try #require((2..<library.pages).first(where: isBlob))
            library.image[blob * 4_096 + 2_000] ^= 1
            let isSequence = { (page: Int) in library.image[page * 4_096] == 9 }
            let leaf = try #require((2..<library.pages).first(where: isSequence))
            library.image[leaf * 4_096 + 100] ^= 1
            let (report, content) = try library.salvage()
            let books = try library.classReport("Book", report)
            #expect(books.objects == Library.books)
            #expect(books.properties.map(\.name) == ["text", "scores"])
            #expect(books.properties.map(\.lost) == [1, 1])
            try library.expectKept(content, report)
        }
    }

    @Test func `Clusters are found again where the node above them is damaged`() throws {
        try withLibrary { library in
            let node = try library.top(of: "Book")
            #expect(library.image[node.byteOffset] == 7)
            library.image[node.byteOffset + 60] ^= 1
            let (report, content) = try library.salvage()
            let books = try library.classReport("Book", report)
            #expect(books.unverified + books.older == Library.books)
            #expect(books.unverified > 0)
            #expect(books.missing == 0)
            #expect(content == library.content)
        }
    }

    @Test func `Everything is found again where the catalog or the root is damaged`() throws {
        for part in ["catalog", "root"] {
            try withLibrary { library in
                let page = try part == "catalog" ? library.catalog() : library.root()
                library.image[page.byteOffset + 1_000] ^= 1
                library.image[page.byteOffset + 130] ^= 1
                let (report, content) = try library.salvage()
                try library.expectKept(content, report)
                let books = try library.classReport("Book", report)
                #expect(books.objects > Library.books / 2, "\(part): \(report)")
                #expect(!report.isComplete)
            }
        }
    }

    @Test func `A damaged schema is read from its copy, and nothing is lost`() throws {
        for tree in [SystemTree.schema, SystemTree.schemaCopy] {
            try withLibrary { library in
                let leaf = try library.top(ofTree: tree)
                library.image[leaf.byteOffset + 3_000] ^= 1
                let (report, content) = try library.salvage()
                #expect(content == library.content)
                #expect(!report.isSchemaUnverified && report.classes.allSatisfy(\.isComplete))
                // The copy is not read if the schema is intact.
                #expect(report.isComplete == (tree == SystemTree.schemaCopy), "\(report.problems)")
                // The new file has both again.
                library.image = Array(
                    try Data(contentsOf: URL(fileURLWithPath: library.newPath)))
                let next = try library.top(ofTree: SystemTree.schema)
                library.image[next.byteOffset + 3_000] ^= 1
                #expect(try library.salvage().content == library.content)
            }
        }
    }

    @Test func `A schema that is damaged with its copy is found in an older leaf, or is lost`()
        throws
    {
        try withLibrary { library in
            for tree in [SystemTree.schema, SystemTree.schemaCopy] {
                library.image[try library.top(ofTree: tree).byteOffset + 3_000] ^= 1
            }
            do {
                let (report, content) = try library.salvage()
                try library.expectKept(content, report)
                #expect(!report.isComplete)
            } catch let error as EngineError {
                #expect(error.code == .corrupt && error.message.contains("schema"), "\(error)")
                #expect(try FileIdentity.ofFile(at: library.newPath) == nil)
            }
        }
    }

    @Test func `One meta page is enough, and so is none`() throws {
        for lost in [[0], [1], [0, 1]] {
            try withLibrary { library in
                for slot in lost {
                    library.image.replaceSubrange(
                        slot * 4_096..<(slot + 1) * 4_096,
                        with: [UInt8](repeating: 0, count: 4_096))
                }
                let (report, content) = try library.salvage()
                #expect(report.problems.count >= lost.count)
                #expect(content == library.content)
                #expect(report.classes.allSatisfy { $0.isComplete }, "\(report)")
            }
        }
    }

    @Test func `A truncated file gives what it has`() throws {
        for part in 1...4 {
            try withLibrary { library in
                library.image.removeLast(library.image.count * part / 5 + 17)
                do {
                    let (report, content) = try library.salvage()
                    try library.expectKept(content, report)
                } catch let error as EngineError {
                    #expect(error.code == .corrupt, "\(part): \(error)")
                }
            }
        }
    }

    @Test func `What only the log has is salvaged, up to where it is damaged`() throws {
        try withLibrary { library in
            let before = library.content
            // Copied while it is open: the last commits are in the log alone.
            try Library.opening(library.path) { session in
                let book = try session.classHandle(named: "Book")
                for number in 0..<10 {
                    try session.beginWrite()
                    try session.find(Value.int(5), in: book.id)?.set(
                        try book.property(named: "rank").id, Value.int(Int64(1_000 + number)))
                    try session.commit()
                }
                library.image = Array(try Data(contentsOf: URL(fileURLWithPath: library.path)))
            }
            let frames = stride(from: 8_192, to: library.image.count - 512, by: 512).filter {
                Array(library.image[$0..<($0 + 4)]) == Array("TLOG".utf8)
                    && library.image[$0 + 4] == 1
            }
            #expect(frames.count >= 9)
            let sound = try library.salvage()
            #expect(sound.content["Book"]?[5]?["rank"] == .int(1_009))
            let last = try #require(frames.suffix(3).first)
            library.image[last + 100] ^= 1
            let (report, content) = try library.salvage()
            #expect(content["Book"]?[5]?["rank"] == .int(1_006), "\(report.problems)")
            #expect(content["Author"] == before["Author"])
            #expect(!report.isComplete)
        }
    }

    @Test func `Objects come from an older version where the newest has lost them`() throws {
        try withLibrary { library in
            // A reader keeps the version from being overwritten.
            try Library.opening(library.path) { session in
                let frozen = try session.frozen()
                let book = try session.classHandle(named: "Book")
                try session.beginWrite()
                for number in 0..<Library.books where number % 2 == 0 {
                    try session.find(Value.int(Int64(number)), in: book.id)?.set(
                        try book.property(named: "rank").id, Value.int(-1))
                }
                try session.commit()
                try session.flush()
                try frozen.close()
            }
            library.image = Array(try Data(contentsOf: URL(fileURLWithPath: library.path)))
            let older = library.content
            library.content = try Library.read(library.path)
            for cluster in library.clusters(of: "Book") {
                library.image[cluster.byteOffset + 200] ^= 1
            }
            let (report, content) = try library.salvage()
            let books = try library.classReport("Book", report)
            #expect(
                books.older + books.dropped + (books.missing ?? 0) == Library.books, "\(report)")
            #expect(books.older > 0)
            for (key, book) in content["Book"] ?? [:] {
                let ranks = [library.content, older].map { $0["Book"]?[key]?["rank"] }
                #expect(ranks.contains(book["rank"]))
            }
        }
    }

    @Test func `Whatever page is lost, what is salvaged is right and fits together`() throws {
        try withLibrary { library in
            let whole = library.image
            var seed = Seed.random()
            print("Lost pages: \(seed)")
            let step = library.pages / 7
            for page in stride(from: seed.below(step), to: library.pages, by: step) {
                library.image = whole
                library.image.replaceSubrange(
                    page * 4_096..<(page + 1) * 4_096, with: seed.bytes(4_096))
                do {
                    let (report, content) = try library.salvage()
                    try library.expectKept(content, report)
                } catch let error as EngineError {
                    #expect(error.code == .corrupt, "page \(page): \(error)")
                }
            }
        }
    }

    @Test func `An encrypted file is salvaged with its key, into one with any key or none`() throws
    {
        try withLibrary { library in
            try library.encrypt(Keys.first)
            for newKey in [Keys.first, Keys.second, nil] {
                let (report, content) = try library.salvage(newKey: newKey)
                #expect(report.isComplete, "\(report.problems) \(report.classes)")
                #expect(content == library.content)
                let image = try Data(contentsOf: URL(fileURLWithPath: library.newPath))
                #expect((image.range(of: Data("Book 1".utf8)) == nil) == (newKey != nil))
            }
            let new = library.directory + "/new.toft"
            func code(_ key: EncryptionKey?) -> ErrorCode? {
                do {
                    _ = try Database.salvage(
                        library.directory + "/damaged.toft", to: new, encryptionKey: key)
                    return nil
                } catch { return error.code }
            }
            #expect(code(nil) == .keyRequired)
            #expect(code(Keys.second) == .wrongKey)
            // One meta page is enough.
            let whole = library.image
            for slot in 0..<2 {
                library.image = whole
                library.image[slot * 4_096 + 100] ^= 1
                let (report, content) = try library.salvage(newKey: nil)
                #expect(!report.isComplete && content == library.content)
            }
            library.image[100] ^= 1
            do {
                _ = try library.salvage(newKey: nil)
                Issue.record("Without a meta page nobody knows what the key belongs to.")
            } catch let error as EngineError {
                #expect(error.code == .corrupt && error.message.contains("meta pages"), "\(error)")
            }
            #expect(try FileIdentity.ofFile(at: library.newPath) == nil)
            try Data(try Data(contentsOf: URL(fileURLWithPath: library.path))).write(
                to: URL(fileURLWithPath: library.directory + "/damaged.toft"))
            #expect(code(Keys.first) == .notEncrypted)
        }
    }

    @Test func `What is salvaged of an encrypted file that has lost pages is right`() throws {
        try withLibrary { library in
            try library.encrypt(Keys.first)
            let whole = library.image
            var seed = Seed.random()
            print("Lost pages: \(seed)")
            var losses = 0
            let step = library.pages / 7
            for page in stride(from: seed.below(step) + 2, to: library.pages, by: step) {
                library.image = whole
                library.image[page * 4_096 + seed.below(4_096)] ^= 1
                do {
                    let (report, content) = try library.salvage(newKey: Keys.second)
                    try library.expectKept(content, report)
                    if report.classes.contains(where: { ($0.missing ?? 0) > 0 }) { losses += 1 }
                } catch let error as EngineError {
                    #expect(error.code == .corrupt, "page \(page): \(error)")
                }
            }
            #expect(losses > 0)
        }
    }

    @Test func `Clusters of an encrypted file are found again without the node above them`() throws
    {
        try withLibrary { library in
            try library.encrypt(Keys.first)
            let whole = library.image
            var found = 0
            for page in 2..<library.pages where found == 0 {
                library.image = whole
                // The middle of a page: a node is refused, and its children are whole.
                library.image[page * 4_096 + 60] ^= 1
                guard let (report, content) = try? library.salvage(newKey: Keys.second) else {
                    continue
                }
                try library.expectKept(content, report)
                let books = try library.classReport("Book", report)
                // If the catalog is lost, the number of books is unknown.
                if books.unverified + books.older == Library.books, books.missing != nil {
                    found = books.unverified
                    #expect(books.missing == 0 && content == library.content)
                }
            }
            #expect(found > 0, "no page led to all clusters")
        }
    }

    @Test func `What the log of an encrypted file has is salvaged, up to where it is damaged`()
        throws
    {
        try withLibrary { library in
            try library.encrypt(Keys.first)
            try Library.opening(library.damagedPath, Keys.first) { session in
                let book = try session.classHandle(named: "Book")
                for number in 0..<10 {
                    try session.beginWrite()
                    try session.find(Value.int(5), in: book.id)?.set(
                        try book.property(named: "rank").id, Value.int(Int64(1_000 + number)))
                    try session.commit()
                }
                library.image = Array(
                    try Data(contentsOf: URL(fileURLWithPath: library.damagedPath)))
            }
            #expect(try library.salvage(newKey: nil).content["Book"]?[5]?["rank"] == .int(1_009))
            let frames = stride(from: 8_192, to: library.image.count - 512, by: 512).filter {
                Array(library.image[$0..<($0 + 4)]) == Array("TLOG".utf8)
                    && library.image[$0 + 4] == 1
            }
            let last = try #require(frames.suffix(3).first)
            library.image[last + 100] ^= 1
            let (report, content) = try library.salvage(newKey: nil)
            #expect(content["Book"]?[5]?["rank"] == .int(1_006), "\(report.problems)")
            #expect(!report.isComplete)
        }
    }

    @Test func `A program may refuse what was salvaged, and end a salvage`() throws {
        try withLibrary { library in
            func code(keeps: (SalvageReport) -> Bool) -> ErrorCode? {
                do {
                    _ = try Database.salvage(library.path, to: library.newPath, keeps: keeps)
                    return nil
                } catch { return error.code }
            }
            var told = 0
            let refused = code { report in
                told = report.classes.reduce(0) { $0 + $1.objects }
                return FileManager.default.fileExists(atPath: library.newPath)
            }
            #expect(refused == .interrupted)
            #expect(told == library.content.reduce(0) { $0 + $1.value.count })
            #expect(!FileManager.default.fileExists(atPath: library.newPath))
            var word: UInt32 = 1
            withUnsafePointer(to: &word) { word in
                let ended = InterruptProbe(word).watching { code { _ in true } }
                #expect(ended == .interrupted)
            }
            #expect(!FileManager.default.fileExists(atPath: library.newPath))
            let kept = code { _ in true }
            #expect(kept == nil)
        }
    }

    @Test func `Wrong paths and other files are refused, and nothing is made`() throws {
        try withLibrary { library in
            func code(_ path: String, _ newPath: String) -> ErrorCode? {
                do {
                    _ = try Database.salvage(path, to: newPath)
                    return nil
                } catch { return error.code }
            }
            let new = library.directory + "/new.toft"
            #expect(code(library.path, library.path) == .fileExists)
            #expect(code(library.directory + "/none.toft", new) == .fileNotFound)
            #expect(code(library.directory, new) == .isDirectory)
            #expect(code(library.path, library.directory + "/none/new.toft") == .fileNotFound)
            let other = library.directory + "/other"
            for (content, expected) in [
                ([], ErrorCode.notADatabase),
                (
                    Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 50_000),
                    .notADatabase
                ),
                ([UInt8](repeating: 0, count: 50_000), .notADatabase),
            ] {
                try Data(content).write(to: URL(fileURLWithPath: other))
                #expect(code(other, new) == expected)
            }
            // A newer format, rightly sealed.
            var newer = library.image
            for slot in 0..<2 {
                newer[slot * 4_096 + 8] = 99
                let page = slot * 4_096
                let sum = try newer.withUnsafeBytes { bytes throws in
                    Checksum.of(try #require(bytes.baseAddress) + page, count: 4_088)
                }
                let encoded = withUnsafeBytes(of: sum.littleEndian) { Array($0) }
                newer.replaceSubrange((page + 4_088)..<(page + 4_096), with: encoded)
            }
            try Data(newer).write(to: URL(fileURLWithPath: other))
            #expect(code(other, new) == .unsupportedFormat)
            // One that has its checksum elsewhere.
            for slot in 0..<2 { newer[slot * 4_096 + 4_088] ^= 1 }
            try Data(newer).write(to: URL(fileURLWithPath: other))
            #expect(code(other, new) == .unsupportedFormat)
            try Library.opening(library.path) { _ in
                #expect(code(library.path, new) == .alreadyOpen)
            }
            #expect(try FileIdentity.ofFile(at: new) == nil)
            #expect(code(library.path, new) == nil)
        }
    }

    private func withLibrary(_ body: (Library) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let library = try Library(directory)
            try body(library)
        }
    }
}

private enum Keys {
    static let first = key(1)
    static let second = key(2)

    private static func key(_ byte: UInt8) -> EncryptionKey? {
        [UInt8](repeating: byte, count: 64).withUnsafeBytes { try? EncryptionKey($0) }
    }
}

/// A database with all types, and an image of its file to be damaged.
private final class Library {
    typealias Content = [String: [Int64: [String: Value]]]

    let directory: String
    var path: String { directory + "/library.toft" }
    var newPath: String { directory + "/salvaged.toft" }
    var damagedPath: String { directory + "/damaged.toft" }
    /// The image's key.
    private var key: EncryptionKey?
    var image: [UInt8]
    /// The content of the undamaged file.
    var content: Content = [:]
    var pages: Int { image.count / 4_096 }

    static let books = 1_200
    static let authors = 40
    static let visits = 30

    static let schema = Schema([
        ClassSchema(
            "Book",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("flag", .bool),
                PropertySchema("rank", .int, isIndexed: true),
                PropertySchema("ratio", .float),
                PropertySchema("weight", .double, isOptional: true),
                PropertySchema("title", .string, isIndexed: true),
                PropertySchema("text", .string, isOptional: true),
                PropertySchema("cover", .data),
                PropertySchema("moment", .date),
                PropertySchema("token", .objectId),
                PropertySchema("code", .uuid),
                PropertySchema("price", .decimal128, isOptional: true),
                PropertySchema("any", .mixed),
                .link("author", to: "Author"),
                .link("note", to: "Note"),
                .links("sequels", to: "Book"),
                .links("remarks", to: "Note"),
                PropertySchema("scores", .int, collection: .list),
                PropertySchema("tags", .string, collection: .set),
                PropertySchema("counts", .int, collection: .dictionary, isOptional: true),
                PropertySchema("anything", .mixed, collection: .list),
                .linkingObjects("prequels", from: "Book", "sequels"),
            ], uniques: [["code"]]),
        ClassSchema("Author", [PropertySchema("name", .string)]),
        ClassSchema(
            "Note", isEmbedded: true,
            [PropertySchema("text", .string), .link("inner", to: "Note")]),
        ClassSchema(
            "Visit",
            [PropertySchema("number", .int, isPrimaryKey: true, isAutoIncremented: true)]),
    ])

    /// The sound file, made once.
    private static let sound = Result {
        try withTemporaryDirectory { directory in
            let path = directory + "/library.toft"
            let session = try Session.open(
                Configuration(location: .file(path: path), schema: schema, schemaVersion: 3))
            try fill(session)
            try session.close()
            let image = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            return (image: image, content: try read(path))
        }
    }

    init(_ directory: String) throws {
        self.directory = directory
        (image, content) = try Self.sound.get()
        try Data(image).write(to: URL(fileURLWithPath: path))
    }

    private static func fill(_ session: Session) throws {
        let book = try session.classHandle(named: "Book")
        let author = try session.classHandle(named: "Author")
        let note = try session.classHandle(named: "Note")
        let visit = try session.classHandle(named: "Visit")
        func id(_ name: String, _ owner: ClassHandle) throws -> PropertyID {
            try owner.property(named: name).id
        }
        try session.beginWrite()
        let writers = try (0..<authors).map { number in
            try session.create(author.id, [(try id("name", author), .string("Author \(number)"))])
        }
        var last: ObjectHandle?
        for _ in 0..<visits { last = try session.create(visit.id, []) }
        try last?.delete()
        var made: [ObjectHandle] = []
        for number in 0..<books {
            var random = Seed(UInt64(number))
            let whole = Int64(number)
            var values: [(String, Value)] = [
                ("id", .int(whole)), ("flag", .bool(number % 3 == 0)),
                ("rank", .int(whole % 17)), ("ratio", .float(Float(number) / 4)),
                ("title", .string("Book \(number)")),
                ("cover", .data(random.bytes(number % 40))),
                ("moment", .date(Timestamp(seconds: whole * 86_400, nanoseconds: Int32(number)))),
                ("token", .objectId(FixedBytes(high: random.next(), low: UInt64(number) << 32))),
                ("code", .uuid(FixedBytes(high: random.next(), low: random.next()))),
                ("author", .link(writers[number % authors].ref)),
            ]
            if number % 2 == 0 {
                values += [
                    ("weight", .double(Double(number) * 1.5)),
                    ("price", .decimal(Decimal128(Double(number) / 8))),
                    ("text", .string(String(repeating: "long ", count: number == 100 ? 2_000 : 9))),
                ]
            }
            if let previous = made.last {
                values.append(
                    number % 5 == 0
                        ? ("any", .list([.int(1), .link(previous.ref), .string("x")]))
                        : ("any", .link(previous.ref)))
            }
            let object = try session.create(
                book.id, try values.map { (try id($0.0, book), $0.1) })
            if number % 10 == 0 {
                let owned = try object.setEmbedded(
                    try id("note", book),
                    [(try note.property(named: "text").id, .string("note \(number)"))])
                _ = try owned.setEmbedded(
                    try id("inner", note),
                    [(try note.property(named: "text").id, .string("inner \(number)"))])
            }
            let scores = try object.list(try id("scores", book))
            for index in 0..<(number == 50 ? 900 : number % 4) {
                try scores.append(.int(Int64(index)))
            }
            if number > 3 {
                let sequels = try object.list(try id("sequels", book))
                try sequels.append(.link(made[number / 2].ref))
                try sequels.append(.link(made[number - 1].ref))
            }
            let tags = try object.collection(try id("tags", book), .set)
            for index in 0..<(number % 3) { _ = try tags.setInsert(.string("tag \(index)")) }
            let counts = try object.collection(try id("counts", book), .dictionary)
            for index in 0..<(number % 3) {
                try counts.dictionarySet("key \(index)", index == 1 ? .null : .int(whole))
            }
            let anything = try object.list(try id("anything", book))
            if number % 7 == 0 { try anything.append(.link(writers[3].ref)) }
            made.append(object)
        }
        try session.commit()
    }

    /// Makes the image that of an encrypted file, at the path of damaged ones.
    func encrypt(_ key: EncryptionKey?) throws {
        try Self.opening(path) { session in
            try? FileManager.default.removeItem(atPath: damagedPath)
            try session.writeCopy(to: damagedPath, encryptionKey: key)
        }
        image = Array(try Data(contentsOf: URL(fileURLWithPath: damagedPath)))
        self.key = key
    }

    static func opening(
        _ path: String, _ key: EncryptionKey? = nil, _ body: (Session) throws -> Void
    ) throws {
        var configuration = Configuration(location: .file(path: path), mode: .existing)
        configuration.encryptionKey = key
        let session = try Session.open(configuration)
        try body(session)
        try session.close()
    }

    /// Everything that a file holds.
    static func read(_ path: String, _ key: EncryptionKey? = nil) throws -> Content {
        var content: Content = [:]
        try opening(path, key) { session in
            #expect(try session.checkEverything().problems == [])
            for owner in session.schema.visibleClasses {
                content[owner.name] = [:]
                for key in try session.results(of: owner.id).keys() {
                    content[owner.name]?[key] = try values(session.handle(key, owner), owner)
                }
            }
        }
        return content
    }

    private static func values(_ object: ObjectHandle, _ owner: ClassHandle) throws -> [String:
        Value]
    {
        var values: [String: Value] = [:]
        for property in owner.properties where property.isStored {
            guard property.isCollection else {
                values[property.name] = try object.value(property.id)
                continue
            }
            let elements = try object.collection(property.id, property.collection)
            let all = try elements.values()
            values[property.name] =
                property.collection == .dictionary
                ? .dictionary(
                    zip(try elements.entryKeys(), all).map { ValueEntry(key: $0, value: $1) })
                : .list(all)
        }
        return values
    }

    // MARK: Salvage

    /// Writes the image to a file and salvages it, which leaves it as it is.
    func salvage(newKey: EncryptionKey? = nil) throws -> (
        report: SalvageReport, content: Content
    ) {
        try Data(image).write(to: URL(fileURLWithPath: damagedPath))
        try? FileManager.default.removeItem(atPath: newPath)
        let report = try Database.salvage(
            damagedPath, to: newPath, encryptionKey: key, newKey: newKey)
        #expect(try Data(contentsOf: URL(fileURLWithPath: damagedPath)) == Data(image))
        return (report, try Self.read(newPath, newKey))
    }

    func classReport(_ name: String, _ report: SalvageReport) throws -> SalvageReport.Class {
        try #require(report.classes.first { $0.name == name })
    }

    /// Every object that was salvaged is one that the file held; a value is its own, or was lost
    /// and counted. Links lead to salvaged objects.
    func expectKept(_ salvaged: Content, _ report: SalvageReport) throws {
        for (name, objects) in salvaged {
            let counts = try classReport(name, report)
            #expect(counts.objects == objects.count)
            if let missing = counts.missing {
                #expect(missing + objects.count + counts.dropped == content[name]?.count ?? 0)
            }
            for (key, object) in objects {
                guard let original = content[name]?[key] else {
                    Issue.record("'\(name)' has a new object \(key)")
                    continue
                }
                for (property, value) in object where value != original[property] {
                    let isLost =
                        counts.properties.contains { $0.name == property } && Self.isDefault(value)
                    let isCut = counts.cutLinks > 0 && isCut(value, original[property])
                    if !isLost && !isCut {
                        Issue.record("'\(name).\(property)' of \(key) is \(value)")
                    }
                }
            }
        }
    }

    private static func isDefault(_ value: Value) -> Bool {
        switch value {
        case .null, .bool(false), .int(0), .float(0), .double(0), .string(""), .data([]), .list([]),
            .dictionary([]):
            true
        case .date(let date): date.seconds == 0 && date.nanoseconds == 0
        case .uuid(let bytes), .objectId(let bytes): bytes == .zero
        case .decimal(let value): value.stored == .zero
        default: false
        }
    }

    private func isCut(_ value: Value, _ original: Value?) -> Bool {
        switch (value, original) {
        case (.null, .link): true
        case (.list(let now), .list(let was)): now.count <= was.count
        default: false
        }
    }

    // MARK: The image

    func word(_ offset: Int) -> UInt64 {
        image[offset..<(offset + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    struct Place {
        let page: Int
        var byteOffset: Int { page * 4_096 }
    }

    private func dump() throws -> FileDump {
        try Data(image).write(to: URL(fileURLWithPath: damagedPath))
        return try FileDump.read(damagedPath)
    }

    func root() throws -> Place { Place(page: Int(try #require(try dump().root).page.rawValue)) }

    func catalog() throws -> Place { Place(page: Int(word(try root().byteOffset + 48 + 24))) }

    func top(ofTree id: TreeID) throws -> Place {
        let tree = try #require(try dump().trees.first { $0.id == id })
        return Place(page: Int(tree.page.rawValue))
    }

    func top(of name: String) throws -> Place {
        var table: TreeID = 0
        try Self.opening(path) { table = try $0.classHandle(named: name).table }
        return try top(ofTree: table)
    }

    /// The clusters below a table's topmost node.
    func clusters(of name: String) -> [Place] {
        guard let top = try? top(of: name), image[top.byteOffset] == 7 else { return [] }
        let count = Int(word(top.byteOffset + 32) >> 16 & 0xFFFF)
        return (0..<count).map { Place(page: Int(word(top.byteOffset + 40 + $0 * 64))) }
    }
}
