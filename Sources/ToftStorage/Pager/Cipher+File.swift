internal import ToftPlatform

extension Cipher {
    /// The cipher of a file that is about to be made.
    static func ofNewFile(_ key: EncryptionKey?) throws(StorageError) -> Cipher? {
        guard let key else { return nil }
        return try Cipher(ofNewFileWith: key)
    }

    /// The cipher of a file, if the key is the one that it was made with; nil for a plain file.
    ///
    /// - Throws: `keyRequired`, `wrongKey`, `notEncrypted`, `cipherMissing`.
    static func of(_ file: any StorageFile, _ key: EncryptionKey?) throws(StorageError)
        -> Cipher?
    {
        // Without a valid meta nothing is known of it: recovery reports that.
        guard let meta = try MetaPage.unauthenticated(of: file) else { return nil }
        guard let header = meta.key else {
            if key != nil { throw .notEncrypted(path: file.path) }
            return nil
        }
        guard let key else { throw .keyRequired(path: file.path) }
        let cipher = try Cipher(key, fileID: header.fileID)
        guard cipher.header.keyCheck.matches(header.keyCheck) else {
            throw .wrongKey(path: file.path)
        }
        return cipher
    }
}
