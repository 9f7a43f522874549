internal import ToftPlatform
internal import ToftStorage

// The aftermath of a crash: the file is recovered, three more transactions are committed, it is
// closed; and a crash comes at any moment of that, in the middle of the recovery too.

extension CrashTrial {
    /// Takes some of the tried images through an aftermath, and some of the images of that through
    /// another, to this depth.
    func follow(_ image: CrashImage, depth: Int) {
        guard depth > 0, image.model != .lyingDisk, !isHopeless,
            chance.chance(limits.percentWithAftermath)
        else { return }
        do {
            try crashAgain(after: image, depth)
        } catch {
            report.violations.append(
                "\(workload.name), seed \(seed): life after \(image.model.rawValue) at event "
                    + "\(image.position): \(error)"
            )
        }
    }

    private func crashAgain(after image: CrashImage, _ depth: Int) throws {
        try file.load(image.pages)
        let key = try self.key(of: image)
        self.key = key
        let number = try using(file) { store throws in
            try look(at: store, image.acknowledged...max(image.acknowledged, image.began))
        }
        guard let content = contents[number] else { throw Failure("there was no commit \(number)") }
        try file.load(image.pages)
        let database = try RecordedDatabase(
            on: file, content: content, number: number, next: nextNumber,
            dirtyLimit: workload.dirtyLimit, firstLogPages: workload.firstLogPages,
            encryptionKey: key, isCompacted: chance.chance(30))
        nextNumber += 3
        let opening = database.file.events.count
        database.file.note(.acknowledged(number))
        database.file.note(.began(number))
        var numbers = Seed(chance.next())
        for _ in 0..<3 {
            try database.commit(numbers.chance(25) ? .deferred : .immediate) { edit in
                try edit.anything(&numbers)
            }
        }
        if numbers.chance(25) { try database.checkpoint() }
        try database.finish()
        if isPlain, image.model != .inRecovery && image.model != .lifeGoesOn {
            var births = PageBirths()
            try births.follow(history[..<lastAcknowledgement(before: image.position)])
            births.forgetUnseen()
            try births.follow(database.file.events)
        }
        try tryImages(of: database, key, after: image, opening: opening, number, depth)
    }

    /// Nobody has seen the unfinished work of a dead writer; its version numbers may be used again
    /// once all participants have left.
    private func lastAcknowledgement(before position: Int) -> Int {
        history[..<position].lastIndex { if case .acknowledged = $0 { true } else { false } } ?? 0
    }

    /// Chosen by chance from all, a third of them from the recovery.
    private func tryImages(
        of database: RecordedDatabase, _ key: EncryptionKey?, after image: CrashImage,
        opening: Int, _ number: Int, _ depth: Int
    ) throws {
        var found: [CrashModel: [CrashImage]] = [:]
        var few = CrashImages.Limits.few
        few.lyingSubsets = 0
        few.exhaustivePages = 3
        few.randomSubsets = 4
        var images = CrashImages(
            of: database.file.events, from: database.start, acknowledged: image.acknowledged,
            began: max(image.began, number), key: key, seed: chance.next(), limits: few
        ) { later throws in
            var later = later
            later.model = later.position <= opening ? .inRecovery : .lifeGoesOn
            found[later.model, default: []].append(later)
        }
        try images.enumerate()
        contents.merge(database.contents) { old, _ in old }
        versions.merge(database.versions) { old, _ in old }
        defer { forget(database.contents.keys.filter { $0 != number }) }
        for (model, share) in [(CrashModel.inRecovery, 2), (.lifeGoesOn, 1)] {
            for _ in 0..<limits.aftermathStates * share / 3 {
                guard let later = chance.pick(found[model] ?? []) else { break }
                if take(later) { follow(later, depth: depth - 1) }
            }
        }
    }
}
