internal import Foundation
internal import ToftEngine
internal import ToftStorage

extension Realm {
    /// Deletes the file of a configuration and what lies beside it, all but the lock file. Throws
    /// `.alreadyOpen` while a realm of this process has it open. Whether there was a file.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        guard case .file(let path)? = configuration.location else { return false }
        guard !Database.isOpen(path: path) else {
            throw Realm.Error(
                .alreadyOpen, "'\(path)' can't be deleted: a realm of this process has it open.")
        }
        guard FileManager.default.fileExists(atPath: path) else { return false }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw Realm.Error(.fileAccess, "'\(path)' could not be deleted.", detail: "\(error)")
        }
        return true
    }

    /// Reads everything in the version that the realm shows and checks it: structure, checksums,
    /// indexes, links, free space. Gives back what is wrong, a sentence each; nothing when all is
    /// well. Realm has nothing like it.
    public func check() throws -> [String] {
        do throws(EngineError) {
            try session.verify()
            return try session.engine.checkEverything().problems
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Whether a configuration's file exists.
    public static func fileExists(for configuration: Configuration) -> Bool {
        guard case .file(let path)? = configuration.location else { return false }
        return FileManager.default.fileExists(atPath: path)
    }
}
