import Foundation
import RealmSwift

// iterate FILE: reads age, score and active of every person as an app would do it, and prints the
// nanoseconds of an object, those if each instance is kept, and the sums.

final class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted(indexed: true) var email: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var active: Bool
    @Persisted var created: Date
    @Persisted var city: String
    @Persisted var boss: Person?
    @Persisted var tags: List<String>
}

@inline(never)
func sums(_ people: Results<Person>) -> (ages: Int, scores: Double, active: Int) {
    var ages = 0, scores = 0.0, active = 0
    for person in people {
        ages += person.age
        scores += person.score
        if person.active { active += 1 }
    }
    return (ages, scores, active)
}

@inline(never)
func sums(_ people: Results<Person>, keeping kept: inout [Person]) -> (
    ages: Int, scores: Double, active: Int
) {
    var ages = 0, scores = 0.0, active = 0
    for person in people {
        ages += person.age
        scores += person.score
        if person.active { active += 1 }
        kept.append(person)
    }
    return (ages, scores, active)
}

/// The nanoseconds that each of `count` objects takes, the median of three runs.
func measure(_ count: Int, _ block: () -> Void) -> Double {
    let clock = ContinuousClock()
    let durations = (0..<3).map { _ in clock.measure(block) }.sorted()
    return durations[1] / .nanoseconds(max(count, 1))
}

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: iterate FILE\n".utf8))
    exit(2)
}
let file = URL(fileURLWithPath: CommandLine.arguments[1])
let realm = try Realm(configuration: Realm.Configuration(fileURL: file, objectTypes: [Person.self]))
let people = realm.objects(Person.self)
let answer = sums(people)
let count = people.count
let again = measure(count) { _ = sums(people) }
// Instances of earlier runs are kept, so that the time does not include their end.
var kept: [Person] = []
kept.reserveCapacity(3 * count)
let keeping = measure(count) { _ = sums(people, keeping: &kept) }
print(again, keeping, answer.ages, answer.scores, answer.active)
