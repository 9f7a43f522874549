public import CToft
internal import ToftEngine

@c @implementation
public func toft_realm_observe(
    _ realm: OpaquePointer?, _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(callback, user_data, destroy_user_data, out_token) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        return (realm.owner, realm.session.observe)
    }
}

@c @implementation
public func toft_object_observe(
    _ object: OpaquePointer?, _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(callback, user_data, destroy_user_data, out_token) { () throws(EngineError) in
        let object = try ResolvedHandle(object: object)
        return (object.owner, { handler throws(EngineError) in try object.object.observe(handler) })
    }
}

@c @implementation
public func toft_list_observe(
    _ list: OpaquePointer?, _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(callback, user_data, destroy_user_data, out_token) { () throws(EngineError) in
        let list = try ResolvedHandle(list: list)
        return (list.owner, { handler throws(EngineError) in try list.list.observe(handler) })
    }
}

@c @implementation
public func toft_results_observe(
    _ results: OpaquePointer?, _ callback: toft_changes_callback?,
    _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?, _ out_token: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    observe(callback, user_data, destroy_user_data, out_token) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results)
        return (
            results.owner, { handler throws(EngineError) in try results.results.observe(handler) }
        )
    }
}

@c @implementation
public func toft_token_release(_ token: OpaquePointer?) {
    HandleTable.shared.release(token, .token)
}

/// What starts an observation with a handler.
private typealias Start = (@escaping NotificationHandler) throws(EngineError) -> Token

private func observe(
    _ callback: toft_changes_callback?, _ userData: UnsafeMutableRawPointer?,
    _ destroy: toft_destructor?,
    _ outToken: UnsafeMutablePointer<OpaquePointer?>?,
    _ subject: () throws(EngineError) -> (HandleOwner, Start)
) -> toft_status {
    entry { () throws(EngineError) in
        let (owner, start) = try subject()
        let out = try Argument.out(outToken, "out_token")
        guard let callback else { throw Argument.isNull("callback") }
        owner.emptyIfNeeded()
        let user = UserData(userData)
        let token = try start { ForeignChanges($0).call(callback, user.pointer) }
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
