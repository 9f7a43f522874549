internal import ToftEngine

/// A message of the page: a JSON object with its number `id`, the name `do` of what it asks for,
/// and further members.
struct Message {
    let json: JSONValue
    let id: Int64
    let name: String

    init(_ text: String) throws(EngineError) {
        var text = text
        json = try text.withUTF8 { bytes in
            Result { () throws(EngineError) in
                try JSONParser.value(of: UnsafeRawBufferPointer(bytes))
            }
        }.get()
        id = try json.integer("id")
        name = try json.text("do")
    }
}

extension JSONValue {
    /// The member of a name, if it is there and not null.
    func present(_ name: String) -> JSONValue? {
        guard let value = member(name) else { return nil }
        if case .null = value { return nil }
        return value
    }

    func integer(_ name: String) throws(EngineError) -> Int64 {
        guard case .integer(let value)? = member(name) else { throw missing(name, "an integer") }
        return value
    }

    /// A number that is not negative.
    func count(_ name: String) throws(EngineError) -> Int {
        guard let value = Int(exactly: try integer(name)), value >= 0 else {
            throw missing(name, "an integer that is not negative")
        }
        return value
    }

    func text(_ name: String) throws(EngineError) -> String {
        guard case .text(let value)? = member(name) else { throw missing(name, "a text") }
        return value
    }

    func list(_ name: String) throws(EngineError) -> [JSONValue] {
        guard case .list(let values)? = member(name) else { throw missing(name, "a list") }
        return values
    }

    /// False if it is missing.
    func isTrue(_ name: String) -> Bool {
        if case .bool(true)? = member(name) { true } else { false }
    }

    private func missing(_ name: String, _ what: String) -> EngineError {
        EngineError(.invalidArgument, "The message has no '\(name)' that is \(what).")
    }

    static func count(_ number: Int) -> JSONValue { .integer(Int64(number)) }
}

extension EngineError {
    /// The error as the page gets it.
    var json: JSONValue {
        .object([
            ("code", .text("\(code)")), ("message", .text(message)), ("detail", .text(detail)),
            ("number", .integer(number)),
        ])
    }

    /// An error of any layer: files of objects throw those of their readers, too.
    init(of error: any Error) {
        self = error as? EngineError ?? EngineError(.internalError, "\(error)")
    }
}
