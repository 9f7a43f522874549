import Foundation
import ToftEngine
import ToftModel
import ToftStorage

/// Values to and from JSON. Dates are ISO 8601 in UTC, data is base64, a link is the primary key of
/// its target, or its object key where it has none.
struct ValueText {
    let session: Session

    /// An object: every property but the inverse ones.
    func json(_ object: ObjectHandle, of owner: ClassHandle) throws -> JSONLine {
        var members: [(String, JSONLine)] = []
        if owner.primaryKey == nil { members.append(("_key", .integer(object.ref.key))) }
        for property in owner.visibleProperties where property.isStored {
            members.append((property.name, try json(object, property)))
        }
        return .object(members)
    }

    private func json(_ object: ObjectHandle, _ property: PropertyHandle) throws -> JSONLine {
        guard property.isList else { return try json(object.value(property.id)) }
        let list = try object.list(property.id)
        return .list(try (0..<(try list.count)).map { try json(list.value(at: $0)) })
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
        case .link(let ref): try name(of: ref)
        }
    }

    /// What a link is called by: the primary key of its target.
    func name(of ref: ObjectRef) throws -> JSONLine {
        guard let key = try session.classHandle(ref.classID).primaryKey,
            let object = try session.object(ref)
        else { return .integer(ref.key) }
        return try json(object.value(key.id))
    }

    /// The value of a property as JSON gives it. Links are left to the caller.
    static func value(_ json: JSONValue, for property: PropertyHandle) throws -> Value {
        switch (property.type, json) {
        case (_, .null): return .null
        case (.bool, .bool(let value)): return .bool(value)
        case (.int, .integer(let value)): return .int(value)
        case (.float, .double(let value)): return .float(Float(value))
        case (.float, .integer(let value)): return .float(Float(value))
        case (.double, .double(let value)): return .double(value)
        case (.double, .integer(let value)): return .double(Double(value))
        case (.string, .text(let value)): return .string(value)
        case (.data, .text(let value)):
            if let data = Data(base64Encoded: value) { return .data([UInt8](data)) }
        case (.date, .text(let value)):
            if let date = timestamp(value) { return .date(date) }
        default: break
        }
        throw EngineError(
            .typeMismatch,
            "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                + "\(json.kind). Dates are ISO 8601 texts, data base64."
        )
    }

    static func text(_ date: Timestamp) -> String {
        let seconds = Date(
            timeIntervalSince1970: TimeInterval(date.seconds) + TimeInterval(date.nanoseconds) / 1e9
        )
        return seconds.formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: date.nanoseconds != 0))
    }

    static func timestamp(_ text: String) -> Timestamp? {
        let styles = [
            Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle(),
        ]
        for style in styles {
            guard let date = try? style.parse(text) else { continue }
            let time = date.timeIntervalSince1970
            let whole = time.rounded(.towardZero)
            return Timestamp(
                seconds: Int64(whole), nanoseconds: Int32(((time - whole) * 1e9).rounded()))
        }
        return nil
    }
}
