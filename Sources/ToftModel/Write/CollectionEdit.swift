internal import ToftStorage

/// A change of a list or a dictionary, one of an object or one within a mixed value.
package enum CollectionEdit {
    case insert(UnsafeBufferPointer<BorrowedValue>, at: Int)
    case append(UnsafeBufferPointer<BorrowedValue>)
    case set(BorrowedValue, at: Int)
    case erase(Range<Int>)
    case move(from: Int, to: Int)
    case swap(Int, Int)
    case setEntry(UnsafeRawBufferPointer, BorrowedValue)
    case eraseEntry(UnsafeRawBufferPointer)
    /// Everything, by a list or a dictionary as the collection is one; by null: it is emptied.
    case assign(BorrowedValue)
}

extension ModelTransaction {
    /// Changes a collection of an object, or with `ref` one within its mixed value: then the whole
    /// value is written anew, in O(its bytes). All or nothing.
    /// - Returns: the place of an entry, and whether it existed before; nothing for all other
    ///   edits.
    @discardableResult
    package func edit(
        _ key: Int64, _ property: PropertyHandle, _ ref: NestedRef?, _ edit: CollectionEdit
    ) throws(ModelError) -> OrderedPosition {
        if let ref { return try editNested(key, property, ref, edit) }
        switch edit {
        case .insert(let values, let index): try listInsert(key, property, at: index, values)
        case .append(let values): try listAppend(key, property, values)
        case .set(let value, let index): try listSet(key, property, at: index, value)
        case .erase(let range): try listErase(key, property, range)
        case .move(let from, let to): try listMove(key, property, from: from, to: to)
        case .swap(let first, let second): try listSwap(key, property, first, second)
        case .setEntry(let name, let value):
            let entry = try dictionarySet(key, property, name, value)
            return OrderedPosition(index: entry.index, isFound: !entry.isNew)
        case .eraseEntry(let name):
            return OrderedPosition(index: 0, isFound: try dictionaryErase(key, property, name))
        case .assign(.null): try clear(key, property)
        case .assign(let value): try assign(value, to: key, property)
        }
        return .none
    }

    private func editNested(
        _ key: Int64, _ property: PropertyHandle, _ ref: NestedRef, _ edit: CollectionEdit
    ) throws(ModelError) -> OrderedPosition {
        let (new, index, position) = try edited(key, property, ref, edit)
        if case .eraseEntry = edit, !position.isFound { return position }
        arena.reset()
        let cell = new.withUnsafeBytes { Cell.bytes(arena.copy($0)) }
        if property.isCollection {
            try replace(index, of: key, property, by: cell)
        } else {
            try put(cell, to: key, property)
        }
        return position
    }

    /// The mixed value that an edit makes, and the index that it has in its collection.
    func edited(
        _ key: Int64, _ property: PropertyHandle, _ ref: NestedRef, _ edit: CollectionEdit
    ) throws(ModelError) -> (bytes: [UInt8], index: Int, position: OrderedPosition) {
        let (source, path, index) = try view.locate(key, property, ref)
        let old = Array(source)
        var position = OrderedPosition.none
        let new = try old.withBytes { bytes throws(ModelError) in
            var content = try NestedContent(bytes, path, self, property)
            position = try content.apply(edit)
            return try content.encoded(in: bytes, path)
        }
        return (new, index, position)
    }
}

extension OrderedPosition {
    fileprivate static let none = OrderedPosition(index: 0, isFound: false)
}

/// The elements of a collection while it is edited.
private struct NestedContent {
    private enum Element {
        case old(MixedElement)
        /// Of a dictionary with its key.
        case new([UInt8])
    }

    let transaction: ModelTransaction
    let property: PropertyHandle
    let depth: Int
    let kind: CollectionKind
    private var elements: [Element] = []

    init(
        _ bytes: UnsafeRawBufferPointer, _ path: [Int], _ transaction: ModelTransaction,
        _ property: PropertyHandle
    ) throws(ModelError) {
        guard let offset = path.last,
            case .collection(let collection) = try MixedValue(at: offset, in: bytes)
        else { throw MixedFormat.damaged }
        self.transaction = transaction
        self.property = property
        depth = path.count
        kind = collection.kind
        var iterator = collection.elements
        while let element = try iterator.next() { elements.append(.old(element)) }
    }

