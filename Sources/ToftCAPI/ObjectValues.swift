public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_object_get(
    _ object: OpaquePointer?, _ property_key: toft_property_key, _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry { () throws(EngineError) in
        let object = try Named(object: object).object
        let out = try Argument.out(out_value, "out_value")
        out.pointee = try object.valueInC(property_key)
    }
}

@c @implementation
public func toft_object_set(
    _ object: OpaquePointer?, _ property_key: toft_property_key, _ value: UnsafePointer<toft_value>?
) -> toft_status {
    entry { () throws(EngineError) in
        let object = try Named(object: object).object
        let loan = Loan()
        defer { withExtendedLifetime(loan) {} }
        let lent = try loan.value(value, "value")
        guard case .list = lent else { return try object.set(property_key, lent) }
        try object.set(loan.assignment(property_key, lent))
    }
}

@c @implementation
public func toft_object_get_values(
    _ object: OpaquePointer?, _ property_keys: UnsafePointer<toft_property_key>?, _ count: Int, _ out_values: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry { () throws(EngineError) in
        let object = try Named(object: object).object
        let keys = try Argument.properties(property_keys, count)
        let room = try Argument.room(out_values, count, "out_values")
        // Into memory of our own first: nothing may be written when the last property fails.
        var values: [toft_value] = []
        values.reserveCapacity(count)
        for key in keys { values.append(try object.valueInC(key)) }
        Argument.fill(room, values)
    }
}

@c @implementation
public func toft_object_set_values(
    _ object: OpaquePointer?, _ property_keys: UnsafePointer<toft_property_key>?, _ values: UnsafePointer<toft_value>?, _ count: Int
) -> toft_status {
    entry { () throws(EngineError) in
        let object = try Named(object: object).object
        let loan = Loan()
        defer { withExtendedLifetime(loan) {} }
        try object.set(try loan.assignments(property_keys, values, count))
    }
}

@c @implementation
public func toft_object_linking_objects(
    _ object: OpaquePointer?, _ property_key: toft_property_key, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry { () throws(EngineError) in
        let object = try Named(object: object)
        let out = try Argument.out(out_results, "out_results")
        out.pointee = try object.handle(try object.object.linkingObjects(property_key))
    }
}

extension ObjectHandle {
    /// A property as C sees it, borrowed.
    fileprivate func valueInC(_ key: PropertyID) throws(EngineError) -> toft_value {
        let property = try property(key)
        return toft_value(try cell(key), property.type, target: property.targetClassID)
    }
}

extension Argument {
    /// Keys of properties of one class.
    static func properties(
        _ keys: UnsafePointer<toft_property_key>?, _ count: Int
    ) throws(EngineError) -> UnsafeBufferPointer<toft_property_key> {
        let keys = try array(keys, count, "property_keys")
        guard count <= Limits.propertiesPerClass else {
            throw .invalidArgument("\(count) properties are more than a class can have.")
        }
        return keys
    }
}
