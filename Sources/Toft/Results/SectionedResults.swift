public import Foundation
internal import ToftEngine
internal import ToftModel

/// Sorted results in sections, each of the elements that have one key: live as results are.
///
/// ```swift
/// let people = realm.objects(Person.self).sectioned(by: \.city)
/// for section in people {
///     print(section.key, section.count)
///     for person in section { print(person.name) }
/// }
/// let person = people[IndexPath(item: 0, section: 2)]
/// ```
///
/// The sections are in the order of their first elements. Spelled as in Realm.
public struct SectionedResults<
    Key: _Persistable & Hashable, SectionElement: RealmCollectionValue
>: RealmSectionedResult {
    public typealias Element = ResultsSection<Key, SectionElement>
    public typealias Index = Int

    let sections: Sections<Key, SectionElement>

    init(_ sections: Sections<Key, SectionElement>) {
        self.sections = sections
    }

    private var found: Sections<Key, SectionElement>.Found {
        Misuse.reporting { try sections.current() } ?? .init()
    }

    /// The keys of all sections, in their order.
    public var allKeys: [Key] { found.keys }

    /// Number of sections.
    public var count: Int { found.keys.count }

    /// The section at an index; out of range is misuse, with code `.indexOutOfRange`.
    public subscript(index: Int) -> ResultsSection<Key, SectionElement> {
        let found = found
        guard found.keys.indices.contains(index) else {
            Misuse.report(Realm.Error(EngineError(outOfRange: index, count: found.keys.count)))
            return ResultsSection(sections, nil, nil)
        }
        return ResultsSection(sections, found.keys[index], found.layout.marks[index])
    }

    /// The element of a section: `people[IndexPath(item: 0, section: 2)]`. Out of range is misuse,
    /// with code `.indexOutOfRange`.
    public subscript(indexPath: IndexPath) -> SectionElement {
        Misuse.reporting { () -> SectionElement in
            let found = try sections.current()
            guard indexPath.count == 2 else {
                throw Realm.Error(
                    .invalidArgument, "An index path has a section and an item: \(indexPath).")
            }
            guard let row = found.layout.row(indexPath.item, of: indexPath.section) else {
                let isSection = found.keys.indices.contains(indexPath.section)
                throw EngineError(
                    outOfRange: isSection ? indexPath.item : indexPath.section,
                    count: isSection
                        ? found.layout.sizes[indexPath.section] : found.keys.count)
            }
            return sections.results[row]
        } ?? SectionElement._standIn()
    }

    /// Goes through the sections as they are now.
    public func makeIterator() -> IndexingIterator<[ResultsSection<Key, SectionElement>]> {
        let found = found
        return zip(found.keys, found.layout.marks).map { ResultsSection(sections, $0, $1) }
            .makeIterator()
    }

    /// The realm; nil only after misuse.
    public var realm: Realm? { sections.results.realm }

    /// Whether their source is invalid: the list's object deleted, or the realm invalidated.
    public var isInvalidated: Bool { sections.results.isInvalidated }

    /// A line for each of the first elements, under the key of its section.
    public var description: String {
        prefix(100).map(\.description).joined(separator: "\n") + (count > 100 ? "\n..." : "")
    }

    /// Whether both are the same: made by one call, or copies.
    public static func == (left: SectionedResults, right: SectionedResults) -> Bool {
        left.sections === right.sections
    }

    public func _carry() throws -> _Carrier {
        let rule = sections.rule
        return try sections.results._carry().mapped { found in
            (found as? Results<SectionElement>).map { SectionedResults(Sections($0, rule)) }
        }
    }

    public func _sectioned() -> (results: SectionedResults, mark: _SectionMark?) { (self, nil) }
}

