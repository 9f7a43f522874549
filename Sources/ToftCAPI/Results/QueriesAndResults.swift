public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftQuery

@c @implementation
public func toft_realm_objects(
    _ realm: OpaquePointer?, _ class_key: toft_class_key,
    _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.out(out_results, "out_results")
        out.pointee = try realm.handle(try realm.session.results(of: class_key))
    }
}

/// Gives a handle of the results that `make` returns.
private func derive(
    from results: OpaquePointer?, _ out_results: UnsafeMutablePointer<OpaquePointer?>?,
    _ make: (Results) throws(EngineError) -> Results
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results)
        let out = try Argument.out(out_results, "out_results")
        out.pointee = try results.handle(try make(results.results))
    }
}

@c @implementation
public func toft_results_filter(
    _ results: OpaquePointer?, _ query: toft_string, _ arguments: UnsafePointer<toft_value>?,
    _ argument_count: Int,
    _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    derive(from: results, out_results) { results throws(EngineError) in
        let query = try Argument.text(query, "query")
        return try results.filter(
            query, arguments: try Argument.arguments(arguments, argument_count))
    }
}

@c @implementation
public func toft_results_filter_prepared(
    _ results: OpaquePointer?, _ query: OpaquePointer?, _ arguments: UnsafePointer<toft_value>?,
    _ argument_count: Int, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    derive(from: results, out_results) { results throws(EngineError) in
        let query = try Argument.query(query)
        return try results.filter(
            query, arguments: try Argument.arguments(arguments, argument_count))
    }
}

@c @implementation
public func toft_results_sort(
    _ results: OpaquePointer?, _ criteria: UnsafePointer<toft_sort>?, _ count: Int,
    _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    derive(from: results, out_results) { results throws(EngineError) in
        var keys: [(path: String, isAscending: Bool)] = []
        for criterion in try Argument.someOf(criteria, count, "criteria") {
            let descending = UInt32(TOFT_SORT_DESCENDING)
            try Argument.flags(criterion.flags, known: descending, "flags")
            try Argument.reserved(criterion.reserved, "criteria")
            keys.append(
                (
                    try Argument.text(criterion.key_path, "key_path"),
                    criterion.flags & descending == 0
                ))
        }
        return try results.sorted(by: keys)
    }
}

@c @implementation
public func toft_results_distinct(
    _ results: OpaquePointer?, _ key_paths: UnsafePointer<toft_string>?, _ count: Int,
    _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    derive(from: results, out_results) { results throws(EngineError) in
        var paths: [String] = []
        for path in try Argument.someOf(key_paths, count, "key_paths") {
            paths.append(try Argument.text(path, "key_paths"))
        }
        return try results.distinct(by: paths)
    }
}

@c @implementation
public func toft_results_limit(
    _ results: OpaquePointer?, _ limit: UInt64, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    derive(from: results, out_results) { results throws(EngineError) in
        try results.limited(to: Argument.index(limit))
    }
}

@c @implementation
public func toft_results_offset(
    _ results: OpaquePointer?, _ offset: UInt64,
    _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    derive(from: results, out_results) { results throws(EngineError) in
        try results.offset(by: Argument.index(offset))
    }
}

@c @implementation
public func toft_results_snapshot(
    _ results: OpaquePointer?, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    derive(from: results, out_results) { results throws(EngineError) in
        try results.snapshot()
    }
}

@c @implementation
public func toft_results_resolve(
    _ results: OpaquePointer?, _ realm: OpaquePointer?,
    _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.out(out_results, "out_results")
        out.pointee = try realm.handle(try results.resolved(in: realm.session))
    }
}

@c @implementation
public func toft_results_is_valid(
    _ results: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_is_valid, "out_is_valid")
        out.pointee = try results.isValid
    }
}

@c @implementation
public func toft_results_count(
    _ results: OpaquePointer?, _ out_count: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_count, "out_count")
        out.pointee = UInt64(try results.count)
    }
}

@c @implementation
public func toft_results_is_empty(
    _ results: OpaquePointer?, _ out_is_empty: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_is_empty, "out_is_empty")
        out.pointee = try results.isEmpty
    }
}

