public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_object_get_set(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ out_set: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collection(of: object, property_key, .set, .set, out_set, "out_set")
}

@c @implementation
public func toft_set_is_valid(_ set: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?)
    -> toft_status
{
    collectionIsValid(set, .set, out_is_valid)
}

@c @implementation
public func toft_set_owner(
    _ set: OpaquePointer?, _ out_owner: UnsafeMutablePointer<toft_link>?,
    _ out_property_key: UnsafeMutablePointer<toft_property_key>?
) -> toft_status {
    collectionOwner(set, .set, out_owner, out_property_key)
}

@c @implementation
public func toft_set_count(_ set: OpaquePointer?, _ out_count: UnsafeMutablePointer<UInt64>?)
    -> toft_status
{
    collectionCount(set, .set, out_count)
}

@c @implementation
public func toft_set_get(
    _ set: OpaquePointer?, _ index: UInt64, _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    collectionGet(set, .set, index, out_value)
}

@c @implementation
public func toft_set_get_values(
    _ set: OpaquePointer?, _ first: UInt64, _ out_values: UnsafeMutablePointer<toft_value>?,
    _ capacity: Int,
    _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    collectionGetValues(set, .set, first, out_values, capacity, out_count)
}

@c @implementation
public func toft_set_find(
    _ set: OpaquePointer?, _ value: UnsafePointer<toft_value>?,
    _ out_index: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    collectionFind(set, .set, value, out_index)
}

@c @implementation
public func toft_set_insert(
    _ set: OpaquePointer?, _ value: UnsafePointer<toft_value>?,
    _ out_index: UnsafeMutablePointer<UInt64>?, _ out_inserted: UnsafeMutablePointer<Bool>?
) -> toft_status {
    onCollection(set, .set) { set throws(EngineError) in
        try BorrowedArguments.with(value, "value") { value throws(EngineError) in
            let position = try set.setInsert(value)
            out_index?.pointee = UInt64(position.index)
            out_inserted?.pointee = position.isNew
        }
    }
}

@c @implementation
public func toft_set_erase(
    _ set: OpaquePointer?, _ value: UnsafePointer<toft_value>?,
    _ out_erased: UnsafeMutablePointer<Bool>?
) -> toft_status {
    onCollection(set, .set) { set throws(EngineError) in
        let isErased = try set.setErase(try Value(copying: value, "value"))
        out_erased?.pointee = isErased
    }
}

@c @implementation
public func toft_set_clear(_ set: OpaquePointer?) -> toft_status {
    collectionClear(set, .set)
}

@c @implementation
public func toft_set_results(
    _ set: OpaquePointer?, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collectionResults(set, .set, out_results)
}

@c @implementation
public func toft_set_clone(
    _ set: OpaquePointer?, _ out_set: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collectionClone(set, .set, out_set, "out_set")
}

@c @implementation
public func toft_set_release(_ set: OpaquePointer?) {
    HandleTable.shared.release(set, .set)
}
