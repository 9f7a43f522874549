import Foundation
import ToftEngine
import ToftModel
import ToftStorage

/// What a link is called in JSON.
enum LinkNames {
    /// The primary key of its target.
    case primaryKeys
    /// The object key of its target, which each line has as `_key`: every object has one.
    case objectKeys
}

/// Makes objects of lines in one transaction: values at once, links when all objects are there.
struct ObjectLoader {
    private struct Pending {
        var line: Int
        var object: ObjectHandle
        var property: PropertyHandle
        var targets: [Element]

        /// Whether it is filled in when all objects are there.
        var needsOthers: Bool {
            property.type == .link
                || property.type == .mixed && targets.contains(where: \.json.hasLink)
        }
    }

    /// One of the values that a member has.
    private struct Element {
        /// That of a dictionary; else empty.
        var key = ""
        var json: JSONValue
    }

    private let session: Session
    /// The class of all lines; nil: each line says it as `_class`.
    private let owner: ClassHandle?
    private let names: LinkNames
    private let policy: UpdatePolicy
    var ignoresUnknown = false
    var ignoresMissing = false
    /// By the names of classes: where auto-incremented keys go on.
    var counters: [String: Int64] = [:]
    private(set) var created = 0
    private(set) var updated = 0
    private(set) var links = 0
    private(set) var missingTargets = 0
    private(set) var ignored: Set<String> = []
    /// By their class and the key in their line.
    private var loaded: [ObjectRef: ObjectRef] = [:]
    private var pending: [Pending] = []

    init(session: Session, owner: ClassHandle?, links names: LinkNames, policy: UpdatePolicy) {
        self.session = session
        self.owner = owner
        self.names = names
        self.policy = policy
    }

    /// Loads all lines that the file has left, and commits.
    mutating func load(_ lines: LineFile) throws {
        try session.beginWrite()
        do {
            try lines.forEachLine { number, line in try add(line, number) }
            for item in pending { try lines.naming(item.line) { try link(item) } }
            for (name, counter) in counters {
                try session.moveKeyCounter(
                    of: try session.classHandle(named: name).id, to: counter)
            }
            try session.commit()
        } catch {
            if session.isWriting { try session.cancel() }
            throw error
        }
    }

    // MARK: Objects

    private mutating func add(_ members: [String: JSONValue], _ number: Int) throws {
        let owner = try owner ?? self.owner(of: members)
        let (values, later) = try parts(of: members, owner)
        let before = try session.count(of: owner.id)
        let object = try session.create(owner.id, values, policy: policy)
        if try session.count(of: owner.id) > before { created += 1 } else { updated += 1 }
        if names == .objectKeys, case .integer(let key)? = members["_key"] {
            loaded[ObjectRef(classID: owner.id, key: key)] = object.ref
        }
        for (property, targets) in later {
            let item = Pending(line: number, object: object, property: property, targets: targets)
            if item.needsOthers { pending.append(item) } else { try fill(item) }
        }
    }

    /// The values of an object, and its members that are filled in once it is there.
    private mutating func parts(of members: [String: JSONValue], _ owner: ClassHandle) throws -> (
        values: [(property: PropertyID, value: Value)], later: [(PropertyHandle, [Element])]
    ) {
        var values: [(property: PropertyID, value: Value)] = []
        var later: [(PropertyHandle, [Element])] = []
        for (name, json) in members {
            guard let property = try property(name, of: owner) else { continue }
            let isLink = property.type == .link || property.type == .mixed && json.hasLink
            if property.isCollection || isLink {
                later.append((property, try elements(json, property)))
            } else if property.type == .mixed {
                values.append((property.id, try mixed(json, property)))
            } else {
                values.append((property.id, try ValueText.value(json, for: property)))
            }
        }
        return (values, later)
    }

    /// Fills a collection of values that are no links.
    private mutating func fill(_ item: Pending) throws {
        var values: [(key: String, value: Value)] = []
        for element in item.targets {
            let value =
                item.property.type == .mixed
                ? try mixed(element.json, item.property)
                : try ValueText.value(element.json, for: item.property)
            values.append((element.key, value))
        }
        try set(item, values)
    }

    /// Sets a property of one value or of many.
    private func set(_ item: Pending, _ values: [(key: String, value: Value)]) throws {
        guard item.property.isCollection else {
            return try item.object.set(item.property.id, values.first?.value ?? .null)
        }
        try fill(item.object.collection(item.property.id, item.property.collection), values)
    }

