package import ToftPlatform

extension ErrorCode {
    /// The log level of a failure that shows a mistake of the program or the library, or damage;
    /// nil for others.
    package var levelOfMisuse: Diagnostics.Level? {
        switch self {
        case .invalidArgument, .invalidHandle, .wrongThread, .closed, .usedAfterFork, .wrongRealm,
            .insideCallback:
            .warn
        case .internalError, .corrupt, .poisoned, .commitOutcomeUnknown, .fileReplaced: .error
        default: nil
        }
    }
}
