import Foundation
import ToftTestKit

/// Queries with the answers of the real Realm, and the data they were asked of.
enum Fixtures {
    /// Whether they are those of this repository: `Tests/conformance FOLDER` names others.
    static let isOwn = ProcessInfo.processInfo.environment["TOFT_CONFORMANCE"] == nil

    static let folder =
        ProcessInfo.processInfo.environment["TOFT_CONFORMANCE"].map(URL.init(fileURLWithPath:))
        ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    /// One line of `queries.tsv`.
    struct Row: Sendable {
        var id: String
        var group: String
        var className: String
        var query: String
        var arguments: [JSON]
        var kind: Kind
        /// Primary keys, or the error.
        var result: JSON

        enum Kind: String, Sendable {
            /// Primary keys in any order.
            case set = "SET"
            /// Primary keys in order.
            case list = "LIST"
            case error = "ERROR"
        }

        /// "syntax", "invalid-query"..., for an error.
        var errorKind: String? { result["error"].string }
    }

    static let rows: [Row] = lines(of: "queries.tsv").map { fields in
        Row(
            id: fields[0], group: fields[1], className: fields[2],
            query: JSON(fields[3]).string ?? "",
            arguments: JSON(fields[4]).array ?? [], kind: Row.Kind(rawValue: fields[5]) ?? .error,
            result: JSON(fields[6]))
    }

    /// Rows whose answer is odd, though well defined: id -> what is odd. Ours is decided otherwise
    /// and tested by hand.
    static let quirks: [String: String] = Dictionary(
        lines(of: "quirks.tsv").map { ($0[0], $0[1]) }, uniquingKeysWith: { $0 + ", " + $1 })

    /// The lines after the header, cut at tabs.
    private static func lines(of name: String) -> [[String]] {
        let text =
            (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }
}
