public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftQuery

@c @implementation
public func toft_results_minimum(
    _ results: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    aggregate(results, property_key, out_value, .minimum)
}

@c @implementation
public func toft_results_maximum(
    _ results: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    aggregate(results, property_key, out_value, .maximum)
}

@c @implementation
public func toft_results_sum(
    _ results: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    aggregate(results, property_key, out_value, .sum)
}

@c @implementation
public func toft_results_average(
    _ results: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    aggregate(results, property_key, out_value, .average)
}

@c @implementation
public func toft_results_aggregate(
    _ results: OpaquePointer?, _ kind: toft_aggregate, _ key_path: toft_string,
    _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let box = try ResolvedHandle(results: results).box
        let out = try Argument.out(out_value, "out_value")
        out.pointee = box.inC(
            try box.results.aggregate(
                try aggregate(kind), of: try Argument.text(key_path, "key_path")))
    }
}

@c @implementation
public func toft_results_groups(
    _ results: OpaquePointer?, _ key_paths: UnsafePointer<toft_string>?, _ key_count: Int,
    _ values: UnsafePointer<toft_group_value>?, _ value_count: Int,
    _ callback: toft_group_callback?,
    _ user_data: UnsafeMutableRawPointer?
) -> toft_status {
    var kept: [ForeignBytes] = []
    var rows: [[toft_value]] = []
    let status = entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        if callback == nil { throw Argument.isNull("callback") }
        var paths: [String] = []
        for path in try Argument.someOf(key_paths, key_count, "key_paths") {
            paths.append(try Argument.text(path, "key_paths"))
        }
        var asked: [(aggregate: Aggregate, path: String)] = []
        for value in try Argument.array(values, value_count, "values") {
            try Argument.reserved(value.reserved, "values")
            asked.append(
                (try aggregate(value.aggregate), try Argument.text(value.key_path, "key_path")))
        }
        for group in try results.groups(by: paths, values: asked) {
            let row = group.keys + [.int(Int64(group.count))] + group.values
            rows.append(row.map { toft_value($0, keeping: &kept) })
        }
    }
    // Outside of the call: the callback may call the library.
    for row in rows { row.withUnsafeBufferPointer { callback?(user_data, $0.baseAddress) } }
    withExtendedLifetime(kept) {}
    return status
}

private func aggregate(_ aggregate: toft_aggregate) throws(EngineError) -> Aggregate {
    switch aggregate {
    case TOFT_AGGREGATE_MINIMUM: .minimum
    case TOFT_AGGREGATE_MAXIMUM: .maximum
    case TOFT_AGGREGATE_SUM: .sum
    case TOFT_AGGREGATE_AVERAGE: .average
    default: throw .invalidArgument("There is no aggregate \(aggregate.rawValue).")
    }
}

private func aggregate(
    _ results: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?, _ aggregate: Aggregate
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let box = try ResolvedHandle(results: results).box
        let out = try Argument.out(out_value, "out_value")
        out.pointee = box.inC(
            try box.results.aggregate(aggregate, of: property_key == 0 ? nil : property_key))
    }
}
