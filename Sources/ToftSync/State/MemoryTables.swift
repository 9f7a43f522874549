/// Tables in memory, for tests and the simulator. A copy is a snapshot, and shares what neither
/// changes.
package struct MemoryTables: Tables, Sendable {
    /// The values of a unique constraint, of one object.
    private struct UniqueKey: Hashable, Sendable {
        let type: ClassNumber
        let constraint: Int
        let values: [SyncValue]
    }

    package private(set) var schema: Schema
    package private(set) var objects: [ObjectID: Fields] = [:]
    /// Target -> the paths of its links.
    private var backlinks: [ObjectID: Set<Path>] = [:]
    /// How many objects have the values.
    private var uniques: [UniqueKey: Int] = [:]

    package init(_ schema: Schema) { self.schema = schema }

    package func contains(_ object: ObjectID) -> Bool { objects[object] != nil }

    package func content(at path: Path) -> Content? {
        guard let fields = objects[path.object] else { return path.steps.isEmpty ? .absent : nil }
        return path.steps.isEmpty ? .node(.fields(fields)) : fields.content(path.steps[...])
    }

    package func links(to object: ObjectID) -> [Path] { backlinks[object].map(Array.init) ?? [] }

    package func eachObject(_ body: (ObjectID) -> Void) {
        for object in objects.keys { body(object) }
    }

    package mutating func add(_ type: ClassSchema) {
        if schema[type.number] == nil { schema.add(type) }
    }

    package mutating func add(_ property: PropertySchema, to type: ClassNumber) {
        if schema[type]?[property.number] != nil { return }
        schema.add(property, to: type)
        for object in objects.keys where object.type == type {
            objects[object]?[property.number] = property.blank
        }
    }

    @discardableResult
    package mutating func put(_ content: Content, at path: Path) -> Content? {
        if path.steps.isEmpty { return putObject(content, path.object) }
        guard let property = schema.slot(path)?.property,
            let index = objects.index(forKey: path.object)
        else { return nil }
        let isUnique =
            path.steps.count == 1
            && schema[path.object.type]?.isUnique(property.number) == true
        if isUnique { count(path.object, -1) }
        var old = content
        let isDone = objects.values[index].exchange(&old, path.steps[...])
        if isUnique { count(path.object, 1) }
        guard isDone else { return nil }
        if property.canLink, path.steps.last != .label {
            schema.eachLink(in: old, at: path, property) { link, target, _ in
                unindex(link, to: target)
            }
            schema.eachLink(in: content, at: path, property) { link, target, _ in
                backlinks[target, default: []].insert(link)
            }
        }
        return old
    }

    private mutating func unindex(_ link: Path, to target: ObjectID) {
        backlinks[target]?.remove(link)
        if backlinks[target]?.isEmpty == true { backlinks[target] = nil }
    }

    private mutating func putObject(_ content: Content, _ object: ObjectID) -> Content? {
        let path = Path(object)
        let old = objects[object]
        guard let type = schema[object.type] else { return nil }
        if let old {
            count(object, -1)
            schema.eachLink(in: old, at: path, type) { link, target, _ in
                unindex(link, to: target)
            }
        }
        objects[object] = content.node?.fields
        if let new = content.node?.fields {
            count(object, 1)
            schema.eachLink(in: new, at: path, type) { link, target, _ in
                backlinks[target, default: []].insert(link)
            }
        }
        return old.map { .node(.fields($0)) } ?? .absent
    }

    // MARK: Unique constraints

    private func key(_ object: ObjectID, _ constraint: Int) -> UniqueKey? {
        guard let fields = objects[object], let type = schema[object.type] else { return nil }
        var values: [SyncValue] = []
        for property in type.uniques[constraint] {
            guard let value = fields[property]?.value, value != .null else { return nil }
            values.append(value)
        }
        return UniqueKey(type: object.type, constraint: constraint, values: values)
    }

    private mutating func count(_ object: ObjectID, _ change: Int) {
        for constraint in (schema[object.type]?.uniques ?? []).indices {
            guard let key = key(object, constraint) else { continue }
            let count = uniques[key, default: 0] + change
            uniques[key] = count == 0 ? nil : count
        }
    }

    /// Whether another object of the class has the same values in a unique constraint.
    package func breaksUnique(_ object: ObjectID) -> Bool {
        (schema[object.type]?.uniques ?? []).indices.contains { constraint in
            key(object, constraint).map { uniques[$0, default: 0] > 1 } ?? false
        }
    }

    // MARK: Check

    /// Problems of the tables: indexes that say something else than the objects.
    package func check() -> [String] {
        var other = MemoryTables(schema)
        for (object, fields) in objects { other.put(.node(.fields(fields)), at: Path(object)) }
        var problems: [String] = []
        if other.backlinks != backlinks { problems.append("backlinks differ from the links") }
        if other.uniques != uniques { problems.append("the unique values differ") }
        for target in backlinks.keys where !contains(target) {
            problems.append("a link leads to \(target), which is not there")
        }
        return problems
    }
}
