public import CToft
internal import ToftEngine
internal import ToftPlatform

@c @implementation
public func toft_set_log(
    _ level: toft_log_level, _ callback: toft_log_callback?, _ user_data: UnsafeMutableRawPointer?,
    _ destroy_user_data: toft_destructor?
) -> toft_status {
    entry { () throws(EngineError) in
        guard let level = Diagnostics.Level(rawValue: level.rawValue) else {
            throw .invalidArgument("There is no log level \(level.rawValue).")
        }
        guard level != .off else { return Diagnostics.listen(upTo: .off, nil) }
        guard let callback else { throw Argument.isNull("callback") }
        let target = LogTarget(callback, user_data, destroy_user_data)
        Diagnostics.listen(upTo: level) { level, text in target.call(level, text) }
    }
}

/// The callback that a program has set.
///
/// `@unchecked Sendable`: the caller promised that its pointer may be used on any thread.
private final class LogTarget: @unchecked Sendable {
    private let callback: toft_log_callback
    private let userData: UnsafeMutableRawPointer?
    private let destroy: toft_destructor?

    init(
        _ callback: @escaping toft_log_callback, _ userData: UnsafeMutableRawPointer?,
        _ destroy: toft_destructor?
    ) {
        self.callback = callback
        self.userData = userData
        self.destroy = destroy
    }

    deinit { destroy?(userData) }

    func call(_ level: Diagnostics.Level, _ text: String) {
        let text = CString(text)
        withExtendedLifetime(text) {
            callback(userData, toft_log_level(rawValue: level.rawValue), text.string)
        }
    }
}
