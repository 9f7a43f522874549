// Tests: ToftEngine/Migration.swift
import Testing
import ToftModel
import ToftPlatform
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// Crashes between the writes of openings that migrate: the file has the old schema with the old
/// values, or the new one with the new ones.
@Suite struct MigrationCrashTests {
    /// 1: a name. 2: also points, with defaults, indexed. 3: points are texts. 4: names are called
    /// titles, and are the primary key. 5: all are removed.
    private static func schema(_ version: Int) -> Schema {
        var properties = [PropertySchema("name", .string)]
        if version >= 4 { properties = [PropertySchema("title", .string, isPrimaryKey: true)] }
        if version == 2 { properties.append(PropertySchema("points", .int, isIndexed: true)) }
        if version > 2 { properties.append(PropertySchema("points", .string)) }
        let person = ClassSchema("Person", properties)
        let other = ClassSchema("Other", [PropertySchema("x", .int)])
        return Schema(version < 5 ? [person, other] : [other])
    }

    private static func configuration(_ version: Int) -> Configuration {
        var configuration = Configuration(
            location: .memory(name: "not looked at"), schema: schema(version),
            schemaVersion: UInt64(version))
        configuration.defaults = { _, _, use throws(ModelError) in
            try use(version == 2 ? .int(7) : .string(UnsafeRawBufferPointer(start: nil, count: 0)))
            return true
        }
        configuration.migration = { migration throws(EngineError) in
            if version == 4 { try migration.renameProperty("Person", "name", to: "title") }
            if version == 5 { try migration.deleteData("Person") }
            guard version == 3 else { return }
            let was = try migration.old.classHandle(named: "Person")
            let now = try migration.new().classHandle(named: "Person")
            let (old, new) = try model { () throws(ModelError) in
                (try was.property(named: "points").id, try now.property(named: "points").id)
            }
            try migration.enumerate("Person") { before, after throws(EngineError) in
                guard let before, let after else { return }
                try after.set(new, Value.string("\(try before.value(old))"))
            }
        }
        return configuration
    }

    /// The schema and all values, as text.
    private static func content(_ session: Session) throws -> [String] {
        var lines: [String] = []
        for owner in session.schema.visibleClasses {
            let properties = owner.visibleProperties.sorted { $0.name < $1.name }
            lines.append("\(owner.name) \(properties.map { "\($0.name) \($0.typeName)" })")
            let results = try session.results(of: owner.id)
            for index in 0..<(try results.count) {
                let object = try results.object(at: index)
                lines.append("\(try properties.map { "\(try object.value($0.id))" })")
            }
        }
        return lines
    }

    /// 600 people of version 1.
    private static func fill(_ memory: MemoryFile) throws -> [String] {
        let store = try Store.open(
            on: WrappedFile(memory), coordinator: try Coordinator.inMemory())
        let session = try Session.open(on: store, configuration(1))
        try session.beginWrite()
        let person = try session.classHandle(named: "Person")
        let name = try model { () throws(ModelError) in try person.property(named: "name").id }
        for number in 0..<600 {
            let text = String(repeating: "n", count: number % 50) + "\(number)"
            try session.create(person.id, [(name, .string(text))])
        }
        try session.commit()
        let content = try content(session)
        try session.close()
        try store.close()
        return content
    }

    @Test(arguments: [48 << 20, 16 << 10])
    func `A crash leaves the old schema with its values, or the new one`(dirtyLimit: Int) throws {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("seed \(seed)")
        let memory = MemoryFile(name: "migrations")
        try Store.format(memory)
        var contents = [[], try Self.fill(memory)]
        let file = RecordingFile(memory)
        let start = [PageContent](cutting: try file.content())
        let store = try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), dirtyLimit: dirtyLimit,
            firstLogPages: 8)
        for version in 2...5 {
            file.note(.transaction)
            file.note(.began(version))
            let session = try Session.open(on: store, Self.configuration(version))
            file.note(.acknowledged(version))
            contents.append(try Self.content(session))
            #expect(try session.checkEverything().problems == [])
            try session.close()
        }
        try store.close()
        #expect(contents.map(\.count) == [0, 602, 602, 602, 602, 1])
        #expect(Set(contents).count == contents.count)

        let disk = ReplayFile()
        var (tried, chance) = (0, Seed(seed))
        var images = CrashImages(
            of: file.events, from: start, seed: seed, limits: .few
        ) { image throws in
            guard image.model != .lyingDisk, chance.chance(30) else { return }
            tried += 1
            try disk.load(image.pages)
            let store = try Store.open(
                on: WrappedFile(disk), coordinator: try Coordinator.inMemory())
            let session = try Session.open(
                on: store, Configuration(location: .memory(name: "not looked at")))
            let version = Int(try session.schemaVersion)
            let moment = "\(image.model.rawValue), event \(image.position), version \(version)"
            let least = max(1, image.acknowledged)
            #expect((least...max(least, image.began)).contains(version), "\(moment)")
            #expect(try Self.content(session) == contents[version], "\(moment)")
            #expect(try session.checkEverything().problems == [], "\(moment)")
            try session.close()
            try store.close()
        }
        try images.enumerate()
        #expect(tried > 30)
    }
}
