// Tests: SectionLayout.swift, SectionedResults.swift, SectionedResults+Observation.swift,
// Sections.swift
import Foundation
import RealmSwift
import Testing
import ToftTestKit

@testable import Toft

@Suite("Sections of sorted results")
struct SectionTests {
    enum Size: String, PersistableEnum { case small, middle, large }

    final class SectionParcel: Object {
        @Persisted var name = ""
        @Persisted var size = Size.small
        @Persisted var weight: Int?
        @Persisted var ratio = 0.0
        @Persisted var moment = Date(timeIntervalSince1970: 0)
        @Persisted var number = UUID()
        @Persisted var isSent = false
        @Persisted var any: AnyRealmValue
        @Persisted var inside: SectionParcel?
        @Persisted var tags: List<String>

        convenience init(_ name: String, _ size: Size = .small, _ weight: Int? = nil) {
            self.init()
            self.name = name
            self.size = size
            self.weight = weight
        }
    }

    final class SectionShelf: Object {
        @Persisted var parcels: List<SectionParcel>
        @Persisted var codes: MutableSet<Int>
        @Persisted var words: List<String>
    }

    final class SectionView: Projection<SectionParcel> {
        @Projected(\SectionParcel.name) var title
        @Projected(\SectionParcel.size) var size
    }

    private static let types: [ObjectBase.Type] = [SectionParcel.self, SectionShelf.self]

    private static let some: [(String, Size, Int?)] = [
        ("pear", Size.small, 3), ("apple", .large, nil), ("plum", .large, 3), ("fig", .small, 1),
        ("peach", .small, nil),
    ]

