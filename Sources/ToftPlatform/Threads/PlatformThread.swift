internal import CPlatform
internal import Glibc

/// A plain thread that no signal reaches. It has to be joined before the library may be unloaded.
package final class PlatformThread: Sendable {
    private let handle: FutexMutex<pthread_t?>

    /// Starts at once. The name (15 bytes count) is for debuggers.
    package init(name: String, stackSize: Int = 1 << 20, body: @escaping @Sendable () -> Void)
        throws(SystemError)
    {
        let start = Start(name: name, body: body)
        let context = Unmanaged.passRetained(start)
        var thread = pthread_t()
        let result = platform_start_thread(
            &thread, stackSize,
            { raw in
                guard let raw else { return nil }
                let start = Unmanaged<Start>.fromOpaque(raw).takeRetainedValue()
                start.mark.adopt()
                platform_name_thread(String(start.name.prefix(15)))
                start.body()
                start.mark.end()
                return nil
            }, context.toOpaque())
        if result < 0 {
            start.mark.end()
            context.release()
        }
        try checked("pthread_create", "", result)
        handle = FutexMutex(thread)
    }

    /// Waits until the body has returned; a second call, and a call on the thread itself, returns
    /// at once.
    package func join() {
        let thread = handle.withLock { handle -> pthread_t? in
            guard let thread = handle, pthread_equal(thread, pthread_self()) == 0 else {
                return nil
            }
            handle = nil
            return thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    deinit {
        handle.withLock { handle in
            if let thread = handle { pthread_detach(thread) }
            handle = nil
        }
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        /// Made before the thread, so that no fork misses it.
        let mark = ThreadMark.ofNewThread()

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
