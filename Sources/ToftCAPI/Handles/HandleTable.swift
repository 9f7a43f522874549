internal import Synchronization
internal import ToftPlatform
internal import ToftEngine

/// The kinds of handles, of 6 bits. Kind 0 marks a free slot, so no handle is NULL; 32 and more
/// make the bits no address of a user's process.
enum HandleKind: UInt64 {
    case schema = 32
    case realm = 33
    case object = 34
    case list = 35
    case results = 36
    case token = 37
    case query = 38
    case set = 39
    case dictionary = 40
    case migration = 41

    /// Whether other threads than the realm's read handles of this kind.
    fileprivate var isShared: Bool {
        self == .schema || self == .token || self == .realm || self == .query
    }
}

/// All handles of the process: it maps the bits of a `toft_x *` to an object.
///
/// The bits of a handle are kind (6), generation (26) and index (32) of a slot. A slot that is used
/// again has the next generation, so a stale handle never names another's object, and a slot that
/// has had all its generations is retired. Slots never move and are never released, so a forged or
/// stale handle reads memory of the table, whatever its bits are.
///
/// 1. Making takes no lock, nor does releasing a thread's own handles: free slots form a stack
///    whose head carries a counter (against ABA).
/// 2. A look compares the slot's tag with the handle before and after it reads the object. It may
///    follow the reference because a. only the thread of an object's owner may look, and the object
///    ends on that thread or while it is inside no call (`HandleOwner`, `ThreadMark`), and b. any
///    other object is reached under `sharedLock` alone, which holds releasers off.
struct HandleTable: ~Copyable, Sendable {
    static let shared = HandleTable()

    private struct Slot: ~Copyable {
        /// The handle's bits while it lives; the same with kind 0 while it is free.
        let tag = Atomic<UInt64>(0)
        /// The object, retained; while it is free: index + 1 of the next free slot.
        let object = Atomic<UInt>(0)
        /// The owner, retained, or 0.
        let owner = Atomic<UInt>(0)
        /// The owner's thread, or 0.
        let thread = Atomic<UInt64>(0)
    }

    private typealias ChunkPointer = Atomic<UInt>

    private static let firstChunkSlots = 1024
    private static let chunkCount = 22
    private static let kindShift: UInt64 = 58
    private static let lastGeneration: UInt64 = 1 << 26 - 1

    /// Chunk k has 1024 << k slots.
    private nonisolated(unsafe) let chunks: UnsafeMutablePointer<ChunkPointer>
    private let freeHead = Atomic<UInt64>(0)
    private let nextIndex = Atomic<UInt64>(0)
    private let liveCount = Atomic<UInt64>(0)
    private let sharedLock = ProcessWide { () }

    private init() {
        chunks = .allocate(capacity: Self.chunkCount)
        for index in 0..<Self.chunkCount { (chunks + index).initialize(to: ChunkPointer(0)) }
    }

    /// Handles alive.
    var count: UInt64 { liveCount.load(ordering: .relaxed) }
}

/// The object of a living handle.
struct HandleTarget {
    let object: AnyObject
    let owner: HandleOwner?
}

extension HandleTable {
    /// Makes a handle that keeps the object alive.
    func make(_ kind: HandleKind, _ object: AnyObject, owner: HandleOwner?) throws(EngineError)
        -> OpaquePointer?
    {
        let index = try takeFreeIndex()
        guard let slot = slot(at: index) else { throw .tooManyHandles }
        let generation = slot.pointee.tag.load(ordering: .relaxed) >> 32 & Self.lastGeneration + 1
        let bits = kind.rawValue << Self.kindShift | generation << 32 | index
        slot.pointee.object.store(Unmanaged.passRetained(object).bits, ordering: .relaxed)
        slot.pointee.owner.store(
            owner.map { Unmanaged.passRetained($0).bits } ?? 0, ordering: .relaxed)
        slot.pointee.thread.store(owner?.thread ?? 0, ordering: .relaxed)
        slot.pointee.tag.store(bits, ordering: .releasing)
        liveCount.add(1, ordering: .relaxed)
        owner?.handleWasMade()
        return OpaquePointer(bitPattern: UInt(bits))
    }

