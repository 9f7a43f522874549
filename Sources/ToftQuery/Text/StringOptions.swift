/// `[c]` and `[d]`.
package struct StringOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `[c]`: letters that differ only in case are the same.
    package static let caseInsensitive = StringOptions(rawValue: 1)
    /// `[d]`: letters that differ only in accents are the same.
    package static let diacriticInsensitive = StringOptions(rawValue: 2)

    /// As it is written in a query; "" when empty.
    var spelling: String {
        isEmpty
            ? ""
            : "[" + (contains(.caseInsensitive) ? "c" : "")
                + (contains(.diacriticInsensitive) ? "d" : "") + "]"
    }
}
