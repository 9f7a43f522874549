// Tests: ObjectIterator.swift
import Foundation
import RealmSwift
import Testing
import ToftTestKit

@testable import Toft

/// A class whose instances have no state of their own, so that a loop may use one again.
final class Tile: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted var name: String
    @Persisted var isRed: Bool
    @Persisted var weight: Double
    @Persisted var size: Float
    @Persisted var laid: Date
    @Persisted var rank: Int?
    @Persisted var marks: List<String>
    @Persisted var next: Tile?
    @Persisted(originProperty: "next") var previous: LinkingObjects<Tile>

    /// The number of instances that the initializer has made on this thread.
    static var made: Int { Thread.current.threadDictionary["made"] as? Int ?? 0 }
    /// The number of instances that have ended on this thread.
    static var ended: Int { Thread.current.threadDictionary["ended"] as? Int ?? 0 }

    required init() {
        super.init()
        Thread.current.threadDictionary["made"] = Tile.made + 1
    }

    deinit { Thread.current.threadDictionary["ended"] = Tile.ended + 1 }

    convenience init(_ number: Int) {
        self.init()
        self.number = number
        name = "tile \(number)"
        isRed = number % 3 == 0
        weight = Double(number) / 2
        size = Float(number) / 4
        laid = Date(timeIntervalSince1970: Double(number))
        rank = number % 2 == 0 ? number : nil
        marks.append("mark \(number)")
    }

    /// The differences from its initial state.
    var flaws: [String] {
        var flaws: [String] = []
        if name != "tile \(number)" { flaws.append("\(number) is called \(name)") }
        if isRed != (number % 3 == 0) { flaws.append("\(number) is red: \(isRed)") }
        if weight != Double(number) / 2 || size != Float(number) / 4 {
            flaws.append("\(number) weighs \(weight), size \(size)")
        }
        if laid != Date(timeIntervalSince1970: Double(number)) {
            flaws.append("\(number) was laid \(laid)")
        }
        if rank != (number % 2 == 0 ? number : nil) {
            flaws.append("\(number) has rank \(String(describing: rank))")
        }
        if Array(marks) != ["mark \(number)"] {
            flaws.append("\(number) has marks \(Array(marks))")
        }
        return flaws
    }
}

/// With a default for everything, one of them in memory of its own, and an unusual alignment.
final class Ornament: Object {
    @Persisted var title = "a text that is too long to lie in the string itself"
    @Persisted var since: Date
    @Persisted var id: UUID
    @Persisted var marks = ["carved"] as List<String>
    @Persisted var spread: Spread

    required init() {
        super.init()
        marks.append("painted")
    }
}

struct Spread: CustomPersistable, Hashable {
    var sides: SIMD4<Double>

    init(sides: SIMD4<Double>) { self.sides = sides }
    init(persistedValue: Data) {
        sides = .zero
        for (index, byte) in persistedValue.prefix(4).enumerated() { sides[index] = Double(byte) }
    }
    var persistableValue: Data { Data((0..<4).map { UInt8(sides[$0]) }) }
}

final class TileProjection: Projection<Tile> {
    @Projected(\Tile.name) var name
}

extension UUID {
    fileprivate static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

@Suite("Loops")
struct IterationTests {
    /// A realm with `count` tiles, each but the last linked to the next.
    private func withTiles(_ count: Int, _ body: (Realm, Results<Tile>) throws -> Void) throws {
        try TestRealm.with([Tile.self]) { realm in
            try realm.write {
                var next: Tile?
                for number in (0..<count).reversed() {
                    let tile = Tile(number)
                    tile.next = next
                    realm.add(tile)
                    next = tile
                }
            }
            try body(realm, realm.objects(Tile.self))
        }
    }

    // MARK: Instances

