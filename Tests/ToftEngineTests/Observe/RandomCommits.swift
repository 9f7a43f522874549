import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// Random changes of people and dogs, as a program makes in everyday use.
struct RandomCommits {
    let database: TestDatabase
    var seed: Seed
    private let nextID: Int64

    /// `lane`: makes primary keys that no other lane makes.
    init(_ database: TestDatabase, _ seed: Seed, lane: Int) {
        self.database = database
        self.seed = seed
        nextID = Int64(lane) << 32
    }

    /// A transaction of a few changes. Some are cancelled.
    mutating func commit() throws(EngineError) {
        try database.session.beginWrite()
        for _ in 0...seed.below(6) { try change() }
        if seed.chance(10) { try database.session.cancel() } else { try database.session.commit() }
    }

    private mutating func change() throws(EngineError) {
        let people = try database.people()
        let count = try people.count
        guard count > 5, !seed.chance(20) else { return try create() }
        let object = try people.object(at: seed.below(count))
        switch seed.below(8) {
        case 0: try object.delete()
        case 1, 2: try database.setName("n\(seed.below(50))", of: object)
        case 3:
            try object.set(
                try database.property("age"),
                seed.chance(20) ? Value.null : .int(Int64(seed.below(40))))
        case 4:
            try object.set(
                try database.property("boss"),
                Value.link(try people.object(at: seed.below(count)).ref))
        case 5:
            try edit(try object.list(try database.property("notes"))) {
                Value.string("t\($0.below(20))")
            }
        default: try editDogs(of: object)
        }
    }

    private mutating func create() throws(EngineError) {
        let id = nextID + Int64(seed.next() >> 34)
        guard try database.session.find(Value.int(id), in: try database.person) == nil else {
            return
        }
        try database.addPerson(id, name: "n\(seed.below(50))", age: Int64(seed.below(40)))
    }

    private mutating func editDogs(of object: ObjectHandle) throws(EngineError) {
        let dogs = try database.session.results(of: try database.dog)
        if try dogs.count < 10 || seed.chance(10) {
            try database.session.create(
                try database.dog,
                [(try database.property("name", of: "Dog"), .string("d\(seed.below(9))"))])
        } else if seed.chance(15) {
            return try dogs.object(at: seed.below(try dogs.count)).delete()
        }
        let count = try dogs.count
        let dog = try dogs.object(at: seed.below(count)).ref
        try edit(try object.list(try database.property("dogs"))) { _ in .link(dog) }
    }

    private mutating func edit(_ list: CollectionHandle, _ value: (inout Seed) -> Value)
        throws(EngineError)
    {
        let count = try list.count
        guard count > 0, !seed.chance(40) else {
            return try list.insert(value(&seed), at: seed.below(count + 1))
        }
        switch seed.below(10) {
        case 0: try list.clear()
        case 1, 2, 3: try list.erase({ $0..<$0 + 1 }(seed.below(count)))
        case 4, 5: try list.move(from: seed.below(count), to: seed.below(count))
        case 6: try list.swap(seed.below(count), seed.below(count))
        default: try list.set(value(&seed), at: seed.below(count))
        }
    }
}
