internal import Synchronization

/// The instance that a loop gave out last, to be given out again if nobody else refers to it.
///
/// An object's second word counts all who refer to it, strongly, unowned, and weakly (then it is no
/// count but the address of one). Where it is what it is in a new object, the loop's own reference
/// is the only one: nobody can come to know of the object, or look at it, meanwhile.
struct InstanceRecycler {
    private var instance: ObjectBase?
    private var address: UnsafeMutableRawPointer?
    /// How many instances in a row somebody kept.
    private var misses = 0
    private let isWanted: Bool

    init(isWanted: Bool) {
        self.isWanted = isWanted && Self.counts.one < Self.counts.two
    }

    /// The instance, if nobody else refers to it. What others did with it before they let go of it
    /// has been done then; and as nobody else counts, the reference that is given out need not be
    /// counted in one step.
    @inline(__always)
    mutating func take() -> ObjectBase? {
        guard let address else { return nil }
        let word = Self.word(of: address)
        guard word.pointee.load(ordering: .acquiring) == counts.one else { return nil }
        word.pointee.store(counts.two, ordering: .relaxed)
        misses = 0
        return Unmanaged<ObjectBase>.fromOpaque(address).takeRetainedValue()
    }

    /// Remembers a new instance, in place of one that somebody keeps. Who keeps many will keep
    /// more: then it is only now and then tried again.
    mutating func put(_ object: ObjectBase) {
        guard isWanted else { return }
        misses &+= 1
        guard misses < 8 || misses & 63 == 0 else {
            if address != nil { (instance, address) = (nil, nil) }
            return
        }
        instance = object
        address = Unmanaged.passUnretained(object).toOpaque()
    }

    // MARK: Counting

    private let counts = Self.counts

    private static func word(of object: UnsafeMutableRawPointer) -> UnsafeMutablePointer<
        Atomic<UInt>
    > {
        (object + MemoryLayout<UInt>.size).assumingMemoryBound(to: Atomic<UInt>.self)
    }

    /// The word of an object with one reference, and of one with two: seen in two that nobody else
    /// has.
    private static let counts: (one: UInt, two: UInt) = {
        let (hermit, twin) = (makeObject(references: 1), makeObject(references: 2))
        return (
            word(of: hermit).pointee.load(ordering: .relaxed),
            word(of: twin).pointee.load(ordering: .relaxed)
        )
    }()

    /// An object that stays for ever. The compiler, which leaves out what it thinks needs no
    /// counting, sees nothing of it where it is used.
    @inline(never)
    private static func makeObject(references: Int) -> UnsafeMutableRawPointer {
        let object = Unmanaged.passRetained(ObjectBase())
        for _ in 1..<references { _ = object.retain() }
        return object.toOpaque()
    }
}