    @Test
    func `A loop that keeps nothing needs one instance for all objects`() throws {
        try withTiles(1000) { _, tiles in
            let ended = Tile.ended
            var flaws: [String] = []
            for tile in tiles { flaws += tile.flaws }
            #expect(flaws == [])
            #expect((1...2).contains(Tile.ended - ended))
        }
    }

    @Test
    func `Objects that are read are made without their initializer, and share nothing`() throws {
        try withTiles(20) { realm, tiles in
            let made = Tile.made
            let kept =
                Array(tiles)
                + [tiles[3], tiles.last, tiles.last?.previous.first]
                .compactMap { $0 }
            #expect(kept.flatMap(\.flaws) == [])
            #expect(Tile.made == made)
            try realm.write {
                kept[0].marks.append("another")
                kept[1].name = "renamed"
            }
            #expect(kept[2...].flatMap(\.flaws) == [])
            #expect(Tile(7).realm == nil)
        }
    }

    @Test
    func `An object that is read shows none of its class's defaults`() throws {
        try TestRealm.with([Ornament.self]) { realm in
            let made = Ornament()
            try realm.write {
                realm.add(made)
                (made.title, made.since, made.id) = ("", Date(timeIntervalSince1970: 1), UUID.zero)
                made.marks.removeAll()
                made.spread = Spread(sides: [1, 2, 3, 4])
            }
            let ornaments = realm.objects(Ornament.self)
            let kept: [Ornament] = Array(ornaments) + [ornaments[0]]
            for ornament in kept {
                #expect(ornament.title == "" && ornament.marks.isEmpty)
                #expect(ornament.since == Date(timeIntervalSince1970: 1))
                #expect(ornament.id == UUID.zero)
                #expect(ornament.spread == Spread(sides: [1, 2, 3, 4]))
                // The compiler lays such a property out at multiples of 32 bytes.
                let address = UInt(bitPattern: ObjectIdentifier(ornament))
                #expect(address % UInt(MemoryLayout<Spread>.alignment) == 0)
            }
        }
    }

    @Test
    func `What is kept of a loop stays the object that it is`() throws {
        try withTiles(1000) { _, tiles in
            var kept: [(number: Int, tile: Tile)] = []
            for tile in tiles where tile.number % 7 == 3 || tile.number < 50 {
                kept.append((tile.number, tile))
            }
            #expect(kept.count > 150)
            #expect(kept.allSatisfy { $0.tile.number == $0.number && $0.tile.flaws == [] })
            #expect(Set(kept.map { ObjectIdentifier($0.tile) }).count == kept.count)
            let all = Array(tiles)
            #expect(Set(all.map { ObjectIdentifier($0) }).count == 1000)
            #expect(all.map(\.number) == Array(tiles.map(\.number)))
        }
    }

    @Test
    func `An object that is kept until the next but one is used no sooner than that`() throws {
        try withTiles(600) { _, tiles in
            var last: [Tile] = []
            var wrong = 0
            for tile in tiles {
                last.append(tile)
                if last.count > 3 { last.removeFirst() }
                // Made in reverse: each one's number is one below the last's.
                for (before, after) in zip(last, last.dropFirst())
                where before.number != after.number + 1 { wrong += 1 }
            }
            #expect(wrong == 0)
        }
    }

    @Test
    func `A closure keeps its object, a collection of an object keeps showing that object`() throws
    {
        try withTiles(300) { _, tiles in
            var numbers: [() -> Int] = []
            var marks: [(number: Int, marks: List<String>)] = []
            var previous: [(number: Int, previous: LinkingObjects<Tile>)] = []
            for tile in tiles {
                if tile.number % 50 == 0 { numbers.append { tile.number } }
                if tile.number % 3 == 0 { marks.append((tile.number, tile.marks)) }
                if tile.number % 3 == 1 { previous.append((tile.number, tile.previous)) }
            }
            let remembered = numbers.map { $0() }
            #expect(remembered == [250, 200, 150, 100, 50, 0])
            #expect(marks.allSatisfy { Array($0.marks) == ["mark \($0.number)"] })
            #expect(previous.allSatisfy { $0.previous.first?.number == $0.number - 1 })
        }
    }

