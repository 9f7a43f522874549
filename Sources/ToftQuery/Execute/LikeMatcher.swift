/// A LIKE pattern made ready to run: code points, folded as the options say, and the two wildcards.
final class LikeMatcher {
    private static let anyCharacter: UInt32 = .max
    private static let anyRun: UInt32 = .max - 1

    private let units: [UInt32]
    private let foldsCase: Bool
    private let stripsAccents: Bool

    init(_ pattern: LikePattern, _ options: StringOptions) {
        foldsCase = options.contains(.caseInsensitive)
        stripsAccents = options.contains(.diacriticInsensitive)
        var units: [UInt32] = []
        var plain: [UInt8] = []
        func flush() {
            let bytes = options.isEmpty ? plain : CaseFolding.folded(plain, options)
            bytes.withUnsafeBytes { bytes in
                var index = 0
                while index < bytes.count {
                    let (scalar, length) = UTF8Decoding.scalar(bytes, at: index)
                    units.append(scalar)
                    index += length
                }
            }
            plain = []
        }
        for unit in pattern.units {
            if unit < 256 {
                plain.append(UInt8(unit))
                continue
            }
            flush()
            units.append(unit == LikePattern.anyRun ? Self.anyRun : Self.anyCharacter)
        }
        flush()
        self.units = units
    }

    /// Whether the whole text matches. Every run is as short as the rest allows; one that was too
    /// short grows by a character and all after it is tried again, so the time is at most the
    /// product of both lengths.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        units.withUnsafeBufferPointer { units in
            var position = 0
            var unit = 0
            var retry: (unit: Int, position: Int)?
            while true {
                if unit < units.count, units[unit] == Self.anyRun {
                    unit &+= 1
                    if unit == units.count { return true }
                    retry = (unit, position)
                    continue
                }
                let character = next(text, position)
                if let character, unit < units.count,
                    units[unit] == Self.anyCharacter || units[unit] == character.scalar
                {
                    unit &+= 1
                    position = character.end
                    continue
                }
                if character == nil, unit == units.count { return true }
                guard let (runEnd, runPosition) = retry, let skipped = next(text, runPosition)
                else { return false }
                retry = (runEnd, skipped.end)
                unit = runEnd
                position = skipped.end
            }
        }
    }

    /// The character at `position`, folded, and where the next one begins; nil at the end.
    @inline(__always)
    private func next(_ text: UnsafeRawBufferPointer, _ position: Int) -> (
        scalar: UInt32, end: Int
    )? {
        var position = position
        while position < text.count {
            let (scalar, length) = UTF8Decoding.scalar(text, at: position)
            position &+= length
            if !foldsCase && !stripsAccents || scalar > 0x10FFFF { return (scalar, position) }
            if let folded = CaseFolding.fold(scalar, case: foldsCase, accents: stripsAccents) {
                return (folded, position)
            }
        }
        return nil
    }
}
