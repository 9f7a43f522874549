internal import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

// The functions that lists, sets and dictionaries share.

/// Makes the handle of a collection of an object.
func collection(
    of object: OpaquePointer?, _ property: toft_property_key, _ kind: CollectionKind,
    _ handleKind: HandleKind, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ name: StaticString
) -> toft_status {
    entry(object) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object)
        let out = try Argument.out(out, name)
        out.pointee = try object.handle(try object.object.collection(property, kind), handleKind)
    }
}

/// Runs a call with a collection.
func onCollection(
    _ handle: OpaquePointer?, _ kind: HandleKind,
    _ body: (CollectionHandle) throws(EngineError) -> Void
) -> toft_status {
    entry(handle) { () throws(EngineError) in
        try body(try ResolvedHandle<CollectionBox>(handle, kind).collection)
    }
}

func collectionIsValid(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ out: UnsafeMutablePointer<Bool>?
) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in
        let out = try Argument.out(out, "out_is_valid")
        out.pointee = try collection.isValid
    }
}

func collectionOwner(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ outOwner: UnsafeMutablePointer<toft_link>?,
    _ outProperty: UnsafeMutablePointer<toft_property_key>?
) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in
        let out = try Argument.out(outOwner, "out_owner")
        try collection.session.check()
        out.pointee = toft_link(collection.owner.ref)
        outProperty?.pointee = collection.property.id
    }
}

func collectionCount(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ out: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in
        let out = try Argument.out(out, "out_count")
        out.pointee = UInt64(try collection.count)
    }
}

func collectionGet(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ index: UInt64,
    _ out: UnsafeMutablePointer<toft_value>?
) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in
        let out = try Argument.out(out, "out_value")
        out.pointee = try collection.valueInC(try collection.cell(at: Argument.index(index)))
    }
}

func collectionGetValues(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ first: UInt64,
    _ outValues: UnsafeMutablePointer<toft_value>?, _ capacity: Int,
    _ outCount: UnsafeMutablePointer<Int>?
) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in
        let room = try Argument.room(outValues, capacity, "out_values")
        let out = try Argument.out(outCount, "out_count")
        var values: [toft_value] = []
        for cell in try collection.cells(from: Argument.index(first), limit: capacity) {
            values.append(try collection.valueInC(cell))
        }
        Argument.fill(room, values)
        out.pointee = values.count
    }
}

func collectionFind(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ value: UnsafePointer<toft_value>?,
    _ out: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in
        let out = try Argument.out(out, "out_index")
        let index = try collection.firstIndex(of: try Value(copying: value, "value"))
        out.pointee = index.map { UInt64($0) } ?? noIndex
    }
}

/// Finds a value among `count` elements from `first` on.
func collectionFind(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ value: UnsafePointer<toft_value>?,
    _ first: UInt64, _ count: UInt64, _ out: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in
        let out = try Argument.out(out, "out_index")
        let start = Int(clamping: first)
        let end = start + min(Int(clamping: count), Int.max - start)
        let index = try collection.firstIndex(
            of: try Value(copying: value, "value"), in: start..<end)
        out.pointee = index.map { UInt64($0) } ?? noIndex
    }
}

func collectionClear(_ handle: OpaquePointer?, _ kind: HandleKind) -> toft_status {
    onCollection(handle, kind) { collection throws(EngineError) in try collection.clear() }
}

func collectionResults(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(handle) { () throws(EngineError) in
        let collection = try ResolvedHandle<CollectionBox>(handle, kind)
        let out = try Argument.out(out, "out_results")
        out.pointee = try collection.handle(try collection.collection.results())
    }
}

func collectionClone(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ out: UnsafeMutablePointer<OpaquePointer?>?,
    _ name: StaticString
) -> toft_status {
    entry(handle) { () throws(EngineError) in
        let collection = try ResolvedHandle<CollectionBox>(handle, kind)
        let out = try Argument.out(out, name)
        try collection.collection.session.check()
        out.pointee = try collection.clone(kind)
    }
}

/// TOFT_NO_INDEX, a constant that Swift does not import.
let noIndex = UInt64.max

extension CollectionHandle {
    /// An element as C sees it, borrowed.
    func valueInC(_ cell: Cell) throws(EngineError) -> toft_value {
        try toft_value(cell, property.type, target: property.targetClassID ?? 0).sound()
    }
}

/// Makes the handle of a list or a dictionary that an element of a collection is.
func nestedCollection(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ nested: CollectionKind,
    _ out: UnsafeMutablePointer<OpaquePointer?>?, _ name: StaticString,
    _ find: (CollectionHandle) throws(EngineError) -> CollectionHandle?
) -> toft_status {
    entry(handle) { () throws(EngineError) in
        let collection = try ResolvedHandle<CollectionBox>(handle, kind)
        let out = try Argument.out(out, name)
        out.pointee = try collection.handle(
            try find(collection.collection), nested == .list ? .list : .dictionary)
    }
}
