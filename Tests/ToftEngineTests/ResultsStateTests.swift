// Tests: ToftEngine/Results.swift
import Testing
import ToftModel
import ToftQuery

@testable import ToftEngine

/// The knowledge of results after each question, and the part of it that a change leaves, by the
/// number of evaluations of the next question.
@Suite struct ResultsStateTests {
    private enum Question: String, CaseIterable {
        case count, first, last, all, isEmpty

        /// Asks results, and gives the answer as text.
        func answer(_ results: Results) throws -> String {
            switch self {
            case .count: "\(try results.count)"
            case .first: "\(try results.key(at: 0))"
            case .last: "\(try results.partialLastKey() ?? (try results.keys().last ?? 0))"
            case .all: "\(try results.keys().hashValue)"
            case .isEmpty: "\(try results.isEmpty)"
            }
        }
    }

    /// The question that made a state; nil for results that were asked nothing.
    private static let states: [Question?] = [nil, .count, .first, .last, .all]

    private enum Change: String, CaseIterable {
        case none, unrelated, cancelled, related, elsewhere

        /// Whether parts of the results are valid after it.
        var leavesParts: Bool {
            switch self {
            case .none, .unrelated, .cancelled: true
            case .related, .elsewhere: false
            }
        }
    }

    /// The evaluations of a question to a filter, by what was asked before.
    private static func evaluationsOfFilter(_ question: Question, after state: Question?) -> Int {
        switch (state, question) {
        case (.all, _): 0
        case (.count, .count), (.count, .isEmpty): 0
        case (.first, .first), (.first, .isEmpty), (.first, .all): 0
        case (.last, .last): 0
        default: 1
        }
    }

    /// `evaluations` of a sorted query, whose last result is found with all.
    private static func evaluationsOfSort(_ question: Question, after state: Question?) -> Int {
        switch (state, question) {
        case (.all, _), (.last, _): 0
        case (.count, .count), (.count, .isEmpty): 0
        case (.first, .first), (.first, .isEmpty): 0
        default: 1
        }
    }

    private static let count: Int64 = 4_500

    private func people() throws -> TestDatabase {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in
            for id in 1...Self.count {
                try database.addPerson(id, name: "n\(id % 7)", age: id % 90)
            }
        }
        return database
    }

    private func setAge(_ age: Int64, _ database: TestDatabase) throws {
        let person = try database.session.find(Value.int(5), in: try database.person)
        try person?.set(try database.property("age"), Value.int(age))
    }

    private func make(_ change: Change, _ age: Int64, in database: TestDatabase) throws {
        switch change {
        case .none: break
        case .unrelated:
            try database.session.beginWrite()
            try database.session.create(
                try database.dog, [(try database.property("name", of: "Dog"), .string("Rex"))])
            try database.session.commit()
        case .cancelled:
            try database.session.beginWrite()
            try setAge(age, database)
            try database.session.cancel()
        case .related:
            try database.session.beginWrite()
            try setAge(age, database)
            try database.session.commit()
        case .elsewhere:
            let other = try database.other()
            try other.session.beginWrite()
            try setAge(age, other)
            try other.session.commit()
            try other.session.close()
            try database.session.refresh()
        }
    }

    private func check(
        _ text: String, _ expected: (Question, Question?) -> Int
    ) throws {
        let database = try people()
        var age: Int64 = 0
        for change in Change.allCases {
            for state in Self.states {
                for question in Question.allCases {
                    let results = try database.people().filter(text, arguments: [])
                    _ = try state?.answer(results)
                    age += 1
                    try make(change, age % 90, in: database)
                    let before = results.evaluations
                    let answer = try question.answer(results)
                    let made = results.evaluations - before
                    let place = "\(question) after \(state?.rawValue ?? "nothing"), \(change)"
                    // All results follow a change of one object.
                    let known = change.leavesParts || expected(.all, state) == 0 && state != .first
                    #expect(made == expected(question, known ? state : nil), "\(place): \(text)")
                    let fresh = try database.people().filter(text, arguments: [])
                    #expect(try question.answer(fresh) == answer, "\(place): \(text)")
                }
            }
        }
        try database.expectSound()
    }

    @Test func `A filter evaluates once for each part that is not known`() throws {
        try check("age > 10", Self.evaluationsOfFilter)
    }

    @Test func `A sorted query evaluates once for each part that is not known`() throws {
        try check("age > 10 SORT(age ASC, id ASC)", Self.evaluationsOfSort)
    }
}
