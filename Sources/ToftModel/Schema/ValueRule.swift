internal import ToftStorage

/// The values that a property takes, in few words of memory: checks a value. `PropertyHandle` says
/// why a value was rejected.
struct ValueRule {
    let type: PropertyType
    /// Whether null is one of them.
    let isOptional: Bool
    /// Whether it holds one value that can be set.
    let isOneValue: Bool
    let collection: CollectionKind
    let isHidden: Bool
    let column: UInt32
    /// The class that a link leads to, and its index in `ModelSchema.classes`; 0 and -1 for other
    /// values.
    let targetClassID: ClassID
    let targetPosition: Int

    /// The cell of a value, or of an element of a list; nil if the property does not accept it.
    @inline(__always)
    func cell(_ value: BorrowedValue) -> Cell? {
        switch (value, type) {
        case (.int(let value), .int): .int64(value)
        case (.string(let text), .string):
            text.count <= Limits.valueBytes && UTF8Text.isValid(text) ? .bytes(text) : nil
        case (.bool(let value), .bool): .bool(value)
        case (.double(let value), .double): .float64(value)
        case (.float(let value), .float): .float32(value)
        case (.date(let date), .date): date.isSound ? .timestamp(date) : nil
        case (.data(let bytes), .data): bytes.count <= Limits.valueBytes ? .bytes(bytes) : nil
        case (.link(let target), .link): target.classID == targetClassID ? .int64(target.key) : nil
        case (.uuid(let bytes), .uuid), (.objectId(let bytes), .objectId): .fixed(bytes)
        case (.decimal(let value), .decimal128): .fixed(value.stored)
        case (.null, _): isOptional ? .null : nil
        default: nil
        }
    }
}
