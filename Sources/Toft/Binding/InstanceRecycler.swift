/// The instance that a loop gave out last, which it gives out again if nothing else refers to it.
///
/// A strong reference (a variable, a closure, an observation), an unowned or a weak one leaves it
/// the object that it is. A copy of the iterator shares the instance, and so gives out another one.
struct InstanceRecycler {
    private var instance: ObjectBase?
    /// `object` without a reference count.
    private var unmanaged: Unmanaged<ObjectBase>?
    /// Number of successive instances that were kept by the loop's body.
    private var misses = 0
    private let isWanted: Bool

    init(isWanted: Bool) {
        self.isWanted = isWanted
    }

    /// The instance, if nothing else refers to it.
    @inline(__always)
    mutating func take() -> ObjectBase? {
        // An object without references counts itself once as weak and once as unowned.
        guard isKnownUniquelyReferenced(&instance), let unmanaged,
            unmanaged._withUnsafeGuaranteedRef({
                _getUnownedRetainCount($0) == 1 && _getWeakRetainCount($0) == 1
            })
        else { return nil }
        misses = 0
        return unmanaged.takeUnretainedValue()
    }

    /// Remembers a new instance, in place of one that is kept. A body that keeps many will keep
    /// more: from 8 in a row on, only one of 64 is remembered.
    mutating func put(_ object: ObjectBase) {
        guard isWanted else { return }
        misses &+= 1
        guard misses < 8 || misses & 63 == 0 else {
            if instance != nil { (instance, unmanaged) = (nil, nil) }
            return
        }
        instance = object
        unmanaged = .passUnretained(object)
    }
}
