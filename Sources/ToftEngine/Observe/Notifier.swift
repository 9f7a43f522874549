internal import ToftPlatform
internal import ToftStorage

/// The one thread of a database that works out changes: started by the first observer, ended with
/// the database.
///
/// It sleeps until a process publishes a version or a session wakes it, prepares a package for
/// each session that is behind, and sleeps again. It never calls a handler and never waits for a
/// session.
final class Notifier: Sendable {
    private struct State {
        var channels: [Channel] = []
        var thread: PlatformThread?
        var isStopping = false
    }

    /// Bytes: that of a main thread, as queries that work there are to work here.
    private static let stackSize = 8 << 20
    private let store: Store
    private let state = FutexMutex(State())

    init(store: Store) {
        self.store = store
    }

    /// Serves a session from now on.
    func add(_ channel: Channel) throws(EngineError) {
        let failure = state.withLock { state -> SystemError? in
            do throws(SystemError) {
                if state.thread == nil {
                    state.thread = try PlatformThread(
                        name: "toft-notifier", stackSize: Self.stackSize
                    ) { [self] in run() }
                }
                state.channels.append(channel)
                return nil
            } catch {
                return error
            }
        }
        if let failure {
            throw EngineError(
                .observationUnavailable,
                "The thread that observation needs could not be started: "
                    + "\(EngineError(failure).message)",
                number: max(1, EngineError(failure).number))
        }
    }

    func remove(_ channel: Channel) {
        let removed = state.withLock { state -> Channel? in
            guard let index = state.channels.firstIndex(where: { $0 === channel }) else {
                return nil
            }
            return state.channels.remove(at: index)
        }
        withExtendedLifetime(removed) {}
    }

    /// Has the thread look again.
    func poke() {
        store.wake()
    }

    /// Ends the thread and waits for it.
    func stop() {
        let thread = state.withLock { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        // A forked child has no such thread.
        guard let thread, (try? store.checkProcess()) != nil else { return }
        store.wake()
        thread.join()
    }

    // MARK: The thread

    private func run() {
        while true {
            let seen = store.wakeCount
            let (channels, isStopping) = state.withLock { ($0.channels, $0.isStopping) }
            guard !isStopping else { return }
            let latest = store.latestVersion
            if channels.contains(where: { $0.isBehind(latest) }) { prepare(channels) }
            store.sleep(after: latest, since: seen)
        }
    }

    private func prepare(_ channels: [Channel]) {
        do throws(StorageError) {
            let snapshot = try store.beginRead()
            for channel in channels { channel.prepare(snapshot) }
        } catch .descriptorLost(let path) {
            let error = EngineError(StorageError.descriptorLost(path: path))
            for channel in channels { channel.fail(error) }
        } catch {
            // Without a snapshot (all pins taken, say) the next version gets another try.
        }
    }
}