    /// A mixed value: see `ValueText.mixed`.
    private mutating func mixed(_ json: JSONValue, _ property: PropertyHandle) throws -> Value {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .int(value)
        case .double(let value): return .double(value)
        case .text(let value): return .string(value)
        case .list(let elements):
            var values: [Value] = []
            for element in elements { values.append(try mixed(element, property)) }
            return .list(values)
        case .dictionary(let members):
            if let link = members["$link"], case .text(let name)? = members["$class"] {
                let target = try session.classHandle(named: name)
                return try linked(link, target, property).map { .link($0) } ?? .null
            }
            if let (tag, json) = members.first, members.count == 1,
                let type = ValueText.type(ofTag: tag)
            {
                if let value = ValueText.value(json, of: type) { return value }
                throw EngineError(
                    .typeMismatch,
                    "'\(property.className).\(property.name)': \(json.text) is no '\(tag)'.")
            }
            var entries: [ValueEntry] = []
            for (key, element) in members {
                entries.append(ValueEntry(key: key, value: try mixed(element, property)))
            }
            return .dictionary(entries)
        }
    }

    private func owner(of members: [String: JSONValue]) throws -> ClassHandle {
        guard case .text(let name)? = members["_class"] else {
            throw EngineError(.invalidArgument, "The line does not name its class as '_class'.")
        }
        return try session.classHandle(named: name)
    }

    /// Nil for a member that is left out.
    private mutating func property(_ name: String, of owner: ClassHandle) throws -> PropertyHandle?
    {
        if let found = owner.visibleProperties.first(where: { $0.name == name && $0.isStored }) {
            return found
        }
        if name == "_key" || name == "_class" && self.owner == nil { return nil }
        guard ignoresUnknown else {
            throw EngineError(
                .noSuchProperty,
                "'\(owner.name)' has no stored property '\(name)'. --ignore-unknown leaves such "
                    + "members out."
            )
        }
        ignored.insert(name)
        return nil
    }

    private func elements(_ json: JSONValue, _ property: PropertyHandle) throws -> [Element] {
        switch (property.collection, json) {
        case (_, .null): return []
        case (.none, _): return [Element(json: json)]
        case (.list, .list(let elements)), (.set, .list(let elements)):
            return elements.map { Element(json: $0) }
        case (.dictionary, .dictionary(let members)):
            return members.sorted { $0.key < $1.key }.map { Element(key: $0.key, json: $0.value) }
        default: break
        }
        throw EngineError(
            .typeMismatch,
            "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                + "\(json.kind)."
        )
    }

    private func fill(_ list: CollectionHandle, _ values: [(key: String, value: Value)]) throws {
        if try list.count > 0 { try list.clear() }
        for (key, value) in values {
            switch list.property.collection {
            case .set: try list.setInsert(value)
            case .dictionary: try list.dictionarySet(key, value)
            case .list, .none: try list.append(value)
            }
        }
    }

    // MARK: Embedded objects

    /// Creates the embedded objects that a property of an object has.
    private mutating func embed(_ item: Pending, in targetID: ClassID) throws {
        let (object, id) = (item.object, item.property.id)
        if !item.property.isCollection {
            guard let element = item.targets.first else { return try object.set(id, Value.null) }
            return try embed(element, item, in: targetID) { try object.setEmbedded(id, $0) }
        }
        let collection = try object.collection(id, item.property.collection)
        if try collection.count > 0 { try collection.clear() }
        for element in item.targets {
            if item.property.collection == .list {
                let end = try collection.count
                try embed(element, item, in: targetID) {
                    try collection.insertEmbedded($0, at: end)
                }
            } else if case .null = element.json {
                try collection.dictionarySet(element.key, Value.null)
            } else {
                try embed(element, item, in: targetID) {
                    try collection.setEmbedded($0, forKey: element.key)
                }
            }
        }
    }

    private mutating func embed(
        _ element: Element, _ item: Pending, in targetID: ClassID,
        _ create: ([(property: PropertyID, value: Value)]) throws -> ObjectHandle
    ) throws {
        guard case .dictionary(let members) = element.json else {
            throw EngineError(
                .typeMismatch,
                "'\(item.property.className).\(item.property.name)' holds embedded objects and "
                    + "cannot be \(element.json.kind).")
        }
        let (values, later) = try parts(of: members, try session.classHandle(targetID))
        let inner = try create(values)
        for (property, targets) in later {
            let pending = Pending(
                line: item.line, object: inner, property: property, targets: targets)
            if pending.needsOthers { try link(pending) } else { try fill(pending) }
        }
    }

    // MARK: Links

    private mutating func link(_ item: Pending) throws {
        if item.property.type == .mixed { return try fill(item) }
        guard let targetID = item.property.targetClassID else { return }
        if item.property.ownsTargets { return try embed(item, in: targetID) }
        let target = try session.classHandle(targetID)
        let isDictionary = item.property.collection == .dictionary
        var found: [(key: String, value: Value)] = []
        for element in item.targets {
            if case .null = element.json, isDictionary {
                found.append((element.key, .null))
            } else if let ref = try linked(element.json, target, item.property) {
                found.append((element.key, .link(ref)))
            } else if isDictionary {
                found.append((element.key, .null))
            }
        }
        try set(item, found)
    }

    /// The object that a link leads to, counted; nil for one that is left out.
    private mutating func linked(
        _ json: JSONValue, _ target: ClassHandle, _ property: PropertyHandle
    ) throws -> ObjectRef? {
        if let ref = try object(json, of: target, for: property) {
            links += 1
            return ref
        }
        guard ignoresMissing else {
            throw EngineError(
                .noSuchObject,
                "'\(property.className).\(property.name)' links to "
                    + "\(json.text), which no object of '\(target.name)' has as its "
                    + "\(names == .primaryKeys ? "primary key" : "key")."
                    + (names == .primaryKeys ? " --ignore-missing leaves such links out." : "")
            )
        }
        missingTargets += 1
        return nil
    }

    private func object(
        _ json: JSONValue, of target: ClassHandle, for property: PropertyHandle
    ) throws -> ObjectRef? {
        switch names {
        case .objectKeys:
            guard case .integer(let key) = json else { return nil }
            return loaded[ObjectRef(classID: target.id, key: key)]
        case .primaryKeys:
            guard let key = target.primaryKey else {
                throw EngineError(
                    .missingPrimaryKey,
                    "Links to '\(target.name)' can't be imported: the class has no primary key to "
                        + "name them by. `toftdb dump` and `toftdb load` move them."
                )
            }
            let value: Value
            do {
                value = try ValueText.value(json, for: key)
            } catch let error as EngineError {
                let link = "'\(property.className).\(property.name)'"
                throw EngineError(
                    error.code, "\(link) links by primary key: \(error.message)",
                    detail: error.detail, number: error.number)
            }
            return try session.find(value, in: target.id)?.ref
        }
    }
}