    /// Runs `body` with the object of a handle, on its realm's thread without a reference count:
    /// for calls without callbacks, as a thread's objects do not end within its calls.
    @inline(__always)
    func look<Box: AnyObject>(
        _ handle: OpaquePointer?, _ kind: HandleKind, _ body: (Box) throws(EngineError) -> Void
    ) throws(EngineError) {
        let bits = UInt64(UInt(bitPattern: handle))
        if bits >> Self.kindShift == kind.rawValue, let slot = slot(at: bits & 0xFFFF_FFFF),
            slot.pointee.tag.load(ordering: .acquiring) == bits
        {
            let thread = slot.pointee.thread.load(ordering: .relaxed)
            let object = slot.pointee.object.load(ordering: .relaxed)
            let owner = slot.pointee.owner.load(ordering: .relaxed)
            if CallingThread.isCurrent(thread, using: owner) {
                atomicMemoryFence(ordering: .acquiring)
                guard slot.pointee.tag.load(ordering: .relaxed) == bits,
                    let object = Unmanaged<Box>(bits: object)
                else { throw .invalidHandle(kind) }
                return try object.borrow(body)
            }
        }
        try body(unsafeDowncast(try look(handle, kind).object, to: Box.self))
    }

    /// The object of a handle, on its realm's thread.
    @inline(__always)
    func look(_ handle: OpaquePointer?, _ kind: HandleKind) throws(EngineError) -> HandleTarget {
        let bits = UInt64(UInt(bitPattern: handle))
        guard bits >> Self.kindShift == kind.rawValue, let slot = slot(at: bits & 0xFFFF_FFFF),
            slot.pointee.tag.load(ordering: .acquiring) == bits
        else {
            throw .invalidHandle(kind)
        }
        let thread = slot.pointee.thread.load(ordering: .relaxed)
        let object = slot.pointee.object.load(ordering: .relaxed)
        let owner = slot.pointee.owner.load(ordering: .relaxed)
        guard CallingThread.isCurrent(thread, using: owner) else {
            guard CallingThread.isAny(thread), !CallingThread.isFromParent(thread) else {
                throw .foreignThread(thread)
            }
            return try lookAndEnter(bits, slot, kind)
        }
        atomicMemoryFence(ordering: .acquiring)
        guard slot.pointee.tag.load(ordering: .relaxed) == bits else { throw .invalidHandle(kind) }
        guard let object = Unmanaged<AnyObject>(bits: object)?.takeUnretainedValue() else {
            throw .invalidHandle(kind)
        }
        return HandleTarget(
            object: object, owner: Unmanaged<HandleOwner>(bits: owner)?.takeUnretainedValue())
    }

    /// The object of a handle whose realm has no thread. An owner that is confined to the caller is
    /// entered.
    private func lookAndEnter(
        _ bits: UInt64, _ slot: UnsafeMutablePointer<Slot>, _ kind: HandleKind
    ) throws(EngineError) -> HandleTarget {
        let found = sharedLock.withLock { _ -> (Unmanaged<AnyObject>, HandleOwner)? in
            guard slot.pointee.tag.load(ordering: .acquiring) == bits,
                let object = Unmanaged<AnyObject>(
                    bits: slot.pointee.object.load(ordering: .relaxed)),
                let owner = Unmanaged<HandleOwner>(
                    bits: slot.pointee.owner.load(ordering: .relaxed))
            else { return nil }
            return (object.retain(), owner.takeUnretainedValue())
        }
        guard let (object, owner) = found else { throw .invalidHandle(kind) }
        CallingThread.use(owner)
        if owner.isShared {
            return HandleTarget(object: object.takeRetainedValue(), owner: owner)
        }
        do throws(EngineError) {
            try owner.enter()
        } catch {
            // A release may have made this the last reference: it must end inside.
            owner.end(object, on: CallingThread.currentIdentity)
            throw error
        }
        return HandleTarget(object: object.takeRetainedValue(), owner: owner)
    }

