// Tests: BoundQuery+Run.swift, CollectionNodes.swift, Compiler.swift, Execution.swift,
// IndexPlan.swift, KeySet.swift, QueryBase.swift, QueryPlan.swift, RowBatch.swift,
// RowFilter.swift, ScanPosition.swift, Selection.swift, TextNode.swift, ZoneMapFilter.swift
import Testing
import ToftEngine
import ToftTestKit

@testable import ToftQuery

/// The answers of the real Realm to queries.
@Suite struct ConformanceTests {
    /// Rows on which we differ on purpose, with the reason; those that `quirks.tsv` lists are
    /// counted apart.
    static let differences: [String: String] = {
        let nan = "NaN equals NaN, and is neither less nor greater than a number"
        let overflow = "an integer that overflows is null"
        let noMatch = "no text begins with, contains or ends with null"
        let folding = "[c] folds all of Unicode, not Latin-1 alone"
        return [
            "type-conversion-012": nan, "args-103": nan, "null-nan-paths-273": nan,
            "arithmetic-006": overflow, "arithmetic-024": overflow, "aggregates-110": overflow,
            "backlinks-009": overflow,
            "string-ops-141": noMatch, "args-062": noMatch,
            "string-ops-084": folding, "string-ops-090": folding, "string-ops-107": folding,
            "sort-092": "a key path through a null link sorts as null: last when descending",
            "property-property-066": "null equals null, between links too",
            "property-property-067": "null equals null, between links too",
            "list-any-all-087":
                "ALL means every element of every list, not every element of some list",
            "cmp-date-027": "the literal names exactly the instant that is stored",
            "arithmetic-011": "19 / 2.0 is 9.5",
            "null-nan-paths-149": "a missing key is null, in an empty dictionary too",
            "cmp-decimal-008": nan, "list-other-types-025": nan, "null-nan-paths-281": nan,
            "null-nan-paths-290": nan, "null-nan-paths-411": nan,
            "mixed-071": nan,
            "mixed-nested-073": "a missing key is null, in an empty dictionary too",
            "errors-124": "SELF stands before a property too",
            "args-118": "the double 0.1 is a little more than the decimal",
        ]
    }()

    @Test(arguments: [false, true]) func `Every query has the answer of realm`(indexed: Bool) throws
    {
        let data = try ConformanceData(indexed: indexed)
        var (run, quirks) = (0, 0)
        var failed: [String] = []
        for row in Fixtures.rows {
            let isKnown = Fixtures.isOwn && Self.differences[row.id] != nil
            if Fixtures.quirks[row.id] != nil || isKnown {
                quirks += 1
            } else {
                run += 1
                if let problem = Self.problem(row, data) {
                    failed.append(row.id)
                    Issue.record(
                        """
                        \(row.id) \(row.className): \(row.query) \
                        \(row.arguments.isEmpty ? "" : "\(row.arguments)"): \(problem)
                        """
                    )
                }
            }
        }
        print(
            "conformance\(indexed ? " with indexes" : ""): \(run - failed.count) passed, "
                + "\(failed.count) failed, \(quirks) decided otherwise "
                + failed.joined(separator: " ")
        )
        #expect(run + quirks == 1_080 || !Fixtures.isOwn)
    }

    private static func problem(_ row: Fixtures.Row, _ data: ConformanceData) -> String? {
        do {
            let answer = try data.answer(row)
            guard row.kind != .error, let expected = row.result.array else {
                return "an answer where Realm has the error \(row.errorKind ?? "?")"
            }
            if row.kind == .list {
                return answer == expected
                    ? nil : "\(answer.map(\.plain)) in place of \(expected.map(\.plain))"
            }
            if Set(answer) == Set(expected) && answer.count == expected.count { return nil }
            let missing = expected.filter { !answer.contains($0) }.map(\.plain)
            let wrong = answer.filter { !expected.contains($0) }.map(\.plain)
            return "missing \(missing.prefix(6)), wrong \(wrong.prefix(6)) of \(expected.count)"
        } catch let error as EngineError {
            guard row.kind == .error else { return "the error \(error.code): \(error.message)" }
            let isSyntax = error.code == .querySyntax
            return isSyntax == (row.errorKind == "syntax")
                ? nil : "\(error.code) in place of \(row.errorKind ?? "?"): \(error.message)"
        } catch {
            return "\(error)"
        }
    }
}

extension JSON {
    fileprivate var plain: String {
        switch self {
        case .int(let value): String(value)
        case .string(let value): value
        default: "\(self)"
        }
    }
}