    @Test
    func `A weak reference shows its object or nothing, never another`() throws {
        try withTiles(300) { _, tiles in
            weak var seen: Tile?
            var number = 0
            var others = 0
            let ended = Tile.ended
            for tile in tiles {
                if let seen, seen.number != number { others += 1 }
                if tile.number % 10 == 0 { (seen, number) = (tile, tile.number) }
                if let seen, seen.number != number { others += 1 }
            }
            #expect(others == 0)
            #expect(Tile.ended - ended >= 30)
        }
    }

    @Test
    func `An instance with an unowned reference to it is not used again`() throws {
        try withTiles(100) { _, tiles in
            var holders: [() -> ObjectIdentifier] = []
            let ended = Tile.ended
            for tile in tiles where tile.number % 10 == 0 {
                holders.append { [unowned tile] in ObjectIdentifier(tile) }
            }
            #expect(holders.count == 10)
            #expect(Tile.ended - ended >= 10)
        }
    }

    @Test
    func `A copy of an iterator goes its own way, with objects of its own`() throws {
        try withTiles(100) { _, tiles in
            var first = tiles.makeIterator()
            _ = first.next()
            var second = first
            let one = first.next()
            let two = second.next()
            #expect(one !== two)
            #expect(one?.number == 98 && two?.number == 98)
            _ = first.next()
            #expect(second.next()?.number == 97)
            #expect(first.next()?.number == 96)
            #expect(one?.number == 98 && two?.number == 98)
        }
    }

    @Test
    func `Loops within a loop over the same results have instances of their own`() throws {
        try withTiles(40) { _, tiles in
            var pairs = 0
            for outer in tiles {
                let number = outer.number
                for inner in tiles where inner.number > outer.number { pairs += 1 }
                #expect(outer.number == number)
            }
            #expect(pairs == 40 * 39 / 2)
        }
    }

    @Test
    func `What an app stores in an instance does not appear in the next object`() throws {
        try TestRealm.with { realm in
            try realm.write { for id in 0..<100 { realm.add(Person(id, "person \(id)")) } }
            var selected = 0
            for person in realm.objects(Person.self) {
                if person.isSelected { selected += 1 }
                person.isSelected = true
            }
            #expect(selected == 0)
        }
    }

    // MARK: While the realm changes

    @Test
    func `A loop goes through the objects that were there when it began, as they are now`() throws {
        try withTiles(2000) { realm, tiles in
            let configuration = realm.configuration
            var numbers: [Int] = []
            var names: [String] = []
            var kept: Tile?
            var gone: [Tile] = []
            for tile in tiles {
                if tile.isInvalidated {
                    gone.append(tile)
                    continue
                }
                numbers.append(tile.number)
                names.append(tile.name)
                if numbers.count == 100 { kept = tile }
                guard numbers.count == 700 else { continue }
                try elsewhere {
                    let realm = try Realm(configuration: configuration)
                    try realm.write {
                        realm.delete(realm.objects(Tile.self).where { $0.number < 500 })
                        for tile in realm.objects(Tile.self) {
                            tile.name = "renamed \(tile.number)"
                        }
                        realm.add(Tile(5000))
                    }
                }
                #expect(tile.name == "tile \(tile.number)")
                realm.refresh()
                #expect(tile.name == "renamed \(tile.number)")
            }
            #expect(numbers == (500..<2000).reversed())
            // Deleted ones come, too.
            #expect(gone.count == 500 && Set(gone.map(\.hash)).count == 500)
            expectError(.objectDeleted) { _ = gone.first?.name }
            #expect(names[..<700].elementsEqual(numbers[..<700].map { "tile \($0)" }))
            #expect(names[700...].elementsEqual(numbers[700...].map { "renamed \($0)" }))
            #expect(kept?.number == 1900)
            #expect(kept?.name == "renamed 1900")
            #expect(tiles.count == 1501)
        }
    }

