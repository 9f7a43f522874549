internal import ToftModel
internal import ToftPlatform
internal import ToftRealmFile
package import ToftStorage

extension Database {
    /// Whether a file says that it is one of Realm's own. An encrypted one does not.
    package static func isRealmFile(_ path: String) -> Bool {
        RealmFile.isOne(path)
    }

    /// Reads a Realm file into a new file: its classes, all objects, its schema version. Nothing is
    /// written to the Realm file, which no program writes meanwhile. O(file).
    ///
    /// - Parameters:
    ///   - path: a file of Realm, formats 2 to 24, which may be one that was written as a copy.
    ///   - key: the key of an encrypted Realm file.
    ///   - newKey: the new file's key; nil for a plain file.
    ///   - progress: gets the finished objects and all objects, after some thousands each.
    /// - Throws: `notADatabase` if it is not a Realm file; `wrongKey`; `unsupported` for contents
    ///   that no SDK of Realm makes; `corrupt`; `fileExists`; `diskFull`...; then the new file does
    ///   not exist.
    package static func importRealm(
        _ path: String, to newPath: String, key: EncryptionKey? = nil,
        newKey: EncryptionKey? = nil, progress: ((_ done: Int, _ total: Int) -> Void)? = nil
    ) throws(EngineError) -> RealmImportReport {
        let file: RealmFile
        do throws(RealmFileError) {
            file = try RealmFile(path, key: key)
        } catch {
            throw EngineError(error, path)
        }
        return try importRealm(file, path, progress) { fill throws(StorageError) in
            try Store.make(newPath, encryptionKey: newKey, fill)
        }
    }

    /// Reads a Realm file into a new file that takes its place; the Realm file is called as
    /// `keptRealmPath` says from then on. Nothing happens if the file is none of Realm's, or there
    /// is none. Another process that does it at the same moment waits. O(file).
    ///
    /// - Parameters:
    ///   - key: of both files.
    ///   - interruption: ends it once it has been interrupted at all.
    /// - Returns: nil if nothing was imported.
    /// - Throws: as `importRealm(_:to:)`; `fileExists` if another file has the name for the old
    ///   one.
    package static func replaceRealm(
        _ path: String, key: EncryptionKey?, interruption: Interruption?,
        progress: ((_ done: Int, _ total: Int) -> Void)?
    ) throws(EngineError) -> RealmImportReport? {
        guard let probe = interruption?.sinceMade else {
            return try replaceRealm(path, key, progress)
        }
        return try probe.watching { () throws(EngineError) in
            try replaceRealm(path, key, progress)
        }
    }

    private static func replaceRealm(
        _ path: String, _ key: EncryptionKey?, _ progress: ((_ done: Int, _ total: Int) -> Void)?
    ) throws(EngineError) -> RealmImportReport? {
        if key == nil, !isRealmFile(path) { return nil }
        let file: RealmFile, identity: FileIdentity
        do throws(RealmFileError) {
            file = try RealmFile(path, key: key)
            identity = try file.identity()
        } catch {
            switch error {
            // The opening finds out what it is.
            case .notRealm, .wrongKey, .storage: return nil
            default: throw EngineError(error, path)
            }
        }
        do throws(EngineError) {
            return try importRealm(file, path, progress) { fill throws(StorageError) in
                try Store.replace(
                    path, of: identity, keeping: keptRealmPath(path), encryptionKey: key, fill)
            }
        } catch  where error.code == .fileReplaced {
            return nil
        }
    }

    /// The name of a Realm file after a new file has taken its place.
    private static func keptRealmPath(_ path: String) -> String { path + ".before-import" }

    private static func importRealm(
        _ file: RealmFile, _ path: String, _ progress: ((_ done: Int, _ total: Int) -> Void)?,
        _ make: (_ fill: (Store) -> Bool) throws(StorageError) -> Void
    ) throws(EngineError) -> RealmImportReport {
        var outcome: Result<RealmImportReport, RealmImportError>?
        do throws(StorageError) {
            try make { store in
                outcome = Result { () throws(RealmImportError) in
                    try RealmImport.run(file, into: store, progress)
                }
                if case .success? = outcome { return true }
                return false
            }
        } catch {
            if case .failure(let failure)? = outcome { throw EngineError(failure, path) }
            throw EngineError(error)
        }
        guard case .success(let report)? = outcome else { throw EngineError(StorageError.closed) }
        return report
    }
}

extension EngineError {
    fileprivate init(_ error: RealmFileError, _ path: String) {
        let message = "'\(path)' can't be imported: \(error.message)."
        switch error {
        case .notRealm: self.init(.notADatabase, message, detail: path)
        case .wrongKey: self.init(.wrongKey, message, detail: path)
        case .notEncrypted: self.init(.notEncrypted, message, detail: path)
        case .unknownFormat, .unsupported, .interruptedUpgrade:
            self.init(.unsupported, message, detail: path)
        case .cut, .damaged: self.init(.corrupt, message, detail: path)
        case .storage(let error): self = EngineError(error)
        }
    }

    fileprivate init(_ error: RealmImportError, _ path: String) {
        switch error {
        case .file(let error): self.init(error, path)
        case .refused(let what):
            self.init(.corrupt, "'\(path)' can't be imported: \(what).", detail: path)
        case .model(let error, let place):
            let own = EngineError(error)
            guard !place.isEmpty else {
                self = own
                return
            }
            self.init(
                own.code, "'\(path)' can't be imported: \(place): \(own.message)", detail: path,
                number: own.number)
        }
    }
}
