internal import ToftStorage

// MARK: Links

extension ModelView {
    /// The objects that a mixed property, or a collection of mixed values, links to, each once.
    package func mixedTargets(of key: Int64, _ property: PropertyHandle) throws(ModelError)
        -> Set<ObjectRef>
    {
        property.isCollection
            ? try list(key, property).mixedTargets()
            : Set(try MixedValue.links(in: try cell(key, property)))
    }

    /// Number of links in a mixed property, or a collection of mixed values.
    func mixedLinks(of key: Int64, _ property: PropertyHandle) throws(ModelError) -> Int {
        guard property.isCollection else {
            return try MixedValue.links(in: try cell(key, property)).count
        }
        let list = try list(key, property)
        var links = 0
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            links += try MixedValue.links(in: cell).count
        }
        return links
    }
}

// MARK: Nested collections

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

    /// Whether a collection exists.
    package func exists(_ ref: CollectionRef) throws(ModelError) -> Bool {
        try ref.nested == nil ? exists(ref.owner) : nested(ref) != nil
    }

    /// A list or dictionary within a mixed value; nil if it no longer exists.
    package func nested(_ ref: CollectionRef) throws(ModelError) -> NestedElements? {
        guard let nested = ref.nested, try exists(ref.owner) else { return nil }
        let property = try property(ref.propertyRef)
        do throws(ModelError) {
            let collection = try self.nested(ref.owner.key, property, nested)
            var rest = collection.elements, elements: [MixedElement] = []
            while let element = try rest.next() { elements.append(element) }
            return NestedElements(
                isDictionary: collection.kind == .dictionary, elements: elements)
        } catch {
            if case .noSuchCollection = error { return nil }
            throw error
        }
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
