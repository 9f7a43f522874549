internal import ToftEngine

extension EngineError {
    static func invalidHandle(_ kind: HandleKind) -> EngineError {
        EngineError(
            .invalidHandle,
            "This is no toft_\(kind) handle: it is NULL, has been released, is of another kind or was never given out by this library.")
    }

    /// A handle that belongs to another thread, or to a thread of the parent process.
    static func foreignThread(_ thread: UInt64) -> EngineError {
        CallingThread.isFromParent(thread)
            ? EngineError(.usedAfterFork, "This handle was made before fork() and can't be used in the child process. Open the database again there.")
            : EngineError(.wrongThread, "The realm of this handle belongs to the thread that opened it. Open the database again on this thread.")
    }

    static var tooManyHandles: EngineError {
        EngineError(.unsupported, "No more handles can be made. Release those that are no longer used.")
    }
}
