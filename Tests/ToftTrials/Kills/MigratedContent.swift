internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// A database that is made by the callback for a new one and then moves from one schema version to
/// the next. Its content follows from the version: numbers if it is even, the same as texts if it
/// is odd, and a class whose name has the version, with one object that has it too.
enum MigratedContent {
    private static let count: Int64 = 200
    private static let first: UInt64 = 2

    private static func schema(_ version: UInt64) -> Schema {
        let value = PropertySchema("value", version % 2 == 0 ? .int : .string, isIndexed: true)
        return Schema([
            ClassSchema("Item", [PropertySchema("number", .int, isPrimaryKey: true), value]),
            ClassSchema("Only\(version)", [PropertySchema("version", .int)]),
        ])
    }

    private static func value(_ number: Int64, _ version: UInt64) -> Value {
        version % 2 == 0 ? .int(number * 3) : .string("\(number * 3)")
    }

    private static func configuration(_ path: String, _ version: UInt64) -> Configuration {
        var configuration = Configuration(
            location: .file(path: path), schema: schema(version), schemaVersion: version)
        configuration.encryptionKey = StoreConfiguration(trial: path).encryptionKey
        configuration.initialize = { session throws(EngineError) in
            for number in 0..<count {
                let item = try session.classHandle(named: "Item")
                _ = try session.create(
                    item.id,
                    [
                        (try id("number", item), .int(number)),
                        (try id("value", item), value(number, version)),
                    ])
            }
            try mark(session, version)
        }
        configuration.migration = { migration throws(EngineError) in
            try migration.enumerate("Item") { before, after throws(EngineError) in
                guard let before, let after else { return }
                let item = try migration.new().classHandle(named: "Item")
                guard case .int(let number) = try before.value(try id("number", item)) else {
                    return
                }
                try after.set(try id("value", item), value(number, version))
            }
            guard try migration.deleteData("Only\(migration.oldVersion)") else {
                throw EngineError(.internalError, "the class of the last version is missing")
            }
            try mark(try migration.new(), version)
        }
        return configuration
    }

    private static func mark(_ session: Session, _ version: UInt64) throws(EngineError) {
        let only = try session.classHandle(named: "Only\(version)")
        _ = try session.create(only.id, [(try id("version", only), .int(Int64(version)))])
    }

    private static func id(_ name: String, _ owner: ClassHandle) throws(EngineError) -> PropertyID {
        guard let property = owner.visibleProperties.first(where: { $0.name == name }) else {
            throw EngineError(.internalError, "there is no property \(name)")
        }
        return property.id
    }

    /// The schema version of the file; 0 if it has no classes yet, nil if it does not exist.
    private static func version(_ path: String) throws -> UInt64? {
        guard try FileIdentity.ofFile(at: path) != nil else { return nil }
        return try Database.schemaVersion(
            of: path, encryptionKey: StoreConfiguration(trial: path).encryptionKey)
    }

    /// Makes the database, or migrates it to its next version, and checks its content.
    static func advance(_ path: String) throws -> UInt64 {
        let now = try version(path) ?? 0
        let next = now == 0 ? first : now + 1
        let session = try Session.open(configuration(path, next))
        try look(session, next)
        try session.close()
        return next
    }

    /// Checks the file's content in any version, after a kill; returns its number.
    static func look(_ path: String) throws -> UInt64 {
        guard let now = try version(path), now > 0 else { return 0 }
        let session = try Session.open(configuration(path, now))
        try look(session, now)
        let problems = try session.checkEverything().problems
        guard problems.isEmpty else { throw Failure("unsound: \(problems.prefix(3))") }
        try session.close()
        return now
    }

    private static func look(_ session: Session, _ version: UInt64) throws {
        let item = try session.classHandle(named: "Item")
        let items = try session.results(of: item.id)
        guard try items.count == Int(count) else {
            throw Failure("version \(version) has \(try items.count) of \(count) objects")
        }
        for number in 0..<count {
            guard let object = try session.find(Value.int(number), in: item.id),
                try object.value(try id("value", item)) == value(number, version)
            else { throw Failure("version \(version) has another value of \(number)") }
        }
        let only = try session.classHandle(named: "Only\(version)")
        let marks = try session.results(of: only.id)
        guard try marks.count == 1,
            try marks.object(at: 0).value(try id("version", only)) == .int(Int64(version))
        else { throw Failure("version \(version) is not marked once") }
    }
}
