internal import ToftTestKit

/// Mixed values, their contents, and collections as a whole.
extension PlainQuestion {
    /// Two values, one of them possibly mixed, with options that concern texts alone.
    static func foldedPair(_ random: inout Seed) -> Condition {
        let (left, right) = random.one(of: [
            ("v", "w"), ("v", "v"), ("s", "v"), ("v", "s"), ("s", "s"),
        ])
        let (one, other) = (path(to: left, &random), path(to: right, &random))
        let options = random.one(of: ["[c]", "[d]", "[cd]"])
        let word = random.one(of: ["==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS"])
        return Condition(text: "\(one.text) \(word)\(options) \(other.text)") { person, data in
            let (value, needle) = (one.value(person, data), other.value(person, data))
            switch word {
            case "==": return isEqual(value, needle, options)
            case "!=": return !isEqual(value, needle, options)
            default: break
            }
            let (text, part): (String, String)
            switch (value, needle) {
            case (.text(let one), .text(let other)): (text, part) = (one, other)
            case (.other("x", let one), .other("x", let other)):
                (text, part) = ("\(one)", "\(other)")
            default: return false
            }
            return contains(folded(text, options), folded(part, options), word)
        }
    }

    private static func contains(_ letters: [Character], _ part: [Character], _ word: String)
        -> Bool
    {
        switch word {
        case "BEGINSWITH": letters.starts(with: part)
        case "ENDSWITH": letters.reversed().starts(with: part.reversed())
        default: (0...letters.count).contains { letters[$0...].starts(with: part) }
        }
    }

    /// All values at the end of a path against a list: those of a set in any order and each once.
    static func wholeCollection(_ random: inout Seed) -> Condition {
        let name = random.one(of: ["b", "b", "i", "s", "v", "t"])
        let (path, isSet) = random.one(of: [
            ("flags", true), ("kin.\(name)", true), ("rows.\(name)", false), ("things", false),
            ("rows.kin.\(name)", true),
        ])
        let constants = (0..<random.below(4)).map { _ in
            path == "flags"
                ? Plain.value(of: "b", &random)
                : Plain.constant(for: path == "things" ? "v" : name, &random)
        }
        let isEqual = random.chance(60)
        return Condition(
            text: "\(path) \(isEqual ? "==" : "!=") "
                + "{\(constants.map(\.literal).joined(separator: ", "))}"
        ) { person, data in
            let values: [Plainly]
            let rows = person.rows.map { data.people[$0] }
            switch path {
            case "flags": values = person.flags.map { .bool($0) }
            case "things": values = person.things
            case _ where path.hasPrefix("rows.kin"):
                values = rows.flatMap(\.kin).map { data.people[$0].values[name] ?? .null }
            case _ where isSet: values = person.kin.map { data.people[$0].values[name] ?? .null }
            default: values = rows.map { $0.values[name] ?? .null }
            }
            let agrees =
                isSet
                ? values.allSatisfy { value in constants.contains { value.order($0) == 0 } }
                    && constants.allSatisfy { one in values.contains { $0.order(one) == 0 } }
                : values.count == constants.count
                    && zip(values, constants).allSatisfy { $0.order($1) == 0 }
            return agrees == isEqual
        }
    }

    /// One element of a list, or a value within a mixed value: at most one.
    private static func element(_ random: inout Seed) -> Reached {
        switch random.below(6) {
        case 0:
            return Reached("things[0]", isOne: false) { person, _ in Array(person.things.prefix(1))
            }
        case 1:
            return Reached("things[LAST]", isOne: false) { person, _ in
                Array(person.things.suffix(1))
            }
        case 2:
            return Reached("mix.a", isOne: false) { person, _ in
                if case .entries(let a, _) = person.mix { [a ?? .null] } else { [] }
            }
        case 3:
            return Reached("mix['l'][0]", isOne: false) { person, _ in
                if case .entries(_, let l) = person.mix { Array(l.prefix(1)) } else { [] }
            }
        case 4:
            return Reached("rows[0].v", isOne: false) { person, data in
                person.rows.prefix(1).map { data.people[$0].values["v"] ?? .null }
            }
        default:
            return Reached("rows[0].mix.a", isOne: false) { person, data in
                person.rows.prefix(1).flatMap { row in
                    if case .entries(let a, _) = data.people[row].mix {
                        [a ?? .null]
                    } else {
                        [Plainly]()
                    }
                }
            }
        }
    }

    /// One element against a list: it equals any of it, or it does not.
    static func oneElement(_ random: inout Seed) -> Condition {
        let path = element(&random)
        let constants = (0..<random.below(5)).map { _ in Plain.constant(for: "v", &random) }
        let list = "{\(constants.map(\.literal).joined(separator: ", "))}"
        let word = random.one(of: ["==", "!=", "IN"])
        return Condition(text: "\(path.text) \(word) \(list)") { person, data in
            path.values(person, data).contains { value in
                constants.contains { value.order($0) == 0 } == (word != "!=")
            }
        }
    }

    /// The names of types of mixed values.
    static func typeName(_ random: inout Seed) -> Condition {
        let names = [
            "int", "double", "decimal", "string", "bool", "date", "null", "binary", "link",
        ]
        let path: Reached
        switch random.below(5) {
        case 0: path = Reached("v", isOne: true) { person, _ in [person.values["v"] ?? .null] }
        case 1: path = Reached("things", isOne: false) { person, _ in person.things }
        default: path = element(&random)
        }
        let wanted = (0..<1 + random.below(4)).map { _ in random.one(of: names) }
        let list = "{\(wanted.map { "'\($0)'" }.joined(separator: ", "))}"
        let isWhole = path.text == "things"
        let word = random.one(of: ["==", "!=", "IN", "== ANY"])
        return Condition(text: "\(path.text).@type \(word) \(list)") { person, data in
            let types = path.values(person, data).map(\.typeName)
            if isWhole, word == "==" || word == "!=" { return (types == wanted) == (word == "==") }
            return types.contains { wanted.contains($0) == (word != "!=") }
        }
    }
}
