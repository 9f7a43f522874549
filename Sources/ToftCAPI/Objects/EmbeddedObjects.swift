public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_object_set_embedded(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ property_keys: UnsafePointer<toft_property_key>?, _ values: UnsafePointer<toft_value>?,
    _ count: Int, _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
    _ out_link: UnsafeMutablePointer<toft_link>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let owner = try ResolvedHandle(object: object)
        try owner.create(property_keys, values, count, out_object, out_link) {
            assignments throws(EngineError) in
            try owner.object.setEmbedded(property_key, assignments)
        }
    }
}

@c @implementation
public func toft_list_set_embedded(
    _ list: OpaquePointer?, _ index: UInt64,
    _ property_keys: UnsafePointer<toft_property_key>?, _ values: UnsafePointer<toft_value>?,
    _ count: Int, _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
    _ out_link: UnsafeMutablePointer<toft_link>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list)
        try list.create(property_keys, values, count, out_object, out_link) {
            assignments throws(EngineError) in
            try list.collection.setEmbedded(assignments, at: Argument.index(index))
        }
    }
}

@c @implementation
public func toft_list_insert_embedded(
    _ list: OpaquePointer?, _ index: UInt64,
    _ property_keys: UnsafePointer<toft_property_key>?, _ values: UnsafePointer<toft_value>?,
    _ count: Int, _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
    _ out_link: UnsafeMutablePointer<toft_link>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list)
        try list.create(property_keys, values, count, out_object, out_link) {
            assignments throws(EngineError) in
            try list.collection.insertEmbedded(assignments, at: Argument.index(index))
        }
    }
}

@c @implementation
public func toft_dictionary_set_embedded(
    _ dictionary: OpaquePointer?, _ key: toft_string,
    _ property_keys: UnsafePointer<toft_property_key>?, _ values: UnsafePointer<toft_value>?,
    _ count: Int, _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
    _ out_link: UnsafeMutablePointer<toft_link>?
) -> toft_status {
    entry(dictionary) { () throws(EngineError) in
        let dictionary = try ResolvedHandle<CollectionBox>(dictionary, .dictionary)
        let key = try key.bytes
        try dictionary.create(property_keys, values, count, out_object, out_link) {
            assignments throws(EngineError) in
            try dictionary.collection.setEmbedded(assignments, forKey: key)
        }
    }
}

extension ResolvedHandle {
    /// Creates an embedded object with the values given.
    @inline(never)
    fileprivate func create(
        _ property_keys: UnsafePointer<toft_property_key>?,
        _ values: UnsafePointer<toft_value>?, _ count: Int,
        _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
        _ out_link: UnsafeMutablePointer<toft_link>?,
        _ body: (UnsafeBufferPointer<Assignment>) throws(EngineError) -> ObjectHandle
    ) throws(EngineError) {
        try BorrowedArguments.with { loan throws(EngineError) in
            let created = try body(try loan.assignments(property_keys, values, count))
            if let out_object { out_object.pointee = try handle(created) }
            out_link?.pointee = toft_link(created.ref)
        }
    }
}
