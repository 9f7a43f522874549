public import CToft
internal import ToftEngine
internal import ToftModel

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

private func aggregate(
    _ results: OpaquePointer?, _ property_key: toft_property_key,
    _ out_value: UnsafeMutablePointer<toft_value>?, _ aggregate: Aggregate
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_value, "out_value")
        var kept: [ForeignBytes] = []  // numbers and dates need none
        out.pointee = toft_value(
            try results.aggregate(aggregate, of: property_key == 0 ? nil : property_key),
            keeping: &kept)
    }
}
