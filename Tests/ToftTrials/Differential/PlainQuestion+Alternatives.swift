internal import ToftTestKit

/// One value after the other of one path, in every form that means the same.
extension PlainQuestion {
    /// The values of a path from an object; `isOne` if it has exactly one value.
    struct Reached {
        var text: String
        var values: (Plain, PlainData) -> [Plainly]
        var isOne: Bool

        init(_ text: String, isOne: Bool, _ values: @escaping (Plain, PlainData) -> [Plainly]) {
            self.text = text
            self.values = values
            self.isOne = isOne
        }

        /// A property of the object, of those that links lead to, or the elements of a collection.
        static func random(_ random: inout Seed, _ name: String) -> Reached {
            switch random.below(5) {
            case 0:
                return Reached("rows.\(name)", isOne: false) { person, data in
                    person.rows.map { data.people[$0].values[name] ?? .null }
                }
            case 1:
                return Reached("kin.\(name)", isOne: false) { person, data in
                    person.kin.map { data.people[$0].values[name] ?? .null }
                }
            case 2 where name == "i":
                return Reached("ints", isOne: false) { person, _ in person.ints }
            case 2 where name == "v":
                return Reached("things", isOne: false) { person, _ in person.things }
            default:
                let path = path(to: name, &random)
                return Reached(path.text, isOne: true) { [path.value($0, $1)] }
            }
        }
    }

    static func alternatives(_ random: inout Seed) -> Condition {
        let name = random.one(of: PlainWorld.scalars.map(\.name))
        let path = Reached.random(&random, name)
        let options = ["s", "v"].contains(name) ? random.one(of: ["", "", "[c]", "[cd]"]) : ""
        let count = 1 + random.below(random.chance(30) ? 30 : 5)
        let constants = (0..<count).map { _ in Plain.constant(for: name, &random) }
        let isAnyOfThem = random.chance(50)
        let text = Self.text(path, constants, options, isAnyOfThem: isAnyOfThem, &random)
        return Condition(text: text) { person, data in
            path.values(person, data).contains { value in
                constants.contains { isEqual(value, $0, options) }
            } == isAnyOfThem
        }
    }

    /// A test that a value is one of several, or differs from all.
    private static func text(
        _ path: Reached, _ constants: [Plainly], _ options: String, isAnyOfThem: Bool,
        _ random: inout Seed
    ) -> String {
        let list = "{\(constants.map(\.literal).joined(separator: ", "))}"
        let form = random.below(4)
        if isAnyOfThem {
            let any = path.isOne ? "" : random.one(of: ["", "ANY "])
            if form == 0 { return "\(any)\(path.text) IN\(options) \(list)" }
            if form == 1 { return "ANY \(list) ==\(options) \(path.text)" }
            return joined(
                constants.map { "\(any)\(path.text) ==\(options) \($0.literal)" }, " OR ", &random)
        }
        if form == 0 {
            return path.isOne
                ? "NOT \(path.text) IN\(options) \(list)" : "NONE \(path.text) IN\(options) \(list)"
        }
        let parts = constants.map { constant in
            if random.chance(30) { return "NOT \(path.text) ==\(options) \(constant.literal)" }
            if path.isOne { return "\(path.text) !=\(options) \(constant.literal)" }
            return random.chance(50)
                ? "ALL \(path.text) !=\(options) \(constant.literal)"
                : "NONE \(path.text) ==\(options) \(constant.literal)"
        }
        return joined(parts, " AND ", &random)
    }

    /// The parts one after the other, or with some of them in parentheses.
    private static func joined(_ parts: [String], _ word: String, _ random: inout Seed) -> String {
        guard parts.count > 2, random.chance(40) else { return parts.joined(separator: word) }
        let place = 1 + random.below(parts.count - 1)
        return "(\(parts[..<place].joined(separator: word)))\(word)"
            + "(\(parts[place...].joined(separator: word)))"
    }

    static func isEqual(_ value: Plainly, _ other: Plainly, _ options: String) -> Bool {
        if case .text(let text) = value, case .text(let needle) = other {
            return folded(text, options) == folded(needle, options)
        }
        return value.order(other) == 0
    }

    /// Objects by their primary keys. One that does not exist is a null link.
    static func links(_ random: inout Seed) -> Condition {
        let isOne = random.chance(50)
        let keys: [Int?] = (0..<1 + random.below(5)).map { _ in
            random.chance(20) ? nil : random.one(of: [0, 0, 1, 2, 3, 5, 8, 900])
        }
        let literals = keys.map { $0.map { "obj('P', \($0))" } ?? "null" }
        let isList = random.chance(60)
        let path = isOne ? "boss" : "ANY rows"
        let text =
            isList
            ? "\(path) IN {\(literals.joined(separator: ", "))}"
            : literals.map { "\(path) == \($0)" }.joined(separator: " OR ")
        // A collection is compared with null in lists alone.
        let isAllowed = isOne || !keys.contains(nil)
        return Condition(text: isAllowed ? text : "boss == boss") { person, data in
            let reached = isOne ? [person.boss] : person.rows.map { Optional($0) }
            return !isAllowed
                || keys.contains { key in
                    let target = key.flatMap { $0 < data.people.count ? $0 : nil }
                    return reached.contains(target)
                }
        }
    }
}
