internal import ToftPlatform
package import ToftStorage

/// Why a Realm file can't be read.
package enum RealmFileError: Error, Sendable, Equatable {
    /// Neither slot of the header nor a footer leads to data: no Realm file, or an encrypted one.
    case notRealm
    /// No page can be read with this key, or the result is not a Realm file.
    case wrongKey
    /// A key was given for a plain file.
    case notEncrypted
    /// A format that no release of Realm has written, or one before 2.
    case unknownFormat(Int)
    /// The file ends before its data does.
    case cut(String)
    /// A program ended while it upgraded the file to a newer format.
    case interruptedUpgrade
    /// Something that no SDK of Realm makes.
    case unsupported(String)
    /// A number of the file that can't be right; `place` is the class, the property and the key of
    /// the object, if known.
    case damaged(String, place: String)
    /// The file can't be opened or read, or the system has no libcrypto.
    case storage(StorageError)
}

extension RealmFileError {
    /// The fault, in a sentence.
    package var message: String {
        switch self {
        case .notRealm: "it is no Realm file, or an encrypted one, which needs its key"
        case .wrongKey: "the key does not fit"
        case .notEncrypted: "it is not encrypted, and a key was given"
        case .unknownFormat(let format): "format \(format) is unknown"
        case .cut(let what): "it was cut off: \(what)"
        case .interruptedUpgrade:
            "Realm was interrupted while it upgraded the file: open it once with Realm"
        case .unsupported(let what): "it has \(what), which no SDK of Realm writes"
        case .damaged(let what, let place):
            "it is damaged" + (place.isEmpty ? ": " : " at \(place): ") + what
        case .storage(let error): "it can't be read: \(error)"
        }
    }
}
