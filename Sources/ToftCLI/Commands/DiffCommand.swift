#if Terminal
import ArgumentParser
import ToftEngine
import ToftModel
import ToftShell

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print what was done to one file to make another, as JSON lines.",
        discussion: """
            toftdb diff before.toft after.toft

            Objects are compared by primary key; those of a class without one by their values, in \
            any order. Each line is one difference: its kind (class, schema, created, deleted or \
            changed), the class, the key and the values. A link is the key of its target. Exit \
            status 1 when the files differ, or can't be read.
            """)

    @Argument(help: "The first file.", completion: .file())
    var before: String

    @Argument(help: "The second file.", completion: .file())
    var after: String

    @OptionGroup var key: KeyArgument

    @Option(
        help: "A file with the key of the second file, if it has another.", completion: .file())
    var afterKeyFile: String?

    @Flag(help: "Print nothing: the exit status tells.")
    var quiet = false

    func run() throws {
        let count = try reportingErrors {
            let left = try FileArgument.open(before, key)
            var afterKey = key
            if let afterKeyFile { afterKey.keyFile = afterKeyFile }
            let right = try FileArgument.open(after, afterKey)
            var difference = FileDifference(left, right) { [quiet] line in
                if !quiet { Output.print(line) }
            }
            return try difference.find()
        }
        if count > 0 { throw ExitCode.failure }
    }
}
#endif
