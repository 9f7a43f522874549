internal import ToftTestKit

/// A condition: as text, and as something that plain values answer.
struct Condition {
    var text: String
    var holds: (Plain, PlainData) -> Bool
}

/// One value of an object: as text, and as something that plain values answer.
struct PathTo {
    var text: String
    var value: (Plain, PlainData) -> Plainly
}

struct PlainQuestion {
    private var condition: Condition
    private var orderings = ""
    private var steps: [([Plain], PlainData) -> [Plain]] = []

    var text: String { condition.text + orderings }

    func answer(_ data: PlainData) -> [Int] {
        var people = data.people.filter { condition.holds($0, data) }
        for step in steps { people = step(people, data) }
        return people.map(\.id)
    }

    static func random(_ random: inout Seed) -> PlainQuestion {
        var question = PlainQuestion(condition: condition(&random, 3))
        for _ in 0..<(random.chance(40) ? 1 + random.below(3) : 0) { question.order(&random) }
        return question
    }

    private mutating func order(_ random: inout Seed) {
        let path = Self.path(
            to: random.one(of: ["i", "f", "d", "m", "s", "b", "t", "u", "o"]), &random)
        switch random.below(4) {
        case 0:
            let isAscending = random.chance(50)
            orderings += " SORT(\(path.text) \(isAscending ? "ASC" : "DESC"))"
            steps.append { people, data in
                let values = people.map { path.value($0, data) }
                return people.indices.sorted { left, right in
                    let (one, other) = isAscending ? (left, right) : (right, left)
                    if values[one].sorts(before: values[other]) { return true }
                    return !values[other].sorts(before: values[one]) && left < right
                }.map { people[$0] }
            }
        case 1:
            orderings += " DISTINCT(\(path.text))"
            steps.append { people, data in
                var known: [Plainly] = []
                return people.filter { person in
                    let value = path.value(person, data)
                    if known.contains(where: { $0.order(value) == 0 }) { return false }
                    known.append(value)
                    return true
                }
            }
        case 2:
            let count = random.below(9)
            orderings += " LIMIT(\(count))"
            steps.append { people, _ in Array(people.prefix(count)) }
        default:
            let count = random.below(5)
            orderings += " OFFSET(\(count))"
            steps.append { people, _ in Array(people.dropFirst(count)) }
        }
    }

    // MARK: Parts

    static let comparators = ["==", "!=", "<", "<=", ">", ">="]
    private static let numbers = ["i", "f", "d", "m"]

    private static func condition(_ random: inout Seed, _ depth: Int) -> Condition {
        guard depth > 0, random.chance(45) else { return leaf(&random) }
        switch random.below(3) {
        case 0:
            let inner = condition(&random, depth - 1)
            return Condition(text: "NOT (\(inner.text))") { !inner.holds($0, $1) }
        case 1:
            let parts = (0..<2 + random.below(2)).map { _ in condition(&random, depth - 1) }
            return Condition(text: parts.map { "(\($0.text))" }.joined(separator: " AND ")) {
                person, data in parts.allSatisfy { $0.holds(person, data) }
            }
        default:
            let parts = (0..<2 + random.below(2)).map { _ in condition(&random, depth - 1) }
            return Condition(text: parts.map { "(\($0.text))" }.joined(separator: " || ")) {
                person, data in parts.contains { $0.holds(person, data) }
            }
        }
    }

    /// A property of the object, or of one that links lead to.
    static func path(to name: String, _ random: inout Seed) -> PathTo {
        let steps = random.chance(70) ? 0 : 1 + random.below(2)
        return PathTo(text: String(repeating: "boss.", count: steps) + name) { person, data in
            var person = person
            for _ in 0..<steps {
                guard let boss = person.boss else { return .null }
                person = data.people[boss]
            }
            return person.values[name] ?? .null
        }
    }