    /// The interruption of a realm's waits, on any thread.
    func interruption(of realm: OpaquePointer?) throws(EngineError) -> Interruption {
        let bits = UInt64(UInt(bitPattern: realm))
        guard bits >> Self.kindShift == HandleKind.realm.rawValue,
            let slot = slot(at: bits & 0xFFFF_FFFF)
        else { throw .invalidHandle(.realm) }
        // The realm's own thread may be inside a call: only constants are read.
        let found = sharedLock.withLock { _ -> (Interruption?, thread: UInt64)? in
            guard slot.pointee.tag.load(ordering: .acquiring) == bits else { return nil }
            let thread = slot.pointee.thread.load(ordering: .relaxed)
            if CallingThread.isFromParent(thread) { return (nil, thread) }
            guard
                let owner = Unmanaged<HandleOwner>(
                    bits: slot.pointee.owner.load(ordering: .relaxed))
            else { return nil }
            return (owner.takeUnretainedValue().interruption, thread)
        }
        guard let found else { throw .invalidHandle(.realm) }
        guard let interruption = found.0 else { throw .foreignThread(found.thread) }
        return interruption
    }

    /// The owner of a handle, if the current call on this thread may use its objects.
    func ownerInUse(by handle: OpaquePointer?) -> HandleOwner? {
        let bits = UInt64(UInt(bitPattern: handle))
        guard bits >> Self.kindShift != 0, let slot = slot(at: bits & 0xFFFF_FFFF) else {
            return nil
        }
        let owner = sharedLock.withLock { _ -> HandleOwner? in
            guard slot.pointee.tag.load(ordering: .acquiring) == bits else { return nil }
            let thread = slot.pointee.thread.load(ordering: .relaxed)
            guard thread == CallingThread.currentIdentity || CallingThread.isAny(thread) else {
                return nil
            }
            return Unmanaged<HandleOwner>(bits: slot.pointee.owner.load(ordering: .relaxed))?
                .takeUnretainedValue()
        }
        return owner.flatMap { $0.isInUse(on: CallingThread.currentIdentity) ? $0 : nil }
    }

    /// The object of a handle without a thread, on any thread.
    func lookShared(_ handle: OpaquePointer?, _ kind: HandleKind) throws(EngineError) -> AnyObject {
        let bits = UInt64(UInt(bitPattern: handle))
        guard bits >> Self.kindShift == kind.rawValue, let slot = slot(at: bits & 0xFFFF_FFFF)
        else { throw .invalidHandle(kind) }
        let object = sharedLock.withLock { _ -> Unmanaged<AnyObject>? in
            guard slot.pointee.tag.load(ordering: .acquiring) == bits else { return nil }
            return Unmanaged<AnyObject>(bits: slot.pointee.object.load(ordering: .relaxed))?
                .retain()
        }
        guard let object else { throw .invalidHandle(kind) }
        return object.takeRetainedValue()
    }

    /// Ends a handle; nothing happens when it does not live or is of another kind. Any thread.
    func release(_ handle: OpaquePointer?, _ kind: HandleKind) {
        let call = CallingThread.enterCall(ThreadMark.everything)
        end(handle, kind)
        call.leave()
    }

