private import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftPlatform

/// The importance of a message of the log. A logger gets those up to its level.
public enum LogLevel: UInt, Sendable, CaseIterable {
    /// Nothing.
    case off = 0
    /// Reserved: the library never ends the process by itself.
    case fatal = 1
    /// A disk fails, a file is damaged, the library has a bug.
    case error = 2
    /// A process died while it wrote, a file was not closed well, a call was a misuse.
    case warn = 3
    /// A file was recovered.
    case info = 4
    /// A file was opened, checkpoints fell behind.
    case detail = 5
    /// Each checkpoint.
    case debug = 6
    /// Reserved.
    case trace = 7
    /// Everything.
    case all = 8
}

/// Messages about the library's work, for a program's log.
///
/// ```swift
/// Logger.shared.level = .info        // to standard error
/// Logger.shared = Logger(level: .detail) { level, message in
///     print("\(level): \(message)")
/// }
/// ```
///
/// A message is logged when the call that it is about ends, on its thread, or on a thread of the
/// library's: so the function may run on several threads at once. Messages that arise on its thread
/// while it runs are dropped. Spelled as in Realm, which logs `.info` at first; here nothing is
/// logged until a program asks for it. Any thread may use it. A child made by `fork` logs nothing
/// until it sets `shared`.
public final class Logger: Sendable {
    /// Gets a message.
    public typealias LogFunction = @Sendable (_ level: LogLevel, _ message: String) -> Void

    private let threshold: Mutex<LogLevel>
    private let function: LogFunction

    /// A logger with a function of the app's.
    /// - Parameters:
    ///   - level: the least important level of messages that it gets.
    ///   - logFunction: called with each. It must return soon: the library waits for it.
    public init(level: LogLevel, logFunction: @escaping LogFunction) {
        threshold = Mutex(level)
        function = logFunction
    }

    /// Of the least important messages that the logger gets.
    public var level: LogLevel {
        get { threshold.withLock { $0 } }
        set {
            threshold.withLock { $0 = newValue }
            Self.current.withLock { if $0 === self { Self.listen(upTo: level) } }
        }
    }

    // MARK: The process's logger

    private static let current = Mutex(
        Logger(level: .off) { level, message in
            FileHandle.standardError.write(Data("Toft \(level): \(message)\n".utf8))
        })

    /// The one logger that gets the messages of this process. At first it writes to standard error,
    /// and its level is `.off`.
    public static var shared: Logger {
        get { current.withLock { $0 } }
        set {
            // The old one ends outside of the lock.
            let old = current.withLock { current in
                defer { current = newValue }
                listen(upTo: newValue.level)
                return current
            }
            withExtendedLifetime(old) {}
        }
    }

    private static func listen(upTo level: LogLevel) {
        let level = Diagnostics.Level(rawValue: UInt32(level.rawValue)) ?? .trace
        guard level != .off else { return Diagnostics.listen(upTo: .off, nil) }
        Diagnostics.listen(upTo: level) { level, message in
            let logger = shared
            guard let level = LogLevel(rawValue: UInt(level.rawValue)),
                level.rawValue <= logger.level.rawValue
            else { return }
            logger.function(level, message)
        }
    }
}

extension Realm.Error {
    /// An error that a call throws, logged if it is a mistake or damage.
    init(telling error: EngineError) {
        self.init(error)
        tell(error.code)
    }

    /// Keeps the error for the log if it is a mistake or damage.
    func tell(_ code: ErrorCode?) {
        guard let level = code?.levelOfMisuse else { return }
        Diagnostics.tell(level, "\(self.code): \(message)")
    }
}