    private static func leaf(_ random: inout Seed) -> Condition {
        switch random.below(26) {
        case 18, 19: return alternatives(&random)
        case 20: return links(&random)
        case 21: return foldedPair(&random)
        case 22: return wholeCollection(&random)
        case 23: return typeName(&random)
        case 24, 25: return oneElement(&random)
        case 0: return constantCondition(random.chance(50))
        case 1, 2, 3: return comparison(&random)
        case 4: return pair(&random)
        case 5: return arithmetic(&random)
        case 6, 7: return text(&random)
        case 8: return among(&random)
        case 9: return between(&random)
        case 10: return quantified(&random)
        case 11: return elements(&random)
        case 12: return aggregate(&random)
        case 13: return dictionary(&random)
        case 14: return subquery(&random)
        case 15: return chain(&random)
        case 16: return twoCollections(&random)
        default: return backlinks(&random)
        }
    }

    private static func constantCondition(_ value: Bool) -> Condition {
        Condition(text: value ? "TRUEPREDICATE" : "FALSEPREDICATE") { _, _ in value }
    }

    private static func comparison(_ random: inout Seed) -> Condition {
        let name = random.one(of: PlainWorld.scalars.map(\.name))
        let path = path(to: name, &random)
        let comparator = random.one(of: comparators)
        let constant = Plain.constant(for: name, &random)
        if random.chance(15), constant != .null {
            let reversed = ["<": ">", "<=": ">=", ">": "<", ">=": "<="][comparator] ?? comparator
            return Condition(text: "\(constant.literal) \(reversed) \(path.text)") {
                path.value($0, $1).holds(comparator, constant)
            }
        }
        return Condition(text: "\(path.text) \(comparator) \(constant.literal)") {
            path.value($0, $1).holds(comparator, constant)
        }
    }

    private static func pair(_ random: inout Seed) -> Condition {
        let name = random.one(of: PlainWorld.scalars.map(\.name))
        let other = numbers.contains(name) ? random.one(of: numbers) : name
        let (left, right) = (path(to: name, &random), path(to: other, &random))
        let comparator = random.one(of: comparators)
        return Condition(text: "\(left.text) \(comparator) \(right.text)") {
            left.value($0, $1).holds(comparator, right.value($0, $1))
        }
    }

    private static func arithmetic(_ random: inout Seed) -> Condition {
        let isInt = random.chance(60)
        let path = path(to: isInt ? "i" : "d", &random)
        let word = random.one(of: ["+", "-", "*", "/"])
        let operand = Double(random.below(6) - 2)
        let (comparator, constant) = (random.one(of: comparators), Double(random.below(12) - 4))
        let spelled = isInt ? "\(Int(operand))" : "\(operand)"
        return Condition(text: "\(path.text) \(word) \(spelled) \(comparator) \(Int(constant))") {
            guard case .number(let value) = path.value($0, $1) else {
                return Plainly.null.holds(comparator, .number(constant))
            }
            var result = Plainly.null
            switch word {
            case "+": result = .number(value + operand)
            case "-": result = .number(value - operand)
            case "*": result = .number(value * operand)
            default:
                if operand != 0 {
                    result = .number(
                        isInt ? (value / operand).rounded(.towardZero) : value / operand)
                }
            }
            return result.holds(comparator, .number(constant))
        }
    }

    /// A long computation, joined from the left or nested to the right.
    private static func chain(_ random: inout Seed) -> Condition {
        let isNested = random.chance(30)
        let count = 2 + random.below(isNested ? 35 : 75)
        var result = path(to: random.one(of: ["i", "d"]), &random)
        for _ in 0..<count {
            let isSum = random.chance(50)
            let operand = chainOperand(&random)
            let (left, right) = isNested ? (operand, result) : (result, operand)
            result = PathTo(
                text: "\(left.text) \(isSum ? "+" : "-") "
                    + (isNested ? "(\(right.text))" : right.text)
            ) { person, data in
                guard case .number(let first) = left.value(person, data),
                    case .number(let second) = right.value(person, data)
                else { return .null }
                return .number(isSum ? first + second : first - second)
            }
        }
        let (comparator, constant) = (random.one(of: comparators), random.below(12) - 4)
        return Condition(text: "\(result.text) \(comparator) \(constant)") {
            result.value($0, $1).holds(comparator, .number(Double(constant)))
        }
    }

