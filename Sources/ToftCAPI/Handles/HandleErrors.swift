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
                "This handle was made before fork() and can't be used in the child process. Let "
                    + "the child exec, then open."
            )
            : EngineError(
                .wrongThread,
                "The realm of this handle belongs to the thread that opened it. Open the database "
                    + "again on this thread."
            )
    }

    /// A realm that is confined to the caller, used while another thread's call is under way.
    static var overlappingCall: EngineError {
        EngineError(
            .wrongThread,
            "Another thread is inside a call with this realm, which is confined to the caller: "
                + "make the calls one after the other.")
    }

    /// A database was to be opened in a forked child.
    static var openedAfterFork: EngineError {
        EngineError(
            .usedAfterFork,
            "This process was forked from one that had used the library, so it can't open a "
                + "database. Let it exec, or start it before."
        )
    }

    static var tooManyHandles: EngineError {
        EngineError(
            .unsupported, "No more handles can be made. Release those that are no longer used.")
    }
}
