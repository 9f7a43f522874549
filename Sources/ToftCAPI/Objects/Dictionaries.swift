public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

@c @implementation
public func toft_object_get_dictionary(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ out_dictionary: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collection(of: object, property_key, .dictionary, .dictionary, out_dictionary, "out_dictionary")
}

@c @implementation
public func toft_dictionary_is_valid(
    _ dictionary: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?
)
    -> toft_status
{
    collectionIsValid(dictionary, .dictionary, out_is_valid)
}

@c @implementation
public func toft_dictionary_owner(
    _ dictionary: OpaquePointer?, _ out_owner: UnsafeMutablePointer<toft_link>?,
    _ out_property_key: UnsafeMutablePointer<toft_property_key>?
) -> toft_status {
    collectionOwner(dictionary, .dictionary, out_owner, out_property_key)
}

@c @implementation
public func toft_dictionary_count(
    _ dictionary: OpaquePointer?, _ out_count: UnsafeMutablePointer<UInt64>?
)
    -> toft_status
{
    collectionCount(dictionary, .dictionary, out_count)
}

@c @implementation
public func toft_dictionary_get(
    _ dictionary: OpaquePointer?, _ key: toft_string,
    _ out_value: UnsafeMutablePointer<toft_value>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> toft_status {
    onCollection(dictionary, .dictionary) { dictionary throws(EngineError) in
        let out = try Argument.out(out_value, "out_value")
        let index = try dictionary.index(ofKey: try key.bytes)
        if let index {
            out.pointee = try dictionary.valueInC(try dictionary.cell(at: index))
        } else {
            out.pointee = toft_value()
        }
        out_found?.pointee = index != nil
    }
}

@c @implementation
public func toft_dictionary_find(
    _ dictionary: OpaquePointer?, _ key: toft_string, _ out_index: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    onCollection(dictionary, .dictionary) { dictionary throws(EngineError) in
        let out = try Argument.out(out_index, "out_index")
        out.pointee = try dictionary.index(ofKey: try key.bytes).map { UInt64($0) } ?? noIndex
    }
}

@c @implementation
public func toft_dictionary_find_value(
    _ dictionary: OpaquePointer?, _ value: UnsafePointer<toft_value>?, _ first: UInt64,
    _ count: UInt64, _ out_index: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    collectionFind(dictionary, .dictionary, value, first, count, out_index)
}

@c @implementation
public func toft_dictionary_get_entries(
    _ dictionary: OpaquePointer?, _ first: UInt64,
    _ out_entries: UnsafeMutablePointer<toft_entry>?, _ capacity: Int,
    _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    onCollection(dictionary, .dictionary) { dictionary throws(EngineError) in
        let room = try Argument.room(out_entries, capacity, "out_entries")
        let out = try Argument.out(out_count, "out_count")
        let first = Argument.index(first)
        let keys = try dictionary.keyCells(from: first, limit: capacity)
        let values = try dictionary.cells(from: first, limit: capacity)
        var entries: [toft_entry] = []
        for (key, value) in zip(keys, values) {
            guard case .bytes(let key) = key else { continue }
            entries.append(
                toft_entry(key: toft_string(key), value: try dictionary.valueInC(value)))
        }
        Argument.fill(room, entries)
        out.pointee = entries.count
    }
}

@c @implementation
public func toft_dictionary_get_list(
    _ dictionary: OpaquePointer?, _ key: toft_string,
    _ out_list: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    nestedCollection(dictionary, .dictionary, .list, out_list, "out_list") {
        dictionary throws(EngineError) in try dictionary.nested(forKey: try key.bytes, .list)
    }
}

@c @implementation
public func toft_dictionary_get_dictionary(
    _ dictionary: OpaquePointer?, _ key: toft_string,
    _ out_dictionary: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    nestedCollection(dictionary, .dictionary, .dictionary, out_dictionary, "out_dictionary") {
        dictionary throws(EngineError) in try dictionary.nested(forKey: try key.bytes, .dictionary)
    }
}

@c @implementation
public func toft_dictionary_set(
    _ dictionary: OpaquePointer?, _ key: toft_string, _ value: UnsafePointer<toft_value>?,
    _ out_inserted: UnsafeMutablePointer<Bool>?
) -> toft_status {
    onCollection(dictionary, .dictionary) { dictionary throws(EngineError) in
        try BorrowedArguments.with(value, "value") { value throws(EngineError) in
            let position = try dictionary.dictionarySet(try key.bytes, value)
            out_inserted?.pointee = position.isNew
        }
    }
}

@c @implementation
public func toft_dictionary_erase(
    _ dictionary: OpaquePointer?, _ key: toft_string, _ out_erased: UnsafeMutablePointer<Bool>?
) -> toft_status {
    onCollection(dictionary, .dictionary) { dictionary throws(EngineError) in
        let isErased = try dictionary.dictionaryErase(try key.bytes)
        out_erased?.pointee = isErased
    }
}

@c @implementation
public func toft_dictionary_clear(_ dictionary: OpaquePointer?) -> toft_status {
    collectionClear(dictionary, .dictionary)
}

@c @implementation
public func toft_dictionary_results(
    _ dictionary: OpaquePointer?, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collectionResults(dictionary, .dictionary, out_results)
}

@c @implementation
public func toft_dictionary_clone(
    _ dictionary: OpaquePointer?, _ out_dictionary: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collectionClone(dictionary, .dictionary, out_dictionary, "out_dictionary")
}

@c @implementation
public func toft_dictionary_release(_ dictionary: OpaquePointer?) {
    HandleTable.shared.release(dictionary, .dictionary)
}

extension toft_string {
    /// A key of a dictionary.
    var bytes: UnsafeRawBufferPointer {
        get throws(EngineError) {
            _ = try Argument.text(self, "key")
            return try Argument.bytes(UnsafeRawPointer(data), size, "key")
        }
    }
}
