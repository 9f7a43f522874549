public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

@c @implementation
public func toft_object_list(
    _ object: OpaquePointer?, _ property_key: toft_property_key,
    _ out_list: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object)
        let out = try Argument.out(out_list, "out_list")
        out.pointee = try object.handle(try object.object.list(property_key))
    }
}

@c @implementation
public func toft_list_is_valid(_ list: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?)
    -> toft_status
{
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        let out = try Argument.out(out_is_valid, "out_is_valid")
        out.pointee = try list.isValid
    }
}

@c @implementation
public func toft_list_owner(
    _ list: OpaquePointer?, _ out_owner: UnsafeMutablePointer<toft_link>?,
    _ out_property_key: UnsafeMutablePointer<toft_property_key>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        let out = try Argument.out(out_owner, "out_owner")
        try list.session.check()
        out.pointee = toft_link(list.owner.ref)
        out_property_key?.pointee = list.property.id
    }
}

@c @implementation
public func toft_list_count(_ list: OpaquePointer?, _ out_count: UnsafeMutablePointer<UInt64>?)
    -> toft_status
{
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        let out = try Argument.out(out_count, "out_count")
        out.pointee = UInt64(try list.count)
    }
}

@c @implementation
public func toft_list_get(
    _ list: OpaquePointer?, _ index: UInt64, _ out_value: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        let out = try Argument.out(out_value, "out_value")
        out.pointee = list.valueInC(try list.cell(at: Argument.index(index)))
    }
}

@c @implementation
public func toft_list_get_values(
    _ list: OpaquePointer?, _ first: UInt64, _ out_values: UnsafeMutablePointer<toft_value>?,
    _ capacity: Int,
    _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        let room = try Argument.room(out_values, capacity, "out_values")
        let out = try Argument.out(out_count, "out_count")
        let elements = try list.elements()
        let first = Argument.index(first)
        guard first <= elements.count else {
            throw EngineError(outOfRange: first, count: elements.count)
        }
        var values: [toft_value] = []
        for index in first..<min(elements.count, first + min(capacity, elements.count)) {
            values.append(
                list.valueInC(
                    try storage { () throws(StorageError) in try elements.cell(at: index) }))
        }
        Argument.fill(room, values)
        out.pointee = values.count
    }
}

@c @implementation
public func toft_list_set(
    _ list: OpaquePointer?, _ index: UInt64, _ value: UnsafePointer<toft_value>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        try BorrowedArguments.with { loan throws(EngineError) in
            try list.set(try loan.value(value, "value"), at: Argument.index(index))
        }
    }
}

@c @implementation
public func toft_list_insert(
    _ list: OpaquePointer?, _ index: UInt64, _ values: UnsafePointer<toft_value>?, _ count: Int
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        try BorrowedArguments.with { loan throws(EngineError) in
            try list.insert(try loan.values(values, count, "values"), at: Argument.index(index))
        }
    }
}

@c @implementation
public func toft_list_append(
    _ list: OpaquePointer?, _ values: UnsafePointer<toft_value>?, _ count: Int
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        try BorrowedArguments.with { loan throws(EngineError) in
            try list.append(try loan.values(values, count, "values"))
        }
    }
}

@c @implementation
public func toft_list_erase(_ list: OpaquePointer?, _ first: UInt64, _ count: UInt64) -> toft_status
{
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        let (end, isBeyond) = first.addingReportingOverflow(count)
        try list.erase(Argument.index(first)..<Argument.index(isBeyond ? .max : end))
    }
}

@c @implementation
public func toft_list_move(_ list: OpaquePointer?, _ from: UInt64, _ to: UInt64) -> toft_status {
    entry(list) { () throws(EngineError) in
        try ResolvedHandle(list: list).list.move(from: Argument.index(from), to: Argument.index(to))
    }
}

@c @implementation
public func toft_list_swap(_ list: OpaquePointer?, _ first: UInt64, _ second: UInt64) -> toft_status
{
    entry(list) { () throws(EngineError) in
        try ResolvedHandle(list: list).list.swap(Argument.index(first), Argument.index(second))
    }
}

@c @implementation
public func toft_list_clear(_ list: OpaquePointer?) -> toft_status {
    entry(list) { () throws(EngineError) in
        try ResolvedHandle(list: list).list.clear()
    }
}

@c @implementation
public func toft_list_find(
    _ list: OpaquePointer?, _ value: UnsafePointer<toft_value>?,
    _ out_index: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list).list
        let out = try Argument.out(out_index, "out_index")
        let index = try list.firstIndex(of: try Value(copying: value, "value"))
        out.pointee = index.map { UInt64($0) } ?? noIndex
    }
}

@c @implementation
public func toft_list_results(
    _ list: OpaquePointer?, _ out_results: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list)
        let out = try Argument.out(out_results, "out_results")
        out.pointee = try list.handle(try list.list.results())
    }
}

@c @implementation
public func toft_list_clone(
    _ list: OpaquePointer?, _ out_list: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(list) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list)
        let out = try Argument.out(out_list, "out_list")
        try list.list.session.check()
        out.pointee = try list.clone(.list)
    }
}

@c @implementation
public func toft_list_release(_ list: OpaquePointer?) {
    HandleTable.shared.release(list, .list)
}

/// TOFT_NO_INDEX, which is no constant that Swift imports.
let noIndex = UInt64.max

extension ListHandle {
    /// An element as C sees it, borrowed.
    fileprivate func valueInC(_ cell: Cell) -> toft_value {
        toft_value(cell, property.type, target: property.targetClassID)
    }
}
