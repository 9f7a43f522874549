internal import ToftModel
internal import ToftStorage

/// Lists and dictionaries within mixed values. The records say only that the whole value was set,
/// so the elements before and after are compared. A list or dictionary among them is unchanged as
/// long as it has its id; an element counts as modified if another one replaced it, or if it links
/// to an object that changed.
extension ChangeCalculation {
    mutating func nestedChange(of ref: CollectionRef) throws(EngineError) -> CollectionChange {
        let before = try model { () throws(ModelError) in try old.nested(ref) },
            after = try model { () throws(ModelError) in try new.nested(ref) }
        guard let before else { return CollectionChange() }
        var change = CollectionChange.rootDeleted(count: before.elements.count)
        if let after {
            let count = after.elements.count
            let isModified: (MixedElement) throws(EngineError) -> Bool = {
                element throws(EngineError) in
                guard !changes.modified.isEmpty else { return false }
                let links = try model { () throws(ModelError) in try element.value().links() }
                return try isAnyModified(links, rowCount: count)
            }
            change =
                try before.isDictionary
                ? before.keyedChange(to: after, isModified)
                : before.change(to: after, isModified)
        }
        if before.isDictionary, !change.isEmpty {
            change.keys = KeyChange(
                deletions: before.keys(at: change.deletions),
                insertions: after?.keys(at: change.insertions) ?? [],
                modifications: after?.keys(at: change.modificationsNew) ?? [])
        }
        return change
    }
}

extension NestedElements {
    fileprivate func keys(at indices: IndexRanges) -> [String] {
        indices.map { String(decoding: elements[$0].key, as: UTF8.self) }
    }

    /// The change of a list.
    fileprivate func change(
        to after: NestedElements, _ isModified: (MixedElement) throws(EngineError) -> Bool
    ) throws(EngineError) -> CollectionChange {
        var names = ValueNames()
        let old = names.names(of: try identities()), new = names.names(of: try after.identities())
        let indices = Dictionary(zip(old, elements.indices)) { first, _ in first }
        let newIndices = Dictionary(zip(new, after.elements.indices)) { first, _ in first }
        let change = try SequenceDifference.between(old, new) { name throws(EngineError) in
            guard let index = indices[name], let newIndex = newIndices[name] else { return false }
            let element = after.elements[newIndex]
            guard elements[index].bytes.isSame(as: element.bytes) else { return true }
            return try isModified(element)
        }
        return change.withReplacements(of: elements.count, by: after.elements.count)
    }

    /// The identity of elements: of a list or dictionary its id.
    private func identities() throws(EngineError) -> [Value] {
        try model { () throws(ModelError) in
            var values: [Value] = []
            for element in elements {
                switch try element.value() {
                case .scalar(let value): values.append(try value.owned())
                case .collection(let collection):
                    values.append(.list([.int(Int64(bitPattern: collection.id))]))
                }
            }
            return values
        }
    }

    /// The change of a dictionary, whose keys ascend.
    fileprivate func keyedChange(
        to after: NestedElements, _ isModified: (MixedElement) throws(EngineError) -> Bool
    ) throws(EngineError) -> CollectionChange {
        var change = CollectionChange(), index = 0, next = 0
        while index < elements.count || next < after.elements.count {
            let old = index < elements.count ? elements[index] : nil,
                new = next < after.elements.count ? after.elements[next] : nil
            if let old, let new, old.key.isSame(as: new.key) {
                let isSet = !old.bytes.isSame(as: new.bytes)
                if try isSet ? true : isModified(new) {
                    change.modifications.append(index)
                    change.modificationsNew.append(next)
                }
                (index, next) = (index + 1, next + 1)
            } else if let old, new.map({ old.key.isBefore($0.key) }) ?? true {
                change.deletions.append(index)
                index += 1
            } else {
                change.insertions.append(next)
                next += 1
            }
        }
        return change
    }
}

extension CollectionChange {
    /// The change with a modification for each deletion and insertion at one place.
    fileprivate func withReplacements(of oldCount: Int, by newCount: Int) -> CollectionChange {
        var change = CollectionChange(), index = 0, next = 0
        while index < oldCount || next < newCount {
            let isDeleted = deletions.contains(index), isInserted = insertions.contains(next)
            if isDeleted != isInserted {
                if isDeleted { change.deletions.append(index) }
                if isInserted { change.insertions.append(next) }
            } else if isDeleted || modifications.contains(index) {
                change.modifications.append(index)
                change.modificationsNew.append(next)
            }
            if isDeleted || !isInserted { index += 1 }
            if isInserted || !isDeleted { next += 1 }
        }
        return change
    }
}