    private func withParcels(_ body: (Realm) throws -> Void) throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                for (name, size, weight) in Self.some {
                    realm.add(SectionParcel(name, size, weight))
                }
            }
            try body(realm)
        }
    }

    private func names<Key>(_ sections: SectionedResults<Key, SectionParcel>) -> [[String]] {
        sections.map { $0.map(\.name) }
    }

    // MARK: What they hold

    @Test func `Results are in sections by a key path, in its order or the other way round`() throws
    {
        try withParcels { realm in
            let sections = realm.objects(SectionParcel.self).sectioned(by: \.size)
            #expect(sections.allKeys == [.large, .small], "sorted by the raw value")
            #expect(names(sections) == [["apple", "plum"], ["pear", "fig", "peach"]])
            #expect(sections.count == 2 && sections[1].count == 3 && sections[1].key == .small)
            #expect(sections[0].id == .large && sections[1][1].name == "fig")
            #expect(sections[IndexPath(item: 2, section: 1)].name == "peach")
            #expect(sections[IndexPath(row: 0, section: 0)].name == "apple")
            #expect(sections.first == sections[0] && sections.last == sections[1])
            #expect(sections[0] != sections[1] && sections[0].last?.name == "plum")
            #expect(sections.realm == realm && !sections.isInvalidated && !sections.isFrozen)
            let down = realm.objects(SectionParcel.self).sectioned(by: \.weight, ascending: false)
            #expect(down.allKeys == [3, 1, nil])
            let sorted = realm.objects(SectionParcel.self).sectioned(
                by: \.size, sortDescriptors: ["size", SortDescriptor(keyPath: \SectionParcel.name)])
            #expect(names(sorted) == [["apple", "plum"], ["fig", "peach", "pear"]])
            #expect("\(sections)".contains("large") && "\(sections[1])".contains("fig"))
        }
    }

    @Test func `Keys are of every type that has an order, and paths go over links`() throws {
        try withParcels { realm in
            try realm.write {
                let all = realm.objects(SectionParcel.self)
                for (index, parcel) in all.enumerated() {
                    parcel.ratio = [Double.nan, 0.0, -0.0, 1.5, .nan][index]
                    parcel.moment = Date(timeIntervalSince1970: Double(index / 2))
                    parcel.number = UUID(
                        uuid: (UInt8(index / 3), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
                    parcel.isSent = index > 3
                    parcel.any = [.int(1), .string("x"), .double(1), .none, .string("x")][index]
                    parcel.inside = index < 2 ? all[4] : nil
                }
            }
            let all = realm.objects(SectionParcel.self)
            #expect(
                all.sectioned(by: \.ratio).map(\.count) == [2, 2, 1], "NaN is one key, and zero")
            #expect(all.sectioned(by: \.moment).map(\.count) == [2, 2, 1])
            #expect(all.sectioned(by: \.number).map(\.count) == [3, 2])
            #expect(all.sectioned(by: \.isSent).allKeys == [false, true])
            #expect(all.sectioned(by: \.name).count == 5)
            let mixed = all.sectioned(by: \.any)
            #expect(mixed.allKeys == [.none, .int(1), .string("x")], "1 and 1.0 are one key")
            #expect(mixed.map(\.count) == [1, 2, 2])
            let linked = all.sectioned(by: \.inside?.name)
            #expect(linked.allKeys == [nil, "peach"] && linked.map(\.count) == [3, 2])
        }
    }

    @Test func `A block gives keys, and elements of one key are together wherever they stand`()
        throws
    {
        try withParcels { realm in
            let all = realm.objects(SectionParcel.self)
            let initials = all.sectioned(
                by: { String($0.name.prefix(1)) }, sortDescriptors: ["name"])
            #expect(initials.allKeys == ["a", "f", "p"])
            #expect(names(initials) == [["apple"], ["fig"], ["peach", "pear", "plum"]])
            let scattered = all.sectioned(sortDescriptors: ["name"]) { $0.name.count }
            #expect(scattered.allKeys == [5, 3, 4])
            #expect(names(scattered) == [["apple", "peach"], ["fig"], ["pear", "plum"]])
            #expect(scattered[IndexPath(item: 1, section: 2)].name == "plum")
            let constant = all.sectioned(sortDescriptors: ["name"]) { _ -> Int? in nil }
            #expect(constant.allKeys == [nil] && constant[0].count == 5)
        }
    }

    @Test
    func `Lists, sets, backlinks, projections and hidden kinds have sections, and values too`()
        throws
    {
        try withParcels { realm in
            let shelf = SectionShelf()
            try realm.write {
                realm.add(shelf)
                shelf.parcels.append(
                    objectsIn: realm.objects(SectionParcel.self).filter("size = 'small'"))
                shelf.codes.insert(objectsIn: [1, 11, 12, 21])
                shelf.words.append(objectsIn: ["b", "aa", "bb", "a"])
            }
            #expect(names(shelf.parcels.sectioned(by: \.weight)) == [["peach"], ["fig"], ["pear"]])
            let hidden = AnyRealmCollection(shelf.parcels)
            #expect(names(hidden.sectioned(by: \.size)) == [["pear", "fig", "peach"]])
            let tens = shelf.codes.sectioned(by: { $0 / 10 }, ascending: false)
            #expect(tens.allKeys == [2, 1, 0] && tens.map { Array($0) } == [[21], [12, 11], [1]])
            let words = shelf.words.sectioned(by: { $0.count })
            #expect(words.allKeys == [1, 2] && Array(words[1]) == ["aa", "bb"])
            let views = realm.objects(SectionView.self).sectioned(by: \.size)
            #expect(views.map { $0.map(\.title) }.first == ["apple", "plum"])
        }
    }

    @Test func `Keys that do not follow the order, links as keys and no order are misuse`() throws {
        try withParcels { realm in
            let all = realm.objects(SectionParcel.self)
            expectError(.invalidArgument) {
                all.sectioned(by: \.size, sortDescriptors: ["name", "size"])
            }
            expectError(.invalidArgument) { all.sectioned(by: \.size, sortDescriptors: []) }
            expectError(.invalidArgument) { all.sectioned(by: \.inside) }
            expectError(.invalidArgument) {
                all.sectioned(sortDescriptors: ["name"]) { AnyRealmValue.object($0) }.count
            }
            expectError(.unsupported) { SectionShelf().parcels.sectioned(by: \.size) }
            let sections = all.sectioned(by: \.size)
            for index in [-1, 2] { expectError(.indexOutOfRange) { sections[index] } }
            for index in [-1, 3] { expectError(.indexOutOfRange) { sections[1][index] } }
            expectError(.indexOutOfRange) { sections[IndexPath(item: 2, section: 0)] }
            expectError(.indexOutOfRange) { sections[IndexPath(item: 0, section: 2)] }
            expectError(.invalidArgument) { sections[IndexPath(index: 0)] }
            realm.invalidate()
            #expect(sections.isInvalidated && sections.isEmpty && sections.allKeys == [])
        }
    }

    @Test func `They are live: objects change sections, sections come in the middle and go`() throws
    {
        try withParcels { realm in
            let all = realm.objects(SectionParcel.self)
            let sections = all.sectioned(by: \.size)
            let blocks = all.sectioned(sortDescriptors: ["name"]) { $0.weight }
            let large = sections[0]
            try realm.write {
                all[0].size = .middle
                #expect(
                    sections.allKeys == [.large, .middle, .small], "in the transaction as well")
                all[3].weight = 8
                #expect(blocks.allKeys == [nil, 8, 3], "a block may read what is not sorted by")
            }
            #expect(large.map(\.name) == ["apple", "plum"])
            try realm.write { realm.delete(all.where { $0.size == .large }) }
            #expect(sections.allKeys == [.middle, .small] && large.isEmpty && large.isInvalidated)
            #expect(large.key == .large)
            var seen: [String] = []
            try realm.write {
                for parcel in sections[1] {
                    seen.append(parcel.isInvalidated ? "gone" : parcel.name)
                    realm.delete(all.filter("name = 'peach'"))
                }
            }
            #expect(seen == ["fig", "gone"] && sections[1].count == 1)
        }
    }

    @Test func `Frozen they stay as they were, on any thread, and thawed they are live again`()
        throws
    {
        let configuration = TestRealm.inMemory(Self.types)
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for (name, size, _) in Self.some { realm.add(SectionParcel(name, size)) }
        }
        let sections = realm.objects(SectionParcel.self).sectioned(by: \.size)
        let frozen = sections.freeze()
        let section = sections[1].freeze()
        try realm.write { realm.deleteAll() }
        #expect(sections.isEmpty && frozen.count == 2 && frozen.isFrozen && section.count == 3)
        let shared = Box((frozen, section))
        let counts = try elsewhere { [shared.value.0[0].count, shared.value.1.count] }
        #expect(counts == [2, 3])
        let thawed = try #require(frozen.thaw())
        #expect(thawed.isEmpty && !thawed.isFrozen)
        #expect(try #require(section.thaw()).isEmpty)
        let reference = ThreadSafeReference(to: sections)
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(SectionParcel("kiwi", .middle)) }
            #expect(try #require(realm.resolve(reference)).allKeys == [.middle])
        }
        try TestRealm.check(realm)
    }

    @Test func `Of many objects in few sections only the ends of sections are looked at`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                for index in 0..<20_000 { realm.add(SectionParcel("", .small, index % 100)) }
            }
            let sections = realm.objects(SectionParcel.self).sectioned(by: \.weight)
            let start = ContinuousClock.now
            #expect(sections.count == 100 && sections.allSatisfy { $0.count == 200 })
            #expect(sections[57][199].weight == 57 && sections[57].key == 57)
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }

    // MARK: Observing

    /// An observer's notifications, in short: "section.item" for each index path.
    final class Log: @unchecked Sendable {
        var lines: [String] = []

        func add<Observed: RealmSectionedResult>(_ change: SectionedResultsChange<Observed>) {
            switch change {
            case .initial(let sections): lines.append("initial \(sections.count)")
            case .update(_, let gone, let come, let changed, let new, let old):
                func text(_ paths: [IndexPath]) -> String {
                    paths.map { "\($0.section).\($0.item)" }.joined(separator: " ")
                }
                lines.append(
                    "-\(text(gone)) +\(text(come)) *\(text(changed)) "
                        + "+\(Array(new)) -\(Array(old))")
            }
        }
    }

    @Test func `Observers are told index paths, and which sections come and go`() throws {
        let configuration = TestRealm.inMemory(Self.types)
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                for (name, size, _) in Self.some { realm.add(SectionParcel(name, size)) }
            }
            let all = realm.objects(SectionParcel.self)
            let (log, one) = (Log(), Log())
            let sections = all.sectioned(by: \.size)
            let token = try loop.inside { sections.observe { log.add($0) } }
            let tokenOfOne = try loop.inside { sections[1].observe { one.add($0) } }
            loop.wait { log.lines.count == 1 && one.lines.count == 1 }
            #expect(log.lines == ["initial 2"] && one.lines == ["initial 3"])

            func next(_ change: @escaping () -> Void) throws -> String? {
                let count = log.lines.count
                try realm.write(change)
                loop.wait { log.lines.count > count }
                return log.lines.last
            }
            #expect(try next { all[0].size = .middle } == "-1.0 +1.0 * +[1] -[]")
            #expect(one.lines.last == "-1.0 + * +[] -[]")
            #expect(try next { all[3].weight = 5 } == "- + *2.0 +[] -[]")
            #expect(one.lines.last == "- + *2.0 +[] -[]")
            #expect(try next { realm.delete(all[0]) } == "-1.0 + * +[] -[1]")
            #expect(one.lines.count == 3, "the section of the small ones is told of itself alone")
            #expect(try next { all[0].size = .small } == "-0.0 +1.0 * +[] -[]")
            #expect(
                try next { realm.add([SectionParcel("x", .large), SectionParcel("y", .middle)]) }
                    == "- +0.1 1.0 * +[1] -[]")
            #expect(
                try next { realm.delete(all.filter("size = 'small'")) }
                    == "-2.0 2.1 2.2 + * +[] -[2]")
            #expect(one.lines.last == "-2.0 2.1 2.2 + * +[] -[2]")
            withExtendedLifetime((token, tokenOfOne)) {}
            try TestRealm.check(realm)
        }
    }

    @Test func `A section that changes where no row moves is told, also to observers of key paths`()
        throws
    {
        let configuration = TestRealm.inMemory(Self.types)
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                realm.add([SectionParcel("a"), SectionParcel("b"), SectionParcel("c")])
            }
            let all = realm.objects(SectionParcel.self)
            let (log, weights, none) = (Log(), Log(), Log())
            let sections = all.sectioned(sortDescriptors: ["name"]) { String($0.name.prefix(1)) }
            let tokens = try loop.inside {
                [
                    sections.observe { log.add($0) },
                    sections.observe(keyPaths: ["weight"]) { weights.add($0) },
                    sections.observe(keyPaths: [] as [String]) { none.add($0) },
                ]
            }
            loop.wait { [log, weights, none].allSatisfy { $0.lines.count == 1 } }
            try realm.write { all[1].name = "bb" }
            try realm.write { all[1].name = "c" }
            loop.wait { none.lines.count == 2 }
            #expect(none.lines.last == "-1.0 +1.0 * +[] -[1]")
            #expect(weights.lines.last == "-1.0 +1.0 * +[] -[1]")
            try realm.write { all[0].ratio = 2 }
            loop.wait { log.lines.last == "- + *0.0 +[] -[]" }
            #expect(log.lines.last == "- + *0.0 +[] -[]" && weights.lines.count < 5)
            try realm.write { all[0].weight = 2 }
            loop.wait { weights.lines.last == "- + *0.0 +[] -[]" }
            #expect(weights.lines.last == "- + *0.0 +[] -[]")
            #expect(none.lines.allSatisfy { $0.contains("* ") || $0.hasPrefix("initial") })
            withExtendedLifetime(tokens) {}
            try TestRealm.check(realm)
        }
    }

    @Test func `A transaction that an observer is not told of is the ground for its next call`()
        throws
    {
        let configuration = TestRealm.inMemory(Self.types)
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add([SectionParcel("a"), SectionParcel("b", .large)]) }
            let log = Log()
            let sections = realm.objects(SectionParcel.self).sectioned(by: \.size)
            let token = try loop.inside { sections.observe { log.add($0) } }
            loop.wait { log.lines.count == 1 }
            try realm.write(withoutNotifying: [token]) { realm.add(SectionParcel("c", .middle)) }
            try realm.write { realm.add(SectionParcel("d", .middle)) }
            loop.wait { log.lines.count == 2 }
            #expect(log.lines.last == "- +1.1 * +[] -[]")
            token.invalidate()
            try TestRealm.check(realm)
        }
    }

    @Test func `On a queue the observer has the sections of a realm there`() throws {
        let configuration = TestRealm.inMemory(Self.types)
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add([SectionParcel("a"), SectionParcel("b", .large)]) }
        let queue = DispatchQueue(label: "sections")
        let log = Log()
        let token = realm.objects(SectionParcel.self).sectioned(by: \.size).observe(
            keyPaths: [\.name], on: queue
        ) { log.add($0) }
        func wait(for count: Int) {
            for _ in 0..<1000 where queue.sync(execute: { log.lines.count }) < count {
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
        wait(for: 1)
        try realm.write { realm.add(SectionParcel("c", .middle)) }
        wait(for: 2)
        #expect(queue.sync { log.lines } == ["initial 2", "- +1.0 * +[1] -[]"])
        token.invalidate()
        try TestRealm.check(realm)
    }

    @Test func `Replaying what an observer is told gives the sections, whatever happens`() throws {
        let configuration = TestRealm.inMemory(Self.types)
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let all = realm.objects(SectionParcel.self)
            var seed = Seed.random()
            try realm.write {
                for index in 0..<30 { realm.add(SectionParcel("\(index % 7)", .small, index % 5)) }
            }
            let sections = all.sectioned(sortDescriptors: ["name", "weight"]) { $0.weight }
            var copy: [[String]] = []
            var calls = 0
            let token = try loop.inside {
                sections.observe { change in
                    calls += 1
                    func now(_ sections: SectionedResults<Int?, SectionParcel>) -> [[String]] {
                        sections.map { $0.map { "\($0.number)" } }
                    }
                    switch change {
                    case .initial(let sections): copy = now(sections)
                    case .update(let sections, let gone, let come, _, let new, let old):
                        let after = now(sections)
                        for path in gone.sorted(by: >) {
                            copy[path.section].remove(at: path.item)
                        }
                        for index in old.reversed() { copy.remove(at: index) }
                        for index in new { copy.insert([], at: index) }
                        for path in come.sorted() {
                            copy[path.section].insert(
                                after[path.section][path.item], at: path.item)
                        }
                        #expect(copy == after, "seed \(seed), call \(calls)")
                    }
                }
            }
            loop.wait { calls == 1 }
            for round in 0..<60 {
                try realm.write {
                    for _ in 0..<Int.random(in: 1...4, using: &seed) {
                        switch Int.random(in: 0..<4, using: &seed) {
                        case 0:
                            realm.add(
                                SectionParcel(
                                    "\(Int.random(in: 0..<7, using: &seed))", .small,
                                    Int.random(in: 0..<8, using: &seed)))
                        case 1: all.randomElement(using: &seed).map { realm.delete($0) }
                        case 2:
                            all.randomElement(using: &seed)?.weight = Int.random(
                                in: 0..<8, using: &seed)
                        default:
                            all.randomElement(using: &seed)?.name =
                                "\(Int.random(in: 0..<7, using: &seed))"
                        }
                    }
                }
                let before = calls
                loop.wait(round % 3 == 0 ? 0.2 : 0.01) { calls > before }
            }
            loop.wait(0.5) { copy == sections.map { $0.map { "\($0.number)" } } }
            #expect(copy == sections.map { $0.map { "\($0.number)" } }, "seed \(seed)")
            token.invalidate()
            try TestRealm.check(realm)
        }
    }
}