    /// The place of an entry, and whether it existed before.
    mutating func apply(_ edit: CollectionEdit) throws(ModelError) -> OrderedPosition {
        switch edit {
        case .append(let values):
            try require(.list)
            elements.append(contentsOf: try values.map(encoded))
        case .insert(let values, let index):
            try require(.list)
            guard index >= 0, index <= elements.count else {
                throw .indexOutOfRange(index: index, count: elements.count + 1)
            }
            elements.insert(contentsOf: try values.map(encoded), at: index)
        case .set(let value, let index):
            try check(index)
            elements[index] = try encoded(value)
        case .erase(let range):
            guard range.lowerBound >= 0, range.upperBound <= elements.count else {
                throw .indexOutOfRange(
                    index: range.lowerBound < 0 || range.isEmpty
                        ? range.lowerBound : range.upperBound - 1, count: elements.count)
            }
            elements.removeSubrange(range)
        case .move(let from, let to):
            try check(from)
            try check(to)
            elements.insert(elements.remove(at: from), at: to)
        case .swap(let first, let second):
            try check(first)
            try check(second)
            elements.swapAt(first, second)
        case .setEntry(let key, let value):
            try require(.dictionary)
            let entry = try encoded(key, value)
            let position = position(of: key)
            if position.isFound {
                elements[position.index] = entry
            } else {
                elements.insert(entry, at: position.index)
            }
            return position
        case .eraseEntry(let key):
            try require(.dictionary)
            let position = position(of: key)
            if position.isFound { elements.remove(at: position.index) }
            return position
        case .assign(let value): try assign(value)
        }
        return .none
    }

    private mutating func assign(_ value: BorrowedValue) throws(ModelError) {
        switch (value, kind) {
        case (.null, _): elements = []
        case (.list(let values), .list): elements = try values.map(encoded)
        case (.dictionary(let entries), .dictionary):
            elements = []
            for entry in BorrowedEntry.ascending(entries) {
                elements.append(try encoded(entry.key, entry.value))
            }
        default:
            throw .typeMismatch(
                className: property.className, property: property.name, expected: kind.name,
                found: value.kindName)
        }
    }

    private func encoded(_ value: BorrowedValue) throws(ModelError) -> Element {
        var writer = MixedWriter(transaction, property)
        try writer.put(value, depth: depth)
        return .new(writer.bytes)
    }

    private func encoded(_ key: UnsafeRawBufferPointer, _ value: BorrowedValue) throws(ModelError)
        -> Element
    {
        var writer = MixedWriter(transaction, property)
        try writer.putKey(key)
        try writer.put(value, depth: depth)
        return .new(writer.bytes)
    }

    private func require(_ kind: CollectionKind) throws(ModelError) {
        if self.kind != kind { throw property.notNested(kind) }
    }

    private func check(_ index: Int) throws(ModelError) {
        try require(.list)
        guard index >= 0, index < elements.count else {
            throw .indexOutOfRange(index: index, count: elements.count)
        }
    }

    private func position(of key: UnsafeRawBufferPointer) -> OrderedPosition {
        for (index, element) in elements.enumerated() {
            guard case .old(let element) = element, !element.key.isBefore(key) else { continue }
            return OrderedPosition(index: index, isFound: element.key.isSame(as: key))
        }
        return OrderedPosition(index: elements.count, isFound: false)
    }

    /// The whole value with the new elements.
    func encoded(in bytes: UnsafeRawBufferPointer, _ path: [Int]) throws(ModelError) -> [UInt8] {
        guard let offset = path.last else { throw MixedFormat.damaged }
        let start = offset + MixedFormat.collectionHeader
        let length = try MixedFormat.number(bytes, at: offset + MixedFormat.lengthOffset)
        var new = [UInt8](bytes[..<start])
        for element in elements {
            switch element {
            case .old(let element): new.append(contentsOf: element.entry)
            case .new(let bytes): new.append(contentsOf: bytes)
            }
        }
        let difference = new.count - start - length
        new.append(contentsOf: bytes[(start + length)...])
        guard new.count <= Limits.valueBytes else {
            throw .valueTooLong(
                className: property.className, property: property.name, length: new.count,
                limit: Limits.valueBytes)
        }
        for offset in path {
            let length = try MixedFormat.number(bytes, at: offset + MixedFormat.lengthOffset)
            store(length + difference, at: offset + MixedFormat.lengthOffset, in: &new)
        }
        store(elements.count, at: offset + MixedFormat.countOffset, in: &new)
        return new
    }
}
