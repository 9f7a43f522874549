internal import ToftEngine
internal import ToftModel

/// A to-many property of distinct elements: links to objects, or values.
///
/// ```swift
/// @Persisted var tags: MutableSet<String>
/// @Persisted var friends: MutableSet<Person>
/// ```
///
/// A reference type, as in Realm. Unmanaged it lives in memory; managed it is live, and changing it
/// needs a write transaction. Values are equal as the database compares them: texts by their bytes,
/// NaN with NaN. Differs from Realm: a managed set's values ascend, so that an index means
/// something while the set stays the same.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    /// The elements of an unmanaged set.
    private var unmanaged = KeyedElements<Element>()
    /// The property of a managed object.
    private(set) var backing: CollectionBacking?
    /// The set as results, once they are needed.
    private var cachedCore: _CollectionCore?
    /// Told of reads while a key path is found out.
    private var recording: LegacyRecording?

    /// An unmanaged, empty set.
    public init() {}

    init(_ backing: CollectionBacking) {
        self.backing = backing
    }

    /// An unmanaged set of these elements.
    init(_ elements: some Sequence<Element>) {
        for element in elements { unmanaged.insert(element, UniqueKey(element)) }
    }

    /// Becomes the set of an object that has become managed.
    func adopt(_ backing: CollectionBacking) {
        unmanaged.removeAll()
        self.backing = backing
    }

    func record(_ recording: LegacyRecording) { self.recording = recording }

    public func _core() throws -> _CollectionCore? {
        guard let backing else { return nil }
        if let cachedCore { return cachedCore }
        let core = try backing.core()
        if !backing.session.isFrozen { cachedCore = core }
        return core
    }

    // MARK: State

    /// The realm; nil for an unmanaged set.
    public var realm: Realm? { backing.map { Realm($0.session) } }

    /// Whether the object that has the set was deleted, or its realm invalidated. Never for an
    /// unmanaged set.
    public var isInvalidated: Bool { backing.map { !$0.isValid } ?? false }

    /// Number of elements.
    public var count: Int {
        guard let backing else { return unmanaged.elements.count }
        return Misuse.reporting { try backing.count } ?? 0
    }

    public func makeIterator() -> RLMIterator<Element> {
        guard backing != nil else { return RLMIterator(unmanaged.elements) }
        return RLMIterator(Misuse.reporting { try _core() } ?? nil)
    }

    /// Whether both are the same property of the same object or, unmanaged, have equal elements.
    public static func == (left: MutableSet, right: MutableSet) -> Bool {
        switch (left.backing, right.backing) {
        case (let left?, let right?): left.isSame(as: right)
        case (nil, nil): left === right || left.unmanaged.hasSameKeys(as: right.unmanaged)
        default: false
        }
    }

    /// Whether both are the same property of the same object or, unmanaged, have equal elements.
    public func isEqual(_ object: Any?) -> Bool {
        (object as? MutableSet).map { self == $0 } ?? false
    }

    // MARK: Elements

    /// The element at an index; out of range is misuse, with code `.indexOutOfRange`.
    public subscript(position: Int) -> Element {
        Misuse.reporting { () -> Element in
            if backing != nil, let core = try _core() {
                return try core.element(Element.self, at: position)
            }
            if let recording { return recording.element(Element.self) }
            guard unmanaged.elements.indices.contains(position) else {
                throw EngineError(outOfRange: position, count: unmanaged.elements.count)
            }
            return unmanaged.elements[position]
        } ?? Element._standIn()
    }

    /// Whether an element is in the set. O(log elements).
    public func contains(_ object: Element) -> Bool { index(of: object) != nil }

    /// The index of an element; nil if the set does not have it, and for an object outside of the
    /// set's realm. O(log elements).
    public func index(of object: Element) -> Int? {
        Misuse.reporting { () -> Int? in
            guard let backing else { return unmanaged.index(of: UniqueKey(object)) }
            try backing.verifyReading()
            guard let value = UniqueKey(object, in: backing.session).value else {
                _ = try backing.count
                return nil
            }
            return try backing.handle.firstIndex(of: value)
        } ?? nil
    }

    // MARK: Changing

    /// Inserts an element unless the set has it already. An unmanaged object is added to the set's
    /// realm.
    public func insert(_ object: Element) {
        insert(objectsIn: CollectionOfOne(object))
    }

    /// Inserts several elements unless the set has them already.
    public func insert<Elements: Sequence>(objectsIn objects: Elements)
    where Elements.Element == Element {
        // They may be the set's own.
        let objects = Array(objects)
        change { backing in
            try backing.insert(objects, clearing: false)
        } orUnmanaged: {
            for object in objects { $0.insert(object, UniqueKey(object)) }
        }
    }

    /// Removes an element, if the set has it; an object is not deleted by it.
    public func remove(_ object: Element) {
        change { backing in
            if let value = UniqueKey(object, in: backing.session).value {
                _ = try backing.handle.setErase(value)
            }
        } orUnmanaged: {
            $0.remove(UniqueKey(object))
        }
    }

    /// Takes all elements out; objects are not deleted by it.
    public func removeAll() {
        change { backing in
            try backing.handle.clear()
        } orUnmanaged: {
            $0.removeAll()
        }
    }

    /// Changes the property in the file, or the elements of an unmanaged set.
    private func change(
        _ managed: (CollectionBacking) throws -> Void,
        orUnmanaged inMemory: (inout KeyedElements<Element>) throws -> Void
    ) {
        Misuse.reporting {
            guard let backing else { return try inMemory(&unmanaged) }
            try backing.session.requireWriting()
            try managed(backing)
        }
    }

    // MARK: Two sets

    /// Whether all elements of this set are in another one. Sets of objects that two realms manage
    /// are misuse, with code `.wrongRealm`, in all operations on two sets.
    public func isSubset(of possibleSuperset: MutableSet<Element>) -> Bool {
        compare(with: possibleSuperset) { $0.isSubset(of: $1) }
    }

    /// Whether both sets have an element in common.
    public func intersects(_ otherSet: MutableSet<Element>) -> Bool {
        compare(with: otherSet) { !$0.isDisjoint(with: $1) }
    }

    /// Removes elements that another set lacks.
    public func formIntersection(_ other: MutableSet<Element>) {
        keep(other) { $1.contains($0) }
    }

    /// Removes elements that another set has.
    public func subtract(_ other: MutableSet<Element>) {
        keep(other) { !$1.contains($0) }
    }

    /// Inserts the elements of another set.
    public func formUnion(_ other: MutableSet<Element>) {
        insert(objectsIn: other)
    }

    private func compare(
        with other: MutableSet, _ body: (Set<UniqueKey>, Set<UniqueKey>) -> Bool
    ) -> Bool {
        Misuse.reporting {
            let session = backing?.session ?? other.backing?.session
            return body(Set(try keys(in: session)), Set(try other.keys(in: session)))
        } ?? false
    }

    /// Keeps the elements for which `isKept` is true, given the other set's keys.
    private func keep(_ other: MutableSet, where isKept: (UniqueKey, Set<UniqueKey>) -> Bool) {
        let session = backing?.session ?? other.backing?.session
        guard let others = Misuse.reporting({ Set(try other.keys(in: session)) }) else { return }
        change { backing in
            for value in try backing.handle.values() where !isKept(.value(value), others) {
                _ = try backing.handle.setErase(value)
            }
        } orUnmanaged: {
            for element in $0.elements where !isKept(UniqueKey(element, in: session), others) {
                $0.remove(UniqueKey(element))
            }
        }
    }

    /// The identities of the elements, for comparisons with another set; the session is that of one
    /// of the sets.
    private func keys(in session: RealmSession?) throws -> [UniqueKey] {
        guard let backing else { return unmanaged.elements.map { UniqueKey($0, in: session) } }
        try backing.verifyReading()
        guard backing.home == nil || session === backing.session else {
            throw Realm.Error(.wrongRealm, "The sets hold objects of different realms.")
        }
        return try backing.handle.values().map { .value($0) }
    }
}

extension MutableSet: ExpressibleByArrayLiteral {
    /// An unmanaged set of these elements.
    public convenience init(arrayLiteral elements: Element...) {
        self.init(elements)
    }
}

extension MutableSet: Hashable {
    /// By the type alone, so that a set stays found while it changes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Element._shape.type)
    }
}

extension MutableSet: Decodable where Element: Decodable {
    /// An unmanaged set of an array.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { insert(try container.decode(Element.self)) }
    }
}

extension MutableSet: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
