internal import ToftPlatform

/// A LIKE pattern made ready to run: code points, folded as the options say, and the two wildcards.
final class LikeMatcher {
    private static let anyCharacter: UInt32 = .max
    private static let anyRun: UInt32 = .max - 1

    /// A power of two less one. A try is as long as the pattern at most.
    private static let triesBetweenProbes = 0xFFF

    private let units: [UInt32]
    private let foldsCase: Bool
    private let stripsAccents: Bool
    /// The texts between the wildcards, if there are no options and all wildcards are `*`: bytes to
    /// search for. Otherwise nil.
    private let pieces: [[UInt8]]?

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
        let hasBytesAlone = !pattern.units.contains(LikePattern.anyCharacter) && options.isEmpty
        pieces =
            hasBytesAlone && pattern.units.contains(LikePattern.anyRun)
            ? pattern.units.split(
                separator: LikePattern.anyRun, omittingEmptySubsequences: false
            ).map { piece in piece.map { UInt8(truncatingIfNeeded: $0) } } : nil
    }

    /// Whether the whole text matches. Every run is as short as the rest allows; one that was too
    /// short grows by a character and all after it is tried again, so the time is at most the
    /// product of both lengths. False if somebody ends the call meanwhile.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        if let pieces { return has(pieces, text) }
        return units.withUnsafeBufferPointer { units in
            var position = 0
            var unit = 0
            var retry: (unit: Int, position: Int)?
            var tries = 0
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
                tries &+= 1
                if tries & Self.triesBetweenProbes == 0, InterruptProbe.thread.endsEarly() {
                    return false
                }
            }
        }
    }

    /// Whether a text begins with the first piece, ends with the last one, and has the others in
    /// between, each as early as can be.
    private func has(_ pieces: [[UInt8]], _ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = pieces.first, let last = pieces.last,
            first.count + last.count <= text.count,
            text.starts(with: first), text.suffix(last.count).elementsEqual(last)
        else { return false }
        let middle = UnsafeRawBufferPointer(rebasing: text[..<(text.count - last.count)])
        var position = first.count
        for piece in pieces.dropFirst().dropLast() {
            let found = piece.withUnsafeBytes {
                ByteSearch.firstIndex(of: $0, in: middle, from: position)
            }
            guard let found else { return false }
            position = found + piece.count
        }
        return true
    }

    /// The character at `position`, folded, and the position of the next one; nil at the end.
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