/// The elements of one key among `SectionedResults`: live, and empty as long as no element has the
/// key.
public struct ResultsSection<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue>:
    RealmSectionedResult, Identifiable
{
    public typealias Element = SectionElement
    public typealias Index = Int

    private let sections: Sections<Key, SectionElement>
    /// Both nil only after misuse.
    private let known: Key?
    private let mark: UniqueKey?

    init(_ sections: Sections<Key, SectionElement>, _ key: Key?, _ mark: UniqueKey?) {
        self.sections = sections
        known = key
        self.mark = mark
    }

    /// The key that all its elements have.
    public var key: Key { known ?? Key._initial() }
    /// The key.
    public var id: Key { key }

    /// The section's rows now; nil for an empty section.
    private func place() throws -> (layout: SectionLayout, section: Int)? {
        let layout = try sections.current().layout
        return mark.flatMap { layout.section(of: $0) }.map { (layout, $0) }
    }

    /// Number of elements; 0 as long as no element has the key.
    public var count: Int {
        Misuse.reporting { try place().map { $0.layout.sizes[$0.section] } ?? 0 } ?? 0
    }

    /// The element at an index; out of range is misuse, with code `.indexOutOfRange`.
    public subscript(index: Int) -> SectionElement {
        Misuse.reporting { () -> SectionElement in
            guard let place = try place(), let row = place.layout.row(index, of: place.section)
            else { throw EngineError(outOfRange: index, count: count) }
            return sections.results[row]
        } ?? SectionElement._standIn()
    }

    /// Goes through the elements as they are now; those deleted meanwhile come, invalidated.
    public func makeIterator() -> RLMIterator<SectionElement> {
        Misuse.reporting { () -> RLMIterator<SectionElement> in
            guard let core = sections.results._core(), let (layout, section) = try place() else {
                return RLMIterator([])
            }
            return RLMIterator(
                core,
                try (0..<layout.sizes[section]).compactMap { index in
                    try layout.row(index, of: section).map { try core.results.value(at: $0) }
                })
        } ?? RLMIterator([])
    }

    /// The realm; nil only after misuse.
    public var realm: Realm? { sections.results.realm }

    /// Whether its source is invalid, or no element has its key any more.
    public var isInvalidated: Bool { sections.results.isInvalidated || isEmpty }

    /// The key, and a line for each of the first elements.
    public var description: String {
        "\(key) "
            + (count > 100
                ? "[\n" + prefix(100).map { "    \($0)\n" }.joined() + "    ...\n]"
                : "[\n" + map { "    \($0)\n" }.joined() + "]")
    }

    /// Whether both are the section of one key, of sections that were made by one call.
    public static func == (left: ResultsSection, right: ResultsSection) -> Bool {
        left.sections === right.sections && left.mark == right.mark
    }

    public func _carry() throws -> _Carrier {
        let kept = Kept(key: known, mark: mark)
        return try SectionedResults(sections)._carry().mapped { found in
            (found as? SectionedResults<Key, SectionElement>).map {
                ResultsSection($0.sections, kept.key, kept.mark)
            }
        }
    }

    public func _sectioned() -> (
        results: SectionedResults<Key, SectionElement>, mark: _SectionMark?
    ) {
        (SectionedResults(sections), _SectionMark(key: mark))
    }

    /// `@unchecked Sendable`: keys are values.
    private struct Kept: @unchecked Sendable {
        let key: Key?
        let mark: UniqueKey?
    }
}

/// The identity of a section. Not for apps.
public struct _SectionMark {
    let key: UniqueKey?
}

/// The operations of `SectionedResults` and `ResultsSection`: indexed, live, and to be observed.
public protocol RealmSectionedResult: RandomAccessCollection, CustomStringConvertible, Equatable,
    ThreadConfined
where Index == Int {
    /// The type of the sections' keys.
    associatedtype Key: _Persistable & Hashable
    /// The type of the sections' elements.
    associatedtype SectionElement: RealmCollectionValue
    /// The sections, and which of them this is; nil: all. Not for apps.
    func _sectioned() -> (results: SectionedResults<Key, SectionElement>, mark: _SectionMark?)
}

extension RealmSectionedResult {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public func index(after index: Int) -> Int { index + 1 }
    public func index(before index: Int) -> Int { index - 1 }

    /// The first; nil without elements.
    public var first: Element? { isEmpty ? nil : self[0] }
    /// The last; nil without elements.
    public var last: Element? {
        let count = count
        return count == 0 ? nil : self[count - 1]
    }
}

// MARK: Making them

