import Foundation
import ToftTestKit

/// Queries with the answers of the real Realm, and the data that they query.
enum Fixtures {
    /// Whether they are those of this repository: `Tests/conformance` names others.
    static let isOwn = named("DATASET") == nil

    /// The objects, as JSON.
    static let dataset = named("DATASET") ?? own("dataset.json")

    private static func named(_ what: String) -> URL? {
        ProcessInfo.processInfo.environment["TOFT_CONFORMANCE_" + what]
            .map(URL.init(fileURLWithPath:))
    }

    private static func own(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/" + name)
    }

    /// A query with its answer.
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

    static let rows: [Row] = lines(of: named("QUERIES") ?? own("queries.tsv")).map { fields in
        Row(
            id: fields[0], group: fields[1], className: fields[2],
            query: JSON(fields[3]).string ?? "",
            arguments: JSON(fields[4]).array ?? [], kind: Row.Kind(rawValue: fields[5]) ?? .error,
            result: JSON(fields[6]))
    }

    /// Rows whose answer is odd, though well defined: id -> the oddity. Ours is decided otherwise
    /// and tested by hand.
    static let quirks: [String: String] = Dictionary(
        lines(of: isOwn ? own("quirks.tsv") : named("QUIRKS")).map { ($0[0], $0[1]) },
        uniquingKeysWith: { $0 + ", " + $1 })

    /// The lines after the header, cut at tabs.
    private static func lines(of file: URL?) -> [[String]] {
        let text = file.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
        return text.split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }
}
