internal import ToftStorage

extension PropertyHandle {
    /// Checks a value for this property (no list) by itself, and makes it a cell. A link's target
    /// is not looked up here.
    @inline(__always)
    func checkedCell(_ value: BorrowedValue, in schema: ModelSchema) throws(ModelError) -> Cell {
        guard rule.isOneValue else { throw notSettable(value) }
        return try checkedElement(value, in: schema)
    }

    /// The checked cell of the value itself or of an element of the list.
    @inline(__always)
    func checkedElement(_ value: BorrowedValue, in schema: ModelSchema) throws(ModelError) -> Cell {
        if let cell = rule.cell(value) { return cell }
        throw rejection(of: value, schema)
    }

    /// The search cell of a value: of any that the file may have.
    @inline(__always)
    func soughtCell(_ value: BorrowedValue, in schema: ModelSchema) throws(ModelError) -> Cell {
        if case .null = value, isOptional { return .null }
        return try checkedElement(value, in: schema)
    }

    /// The reason why the property does not accept a value.
    func rejection(of value: BorrowedValue, _ schema: ModelSchema) -> ModelError {
        switch (value, type) {
        case (.string(let text), .string):
            text.count > Limits.valueBytes
                ? tooLong(text.count) : .invalidText(className: className, property: name)
        case (.data(let bytes), .data): tooLong(bytes.count)
        case (.date, .date): .invalidDate(className: className, property: name)
        case (.link(let target), .link): wrongTarget(target, schema)
        case (.null, _): .nullNotAllowed(className: className, property: name)
        default:
            .typeMismatch(
                className: className, property: name, expected: typeName, found: value.kindName)
        }
    }

    /// Throws unless the bytes may be a key of a dictionary: as in Realm, a key has no "." and does
    /// not begin with "$".
    func checkEntryKey(_ key: UnsafeRawBufferPointer) throws(ModelError) {
        let reason: String
        if key.count > Limits.valueBytes { throw tooLong(key.count) }
        if !UTF8Text.isValid(key) {
            throw .invalidText(className: className, property: name)
        } else if key.first == UInt8(ascii: "$") {
            reason = "begins with '$'"
        } else if key.contains(UInt8(ascii: ".")) {
            reason = "contains a '.'"
        } else {
            return
        }
        throw .invalidDictionaryKey(className: className, property: name, reason: reason)
    }

    private func tooLong(_ length: Int) -> ModelError {
        .valueTooLong(
            className: className, property: name, length: length, limit: Limits.valueBytes)
    }

    private func wrongTarget(_ target: ObjectRef, _ schema: ModelSchema) -> ModelError {
        let found = schema.anyClass(id: target.classID)?.name ?? "#\(target.classID)"
        return .wrongLinkTarget(
            className: className, property: name, expected: targetName ?? "?", found: found)
    }

    /// The error for setting a property that does not have one value.
    func notSettable(_ value: BorrowedValue) -> ModelError {
        isStored
            ? .isACollection(className: className, property: name, kind: collection)
            : .propertyNotWritable(className: className, property: name)
    }
}

extension PropertyHandle {
    var wrongCell: ModelError {
        .inconsistent("'\(className).\(name)' holds what its index can't")
    }
}
