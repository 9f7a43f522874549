internal import ToftPlatform
internal import ToftStorage

extension MixedFormat {
    /// An encoded value with null in place of some links; nil if it has no such links.
    static func replacing(
        linksTo isDeleted: (ObjectRef) -> Bool, in bytes: UnsafeRawBufferPointer
    ) throws(ModelError) -> [UInt8]? {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        return try append(bytes, to: &copy, isDeleted, 0) ? copy : nil
    }

    private static func append(
        _ bytes: UnsafeRawBufferPointer, to copy: inout [UInt8],
        _ isDeleted: (ObjectRef) -> Bool, _ depth: Int
    ) throws(ModelError) -> Bool {
        switch try MixedValue(encoded: bytes) {
        case .scalar(.link(let target)) where isDeleted(target):
            copy.append(0)
            return true
        case .scalar:
            copy.append(contentsOf: bytes)
            return false
        case .collection(let collection):
            guard depth < Limits.nestedCollections else { throw damaged }
            try ModelError.requireStack()
            let start = copy.count
            copy.append(contentsOf: bytes[..<collectionHeader])
            var elements = collection.elements, isChanged = false
            while let element = try elements.next() {
                copy.append(
                    contentsOf: element.entry[..<(element.entry.count - element.bytes.count)])
                if try append(element.bytes, to: &copy, isDeleted, depth + 1) { isChanged = true }
            }
            store(copy.count - start - collectionHeader, at: start + lengthOffset, in: &copy)
            return isChanged
        }
    }

    /// Whether two values are alike in all but the ids of their collections.
    static func isIdentical(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, depth: Int = 0
    ) -> Bool {
        guard left.count == right.count else { return false }
        guard let tag = left.first, tag >= list else { return left.isSame(as: right) }
        guard depth < Limits.nestedCollections, ThreadStack.hasRoom(), tag == right.first,
            case .collection(let one)? = try? MixedValue(encoded: left),
            case .collection(let other)? = try? MixedValue(encoded: right), one.count == other.count
        else { return false }
        var elements = one.elements, others = other.elements
        while let first = try? elements.next(), let second = try? others.next() {
            guard first.key.isSame(as: second.key),
                isIdentical(first.bytes, second.bytes, depth: depth + 1)
            else { return false }
        }
        return true
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
