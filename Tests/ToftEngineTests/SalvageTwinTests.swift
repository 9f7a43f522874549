// Tests: SalvageReport.swift
import Foundation
import Testing
import ToftModel
import ToftTestKit

@testable import ToftEngine
@testable import ToftStorage

/// A plain and an encrypted file of the same commits, damaged at the same places: the salvaged
/// contents are compared with each other and with the written content.
@Suite struct SalvageTwinTests {
    @Test func `Objects of an encrypted file stay what they are where a cluster is damaged`() throws
    {
        try withTwins(onlyGrowing: true) { plain, encrypted in
            // The salvage searches older versions for the cluster's content, and their pages are in
            // use again.
            var damaged = 0
            for offset in try plain.clusters() where damaged < 4 {
                let kept = try plain.salvage(flipping: offset + 1_000)
                // Damage to free pages does not count.
                if kept.report.isComplete { continue }
                damaged += 1
                let salvaged = try encrypted.salvage(flipping: offset + 1_000)
                try encrypted.expectTrue(salvaged, "cluster at \(offset)")
                Self.expectNoLess(salvaged, than: kept, "cluster at \(offset)")
            }
        }
    }

    @Test func `A flipped bit or a lost page costs an encrypted file one extent more at most`()
        throws
    {
        var seed = Seed.random()
        print("Damage: \(seed)")
        try withTwins { plain, encrypted in
            #expect(plain.sound.count == encrypted.sound.count)
            let pages = min(plain.sound.count, encrypted.sound.count) / Page.size
            for page in stride(from: seed.below(11), to: pages, by: 11) {
                let offset = page * Page.size + seed.below(Page.size)
                let isLost = seed.chance(30)
                var kept: Salvaged?, salvaged: Salvaged?
                let what =
                    "page \(page), \(isLost ? "lost" : "byte \(offset % Page.size)"), \(seed)"
                for twin in [plain, encrypted] {
                    let found =
                        try isLost
                        ? twin.salvage(losing: page)
                        : twin.salvage(flipping: offset, bit: UInt8(page % 8))
                    try twin.expectTrue(found, what)
                    if twin.key == nil { kept = found } else { salvaged = found }
                }
                Self.expectNoLess(try #require(salvaged), than: try #require(kept), what)
            }
        }
    }

    @Test func `No single page takes all with it, not even the schema's`() throws {
        try withTwins { plain, encrypted in
            for twin in [plain, encrypted] {
                // The first pages behind the metas are the first versions'.
                for page in 2..<24 {
                    let found = try twin.salvage(losing: page)
                    try twin.expectTrue(found, "page \(page)")
                    #expect(found.objects.count > twin.count / 2, "page \(page)")
                    #expect(!found.report.isSchemaUnverified, "page \(page)")
                }
            }
        }
    }

    @Test func `Without both metas a plain file is salvaged, and an encrypted one is damaged`()
        throws
    {
        try withTwins { plain, encrypted in
            for twin in [plain, encrypted] {
                for metas in [Self.zeros, twin.sound[..<(2 * Page.size)].map { $0 ^ 1 }] {
                    twin.image = metas + twin.sound[(2 * Page.size)...]
                    #expect(twin.code(Twin.key) == (twin.key == nil ? .notEncrypted : .corrupt))
                    #expect(twin.code(nil) == (twin.key == nil ? nil : .corrupt))
                }
                // The magic is there, and nothing else is right.
                twin.image = twin.sound
                for slot in 0..<2 { twin.image[slot * Page.size + 100] ^= 1 }
                #expect(twin.code(Twin.key) == (twin.key == nil ? .notEncrypted : .corrupt))
                #expect(twin.code(nil) == (twin.key == nil ? nil : .corrupt))
            }
        }
    }

    @Test(arguments: [false, true])
    func `Objects of one class never come back as another one's with the same columns`(
        isEncrypted: Bool
    ) throws {
        let names = ["Apple", "Pear"], key = isEncrypted ? Twin.key : nil
        let schema = Schema(
            names.map { name in
                ClassSchema(
                    name,
                    [
                        PropertySchema("id", .int, isPrimaryKey: true),
                        PropertySchema("name", .string, isIndexed: true),
                        .link("other", to: name),
                        PropertySchema("tags", .string, collection: .list),
                        PropertySchema("data", .data),
                    ])
            })
        try withTemporaryDirectory { directory in
            var image: [UInt8] = []
            try Self.open(directory + "/fruit", schema, key) { session in
                for name in names {
                    for step in 0..<10 { try Self.fill(name, step * 100, in: session) }
                }
                // Clusters of the first class are rewritten; older versions keep theirs.
                let apple = try session.classHandle(named: "Apple")
                let other = try apple.property(named: "other").id
                let keys = try session.results(of: apple.id).keys()
                try session.beginWrite()
                for key in keys {
                    try session.handle(key, apple).set(
                        other, Value.link(ObjectRef(classID: apple.id, key: keys[0])))
                }
                try session.commit()
                // The image after a crash.
                image = Array(try Data(contentsOf: URL(fileURLWithPath: directory + "/fruit")))
            }
            var salvages = 0
            for pages in stride(from: image.count / Page.size, to: 60, by: -53) {
                try Data(image[..<(pages * Page.size)]).write(
                    to: URL(fileURLWithPath: directory + "/cut"))
                try? FileManager.default.removeItem(atPath: directory + "/new")
                do {
                    _ = try Database.salvage(
                        directory + "/cut", to: directory + "/new", encryptionKey: key, newKey: nil)
                } catch { continue }
                salvages += 1
                try Self.open(directory + "/new", schema, nil) { session in
                    for name in names {
                        let owner = try session.classHandle(named: name)
                        let property = try owner.property(named: "name").id
                        let wrong = try session.results(of: owner.id).keys().filter { key in
                            guard
                                case .string(let text) = try session.handle(key, owner)
                                    .value(property)
                            else { return true }
                            return !text.hasPrefix(name)
                        }
                        #expect(wrong.isEmpty, "\(pages) pages: \(wrong.count) of \(name)")
                    }
                }
            }
            #expect(salvages > 3)
        }
    }

    private static func open(
        _ path: String, _ schema: Schema, _ key: EncryptionKey?, _ body: (Session) throws -> Void
    ) throws {
        var configuration = Configuration(location: .file(path: path), schema: schema)
        configuration.encryptionKey = key
        let session = try Session.open(configuration)
        try body(session)
        #expect(try session.checkEverything().problems == [])
        try session.close()
    }

    /// One commit of 100 objects.
    private static func fill(_ name: String, _ first: Int, in session: Session) throws {
        let owner = try session.classHandle(named: name)
        let ids = try ["id", "name", "data"].map { try owner.property(named: $0).id }
        let tags = try owner.property(named: "tags").id
        try session.beginWrite()
        for number in first..<first + 100 {
            let object = try session.create(
                owner.id,
                [
                    (ids[0], .int(Int64(number))), (ids[1], .string("\(name) \(number)")),
                    (ids[2], .data([UInt8](repeating: UInt8(number % 256), count: number % 900))),
                ])
            try object.collection(tags, .list).append(.string("tag \(number)"))
        }
        try session.commit()
    }

    private static let zeros = [UInt8](repeating: 0, count: 2 * Page.size)

    private func withTwins(onlyGrowing: Bool = false, _ body: (Twin, Twin) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            try body(
                Twin(directory + "/plain", nil, onlyGrowing),
                Twin(directory + "/encrypted", Twin.key, onlyGrowing))
        }
    }

