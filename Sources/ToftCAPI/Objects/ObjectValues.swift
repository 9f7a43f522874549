public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

@c @implementation
public func toft_object_get(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        try HandleTable.shared.look(object, .object) { (named: ObjectBox) throws(EngineError) in
            let out = try Argument.out(out_value, "out_value")
            var value = toft_value()
            try withUnsafePointer(to: property_key) { key throws(EngineError) in
                try named.object.forEachCell(UnsafeBufferPointer(start: key, count: 1)) {
                    value = toft_value($2, $0, target: $1)
                }
            }
            out.pointee = try value.sound()
        }
    }
}

@c @implementation
public func toft_object_set(
    _ object: OpaquePointer?, _ property_key: toft_property_key, _ value: UnsafePointer<toft_value>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object).object
        try BorrowedArguments.with(value, "value") { value throws(EngineError) in
            try object.set(property_key, value)
        }
    }
}

@c @implementation
public func toft_object_get_values(
    _ object: OpaquePointer?, _ property_keys: UnsafePointer<toft_property_key>?, _ count: Int,
    _ out_values: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        try HandleTable.shared.look(object, .object) { (named: ObjectBox) throws(EngineError) in
            // The reference is unmanaged because a closure's captures are counted.
            let lent = Unmanaged.passUnretained(named)
            try ValueRoom.fill(property_keys, count, out_values) { keys, body throws(EngineError) in
                try lent.borrow { named throws(EngineError) in
                    try named.object.forEachCell(keys, body)
                }
                return true
            }
        }
    }
}

@c @implementation
public func toft_results_object_values(
    _ results: OpaquePointer?, _ index: UInt64,
    _ property_keys: UnsafePointer<toft_property_key>?, _ count: Int,
    _ out_values: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        try HandleTable.shared.look(results, .results) { (named: ResultsBox) throws(EngineError) in
            // The reference is unmanaged because a closure's captures are counted.
            let lent = Unmanaged.passUnretained(named)
            try ValueRoom.fill(property_keys, count, out_values) { keys, body throws(EngineError) in
                try lent.borrow { named throws(EngineError) in
                    try named.results.forEachCell(at: Argument.index(index), keys, body)
                }
                return true
            }
        }
    }
}

@c @implementation
public func toft_realm_follow_values(
    _ realm: OpaquePointer?, _ link: toft_link,
    _ property_keys: UnsafePointer<toft_property_key>?, _ count: Int,
    _ out_values: UnsafeMutablePointer<toft_value>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        try HandleTable.shared.look(realm, .realm) { (named: RealmBox) throws(EngineError) in
            let session = named.lentSession
            let out = try Argument.out(out_found, "out_found")
            out.pointee = try ValueRoom.fill(property_keys, count, out_values) {
                keys, body throws(EngineError) in
                try session.borrow { session throws(EngineError) in
                    try session.forEachCell(of: ObjectRef(link), keys, body)
                }
            }
        }
    }
}

@c @implementation
public func toft_realm_find_values(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ primary_key: UnsafePointer<toft_value>?,
    _ property_keys: UnsafePointer<toft_property_key>?, _ count: Int,
    _ out_values: UnsafeMutablePointer<toft_value>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        try HandleTable.shared.look(realm, .realm) { (named: RealmBox) throws(EngineError) in
            let session = named.lentSession
            let out = try Argument.out(out_found, "out_found")
            try BorrowedArguments.with(primary_key, "primary_key") { key throws(EngineError) in
                out.pointee = try ValueRoom.fill(property_keys, count, out_values) {
                    keys, body throws(EngineError) in
                    try session.borrow { session throws(EngineError) in
                        try session.forEachCell(ofPrimaryKey: key, in: class_key, keys, body)
                    }
                }
            }
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

/// Room for values of properties.
private enum ValueRoom {
    /// Has an object read, first into memory of our own: nothing may be written when the last
    /// property fails.
    /// - Parameter read: calls its argument with each value; false if the object does not exist.
    /// - Returns: the result of `read`.
    @discardableResult
    @inline(__always)
    static func fill(
        _ keys: UnsafePointer<toft_property_key>?, _ count: Int,
        _ room: UnsafeMutablePointer<toft_value>?,
        _ read: (UnsafeBufferPointer<toft_property_key>, CellReceiver) throws(EngineError) -> Bool
    ) throws(EngineError) -> Bool {
        let keys = try Argument.properties(keys, count)
        let room = try Argument.room(room, count, "out_values")
        return try withUnsafeTemporaryAllocation(of: toft_value.self, capacity: count) {
            values throws(EngineError) in
            var index = 0
            let isThere = try read(keys) {
                values.initializeElement(at: index, to: toft_value($2, $0, target: $1))
                index += 1
            }
            guard isThere else { return false }
            for index in 0..<count { _ = try values[index].sound() }
            for index in 0..<count { room[index] = values[index] }
            return true
        }
    }
}
