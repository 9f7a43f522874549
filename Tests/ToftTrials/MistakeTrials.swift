internal import Glibc
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// The tests of the tests: for each mistake of `Probe` the suite that owns it is run with that
/// mistake in the engine, and has to find it.
enum MistakeTrials {
    enum Suite: String {
        case crash, faults, kills, interleavings, files, model, damage
    }

    static func owner(of mistake: Probe.Mistake) -> Suite {
        switch mistake {
        case .noSyncBeforeMeta, .metaNotDurable, .metaBeforePages, .pageReusedTooEarly,
            .pinsIgnored, .versionReusedAfterRollback, .checksumNotCompared,
            .othersCommitOverlooked, .growthForgotten, .olderMetaRefused,
            .recoveryOverwritesItsMeta, .logNotDurable, .previousVersionNotChecked,
            .saltKept, .deferredNotCovered, .logTailIgnored, .inDoubtMetaForgotten,
            .checkpointNotPinned, .checkpointNotSynced, .entryLostOnTheWay,
            .segmentNotListed, .tornRecordBelieved, .derivedNotReplayed,
            .versionOfBirthNotPinned:
            .crash
        case .syncErrorIgnored, .syncTriedAgain, .poisonForgotten, .diskFullIgnored,
            .recoveryTrustsTheCache, .flushForgetsPoison, .closeErrorSwallowed, .groupFailureHidden:
            .faults
        case .clusterRowsOffByOne, .staleElementAfterMove, .upsertSkipsIndex, .backlinkForgotten,
            .longTextTakenAsShort, .elementLostInSplit, .elementLostInMerge, .boundsNotWidened,
            .observerMissesRow, .staleResults:
            .model
        case .publishedBeforeMeta, .publishedBeforeLog, .pinStoredWithoutLookingAgain,
            .durableVersionReadFirst:
            .interleavings
        case .deadWriterNotTakenOver: .kills
        case .deadOwnerByNumberOnly, .shortWriteTakenAsWhole, .directoryNotSynced, .copyNotVerified,
            .lostLogNotSeen, .lostMetaNotSeen:
            .files
        case .referenceBoundsNotChecked, .heightNotChecked, .keyOrderNotChecked:
            .damage
        }
    }

    /// Runs all, or the one that is named.
    static func run(_ name: String?) throws -> Bool {
        guard Probe.isCompiledIn else {
            print("mistakes: needs a build with -D TOFT_TRIALS")
            return true
        }
        let mistakes = Probe.Mistake.allCases.filter { name == nil || $0.rawValue == name }
        var found = 0
        var counts: [Int] = []
        for mistake in mistakes {
            let suite = owner(of: mistake)
            let start = MonotonicClock.nanoseconds
            setenv("TOFT_SEED_BUG", mistake.rawValue, 1)
            let child = try ChildProcess(Trials.executable, ["hunt", suite.rawValue])
            unsetenv("TOFT_SEED_BUG")
            // The alarm of the hunt ends a wait.
            var lines: [String] = []
            while let line = child.line(timeoutMilliseconds: -1) { lines.append(line) }
            let code = child.wait()
            // A hunt ends with 1 when it has found something wrong. A signal would mean that the
            // engine fell over the mistake, or hung.
            let isFound = code == 1
            if isFound { found += 1 }
            let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
            let story =
                lines.first { $0.hasPrefix("VIOLATION") }?.dropFirst(10).prefix(150)
                ?? (code < 0 ? "ended by signal \(-code)" : "")
            let cases = lines.first { $0.hasPrefix("cases ") }?.dropFirst(6) ?? "?"
            if isFound, let count = Int(cases) { counts.append(count) }
            print(
                "\(isFound ? "found" : "NOT FOUND") \(mistake.rawValue) by \(suite.rawValue), "
                    + "\(cases) cases, \(Int(seconds * 1_000)) ms: \(story)"
            )
        }
        counts.sort()
        print(
            "mistakes found \(found)/\(mistakes.count), median of cases until then "
                + "\(counts.isEmpty ? 0 : counts[counts.count / 2])"
        )
        return found == mistakes.count && !mistakes.isEmpty
    }

    /// Runs a suite until something is wrong. True: nothing was.
    static func hunt(_ name: String) throws -> Bool {
        // Against a hang; a machine that others load takes a minute for the slowest.
        alarm(180)
        switch Suite(rawValue: name) {
        case .crash: return try CrashTrials.hunt()
        case .faults: return try FaultTrials.run(stride: 1, violationLimit: 1)
        case .kills: return try KillTrial.run(kills: 300, seed: 1)
        case .interleavings: return try InterleavingTrials.run()
        case .files: return try FileTrials.run()
        case .model: return ModelTrial.hunt()
        case .damage: return try DamageTrial.run(cases: 12_000, seed: 1, violationLimit: 1)
        case nil: return true
        }
    }
}