    private func end(_ handle: OpaquePointer?, _ kind: HandleKind) {
        let bits = UInt64(UInt(bitPattern: handle))
        guard bits >> Self.kindShift == kind.rawValue, let slot = slot(at: bits & 0xFFFF_FFFF)
        else { return }
        // Objects of a forked process's parent must not end here: their locks and descriptors are
        // the parent's.
        let thread = slot.pointee.thread.load(ordering: .relaxed)
        if thread != 0, CallingThread.isFromParent(thread) { return }
        let free = bits & (1 << Self.kindShift - 1)
        let isOurs =
            kind.isShared || CallingThread.isAny(thread)
            ? sharedLock.withLock { _ in
                slot.pointee.tag.compareExchange(
                    expected: bits, desired: free, ordering: .acquiring
                ).exchanged
            }
            : slot.pointee.tag.compareExchange(expected: bits, desired: free, ordering: .acquiring)
                .exchanged
        guard isOurs else { return }
        let object = Unmanaged<AnyObject>(bits: slot.pointee.object.load(ordering: .relaxed))
        let owner = Unmanaged<HandleOwner>(bits: slot.pointee.owner.load(ordering: .relaxed))?
            .takeRetainedValue()
        if free >> 32 < Self.lastGeneration { giveBack(index: bits & 0xFFFF_FFFF, slot) }
        liveCount.subtract(1, ordering: .relaxed)
        guard let object else { return }
        if let owner {
            owner.take(object, on: CallingThread.currentIdentity)
        } else {
            object.release()
        }
    }
}

extension HandleTable {
    private func takeFreeIndex() throws(EngineError) -> UInt64 {
        var head = freeHead.load(ordering: .acquiring)
        while head & 0xFFFF_FFFF != 0 {
            let index = head & 0xFFFF_FFFF - 1
            guard let slot = slot(at: index) else { break }
            let next = UInt64(slot.pointee.object.load(ordering: .relaxed)) & 0xFFFF_FFFF
            let (taken, current) = freeHead.compareExchange(
                expected: head, desired: (head >> 32 &+ 1) << 32 | next,
                ordering: .acquiringAndReleasing)
            if taken { return index }
            head = current
        }
        return try addIndex()
    }

    private func giveBack(index: UInt64, _ slot: UnsafeMutablePointer<Slot>) {
        var head = freeHead.load(ordering: .relaxed)
        while true {
            slot.pointee.object.store(UInt(head & 0xFFFF_FFFF), ordering: .relaxed)
            let (given, current) = freeHead.compareExchange(
                expected: head, desired: (head >> 32 &+ 1) << 32 | (index + 1),
                ordering: .acquiringAndReleasing)
            if given { return }
            head = current
        }
    }

    private func addIndex() throws(EngineError) -> UInt64 {
        let limit = UInt64(Self.firstChunkSlots) * (1 << Self.chunkCount - 1)
        var index = nextIndex.load(ordering: .relaxed)
        while true {
            guard index < limit else { throw .tooManyHandles }
            let (added, current) = nextIndex.compareExchange(
                expected: index, desired: index + 1, ordering: .relaxed)
            if added { break }
            index = current
        }
        addChunk(Self.position(of: index).chunk)
        return index
    }

    private func addChunk(_ chunk: Int) {
        guard chunks[chunk].load(ordering: .acquiring) == 0 else { return }
        let count = Self.firstChunkSlots << chunk
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: count)
        for index in 0..<count { (slots + index).initialize(to: Slot()) }
        let (added, _) = chunks[chunk].compareExchange(
            expected: 0, desired: UInt(bitPattern: slots), ordering: .acquiringAndReleasing)
        if !added { slots.deallocate() }
    }

    @inline(__always)
    private func slot(at index: UInt64) -> UnsafeMutablePointer<Slot>? {
        let (chunk, offset) = Self.position(of: index)
        guard chunk < Self.chunkCount else { return nil }
        let slots = UnsafeMutablePointer<Slot>(bitPattern: chunks[chunk].load(ordering: .acquiring))
        return slots.map { $0 + offset }
    }

    @inline(__always)
    private static func position(of index: UInt64) -> (chunk: Int, offset: Int) {
        let position = index + UInt64(firstChunkSlots)
        let chunk = 63 - position.leadingZeroBitCount - 10
        return (chunk, Int(position) - firstChunkSlots << chunk)
    }
}

extension Unmanaged {
    fileprivate var bits: UInt { UInt(bitPattern: toOpaque()) }

    fileprivate init?(bits: UInt) {
        guard let pointer = UnsafeRawPointer(bitPattern: bits) else { return nil }
        self = Self.fromOpaque(pointer)
    }
}
