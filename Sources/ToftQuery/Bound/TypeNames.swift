/// The names that `@type` is compared with, in either case, as in Realm.
enum TypeNames {
    static let null: Int64 = 0

    static let all =
        "null, bool, int, float, double, decimal, numeric, string, binary, date, objectid, uuid, "
        + "link, list, dictionary, collection"

    /// The types, in ascending order, that a text names; nil if it names no type.
    static func tags(of constant: Constant) -> [Int64]? {
        guard case .string(let text) = constant else { return nil }
        switch String(decoding: text.bytes, as: UTF8.self).lowercased() {
        case "null": return [null]
        case "bool", "boolean": return [1]
        case "int", "integer", "int16", "int32", "int64", "short", "long", "byte", "char":
            return [2]
        case "float": return [3]
        case "double": return [4]
        case "decimal", "decimal128": return [5]
        case "numeric", "number": return [2, 3, 4, 5]
        case "string": return [6]
        case "binary", "data", "byte[]", "bytes", "bindata": return [7]
        case "date", "datetime", "timestamp": return [8]
        case "objectid": return [9]
        case "uuid", "guid": return [10]
        case "link", "objectlink": return [11]
        case "list", "array": return [12]
        case "dictionary", "object": return [13]
        case "collection": return [12, 13]
        default: return nil
        }
    }
}
