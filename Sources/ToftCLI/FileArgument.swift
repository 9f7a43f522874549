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

    @Flag(
        name: .long,
        help: "Read the file instead of mapping it: for devices that fail, and damaged files.")
    var buffered = false
}

extension FileArgument {
    func open() throws -> Session { try Self.open(file, usesMapping: !buffered) }

    /// Opens an existing file with the classes that it has.
    static func open(_ file: String, usesMapping: Bool = true) throws -> Session {
        var configuration = Configuration(location: .file(path: file), mode: .existing)
        configuration.usesMapping = usesMapping
        return try Session.open(configuration)
    }
}
