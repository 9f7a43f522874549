package import ToftPlatform

extension ErrorCode {
    /// How much a program wants to know of a failure that says that it, or the library, is wrong,
    /// or the database damaged; nil for others.
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
