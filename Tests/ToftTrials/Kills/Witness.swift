internal import Glibc
internal import Synchronization
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Memory that a parent and its children share, so that a child's knowledge outlives it: its
/// acknowledged commits, its place, its locks. In the other direction, it says where a child is to
/// die.
final class Witness: @unchecked Sendable {
    enum Field: Int {
        /// The number of the last commit that returned, of the last that is surely durable, and of
        /// those that were begun.
        case acknowledged, durable, began
        /// The last moment that was reached, counted from 1, and the locks held.
        case moment, locks
        /// The version that the child has pinned for long; otherwise 0.
        case pinned
        /// The number of steps that the child has done.
        case progress
        /// The moment to die at, counted from 1; the number of times to pass it before; and the
        /// signal to send to itself there.
        case wish, patience, signal
        /// 1 when the wish came true.
        case fulfilled
    }

    /// Bits of `locks`.
    enum Lock: UInt64, CaseIterable {
        case writer = 1
        case checkpoint = 2
        case attach = 4
    }

    static let slotCount = 16
    private static let wordsOfSlot = 16
    private static let byteCount = slotCount * wordsOfSlot * 8

    private let base: UnsafeMutableRawPointer

    /// Maps the file at `path`, which is made if it is missing.
    init(_ path: String) throws {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0, ftruncate(file, off_t(Self.byteCount)) == 0 else {
            throw Failure("\(path): errno \(errno)")
        }
        defer { close(file) }
        guard let mapped = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            mapped != MAP_FAILED
        else {
            throw Failure("mmap: errno \(errno)")
        }
        base = mapped
    }

    deinit { munmap(base, Self.byteCount) }

    private func word(_ slot: Int, _ field: Field) -> UnsafeMutablePointer<Atomic<UInt64>> {
        (base + (slot * Self.wordsOfSlot + field.rawValue) * 8).assumingMemoryBound(
            to: Atomic<UInt64>.self)
    }

    subscript(slot: Int, field: Field) -> UInt64 {
        get { word(slot, field).pointee.load(ordering: .sequentiallyConsistent) }
        set { word(slot, field).pointee.store(newValue, ordering: .sequentiallyConsistent) }
    }

    func add(_ slot: Int, _ field: Field) {
        word(slot, field).pointee.add(1, ordering: .sequentiallyConsistent)
    }

    /// For numbers that several threads report, in any order.
    func raise(_ slot: Int, _ field: Field, to value: UInt64) {
        word(slot, field).pointee.max(value, ordering: .sequentiallyConsistent)
    }

    /// Forgets all of a slot but the acknowledged commits.
    func renew(_ slot: Int) {
        for field in [
            Field.moment, .locks, .pinned, .progress, .wish, .patience, .signal, .fulfilled,
        ] { self[slot, field] = 0 }
    }

    func moment(_ slot: Int) -> Failpoint? {
        Failpoint(rawValue: Int(self[slot, .moment]) - 1)
    }

    func locks(_ slot: Int) -> [Lock] {
        Lock.allCases.filter { self[slot, .locks] & $0.rawValue != 0 }
    }

    /// Asks a child to send itself a signal at a moment.
    func wish(_ slot: Int, _ moment: Failpoint, signal: Int32, patience: Int) {
        self[slot, .wish] = 0
        self[slot, .fulfilled] = 0
        self[slot, .patience] = UInt64(patience)
        self[slot, .signal] = UInt64(signal)
        self[slot, .wish] = UInt64(moment.rawValue + 1)
    }

    // MARK: In the child

    #if TOFT_TRIALS
    /// From now on every moment of this process is noted in its slot.
    func observe(as slot: Int) {
        Failpoint.observer = { [self] moment in note(moment, slot) }
    }

    private func note(_ moment: Failpoint, _ slot: Int) {
        self[slot, .moment] = UInt64(moment.rawValue + 1)
        switch moment {
        case .writerTaken: hold(.writer, slot)
        case .writerLeaving: drop(.writer, slot)
        case .checkpointTaken: hold(.checkpoint, slot)
        case .checkpointLeaving: drop(.checkpoint, slot)
        case .attachTaken, .leavingLast: hold(.attach, slot)
        case .opened, .joined: drop(.attach, slot)
        default: break
        }
        guard self[slot, .wish] == UInt64(moment.rawValue + 1) else { return }
        guard self[slot, .patience] == 0 else { return self[slot, .patience] -= 1 }
        self[slot, .wish] = 0
        self[slot, .fulfilled] = 1
        kill(getpid(), Int32(self[slot, .signal]))
    }

    private func hold(_ lock: Lock, _ slot: Int) {
        word(slot, .locks).pointee.bitwiseOr(lock.rawValue, ordering: .sequentiallyConsistent)
    }
    private func drop(_ lock: Lock, _ slot: Int) {
        word(slot, .locks).pointee.bitwiseAnd(~lock.rawValue, ordering: .sequentiallyConsistent)
    }
    #else
    /// This build has no moments: kills come at any time.
    func observe(as slot: Int) {}
    #endif
}
