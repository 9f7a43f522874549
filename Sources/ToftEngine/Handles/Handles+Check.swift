package import ToftModel

/// The checks that a call of several steps makes before its first one: whether a step would be
/// refused. Nothing is changed.
extension ObjectHandle {
    /// Throws if a property can't be set, or would not accept a value.
    package func check(_ id: PropertyID, _ value: Value) throws(EngineError) {
        let property = try property(id)
        let transaction = try session.writing()
        try model { () throws(ModelError) in try transaction.check(ref.key, property, value) }
    }

    /// Number of embedded objects on the path to this one, itself included; 0 if it is not
    /// embedded.
    package func embeddedDepth() throws(EngineError) -> Int {
        let transaction = try session.writing()
        return try model { () throws(ModelError) in
            try transaction.embeddedDepth(of: ref.key, owner)
        }
    }

    /// Sets several properties to values that the caller keeps, all or nothing, as `policy` says.
    package func set(
        _ values: [(property: PropertyID, value: Value)], policy: UpdatePolicy
    ) throws(EngineError) {
        var resolved: [(property: PropertyHandle, value: Value)] = []
        for (id, value) in values { resolved.append((try property(id), value)) }
        let transaction = try session.writing()
        try model { () throws(ModelError) in
            try transaction.set(ref.key, owner, resolved, policy: policy)
        }
        session.noteUnread()
    }
}

extension CollectionHandle {
    /// Throws if the collection would not accept values at its end, or in it if it is a set.
    package func check(adding values: [Value]) throws(EngineError) {
        try check(values) { .append($0) }
    }

    /// Throws if a list would not accept values at an index.
    package func check(inserting values: [Value], at index: Int) throws(EngineError) {
        try check(values) { .insert($0, at: index) }
    }

    /// Throws if a list would not accept a value in the place of another one.
    package func check(setting value: Value, at index: Int) throws(EngineError) {
        try check([value]) { .set($0[0], at: index) }
    }

    /// Throws if a list has no such range of elements.
    package func check(erasing range: Range<Int>) throws(EngineError) {
        try check([]) { _ in .erase(range) }
    }

    /// Throws if a dictionary would not accept a value for a key.
    package func check(setting value: Value, forKey entryKey: String) throws(EngineError) {
        let lender = ValueLender()
        defer { withExtendedLifetime(lender) {} }
        guard case .string(let name) = lender.lend(.string(entryKey)) else { return }
        try check([value]) { .setEntry(name, $0[0]) }
    }

    private func check(
        _ values: [Value], _ edit: (UnsafeBufferPointer<BorrowedValue>) -> CollectionEdit
    ) throws(EngineError) {
        let transaction = try session.writing()
        let lender = ValueLender(), borrowed = values.map { lender.lend($0) }
        let result = withExtendedLifetime(lender) {
            borrowed.withUnsafeBufferPointer { buffer in
                Swift.Result { () throws(EngineError) in
                    try onCollection { property throws(ModelError) in
                        try transaction.check(key, property, nested, edit(buffer))
                    }
                }
            }
        }
        try result.get()
    }
}
