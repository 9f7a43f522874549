internal import ToftPlatform
internal import ToftStorage

/// Compares texts with one constant text, byte by byte, as `[c]` and `[d]` allow.
///
/// Most texts are ASCII: those are folded during the comparison. A text with other characters is
/// folded as a whole first, and then compared as bytes.
final class TextMatcher {
    let operation: TextTest.Operation
    private let needle: UnsafeMutableRawBufferPointer
    private let options: StringOptions
    private let pattern: LikeMatcher?
    private let expression: ExpressionMatcher?
    /// A folded text.
    private var scratch: [UInt8] = []
    /// A test that decides most texts quickly.
    let quick: Quick

    init(_ test: TextTest) {
        operation = test.operation
        options = test.options
        needle = .allocate(byteCount: max(test.needle.count, 1), alignment: 8)
        needleCount = test.needle.count
        needle.copyBytes(from: test.needle)
        pattern = test.pattern.map { LikeMatcher($0, test.options) }
        expression = test.expression.map { ExpressionMatcher($0, test.options) }
        quick = Quick(test)
    }

    /// The needle of a CONTAINS that compares bytes and is not empty.
    var plainNeedle: UnsafeRawBufferPointer? {
        operation == .contains && options.isEmpty && needleCount > 0 ? needleBytes : nil
    }

    /// The one text that passes, if no other does; for `!=` the one that does not.
    var exactText: UnsafeRawBufferPointer? {
        (operation == .equal || isInverted) && options.isEmpty ? needleBytes : nil
    }

    /// Whether all pass but those that are equal.
    var isInverted: Bool { operation == .notEqual }

    /// Decides `==` and BEGINSWITH by the length and the first eight bytes of a text in a cluster;
    /// `!=` is decided as `==`.
    struct Quick {
        /// The first bytes of the needle, up to eight; nil if they decide nothing.
        private(set) var head: SoughtHead?
        /// The length of all that may be equal; -1: any.
        private var length = -1
        /// Bytes of `head`.
        private var headLength = 0
        /// Whether a text that begins with `head` passes, and needs no further look.
        private var isWhole = false

        init(_ test: TextTest) {
            let count = test.needle.count
            switch test.operation {
            case .equal, .notEqual, .beginsWith: break
            default: return
            }
            let isPlain = test.options.isEmpty
            let isHead = test.operation == .beginsWith
            if isPlain && !isHead { length = count }
            guard count > 0, isPlain || test.needle.allSatisfy({ $0 < 0x80 }) else { return }
            let ignoresCase = test.options.contains(.caseInsensitive)
            var head = SoughtHead()
            for byte in test.needle.prefix(8).reversed() {
                let isLetter = byte >= 0x61 && byte <= 0x7A
                head.bytes = head.bytes << 8 | UInt64(byte)
                // A capital letter differs from a small one in one bit.
                head.mask = head.mask << 8 | (ignoresCase && isLetter ? 0xDF : 0xFF)
                head.ascii = head.ascii << 8 | (isPlain ? 0 : 0x80)
            }
            self.head = head
            headLength = min(count, 8)
            isWhole = count <= 8 && (isPlain || isHead)
        }

        /// Nil if they decide nothing.
        /// - Parameter text: a near value of a column; the eight bytes before it can be read, too.
        @inline(__always)
        func verdict(_ text: UnsafeRawBufferPointer) -> Bool? {
            if length >= 0 && text.count != length { return false }
            guard let head, let base = text.baseAddress else { return nil }
            // The first eight bytes; of a shorter text all, and zeros behind them.
            let count = min(text.count, 8)
            let last = (base + (count &- 8)).loadUnaligned(as: UInt64.self)
            let word = UInt64(littleEndian: last) >> UInt64(truncatingIfNeeded: 64 &- count &* 8)
            if word & head.ascii != 0 { return nil }
            if (word ^ head.bytes) & head.mask != 0 || count < headLength { return false }
            return isWhole ? true : nil
        }
    }

    deinit { needle.deallocate() }

    private let needleCount: Int
    private var needleBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: needle.baseAddress, count: needleCount)
    }

    /// Whether `text operation needle` holds.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        if let pattern { return pattern.matches(text) }
        if let expression { return expression.matches(text) }
        guard !options.isEmpty else { return matchesBytes(text, needleBytes) }
        if let verdict = ByteSearch.quickVerdict(operation, text, needleBytes, options) {
            return verdict
        }
        CaseFolding.fold(text, options, into: &scratch)
        return scratch.withUnsafeBytes { matchesBytes($0, needleBytes) }
    }

    private func matchesBytes(_ text: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer)
        -> Bool
    {
        switch operation {
        case .equal: ByteSearch.isEqual(text, needle)
        case .notEqual: !ByteSearch.isEqual(text, needle)
        case .less: ByteSearch.order(text, needle) < 0
        case .lessOrEqual: ByteSearch.order(text, needle) <= 0
        case .greater: ByteSearch.order(text, needle) > 0
        case .greaterOrEqual: ByteSearch.order(text, needle) >= 0
        case .beginsWith: ByteSearch.hasPrefix(text, needle)
        case .endsWith: ByteSearch.hasSuffix(text, needle)
        case .contains: ByteSearch.contains(text, needle)
        case .like, .matches: false
        }
    }

    /// Whether `text operation other` holds for two texts that are both no constants.
    static func matches(
        _ operation: TextTest.Operation, _ options: StringOptions, _ text: UnsafeRawBufferPointer,
        _ other: UnsafeRawBufferPointer
    ) -> Bool {
        let bytes = Array(other)
        let test = TextTest(
            operation: operation,
            needle: options.isEmpty ? bytes : CaseFolding.folded(bytes, options), options: options,
            pattern: operation == .like ? LikePattern(bytes) : nil)
        return TextMatcher(test).matches(text)
    }
}

extension ByteSearch {
    /// The verdict about a text without folding it: nil unless the relevant bytes are ASCII.
    static func quickVerdict(
        _ operation: TextTest.Operation, _ text: UnsafeRawBufferPointer,
        _ needle: UnsafeRawBufferPointer, _ options: StringOptions
    ) -> Bool? {
        guard options.contains(.caseInsensitive) else { return nil }
        switch operation {
        case .beginsWith: return asciiPrefix(text, needle, mustEnd: false)
        case .equal: return asciiPrefix(text, needle, mustEnd: true)
        case .notEqual: return asciiPrefix(text, needle, mustEnd: true).map { !$0 }
        default: return nil
        }
    }

    /// Compares from the front, as long as both are ASCII. `needle` is folded.
    private static func asciiPrefix(
        _ text: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer, mustEnd: Bool
    ) -> Bool? {
        for index in 0..<needle.count {
            guard index < text.count else { return false }
            let byte = text[index]
            if byte >= 0x80 || needle[index] >= 0x80 { return nil }
            if CaseFolding.lowercased(byte) != needle[index] { return false }
        }
        guard mustEnd, text.count > needle.count else { return true }
        // An accent may follow, which does not count with [d].
        return text[needle.count] >= 0x80 ? nil : false
    }
}
