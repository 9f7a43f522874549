internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Compares the answers of a damaged image of a corpus with those of the sound one.
struct DamageJudge {
    private let corpus: Corpus
    private let file: DamagedFile
    private let right: [UInt32: UInt64]
    /// Answers of the versions before, newest first.
    private let earlier: [[UInt32: UInt64]]
    private let salvage: SalvageJudge

    init(_ corpus: Corpus) throws {
        self.corpus = corpus
        file = try DamagedFile(corpus.image, identity: corpus.identity)
        let sound = Inspection(of: file, key: corpus.key)
        guard sound.refusals.isEmpty, sound.strangeErrors.isEmpty, sound.wrongErrors.isEmpty,
            sound.problems.isEmpty
        else {
            throw Failure(
                "the corpus \(corpus.name) is not sound: \(sound.refusals) "
                    + "\(sound.strangeErrors) \(sound.problems)")
        }
        right = sound.answers
        var earlier: [[UInt32: UInt64]] = []
        for image in corpus.history.reversed() {
            try file.hold(image)
            earlier.append(Inspection(of: file, key: corpus.key).answers)
        }
        self.earlier = earlier.filter { $0 != sound.answers }
        salvage = try SalvageJudge(corpus, file)
    }

    /// The outcome of a damage, and the reason.
    func judge(_ damage: Damage, _ number: Int) throws -> (DamageTrial.Outcome, String) {
        var image = corpus.image
        damage.apply(number, to: &image, of: corpus)
        let hasToBeNoticed = damage.hasToBeNoticed(image, of: corpus)
        if damage.isSealed { corpus.map.seal(&image, log: damage == .sealedLog) }
        try file.hold(image)
        if salvage.isAsked(number),
            let problem = salvage.problem(with: file, isSealed: damage.isSealed)
        {
            return (.strange, problem)
        }
        // Some get all questions, the others those that usually find damage.
        let hash = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
        let found = Inspection(
            of: file, key: corpus.key, part: hash >> 58 == 0 ? nil : Int(hash >> 48 & 0xFFF),
            writesFirst: damage == .sealedCycle)
        if let error = found.wrongErrors.first { return (.strange, error) }
        if damage.isSealed { return judgeSealed(found, hasToBeNoticed) }
        if let error = found.strangeErrors.first { return (.strange, error) }
        if let wrong = firstDifference(found, right) {
            let lost = Damage.lostCommits(image, of: corpus)
            if lost > 0, lost <= earlier.count, firstDifference(found, earlier[lost - 1]) == nil {
                return (.older, "the end of the log is damaged")
            }
            guard let version = earlier.firstIndex(where: { firstDifference(found, $0) == nil })
            else { return (.silent, "question \(wrong) is answered wrongly") }
            return (.silent, "answers of an earlier version (\(version + 1) before the last)")
        }
        if found.refusals.isEmpty && found.problems.isEmpty { return (.harmless, "") }
        return (
            .detected,
            "questions \(found.refusals.prefix(3)), \(found.firstError), "
                + "problems \(found.problems.prefix(2))"
        )
    }

    /// The words that a damage changes, before checksums are made right again: page, type of
    /// extent, offset in it.
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

    /// The first question with a different answer. Questions that come after a refusal are left
    /// out.
    private func firstDifference(_ found: Inspection, _ expected: [UInt32: UInt64]) -> UInt32? {
        found.answers.keys.sorted().first { found.answers[$0] != expected[$0] }
    }
}
