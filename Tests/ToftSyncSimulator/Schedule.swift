internal import ToftTestKit

/// One thing that happens. All that it does by chance comes from its own dice, so that a schedule
/// without some of its events does the others as before.
struct Event: Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        case write, send, serve, tell, hear, connect, flipQuery, jumpClock, forget, backUp, restore
        case addProperty
    }

    let kind: Kind
    let client: Int
    let dice: UInt64

    var description: String { "\(kind.rawValue) of \(client), dice \(dice)" }
}

/// The habits of users, and the faults.
struct Profile: Sendable {
    var name: String
    var actions: [Action: Int] = [:]
    var events: [Event.Kind: Int] = [:]
    /// Of a hundred clients, so many see a part of the realm.
    var partial = 10
    /// Of a hundred transactions, so many have something that the server refuses.
    var spoiled = 2
    var keys = 4
    /// Of a hundred clients, so many are away for longer than the server remembers.
    var away = 0
    var length = 1

    static let all: [Profile] = [
        Profile(name: "all"),
        Profile(
            name: "lists",
            actions: [.insert: 12, .move: 8, .element: 4, .remove: 4, .create: 2, .delete: 1],
            keys: 2),
        Profile(name: "life", actions: [.create: 12, .delete: 8, .put: 4], keys: 2),
        Profile(
            name: "values",
            actions: [.put: 12, .add: 6, .entry: 6, .member: 4, .inner: 8, .nested: 8]),
        Profile(name: "refusals", actions: [.delete: 4], spoiled: 20),
        Profile(name: "links", actions: [.link: 16, .delete: 5], spoiled: 20, length: 2),
        Profile(
            name: "views", actions: [.put: 12, .link: 12, .delete: 1], events: [.flipQuery: 6],
            partial: 70),
        Profile(name: "restore", events: [.backUp: 3, .restore: 2]),
        Profile(name: "long", events: [.forget: 14, .write: 16], away: 20, length: 4),
        Profile(name: "clocks", events: [.jumpClock: 8]),
    ]
}

/// All that happens in one run, from one seed.
struct Schedule: Sendable {
    let seed: UInt64
    let profile: Profile
    let clients: Int
    var events: [Event]

    init(seed: UInt64) {
        self.seed = seed
        var random = Seed(seed)
        let profile = random.one(of: Profile.all)
        let clients = random.one(of: [2, 2, 3, 3, 4, 8])
        let weights: [Event.Kind: Int] = [
            .write: 34, .send: 16, .serve: 22, .tell: 12, .hear: 14, .connect: 5, .flipQuery: 1,
            .jumpClock: 1, .forget: 2, .addProperty: 1,
        ].merging(profile.events) { $1 }
        let kinds = Event.Kind.allCases.flatMap { Array(repeating: $0, count: weights[$0] ?? 0) }
        events = (0..<random.one(of: [20, 40, 60, 90]) * profile.length).map { _ in
            Event(
                kind: random.one(of: kinds), client: random.below(clients), dice: random.next())
        }
        self.profile = profile
        self.clients = clients
    }
}