extension RealmCollection {
    /// The objects in sections by a property, or a path over to-one links, in its order:
    /// `sectioned(by: \.city)`.
    /// - Parameters:
    ///   - keyPath: names the key of an object.
    ///   - ascending: whether the least key comes first.
    /// - Returns: the sections.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> where Element: ObjectBase {
        let name = KeyPathNames.name(of: keyPath)
        return sectioned(
            by: name, [SortDescriptor(keyPath: name, ascending: ascending)],
            { $0[keyPath: keyPath] })
    }

    /// Sections in an order that begins with the key.
    /// - Parameters:
    ///   - keyPath: names the key of an object.
    ///   - sortDescriptors: the order. The first has to be of the same key path; anything else is
    ///     misuse, and there are no sections.
    /// - Returns: the sections.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> where Element: ObjectBase {
        sectioned(
            by: KeyPathNames.name(of: keyPath), sortDescriptors, { $0[keyPath: keyPath] })
    }

    /// Projections in sections by a property of theirs, in its order.
    /// - Parameters:
    ///   - keyPath: names the key of a projection.
    ///   - ascending: whether the least key comes first.
    /// - Returns: the sections.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> where Element: ProjectionObservable {
        let name = KeyPathNames.name(of: keyPath)
        return sectioned(
            by: name, [SortDescriptor(keyPath: name, ascending: ascending)],
            { $0[keyPath: keyPath] })
    }

    /// Sections in an order that begins with the key.
    /// - Parameters:
    ///   - keyPath: names the key of a projection.
    ///   - sortDescriptors: the order. The first has to be of the object's property that the key
    ///     path names; anything else is misuse, and there are no sections.
    /// - Returns: the sections.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> where Element: ProjectionObservable {
        sectioned(
            by: KeyPathNames.name(of: keyPath), sortDescriptors, { $0[keyPath: keyPath] })
    }

    /// The elements in sections by a key that a block gives, called with every element:
    /// `sectioned(by: { $0.name.first.map(String.init) ?? "" }, sortDescriptors: ["name"])`.
    /// - Parameters:
    ///   - block: gives the key of an element, which has to depend on nothing else. It may be
    ///     called on any thread that uses the sections.
    ///   - sortDescriptors: the order, of at least one descriptor. Elements of one key that are not
    ///     adjacent are in one section, at the place of the first of them.
    /// - Returns: the sections.
    public func sectioned<Key: _Persistable & Hashable>(
        by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        sectioned(by: nil, sortDescriptors, block)
    }

    /// Sections with the block at the end.
    /// - Parameters:
    ///   - sortDescriptors: the order, of at least one descriptor.
    ///   - keyBlock: gives the key of an element, which has to depend on nothing else.
    /// - Returns: the sections.
    public func sectioned<Key: _Persistable & Hashable>(
        sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        sectioned(by: nil, sortDescriptors, keyBlock)
    }

    private func sectioned<Key: _Persistable & Hashable>(
        by name: String?, _ order: [SortDescriptor], _ key: @escaping (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        let sorted =
            Misuse.reporting { () -> Results<Element> in
                _ = try requiredCore("sectioned")
                try Self.check(Key._shape, name, order)
                return self.sorted(by: order)
            } ?? Results(nil)
        return SectionedResults(
            Sections(
                sorted,
                SectionRule(
                    key: key, sortPath: order.first?.keyPath ?? "", isSortedByKey: name != nil)))
    }

    private static func check(
        _ shape: _PropertyShape, _ name: String?, _ order: [SortDescriptor]
    ) throws {
        guard let first = order.first else {
            throw Realm.Error(
                .invalidArgument, "There must be at least one SortDescriptor for sections.")
        }
        guard name == nil || first.keyPath == name else {
            throw Realm.Error(
                .invalidArgument,
                "The section key path must match the primary sort descriptor: the sections are "
                    + "made by '\(name ?? "")', and the order begins with '\(first.keyPath)'.")
        }
        guard shape.collection == .none, ![.link, .linkingObjects].contains(shape.type) else {
            throw Realm.Error(
                .invalidArgument,
                "Links, lists and dictionaries can't be section keys. Use a value of theirs.")
        }
    }
}

extension RealmCollection where Element.PersistedType: SortableType {
    /// The values in sections by a key that a block gives, in their own order.
    /// - Parameters:
    ///   - block: gives the key of a value, which has to depend on nothing else.
    ///   - ascending: whether the least value comes first.
    /// - Returns: the sections.
    public func sectioned<Key: _Persistable & Hashable>(
        by block: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(
            by: block, sortDescriptors: [SortDescriptor(keyPath: "self", ascending: ascending)])
    }
}

// MARK: Index paths

extension IndexPath {
    /// The path of an item in a section, as other frameworks on Apple's platforms have it.
    /// - Parameters:
    ///   - item: the index in the section.
    ///   - section: the index of the section.
    public init(item: Int, section: Int) { self = [section, item] }

    /// The path of a row in a section.
    /// - Parameters:
    ///   - row: the index in the section.
    ///   - section: the index of the section.
    public init(row: Int, section: Int) { self = [section, row] }

    /// The index of the section; 0 in a path without one.
    public var section: Int { isEmpty ? 0 : self[0] }
    /// The index in the section; 0 in a path without one.
    public var item: Int { count < 2 ? 0 : self[1] }
    /// The index in the section; 0 in a path without one.
    public var row: Int { item }
}
