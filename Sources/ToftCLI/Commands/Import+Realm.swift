#if Terminal
import Foundation
import ToftEngine
import ToftStorage

extension Import {
    /// Whether the input is one of Realm's own files: an encrypted one is recognised by its name,
    /// or by its key.
    var isRealmFile: Bool {
        if sourceKeyFile != nil { return true }
        if lines == "-" { return false }
        if lines.utf8.suffix(6).elementsEqual(".realm".utf8) { return true }
        return Database.isRealmFile(lines)
    }

    func importRealm() throws {
        guard className == nil, schema == nil, !csv, !ignoreUnknown, !ignoreMissing,
            !plan, update == .error
        else {
            throw EngineError(
                .invalidArgument,
                "'\(lines)' is a Realm file, which has its own classes: it takes no --class, "
                    + "--schema, --update, --csv, --ignore-unknown, --ignore-missing or --plan.")
        }
        let start = Date()
        var bar: Progress?
        let report = try Database.importRealm(
            lines, to: file, key: try sourceKeyFile.map { try KeyArgument.key(in: $0) },
            newKey: try key.key()
        ) { done, total in
            if bar == nil { bar = Progress(total: total) }
            bar?.advance(to: done)
        }
        bar?.finish()
        print(report, seconds: Date().timeIntervalSince(start))
    }

    private func print(_ report: RealmImportReport, seconds: Double) {
        guard json else {
            for each in report.classes { Output.print("\(each.name): \(each.objects) objects") }
            for note in report.notes { Output.print("note: \(note)") }
            return Output.print(
                "\(report.objects) objects of a Realm file of format \(report.format), in "
                    + "\(String(format: "%.2f", seconds)) s")
        }
        Output.print(
            JSONValue.object([
                ("format", .integer(Int64(report.format))),
                (
                    "schemaVersion",
                    report.schemaVersion.map { .integer(Int64(clamping: $0)) } ?? .null
                ),
                (
                    "classes",
                    .list(
                        report.classes.map {
                            .object([
                                ("name", .text($0.name)), ("objects", .integer(Int64($0.objects))),
                            ])
                        })
                ),
                ("notes", .list(report.notes.map { .text($0) })),
                ("seconds", .double(seconds)),
            ]))
    }
}
#endif