    @Test
    func `In a write transaction a loop may change, delete and add objects`() throws {
        try withTiles(600) { realm, tiles in
            var seen = 0
            try realm.write {
                for tile in tiles {
                    seen += 1
                    tile.name += "!"
                    if tile.number % 2 == 0, let next = tile.next { realm.delete(next) }
                    if tile.number % 100 == 0 { realm.add(Tile(1000 + tile.number)) }
                    if tile.number % 5 == 0 { realm.delete(tile) }
                }
            }
            // The next of an even one is odd, and was met before it, as all were made in reverse.
            #expect(seen == 600)
            #expect(tiles.count < 600)
            let wrong = tiles.filter {
                $0.name != "tile \($0.number)" + ($0.number < 1000 ? "!" : "")
            }
            #expect(wrong.isEmpty)
        }
    }

    @Test
    func `A loop that begins a write transaction, writes and commits for each object goes on`()
        throws
    {
        try withTiles(300) { realm, tiles in
            var kept: [Tile] = []
            for tile in tiles {
                try realm.write { tile.weight += 1 }
                if tile.number % 60 == 0 { kept.append(tile) }
            }
            #expect(tiles.allSatisfy { $0.weight == Double($0.number) / 2 + 1 })
            #expect(kept.map(\.number) == [240, 180, 120, 60, 0])
        }
    }

    @Test
    func `An object deleted in a loop is gone, the ones after it are not`() throws {
        try withTiles(20) { realm, tiles in
            var gone: Tile?
            var numbers: [Int] = []
            realm.beginWrite()
            for tile in tiles {
                if tile.number == 10 {
                    gone = tile
                    realm.delete(tile)
                    expectError(.objectDeleted) { _ = tile.name }
                } else {
                    numbers.append(tile.number)
                }
            }
            try realm.commitWrite()
            #expect(numbers == (0..<20).filter { $0 != 10 }.reversed())
            #expect(gone?.isInvalidated == true)
        }
    }

    /// They were passed over, where Realm's guide says that they are visited.
    @Test
    func `What a loop deletes ahead of itself is visited, and invalidated`() throws {
        final class TileShelf: Object {
            @Persisted var tiles: List<Tile>
            @Persisted var set: MutableSet<Tile>
            @Persisted var map: Map<String, Tile?>
        }
        try TestRealm.with([Tile.self, TileShelf.self]) { realm in
            let shelf = TileShelf()
            func visit(_ tiles: some Sequence<Tile>) throws -> (all: Int, gone: Int) {
                var (all, gone) = (0, 0)
                try realm.write {
                    for tile in tiles {
                        if all == 0 { realm.delete(realm.objects(Tile.self).filter("number >= 5")) }
                        (all, gone) = (all + 1, gone + (tile.isInvalidated ? 1 : 0))
                    }
                    realm.cancelWrite()
                    realm.beginWrite()
                }
                return (all, gone)
            }
            try realm.write {
                realm.add(shelf)
                for number in 0..<10 {
                    let tile = Tile(number)
                    realm.add(tile)
                    shelf.tiles.append(tile)
                    shelf.set.insert(tile)
                    shelf.map["\(number)"] = tile
                }
            }
            let all = realm.objects(Tile.self)
            for tiles in [
                AnySequence(all), AnySequence(all.filter("name != ''")),
                AnySequence(all.sorted(byKeyPath: "name")), AnySequence(shelf.tiles),
                AnySequence(shelf.set), AnySequence(AnyRealmCollection(all)),
            ] {
                let visited = try visit(tiles)
                #expect(visited.all == 10 && visited.gone == 5)
            }
            var visited = 0
            try realm.write {
                let projections = realm.objects(TileProjection.self)
                for tile in projections {
                    if visited == 0 { realm.delete(all.filter("number >= 5")) }
                    visited += tile.isInvalidated ? 100 : 1
                }
                realm.cancelWrite()
                realm.beginWrite()
                for tile in realm.dynamicObjects("Tile") {
                    if visited == 505 { realm.delete(all.filter("number >= 5")) }
                    visited += tile.isInvalidated ? 10_000 : 1
                }
                realm.cancelWrite()
                realm.beginWrite()
                // A map has its former entries; those of deleted objects have nil.
                var entries = 0
                for (_, tile) in shelf.map {
                    if entries == 0 { realm.delete(all.filter("number >= 5")) }
                    entries += 1
                    if tile == nil { visited += 1_000_000 }
                }
                #expect(entries == 10)
                realm.cancelWrite()
                realm.beginWrite()
            }
            #expect(visited == 5_050_510)
        }
    }

