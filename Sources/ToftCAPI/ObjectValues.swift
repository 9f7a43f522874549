public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

@c @implementation
public func toft_object_get(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        let out = try Argument.out(out_value, "out_value")
        var value = toft_value()
        try withUnsafePointer(to: property_key) { key throws(EngineError) in
            try object.forEachCell(UnsafeBufferPointer(start: key, count: 1)) { property, cell in
                value = toft_value(cell, property)
            }
        }
        out.pointee = try value.sound()
    }
}

@c @implementation
public func toft_object_set(
    _ object: OpaquePointer?, _ property_key: toft_property_key, _ value: UnsafePointer<toft_value>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        try BorrowedArguments.with { loan throws(EngineError) in
            try object.set(property_key, try loan.value(value, "value"))
        }
    }
}

@c @implementation
public func toft_object_get_values(
    _ object: OpaquePointer?, _ property_keys: UnsafePointer<toft_property_key>?, _ count: Int,
    _ out_values: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        let keys = try Argument.properties(property_keys, count)
        let room = try Argument.room(out_values, count, "out_values")
        // Into memory of our own first: nothing may be written when the last property fails.
        try withUnsafeTemporaryAllocation(of: toft_value.self, capacity: count) {
            values throws(EngineError) in
            var index = 0
            try object.forEachCell(keys) { property, cell in
                values.initializeElement(at: index, to: toft_value(cell, property))
                index += 1
            }
            for index in 0..<count { _ = try values[index].sound() }
            for index in 0..<count { room[index] = values[index] }
        }
    }
}

@c @implementation
public func toft_object_set_values(
    _ object: OpaquePointer?, _ property_keys: UnsafePointer<toft_property_key>?,
    _ values: UnsafePointer<toft_value>?, _ count: Int
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        try BorrowedArguments.with { loan throws(EngineError) in
            try object.set(try loan.assignments(property_keys, values, count))
        }
    }
}

@c @implementation
public func toft_object_add(
    _ object: OpaquePointer?, _ property_key: toft_property_key, _ amount: Int64
) -> toft_status {
    entry(object) { () throws(EngineError) in
        try ResolvedHandle(object: object).object.add(amount, to: property_key)
    }
}

@c @implementation
public func toft_object_linking_objects(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object)
        let out = try Argument.out(out_results, "out_results")
        out.pointee = try object.handle(try object.object.linkingObjects(property_key))
    }
}

extension toft_value {
    /// The value of a property, as long as the cell is valid.
    fileprivate init(_ cell: Cell, _ property: PropertyHandle) {
        self.init(cell, property.type, target: property.targetClassID)
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
