public import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// Twelve bytes that name a thing: the second it was made in, five random bytes of the process, and
/// a counter, so that ids made by any process on any machine differ and sort by time.
///
/// An identifier of 12 bytes; a class in Realm.
public struct ObjectId: Hashable, Sendable {
    let bytes: FixedBytes

    init(_ bytes: FixedBytes) { self.bytes = bytes }

    /// Twelve zero bytes.
    public init() { bytes = .zero }

    /// The id of its text.
    ///
    /// - Parameter string: 24 hexadecimal digits of either case.
    /// - Throws: `Realm.Error` with code `invalidArgument` for any other text.
    public init(string: String) throws {
        guard let bytes = FixedBytes(objectIdText: string) else {
            throw Realm.Error(
                .invalidArgument,
                "'\(string)' is not an object id; one has 24 hexadecimal digits.")
        }
        self.bytes = bytes
    }

    /// The id of a literal: 24 hexadecimal digits. Any other literal is misuse and gives zeros;
    /// Realm stops the program.
    public init(_ literal: StaticString) {
        self = Misuse.reporting { try ObjectId(string: "\(literal)") } ?? ObjectId()
    }

    /// The id of a time, a machine and a process.
    ///
    /// - Parameters:
    ///   - timestamp: a time from 1970 to 2106; another becomes the nearest of these.
    ///   - machineId: its lowest 24 bits are taken.
    ///   - processId: its lowest 16 bits are taken.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        self.init(
            seconds: timestamp,
            source: (UInt64(truncatingIfNeeded: machineId) & 0xFF_FFFF) << 16
                | UInt64(truncatingIfNeeded: processId) & 0xFFFF)
    }

    private init(seconds: Date, source: UInt64) {
        let seconds = min(max(seconds.timeIntervalSince1970, 0), Double(UInt32.max))
        let count = Self.counter.add(1, ordering: .relaxed).newValue & 0xFF_FFFF
        bytes = FixedBytes(
            high: UInt64(seconds) << 32 | source >> 8,
            low: source << 56 | count << 32)
    }

    /// A new id, of now. Any thread.
    public static func generate() -> ObjectId {
        ObjectId(seconds: Date(), source: process)
    }

    /// 40 random bits.
    private static let process = UInt64.random(in: 0..<1 << 40)
    private static let counter = Atomic<UInt64>(UInt64.random(in: 0..<1 << 24))

    /// The second in which it was made.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(bytes.high >> 32)) }

    /// 24 hexadecimal digits, lower case.
    public var stringValue: String { bytes.objectIdText }
}

extension ObjectId: Comparable, CustomStringConvertible, Codable {
    /// Byte by byte, which is the order of their times.
    public static func < (left: ObjectId, right: ObjectId) -> Bool { left.bytes < right.bytes }

    public var description: String { stringValue }

    /// Reads the text of an id.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let bytes = FixedBytes(objectIdText: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "'\(text)' is not an object id: 24 hexadecimal digits")
        }
        self.bytes = bytes
    }

    /// Writes `stringValue`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

extension ObjectId: _Scalar, _Indexable, _PrimaryKey {
    public static var _type: _PropertyShape { _PropertyShape(.objectId) }
    /// A property without a default starts as a new id, as in Realm.
    public static func _initial() -> ObjectId { generate() }

    public static func _scalar(from value: _EngineValue) -> ObjectId? {
        if case .objectId(let bytes) = value.value { ObjectId(bytes) } else { nil }
    }
    public var _engineValue: _EngineValue { _EngineValue(.objectId(bytes)) }
    public static func _load(_ object: ObjectBase, _ column: Int) -> ObjectId? {
        object.fixed(column).map { ObjectId($0) }
    }
    public func _store(_ object: ObjectBase, _ column: Int) {
        object.store(.objectId(bytes), column)
    }
    public static func _scalar(converting any: Any) -> ObjectId? {
        (any as? String).flatMap { FixedBytes(objectIdText: $0) }.map { ObjectId($0) }
    }
}

extension UUID: _Scalar, _Indexable, _PrimaryKey {
    public static var _type: _PropertyShape { _PropertyShape(.uuid) }

    private init(_ bytes: FixedBytes) {
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { bytes.write(to: $0) }
        self.init(uuid: uuid)
    }

    private var bytes: FixedBytes {
        withUnsafeBytes(of: uuid) { FixedBytes($0) }
    }

    public static func _scalar(from value: _EngineValue) -> UUID? {
        if case .uuid(let bytes) = value.value { UUID(bytes) } else { nil }
    }
    public var _engineValue: _EngineValue { _EngineValue(.uuid(bytes)) }
    public static func _load(_ object: ObjectBase, _ column: Int) -> UUID? {
        object.fixed(column).map { UUID($0) }
    }
    public func _store(_ object: ObjectBase, _ column: Int) { object.store(.uuid(bytes), column) }
    public static func _scalar(converting any: Any) -> UUID? {
        (any as? String).flatMap { UUID(uuidString: $0) }
    }
}
