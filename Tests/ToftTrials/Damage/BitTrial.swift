// Tests: CounterMode.swift
internal import ToftPlatform
internal import ToftTestKit

/// Flips the bits of the smallest encrypted files, one at a time: each is an error, or is in a part
/// that the file does not need. The test of encryption does it with every 1,021st bit.
enum BitTrial {
    static func run(stride: Int) throws -> Bool {
        var isGood = true
        for isCopy in [true, false] {
            let start = MonotonicClock.nanoseconds
            let file = try EncryptedBits(isCopy: isCopy)
            let surprises = try file.surprises(stride: stride)
            for surprise in surprises.prefix(20) { print("VIOLATION \(surprise)") }
            let pages = { (use: EncryptedBits.Use) in file.uses.count { $0 == use } }
            let seconds = (MonotonicClock.nanoseconds - start) / 1_000_000_000
            print(
                "bits \(file.image.count * 8 / stride) (\(surprises.count) bad) of "
                    + (isCopy ? "a copy" : "a closed file")
                    + ": pages that are needed \(pages(.needed)), metas \(pages(.meta)), log "
                    + "\(pages(.log)), free \(pages(.free)); \(seconds) s")
            if !surprises.isEmpty { isGood = false }
        }
        return isGood
    }
}
