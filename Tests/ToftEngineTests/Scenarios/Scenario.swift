import Foundation
import ToftTestKit

/// One scripted notification scenario: what is observed, what others commit, and what the observer must be told.
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
        rounds = (json["rounds"].array ?? []).map { ($0["commits"].array ?? []).map { $0.array ?? [] } }
        initialContents = json["expected"]["initial"]["contents"]
        expected = (json["expected"]["rounds"].array ?? []).map { ($0["notification"], $0["contents"]) }
    }
}

import Testing

extension Scenario {
    /// Why a scenario can't run yet; nil if it can.
    var reasonToSkip: String? {
        if observe["keyPaths"] != .null { return "key paths" }
        if observe["query"] != .null { return "queries" }
        switch observe["type"].string {
        case "set": return "sets"
        case "dictionary": return "dictionaries"
        default: break
        }
        if observe["property"].string == "parts" { return "embedded objects" }
        for operation in setup + rounds.joined().joined() {
            if let reason = Self.reasonToSkip(operation) { return reason }
        }
        return Self.special[id]
    }

    private static func reasonToSkip(_ operation: JSON) -> String? {
        let kind = operation["op"].string ?? ""
        if kind.hasPrefix("set.") { return "sets" }
        if kind.hasPrefix("dict.") { return "dictionaries" }
        if operation["path"] != .null { return "embedded objects" }
        let values = operation["values"].object ?? [:]
        if values["part"] != nil { return "embedded objects" }
        if values["any"] != nil { return "mixed values" }
        return nil
    }

    /// Scenarios that hang on data which the schema of today does not hold.
    private static let special = ["results-links-27": "sets"]

    static let file = JSON(
        (try? Data(contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/notifications.json"))) ?? Data())

    static let all = (file["scenarios"].array ?? []).map(Scenario.init)
    static let runnable = all.filter { $0.reasonToSkip == nil }
}
