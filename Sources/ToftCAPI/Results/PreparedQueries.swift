public import CToft
internal import ToftEngine
internal import ToftPlatform
internal import ToftQuery

@c @implementation
public func toft_query_new(
    _ text: toft_string, _ out_query: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry { () throws(EngineError) in
        let out = try Argument.out(out_query, "out_query")
        let text = try Argument.text(text, "text")
        let query: PreparedQuery
        do throws(QueryError) {
            query = try PreparedQuery(text)
        } catch {
            throw EngineError(error)
        }
        out.pointee = try HandleTable.shared.make(.query, query, owner: nil)
    }
}

@c @implementation
public func toft_query_text(
    _ query: OpaquePointer?, _ out_text: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ out_size: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry { () throws(EngineError) in
        let query = try Argument.query(query)
        let room = try Argument.room(out_text, capacity, "out_text")
        let size = try Argument.out(out_size, "out_size")
        size.pointee = Argument.fill(room, query.text)
    }
}

@c @implementation
public func toft_realm_find_first(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ query: OpaquePointer?,
    _ arguments: UnsafePointer<toft_value>?, _ argument_count: Int,
    _ out_object: UnsafeMutablePointer<toft_link>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        try HandleTable.shared.look(realm, .realm) { (named: RealmBox) throws(EngineError) in
            let query = try Argument.query(query)
            let session = named.lentSession
            let object = try Argument.out(out_object, "out_object")
            let found = try Argument.out(out_found, "out_found")
            var first: (isKnown: Bool, key: Int64?) = (false, nil)
            if argument_count == 1 {
                try BorrowedArguments.with(arguments, "arguments") { value throws(EngineError) in
                    first = try session.borrow { session throws(EngineError) in
                        try session.first(in: class_key, query, lookingUp: value)
                    }
                }
            }
            if !first.isKnown {
                first.key = try named.session.first(
                    in: class_key, query,
                    arguments: try Argument.arguments(arguments, argument_count))
            }
            if let key = first.key {
                object.pointee = toft_link(object_key: key, class_key: class_key)
            }
            found.pointee = first.key != nil
        }
    }
}

@c @implementation
public func toft_query_release(_ query: OpaquePointer?) {
    HandleTable.shared.release(query, .query)
}
