#if Terminal
import Foundation
import ToftEngine
import ToftModel
import ToftSQLite
import ToftStorage

extension Import {
    private static let endings = [".sqlite", ".sqlite3", ".db", ".db3"]

    /// Whether what is to be imported is a file of SQLite: an encrypted one says so by its name.
    var isSQLiteFile: Bool {
        if lines == "-" { return false }
        let name = lines.lowercased().utf8
        return Self.endings.contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
            || SQLiteImport.isSQLiteFile(lines)
    }

    func importSQLite() throws {
        guard className == nil, !csv, !ignoreUnknown, update == .error else {
            throw EngineError(
                .invalidArgument,
                "'\(lines)' is an SQLite file, whose tables become classes: it takes no --class, "
                    + "--update, --csv or --ignore-unknown.")
        }
        let start = Date()
        let given = try schema.map { try SchemaFile(path: $0, isPlan: true).plan() }
        var bar: Progress?
        let tell = { (done: Int, total: Int) in
            if bar == nil { bar = Progress(total: total) }
            bar?.advance(to: done)
        }
        let planned = try given ?? SQLiteImport.plan(lines, progress: tell)
        bar?.finish()
        if plan { return show(planned) }
        bar = nil
        let report = try SQLiteImport.run(
            lines, to: file, plan: planned, newKey: try key.key(), ignoresMissing: ignoreMissing,
            progress: tell)
        bar?.finish()
        print(report, seconds: Date().timeIntervalSince(start))
    }

    private func show(_ plan: SQLitePlan) {
        if json { return Output.print(plan.json) }
        for each in plan.classes {
            let name = each.declared.name
            let table = name == each.table ? "" : ", of table '\(each.table)'"
            Output.print("class \(name)\(table)")
            for (property, source) in zip(each.declared.properties, each.sources) {
                Output.print("    \(property.shown): \(source.shown(property))")
            }
            for unique in each.declared.uniques {
                Output.print("    unique: \(unique.joined(separator: ", "))")
            }
        }
        for note in plan.notes { Output.print("note: \(note)") }
        Output.print(
            "To change it, write it with --plan --json to a file, and give that back with --schema."
        )
    }

    private func print(_ report: SQLiteImport.Report, seconds: Double) {
        guard json else {
            for each in report.classes { Output.print("\(each.name): \(each.objects) objects") }
            for note in report.notes { Output.print("note: \(note)") }
            return Output.print(
                "\(report.objects) objects of an SQLite file, in "
                    + "\(String(format: "%.2f", seconds)) s")
        }
        Output.print(
            JSONValue.object([
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

extension PropertySchema {
    /// The property in words.
    fileprivate var shown: String {
        var words = [name]
        if collection != .none { words.append(collection.name + " of") }
        if isOptional, type != .link, type != .mixed { words.append("optional") }
        words.append(type.name)
        if let target { words.append("to \(target)") }
        if isPrimaryKey { words.append("(primary key)") }
        if isIndexed { words.append("(indexed)") }
        return words.joined(separator: " ")
    }
}

extension SQLitePlan.Source {
    fileprivate func shown(_ property: PropertySchema) -> String {
        switch self {
        case .column(let name, let dates):
            return "column '\(name)'" + (dates.map { ", \($0.rawValue)" } ?? "")
        case .reference(let names):
            return "column\(names.count > 1 ? "s" : "") "
                + names.map { "'\($0)'" }.joined(separator: ", ")
        case .join(let table, let from, let to):
            return "table '\(table)', from '\(from)' to '\(to)'"
        }
    }

    fileprivate var members: [(String, JSONValue)] {
        switch self {
        case .column(let name, let dates):
            return [("column", .text(name))] + (dates.map { [("dates", .text($0.rawValue))] } ?? [])
        case .reference(let names):
            guard names.count > 1 else { return [("column", .text(names.first ?? ""))] }
            return [("columns", .list(names.map { .text($0) }))]
        case .join(let table, let from, let to):
            return [
                (
                    "join",
                    .object([("table", .text(table)), ("from", .text(from)), ("to", .text(to))])
                )
            ]
        }
    }
}

extension SQLitePlan {
    /// The plan as a file, which `--schema` takes.
    fileprivate var json: JSONValue {
        .object([
            ("classes", .list(classes.map(\.json))), ("notes", .list(notes.map { .text($0) })),
        ])
    }
}

extension SQLitePlan.Class {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("table", .text(table)), ("name", .text(declared.name)),
        ]
        if !declared.uniques.isEmpty {
            members.append(
                ("unique", .list(declared.uniques.map { .list($0.map { .text($0) }) })))
        }
        members.append(
            (
                "properties",
                .list(
                    zip(declared.properties, sources).map { property, source in
                        .object(source.members + property.members)
                    })
            ))
        return .object(members)
    }
}

extension SchemaFile {
    /// The plan that the file is.
    fileprivate func plan() throws(EngineError) -> SQLitePlan {
        var planned: [SQLitePlan.Class] = []
        for item in classes {
            var sources: [SQLitePlan.Source] = []
            for property in item.properties { sources.append(try property.source(in: item.name)) }
            planned.append(
                SQLitePlan.Class(
                    table: item.table ?? item.name, declared: try item.schema(), sources: sources))
        }
        return SQLitePlan(planned)
    }
}

extension SchemaFile.Property {
    fileprivate func source(in owner: String) throws(EngineError) -> SQLitePlan.Source {
        if let join { return .join(table: join.table, from: join.from, to: join.to) }
        let form = try dates.map { name throws(EngineError) in
            guard let form = DateForm(rawValue: name) else {
                let all = DateForm.allCases.map(\.rawValue).joined(separator: ", ")
                throw EngineError(
                    .invalidSchema,
                    "Property '\(owner).\(self.name)' has the dates '\(name)', which are unknown. "
                        + "There are: \(all).")
            }
            return form
        }
        let names = columns.isEmpty ? [name] : columns
        let isPlain = type != PropertyType.link.name
        guard !isPlain || names.count == 1 else {
            throw EngineError(
                .invalidSchema,
                "Property '\(owner).\(name)' is no link, and has several columns.")
        }
        return isPlain ? .column(names[0], dates: form) : .reference(names)
    }
}
#endif
