// EveryType DATABASE write | touch | print: see every_type.c, which does the same.
import Foundation
import RealmSwift

let language = "Swift"

final class Every: Object {
    @Persisted(primaryKey: true) var writer: String
    @Persisted var touched: Int
    @Persisted var precise: Date?
    @Persisted var bool: Bool
    @Persisted var int: Int
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted(indexed: true) var date: Date
    @Persisted var decimal: Decimal128
    @Persisted var uuid: UUID
    @Persisted var objectId: ObjectId
    @Persisted var maybeBool: Bool?
    @Persisted var maybeInt: Int?
    @Persisted var maybeFloat: Float?
    @Persisted var maybeDouble: Double?
    @Persisted(indexed: true) var maybeString: String?
    @Persisted var maybeData: Data?
    @Persisted var maybeDate: Date?
    @Persisted var maybeDecimal: Decimal128?
    @Persisted var maybeUuid: UUID?
    @Persisted var maybeObjectId: ObjectId?
    @Persisted var link: Every?
    @Persisted var part: Part?
    @Persisted var bools: List<Bool>
    @Persisted var ints: List<Int>
    @Persisted var floats: List<Float>
    @Persisted var doubles: List<Double>
    @Persisted var strings: List<String>
    @Persisted var maybeStrings: List<String?>
    @Persisted var datas: List<Data>
    @Persisted var dates: List<Date>
    @Persisted var decimals: List<Decimal128>
    @Persisted var uuids: List<UUID>
    @Persisted var objectIds: List<ObjectId>
    @Persisted var links: List<Every>
    @Persisted var parts: List<Part>
    @Persisted var intSet: MutableSet<Int>
    @Persisted var doubleSet: MutableSet<Double>
    @Persisted var stringSet: MutableSet<String>
    @Persisted var maybeIntSet: MutableSet<Int?>
    @Persisted var uuidSet: MutableSet<UUID>
    @Persisted var intMap: Map<String, Int>
    @Persisted var doubleMap: Map<String, Double>
    @Persisted var maybeStringMap: Map<String, String?>
    @Persisted var dateMap: Map<String, Date>
    @Persisted var linkMap: Map<String, Every?>
    @Persisted(indexed: true) var mixed: AnyRealmValue
    @Persisted var mixeds: List<AnyRealmValue>
    @Persisted var mixedSet: MutableSet<AnyRealmValue>
    @Persisted var mixedMap: Map<String, AnyRealmValue>
    @Persisted(originProperty: "link") var linked: LinkingObjects<Every>
}

final class Part: EmbeddedObject {
    @Persisted var name: String
    @Persisted var owner: Every?
    @Persisted var inner: Part?
    @Persisted var inners: List<Part>

    convenience init(_ name: String, owner: Every? = nil) {
        self.init()
        self.name = name
        self.owner = owner
    }
}

// MARK: Printing

/// The printed form of a value.
protocol Printed {
    var printed: String { get }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func hex<Bits: FixedWidthInteger>(_ bits: Bits) -> String {
    withUnsafeBytes(of: bits.bigEndian) { hex($0) }
}

extension Bool: Printed { var printed: String { self ? "true" : "false" } }
extension Int: Printed { var printed: String { "i\(self)" } }
extension Float: Printed { var printed: String { "f" + hex(bitPattern) } }
extension Double: Printed { var printed: String { "d" + hex(bitPattern) } }
extension String: Printed { var printed: String { "s" + hex(utf8) } }
extension Data: Printed { var printed: String { "x" + hex(self) } }
extension UUID: Printed { var printed: String { "u" + withUnsafeBytes(of: uuid) { hex($0) } } }
extension ObjectId: Printed { var printed: String { "o" + stringValue } }

extension Date: Printed {
    var printed: String {
        let seconds = timeIntervalSince1970.rounded(.towardZero)
        let whole = seconds - Date.timeIntervalBetween1970AndReferenceDate
        let since = timeIntervalSinceReferenceDate - whole
        return "t\(Int(seconds)):\(Int(since * 1e9))"
    }
}

extension Decimal128: Printed {
    /// Sign, digits and exponent.
    var printed: String {
        if isNaN { return "Dnan" }
        let text = stringValue.lowercased()
        let sign = text.hasPrefix("-") ? "-" : ""
        if isInfinite { return "D\(sign)inf" }
        let parts = text.dropFirst(sign.count).split(separator: "e")
        let digits = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let fraction = digits.count > 1 ? digits[1] : ""
        let exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction.count
        let leading = (digits[0] + fraction).drop { $0 == "0" }
        return "D\(sign)\(leading.isEmpty ? "0" : leading)e\(exponent)"
    }
}

extension Optional: Printed where Wrapped: Printed {
    var printed: String { map(\.printed) ?? "null" }
}

extension AnyRealmValue: Printed {
    var printed: String {
        switch self {
        case .none: "null"
        case .int(let value): value.printed
        case .bool(let value): value.printed
        case .float(let value): value.printed
        case .double(let value): value.printed
        case .string(let value): value.printed
        case .data(let value): value.printed
        case .date(let value): value.printed
        case .object(let value): (value as? Every)?.printed ?? "?"
        case .objectId(let value): value.printed
        case .decimal128(let value): value.printed
        case .uuid(let value): value.printed
        case .dictionary(let value): value.printed
        case .list(let value): value.printed
        }
    }
}

extension Every: Printed { var printed: String { "l" + hex(writer.utf8) } }
extension Part: Printed { var printed: String { "{" + properties(of: self, end: ",") + "}" } }

func list(_ elements: some Sequence<some Printed>) -> String {
    "[" + elements.map { $0.printed + ";" }.joined() + "]"
}

extension List: Printed where Element: Printed { var printed: String { list(self) } }
extension MutableSet: Printed where Element: Printed { var printed: String { list(self) } }
extension LinkingObjects: Printed where Element: Printed { var printed: String { list(self) } }
extension Map: Printed where Key == String, Value: Printed {
    var printed: String {
        "[" + map { "\(hex($0.key.utf8)):\($0.value.printed);" }.joined() + "]"
    }
}

func properties(of object: ObjectBase, end: String) -> String {
    object.objectSchema.properties.filter { $0.name != "precise" }.map {
        guard let value = object.value(forKey: $0.name) else { return "\($0.name)=null\(end)" }
        return "\($0.name)=\((value as? any Printed)?.printed ?? "?")\(end)"
    }.joined()
}

// MARK: Writing

func bytes(_ count: Int, _ first: Int, _ step: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: first + $0 * step) }
}

