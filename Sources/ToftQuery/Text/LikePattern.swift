/// A pattern of LIKE: characters, `?` for any one character and `*` for any run of them.
struct LikePattern: Sendable, Hashable {
    /// Bytes of UTF-8 below 256, and the two wildcards.
    private(set) var units: [UInt16]

    static let anyCharacter: UInt16 = 256
    static let anyRun: UInt16 = 257

    /// A pattern in which every `*` and `?` is a wildcard, without escapes, as in Realm.
    init(_ text: some Sequence<UInt8>) {
        var builder = Builder()
        builder.append(wild: text)
        self = builder.finish()
    }

    private init(units: [UInt16]) {
        self.units = units
    }

    /// Collects a pattern piece by piece.
    struct Builder {
        private var units: [UInt16] = []

        /// Literal bytes: `*` and `?` are wildcards.
        mutating func append(wild bytes: some Sequence<UInt8>) {
            for byte in bytes { append(wild: byte) }
        }

        private mutating func append(wild byte: UInt8) {
            switch byte {
            case UInt8(ascii: "*"):
                if units.last != LikePattern.anyRun { units.append(LikePattern.anyRun) }
            case UInt8(ascii: "?"): units.append(LikePattern.anyCharacter)
            default: units.append(UInt16(byte))
            }
        }

        /// Bytes without wildcards.
        mutating func append(plain bytes: [UInt8]) {
            for byte in bytes { units.append(UInt16(byte)) }
        }

        func finish() -> LikePattern {
            LikePattern(units: units)
        }
    }
}