/// JSON objects, one a line.
final class LineFile {
    private let path: String
    private let data: Data
    private var rest: Data.SubSequence
    private var number = 0
    private let decoder = JSONDecoder()

    /// - Parameter path: `-` for standard input.
    init(path: String) throws {
        self.path = path
        do {
            data =
                try path == "-"
                ? FileHandle.standardInput.readToEnd() ?? Data()
                : Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        } catch {
            throw EngineError(.fileNotFound, "Can't read '\(path)'.", detail: "\(error)")
        }
        rest = data[...]
    }

    /// The bytes of the next line that is not empty; nil at the end.
    private func nextLine() -> Data? {
        while let first = rest.first {
            number += 1
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = rest[..<end]
            rest = end < rest.endIndex ? rest[rest.index(after: end)...] : rest[end...]
            if first != UInt8(ascii: "\n") { return line }
        }
        return nil
    }

    /// The next line as a value of a type; nil at the end.
    func next<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        guard let line = nextLine() else { return nil }
        return try naming(number) { try decoder.decode(type, from: line) }
    }

    /// Calls `body` with each line that is left, and its number. Shows the progress.
    func forEachLine(_ body: (Int, [String: JSONValue]) throws -> Void) throws {
        var progress = Progress(total: data.count)
        while let members = try next([String: JSONValue].self) {
            try naming(number) { try body(number, members) }
            progress.advance(to: rest.startIndex - data.startIndex)
        }
        progress.finish()
    }

    /// Runs work on a line; errors name it.
    func naming<Result>(_ line: Int, _ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch let error as DecodingError {
            throw EngineError(
                .invalidArgument,
                "Line \(line) of '\(path)' is not a JSON object: \(error.reason).")
        } catch let error as EngineError {
            throw EngineError(
                error.code, "Line \(line) of '\(path)': \(error.message)", detail: error.detail,
                number: error.number)
        }
    }
}

/// A bar on standard error, where that is a terminal.
struct Progress {
    private let total: Int
    private let isShown = isatty(FileHandle.standardError.fileDescriptor) == 1
    private var shown = -1

    init(total: Int) {
        self.total = max(1, total)
    }

    mutating func advance(to done: Int) {
        let percent = done * 100 / total
        guard isShown, percent != shown else { return }
        shown = percent
        let bar =
            String(repeating: "#", count: percent / 4)
            + String(repeating: ".", count: 25 - percent / 4)
        FileHandle.standardError.write(Data("\r[\(bar)] \(percent) %".utf8))
    }

    func finish() {
        if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
}