func uuid(_ first: Int, _ step: Int) -> UUID {
    bytes(16, first, step).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
}

func objectId(_ first: Int, _ step: Int) throws -> ObjectId {
    try ObjectId(string: hex(bytes(12, first, step)))
}

func date(_ seconds: Int, _ fraction: Double) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(seconds - 978_307_200) + fraction)
}

func writeObjects(_ realm: Realm) throws {
    let word = "a\0\u{E9}\u{20AC}\u{1F434}\u{200D}\u{FFFF}e\u{301}"
    let data = Data([0, 0xFF, 0x80, 10])
    let (one, two) = (Every(), Every())
    one.writer = "\(language)/1"
    two.writer = "\(language)/2"
    two.date = date(0, 0)
    two.uuid = uuid(0, 0)
    two.objectId = try objectId(0, 0)
    one.bool = true
    one.int = .min
    one.float = -0.1
    one.double = .leastNonzeroMagnitude
    one.string = word
    one.data = data
    one.date = date(-2_177_452_801, -0.515625)
    one.decimal = "-1.50"
    one.uuid = uuid(255, 255)
    one.objectId = try objectId(250, 1)
    one.maybeBool = false
    one.maybeInt = 0
    one.maybeFloat = .nan
    one.maybeDouble = .nan
    one.maybeString = ""
    one.maybeData = Data()
    one.maybeDate = date(0, 0)
    one.maybeDecimal = Decimal128(string: "nan")
    one.maybeUuid = uuid(0, 0)
    one.maybeObjectId = try objectId(0, 0)
    realm.add([one, two])
    one.link = one
    two.link = one
    let outside = Part("outside", owner: one)
    one.part = outside
    outside.inner = Part("inside")
    outside.inner?.inners.append(objectsIn: [Part("first"), Part("")])
    one.parts.append(objectsIn: [Part("first"), Part("outside", owner: one)])
    one.bools.append(objectsIn: [true, false, true])
    one.ints.append(objectsIn: [.max, -1, -1])
    one.floats.append(objectsIn: [.infinity, -0.0])
    one.doubles.append(objectsIn: [-.infinity, -0.0, .nan, 0.1])
    one.strings.append(objectsIn: [word, "", "\0", ""])
    one.maybeStrings.append(objectsIn: [nil, "", word])
    one.datas.append(objectsIn: [Data(), data])
    one.dates.append(objectsIn: [date(-1, -0.515625), date(253_402_300_799, 0.984375)])
    one.decimals.append(objectsIn: [
        "1.50", Decimal128(string: "-inf"),
        Decimal128(string: String(repeating: "9", count: 34) + "e6111"),
    ])
    one.uuids.append(objectsIn: [uuid(0, 17), uuid(0, 17)])
    one.objectIds.append(try objectId(1, 20))
    one.links.append(objectsIn: [two, one, two])
    one.intSet.insert(objectsIn: [3, .min, -3])
    one.doubleSet.insert(objectsIn: [1.5, .nan, -.infinity])
    one.stringSet.insert(objectsIn: [word, "", "B", "a"])
    one.maybeIntSet.insert(objectsIn: [0, nil])
    one.uuidSet.insert(objectsIn: [uuid(128, 1), uuid(0, 1)])
    one.intMap["b"] = -7
    one.intMap[""] = .max
    one.doubleMap[word] = .infinity
    one.maybeStringMap["full"] = word
    one.maybeStringMap.updateValue(nil, forKey: "null")
    one.maybeStringMap["empty"] = ""
    one.dateMap["then"] = date(-62_135_596_800, 0)
    one.mixed = [
        "list": [1, 2.5, [.none, true, [:]]], "text": .string(word), "one": .object(one),
    ]
    two.mixed = .decimal128("2.50")
    one.mixeds.append(objectsIn: [
        .none, false, .int(.min), .double(.nan), .string(word), .data(data), .date(date(0, 0)),
        .decimal128(one.decimal), .uuid(uuid(0, 17)), .objectId(try objectId(1, 20)),
        .object(two), [], ["": [.object(two)]],
    ])
    one.mixedSet.insert(objectsIn: [
        .object(two), "a", .data(Data("a".utf8)), 2, 2.5, .none, .date(date(0, 0)),
        .decimal128(-1), true,
    ])
    one.mixedMap["one"] = .object(one)
    one.mixedMap["none"] = AnyRealmValue.none
    one.mixedMap["list"] = [["k": -0.0]]
    one.linkMap["one"] = one
    one.linkMap.updateValue(nil, forKey: "none")
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(2) }
let realm = try Realm(
    configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: arguments[1]), objectTypes: [Every.self, Part.self]))
let objects = realm.objects(Every.self).sorted(byKeyPath: "writer")
switch arguments[2] {
case "write": try realm.write { try writeObjects(realm) }
case "touch": try realm.write { for object in objects { object.touched += 1 } }
case "print": for object in objects { print(properties(of: object, end: "\n"), terminator: "") }
default: exit(2)
}
