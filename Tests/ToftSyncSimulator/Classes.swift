internal import ToftSync

/// The classes of the simulator: a property of each kind, objects with and without primary key,
/// embedded objects within each other.
enum Classes {
    static let item = ClassNumber(1)
    static let part = ClassNumber(2)
    static let note = ClassNumber(3)

    static let title = PropertyNumber(1)
    static let count = PropertyNumber(2)
    static let code = PropertyNumber(3)

    static let schema = Schema([
        ClassSchema(
            "Item", item, .keyed,
            [
                PropertySchema("title", title, .text),
                PropertySchema("count", count, .int, initial: .int(0)),
                PropertySchema("code", code, .int),
                PropertySchema("any", PropertyNumber(4), .mixed),
                PropertySchema("friend", PropertyNumber(5), .link),
                PropertySchema("owned", PropertyNumber(6), .link, deleteRule: .cascade),
                PropertySchema("guarded", PropertyNumber(7), .link, deleteRule: .deny),
                PropertySchema("numbers", PropertyNumber(8), .int, in: .list),
                PropertySchema("friends", PropertyNumber(9), .link, in: .list),
                PropertySchema("parts", PropertyNumber(10), .embedded, in: .list, target: part),
                PropertySchema("tags", PropertyNumber(11), .int, in: .set),
                PropertySchema("fans", PropertyNumber(12), .link, in: .set),
                PropertySchema("facts", PropertyNumber(13), .int, in: .dictionary),
                PropertySchema("roles", PropertyNumber(14), .link, in: .dictionary),
                PropertySchema(
                    "rooms", PropertyNumber(15), .embedded, in: .dictionary, target: part),
                PropertySchema("detail", PropertyNumber(16), .embedded, target: part),
                PropertySchema("things", PropertyNumber(17), .mixed, in: .list),
            ], uniques: [[code]]),
        ClassSchema(
            "Part", part, .embedded,
            [
                PropertySchema("x", PropertyNumber(1), .int),
                PropertySchema("target", PropertyNumber(2), .link),
                PropertySchema("inner", PropertyNumber(3), .embedded, target: part),
                PropertySchema("lines", PropertyNumber(4), .int, in: .list),
                PropertySchema("by", PropertyNumber(5), .int, in: .dictionary),
            ]),
        ClassSchema(
            "Note", note, .unkeyed,
            [
                PropertySchema("title", title, .text),
                PropertySchema("value", PropertyNumber(2), .int),
                PropertySchema("friend", PropertyNumber(5), .link),
                PropertySchema("numbers", PropertyNumber(8), .int, in: .list),
            ]),
    ])
}