    /// An encrypted extent is lost as a whole; a plain one has lost a page.
    private static func expectNoLess(_ salvaged: Salvaged, than plain: Salvaged, _ what: String) {
        let lost = plain.objects.keys.filter { salvaged.objects[$0] == nil }
        #expect(lost.count <= ClusterLimits.rows, "\(what): \(lost.count) more are lost")
    }
}

/// The result of salvaging a file.
private struct Salvaged {
    let report: SalvageReport
    let objects: [Int64: [String: Value]]
}

/// A file with several versions whose pages were in use before.
private final class Twin {
    let count: Int
    private static let changed = 40

    /// The key of encrypted files.
    static let key = try? EncryptionKey([UInt8](0..<64))

    private static let schema = Schema([
        ClassSchema(
            "Item",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("rank", .int),
                PropertySchema("data", .data),
                PropertySchema("note", .string, isOptional: true),
            ])
    ])

    let key: EncryptionKey?
    private let path: String
    let sound: [UInt8]
    /// To be damaged.
    var image: [UInt8]
    /// The values that each object has had, by its primary key; the last are the newest version's.
    private var history: [Int64: [[String: Value]]] = [:]

    init(_ path: String, _ key: EncryptionKey?, _ onlyGrowing: Bool) throws {
        let step = onlyGrowing ? 500 : 200
        count = step * (onlyGrowing ? 12 : 8)
        self.path = path
        self.key = key
        var history: [Int64: [[String: Value]]] = [:]
        let session = try Self.open(path, key)
        for first in stride(from: 0, to: count, by: step) {
            try Self.write(first..<first + step, to: session, &history, onlyGrowing)
        }
        try session.close()
        self.history = history
        sound = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        image = sound
    }

    private static func open(_ path: String, _ key: EncryptionKey?) throws -> Session {
        var configuration = Configuration(location: .file(path: path), schema: schema)
        configuration.encryptionKey = key
        return try Session.open(configuration)
    }

    /// One commit: new objects, and another rank for some that are there.
    private static func write(
        _ numbers: Range<Int>, to session: Session, _ history: inout [Int64: [[String: Value]]],
        _ onlyGrowing: Bool
    ) throws {
        let item = try session.classHandle(named: "Item")
        try session.beginWrite()
        for number in numbers {
            let values = values(number)
            _ = try session.create(
                item.id, try values.map { (try item.property(named: $0).id, $1) })
            history[Int64(number)] = [values]
        }
        if onlyGrowing {
            try session.commit()
            return
        }
        let rank = try item.property(named: "rank").id, first = numbers.lowerBound
        for number in stride(from: 7, to: first, by: max(1, first / changed)) {
            guard var values = history[Int64(number)]?.last else { continue }
            values["rank"] = .int(Int64(1_000_000 + first))
            try session.find(Value.int(Int64(number)), in: item.id)?.set(
                rank, Value.int(Int64(1_000_000 + first)))
            history[Int64(number)]?.append(values)
        }
        try session.commit()
        // The next commit may use the pages that this one has freed.
        try session.flush()
    }

    private static func values(_ number: Int) -> [String: Value] {
        let note =
            number % 300 == 5 ? String(repeating: "long \(number) ", count: 900) : "\(number)"
        return [
            "id": .int(Int64(number)), "rank": .int(Int64(number % 50)),
            "data": .data(Array(repeatElement(Array("\(number)".utf8), count: 20).joined())),
            "note": number % 3 == 0 ? .null : .string(note),
        ]
    }

    /// The offsets of the class's clusters, in a plain file.
    func clusters() throws -> [Int] {
        stride(from: 2 * Page.size, to: sound.count, by: Page.size).filter {
            sound[$0] == ExtentType.cluster.rawValue
        }
    }

    // MARK: Salvage

    func salvage(flipping offset: Int, bit: UInt8 = 0) throws -> Salvaged {
        image = sound
        image[offset] ^= 1 << bit
        return try salvage()
    }

    func salvage(losing page: Int) throws -> Salvaged {
        image = sound
        image.replaceSubrange(
            page * Page.size..<(page + 1) * Page.size, with: repeatElement(0, count: Page.size))
        return try salvage()
    }

    private func salvage() throws -> Salvaged {
        let report = try salvage(key)
        let session = try Self.open(path + ".new", key)
        #expect(try session.checkEverything().problems == [])
        let item = try session.classHandle(named: "Item")
        var objects: [Int64: [String: Value]] = [:]
        for key in try session.results(of: item.id).keys() {
            let object = session.handle(key, item)
            var values: [String: Value] = [:]
            for property in item.properties {
                values[property.name] = try object.value(property.id)
            }
            guard case .int(let id)? = values["id"] else { continue }
            objects[id] = values
        }
        try session.close()
        return Salvaged(report: report, objects: objects)
    }

    private func salvage(_ key: EncryptionKey?) throws -> SalvageReport {
        try Data(image).write(to: URL(fileURLWithPath: path + ".damaged"))
        try? FileManager.default.removeItem(atPath: path + ".new")
        return try Database.salvage(
            path + ".damaged", to: path + ".new", encryptionKey: key, newKey: self.key)
    }

    /// The error of the image's salvage.
    func code(_ key: EncryptionKey?) -> ErrorCode? {
        do {
            _ = try salvage(key)
            return nil
        } catch { return (error as? EngineError)?.code }
    }

    /// Nothing was made up: every object is one that there was, with its values but for those that
    /// are counted as lost, and all others are counted.
    func expectTrue(_ salvaged: Salvaged, _ what: String) throws {
        let report = try #require(salvaged.report.classes.first)
        #expect(report.objects == salvaged.objects.count, "\(what)")
        if let missing = report.missing {
            #expect(missing + report.objects + report.dropped == count, "\(what)")
        }
        if key != nil { #expect(report.dropped == 0, "\(what)") }
        var lost: [String: Int] = [:], olds = 0
        for (id, values) in salvaged.objects {
            let all = history[id] ?? []
            if all.last != values, all.contains(values) { olds += 1 }
            if all.contains(values) { continue }
            guard
                let nearest = all.last(where: { old in
                    values.allSatisfy { old[$0] == $1 || Self.isDefault($1) }
                })
            else {
                Issue.record("\(what): the object \(id) is \(values)")
                continue
            }
            for (name, value) in values where nearest[name] != value { lost[name, default: 0] += 1 }
        }
        #expect(olds <= report.older + report.unverified, "\(what)")
        for (name, count) in lost {
            let told = report.properties.first { $0.name == name }?.lost ?? 0
            #expect(count <= told, "\(what): \(name)")
        }
    }

    private static func isDefault(_ value: Value) -> Bool {
        [.null, .int(0), .data([]), .string("")].contains(value)
    }
}
