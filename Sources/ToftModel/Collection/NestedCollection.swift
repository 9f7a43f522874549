internal import ToftStorage

/// Names a list or a dictionary within a mixed value of an object's property.
package struct NestedRef: Hashable, Sendable {
    package var id: UInt64
    /// The last known index of the element, for a property that is a collection.
    package var index: Int

    package init(id: UInt64, index: Int = 0) {
        self.id = id
        self.index = index
    }
}

extension ModelView {
    /// The list or dictionary that a mixed value, or an element of one of these, is.
    /// - Parameter key: the object's key.
    /// - Parameter index: the element's index, for a property that is a collection.
    /// - Throws: `notACollection` if the value is something else, or of the other kind.
    package func nested(
        _ key: Int64, _ property: PropertyHandle, at index: Int? = nil, _ kind: CollectionKind
    ) throws(ModelError) -> NestedRef {
        let cell =
            if let index { try listCell(key, property, at: index) } else { try cell(key, property) }
        guard property.type == .mixed, case .collection(let collection) = try MixedValue(cell),
            collection.kind == kind
        else { throw property.notNested(kind) }
        return NestedRef(id: collection.id, index: index ?? 0)
    }

    /// The present collection with this name, for reading: valid as long as a `Cell` would be.
    /// O(bytes of the property's value; elements of the property, if it has moved to another).
    /// - Throws: `noSuchCollection` if it no longer exists.
    package func nested(_ key: Int64, _ property: PropertyHandle, _ ref: NestedRef)
        throws(ModelError) -> MixedCollection
    {
        let (bytes, path, _) = try locate(key, property, ref)
        guard let offset = path.last,
            case .collection(let collection) = try MixedValue(at: offset, in: bytes)
        else { throw property.noSuchNested }
        return collection
    }

    /// The value with a collection, the offsets of all collections from its outermost to the
    /// requested one, and the element's index.
    func locate(_ key: Int64, _ property: PropertyHandle, _ ref: NestedRef) throws(ModelError) -> (
        bytes: UnsafeRawBufferPointer, path: [Int], index: Int
    ) {
        func path(_ cell: Cell) throws(ModelError) -> (UnsafeRawBufferPointer, [Int])? {
            guard case .bytes(let bytes) = cell else { return nil }
            var path: [Int] = []
            return try MixedFormat.find(ref.id, in: bytes, from: 0, &path) ? (bytes, path) : nil
        }
        guard property.isCollection else {
            guard let (bytes, path) = try path(try cell(key, property)) else {
                throw property.noSuchNested
            }
            return (bytes, path, 0)
        }
        let list = try list(key, property)
        if ref.index >= 0, ref.index < list.count,
            let (bytes, path) = try path(try listCell(key, property, at: ref.index))
        {
            return (bytes, path, ref.index)
        }
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            if let (bytes, path) = try path(cell) { return (bytes, path, index) }
        }
        throw property.noSuchNested
    }
}

extension MixedFormat {
    /// Whether a value contains the collection `id`, and then the offsets of all collections on the
    /// path to it. `offset` is that of the value's first byte.
    static func find(
        _ id: UInt64, in bytes: UnsafeRawBufferPointer, from offset: Int, _ path: inout [Int]
    ) throws(ModelError) -> Bool {
        guard let tag = bytes.first, tag >= list,
            case .collection(let collection) = try MixedValue(encoded: bytes)
        else { return false }
        guard path.count < Limits.nestedCollections else { throw damaged }
        path.append(offset)
        if collection.id == id { return true }
        var elements = collection.elements, next = offset + collectionHeader
        while let element = try elements.next() {
            let value = next + element.entry.count - element.bytes.count
            if try find(id, in: element.bytes, from: value, &path) { return true }
            next += element.entry.count
        }
        path.removeLast()
        return false
    }
}

extension PropertyHandle {
    var noSuchNested: ModelError {
        .noSuchCollection(className: className, property: name)
    }

    func notNested(_ kind: CollectionKind) -> ModelError {
        .notACollection(className: className, property: name, kind: kind)
    }
}
