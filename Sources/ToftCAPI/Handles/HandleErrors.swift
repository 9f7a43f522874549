internal import ToftEngine

extension EngineError {
    static func invalidHandle(_ kind: HandleKind) -> EngineError {
        EngineError(
            .invalidHandle,
            "This is not a toft_\(kind) handle: it is NULL, has been released, is of another kind "
                + "or was never given out by this library."
        )
    }

    /// A handle that belongs to another thread, or to a thread of the parent process.
    static func foreignThread(_ thread: UInt64) -> EngineError {
        CallingThread.isFromParent(thread)
            ? EngineError(
                .usedAfterFork,
                "This handle was made before fork() and belongs to the parent process. Open the "
                    + "database in the child."
            )
            : EngineError(
                .wrongThread,
                "The realm of this handle belongs to the thread that opened it. Open the database "
                    + "again on this thread, or open it with TOFT_CONFINEMENT_CALLER where one "
                    + "thread after the other uses the realm, as those of a server's pool do."
            )
    }

    /// A realm that is confined to the caller, used while another thread's call is under way.
    static var overlappingCall: EngineError {
        EngineError(
            .wrongThread,
            "Another thread is inside a call with this realm, which is confined to the caller: "
                + "make the calls one after the other.")
    }

    static var tooManyHandles: EngineError {
        EngineError(
            .unsupported, "No more handles can be made. Release those that are no longer used.")
    }
}