    private static func chainOperand(_ random: inout Seed) -> PathTo {
        switch random.below(4) {
        case 0: return path(to: random.one(of: ["i", "d"]), &random)
        case 1:
            let value = Double(random.below(40)) / 4
            return PathTo(text: "\(value)") { _, _ in .number(value) }
        default:
            let value = random.below(10)
            return PathTo(text: "\(value)") { _, _ in .number(Double(value)) }
        }
    }

    // MARK: Texts

    static func folded(_ text: String, _ options: String) -> [Character] {
        text.map { character in
            var character = character
            if options.contains("d") {
                character = character == "é" ? "e" : character == "É" ? "E" : character
            }
            return options.contains("c") ? Character(character.lowercased()) : character
        }
    }

    private static func text(_ random: inout Seed) -> Condition {
        let path = path(to: random.chance(80) ? "s" : "v", &random)
        let options = random.one(of: ["", "", "[c]", "[d]", "[cd]"])
        let word = random.one(of: [
            "==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES",
        ])
        if word == "MATCHES" {
            let pattern = Pattern.random(&random, 3)
            return Condition(text: "\(path.text) MATCHES\(options) '\(pattern.text)'") {
                guard case .text(let text) = path.value($0, $1) else { return false }
                let letters = folded(text, options)
                return pattern.ends(letters, [0], options).contains(letters.count)
            }
        }
        var needle = Plain.text(&random)
        if word == "LIKE" {
            needle = random.one(of: ["*", "?", ""]) + needle + random.one(of: ["*", "?"])
        }
        return Condition(text: "\(path.text) \(word)\(options) '\(needle)'") {
            guard case .text(let text) = path.value($0, $1) else { return word == "!=" }
            let (letters, needle) = (folded(text, options), folded(needle, options))
            switch word {
            case "==": return letters == needle
            case "!=": return letters != needle
            case "BEGINSWITH": return letters.starts(with: needle)
            case "ENDSWITH": return letters.reversed().starts(with: needle.reversed())
            case "CONTAINS":
                return (0...letters.count).contains { letters[$0...].starts(with: needle) }
            default: return isLike(letters[...], needle[...])
            }
        }
    }

