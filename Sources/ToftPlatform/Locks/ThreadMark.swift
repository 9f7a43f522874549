public import Synchronization

/// The call that a thread is inside, for other threads: those that want to end its objects, and
/// those that fork.
///
/// 1. The thread stores `inside`, then reads what it needs; another thread changes that, then reads
///    `inside`. The first happens with each call and has no fence, the second one's fence is for
///    both (`AsymmetricFence`): so either the call finds the change, or the other thread finds the
///    call. The end of a call and `flags` work in the same way.
/// 2. `inside` is stored with release and loaded with acquire: everything that the thread did in
///    its calls happened before another thread sees that it has left them.
///
/// It is public because only public code is inlined in other modules.
public final class ThreadMark: Sendable {
    /// 0, one of the numbers below, or the address of the one object that the call uses.
    @usableFromInline let inside = Atomic<UInt>(0)
    /// Why the beginning or the end of a call takes longer; 0 is the rule.
    @usableFromInline let flags: Atomic<UInt32>
    /// Whether the thread sleeps, or waits for a fork, in the middle of a call.
    private let isParked = Atomic<Bool>(false)

    /// The object that the call uses is not known yet.
    public static var resolving: UInt { 1 }
    /// It may use anything.
    public static var everything: UInt { 2 }
    /// It uses nothing that belongs to a thread.
    public static var nothing: UInt { 3 }

    /// Another thread has left something for the end of the call.
    private static let hasLeft: UInt32 = 1
    /// A fork is about to happen.
    private static let isForking: UInt32 = 2
    /// The kernel has no barrier for other threads, so the thread has its own.
    private static let needsFences: UInt32 = 4
    /// A listener of `Diagnostics` runs on the thread.
    private static let isRefusing: UInt32 = 8

    private static let local = ThreadLocal<ThreadMark>()

    private init(inside what: UInt = 0) {
        flags = Atomic(AsymmetricFence.isAvailable ? 0 : Self.needsFences)
        inside.store(what, ordering: .relaxed)
        ForkGate.add(self)
    }

    deinit { ForkGate.remove(self) }

    /// The calling thread's.
    package static var current: ThreadMark { local.value(orMake: { ThreadMark() }) }

    /// The calling thread's, if it has one.
    static var existing: ThreadMark? { local.existing }

    // MARK: Calls of the own thread

    /// The result of `enter` when no call may begin; there is then no call to leave.
    public static var refused: UInt { .max }

    /// Begins a call that uses `what`; inside another one it may use anything. Returns the argument
    /// for `leave`, or `refused`, which a call that may use everything never gets.
    @inlinable @inline(__always)
    public func enter(_ what: UInt) -> UInt {
        let outer = inside.load(ordering: .relaxed)
        inside.store(outer == 0 ? what : Self.everything, ordering: .releasing)
        AsymmetricFence.light()
        if flags.load(ordering: .acquiring) != 0 { return enterSlowly(what, outer) }
        return outer
    }

    /// Sets the one object that the call uses.
    @inlinable @inline(__always)
    public func resolve(_ address: UInt) {
        if inside.load(ordering: .relaxed) == Self.resolving {
            inside.store(address, ordering: .releasing)
        }
    }

    /// A call ends. Returns whether something was left for this moment.
    @inlinable @inline(__always)
    public func leave(_ outer: UInt) -> Bool {
        inside.store(outer, ordering: .releasing)
        AsymmetricFence.light()
        return flags.load(ordering: .acquiring) != 0 && leaveSlowly(outer)
    }

    @usableFromInline @inline(never)
    func enterSlowly(_ what: UInt, _ outer: UInt) -> UInt {
        if what != Self.everything, flags.load(ordering: .relaxed) & Self.isRefusing != 0 {
            inside.store(outer, ordering: .releasing)
            return Self.refused
        }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        waitForFork()
        return outer
    }

    @usableFromInline @inline(never)
    func leaveSlowly(_ outer: UInt) -> Bool {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        guard outer == 0, flags.load(ordering: .relaxed) & Self.hasLeft != 0 else { return false }
        flags.bitwiseAnd(~Self.hasLeft, ordering: .sequentiallyConsistent)
        return true
    }

    /// The end of the outermost call has something to do.
    func leaveSomething() { flags.bitwiseOr(Self.hasLeft, ordering: .relaxed) }

    /// Runs a body that may call nothing that can fail.
    package func refusingCalls(_ body: () -> Void) {
        setRefusing(true)
        defer { setRefusing(false) }
        body()
    }

    /// Whether calls are refused from now on.
    private func setRefusing(_ isRefusing: Bool) {
        if isRefusing {
            flags.bitwiseOr(Self.isRefusing, ordering: .relaxed)
        } else {
            flags.bitwiseAnd(~Self.isRefusing, ordering: .relaxed)
        }
    }

    // MARK: Sleeping

    /// Runs a body that only sleeps: a fork need not wait for it.
    static func parking(_ sleep: () -> Void) {
        guard let mark = existing, mark.inside.load(ordering: .relaxed) != 0,
            !mark.isParked.exchange(true, ordering: .sequentiallyConsistent)
        else { return sleep() }
        sleep()
        mark.isParked.store(false, ordering: .sequentiallyConsistent)
        mark.waitForFork()
    }

