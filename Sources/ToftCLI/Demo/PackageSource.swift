#if Terminal
import Foundation
import ToftEngine

/// A package as it is read.
struct PackageRecord {
    var name: String
    var section = ""
    var installedSize: Int64 = 0
    var tags: [String] = []
    var depends: [String] = []
}

/// Reads packages from a status file of dpkg, or from JSON lines.
enum PackageSource {
    static func read(_ path: String) throws -> [PackageRecord] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw EngineError(
                .fileNotFound,
                "Can't read packages from '\(path)'. Name a file of JSON lines: toftdb demo "
                    + "packages.jsonl"
            )
        }
        let isJSON = text.first == "{"
        let packages = isJSON ? try jsonLines(text) : paragraphs(text)
        guard !packages.isEmpty else {
            throw EngineError(.invalidArgument, "'\(path)' has no packages.")
        }
        return packages
    }

    private struct Line: Decodable {
        var name: String
        var section: String?
        var installedSize: Int64?
        var tags: [String]?
        var depends: [String]?
    }

    private static func jsonLines(_ text: String) throws -> [PackageRecord] {
        let decoder = JSONDecoder()
        do {
            return try text.utf8.split(separator: UInt8(ascii: "\n")).map { line in
                let item = try decoder.decode(Line.self, from: Data(line))
                return PackageRecord(
                    name: item.name, section: item.section ?? "",
                    installedSize: item.installedSize ?? 0, tags: item.tags ?? [],
                    depends: item.depends ?? [])
            }
        } catch let error as DecodingError {
            throw EngineError(.invalidArgument, "The packages are no JSON lines: \(error.reason)")
        }
    }

    /// Paragraphs of `Field: value` lines; a line that begins with a blank continues the field
    /// before.
    private static func paragraphs(_ text: String) -> [PackageRecord] {
        var packages: [String: PackageRecord] = [:]
        for paragraph in text.components(separatedBy: "\n\n") {
            var fields: [Substring: String] = [:]
            var last: Substring = ""
            for line in paragraph.split(separator: "\n") {
                if line.first == " " {
                    fields[last, default: ""] += line
                } else if let colon = line.firstIndex(of: ":") {
                    last = line[..<colon]
                    fields[last] = line[line.index(after: colon)...].trimmingCharacters(
                        in: .whitespaces)
                }
            }
            guard let name = fields["Package"], fields["Status"]?.hasSuffix(" installed") ?? true
            else { continue }
            packages[name] = PackageRecord(
                name: name, section: fields["Section"] ?? "",
                installedSize: Int64(fields["Installed-Size"] ?? "") ?? 0,
                tags: names(fields["Tag"] ?? ""), depends: names(fields["Depends"] ?? ""))
        }
        return packages.values.sorted { $0.name < $1.name }
    }

    /// The names in "a (>= 1), b:any | c, ...", each once.
    private static func names(_ list: String) -> [String] {
        var seen: Set<String> = []
        return list.split(whereSeparator: { $0 == "," || $0 == "|" }).compactMap { item in
            let name = item.trimmingCharacters(in: .whitespaces).prefix { $0 != " " && $0 != "(" }
            let plain = String(name.hasSuffix(":any") ? name.dropLast(4) : name)
            return !plain.isEmpty && seen.insert(plain).inserted ? plain : nil
        }
    }
}

extension DecodingError {
    /// The fault and its place in the file.
    fileprivate var reason: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\(Self.place(context)) has no '\(key.stringValue)'"
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            "\(Self.place(context)) is not \(Self.name(type))"
        case .dataCorrupted(let context): "\(Self.place(context)) can't be decoded"
        @unknown default: "it can't be decoded"
        }
    }

    private static func place(_ context: Context) -> String {
        let path = context.codingPath.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return path.isEmpty ? "it" : "'\(path)'"
    }

    private static func name(_ type: any Any.Type) -> String {
        switch type {
        case is Bool.Type: "true or false"
        case is String.Type: "a text"
        case is any RangeReplaceableCollection.Type: "an array"
        default: "an object"
        }
    }
}
#endif