    @Test
    func `A loop over an invalidated realm ends; over a frozen one it gives frozen objects`() throws
    {
        try withTiles(600) { realm, tiles in
            let frozen = Box(tiles.freeze())
            let iterator = Box(tiles.makeIterator())
            #expect(iterator.value.next()?.number == 599)
            try elsewhere { expectError(.wrongThread) { _ = iterator.value.next() } }
            var kept: [Tile] = []
            try elsewhere {
                for tile in frozen.value where tile.number % 100 == 0 { #expect(tile.flaws == []) }
            }
            for tile in frozen.value { kept.append(tile) }
            #expect(kept.map(\.number) == (0..<600).reversed())
            #expect(kept.allSatisfy { $0.isFrozen })
            var seen = 0
            for tile in tiles {
                seen += 1
                if tile.number == 590 { realm.invalidate() }
            }
            #expect(seen == 10)
        }
    }

    // MARK: Many objects at once

    @Test
    func `Objects of more clusters than windows are kept open are read right in any order`() throws
    {
        try withTiles(12_000) { realm, tiles in
            let kept = Array(tiles)
            var seed = Seed.random()
            print("many clusters:", seed)
            for round in 0..<3000 {
                let index = seed.below(kept.count)
                let tile = kept[index]
                #expect(
                    tile.number == 11_999 - index && tile.isRed == (tile.number % 3 == 0),
                    "round \(round), \(seed)")
                if seed.chance(20) {
                    #expect(
                        tile.next?.number == (index == 0 ? nil : tile.number + 1),
                        "round \(round), \(seed)")
                }
                if seed.chance(2) { try realm.write { tile.weight += 0 } }
            }
        }
    }

    @Test
    func
        `Whatever a loop keeps, and whatever is written meanwhile, every kept object stays itself`()
        throws
    {
        var seed = Seed.random()
        print("random loops:", seed)
        try withTiles(1200) { realm, tiles in
            var strong: [(number: Int, tile: Tile)] = []
            var weaklings: [Weak] = []
            for _ in 0..<8 {
                let keeping = seed.below(60)
                for tile in tiles {
                    if seed.chance(keeping) { strong.append((tile.number, tile)) }
                    if seed.chance(5) { weaklings.append(Weak(tile: tile, number: tile.number)) }
                    if seed.chance(10), let next = tile.next { strong.append((next.number, next)) }
                    if seed.chance(30) {
                        while strong.count > 40 { strong.remove(at: seed.below(strong.count)) }
                    }
                    if seed.chance(1) { try realm.write { tile.weight = Double(tile.number) / 2 } }
                    if seed.chance(5) {
                        #expect(strong.allSatisfy { $0.tile.number == $0.number }, "\(seed)")
                        #expect(
                            weaklings.allSatisfy { $0.tile == nil || $0.tile?.number == $0.number },
                            "\(seed)")
                        weaklings.removeAll { $0.tile == nil }
                    }
                }
            }
            #expect(strong.allSatisfy { $0.tile.flaws == [] }, "\(seed)")
        }
    }

    private struct Weak {
        weak var tile: Tile?
        let number: Int
    }
}
