internal import ToftModel
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
        var outcome: Result<RealmImportReport, RealmImportError>?
        do throws(StorageError) {
            try Store.make(newPath, encryptionKey: newKey) { store in
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
