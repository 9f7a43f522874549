import Testing
import ToftModel
import ToftPlatform
import ToftTestKit
@testable import ToftEngine
@testable import ToftStorage

/// What a session holds in memory of a file that is buffered, as an encrypted one is.
@Suite struct MemoryTests {
    private static let keptPages = 200

    private static func text(_ number: Int) -> String {
        "\(number) " + String(repeating: "n", count: 300)
    }

    @Test(arguments: [false, true])
    func `A refresh gives back what was read, where that is much`(isEncrypted: Bool) throws {
        let bytes = [UInt8](0..<64)
        let key = try bytes.withUnsafeBytes { try EncryptionKey($0) }
        let memory = MemoryFile(name: "memory")
        try Store.format(memory, encryptionKey: isEncrypted ? key : nil)
        let store = try Store.open(
            on: WrappedFile(memory), coordinator: try Coordinator.inMemory(), isBuffered: true,
            encryptionKey: isEncrypted ? key : nil, keptBytes: Self.keptPages * Page.size)
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

        /// Reads everything, with a refresh after so many objects. Returns how many pages were in
        /// memory at most.
        func read(refreshing step: Int?) throws -> Int {
            var most = 0
            for number in 0..<10_000 {
                if let step, number % step == 0 { #expect(try !session.refresh()) }
                #expect(try notes.object(at: number).value(text) == .string(Self.text(number)))
                most = max(most, session.base.snapshot.pages.file.bufferedPages)
            }
            return most
        }
        #expect(try read(refreshing: nil) > 3 * Self.keptPages)
        for _ in 0..<2 { #expect(try read(refreshing: 500) < 2 * Self.keptPages) }
        #expect(try session.version == version)
        #expect(try first.value(text) == .string(Self.text(0)))

        // Where little was read, the realm stays where it is.
        try session.refresh()
        while session.base.snapshot.fillsMemory { try session.refresh() }
        _ = try notes.object(at: 5_000).value(text)
        let before = session.base
        #expect(try !session.refresh())
        #expect(session.base === before)

        // What is frozen keeps what it reads, and nobody else loses by it.
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