    private static func isLike(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>)
        -> Bool
    {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return isLike(text, pattern.dropFirst())
                || (!text.isEmpty && isLike(text.dropFirst(), pattern))
        }
        guard let letter = text.first, first == "?" || first == letter else { return false }
        return isLike(text.dropFirst(), pattern.dropFirst())
    }

    /// A regular expression as a tree.
    indirect enum Pattern {
        case letter(Character)
        case any
        case oneOf([Character], isInverted: Bool)
        case sequence([Pattern])
        case either(Pattern, Pattern)
        case times(Pattern, Int, Int?)

        static func random(_ random: inout Seed, _ depth: Int) -> Pattern {
            switch random.below(depth > 0 ? 8 : 3) {
            case 0: return .any
            case 1:
                return .oneOf(
                    (0..<1 + random.below(3)).map { _ in Character(random.one(of: Plain.letters)) },
                    isInverted: random.chance(30))
            case 3, 4:
                return .sequence(
                    (0..<random.below(4)).map { _ in Pattern.random(&random, depth - 1) })
            case 5:
                return .either(
                    Pattern.random(&random, depth - 1), Pattern.random(&random, depth - 1))
            case 6, 7:
                let least = random.below(3)
                return .times(
                    Pattern.random(&random, depth - 1), least,
                    random.chance(50) ? nil : least + random.below(3))
            default: return .letter(Character(random.one(of: Plain.letters)))
            }
        }

        var text: String {
            switch self {
            case .letter(let letter): String(letter)
            case .any: "."
            case .oneOf(let letters, let isInverted): "[\(isInverted ? "^" : "")\(String(letters))]"
            case .sequence(let parts): parts.map(\.text).joined()
            case .either(let one, let other): "(\(one.text)|\(other.text))"
            case .times(let inner, 0, nil): "(?:\(inner.text))*"
            case .times(let inner, 1, nil): "(\(inner.text))+?"
            case .times(let inner, 0, 1): "(\(inner.text))?"
            case .times(let inner, let least, nil): "(\(inner.text)){\(least),}"
            case .times(let inner, let least, let most?): "(\(inner.text)){\(least),\(most)}"
            }
        }

        /// The possible ends of a match that begins at any of `starts`.
        func ends(_ text: [Character], _ starts: Set<Int>, _ options: String) -> Set<Int> {
            switch self {
            case .letter, .any, .oneOf:
                return Set(
                    starts.filter { $0 < text.count && accepts(text[$0], options) }.map { $0 + 1 })
            case .sequence(let parts):
                return parts.reduce(starts) { $1.ends(text, $0, options) }
            case .either(let one, let other):
                return one.ends(text, starts, options).union(other.ends(text, starts, options))
            case .times(let inner, let least, let most):
                var reached = starts
                for _ in 0..<least { reached = inner.ends(text, reached, options) }
                var all = reached
                for _ in 0..<(most.map { $0 - least } ?? text.count + 1) {
                    reached = inner.ends(text, reached, options)
                    all.formUnion(reached)
                }
                return all
            }
        }

        private func accepts(_ letter: Character, _ options: String) -> Bool {
            switch self {
            case .letter(let own): PlainQuestion.folded(String(own), options) == [letter]
            case .oneOf(let letters, let isInverted):
                PlainQuestion.folded(String(letters), options).contains(letter) != isInverted
            default: true
            }
        }
    }

    // MARK: Lists of constants

    private static func among(_ random: inout Seed) -> Condition {
        let name = random.one(of: PlainWorld.scalars.map(\.name))
        let path = path(to: name, &random)
        let constants = (0..<random.below(random.chance(20) ? 40 : 4)).map { _ in
            Plain.constant(for: name, &random)
        }
        let list = "{\(constants.map(\.literal).joined(separator: ", "))}"
        let quantifier = random.one(of: ["", "", "NONE "])
        return Condition(text: "\(path.text) IN \(quantifier)\(list)") {
            let value = path.value($0, $1)
            return constants.contains { value.order($0) == 0 } == quantifier.isEmpty
        }
    }

    private static func between(_ random: inout Seed) -> Condition {
        let name = random.one(of: ["i", "d", "m", "t", "s"])
        let path = path(to: name, &random)
        let (low, high) = (Plain.constant(for: name, &random), Plain.constant(for: name, &random))
        return Condition(text: "\(path.text) BETWEEN {\(low.literal), \(high.literal)}") {
            let value = path.value($0, $1)
            return value.holds(">=", low) && value.holds("<=", high)
        }
    }

    // MARK: Collections

    static func holds(_ quantifier: String, _ verdicts: [Bool]) -> Bool {
        switch quantifier {
        case "ALL": !verdicts.contains(false)
        case "NONE": !verdicts.contains(true)
        default: verdicts.contains(true)
        }
    }

    private static func quantified(_ random: inout Seed) -> Condition {
        let quantifier = random.one(of: ["ANY", "ALL", "NONE", "SOME"])
        let steps = random.one(of: [
            ["rows"], ["rows", "rows"], ["rows", "boss"], ["boss", "rows"],
            ["rows", "rows", "rows"],
        ])
        let name = random.one(of: ["i", "d", "m", "s", "t"])
        let comparator = random.one(of: comparators)
        let constant = Plain.constant(for: name, &random)
        let path = steps.joined(separator: ".")
        return Condition(
            text: "\(quantifier) \(path).\(name) \(comparator) \(constant.literal)"
        ) { person, data in
            var reached = [person]
            for step in steps {
                reached = reached.flatMap { person in
                    (step == "rows" ? person.rows : person.boss.map { [$0] } ?? []).map {
                        data.people[$0]
                    }
                }
            }
            return holds(
                quantifier, reached.map { ($0.values[name] ?? .null).holds(comparator, constant) })
        }
    }

    /// The words of an object, or of those that it has, as a whole: in any order, each once.
    private static func wholeSet(_ random: inout Seed) -> Condition {
        let (isEqual, isOfRows) = (random.chance(60), random.chance(30))
        let list = (0..<random.below(4)).map { _ in Plain.text(&random) }
        let literals = list.map { "'\($0)'" }.joined(separator: ", ")
        return Condition(
            text: "\(isOfRows ? "rows." : "")words \(isEqual ? "==" : "!=") {\(literals)}"
        ) { person, data in
            let owners = isOfRows ? person.rows.map { data.people[$0] } : [person]
            let words = owners.reduce(into: Set<[UInt8]>()) { words, owner in
                words.formUnion(owner.words.map { Array($0.utf8) })
            }
            return (words == Set(list.map { Array($0.utf8) })) == isEqual
        }
    }

    private static func elements(_ random: inout Seed) -> Condition {
        let comparator = random.one(of: comparators)
        let constant = Plainly.number(Double(random.below(8) - 3))
        switch random.below(5) {
        case 4: return wholeSet(&random)
        case 0:
            let list = (0..<random.below(3)).map { _ in Plainly.number(Double(random.below(8) - 3))
            }
            let isEqual = random.chance(60)
            return Condition(
                text: "ints \(isEqual ? "==" : "!=") "
                    + "{\(list.map(\.literal).joined(separator: ", "))}"
            ) { person, _ in (person.ints == list) == isEqual }
        case 1:
            let isLast = random.chance(50)
            return Condition(
                text: "ints[\(isLast ? "LAST" : "0")] \(comparator) \(constant.literal)"
            ) { person, _ in
                (isLast ? person.ints.last : person.ints.first)?.holds(comparator, constant)
                    ?? false
            }
        case 2:
            let word = Plain.text(&random)
            let quantifier = random.one(of: ["ANY", "ALL", "NONE"])
            return Condition(text: "\(quantifier) words BEGINSWITH '\(word)'") { person, _ in
                holds(quantifier, person.words.map { Array($0).starts(with: Array(word)) })
            }
        default:
            let quantifier = random.one(of: ["ANY", "ALL", "NONE"])
            return Condition(text: "\(quantifier) ints \(comparator) \(constant.literal)") {
                person, _ in holds(quantifier, person.ints.map { $0.holds(comparator, constant) })
            }
        }
    }

    /// Each value of one collection with each of another.
    private static func twoCollections(_ random: inout Seed) -> Condition {
        let name = random.one(of: ["i", "d", "m"])
        let quantifiers = ["ANY", "ALL", "NONE"]
        let (outer, inner) = (random.one(of: quantifiers), random.one(of: quantifiers))
        let comparator = random.one(of: comparators)
        let isTurned = random.chance(50)
        let (left, right) = isTurned ? ("rows.\(name)", "ints") : ("ints", "rows.\(name)")
        return Condition(text: "\(outer) \(left) \(comparator) \(inner) \(right)") {
            person, data in
            let far = person.rows.map { data.people[$0].values[name] ?? .null }
            let (left, right) = isTurned ? (far, person.ints) : (person.ints, far)
            return holds(
                outer,
                left.map { one in holds(inner, right.map { one.holds(comparator, $0) }) })
        }
    }

    private static func made(_ operation: String, _ values: [Plainly]) -> Plainly {
        let numbers = values.compactMap { value -> Double? in
            if case .number(let number) = value, !number.isNaN { number } else { nil }
        }
        switch operation {
        case "@sum": return .number(numbers.reduce(0, +))
        case "@avg":
            return numbers.isEmpty
                ? .null : .number(numbers.reduce(0, +) / Double(numbers.count))
        case "@min": return numbers.min().map { .number($0) } ?? .null
        case "@max": return numbers.max().map { .number($0) } ?? .null
        default: return .number(Double(values.count))
        }
    }

    private static func aggregate(_ random: inout Seed) -> Condition {
        let operation = random.one(of: ["@sum", "@avg", "@min", "@max"])
        let comparator = random.one(of: comparators)
        // Quotients of decimals are not doubles: means are compared with whole numbers.
        let constant = Plainly.number(Double(random.below(12) - 4))
        let name = random.one(of: ["i", "f", "d", "m"])
        let path: PathTo
        switch random.below(5) {
        case 0:
            path = PathTo(text: "ints.\(operation)") { person, _ in made(operation, person.ints) }
        case 1:
            path = PathTo(text: "rows.\(operation).\(name)") { person, data in
                made(operation, person.rows.map { data.people[$0].values[name] ?? .null })
            }
        case 2:
            path = PathTo(text: "boss.\(operation).\(name)") { person, data in
                made(operation, person.boss.map { [data.people[$0].values[name] ?? .null] } ?? [])
            }
        case 3:
            path = PathTo(text: "rows.\(operation).boss.\(name)") { person, data in
                made(
                    operation,
                    person.rows.compactMap { data.people[$0].boss }.map {
                        data.people[$0].values[name] ?? .null
                    })
            }
        default:
            path = PathTo(text: "rows.@count") { person, _ in
                made("@count", person.rows.map { _ in .null })
            }
        }
        return Condition(text: "\(path.text) \(comparator) \(constant.literal)") {
            path.value($0, $1).holds(comparator, constant)
        }
    }

    private static func dictionary(_ random: inout Seed) -> Condition {
        let key = random.one(of: Plain.keys)
        let comparator = random.one(of: comparators)
        let constant = random.chance(20) ? Plainly.null : .number(Double(random.below(5)))
        switch random.below(3) {
        case 0:
            return Condition(text: "marks.@keys == '\(key)'") { person, _ in
                person.marks[key] != nil
            }
        case 1:
            let isPoint = random.chance(50)
            let path = isPoint ? "marks.\(key)" : "marks['\(key)']"
            return Condition(text: "\(path) \(comparator) \(constant.literal)") { person, _ in
                (person.marks[key] ?? .null).holds(comparator, constant)
            }
        default:
            return Condition(text: "ANY marks.@values \(comparator) \(constant.literal)") {
                person, _ in person.marks.values.contains { $0.holds(comparator, constant) }
            }
        }
    }

    private static func subquery(_ random: inout Seed) -> Condition {
        let name = random.one(of: ["i", "d", "s", "b"])
        let comparator = random.one(of: comparators)
        let (counting, number) = (random.one(of: comparators), random.below(3))
        if random.chance(40) {
            let inner = SubqueryOfOuter(name: name, comparator: comparator)
            return Condition(
                text: "SUBQUERY(rows, $x, SUBQUERY($x.rows, $y, $y.\(name) \(comparator) "
                    + "$x.\(name)).@count > 0).@count \(counting) \(number)"
            ) { person, data in
                let count = person.rows.filter { inner.holds(data.people[$0], data) }.count
                return Plainly.number(Double(count)).holds(counting, .number(Double(number)))
            }
        }
        let constant = Plain.constant(for: name, &random)
        return Condition(
            text: "SUBQUERY(rows, $x, $x.\(name) \(comparator) \(constant.literal)).@count "
                + "\(counting) \(number)"
        ) { person, data in
            let count = person.rows.filter {
                (data.people[$0].values[name] ?? .null).holds(comparator, constant)
            }.count
            return Plainly.number(Double(count)).holds(counting, .number(Double(number)))
        }
    }

    private struct SubqueryOfOuter {
        var name: String
        var comparator: String

        func holds(_ person: Plain, _ data: PlainData) -> Bool {
            person.rows.contains {
                (data.people[$0].values[name] ?? .null).holds(
                    comparator, person.values[name] ?? .null)
            }
        }
    }

    private static func backlinks(_ random: inout Seed) -> Condition {
        let isOfBoss = random.chance(50)
        let property = isOfBoss ? "boss" : "rows"
        let comparator = random.one(of: comparators)
        let constant = Plainly.number(Double(random.below(5) - 1))
        if random.chance(50) {
            return Condition(
                text: "@links.P.\(property).@count \(comparator) \(constant.literal)"
            ) { person, data in
                let count = (isOfBoss ? data.reports : data.holders)[person.id].count
                return Plainly.number(Double(count)).holds(comparator, constant)
            }
        }
        return Condition(text: "@links.P.\(property).i \(comparator) \(constant.literal)") {
            person, data in
            (isOfBoss ? data.reports : data.holders)[person.id].contains {
                (data.people[$0].values["i"] ?? .null).holds(comparator, constant)
            }
        }
    }
}
