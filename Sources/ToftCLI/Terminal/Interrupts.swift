#if Terminal
import Foundation
import Synchronization
import ToftEngine

/// Control-C in the shell: it ends the statement that runs, not the program.
enum Interrupts {
    private static let flag = Atomic<Bool>(false)
    /// Ends the waits and queries of the session that the shell has open. Set while no signal can
    /// come to use it.
    nonisolated(unsafe) private static var interruption: Interruption?

    /// Makes the signal an interruption from now on.
    static func install() {
        flag.store(false, ordering: .relaxed)  // makes it before the first signal
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            Interrupts.flag.store(true, ordering: .relaxed)
            Interrupts.interruption?.interrupt()
        }
        // Without SA_RESTART: a read of the terminal ends.
        sigaction(SIGINT, &action, nil)
    }

    static func set(_ new: Interruption?) {
        var set = sigset_t(), before = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        pthread_sigmask(SIG_BLOCK, &set, &before)
        interruption = new
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    static var hasCome: Bool { flag.load(ordering: .relaxed) }

    /// Whether it has come since the last call.
    static func take() -> Bool { flag.exchange(false, ordering: .relaxed) }
}
#endif
