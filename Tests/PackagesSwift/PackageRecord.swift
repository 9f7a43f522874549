import Foundation

/// One package as a source tells of it; names in lists come once.
struct PackageRecord: Decodable {
    var name = ""
    var version = ""
    var section = ""
    var priority = ""
    var maintainer = ""
    var size = 0
    var installedSize = 0
    var essential = false
    var description = ""
    var homepage: String?
    var tags: [String] = []
    var depends: [String] = []
    var recommends: [String] = []

    private enum Key: CodingKey {
        case name, version, section, priority, maintainer, size, installedSize, essential, description, homepage, tags, depends, recommends
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String { try values.decodeIfPresent(String.self, forKey: key) ?? "" }
        func names(_ key: Key) throws -> [String] { (try values.decodeIfPresent([String].self, forKey: key) ?? []).withoutRepeats }
        name = try values.decode(String.self, forKey: .name)
        version = try text(.version)
        section = try text(.section)
        priority = try text(.priority)
        maintainer = try text(.maintainer)
        size = try values.decodeIfPresent(Int.self, forKey: .size) ?? 0
        installedSize = try values.decodeIfPresent(Int.self, forKey: .installedSize) ?? 0
        essential = try values.decodeIfPresent(Bool.self, forKey: .essential) ?? false
        description = try text(.description)
        homepage = try values.decodeIfPresent(String.self, forKey: .homepage)
        tags = try names(.tags)
        depends = try names(.depends)
        recommends = try names(.recommends)
    }

    /// A paragraph of a dpkg status file; nil for a package that is not installed.
    init?(paragraph: Substring) {
        var fields: [Substring: [Substring]] = [:]
        for line in paragraph.split(separator: "\n") where !line.hasPrefix(" ") && !line.hasPrefix("\t") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon], default: []].append(line[line.index(after: colon)...].drop { $0 == " " })
        }
        func text(_ field: Substring) -> String { String(fields[field]?.last ?? "") }
        guard !text("Package").isEmpty, fields["Status"] == nil || text("Status").hasSuffix(" installed") else { return nil }
        name = text("Package")
        version = text("Version")
        section = text("Section")
        priority = text("Priority")
        maintainer = text("Maintainer")
        size = Int(text("Size")) ?? 0
        installedSize = Int(text("Installed-Size")) ?? 0
        essential = text("Essential") == "yes"
        description = text("Description")
        homepage = text("Homepage").isEmpty ? nil : text("Homepage")
        tags = text("Tag").split { ", \t".contains($0) }.map { String($0) }.withoutRepeats
        let relations = paragraph.split(separator: "\n").filter { $0.hasPrefix("Depends:") || $0.hasPrefix("Pre-Depends:") }
        depends = relations.flatMap { Self.names(in: $0.drop { $0 != ":" }.dropFirst()) }.withoutRepeats
        recommends = Self.names(in: text("Recommends")[...]).withoutRepeats
    }

    /// The names in "libc6 (>= 2.34), default-mta | mail-transport-agent": what may be installed, whatever the version.
    private static func names(in relations: Substring) -> [String] {
        relations.split { $0 == "," || $0 == "|" }.compactMap { part in
            let name = part.drop { $0 == " " || $0 == "\t" }.prefix { !" \t(:[<".contains($0) }
            return name.isEmpty ? nil : String(name)
        }
    }
}

extension [String] {
    /// Each once, where it comes first.
    fileprivate var withoutRepeats: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

/// The packages of a dpkg status file or of a file of JSON lines.
func packages(of source: String) throws -> [PackageRecord] {
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: source)), as: UTF8.self)
    guard text.hasPrefix("{") else { return text.split(separator: "\n\n").compactMap { PackageRecord(paragraph: $0) } }
    let decoder = JSONDecoder()
    return try text.utf8.split(separator: UInt8(ascii: "\n")).map { try decoder.decode(PackageRecord.self, from: Data($0)) }
}
