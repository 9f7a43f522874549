internal import Foundation
internal import ToftEngine
internal import ToftModel

/// The rule that puts the elements of sorted results in sections.
///
/// `@unchecked Sendable`: key paths are immutable, and a block depends on nothing but the element.
struct SectionRule<Key, Element: RealmCollectionValue>: @unchecked Sendable {
    let key: (Element) -> Key
    /// The path by which the elements are sorted first.
    let sortPath: String
    /// True if that is the key as well, so that equal keys are adjacent.
    let isSortedByKey: Bool
}

/// Sections of sorted results: computed when they are first read, and again after a dependency has
/// changed.
///
/// If the elements are sorted by the key, only the keys at the ends of sections are read, and not
/// every element becomes an object. A block is called with every element.
///
/// `@unchecked Sendable`: threads share those of a frozen realm, and a lock guards their results.
final class Sections<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
    @unchecked Sendable
{
    /// The sections, valid between two changes.
    struct Found {
        var layout = SectionLayout()
        var keys: [Key] = []
        fileprivate var stamp: UInt64 = 0
    }

    let results: Results<Element>
    let rule: SectionRule<Key, Element>
    private let lock = NSLock()
    private var found: Found?

    init(_ results: Results<Element>, _ rule: SectionRule<Key, Element>) {
        self.results = results
        self.rule = rule
    }

    /// The present sections; empty if the results no longer exist.
    func current() throws -> Found {
        guard let core = results._core(), !core.isStale else { return Found() }
        try core.verifyReading()
        if !rule.isSortedByKey { core.session.reads?.noteEverything() }
        let stamp = try core.results.changeStamp(ofAnything: !rule.isSortedByKey)
        if let found = lock.withLock({ found }), found.stamp == stamp { return found }
        var new = try workedOut(core)
        new.stamp = stamp
        lock.withLock { found = new }
        return new
    }

    private func workedOut(_ core: _CollectionCore) throws -> Found {
        var found = Found()
        func add(_ rows: Range<Int>, _ element: Element) throws {
            let key = rule.key(element)
            let mark = UniqueKey(sectionKey: key)
            guard case .value(let value) = mark, !value.isLink else {
                throw Realm.Error(
                    .invalidArgument,
                    "Links, lists and dictionaries can't be section keys. Use a value of theirs.")
            }
            if found.layout.append(rows, mark) { found.keys.append(key) }
        }
        if rule.isSortedByKey, let path = try core.path(to: rule.sortPath) {
            var row = 0
            let count = try core.count()
            while row < count {
                let end = try core.endOfEqual(path, from: row, count: count)
                try add(row..<end, core.element(Element.self, at: row))
                row = end
            }
        } else {
            for (row, element) in results.enumerated() { try add(row..<row + 1, element) }
        }
        found.layout.finish()
        return found
    }
}

extension UniqueKey {
    /// The identity of a section's key, as the database compares values.
    fileprivate init<Key>(sectionKey key: Key) {
        func unique<Value: RealmCollectionValue>(_ value: Value) -> UniqueKey { UniqueKey(value) }
        self = (key as? any RealmCollectionValue).map { unique($0) } ?? .value(.null)
    }
}

extension Value {
    fileprivate var isLink: Bool { if case .link = self { true } else { false } }
}

extension _CollectionCore {
    /// The ids of the properties on a path over links to one object; nil for any other path.
    fileprivate func path(to name: String) throws -> [PropertyID]? {
        guard var binding = home?.binding else { return nil }
        let names = name.pathNames
        var path: [PropertyID] = []
        for name in names {
            guard
                let index = binding.model.properties.firstIndex(where: {
                    $0.name.isSameName(as: name)
                }),
                binding.model.properties[index].shape.collection == .none
            else { return nil }
            path.append(binding.propertyIDs[index])
            if path.count == names.count { return path }
            guard let target = binding.model.properties[index].shape.target else { return nil }
            binding = try session.binding(of: target)
        }
        return nil
    }

    private func value(_ path: [PropertyID], at row: Int) throws -> Value {
        var object: ObjectHandle? = try results.object(at: row)
        for id in path.dropLast() {
            guard case .link(let ref)? = try object?.value(id) else { return .null }
            object = try session.engine.object(ref)
        }
        guard let object, let id = path.last else { return .null }
        return try object.value(id)
    }

    /// The end of the rows with the value of the row `first`, in results that are sorted by it.
    /// O(log rows).
    fileprivate func endOfEqual(_ path: [PropertyID], from first: Int, count: Int) throws -> Int {
        let value = try value(path, at: first)
        func isEqual(_ row: Int) throws -> Bool {
            try self.value(path, at: row).mixedOrder(value) == 0
        }
        var low = first + 1
        var high = count
        var step = 1
        while low < high {
            let row = min(low + step - 1, high - 1)
            guard try isEqual(row) else {
                high = row
                break
            }
            low = row + 1
            step *= 2
        }
        while low < high {
            let middle = (low + high) / 2
            if try isEqual(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
