import ArgumentParser

/// What commands on an existing file have in common.
struct FileArgument: ParsableArguments {
    @Argument(help: "The database file.", completion: .file())
    var file: String

    @Flag(name: .long, help: "Print JSON, one value a line.")
    var json = false
}
