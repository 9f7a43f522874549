package import ToftSync

/// One case of a file: what it is called, and what differs from what it says.
package struct CaseResult: Sendable {
    package let name: String
    package var differences: [String] = []

    init(_ name: String) { self.name = name }

    mutating func compare(_ place: String, _ expected: OrderedJSON, _ got: OrderedJSON) {
        if expected.canonical != got.canonical {
            differences.append(
                "\(place)\n    expected \(expected.canonical)\n    got      \(got.canonical)")
        }
    }

    /// Compares two arrays whose order says nothing.
    mutating func compareSets(_ place: String, _ expected: OrderedJSON, _ got: OrderedJSON) {
        let expected = (expected.array ?? []).map(\.canonical).sorted()
        let got = (got.array ?? []).map(\.canonical).sorted()
        if expected == got { return }
        let missing = expected.filter { !got.contains($0) }
        let more = got.filter { !expected.contains($0) }
        differences.append(
            "\(place)\n    expected \(missing.joined(separator: " "))"
                + "\n    got      \(more.joined(separator: " "))")
    }
}

extension Resolver.Settings {
    /// The distances of the vectors.
    static var ofVectors: Self {
        var settings = Self()
        settings.labelGap = 8
        settings.clockDrift = 20
        settings.renumbersWholeLists = true
        return settings
    }
}

/// A server of the vectors: with all states that it ever had, and a validator that refuses "BAD".
package struct VectorServer: Sendable {
    package private(set) var resolver: Resolver<MemoryStore>
    /// The tables after each entry, from entry 0 on.
    package private(set) var states: [MemoryTables]

    package init(_ schema: Schema) {
        resolver = Resolver(MemoryStore(schema), .ofVectors)
        resolver.validator = { _, content in
            content == .value(.text("BAD")) ? "the text is bad" : nil
        }
        states = [resolver.store.tables]
    }

    package mutating func push(_ changeset: Changeset, now: Int64) -> Resolver<MemoryStore>.Outcome
    {
        let outcome = resolver.push(changeset, now: now)
        if outcome != .copy, outcome != .gap { states.append(resolver.store.tables) }
        return outcome
    }

    package mutating func change(_ body: (inout Resolver<MemoryStore>) -> Void) { body(&resolver) }

    package var head: UInt64 { resolver.store.head }

    package func batch(_ request: Resolver<MemoryStore>.Request) -> Batch {
        resolver.batch(
            request, through: head, now: states[Int(head)],
            before: request.from.map { states[Int($0)] })
    }
}

extension RefusalReason {
    var name: String {
        switch self {
        case .validator: "validator"
        case .unique: "unique"
        case .deny: "deny"
        case .badChangeset: "bad changeset"
        case .schemaConflict: "schema conflict"
        }
    }
}

/// Plays all cases of a file of any of the three forms.
package func play(_ file: OrderedJSON) -> [CaseResult] {
    let vocabulary = Vocabulary(file)
    return (file.array ?? [file]).enumerated().map { index, json in
        let name =
            json["name"]?.string ?? json["seed"].map { "seed \($0.canonical)" } ?? "case \(index)"
        var result = CaseResult(name)
        do {
            if json["steps"] != nil {
                var play = StepPlay(vocabulary)
                try play.run(json, &result)
            } else if json["entries"] != nil {
                try playEntries(json, vocabulary, &result)
            } else if json["replicas"] != nil {
                try playReplicas(json, vocabulary, &result)
            } else {
                throw JSONError("a case has steps, entries or replicas")
            }
        } catch {
            result.differences.append("could not be played: \(error)")
        }
        return result
    }
}
