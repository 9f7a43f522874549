public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_realm_create_from_json(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ policy: toft_update_policy,
    _ json: toft_string, _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
    _ out_link: UnsafeMutablePointer<toft_link>?, _ out_created: UnsafeMutablePointer<Bool>?
) -> toft_status {
    toft_realm_create_from_json_with_flags(
        realm, class_key, policy, 0, json, out_object, out_link, out_created)
}

@c @implementation
public func toft_realm_create_from_json_with_flags(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ policy: toft_update_policy,
    _ flags: UInt32, _ json: toft_string, _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
    _ out_link: UnsafeMutablePointer<toft_link>?, _ out_created: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let policy = try UpdatePolicy(policy)
        try Argument.flags(flags, known: TOFT_JSON_REFUSE_UNKNOWN.rawValue, "flags")
        let text = try Argument.array(json.data, json.size, "json")
        let (object, isNew) = try ObjectsFromJSON.create(
            class_key, json: UnsafeRawBufferPointer(text), policy: policy,
            ignoresUnknown: flags & TOFT_JSON_REFUSE_UNKNOWN.rawValue == 0, in: realm.session)
        if let out_object { out_object.pointee = try realm.handle(object) }
        out_link?.pointee = toft_link(object.ref)
        out_created?.pointee = isNew
    }
}

@c @implementation
public func toft_object_to_json(
    _ object: OpaquePointer?, _ depth: UInt32, _ out_text: UnsafeMutablePointer<CChar>?,
    _ capacity: Int, _ out_size: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        let room = try Argument.room(out_text, capacity, "out_text")
        let size = try Argument.out(out_size, "out_size")
        let depth = try ObjectToJSON.checked(depth: Int(depth))
        size.pointee = Argument.fill(room, try object.json(depth: depth).description)
    }
}
