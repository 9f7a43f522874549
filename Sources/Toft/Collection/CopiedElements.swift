internal import Foundation
internal import ToftEngine
internal import ToftModel

/// Copies of objects that are in memory, in a database there: what a query is asked of them in,
/// as only the engine knows queries.
struct CopiedElements {
    private let realm: Realm
    private let copies: [Object]

    /// Nil where the elements are no objects that a realm can have by themselves.
    init?<Elements: RealmCollection>(_ elements: Elements) throws {
        guard let type = Elements.Element._shape.target as? Object.Type,
            Elements.Element._isObject
        else { return nil }
        let realm = try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString, objectTypes: Self.classes(from: type)))
        self.realm = realm
        let hasKey = ModelClass.of(type).primaryKey != nil
        realm.beginWrite()
        copies = elements.map { element in
            realm.create(type, value: element, update: hasKey ? .all : .error)
        }
    }

    /// The index of the first object whose copy some results have.
    func firstIndex(_ matches: (_CollectionCore) throws -> ToftEngine.Results) throws -> Int? {
        defer { realm.cancelWrite() }
        guard let first = copies.first, let core = realm.objects(type(of: first))._core() else {
            return nil
        }
        let found = try matches(core)
        return try copies.firstIndex { copy in
            try copy.row.map { try found.index(of: .link($0.handle.ref)) != nil } ?? false
        }
    }

    /// A class and all that its properties lead to.
    private static func classes(from type: ObjectBase.Type) -> [ObjectBase.Type] {
        var classes = [type]
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(type)]
        var next = 0
        while next < classes.count {
            for property in ModelClass.of(classes[next]).properties {
                if let target = property.shape.target,
                    seen.insert(ObjectIdentifier(target)).inserted
                {
                    classes.append(target)
                }
            }
            next += 1
        }
        return classes
    }
}
