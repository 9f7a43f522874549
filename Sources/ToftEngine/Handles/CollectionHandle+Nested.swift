package import ToftModel
internal import ToftStorage

/// Lists and dictionaries within mixed values. Reading one searches the bytes of the value for it;
/// changing one writes the whole value.
extension CollectionHandle {
    /// The list or dictionary that an element of a collection of mixed values is now.
    package func nested(at index: Int, _ kind: CollectionKind) throws(EngineError)
        -> CollectionHandle
    {
        guard let nested else {
            let ref = try onCollection { property throws(ModelError) in
                try session.view.nested(key, property, at: index, kind)
            }
            return CollectionHandle(owner: owner, property: property, nested: ref, kind: kind)
        }
        let element = try element(nested, at: index)
        return try model { () throws(ModelError) in
            guard case .collection(let collection) = try element.value(), collection.kind == kind
            else {
                throw ModelError.notACollection(
                    className: property.className, property: property.name, kind: kind)
            }
            return CollectionHandle(
                owner: owner, property: property,
                nested: NestedRef(id: collection.id, index: nested.index), kind: kind)
        }
    }

    /// The nested collection under a key; nil if the key does not exist.
    package func nested(forKey key: UnsafeRawBufferPointer, _ kind: CollectionKind)
        throws(EngineError) -> CollectionHandle?
    {
        guard let index = try index(ofKey: key) else { return nil }
        return try nested(at: index, kind)
    }

    func content(_ nested: NestedRef) throws(EngineError) -> MixedCollection {
        let content = try onCollection { property throws(ModelError) in
            try session.view.nested(key, property, nested)
        }
        guard content.kind == kind else {
            throw EngineError(
                ModelError.noSuchCollection(
                    className: property.className, property: property.name))
        }
        return content
    }

    func elements(_ nested: NestedRef, from first: Int, limit: Int) throws(EngineError)
        -> [MixedElement]
    {
        let content = try content(nested)
        guard first >= 0, first <= content.count else {
            throw EngineError(outOfRange: first, count: content.count)
        }
        return try model { () throws(ModelError) in
            var elements = content.elements, found: [MixedElement] = [], index = 0
            while found.count < limit, let element = try elements.next() {
                if index >= first { found.append(element) }
                index += 1
            }
            return found
        }
    }

    func element(_ nested: NestedRef, at index: Int) throws(EngineError) -> MixedElement {
        guard let element = try elements(nested, from: max(index, 0), limit: 1).first, index >= 0
        else {
            throw EngineError(outOfRange: index, count: try content(nested).count)
        }
        return element
    }
}

extension MixedElement {
    /// The value as a cell of a mixed property.
    var cell: Cell { bytes.first == 0 ? .null : .bytes(bytes) }
}
