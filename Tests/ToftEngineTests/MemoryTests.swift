// Tests: Session+Database.swift
import Testing
import ToftModel
import ToftPlatform
import ToftTestKit
@testable import ToftEngine
@testable import ToftStorage

/// A session's memory of a buffered file, as an encrypted one is.
@Suite struct MemoryTests {
    private static let keptPages = 200

    private static func text(_ number: Int) -> String {
        "\(number) " + String(repeating: "n", count: 300)
    }

    /// One call reads more than memory is to hold: afterwards memory has as much as before the
    /// call, and the rest was released meanwhile.
    @Test func `Calls that read all of an encrypted file do not keep it in memory`() throws {
        let key = try [UInt8](0..<64).withUnsafeBytes { try EncryptionKey($0) }
        let memory = MemoryFile(name: "memory")
        try Store.format(memory, encryptionKey: key)
        func open() throws -> Store {
            try Store.open(
                on: WrappedFile(memory), coordinator: try Coordinator.inMemory(),
                encryptionKey: key, cacheLimit: Self.keptPages * Page.size)
        }
        var configuration = Configuration(
            location: .memory(name: "not looked at"),
            schema: Schema([ClassSchema("Note", [PropertySchema("text", .string)])]),
            schemaVersion: 1)
        let long = String(repeating: "long ", count: 4_000)
        let filling = try open()
        let filler = try Session.open(on: filling, configuration)
        let note = try filler.classHandle(named: "Note")
        let text = try model { () throws(ModelError) in try note.property(named: "text").id }
        try filler.beginWrite()
        for number in 0..<400 { try filler.create(note.id, [(text, .string("\(number) " + long))]) }
        try filler.commit()
        try filler.close()
        try filling.close()

        let store = try open()
        let session = try Session.open(on: store, configuration)
        @Sendable func expectLittle(_ call: String) {
            #expect(store.cache.filledPages < 2 * Self.keptPages, "\(call)")
        }
        let notes = try session.results(of: note.id)
        for _ in 0..<2 {
            #expect(try notes.filter("text CONTAINS 'short' OR text BEGINSWITH '399 '").count == 1)
            expectLittle("a count")
            #expect(try notes.filter("text CONTAINS 'short' OR text BEGINSWITH '7 '").keys() == [7])
            expectLittle("a query")
        }
        #expect(try session.checkEverything().problems == [])
        expectLittle("a check")
        try withTemporaryDatabase { file in
            try session.writeCopy(to: file.path)
            expectLittle("a copy")
        }
        #expect(try notes.object(at: 399).value(text) == .string("399 " + long))
        try session.close()

        configuration.schemaVersion = 2
        configuration.schema = Schema([ClassSchema("Note", [PropertySchema("text", .data)])])
        configuration.migration = { migration throws(EngineError) in
            var kept: [ObjectHandle] = []
            try migration.enumerate("Note") { old, new throws(EngineError) in
                guard let old, let new, case .string(let value) = try old.value(text) else {
                    return
                }
                let data = try model { () throws(ModelError) in
                    try new.owner.property(named: "text").id
                }
                try new.set(data, .data(Array(value.utf8.prefix(8))))
                kept.append(old)
                expectLittle("a migration")
            }
            // Objects that were kept still show the old values.
            #expect(try kept.first?.value(text) == .string("0 " + long))
            #expect(try kept.last?.value(text) == .string("399 " + long))
        }
        let migrated = try Session.open(on: store, configuration)
        #expect(try migrated.count(of: note.id) == 400)
        #expect(try migrated.checkEverything().problems == [])
        try migrated.close()
        try store.close()
    }

    @Test(arguments: [false, true])
    func `A refresh gives back what was read, where that is much`(isEncrypted: Bool) throws {
        let bytes = [UInt8](0..<64)
        let key = try bytes.withUnsafeBytes { try EncryptionKey($0) }
        let memory = MemoryFile(name: "memory")
        try Store.format(memory, encryptionKey: isEncrypted ? key : nil)
        let store = try Store.open(
            on: WrappedFile(memory), coordinator: try Coordinator.inMemory(), isBuffered: true,
            encryptionKey: isEncrypted ? key : nil, cacheLimit: Self.keptPages * Page.size)
        let configuration = Configuration(
            location: .memory(name: "not looked at"),
            schema: Schema([ClassSchema("Note", [PropertySchema("text", .string)])]))
        let session = try Session.open(on: store, configuration)
        let note = try session.classHandle(named: "Note")
        let text = try model { () throws(ModelError) in try note.property(named: "text").id }
        try session.beginWrite()
        for number in 0..<10_000 {
            try session.create(note.id, [(text, .string(Self.text(number)))])
        }
        try session.commit()
        let version = try session.version
        let notes = try session.results(of: note.id)
        let first = try notes.object(at: 0)

        /// Reads everything, with a refresh after every `step` objects. Returns the most pages that
        /// were in memory.
        func read(refreshing step: Int?) throws -> Int {
            var most = 0
            for number in 0..<10_000 {
                if let step, number % step == 0 { #expect(try !session.refresh()) }
                #expect(try notes.object(at: number).value(text) == .string(Self.text(number)))
                most = max(most, session.base.snapshot.pages.cache.filledPages)
            }
            return most
        }
        #expect(try read(refreshing: nil) > 3 * Self.keptPages)
        for _ in 0..<2 { #expect(try read(refreshing: 500) < 2 * Self.keptPages) }
        #expect(try session.version == version)
        #expect(try first.value(text) == .string(Self.text(0)))

        // If little was read, the realm keeps its version.
        try session.refresh()
        while session.base.snapshot.fillsMemory { try session.refresh() }
        _ = try notes.object(at: 5_000).value(text)
        let before = session.base
        #expect(try !session.refresh())
        #expect(session.base === before)

        // A frozen realm keeps the pages that it reads, at no cost to others.
        let frozen = try session.frozen()
        #expect(try !frozen.refresh())
        #expect(try read(refreshing: 500) < 2 * Self.keptPages)
        #expect(try frozen.results(of: note.id).count == 10_000)
        #expect(try session.checkEverything().problems == [])
        try frozen.close()
        try session.close()
        try store.close()
    }
}
