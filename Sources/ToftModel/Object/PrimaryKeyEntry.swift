internal import ToftPlatform
internal import ToftStorage

/// The entries of a primary key tree.
enum PrimaryKeyEntry {
    static func objectKey(_ value: UnsafeRawBufferPointer, _ property: PropertyHandle)
        throws(ModelError) -> Int64
    {
        guard let base = value.baseAddress, value.count <= 8 else {
            if value.isEmpty { return 0 }
            throw .inconsistent(
                "an entry of the primary key '\(property.className).\(property.name)' is "
                    + "\(value.count) bytes long"
            )
        }
        // Two loads, which overlap for values shorter than both.
        let size = value.count
        let key: UInt64 =
            switch size {
            case 4...:
                UInt64(base.loadUnaligned(as: UInt32.self).littleEndian)
                    | UInt64(
                        base.loadUnaligned(fromByteOffset: size &- 4, as: UInt32.self).littleEndian)
                    << UInt64(8 &* (size &- 4))
            case 2...:
                UInt64(base.loadUnaligned(as: UInt16.self).littleEndian)
                    | UInt64(
                        base.loadUnaligned(fromByteOffset: size &- 2, as: UInt16.self).littleEndian)
                    << UInt64(8 &* (size &- 2))
            case 1: UInt64(base.load(as: UInt8.self))
            default: 0
            }
        return Int64(bitPattern: key)
    }

    /// Bytes of an object key without the zeros at its end.
    @inline(__always)
    static func size(_ objectKey: Int64) -> Int {
        8 &- objectKey.leadingZeroBitCount / 8
    }
}

extension TreeReader {
    /// Calls `body` with each entry whose key begins with `prefix`, in order, until it returns
    /// false.
    func forEachEntry(
        withPrefix prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(ModelError)
            -> Bool
    ) throws(ModelError) {
        var failure: ModelError?
        try stored { () throws(StorageError) in
            try forEachStoredEntry(withPrefix: prefix) { key, value in
                do throws(ModelError) { return try body(key, value) } catch {
                    failure = error
                    return false
                }
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` with each entry whose key is not before `start`, in order, until it returns
    /// false.
    func forEachEntry(
        from start: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(ModelError)
            -> Bool
    ) throws(ModelError) {
        let cursor = try stored { () throws(StorageError) in try self.cursor() }
        var isThere = try stored { () throws(StorageError) in try cursor.seek(start) }
        while isThere {
            let value = try stored { () throws(StorageError) in try cursor.value }
            guard try body(cursor.key, value) else { return }
            isThere = try stored { () throws(StorageError) in try cursor.next() }
        }
    }
}
