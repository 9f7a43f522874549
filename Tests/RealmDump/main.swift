import Foundation
import ToftRealmFile
import ToftStorage

// RealmDump FILE [KEY AS HEX]: prints a Realm file as one JSON object, whose form
// Tests/test_realm_files.py describes.

func quoted(_ text: String) -> String {
    let data = try? JSONSerialization.data(withJSONObject: [text])
    return String(decoding: (data ?? Data("[\"\"]".utf8)).dropFirst().dropLast(), as: UTF8.self)
}

func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

/// A decimal as its coefficient and exponent, even if they are not normal.
func decimal(_ low: UInt64, _ high: UInt64) -> String {
    let sign = high >> 63 == 1 ? "-" : ""
    switch (high >> 58) & 0x1F {
    case 0x1E: return "\(sign)Inf"
    case 0x1F: return "NaN"
    default: break
    }
    var coefficient = UInt128(high & ((1 << 49) - 1)) << 64 | UInt128(low)
    var exponent = Int(high >> 49 & 0x3FFF) - 6176
    if (high >> 61) & 3 == 3 {
        coefficient = 0
        exponent = Int(high >> 47 & 0x3FFF) - 6176
    }
    return "\(sign)\(coefficient)E\(exponent)"
}

struct Printer {
    let names: [Int64: String]

    func text(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return quoted("S:" + hex(bytes).uppercased())
        }
        return quoted(bytes.count > 200 ? "s#\(bytes.count):\(sha(bytes))" : "s:" + text)
    }

    func sha(_ bytes: [UInt8]) -> String { hex(Self.digest(bytes)) }

    /// The digest by the program that every system has.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        let process = Process(), input = Pipe(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
        process.standardInput = input
        process.standardOutput = output
        try? process.run()
        DispatchQueue.global().async {
            input.fileHandleForWriting.write(Data(bytes))
            try? input.fileHandleForWriting.close()
        }
        let digits = output.fileHandleForReading.readDataToEndOfFile().prefix(64)
        process.waitUntilExit()
        let text = Array(String(decoding: digits, as: UTF8.self))
        return stride(from: 0, to: text.count, by: 2).map {
            UInt8(String(text[$0...$0 + 1]), radix: 16) ?? 0
        }
    }

    func value(_ value: RealmValue) -> String {
        switch value {
        case .null, .tooLong: return "null"
        case .int(let number): return "\"i:\(number)\""
        case .bool(let flag): return "\"b:\(flag ? 1 : 0)\""
        case .float(let bits): return "\"f:" + String(format: "%08x", bits) + "\""
        case .double(let bits): return "\"d:" + String(format: "%016llx", bits) + "\""
        case .string(let bytes): return text(bytes)
        case .data(let bytes):
            return bytes.count > 200
                ? "\"x#\(bytes.count):\(sha(bytes))\"" : "\"x:\(hex(bytes))\""
        case .timestamp(let seconds, let nanoseconds): return "\"t:\(seconds),\(nanoseconds)\""
        case .decimal(let low, let high): return "\"n:\(decimal(low, high))\""
        case .objectId(let bytes): return "\"o:\(hex(bytes))\""
        case .uuid(let bytes):
            let digits = Array(hex(bytes))
            let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            return "\"u:\(parts.joined(separator: "-"))\""
        case .link(let table, let key):
            return quoted("l:\(names[table] ?? "#\(table)"),\(key)")
        case .list(let values): return "{\"list\": \(list(values))}"
        case .dictionary(let entries): return "{\"dict\": \(dictionary(entries))}"
        }
    }

    func list(_ values: [RealmValue]) -> String {
        "[" + values.map(value).joined(separator: ", ") + "]"
    }

    func dictionary(_ entries: [RealmEntry]) -> String {
        "["
            + entries.map { entry in
                let key = String(validating: entry.key, as: UTF8.self) ?? hex(entry.key)
                return "[\(quoted("s:" + key)), \(value(entry.value))]"
            }.joined(separator: ", ") + "]"
    }

    func value(_ each: RealmValue, of column: RealmColumn) -> String {
        switch (each, column.collection) {
        case (.list(let values), .list), (.list(let values), .set): list(values)
        case (.dictionary(let entries), .dictionary): dictionary(entries)
        default: value(each)
        }
    }
}

func name(_ type: RealmType) -> String {
    switch type {
    case .data: "binary"
    case .decimal: "decimal128"
    default: "\(type)"
    }
}

do {
    let arguments = CommandLine.arguments
    var key: EncryptionKey?
    if arguments.count > 2 {
        let digits = Array(arguments[2])
        key = try EncryptionKey(
            stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0
            })
    }
    let file = try RealmFile(arguments[1], key: key), walk = file.walk()
    let printer = Printer(
        names: Dictionary(uniqueKeysWithValues: file.tables.map { ($0.key, $0.name) }))
    var tables: [String] = []
    for table in file.tables {
        let columns = table.columns.map { column in
            let target =
                column.target.map { "\"target\": \(quoted(printer.names[$0] ?? "")), " } ?? ""
            let index =
                switch column.index {
                case .none: "none"
                case .general: "general"
                case .fullText: "fulltext"
                }
            return """
                {"name": \(quoted(column.name)), "type": "\(name(column.type))", \
                "nullable": \(column.isNullable), "collection": "\(column.collection)", \
                \(target)"index": "\(index)"}
                """
        }
        var objects: [String] = []
        try file.forEachObject(of: table, table.columns, in: walk) { some in
            for (row, key) in some.keys.enumerated() {
                let values = zip(table.columns, some.columns).map { column, values in
                    printer.value(values[row], of: column)
                }
                objects.append("[\(key), [\(values.joined(separator: ", "))]]")
            }
        }
        let primaryKey = table.primaryKey.map { quoted(table.columns[$0].name) } ?? "null"
        tables.append(
            """
            {"name": \(quoted(table.name)), "kind": "\(table.kind)", "key": \(table.key), \
            "primaryKey": \(primaryKey), "columns": [\(columns.joined(separator: ", "))], \
            "objects": [\(objects.joined(separator: ", "))]}
            """)
    }
    let version = file.schemaVersion.map { "\($0)" } ?? "null"
    print(
        "{\"format\": \(file.format), \"schemaVersion\": \(version), "
            + "\"tables\": [\(tables.joined(separator: ", "))]}")
} catch let error as RealmFileError {
    FileHandle.standardError.write(Data((error.message + "\n").utf8))
    exit(1)
}
