package import ToftModel
internal import ToftStorage

/// Lists and dictionaries within mixed values. Reading one looks for it in the bytes of the value;
/// changing one writes the value anew.
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

    /// The same for the value of a key; nil where the key is not there.
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

    func edit(_ nested: NestedRef, _ edit: NestedEdit) throws(EngineError) {
        _ = try erases(nested, edit)
    }

    /// The same; false where an entry was to be erased that is not there.
    func erases(_ nested: NestedRef, _ edit: NestedEdit) throws(EngineError) -> Bool {
        let transaction = try session.writing()
        _ = try content(nested)
        let isThere = try onCollection { property throws(ModelError) in
            try transaction.edit(key, property, nested, edit)
        }
        session.noteSet(property)
        return isThere
    }

    /// Replaces everything by the elements of a list or a dictionary, all or nothing.
    package func assign(_ value: Value) throws(EngineError) {
        try lending(value) { value throws(EngineError) in
            if let nested {
                try edit(nested, .assign(value[0]))
            } else {
                try owner.set(property.id, value[0])
            }
        }
    }

    func lending<Result>(
        _ value: Value,
        _ body: (UnsafeBufferPointer<BorrowedValue>) throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        let lender = ValueLender(), values = [lender.lend(value)]
        return try withExtendedLifetime(lender) { () throws(EngineError) in
            let result: Swift.Result<Result, EngineError> = values.withUnsafeBufferPointer {
                values in
                do throws(EngineError) { return .success(try body(values)) } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }
    }

    func lending<Result>(
        _ key: String, _ value: Value, _ body: (BorrowedEntry) throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        try lending(.dictionary([ValueEntry(key: key, value: value)])) {
            lent throws(EngineError) in
            guard case .dictionary(let entries) = lent[0] else {
                throw EngineError(.internalError, "an entry was lent as something else")
            }
            return try body(entries[0])
        }
    }

    /// Throws for what only a collection that is a property has.
    func requireOwnProperty(_ what: String) throws(EngineError) {
        guard nested != nil else { return }
        throw EngineError(
            .unsupported,
            "The \(kind.name) within '\(property.className).\(property.name)' has no \(what) of "
                + "its own. Observe its object; read its elements one by one.")
    }
}

extension MixedElement {
    /// The value as a cell of a mixed property.
    var cell: Cell { bytes.first == 0 ? .null : .bytes(bytes) }
}
