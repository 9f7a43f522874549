import Testing
import ToftModel
import ToftStorage
@testable import ToftEngine

/// A database in memory with people and their dogs, and names for its parts. Sessions of one `name`
/// share it.
struct TestDatabase {
    static let schema = Schema([
        ClassSchema(
            "Person",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("name", .string),
                PropertySchema("age", .int, isOptional: true, isIndexed: true),
                .link("boss", to: "Person"),
                .links("dogs", to: "Dog"),
                PropertySchema("notes", .string, collection: .list),
                .linkingObjects("reports", from: "Person", "boss"),
            ]),
        ClassSchema(
            "Dog",
            [PropertySchema("name", .string), .linkingObjects("owners", from: "Person", "dogs")]),
    ])

    let name: String
    let configuration: Configuration
    let session: Session

    init(_ name: String = "test \(UInt64.random(in: 0 ... .max))", timeout: Int? = nil)
        throws(EngineError)
    {
        self.name = name
        configuration = Self.configuration(name, timeout: timeout)
        session = try Session.open(configuration)
    }

    init(opening configuration: Configuration) throws(EngineError) {
        name = ""
        self.configuration = configuration
        session = try Session.open(configuration)
    }

    static func configuration(_ name: String, timeout: Int? = nil) -> Configuration {
        Configuration(
            location: .memory(name: name), schema: schema, writeTimeoutMilliseconds: timeout)
    }

    /// Another session of the same database.
    func other(timeout: Int? = nil) throws(EngineError) -> TestDatabase {
        try TestDatabase(name, timeout: timeout)
    }

    // MARK: Names

    func classID(_ name: String) throws(EngineError) -> ClassID {
        try session.classHandle(named: name).id
    }
    var person: ClassID { get throws(EngineError) { try classID("Person") } }
    var dog: ClassID { get throws(EngineError) { try classID("Dog") } }

    func property(_ name: String, of className: String = "Person") throws(EngineError) -> PropertyID
    {
        let owner = try session.classHandle(named: className)
        return try model { () throws(ModelError) in try owner.property(named: name).id }
    }

    // MARK: Data

    /// Runs changes in a transaction of their own.
    @discardableResult
    func write<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
        try session.beginWrite()
        do throws(EngineError) {
            let result = try body()
            try session.commit()
            return result
        } catch {
            try session.cancel()
            throw error
        }
    }

    @discardableResult
    func addPerson(_ id: Int64, name: String = "", age: Int64? = nil) throws(EngineError)
        -> ObjectHandle
    {
        try session.create(
            try person,
            [
                (try property("id"), .int(id)), (try property("name"), .string(name)),
                (try property("age"), age.map(Value.int) ?? .null),
            ])
    }

    func findPerson(_ id: Int64) throws(EngineError) -> ObjectHandle {
        guard let object = try session.find(Value.int(id), in: try person) else {
            throw EngineError(.noSuchObject, "person \(id)")
        }
        return object
    }

    func setName(_ name: String, of object: ObjectHandle) throws(EngineError) {
        try object.set(try property("name"), Value.string(name))
    }

    func people() throws(EngineError) -> Results { try session.results(of: try person) }

    /// Holds everything against everything.
    func expectSound() throws(EngineError) {
        try session.refresh()
        let findings = try session.checkEverything()
        #expect(findings.problems.isEmpty)
    }
}

/// The error code of a closure.
func code(_ body: () throws(EngineError) -> Void) -> ErrorCode? {
    do throws(EngineError) {
        try body()
        return nil
    } catch {
        return error.code
    }
}

extension Result where Failure == EngineError {
    /// The code of the failure.
    var code: ErrorCode? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
