// Tests: BulkDelete.swift, EntryTable.swift, Prefetch.swift, RowChanges.swift, TypedThrows.swift,
// WriteBuffer.swift, WriteBuffer+Entries.swift
import Testing
@testable import ToftModel
import ToftPlatform
import ToftStorage
import ToftTestKit

/// Crashes between the writes of transactions that delete embedded objects with their owners.
@Suite struct CascadeCrashTests {
    private static let classes = Schema([
        ClassSchema(
            "Owner",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                .link("part", to: "Part"), .links("parts", to: "Part"),
            ]),
        ClassSchema(
            "Part", isEmbedded: true,
            [
                PropertySchema("name", .string, isIndexed: true),
                .link("inner", to: "Part"), .links("parts", to: "Part"),
            ]),
        ClassSchema("Commit", [PropertySchema("number", .int)]),
    ])

    /// A database on a disk that records all that is written to it.
    private final class Recording {
        let file: RecordingFile
        let start: [PageContent]
        /// The content after each commit.
        private(set) var contents: [[String]] = []
        private let store: Store
        private let schema: ModelSchema
        private let buffer = WriteBuffer()
        private var numbers: Seed

        init(seed: UInt64, dirtyLimit: Int) throws {
            numbers = Seed(seed)
            let disk = MemoryFile(name: "cascades")
            try Store.format(disk)
            let store = try Store.open(
                on: WrappedFile(disk), coordinator: try Coordinator.inMemory())
            schema = try ModelSchema.open(store, declared: classes, version: 0)
            try store.close()
            file = RecordingFile(disk)
            self.store = try Store.open(
                on: file, coordinator: try Coordinator.inMemory(), dirtyLimit: dirtyLimit,
                firstLogPages: 8)
            start = [PageContent](cutting: try file.content())
            contents = [["0 parts"]]
        }

        func close() throws { try store.close() }

        /// Commits the changes of the body.
        func commit(_ body: (ModelTransaction, inout Seed) throws -> Void) throws {
            file.note(.transaction)
            let writing = try store.beginWrite()
            let transaction = ModelTransaction(
                writing, schema: try ModelSchema.read(writing.view, previous: schema),
                buffer: buffer)
            try body(transaction, &numbers)
            if contents.count == 1 { try transaction.create("Commit") }
            let counter = try transaction.view.keys(of: "Commit")[0]
            try transaction.set(counter, "Commit", "number", .int(Int64(contents.count)))
            contents.append(try content(transaction.view))
            file.note(.began(contents.count - 1))
            try transaction.commit()
            file.note(.acknowledged(contents.count - 1))
        }
    }

    /// Every owner with all that lives in it.
    private static func content(_ view: ModelView) throws -> [String] {
        func tree(_ value: Value) throws -> String {
            guard case .link(let part) = value else { return "-" }
            guard case .string(let name) = try view.value(part.key, "Part", "name") else {
                return "?"
            }
            let inner = try tree(view.value(part.key, "Part", "inner"))
            let parts = try view.values(part.key, "Part", "parts").map(tree)
            return "\(name)(\(inner) \(parts.joined(separator: " ")))"
        }
        return try view.keys(of: "Owner").map { owner in
            let part = try tree(view.value(owner, "Owner", "part"))
            let parts = try view.values(owner, "Owner", "parts").map(tree)
            return "\(owner): \(part) \(parts.joined(separator: " "))"
        } + ["\(try view.keys(of: "Part").count) parts"]
    }

    /// The number of the last commit.
    private static func number(_ view: ModelView) throws -> Int {
        guard let counter = try view.keys(of: "Commit").first,
            case .int(let number) = try view.value(counter, "Commit", "number")
        else { return 0 }
        return Int(number)
    }

    @Test(arguments: [48 << 20, 16 << 10])
    func `A crash leaves an owner with all that lives in it, or nothing of both`(dirtyLimit: Int)
        throws
    {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("seed \(seed)")
        let recording = try Recording(seed: seed, dirtyLimit: dirtyLimit)
        try recording.commit { transaction, numbers in
            for id in 0..<8 { try transaction.fill(try transaction.owner(id), &numbers) }
        }
        for round in 0..<6 {
            try recording.commit { transaction, numbers in
                let owners = try transaction.view.keys(of: "Owner")
                let (first, second, third) = (owners[0], owners[1], owners[2])
                try transaction.erase(first, "Owner")
                try transaction.set(second, "Owner", "part", .null)
                let parts = try transaction.property("Owner", "parts")
                try transaction.listErase(third, parts, at: 0)
                try transaction.fill(second, &numbers)
                try transaction.fill(try transaction.owner(100 + round), &numbers)
            }
        }
        try recording.commit { transaction, _ in
            for owner in try transaction.view.keys(of: "Owner") {
                try transaction.erase(owner, "Owner")
            }
        }
        try recording.close()
        #expect(recording.contents.last == ["0 parts"])

        let disk = ReplayFile()
        var (tried, chance) = (0, Seed(seed))
        var images = CrashImages(
            of: recording.file.events, from: recording.start, seed: seed, limits: .few
        ) { image throws in
            // One in six, as each takes tens of milliseconds.
            guard image.model != .lyingDisk, chance.chance(16) else { return }
            tried += 1
            try disk.load(image.pages)
            let store = try Store.open(
                on: WrappedFile(disk), coordinator: try Coordinator.inMemory())
            let schema = try ModelSchema.open(store, declared: Self.classes, version: 0)
            let view = try ModelView(try store.beginRead(), previous: schema)
            let number = try Self.number(view)
            let moment = "\(image.model.rawValue), event \(image.position), commit \(number)"
            #expect(
                (image.acknowledged...max(image.acknowledged, image.began)).contains(number),
                "\(moment)")
            #expect(try Self.content(view) == recording.contents[number], "\(moment)")
            #expect(try ModelCheck.run(view) == [], "\(moment)")
            view.snapshot.release()
            #expect(try store.check().problems == [], "\(moment)")
        }
        try images.enumerate()
        #expect(tried > 50)
    }
}

extension ModelView {
    fileprivate func keys(of className: String) throws -> [Int64] {
        let table = try table(schema.classHandle(named: className))
        return try (0..<table.rowCount).map { rank throws in try table.key(atRank: rank) }
    }
}

extension ModelTransaction {
    fileprivate func property(_ className: String, _ name: String) throws -> PropertyHandle {
        try view.schema.classHandle(named: className).property(named: name)
    }

    fileprivate func owner(_ id: Int) throws -> Int64 {
        try create("Owner", ["id": .int(Int64(id))])
    }

    /// Puts a part into the owner, with parts in it, and some at the end of its list.
    fileprivate func fill(_ owner: Int64, _ numbers: inout Seed) throws {
        var part = try named(setEmbedded(owner, try property("Owner", "part")), &numbers)
        let inner = try property("Part", "inner")
        for _ in 0..<3 {
            try appendParts(to: part, try property("Part", "parts"), &numbers)
            part = try named(setEmbedded(part, inner), &numbers)
        }
        try appendParts(to: owner, try property("Owner", "parts"), &numbers)
    }

    private func appendParts(to key: Int64, _ list: PropertyHandle, _ numbers: inout Seed) throws {
        for _ in 0..<3 {
            let end = try view.listCount(key, list)
            _ = try named(listInsertEmbedded(key, list, at: end), &numbers)
        }
    }

    private func named(_ part: Int64, _ numbers: inout Seed) throws -> Int64 {
        let name = String(repeating: "n", count: numbers.below(80)) + "\(numbers.below(1000))"
        try set(part, "Part", "name", .string(name))
        return part
    }
}
