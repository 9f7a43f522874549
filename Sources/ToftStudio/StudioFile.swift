package import ToftEngine
package import ToftStorage

/// A database that Studio was started with.
package struct StudioFile: Sendable {
    /// The name that the page shows.
    package let name: String
    /// The configuration for its sessions.
    package let configuration: Configuration
    /// The folder in which the page may choose other files; nil for a database in memory.
    package let folder: StudioFolder?

    /// - Parameters:
    ///   - root: the folder in which the page may choose other files; nil: the one of the file.
    ///   - isReadOnly: whether the page can't change the database.
    /// - Throws: `fileNotFound`, `permissionDenied` for a folder that can't be used.
    package init(
        path: String, root: String? = nil, encryptionKey: EncryptionKey? = nil, isReadOnly: Bool
    ) throws(EngineError) {
        let end = path.lastIndex(of: "/")
        let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        name = end.map { String(path[path.index(after: $0)...]) } ?? path
        folder = try StudioFolder(root ?? parent)
        configuration = Self.configuration(
            .file(path: path), encryptionKey: encryptionKey, isReadOnly: isReadOnly)
    }

    /// A database in memory of this process.
    package init(memory name: String, isReadOnly: Bool = false) {
        self.name = name
        folder = nil
        configuration = Self.configuration(
            .memory(name: name), encryptionKey: nil, isReadOnly: isReadOnly)
    }

    private static func configuration(
        _ location: StoreConfiguration.Location, encryptionKey: EncryptionKey?, isReadOnly: Bool
    ) -> Configuration {
        var configuration = Configuration(
            location: location, mode: isReadOnly ? .readOnly : .existing,
            writeTimeoutMilliseconds: mostMillisecondsForWriters, confinement: .caller)
        if isReadOnly { configuration.sharing = .whereItCan }
        configuration.encryptionKey = encryptionKey
        return configuration
    }

    /// A commit of another program takes longer only if it is a large one.
    private static let mostMillisecondsForWriters = 10_000
}

extension StudioFile {
    /// The path of the database; nil in memory.
    var path: String? {
        if case .file(let path) = configuration.location { path } else { nil }
    }

    /// The configuration with a key that the page has asked for.
    func configuration(key: EncryptionKey?) -> Configuration {
        var configuration = configuration
        if let key { configuration.encryptionKey = key }
        return configuration
    }
}

extension StudioFile {
    /// Throws `fileNotFound` for a database that does not exist: the page could only say so.
    package func requireFile() throws(EngineError) {
        guard let path else { return }
        _ = try StudioFolder.size(of: path)
    }
}
