import Testing
import ToftModel
import ToftTestKit
@testable import ToftEngine

/// The observer of a scenario, and its notifications since the last query.
final class ScenarioObserver {
    enum Observed {
        case object(ObjectHandle)
        case list(CollectionHandle)
        case results(Results)
    }

    let session: Session
    private let observed: Observed
    private var token: Token?
    private(set) var calls: [ChangeNotification] = []

    init(_ scenario: Scenario, _ database: ScenarioDatabase) throws(EngineError) {
        session = try ScenarioDatabase.open(database.name)
        observed = try Self.observed(scenario.observe, session, database)
        let handler: NotificationHandler = { [unowned self] in calls.append($0) }
        let keyPaths = scenario.observe["keyPaths"].array?.compactMap(\.string)
        switch observed {
        case .object(let object): token = try object.observe(keyPaths: keyPaths, handler)
        case .list(let list): token = try list.observe(keyPaths: keyPaths, handler)
        case .results(let results): token = try results.observe(keyPaths: keyPaths, handler)
        }
    }

    private static func observed(_ observe: JSON, _ session: Session, _ database: ScenarioDatabase)
        throws(EngineError) -> Observed
    {
        let className = observe["class"].string ?? ""
        let classID = try database.id(of: className)
        let query = observe["query"].string
        guard observe["type"].string != "results" else {
            let all = try session.results(of: classID)
            return .results(
                try query.map { query throws(EngineError) in try all.filter(query) } ?? all)
        }
        guard let object = try session.find(Value.int(observe["pk"].int ?? 0), in: classID) else {
            throw EngineError(.noSuchObject, "The scenario observes what is not there.")
        }
        guard let property = observe["property"].string else { return .object(object) }
        let id = try database.propertyID(property, className)
        if observe["type"].string == "linkingObjects" {
            return .results(try object.linkingObjects(id))
        }
        let list = try object.collection(id, try object.property(id).collection)
        if let query { return .results(try list.results().filter(query)) }
        if let sort = observe["sort"].string {
            return .results(try list.results().sorted(by: [("self", sort == "ASC")]))
        }
        return .list(list)
    }

    func takeCalls() -> [ChangeNotification] {
        defer { calls = [] }
        return calls
    }

    // MARK: Contents

    /// The subject's contents, in the words of the scenarios.
    func contents() throws(EngineError) -> JSON {
        switch observed {
        case .object(let object): .string(try object.isValid ? "valid" : "invalid")
        case .list(let list) where list.property.collection == .dictionary:
            try contents(of: list)
        case .list(let list): try contents(of: list.results())
        case .results(let results): try contents(of: results)
        }
    }

    private func contents(of results: Results) throws(EngineError) -> JSON {
        var elements: [JSON] = []
        for index in 0..<(try results.count) {
            elements.append(try json(results.value(at: index)))
        }
        return .array(elements)
    }

    private func contents(of dictionary: CollectionHandle) throws(EngineError) -> JSON {
        var entries: [String: JSON] = [:]
        for index in 0..<(try dictionary.count) {
            entries[try dictionary.entryKey(at: index)] = try json(dictionary.value(at: index))
        }
        return .object(entries)
    }

    private func json(_ value: Value) throws(EngineError) -> JSON {
        switch value {
        case .link(let ref): try name(of: ref)
        case .int(let value): .int(value)
        case .string(let value): .string(value)
        default: .null
        }
    }

    /// An object by its primary key; embedded ones have no key.
    private func name(of ref: ObjectRef) throws(EngineError) -> JSON {
        let owner = try session.classHandle(ref.classID)
        guard let object = try session.object(ref) else {
            throw EngineError(.noSuchObject, "An element of the results is not there.")
        }
        guard let property = owner.primaryKey, case .int(let key) = try object.value(property.id)
        else { return .string("(embedded)") }
        return .int(key)
    }

    func name(of property: PropertyID) throws(EngineError) -> String {
        guard case .object(let object) = observed else { return "" }
        return try object.property(property).name
    }
}

extension Optional {
    /// `map` for functions that throw engine errors.
    func map<Result>(_ transform: (Wrapped) throws(EngineError) -> Result) throws(EngineError)
        -> Result?
    {
        if let self { try transform(self) } else { nil }
    }
}
