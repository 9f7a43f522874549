import Foundation
import ToftEngine
import ToftModel
import ToftStorage

/// Values to and from JSON. Dates are ISO 8601 in UTC, data is base64, a link is the primary key of
/// its target, or its object key where it has none or `links` asks for it. Lists and sets are
/// arrays, dictionaries are objects. A uuid is its 36 characters, an object id its 24 hexadecimal
/// digits, a decimal its digits: "1.50". NaN and infinities are texts. Mixed values: see `mixed`.
struct ValueText {
    let session: Session
    var links = LinkNames.primaryKeys

    /// An object: every property but the inverse ones.
    func json(_ object: ObjectHandle, of owner: ClassHandle) throws -> JSONLine {
        var members: [(String, JSONLine)] = []
        if links == .objectKeys { members.append(("_class", .text(owner.name))) }
        if owner.primaryKey == nil || links == .objectKeys {
            members.append(("_key", .integer(object.ref.key)))
        }
        for property in owner.visibleProperties where property.isStored {
            members.append((property.name, try json(object, property)))
        }
        return .object(members)
    }

    private func json(_ object: ObjectHandle, _ property: PropertyHandle) throws -> JSONLine {
        guard property.isCollection else { return try json(object.value(property.id), property) }
        let list = try object.collection(property.id, property.collection)
        if property.collection == .dictionary {
            return .dictionary(
                try (0..<(try list.count)).map {
                    (try list.entryKey(at: $0), try json(list.value(at: $0), property))
                })
        }
        return .list(try (0..<(try list.count)).map { try json(list.value(at: $0), property) })
    }

    /// The value of a property, or one of many; an embedded object as its values.
    private func json(_ value: Value, _ property: PropertyHandle) throws -> JSONLine {
        if property.type == .mixed { return try mixed(value) }
        guard property.ownsTargets, case .link(let ref) = value, let inner = try session.object(ref)
        else { return try json(value) }
        let stored = try session.classHandle(ref.classID).visibleProperties.filter(\.isStored)
        return .object(try stored.map { ($0.name, try json(inner, $0)) })
    }

    func json(_ value: Value) throws -> JSONLine {
        switch value {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .integer(value)
        case .float(let value): .double(Double(value))
        case .double(let value): .double(value)
        case .string(let value): .text(value)
        case .data(let value): .text(Data(value).base64EncodedString())
        case .date(let value): .text(Self.text(value))
        case .uuid(let bytes): .text(bytes.uuidText)
        case .objectId(let bytes): .text(bytes.objectIdText)
        case .decimal(let value): .text(value.description)
        case .link(let ref): try name(of: ref)
        case .list, .dictionary: try mixed(value)
        }
    }

    /// The value of a mixed property. A type that JSON lacks is an object whose one member is named
    /// after it, `{"$date": "2026-11-22T08:30:00Z"}`: no key of a dictionary begins with `$`.
    private func mixed(_ value: Value) throws -> JSONLine {
        func tagged(_ tag: String) throws -> JSONLine { .object([(tag, try json(value))]) }
        switch value {
        case .null, .bool, .int, .string: return try json(value)
        // A number without a fraction would be read as an integer.
        case .double(let number):
            return number.isFinite && number != number.rounded()
                ? .double(number) : try tagged("$double")
        case .float: return try tagged("$float")
        case .data: return try tagged("$data")
        case .date: return try tagged("$date")
        case .uuid: return try tagged("$uuid")
        case .objectId: return try tagged("$objectId")
        case .decimal: return try tagged("$decimal")
        case .link(let ref):
            let name = try session.classHandle(ref.classID).name
            return .object([("$class", .text(name)), ("$link", try self.name(of: ref))])
        case .list(let values): return .list(try values.map(mixed))
        case .dictionary(let entries):
            return .dictionary(try entries.map { ($0.key, try mixed($0.value)) })
        }
    }

    /// The type of a mixed value by the name of its one member.
    static func type(ofTag tag: String) -> PropertyType? {
        switch tag {
        case "$double": .double
        case "$float": .float
        case "$data": .data
        case "$date": .date
        case "$uuid": .uuid
        case "$objectId": .objectId
        case "$decimal": .decimal128
        default: nil
        }
    }

    /// What a link is called by: the primary key of its target.
    func name(of ref: ObjectRef) throws -> JSONLine {
        guard links == .primaryKeys,
            let key = try session.classHandle(ref.classID).primaryKey,
            let object = try session.object(ref)
        else { return .integer(ref.key) }
        return try json(object.value(key.id))
    }

