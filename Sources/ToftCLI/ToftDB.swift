#if Terminal
import ArgumentParser
import Foundation

/// `toftdb`: inspects database files and moves data in and out of them.
struct ToftDB: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toftdb",
        abstract: "Look into Toft databases, and move data in and out of them.",
        discussion: """
            Try it:   toftdb demo
            Talk:     toftdb app.toft        toftdb app.toft "Person where age > 30 count"
            Look:     toftdb info app.toft        toftdb schema app.toft
            Ask:      toftdb query app.toft Person "age > 30 AND name BEGINSWITH 'A' SORT(age \
            DESC) LIMIT(10)"
            Follow:   toftdb watch app.toft Person "age > 30"
            Move:     toftdb import app.toft people.jsonl --schema schema.json        toftdb \
            export app.toft Person
                      toftdb dump app.toft > app.jsonl        toftdb load copy.toft app.jsonl
                      toftdb import new.toft old.realm        toftdb import new.toft app.sqlite
            Keep:     toftdb copy app.toft backup.toft        toftdb compact app.toft        \
            toftdb pins app.toft        toftdb change-key app.toft --new-key-file app.key
            Plan:     toftdb plan app.toft --schema new.json --schema-version 2
            Verify:   toftdb check app.toft        toftdb pages broken.toft        toftdb \
            salvage broken.toft new.toft        toftdb diff old.toft new.toft
            Sources:  toftdb modernize Sources/MyApp

            Every command prints for people; with --json it prints for programs, one JSON value a \
            line.
            Exit status: 0 done, 1 failed or different (also where standard output can't be \
            written), 2 \
            the file is damaged (check, pages, salvage), 64 the command was misused. Errors go to \
            standard error. What data holds of control characters is shown as \\u001b on a \
            terminal, and as it is in a file or a pipe.
            """,
        version: "0.1.0",
        subcommands: [
            Demo.self, StudioCommand.self, Import.self, Export.self, Dump.self, Load.self,
            Info.self,
            SchemaCommand.self, Query.self, Watch.self, Copy.self, Compact.self, ChangeKey.self,
            Pins.self, Check.self, Pages.self, Plan.self, SalvageCommand.self, Modernize.self,
            DiffCommand.self, ShellCommand.self,
        ], defaultSubcommand: ShellCommand.self)
}

@main
enum Program {
    static func main() {
        Output.occupyDescriptors()
        // A limit on the size of files is an error like others.
        signal(SIGXFSZ, SIG_IGN)
        exit(Output.finish(run()).rawValue)
    }

    private static func run() -> ExitCode {
        do {
            let isAlone = CommandLine.arguments.count == 1
            var command = try ToftDB.parseAsRoot(isAlone ? ["help"] : nil)
            // A word that is no command is taken for a file.
            try (command as? ShellCommand)?.requireFile(
                orCommandAmong: ToftDB.configuration.subcommands.map { $0._commandName })
            try command.run()
            return .success
        } catch {
            let status = ToftDB.exitCode(for: error)
            let text = ToftDB.fullMessage(for: error)
            if !text.isEmpty {
                if status == .success { Output.print(text) } else { Output.complain(text + "\n") }
            }
            return status
        }
    }
}
#endif