    private func waitForFork() {
        while flags.load(ordering: .sequentiallyConsistent) & Self.isForking != 0 {
            isParked.store(true, ordering: .sequentiallyConsistent)
            ForkGate.waitWhileClosed()
            isParked.store(false, ordering: .sequentiallyConsistent)
        }
    }

    // MARK: Other threads

    /// True if the thread may be inside a call that uses the owner at this address. If so, the end
    /// of the call learns that it has work to do. The caller has made sure that no new call can
    /// reach it.
    package func mayUse(_ address: UInt) -> Bool {
        flags.bitwiseOr(Self.hasLeft, ordering: .sequentiallyConsistent)
        guard AsymmetricFence.heavy() else { return true }
        // To resolve a handle takes some 100 instructions, unless the thread is not running.
        let deadline = Deadline(timeoutMilliseconds: 100)
        var what = inside.load(ordering: .acquiring)
        while what == Self.resolving, !deadline.hasPassed {
            Futex.sleep(nanoseconds: 20_000)
            what = inside.load(ordering: .acquiring)
        }
        return what == Self.resolving || what == Self.everything || what == address
    }

    fileprivate var isRunning: Bool {
        inside.load(ordering: .acquiring) != 0 && !isParked.load(ordering: .acquiring)
    }

    fileprivate func setForking(_ isForking: Bool) {
        if isForking {
            flags.bitwiseOr(Self.isForking, ordering: .sequentiallyConsistent)
        } else {
            flags.bitwiseAnd(~Self.isForking, ordering: .sequentiallyConsistent)
        }
    }

    // MARK: Threads of the library

    /// The mark of a thread that is about to start: it is inside something from now on.
    static func ofNewThread() -> ThreadMark { ThreadMark(inside: everything) }

    /// The calling thread is the one that the mark was made for.
    func adopt() { Self.local.replace(with: self) }

    /// The thread is about to end.
    func end() { inside.store(0, ordering: .releasing) }
}

/// Lets a fork wait until no other thread runs code of the library.
///
/// A child of a fork can't know what another thread of the parent was doing. The library's own
/// tables use `ProcessWide`; the Swift runtime has locks of its own, which it takes when something
/// is done for the first time in a process, and never releases in a child. So a fork waits until
/// the threads that are inside a call have left it or sleep, and meanwhile no call begins. The wait
/// is short: a thread that waits for a disk or is inside a callback holds no such lock.
enum ForkGate {
    private static let patienceMilliseconds = 50

    /// Held from `close` to `open`; guards `marks`, which is `nonisolated(unsafe)` for that.
    private static let lock = ThreadLock()
    nonisolated(unsafe) private static var marks: [Unmanaged<ThreadMark>] = []
    /// Grows whenever the gate opens.
    private static let turn: Futex = {
        let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        word.initialize(to: Atomic(0))
        return Futex(word: word, isPrivate: true)
    }()
    private static let isClosed = Atomic<Bool>(false)

    static func add(_ mark: ThreadMark) {
        withLock { marks.append(.passUnretained(mark)) }
    }

    static func remove(_ mark: ThreadMark) {
        withLock { marks.removeAll { $0.toOpaque() == Unmanaged.passUnretained(mark).toOpaque() } }
    }

    private static func withLock(_ body: () -> Void) {
        _ = lock.lock(until: Deadline(timeoutMilliseconds: nil))
        body()
        lock.unlock()
    }

    static func waitWhileClosed() {
        let seen = turn.word.pointee.load(ordering: .sequentiallyConsistent)
        if isClosed.load(ordering: .sequentiallyConsistent) {
            turn.waitUnmarked(while: seen)
        }
    }

    /// Before a fork, on the thread that forks.
    static func close() {
        _ = lock.lock(until: Deadline(timeoutMilliseconds: nil))
        let own = ThreadMark.existing.map { Unmanaged.passUnretained($0).toOpaque() }
        let others = marks.filter { $0.toOpaque() != own }
        guard !others.isEmpty else { return }
        isClosed.store(true, ordering: .sequentiallyConsistent)
        for mark in others { mark._withUnsafeGuaranteedRef { $0.setForking(true) } }
        _ = AsymmetricFence.heavy()
        let deadline = Deadline(timeoutMilliseconds: patienceMilliseconds)
        for mark in others {
            while mark._withUnsafeGuaranteedRef({ $0.isRunning }), !deadline.hasPassed {
                Futex.sleep(nanoseconds: 20_000)
            }
        }
    }

    /// After it, in both processes, on the same thread. The child has no other threads.
    static func open(inChild: Bool) {
        for mark in marks { mark._withUnsafeGuaranteedRef { $0.setForking(false) } }
        isClosed.store(false, ordering: .sequentiallyConsistent)
        if inChild {
            let own = ThreadMark.existing.map { Unmanaged.passUnretained($0) }
            marks = own.map { [$0] } ?? []
        } else {
            turn.word.pointee.add(1, ordering: .sequentiallyConsistent)
            turn.wake(.max)
        }
        lock.unlock()
    }
}
