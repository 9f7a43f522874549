public import CToft
internal import ToftEngine

@c @implementation
public func toft_last_error(_ out_error: UnsafeMutablePointer<toft_error>?) -> toft_status {
    guard let room = try? Argument.outStructure(out_error, "out_error") else {
        return toft_status(.invalidArgument)
    }
    let thread = CallingThread.current
    Argument.fill(room, toft_error(thread.failure, thread.texts))
    return TOFT_OK
}

extension toft_error {
    /// A failure as C sees it, as long as its texts live.
    init(_ failure: EngineError?, _ texts: FailureTexts) {
        self.init()
        code = failure.map { toft_status($0.code) } ?? TOFT_OK
        number = failure?.number ?? 0
        message = texts.message.string
        detail = texts.detail.string
    }
}

@c @implementation
public func toft_clear_last_error() {
    CallingThread.current.forgetFailure()
}

@c @implementation
public func toft_status_name(_ status: toft_status) -> UnsafePointer<CChar>? {
    if status == TOFT_OK { return ("TOFT_OK" as StaticString).foreign }
    return
        (ErrorCode(rawValue: status.rawValue)?.nameInC
        ?? "TOFT_ERROR_UNKNOWN").foreign
}
