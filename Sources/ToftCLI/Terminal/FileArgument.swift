#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftQuery
import ToftShell
import ToftStorage

/// Arguments and options of all commands on an existing file.
struct FileArgument: ParsableArguments {
    @Argument(help: "The database file.", completion: .file())
    var file: String

    @Flag(name: .long, help: "Print JSON, one value a line.")
    var json = false

    @Flag(
        name: .long,
        help: "Read the file instead of mapping it: for devices that fail, and damaged files.")
    var buffered = false

    @OptionGroup var key: KeyArgument
}

extension FileArgument {
    /// Opens an existing file with the classes that it has. For reading only neither the file nor
    /// its directory need be writable.
    func open(_ mode: Configuration.Mode = .readOnly) throws -> Session {
        try Self.open(file, usesMapping: !buffered, mode: mode, key)
    }

    static func open(
        _ file: String, usesMapping: Bool = true, mode: Configuration.Mode = .readOnly,
        showsHidden: Bool = false, _ key: KeyArgument
    ) throws -> Session {
        var configuration = Configuration(location: .file(path: file), mode: mode)
        configuration.showsHidden = showsHidden
        if mode == .readOnly { configuration.sharing = .whereItCan }
        configuration.usesMapping = usesMapping
        configuration.encryptionKey = try key.key()
        return try Session.open(configuration)
    }

    /// For reading the file without its schema.
    func reading() throws -> StoreConfiguration {
        var configuration = StoreConfiguration(location: .file(path: file))
        configuration.isReadOnly = true
        configuration.sharing = .whereItCan
        configuration.usesMapping = !buffered
        configuration.encryptionKey = try key.key()
        return configuration
    }
}

extension Results {
    /// The objects of a query that a command was given, in which a shell may have put its own name
    /// in the place of an argument.
    func filter(given query: String, _ arguments: [QueryArgument] = []) throws(EngineError)
        -> Results
    {
        do throws(EngineError) {
            return try filter(query, arguments: arguments)
        } catch {
            guard arguments.isEmpty, Self.namesShell(query) else { throw error }
            throw EngineError(
                error.code,
                error.message + "\nWithin \" a shell puts its own name in the place of $0. Write "
                    + "the query within ' and give --arg, or write the value itself, such as "
                    + "name == 'Rex'.",
                detail: error.detail, number: error.number)
        }
    }

    /// True if the name of a shell occurs in a query outside of quotes.
    private static func namesShell(_ query: String) -> Bool {
        let parts = query.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        let unquoted = parts.enumerated().filter { $0.offset % 2 == 0 }
        return unquoted.contains { _, part in
            String(decoding: part, as: UTF8.self).split { !$0.isLetter }.contains {
                ["bash", "zsh", "dash", "ksh", "sh"].contains($0)
            }
        }
    }
}

/// Whether other processes may have open the file that a command changes.
struct SharingArgument: ParsableArguments {
    @Flag(
        name: .long,
        help: """
            Have the file for this process alone, on any file system: nobody else may have it open.
            """)
    var exclusive = false

    var sharing: StoreConfiguration.Sharing { exclusive ? .none : .processes }
}

/// The key of an encrypted file. It is read from a file: other users see the arguments of a
/// program.
struct KeyArgument: ParsableArguments {
    @Option(
        name: .long,
        help: """
            A file with the key of an encrypted database: 64 bytes, or 128 hexadecimal digits.
            """,
        completion: .file())
    var keyFile: String?

    func key() throws -> EncryptionKey? { try keyFile.map { try Self.key(in: $0) } }

    static func key(in file: String) throws -> EncryptionKey {
        let data = try Input.bytes(of: file, "the key file")
        let bytes = hexadecimal(data) ?? Array(data)
        return try bytes.withUnsafeBytes { try EncryptionKey(engine: $0) }
    }

    /// The bytes that 128 hexadecimal digits mean, blanks around them aside; nil for all else.
    private static func hexadecimal(_ data: Data) -> [UInt8]? {
        guard data.count >= 2 * EncryptionKey.size, data.count <= 4 * EncryptionKey.size else {
            return nil
        }
        let digits = String(decoding: data, as: UTF8.self).trimmingBlanks
        guard digits.utf8.count == 2 * EncryptionKey.size else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexDigitValue, digit.isASCII else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(value))
                high = nil
            } else {
                high = UInt8(value)
            }
        }
        return bytes
    }
}
#endif
