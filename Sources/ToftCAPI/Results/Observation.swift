public import CToft
internal import ToftEngine

@c @implementation
public func toft_realm_observe(
    _ realm: OpaquePointer?, _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(realm, options, callback, user_data, destroy_user_data, out_token) {
        options throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        guard options.keyPaths == nil else {
            throw .invalidArgument("Observers of a realm have no key paths.")
        }
        return (realm.owner, realm.session.observe)
    }
}

@c @implementation
public func toft_object_observe(
    _ object: OpaquePointer?, _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(object, options, callback, user_data, destroy_user_data, out_token) {
        options throws(EngineError) in
        let object = try ResolvedHandle(object: object)
        return (
            object.owner,
            { handler throws(EngineError) in
                try object.object.observe(keyPaths: options.keyPaths, handler)
            }
        )
    }
}

@c @implementation
public func toft_list_observe(
    _ list: OpaquePointer?, _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observeCollection(
        list, .list, options, callback, user_data, destroy_user_data, out_token)
}

@c @implementation
public func toft_set_observe(
    _ set: OpaquePointer?, _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observeCollection(set, .set, options, callback, user_data, destroy_user_data, out_token)
}

@c @implementation
public func toft_dictionary_observe(
    _ dictionary: OpaquePointer?, _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observeCollection(
        dictionary, .dictionary, options, callback, user_data, destroy_user_data, out_token)
}

private func observeCollection(
    _ collection: OpaquePointer?, _ kind: HandleKind,
    _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ userData: UnsafeMutableRawPointer?,
    _ destroy: toft_destructor?, _ outToken: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(collection, options, callback, userData, destroy, outToken) {
        options throws(EngineError) in
        let collection = try ResolvedHandle<CollectionBox>(collection, kind)
        return (
            collection.owner,
            { handler throws(EngineError) in
                try collection.collection.observe(
                    keyPaths: options.keyPaths, callsInitially: options.callsInitially, handler)
            }
        )
    }
}

@c @implementation
public func toft_results_observe(
    _ results: OpaquePointer?, _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(results, options, callback, user_data, destroy_user_data, out_token) {
        options throws(EngineError) in
        let results = try ResolvedHandle(results: results)
        return (
            results.owner,
            { handler throws(EngineError) in
                try results.results.observe(
                    keyPaths: options.keyPaths, callsInitially: options.callsInitially, handler)
            }
        )
    }
}

@c @implementation
public func toft_token_release(_ token: OpaquePointer?) {
    HandleTable.shared.release(token, .token)
}

/// Starts an observation with a handler.
private typealias Start = (@escaping NotificationHandler) throws(EngineError) -> Token

private func observe(
    _ handle: OpaquePointer?, _ options: UnsafePointer<toft_observe_options>?,
    _ callback: toft_changes_callback?,
    _ userData: UnsafeMutableRawPointer?,
    _ destroy: toft_destructor?,
    _ outToken: UnsafeMutablePointer<OpaquePointer?>?,
    _ subject: (ObserveOptions) throws(EngineError) -> (HandleOwner, Start)
) -> toft_status {
    entry(handle) { () throws(EngineError) in
        let options = try ObserveOptions(try Argument.options(options, "options"))
        let (owner, start) = try subject(options)
        let out = try Argument.out(outToken, "out_token")
        guard let callback else { throw Argument.isNull("callback") }
        owner.emptyIfNeeded()
        let user = UserData(userData)
        let token = try start { notification in
            ForeignChanges(notification, options).call(callback, user.pointer)
        }
        // Releasing a token may come from any thread and takes effect there, so it has no owner.
        out.pointee = try HandleTable.shared.make(.token, token, owner: nil)
        user.destroy = destroy
    }
}

/// The caller's pointer. It is the library's to destroy once the observation has started.
private final class UserData {
    let pointer: UnsafeMutableRawPointer?
    var destroy: toft_destructor?

    init(_ pointer: UnsafeMutableRawPointer?) {
        self.pointer = pointer
    }

    deinit { destroy?(pointer) }
}

/// An observer's options.
struct ObserveOptions {
    /// Nil: whatever the subject reaches.
    let keyPaths: [String]?
    private let flags: UInt32

    fileprivate init(_ options: toft_observe_options) throws(EngineError) {
        try Argument.reserved(options.reserved, "options")
        let known = [
            TOFT_OBSERVE_OLD_VALUES, TOFT_OBSERVE_KEYS, TOFT_OBSERVE_RANGES,
            TOFT_OBSERVE_NO_INITIAL, TOFT_OBSERVE_NO_MOVES,
        ]
        try Argument.flags(options.flags, known: known.reduce(0) { $0 | $1.rawValue }, "flags")
        flags = options.flags
        keyPaths =
            options.key_paths == nil && options.key_path_count == 0
            ? nil : try Argument.texts(options.key_paths, options.key_path_count, "key_paths")
    }

    private func has(_ flag: toft_observe_flags) -> Bool { flags & flag.rawValue != 0 }

    var wantsOldValues: Bool { has(TOFT_OBSERVE_OLD_VALUES) }
    var wantsKeys: Bool { has(TOFT_OBSERVE_KEYS) }
    var wantsRanges: Bool { has(TOFT_OBSERVE_RANGES) }
    var callsInitially: Bool { !has(TOFT_OBSERVE_NO_INITIAL) }
    var skipsMoves: Bool { has(TOFT_OBSERVE_NO_MOVES) }
}
