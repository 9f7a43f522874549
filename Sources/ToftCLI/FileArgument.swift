import ArgumentParser
import ToftEngine
import ToftModel
import ToftStorage

/// What commands on an existing file have in common.
struct FileArgument: ParsableArguments {
    @Argument(help: "The database file.", completion: .file())
    var file: String

    @Flag(name: .long, help: "Print JSON, one value a line.")
    var json = false
}

extension FileArgument {
    func open() throws -> Session { try Self.open(file) }

    /// Opens an existing file with the classes that it has.
    static func open(_ file: String) throws -> Session {
        try Session.open(Configuration(location: .file(path: file), mode: .existing))
    }
}
