/// A set of page numbers, one bit each.
struct PageSet {
    private var words: [UInt64] = []

    /// False if the page was in the set already.
    @discardableResult
    mutating func insert(_ page: PageNumber) -> Bool {
        let index = Int(page.rawValue / 64)
        if index >= words.count { words += Array(repeating: 0, count: index - words.count + 64) }
        let bit: UInt64 = 1 << (page.rawValue % 64)
        defer { words[index] |= bit }
        return words[index] & bit == 0
    }

    func contains(_ page: PageNumber) -> Bool { word(from: page) & 1 == 1 }

    /// Whether `page` and the 63 behind it are in the set, one bit each.
    func word(from page: PageNumber) -> UInt64 {
        let index = Int(page.rawValue / 64)
        let low = index < words.count ? words[index] : 0
        let shift = page.rawValue % 64
        guard shift != 0 else { return low }
        let high = index + 1 < words.count ? words[index + 1] : 0
        return low >> shift | high << (64 - shift)
    }
}
