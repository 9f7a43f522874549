internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Holds what a damaged image of a corpus answers against what the sound one does.
struct DamageJudge {
    private let corpus: Corpus
    private let right: [UInt32: UInt64]
    /// Answers of the versions before, newest first.
    private let earlier: [[UInt32: UInt64]]

    init(_ corpus: Corpus) throws {
        self.corpus = corpus
        let sound = try Self.inspect(corpus.image, corpus)
        guard sound.refusals.isEmpty, sound.strangeErrors.isEmpty, sound.problems.isEmpty else {
            throw Failure(
                "the corpus \(corpus.name) is not sound: \(sound.refusals) "
                    + "\(sound.strangeErrors) \(sound.problems)")
        }
        right = sound.answers
        earlier = try corpus.history.reversed().map {
            try Self.inspect($0, corpus).answers
        }.filter { $0 != sound.answers }
    }

    private static func inspect(_ image: [UInt8], _ corpus: Corpus) throws -> Inspection {
        Inspection(of: try GuardFile(image, identity: corpus.identity))
    }

    /// What becomes of a damage, and why.
    func judge(_ damage: Damage, _ number: Int) throws -> (DamageTrial.Outcome, String) {
        var image = corpus.image
        damage.apply(number, to: &image, of: corpus)
        // One in eight whole; the others as far as damage is usually found.
        let hash = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
        let found = Inspection(
            of: try GuardFile(image, identity: corpus.identity),
            part: hash >> 61 == 0 ? nil : Int(hash >> 48 & 0xFFF),
            writesFirst: damage == .sealedCycle)
        if damage.isSealed {
            return judgeSealed(found, damage.hasToBeNoticed(image, of: corpus))
        }
        if let error = found.strangeErrors.first { return (.strange, error) }
        if let wrong = firstDifference(found, right) {
            guard let version = earlier.firstIndex(where: { firstDifference(found, $0) == nil })
            else { return (.silent, "question \(wrong) is answered wrongly") }
            if version < Damage.lostFrames(image, of: corpus) {
                return (.older, "the last frames of the log are damaged")
            }
            return (.silent, "answers of an earlier version (\(version + 1) before the last)")
        }
        if found.refusals.isEmpty && found.problems.isEmpty { return (.harmless, "") }
        return (
            .detected,
            "questions \(found.refusals.prefix(3)), \(found.firstError), "
                + "problems \(found.problems.prefix(2))"
        )
    }

    /// The words that a damage changes, but for checksums made right again: page, type of extent,
    /// offset in it.
    func changes(_ damage: Damage, _ number: Int) -> String {
        var image = corpus.image
        damage.apply(number, to: &image, of: corpus)
        var found: [String] = []
        for offset in stride(from: 0, to: min(image.count, corpus.image.count) - 8, by: 8)
        where Image.word(image, offset) != Image.word(corpus.image, offset) {
            let extent = corpus.map.extents.first {
                ($0.offset..<$0.offset + $0.byteCount).contains(offset)
            }
            let type = extent.map { "type \($0.type)" } ?? "no extent"
            let start = extent?.offset ?? offset / 4_096 * 4_096
            found.append("page \(start / 4_096) (\(type)) + \(offset - start)")
        }
        return "\(image.count) bytes, \(found.prefix(40).joined(separator: ", "))"
    }

    private func judgeSealed(_ found: Inspection, _ hasToBeNoticed: Bool)
        -> (DamageTrial.Outcome, String)
    {
        if !found.refusals.isEmpty || !found.problems.isEmpty || !found.strangeErrors.isEmpty {
            let why =
                "questions \(found.refusals.prefix(3)), \(found.firstError), "
                + "problems \(found.problems.prefix(2)) "
                + "\(found.strangeErrors.prefix(2))"
            return (.detected, why)
        }
        if hasToBeNoticed { return (.silent, "keys or text are wrong, and nobody notices") }
        return firstDifference(found, right) == nil
            ? (.harmless, "") : (.accepted, "another content")
    }

    /// A question that was answered otherwise. Questions that come after a refusal are not asked.
    private func firstDifference(_ found: Inspection, _ expected: [UInt32: UInt64]) -> UInt32? {
        found.answers.keys.sorted().first { found.answers[$0] != expected[$0] }
    }
}
