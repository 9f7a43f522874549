// Tests: StorageFile.swift, FutexLock.swift, FutexMutex.swift
import Testing
import ToftModel
import ToftPlatform
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// Crashes between the writes of an opening that fills a new file: it has no classes, and is filled
/// by the next opening, or it has all.
@Suite struct InitializationCrashTests {
    private static let schema = Schema([
        ClassSchema(
            "Person",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("name", .string, isIndexed: true),
                .link("boss", to: "Person"),
                PropertySchema("notes", .string, collection: .list),
            ]),
        ClassSchema("Other", [PropertySchema("x", .int)]),
    ])

    /// The number of calls of the handler.
    private final class Calls: Sendable {
        private let number = FutexMutex<Int>(0)
        var count: Int { number.withLock { $0 } }
        func note() { number.withLock { $0 += 1 } }
    }

    /// The configuration of a file; the handler creates `count` people.
    private static func configuration(_ count: Int, _ calls: Calls) -> Configuration {
        var configuration = Configuration(
            location: .memory(name: "not looked at"), schema: schema, schemaVersion: 3)
        configuration.initialize = { (session: Session) throws(EngineError) in
            calls.note()
            let person = try session.classHandle(named: "Person")
            func id(_ name: String) throws(EngineError) -> PropertyID {
                try model { () throws(ModelError) in try person.property(named: name).id }
            }
            let (number, name, boss) = (try id("id"), try id("name"), try id("boss"))
            let notes = try id("notes")
            var last = Value.null
            for index in 0..<count {
                let text = String(repeating: "n", count: index % 50) + "\(index)"
                let made = try session.create(
                    person.id,
                    [(number, .int(Int64(index))), (name, .string(text)), (boss, last)])
                try made.list(notes).append(.string("of \(text)"))
                last = .link(made.ref)
            }
        }
        return configuration
    }

    /// The classes and all values, as text.
    private static func content(_ session: Session) throws -> [String] {
        var lines: [String] = []
        for owner in session.schema.visibleClasses.sorted(by: { $0.name < $1.name }) {
            lines.append("\(owner.name) \(owner.visibleProperties.map(\.name).sorted())")
            let results = try session.results(of: owner.id)
            for index in 0..<(try results.count) {
                let object = try results.object(at: index)
                for property in owner.visibleProperties where property.isStored {
                    guard property.collection == .list else {
                        lines.append("\(try object.value(property.id))")
                        continue
                    }
                    let list = try object.list(property.id)
                    for place in 0..<(try list.count) {
                        lines.append("\(try list.value(at: place))")
                    }
                }
            }
        }
        return lines
    }

    private static let key: [UInt8] = (0..<64).map { $0 }

    private static func open(
        _ file: any StorageFile, isEncrypted: Bool, dirtyLimit: Int = 48 << 20
    ) throws -> Store {
        try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), dirtyLimit: dirtyLimit,
            firstLogPages: 8, encryptionKey: try key(isEncrypted))
    }

    private static func key(_ isEncrypted: Bool) throws -> EncryptionKey? {
        guard isEncrypted else { return nil }
        return try key.withUnsafeBytes { try EncryptionKey($0) }
    }

    /// The number of people, the memory limit of the transaction, whether the file is encrypted,
    /// and the fraction of images to open: one in this many.
    @Test(arguments: [
        (0, 48 << 20, false, 1), (1, 48 << 20, false, 1), (1, 48 << 20, true, 1),
        (300, 48 << 20, false, 2), (300, 16 << 10, false, 8), (300, 16 << 10, true, 8),
    ])
    func `A crash leaves a file without classes, or one that is filled`(
        count: Int, dirtyLimit: Int, isEncrypted: Bool, oneOf: Int
    ) throws {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("seed \(seed)")
        let memory = MemoryFile(name: "initialized")
        try Store.format(memory, encryptionKey: try Self.key(isEncrypted))
        let file = RecordingFile(memory)
        let start = [PageContent](cutting: try file.content())
        let calls = Calls()
        let store = try Self.open(file, isEncrypted: isEncrypted, dirtyLimit: dirtyLimit)
        file.note(.transaction)
        file.note(.began(1))
        let session = try Session.open(on: store, Self.configuration(count, calls))
        file.note(.acknowledged(1))
        let whole = try Self.content(session)
        #expect(whole.count == 2 + 5 * count - count)
        #expect(calls.count == 1)
        try session.close()
        try store.close()

        let disk = ReplayFile()
        var (empty, filled, number) = (0, 0, Int(seed % UInt64(oneOf)))
        var images = CrashImages(
            of: file.events, from: start, seed: seed, limits: .few
        ) { image throws in
            number += 1
            guard image.model != .lyingDisk, number % oneOf == 0 else { return }
            try disk.load(image.pages)
            let moment = "\(image.model.rawValue), event \(image.position)"
            let store = try Self.open(WrappedFile(disk), isEncrypted: isEncrypted)
            let reader = try Session.open(
                on: store, Configuration(location: .memory(name: "not looked at")))
            let found = try Self.content(reader)
            try reader.close()
            if found.isEmpty {
                empty += 1
                #expect(image.acknowledged == 0, "\(moment)")
            } else {
                filled += 1
                #expect(image.began == 1, "\(moment)")
                #expect(found == whole, "\(moment)")
            }
            let calls = Calls()
            let session = try Session.open(on: store, Self.configuration(count, calls))
            #expect(calls.count == (found.isEmpty ? 1 : 0), "\(moment)")
            #expect(try Self.content(session) == whole, "\(moment)")
            #expect(try session.schemaVersion == 3, "\(moment)")
            #expect(try session.checkEverything().problems == [], "\(moment)")
            try session.close()
            try store.close()
        }
        try images.enumerate()
        print("\(count) people: \(empty) images without classes, \(filled) filled")
        #expect(empty > 3 && filled > 3)
    }
}