    /// The value of a property as JSON gives it. Links are left to the caller.
    static func value(_ json: JSONValue, for property: PropertyHandle) throws -> Value {
        if let value = value(json, of: property.type) { return value }
        throw EngineError(
            .typeMismatch,
            "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                + "\(json.kind). Dates are ISO 8601 texts, data base64, uuids 8-4-4-4-12 and "
                + "object ids 24 hexadecimal digits, decimals texts of a number."
        )
    }

    /// The same; nil for what is no value of the type.
    static func value(_ json: JSONValue, of type: PropertyType) -> Value? {
        switch (type, json) {
        case (_, .null): return .null
        case (.bool, .bool(let value)): return .bool(value)
        case (.int, .integer(let value)): return .int(value)
        case (.float, .double(let value)): return .float(Float(value))
        case (.float, .integer(let value)): return .float(Float(value))
        case (.double, .double(let value)): return .double(value)
        case (.double, .integer(let value)): return .double(Double(value))
        case (.float, .text(let value)):
            if let number = notFinite(value) { return .float(Float(number)) }
        case (.double, .text(let value)):
            if let number = notFinite(value) { return .double(number) }
        case (.string, .text(let value)): return .string(value)
        case (.data, .text(let value)):
            if let data = Data(base64Encoded: value) { return .data([UInt8](data)) }
        case (.date, .text(let value)):
            if let date = timestamp(value) { return .date(date) }
        case (.uuid, .text(let value)):
            if let bytes = FixedBytes(uuidText: value) { return .uuid(bytes) }
        case (.objectId, .text(let value)):
            if let bytes = FixedBytes(objectIdText: value) { return .objectId(bytes) }
        case (.decimal128, .text(let value)):
            if let number = Decimal128(value) { return .decimal(number) }
        case (.decimal128, .integer(let value)): return .decimal(Decimal128(value))
        default: break
        }
        return nil
    }

    private static func notFinite(_ text: String) -> Double? {
        switch text {
        case "nan": .nan
        case "inf": .infinity
        case "-inf": -.infinity
        default: nil
        }
    }

    /// Seconds of the years 1583 to 9999, which ISO 8601 writes without further agreement.
    private static let commonSeconds: ClosedRange<Int64> = -12_212_553_600...253_402_300_799

    /// `2026-11-22T08:30:00.000000001Z`; outside of the years 1583 to 9999 `T` with seconds and
    /// nanoseconds since 1970, as in queries: `T-62135596801:-500`.
    static func text(_ date: Timestamp) -> String {
        let isBefore = date.nanoseconds < 0
        let seconds = isBefore ? date.seconds &- 1 : date.seconds
        let nanoseconds = isBefore ? date.nanoseconds &+ 1_000_000_000 : date.nanoseconds
        guard commonSeconds.contains(date.seconds), commonSeconds.contains(seconds) else {
            return "T\(date.seconds):\(date.nanoseconds)"
        }
        let whole = Date(timeIntervalSince1970: TimeInterval(seconds))
            .formatted(Date.ISO8601FormatStyle())
        guard nanoseconds > 0 else { return whole }
        var digits = String(1_000_000_000 + Int(nanoseconds)).dropFirst()
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole.dropLast()).\(digits)Z"
    }

    /// The date of a text of either form; nil if it is of none.
    static func timestamp(_ text: String) -> Timestamp? {
        if text.hasPrefix("T") {
            let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let seconds = Int64(parts[0]), let rest = Int32(parts[1]),
                abs(Int(rest)) < 1_000_000_000,
                seconds == 0 || rest == 0 || (seconds < 0) == (rest < 0)
            else { return nil }
            return Timestamp(seconds: seconds, nanoseconds: rest)
        }
        var whole = text
        var nanoseconds: Int32 = 0
        if let point = text.firstIndex(of: ".") {
            let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { return nil }
            whole.removeSubrange(point..<digits.endIndex)
            nanoseconds =
                Int32(digits.prefix(9).padding(toLength: 9, withPad: "0", startingAt: 0)) ?? 0
        }
        guard let date = try? Date.ISO8601FormatStyle().parse(whole) else { return nil }
        let seconds = Int64(date.timeIntervalSince1970)
        return seconds < 0 && nanoseconds > 0
            ? Timestamp(seconds: seconds + 1, nanoseconds: nanoseconds - 1_000_000_000)
            : Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }
}
