// Tests: Change.swift
import Testing
import ToftTestKit
@testable import ToftEngine

@Suite struct NotificationScenarioTests {
    @Test func `Ninety-one scenarios are there`() {
        #expect(Scenario.all.count == 91)
    }

    /// A refresh works everything out on the spot, over all commits of the round at once.
    @Test(arguments: Scenario.all) func `A refresh tells what the scenario expects`(
        scenario: Scenario
    ) throws {
        try run(scenario) { session throws(EngineError) in _ = try session.refresh() }
    }

    /// The notifier works in its own time; with one commit a round the result must be the same.
    @Test(arguments: Scenario.all.filter { $0.rounds.allSatisfy { $0.count == 1 } })
    func `A dispatch tells what the scenario expects`(scenario: Scenario) throws {
        try run(scenario) { session throws(EngineError) in try normalize(session) }
    }

    private func run(_ scenario: Scenario, _ move: (Session) throws(EngineError) -> Void) throws {
        let database = try ScenarioDatabase(
            "scenario \(scenario.id) \(UInt64.random(in: 0 ... .max))")
        if !scenario.setup.isEmpty { try database.commit(scenario.setup) }
        let observer = try ScenarioObserver(scenario, database)
        try move(observer.session)
        try checkInitial(scenario, observer)
        for (round, expected) in zip(scenario.rounds, scenario.expected) {
            let before = try observer.contents()
            for operations in round { try database.commit(operations) }
            try move(observer.session)
            let after = try observer.contents()
            #expect(after == expected.contents)
            try check(
                observer.takeCalls(), expected.notification, before: before, after: after, observer)
        }
    }

    private func checkInitial(_ scenario: Scenario, _ observer: ScenarioObserver) throws {
        let calls = observer.takeCalls()
        if scenario.observe["type"].string == "object" {
            #expect(calls.isEmpty)
        } else {
            #expect(calls.count == 1)
            if let call = calls.first, case .initial = call.kind {
            } else {
                Issue.record("the first call is no initial one")
            }
            #expect(try observer.contents() == scenario.initialContents)
        }
    }

    private func check(
        _ calls: [ChangeNotification], _ expected: JSON, before: JSON, after: JSON,
        _ observer: ScenarioObserver
    ) throws {
        guard expected != .null else {
            #expect(calls.isEmpty)
            return
        }
        #expect(calls.count == 1)
        guard let call = calls.first else { return }
        if expected["changedProperties"] != .null {
            let names = try call.object.properties.map { try observer.name(of: $0) }.sorted()
            #expect(
                names == (expected["changedProperties"].array ?? []).compactMap(\.string).sorted())
            #expect(call.object.isDeleted == (expected["deleted"].bool ?? false))
        } else {
            checkCollection(
                call.collection, expected, before: before.elements, after: after.elements)
            checkKeys(call.collection.keys, expected)
        }
    }

    private func checkKeys(_ keys: KeyChange?, _ expected: JSON) {
        guard expected["keyDeletions"] != .null else {
            #expect(keys == nil)
            return
        }
        func names(_ name: String) -> [String] {
            (expected[name].array ?? []).compactMap(\.string).sorted()
        }
        #expect(keys?.deletions == names("keyDeletions"))
        #expect(keys?.insertions == names("keyInsertions"))
        #expect(keys?.modifications == names("keyModifications"))
    }

    private func checkCollection(
        _ change: CollectionChange, _ expected: JSON, before: [JSON], after: [JSON]
    ) {
        var replay = Replay(before)
        replay.apply(change, current: after)
        #expect(replay.elements == after)
        func indices(_ name: String) -> IndexRanges {
            IndexRanges((expected[name].array ?? []).compactMap(\.int).map { Int($0) })
        }
        #expect(change.isCleared == (expected["cleared"].bool ?? false))
        #expect(change.isRootDeleted == (expected["rootDeleted"].bool ?? false))
        // Of several smallest edit scripts another one is as good.
        if change.deletions != indices("deletions"),
            change.deletions.count == indices("deletions").count, change.moves.isEmpty
        {
            return
        }
        #expect(change.deletions == indices("deletions"))
        #expect(change.insertions == indices("insertions"))
        #expect(change.modifications == indices("modifications"))
        #expect(change.modificationsNew == indices("modificationsNew"))
        let moves = (expected["moves"].array ?? []).compactMap { move -> CollectionChange.Move? in
            guard let pair = move.array, pair.count == 2, let from = pair[0].int,
                let to = pair[1].int
            else { return nil }
            return .init(from: Int(from), to: Int(to))
        }
        #expect(Set(change.moves) == Set(moves))
    }
}

extension JSON {
    /// The elements of an array, or the values of an object in the order of its keys.
    fileprivate var elements: [JSON] {
        array ?? (object ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }
}