@c @implementation
public func toft_results_get(
    _ results: OpaquePointer?, _ index: UInt64, _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let named = try ResolvedHandle(results: results)
        let out = try Argument.out(out_value, "out_value")
        out.pointee = try named.box.valueInC(at: Argument.index(index))
    }
}

@c @implementation
public func toft_results_get_values(
    _ results: OpaquePointer?, _ first: UInt64, _ out_values: UnsafeMutablePointer<toft_value>?,
    _ capacity: Int, _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let named = try ResolvedHandle(results: results)
        let room = try Argument.room(out_values, capacity, "out_values")
        let out = try Argument.out(out_count, "out_count")
        let first = Argument.index(first), count = try named.results.count
        guard first <= count else { throw EngineError(outOfRange: first, count: count) }
        var values: [toft_value] = []
        for index in first..<first + min(capacity, count - first) {
            values.append(try named.box.valueInC(at: index))
        }
        Argument.fill(room, values)
        out.pointee = values.count
    }
}

@c @implementation
public func toft_results_set_values(
    _ results: OpaquePointer?, _ property_keys: UnsafePointer<toft_property_key>?,
    _ values: UnsafePointer<toft_value>?, _ count: Int, _ out_count: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        try BorrowedArguments.with { loan throws(EngineError) in
            let count = try results.setAll(try loan.assignments(property_keys, values, count))
            out_count?.pointee = UInt64(count)
        }
    }
}

@c @implementation
public func toft_results_add(
    _ results: OpaquePointer?, _ property_key: toft_property_key, _ amount: Int64,
    _ out_count: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let count = try results.addAll(amount, to: property_key)
        out_count?.pointee = UInt64(count)
    }
}

@c @implementation
public func toft_results_object(
    _ results: OpaquePointer?, _ index: UInt64, _ out_object: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results)
        let out = try Argument.out(out_object, "out_object")
        out.pointee = try results.handle(try results.results.object(at: Argument.index(index)))
    }
}

@c @implementation
public func toft_results_find(
    _ results: OpaquePointer?, _ value: UnsafePointer<toft_value>?,
    _ out_index: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_index, "out_index")
        let index = try results.index(of: try Value(copying: value, "value"))
        out.pointee = index.map { UInt64($0) } ?? noIndex
    }
}

@c @implementation
public func toft_results_class(
    _ results: OpaquePointer?, _ out_key: UnsafeMutablePointer<toft_class_key>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_key, "out_key")
        try results.session.check()
        out.pointee = results.classID ?? 0
    }
}

@c @implementation
public func toft_results_delete_all(_ results: OpaquePointer?) -> toft_status {
    entry(results) { () throws(EngineError) in
        try ResolvedHandle(results: results).results.deleteAll()
    }
}

@c @implementation
public func toft_results_query(
    _ results: OpaquePointer?, _ out_text: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ out_size: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let room = try Argument.room(out_text, capacity, "out_text")
        let size = try Argument.out(out_size, "out_size")
        size.pointee = Argument.fill(room, try results.query())
    }
}

@c @implementation
public func toft_results_explain(
    _ results: OpaquePointer?, _ out_text: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ out_size: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let room = try Argument.room(out_text, capacity, "out_text")
        let size = try Argument.out(out_size, "out_size")
        size.pointee = Argument.fill(room, try results.explain())
    }
}

@c @implementation
public func toft_results_clone(
    _ results: OpaquePointer?, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results)
        let out = try Argument.out(out_results, "out_results")
        try results.results.session.check()
        out.pointee = try results.clone(.results)
    }
}

@c @implementation
public func toft_results_release(_ results: OpaquePointer?) {
    HandleTable.shared.release(results, .results)
}

extension Argument {
    /// At least one thing in a row.
    static func someOf<Pointee>(
        _ pointer: UnsafePointer<Pointee>?, _ count: Int, _ name: StaticString
    ) throws(EngineError)
        -> UnsafeBufferPointer<Pointee>
    {
        let things = try array(pointer, count, name)
        guard count > 0 else { throw .invalidArgument("'\(name)' is empty.") }
        return things
    }
}
