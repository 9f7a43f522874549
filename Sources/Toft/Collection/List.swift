internal import ToftEngine
internal import ToftModel

/// An ordered to-many property: links to objects, or values.
///
/// ```swift
/// @Persisted var dogs: List<Dog>
/// @Persisted var names: List<String>
/// ```
///
/// A reference type, as in Realm. Unmanaged it is an array in memory; managed it is live, and
/// changing it needs a write transaction. Objects may be in it several times; taking one out does
/// not delete it. Embedded objects are in it once, and deleted when the list loses them.
public final class List<Element: RealmCollectionValue>: RealmCollection, MutableCollection {
    /// The elements of an unmanaged list.
    private var unmanaged: [Element]
    /// The property of a managed object.
    private(set) var backing: CollectionBacking?
    /// The list as results, once they are needed.
    private var cachedCore: _CollectionCore?
    /// Told of reads while a key path is found out.
    private var recording: LegacyRecording?

    /// An unmanaged, empty list.
    public init() {
        unmanaged = []
    }

    init(_ backing: CollectionBacking) {
        unmanaged = []
        self.backing = backing
    }

    /// An unmanaged list with these elements.
    init(_ elements: [Element]) {
        unmanaged = elements
    }

    /// Becomes the list of an object that has become managed.
    func adopt(_ backing: CollectionBacking) {
        unmanaged = []
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

    /// The realm; nil for an unmanaged list.
    public var realm: Realm? { backing.map { Realm($0.session) } }

    /// Whether the object that has the list was deleted, or its realm invalidated. Never for an
    /// unmanaged list.
    public var isInvalidated: Bool { backing.map { !$0.isValid } ?? false }

    /// Number of elements.
    public var count: Int {
        guard let backing else { return unmanaged.count }
        return Misuse.reporting { try backing.count } ?? 0
    }

    public func makeIterator() -> RLMIterator<Element> {
        guard let backing else { return RLMIterator(unmanaged) }
        if Element.self == AnyRealmValue.self {
            return RLMIterator(Misuse.reporting { try backing.allMixed(Element.self) } ?? [])
        }
        return RLMIterator(Misuse.reporting { try _core() } ?? nil)
    }

    /// Whether both are the same property of the same object or, unmanaged, have equal elements.
    public static func == (left: List, right: List) -> Bool {
        switch (left.backing, right.backing) {
        case (let left?, let right?): left.isSame(as: right)
        case (nil, nil): left === right || left.unmanaged == right.unmanaged
        default: false
        }
    }

    /// Whether both are the same property of the same object or, unmanaged, have equal elements.
    public func isEqual(_ object: Any?) -> Bool { (object as? List).map { self == $0 } ?? false }

    // MARK: Elements

    /// The element at an index; out of range is misuse, with code `.indexOutOfRange`. Setting it
    /// needs a write transaction.
    public subscript(position: Int) -> Element {
        get {
            Misuse.reporting { () -> Element in
                if let element = try backing?.mixed(Element.self, at: position) { return element }
                if backing != nil, let core = try _core() {
                    return try core.element(Element.self, at: position)
                }
                if let recording { return recording.element(Element.self) }
                try Self.requireIndex(position, below: unmanaged.count)
                return unmanaged[position]
            } ?? Element._standIn()
        }
        set {
            change { backing in
                try backing.set(newValue, at: position)
            } orUnmanaged: {
                try Self.requireIndex(position, below: $0.count)
                $0[position] = newValue
            }
        }
    }

    private static func requireIndex(_ index: Int, below end: Int) throws {
        guard index >= 0, index < end else {
            throw Realm.Error(
                .indexOutOfRange, "Index \(index) is out of bounds: it has to be less than \(end).",
                number: Int64(index))
        }
    }

    // MARK: Changing

    /// Adds an element at the end. An unmanaged object is added to the list's realm.
    public func append(_ object: Element) {
        change { backing in
            let handle = backing.handle
            if Element._isEmbedded { return try backing.insert([object], at: handle.count) }
            try backing.session.giving(
                Element._shape, { try object._give(to: $0).value },
                check: { try handle.check(adding: Element._known([$0])) },
                change: { try handle.append($0) })
        } orUnmanaged: {
            $0.append(object)
        }
    }

    /// Adds several elements at the end.
    public func append<Elements: Sequence>(objectsIn objects: Elements)
    where Elements.Element == Element {
        // They may be the list's own.
        let objects = Array(objects)
        change { backing in
            try backing.insert(objects, at: backing.handle.count)
        } orUnmanaged: {
            $0.append(contentsOf: objects)
        }
    }

    /// Inserts an element before `index`, or at the end.
    public func insert(_ object: Element, at index: Int) {
        insert(contentsOf: CollectionOfOne(object), at: index)
    }

    /// Inserts several elements before `index`, or at the end.
    public func insert<Elements: Collection>(contentsOf newElements: Elements, at index: Int)
    where Elements.Element == Element {
        let elements = Array(newElements)
        change { backing in
            try backing.insert(elements, at: index)
        } orUnmanaged: {
            try Self.requireIndex(index, below: $0.count + 1)
            $0.insert(contentsOf: elements, at: index)
        }
    }

    /// Takes the element at `index` out; an object is not deleted by it.
    public func remove(at index: Int) {
        change { backing in
            try backing.handle.erase(index..<(index + 1))
        } orUnmanaged: {
            try Self.requireIndex(index, below: $0.count)
            $0.remove(at: index)
        }
    }

    /// Takes a range of elements out.
    public func removeSubrange(_ bounds: Range<Int>) {
        replaceSubrange(bounds, with: EmptyCollection())
    }

    /// Takes all elements out; objects are not deleted by it.
    public func removeAll() {
        change { backing in
            try backing.handle.clear()
        } orUnmanaged: {
            $0.removeAll()
        }
    }

    /// Takes the first elements out; more than there are is misuse.
    public func removeFirst(_ number: Int = 1) {
        if has(number) { removeSubrange(0..<number) }
    }

    /// Takes the last elements out; more than there are is misuse.
    public func removeLast(_ number: Int = 1) {
        if has(number) { removeSubrange((count - number)..<count) }
    }

    /// True if there are `number` elements to remove.
    private func has(_ number: Int) -> Bool {
        let count = count
        return Misuse.reporting {
            guard number >= 0, number <= count else {
                throw Realm.Error(
                    .indexOutOfRange, "\(number) of \(count) elements can't be taken out.",
                    number: Int64(number))
            }
            return true
        } ?? false
    }

    /// A part of the list. A new value may have another number of elements.
    public subscript(bounds: Range<Int>) -> Slice<List> {
        get { Slice(base: self, bounds: bounds) }
        set { replaceSubrange(bounds, with: Array(newValue)) }
    }

    /// Puts another element in the place of one.
    public func replace(index: Int, object: Element) {
        self[index] = object
    }

    /// Puts other elements in the place of a range.
    public func replaceSubrange<Elements: Collection>(
        _ subrange: Range<Int>, with newElements: Elements
    ) where Elements.Element == Element {
        let elements = Array(newElements)
        change { backing in
            try backing.replace(subrange, by: elements)
        } orUnmanaged: {
            try Self.requireIndex(subrange.lowerBound, below: $0.count + 1)
            try Self.requireIndex(subrange.upperBound, below: $0.count + 1)
            $0.replaceSubrange(subrange, with: elements)
        }
    }

    /// Moves an element, whose index is `to` afterwards.
    public func move(from: Int, to: Int) {
        change { backing in
            try backing.handle.move(from: from, to: to)
        } orUnmanaged: {
            try Self.requireIndex(from, below: $0.count)
            try Self.requireIndex(to, below: $0.count)
            $0.insert($0.remove(at: from), at: to)
        }
    }

    /// Exchanges two elements.
    public func swapAt(_ index1: Int, _ index2: Int) {
        change { backing in
            try backing.handle.swap(index1, index2)
        } orUnmanaged: {
            try Self.requireIndex(index1, below: $0.count)
            try Self.requireIndex(index2, below: $0.count)
            $0.swapAt(index1, index2)
        }
    }

    /// Changes the property in the file, or the array of an unmanaged list.
    private func change(
        _ managed: (CollectionBacking) throws -> Void,
        orUnmanaged inMemory: (inout [Element]) throws -> Void
    ) {
        Misuse.reporting {
            guard let backing else { return try inMemory(&unmanaged) }
            try backing.session.requireWriting()
            try managed(backing)
        }
    }

}

extension List: ExpressibleByArrayLiteral {
    /// An unmanaged list with these elements.
    public convenience init(arrayLiteral elements: Element...) {
        self.init()
        append(objectsIn: elements)
    }
}

extension List: Hashable {
    /// By identity, so that a list stays found while it changes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Element._shape.type)
    }
}

extension List: Decodable where Element: Decodable {
    /// An unmanaged list of an array.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { append(try container.decode(Element.self)) }
    }
}

extension List: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
