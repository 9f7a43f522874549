public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_realm_create_object(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ policy: toft_update_policy,
    _ property_keys: UnsafePointer<toft_property_key>?,
    _ values: UnsafePointer<toft_value>?, _ count: Int,
    _ out_object: UnsafeMutablePointer<OpaquePointer?>?,
    _ out_link: UnsafeMutablePointer<toft_link>?, _ out_created: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let policy = try UpdatePolicy(policy)
        try BorrowedArguments.with { loan throws(EngineError) in
            let assignments = try loan.assignments(property_keys, values, count)
            let (object, isNew) = try realm.session.create(class_key, assignments, policy: policy)
            if let out_object { out_object.pointee = try realm.handle(object) }
            out_link?.pointee = toft_link(object.ref)
            out_created?.pointee = isNew
        }
    }
}

@c @implementation
public func toft_realm_find_object(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ primary_key: UnsafePointer<toft_value>?,
    _ out_object: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.out(out_object, "out_object")
        try BorrowedArguments.with(primary_key, "primary_key") { key throws(EngineError) in
            out.pointee = try realm.handle(try realm.session.find(key, in: class_key))
        }
    }
}

@c @implementation
public func toft_realm_follow(
    _ realm: OpaquePointer?, _ link: toft_link, _ out_object: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.out(out_object, "out_object")
        out.pointee = try realm.handle(try realm.session.object(ObjectRef(link)))
    }
}

@c @implementation
public func toft_object_link(_ object: OpaquePointer?, _ out_link: UnsafeMutablePointer<toft_link>?)
    -> toft_status
{
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        let out = try Argument.out(out_link, "out_link")
        try object.session.check()
        out.pointee = toft_link(object.ref)
    }
}

@c @implementation
public func toft_object_is_valid(
    _ object: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        let out = try Argument.out(out_is_valid, "out_is_valid")
        out.pointee = try object.isValid
    }
}

@c @implementation
public func toft_object_matches(
    _ object: OpaquePointer?, _ query: OpaquePointer?, _ arguments: UnsafePointer<toft_value>?,
    _ argument_count: Int, _ out_matches: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        let query = try Argument.query(query)
        let out = try Argument.out(out_matches, "out_matches")
        out.pointee = try object.matches(
            query, arguments: try Argument.arguments(arguments, argument_count))
    }
}

@c @implementation
public func toft_object_delete(_ object: OpaquePointer?) -> toft_status {
    entry(object) { () throws(EngineError) in
        try ResolvedHandle(object: object).object.delete()
    }
}

@c @implementation
public func toft_realm_delete_all(_ realm: OpaquePointer?, _ class_key: toft_class_key)
    -> toft_status
{
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        try session.check()
        try session.deleteAll(
            class_key == .max ? session.schema.visibleClasses.map(\.id) : [class_key])
    }
}

@c @implementation
public func toft_object_clone(
    _ object: OpaquePointer?, _ out_object: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object)
        let out = try Argument.out(out_object, "out_object")
        try object.object.session.check()
        out.pointee = try object.clone(.object)
    }
}

@c @implementation
public func toft_object_release(_ object: OpaquePointer?) {
    HandleTable.shared.release(object, .object)
}

extension UpdatePolicy {
    init(_ policy: toft_update_policy) throws(EngineError) {
        switch policy {
        case TOFT_UPDATE_ERROR: self = .error
        case TOFT_UPDATE_ALL: self = .all
        case TOFT_UPDATE_MODIFIED: self = .modified
        default: throw .invalidArgument("There is no update policy \(policy.rawValue).")
        }
    }
}
