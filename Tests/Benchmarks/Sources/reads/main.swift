import Foundation
import RealmSwift

// The cost of reading and writing properties through the Swift API: run in release mode, on a quiet
// machine.

final class Item: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var count: Int
    @Persisted var maybe: Int?
    @Persisted var weight: Double
    @Persisted var name: String
    @Persisted var text: String
    @Persisted var next: Item?
}

/// The processor time of this thread in nanoseconds: it is less disturbed by other programs.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Prints the nanoseconds that one of `count` steps of a block took, the best of five runs.
@inline(never)
func measure(_ name: String, _ count: Int, _ block: () throws -> Int) rethrows {
    var best = Double.infinity
    var check = 0
    for _ in 0..<5 {
        let start = now()
        check &+= try block()
        best = min(best, now() - start)
    }
    print(
        name.padding(toLength: 44, withPad: " ", startingAt: 0),
        String(format: "%8.1f ns", best / Double(count)), check == 42 ? "" : "")
}

let count = 200_000
let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "reads"))

let start = now()
do {
    try realm.write {
        var last: Item?
        for index in 0..<count {
            let item = Item()
            item.id = index
            item.count = index &* 7
            item.weight = Double(index)
            item.name = "item \(index)"
            item.text = "a text that does not fit into a string of fifteen bytes"
            item.next = last
            realm.add(item)
            last = item
        }
    }
}
print("adding an object with a link, seven properties:", Int((now() - start) / Double(count)), "ns")

let item = realm.object(ofType: Item.self, forPrimaryKey: 1234)!
let rounds = 1_000_000
@inline(never) func sumInt(_ item: Item) -> Int {
    var sum = 0; for _ in 0..<rounds { sum &+= item.count }; return sum
}
@inline(never) func sumMaybe(_ item: Item) -> Int {
    var sum = 0; for _ in 0..<rounds { sum &+= item.maybe ?? 1 }; return sum
}
@inline(never) func sumDouble(_ item: Item) -> Int {
    var sum = 0.0; for _ in 0..<rounds { sum += item.weight }; return Int(sum)
}
@inline(never) func sumName(_ item: Item) -> Int {
    var sum = 0; for _ in 0..<rounds { sum &+= item.name.utf8.count }; return sum
}
@inline(never) func sumText(_ item: Item) -> Int {
    var sum = 0; for _ in 0..<rounds { sum &+= item.text.utf8.count }; return sum
}
@inline(never) func sumLink(_ item: Item) -> Int {
    var sum = 0; for _ in 0..<rounds / 10 { sum &+= item.next!.count }; return sum
}

measure("an Int, of one object", rounds) { sumInt(item) }
measure("an Int? that is nil, of one object", rounds) { sumMaybe(item) }
measure("a Double, of one object", rounds) { sumDouble(item) }
measure("a String of 9 bytes, of one object", rounds) { sumName(item) }
measure("a String of 55 bytes, of one object", rounds) { sumText(item) }
measure("a link followed and an Int behind it", rounds / 10) { sumLink(item) }

let all = realm.objects(Item.self)
measure("an Int of each, by iteration", count) {
    var sum = 0; for item in all { sum &+= item.count }; return sum
}
measure("three properties of each, by iteration", count) {
    var sum = 0
    for item in all { sum &+= item.count &+ item.id &+ Int(item.weight) }
    return sum
}
measure("an Int of each, by index", count) {
    var sum = 0; for index in 0..<all.count { sum &+= all[index].count }; return sum
}

try realm.write {
    measure("setting an Int", rounds / 10) {
        for index in 0..<rounds / 10 { item.count = index }; return 0
    }
    measure("setting a String", rounds / 10) {
        for _ in 0..<rounds / 10 { item.name = "another" }; return 0
    }
    measure("an Int += 1", rounds / 10) {
        for _ in 0..<rounds / 10 { item.count += 1 }; return 0
    }
}
let unmanaged = Item()
measure("an Int, of an unmanaged object", rounds) { sumInt(unmanaged) }
