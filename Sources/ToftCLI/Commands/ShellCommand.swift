#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftQuery
import ToftShell
import ToftStorage

struct ShellCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Ask and change a file at a prompt: `toftdb app.toft`.",
        discussion: """
            toftdb app.toft
            toftdb app.toft "Person where age > 5 sort(name) limit 20 show name, boss.name"
            toftdb app.toft "Person group city: count, avg(age) having count > 3"
            echo "Person count" | toftdb app.toft

            At the prompt .help lists the statements and commands, and the tab key completes \
            classes, properties and words. Each change is one transaction; begin and commit make \
            several one. With statements, or with lines from a pipe, it ends after the last one \
            or the first error. Rows are tables on a terminal, and JSON lines elsewhere.
            """)

    @Argument(help: "The database file.", completion: .file())
    var file: String

    @Argument(help: "Statements to run in place of a prompt.")
    var statements: [String] = []

    @OptionGroup var format: FormatArguments

    @OptionGroup var key: KeyArgument

    @OptionGroup var values: ValueArguments

    @Flag(help: "Change and delete objects without a question.")
    var yes = false

    @Flag(help: "Open the file for reading only.")
    var readOnly = false

    @Flag(help: "Neither read nor write the history of lines, ~/.toftdb_history.")
    var noHistory = false

    func run() throws {
        let isInteractive =
            statements.isEmpty && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        try ShellLoop(self, isInteractive: isInteractive).run()
    }

    /// Throws for a file that is missing and could be a mistyped command.
    func requireFile(orCommandAmong names: [String]) throws {
        guard access(file, F_OK) != 0, !file.contains(where: { $0 == "/" || $0 == "." }) else {
            return
        }
        let hint = NearestName.hint(for: file, among: names).map { " \($0)" } ?? ""
        throw ValidationError("There is neither a command nor a file '\(file)'.\(hint)")
    }
}

/// The forms in which rows are printed.
struct FormatArguments: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, one value a line.")
    var json = false

    @Flag(name: .long, help: "Print comma-separated values.")
    var csv = false

    @Flag(name: .long, help: "Print a table, also where no terminal is.")
    var table = false

    @Flag(name: .long, help: "Print a line for each value.")
    var line = false

    func validate() throws {
        if [json, csv, table, line].count(where: { $0 }) > 1 {
            throw ValidationError("Give one of --json, --csv, --table and --line.")
        }
    }

    var mode: OutputMode {
        if json { return .json }
        if csv { return .csv }
        if table { return .table }
        if line { return .line }
        return isatty(STDOUT_FILENO) == 1 ? .table : .json
    }
}

/// The values of `$0`, `$1`... in conditions.
struct ValueArguments: ParsableArguments {
    @Option(
        name: .customLong("arg"), parsing: .unconditionalSingleValue,
        help: """
            A value for $0, the next one for $1...: a number, true, false, null, a date as \
            2026-11-22T08:30:00Z, a UUID, or a text; in "double quotes" always a text.
            """)
    var values: [String] = []

    var arguments: [QueryArgument] { values.map { QueryArgument(given: $0) } }
}

/// Runs the lines of a shell: from a person, a pipe, or the command's arguments.
private struct ShellLoop {
    private let shell: Shell
    private let terminal: ShellTerminal
    private let command: ShellCommand

    init(_ command: ShellCommand, isInteractive: Bool) throws {
        self.command = command
        terminal = ShellTerminal(isInteractive: isInteractive)
        var options = Shell.Options(mode: command.format.mode)
        options.isColored = terminal.isTerminal && getenv("NO_COLOR") == nil
        options.arguments = command.values.arguments
        options.isConfirmed = command.yes
        options.isReadOnly = command.readOnly
        options.key = try reportingErrors { try command.key.key() }
        shell = Shell(command.file, options, console: terminal)
    }

    func run() throws {
        if terminal.isInteractive { return try converse() }
        try reportingErrors {
            try shell.open()
            var isAtEnd = false
            if command.statements.isEmpty {
                while !isAtEnd, let line = readLine(strippingNewline: true) {
                    isAtEnd = try !shell.run(line)
                }
            } else {
                for statement in command.statements where !isAtEnd {
                    isAtEnd = try !shell.run(statement)
                }
            }
            try Output.check()
            try shell.close()
        }
    }

    // MARK: A person

    private func converse() throws {
        signal(SIGPIPE, SIG_IGN)
        Interrupts.install()
        attempt { () throws(EngineError) in
            try shell.open()
            try terminal.print("toftdb: .help lists what can be asked, Control-D ends.")
        }
        let history =
            command.noHistory
            ? nil : getenv("HOME").map { String(cString: $0) + "/.toftdb_history" }
        let editor = LineEditor(historyPath: history) { [shell] word, before in
            guard let schema = shell.session?.schema else { return [] }
            return Completer(schema).completions(of: word, after: before)
        }
        while true {
            Interrupts.set(shell.session?.interruption)
            _ = Interrupts.take()
            guard let line = read(editor) else {
                if Interrupts.take() {
                    Output.print("")
                    continue
                }
                Output.print("")
                break
            }
            _ = Interrupts.take()
            var isAtEnd = false
            attempt { () throws(EngineError) in isAtEnd = try !shell.run(line) }
            Output.flush()
            try Output.check()
            if isAtEnd { break }
        }
        Interrupts.set(nil)
        try reportingErrors { try shell.close() }
    }

    private func read(_ editor: LineEditor?) -> String? {
        let name = TerminalText.line(URL(fileURLWithPath: shell.path).lastPathComponent)
        let prompt = shell.session?.isWriting == true ? "\(name)*> " : "\(name)> "
        Output.flush()
        if let editor { return editor.read(prompt) }
        Output.print(prompt, terminator: "")
        Output.flush()
        return readLine(strippingNewline: true)
    }

    /// Runs work; an error becomes its message.
    private func attempt(_ work: () throws(EngineError) -> Void) {
        do throws(EngineError) {
            try work()
        } catch {
            // Without a message somebody has left the pager.
            if !error.message.isEmpty { report(error) }
        }
    }
}

extension QueryArgument {
    /// A value that a command was given as text.
    fileprivate init(given text: String) {
        let bytes = Array(text.utf8)
        let json = try? bytes.withUnsafeBytes { bytes in
            Result { () throws(EngineError) in try JSONParser.value(of: bytes) }
        }.get()
        switch json {
        case .null: self = .value(.null)
        case .bool(let value): self = .value(.bool(value))
        case .integer(let value): self = .value(.int(value))
        case .numeral(let number): self = .value(number.mixed ?? .string(text))
        case .text(let value): self = .value(.string(value))
        default:
            if text.contains("T"), let date = try? Timestamp(parsing: text) {
                self = .value(.date(date))
            } else if let id = FixedBytes(uuidText: text) {
                self = .value(.uuid(id))
            } else {
                self = .value(.string(text))
            }
        }
    }
}
#endif
