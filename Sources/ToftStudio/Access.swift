internal import ToftModel

/// Decides whether a request is one of a page that Studio has served itself, to the person who
/// started it.
///
/// 1. Any program of the machine reaches a port of 127.0.0.1, and so does any web page in the
///    browser, under another name of the address. A request is answered if its Host is the address
///    itself, so no name that leads there reaches anything.
/// 2. The page's files hold nothing secret. Data goes over the WebSocket alone, which is opened if
///    Origin is Studio's own and a key is given.
/// 3. The first key is in the address that Studio opens, behind `#`, which no browser sends or
///    stores in a Referer. It opens one socket; the page gets another key with that, for as long as
///    its tab lives.
package struct Access {
    private let port: UInt16
    private var first: String?
    private let further: String

    /// - Parameter port: the port that Studio listens on.
    package init(port: UInt16) {
        self.port = port
        first = Self.key()
        further = Self.key()
    }

    /// 192 random bits, as digits of base 64 for addresses.
    private static func key() -> String {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return String(
            Base64.text(bytes).map { character in
                switch character {
                case "+": "-"
                case "/": "_"
                default: character
                }
            })
    }

    /// The address to open, once; nil when it has been.
    package var address: String? { first.map { "\(origin)/#\($0)" } }

    /// The origin of the page.
    package var origin: String { "http://\(host)" }

    private var host: String { "127.0.0.1:\(port)" }

    /// Whether a request came to Studio's address and not to a name that leads there.
    package func accepts(host given: String?) -> Bool { given == host }

    /// The key for further sockets of the page; nil if it may not open any.
    /// - Parameters:
    ///   - origin: the header of that name.
    ///   - key: the one that the page has.
    package mutating func enter(origin given: String?, key: String?) -> String? {
        guard given == origin, let key else { return nil }
        if let first, Self.isSame(key, first) {
            self.first = nil
            return further
        }
        return Self.isSame(key, further) ? further : nil
    }

    /// Compares in a time that does not tell where the first difference is.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
