public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

@c @implementation
public func toft_object_list(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ out_list: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collection(of: object, property_key, .list, .list, out_list, "out_list")
}

@c @implementation
public func toft_list_is_valid(_ list: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?)
    -> toft_status
{
    collectionIsValid(list, .list, out_is_valid)
}

@c @implementation
public func toft_list_owner(
    _ list: OpaquePointer?, _ out_owner: UnsafeMutablePointer<toft_link>?,
    _ out_property_key: UnsafeMutablePointer<toft_property_key>?
) -> toft_status {
    collectionOwner(list, .list, out_owner, out_property_key)
}

@c @implementation
public func toft_list_count(_ list: OpaquePointer?, _ out_count: UnsafeMutablePointer<UInt64>?)
    -> toft_status
{
    collectionCount(list, .list, out_count)
}

@c @implementation
public func toft_list_get(
    _ list: OpaquePointer?, _ index: UInt64, _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    collectionGet(list, .list, index, out_value)
}

@c @implementation
public func toft_list_get_values(
    _ list: OpaquePointer?, _ first: UInt64, _ out_values: UnsafeMutablePointer<toft_value>?,
    _ capacity: Int,
    _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    collectionGetValues(list, .list, first, out_values, capacity, out_count)
}

@c @implementation
public func toft_list_get_list(
    _ list: OpaquePointer?, _ index: UInt64, _ out_list: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    nestedCollection(list, .list, .list, out_list, "out_list") { list throws(EngineError) in
        try list.nested(at: Argument.index(index), .list)
    }
}

@c @implementation
public func toft_list_get_dictionary(
    _ list: OpaquePointer?, _ index: UInt64,
    _ out_dictionary: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    nestedCollection(list, .list, .dictionary, out_dictionary, "out_dictionary") {
        list throws(EngineError) in try list.nested(at: Argument.index(index), .dictionary)
    }
}

@c @implementation
public func toft_list_set(
    _ list: OpaquePointer?, _ index: UInt64, _ value: UnsafePointer<toft_value>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).collection
        try BorrowedArguments.with(value, "value") { value throws(EngineError) in
            try list.set(value, at: Argument.index(index))
        }
    }
}

@c @implementation
public func toft_list_insert(
    _ list: OpaquePointer?, _ index: UInt64, _ values: UnsafePointer<toft_value>?, _ count: Int
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).collection
        try BorrowedArguments.with { loan throws(EngineError) in
            try list.insert(try loan.values(values, count, "values"), at: Argument.index(index))
        }
    }
}

@c @implementation
public func toft_list_append(
    _ list: OpaquePointer?, _ values: UnsafePointer<toft_value>?, _ count: Int
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).collection
        try BorrowedArguments.with { loan throws(EngineError) in
            try list.append(try loan.values(values, count, "values"))
        }
    }
}

@c @implementation
public func toft_list_erase(_ list: OpaquePointer?, _ first: UInt64, _ count: UInt64) -> toft_status
{
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).collection
        let (end, isBeyond) = first.addingReportingOverflow(count)
        try list.erase(Argument.index(first)..<Argument.index(isBeyond ? .max : end))
    }
}

@c @implementation
public func toft_list_move(_ list: OpaquePointer?, _ from: UInt64, _ to: UInt64) -> toft_status {
    entry(list) { () throws(EngineError) in
        try ResolvedHandle(list: list).collection.move(
            from: Argument.index(from), to: Argument.index(to))
    }
}

@c @implementation
public func toft_list_swap(_ list: OpaquePointer?, _ first: UInt64, _ second: UInt64) -> toft_status
{
    entry(list) { () throws(EngineError) in
        try ResolvedHandle(list: list).collection.swap(
            Argument.index(first), Argument.index(second))
    }
}

@c @implementation
public func toft_list_clear(_ list: OpaquePointer?) -> toft_status {
    collectionClear(list, .list)
}

@c @implementation
public func toft_list_find(
    _ list: OpaquePointer?, _ value: UnsafePointer<toft_value>?,
    _ out_index: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    collectionFind(list, .list, value, out_index)
}

@c @implementation
public func toft_list_find_in(
    _ list: OpaquePointer?, _ value: UnsafePointer<toft_value>?, _ first: UInt64,
    _ count: UInt64, _ out_index: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    collectionFind(list, .list, value, first, count, out_index)
}

@c @implementation
public func toft_list_results(
    _ list: OpaquePointer?, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collectionResults(list, .list, out_results)
}

@c @implementation
public func toft_list_clone(
    _ list: OpaquePointer?, _ out_list: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    collectionClone(list, .list, out_list, "out_list")
}

@c @implementation
public func toft_list_release(_ list: OpaquePointer?) {
    HandleTable.shared.release(list, .list)
}
