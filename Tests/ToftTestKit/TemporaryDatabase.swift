internal import Glibc
internal import ToftPlatform
package import ToftStorage

extension StoreConfiguration {
    /// Of a file of a trial. Its files are encrypted if the environment says so, which the
    /// processes that it starts inherit.
    package init(trial path: String) {
        self.init(location: .file(path: path))
        if getenv(Self.encryptionVariable) != nil {
            encryptionKey = try? EncryptionKey((0..<64).map { 100 + $0 })
        }
    }

    /// Encrypts the files of this process's trials from now on.
    package static func encryptTrials() { setenv(encryptionVariable, "1", 1) }

    private static let encryptionVariable = "TOFT_TRIALS_ENCRYPTED"
}

/// A database in a directory of its own. When the test is done with it everything is walked: a test
/// that leaves an unsound file has failed.
package struct TemporaryDatabase {
    package let directory: String
    package var path: String { directory + "/test.toft" }
    package var configuration: StoreConfiguration {
        StoreConfiguration(trial: path)
    }

    package func open() throws -> Store { try Store.open(configuration) }

    /// Throws the faults of the newest version, if the file exists.
    package func check() throws {
        guard try FileIdentity.ofFile(at: path) != nil else { return }
        let report = try open().check()
        guard report.isSound else {
            throw Failure("the database is unsound: " + report.problems.joined(separator: "; "))
        }
    }
}

/// Gives the body a database, checks it afterwards, and removes it.
package func withTemporaryDatabase<Result>(_ body: (TemporaryDatabase) throws -> Result) throws
    -> Result
{
    try withTemporaryDirectory { directory in
        let database = TemporaryDatabase(directory: directory)
        let result = try body(database)
        try database.check()
        return result
    }
}
