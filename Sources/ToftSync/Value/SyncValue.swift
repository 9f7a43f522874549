/// One value of a property, element, member or entry.
///
/// Equality is that of the canonical bytes: texts by UTF-8, numbers by their bits, all NaNs alike.
package enum SyncValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// The bits, of which only `float(_:)` may make those of a NaN.
    case floatBits(UInt32)
    /// The bits, of which only `double(_:)` may make those of a NaN.
    case doubleBits(UInt64)
    case text(Text)
    case data([UInt8])
    /// Nanoseconds have the sign of the seconds and are less than a second.
    case date(seconds: Int64, nanoseconds: Int32)
    case link(ObjectID)
    /// The 16 bytes of the file.
    case decimal(Bytes16)
    case objectID(Bytes12)
    case uuid(Bytes16)
    /// Within a mixed value.
    case list(CollectionID, [SyncValue])
    /// Within a mixed value; the keys ascend by bytes.
    case dictionary(CollectionID, [NestedEntry])

    package static let floatNaN: UInt32 = 0x7FC0_0000
    package static let doubleNaN: UInt64 = 0x7FF8_0000_0000_0000

    package static func float(_ value: Float) -> SyncValue {
        .floatBits(value.isNaN ? floatNaN : value.bitPattern)
    }

    package static func double(_ value: Double) -> SyncValue {
        .doubleBits(value.isNaN ? doubleNaN : value.bitPattern)
    }
}

/// An entry of a dictionary within a mixed value.
package struct NestedEntry: Hashable, Sendable {
    package var key: Text
    package var value: SyncValue

    package init(_ key: Text, _ value: SyncValue) {
        self.key = key
        self.value = value
    }
}

/// An edit within a mixed value.
package enum NestedEdit: Hashable, Sendable {
    /// The value that a dictionary has for a key from now on; nothing: the entry goes.
    case entry(Text, SyncValue?)
    /// All elements that a list has from now on.
    case elements([SyncValue])
}

extension SyncValue {
    /// The list or dictionary with this number, however deep it lies.
    package func collection(_ id: CollectionID) -> SyncValue? {
        switch self {
        case .list(id, _), .dictionary(id, _): return self
        case .list(_, let elements):
            for element in elements {
                if let found = element.collection(id) { return found }
            }
        case .dictionary(_, let entries):
            for entry in entries {
                if let found = entry.value.collection(id) { return found }
            }
        default: break
        }
        return nil
    }

    /// The value with an edit of the collection with this number.
    package func edited(_ id: CollectionID, _ edit: NestedEdit) -> SyncValue {
        switch (self, edit) {
        case (.list(id, _), .elements(let elements)):
            return .list(id, elements)
        case (.dictionary(id, var entries), .entry(let key, let value)):
            entries.removeAll { $0.key == key }
            if let value {
                let place = entries.firstIndex { key < $0.key } ?? entries.count
                entries.insert(NestedEntry(key, value), at: place)
            }
            return .dictionary(id, entries)
        case (.list(let own, let elements), _):
            return .list(own, elements.map { $0.edited(id, edit) })
        case (.dictionary(let own, let entries), _):
            return .dictionary(
                own, entries.map { NestedEntry($0.key, $0.value.edited(id, edit)) })
        default: return self
        }
    }

    /// Calls `body` for each object that the value leads to.
    package func eachLink(_ body: (ObjectID) -> Void) {
        switch self {
        case .link(let target): body(target)
        case .list(_, let elements): for element in elements { element.eachLink(body) }
        case .dictionary(_, let entries): for entry in entries { entry.value.eachLink(body) }
        default: break
        }
    }

    /// The value with null for each link whose target is not `alive`.
    package func keepingLinks(_ alive: (ObjectID) -> Bool) -> SyncValue {
        switch self {
        case .link(let target): return alive(target) ? self : .null
        case .list(let id, let elements):
            return .list(id, elements.map { $0.keepingLinks(alive) })
        case .dictionary(let id, let entries):
            return .dictionary(
                id, entries.map { NestedEntry($0.key, $0.value.keepingLinks(alive)) })
        default: return self
        }
    }
}

extension NestedEdit {
    /// The edit with null for each link whose target is not `alive`.
    func keepingLinks(_ alive: (ObjectID) -> Bool) -> NestedEdit {
        switch self {
        case .entry(let key, let value): .entry(key, value?.keepingLinks(alive))
        case .elements(let values): .elements(values.map { $0.keepingLinks(alive) })
        }
    }
}
