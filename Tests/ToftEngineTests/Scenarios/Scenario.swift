import Foundation
import Testing
import ToftTestKit

/// One scripted notification scenario: the subject, the commits of others, and the expected
/// notifications.
struct Scenario: Sendable, CustomTestStringConvertible {
    let id: String
    let title: String
    let observe: JSON
    let setup: [JSON]
    /// For each round its transactions, each a list of operations.
    let rounds: [[[JSON]]]
    let initialContents: JSON
    let expected: [(notification: JSON, contents: JSON)]

    var testDescription: String { "\(id): \(title)" }

    init(_ json: JSON) {
        id = json["id"].string ?? ""
        title = json["title"].string ?? ""
        observe = json["observe"]
        setup = json["setup"].array ?? []
        rounds = (json["rounds"].array ?? []).map {
            ($0["commits"].array ?? []).map { $0.array ?? [] }
        }
        let decided = Self.decided[id]
        initialContents = decided?.initial ?? json["expected"]["initial"]["contents"]
        expected = (json["expected"]["rounds"].array ?? []).map {
            ($0["notification"], decided?.after ?? $0["contents"])
        }
    }
}

extension Scenario {
    /// Deliberate differences. A key path through a null link is null, so such rows come first, not
    /// last.
    private static let decided: [String: (initial: JSON, after: JSON)] = [
        "results-sorted-13": (
            JSON("[9, 10, 1, 2, 3, 4, 5, 6, 7, 8]"), JSON("[9, 10, 2, 3, 4, 5, 6, 7, 8, 1]")
        )
    ]

    static let file = JSON(
        (try? Data(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent()
                .appendingPathComponent("Fixtures/notifications.json"))) ?? Data())

    static let all = (file["scenarios"].array ?? []).map(Scenario.init)
}
