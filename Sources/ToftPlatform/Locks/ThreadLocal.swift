public import Glibc
public import Synchronization

/// One object for each thread: made at its first access, released on that thread when it ends. It
/// is public because only public code is inlined in other modules; a generic call would take longer
/// than the caller's own work.
///
/// The system's key is made at the first access. So a static variable of this type is initialized
/// by the compiler, and an access does not check that.
public struct ThreadLocal<Value: AnyObject>: ~Copyable, Sendable {
    /// 1 more than the system's key; 0 before the first look.
    @usableFromInline let keyWord: Atomic<UInt32>

    @inlinable
    @inline(__always)
    public init() {
        keyWord = Atomic(0)
    }

    /// The system's key, if it was made.
    @inlinable @inline(__always)
    var key: pthread_key_t? {
        let word = keyWord.load(ordering: .acquiring)
        return word == 0 ? nil : word &- 1
    }

    /// The system's key; nil in a process that is out of keys.
    private func makeKey() -> pthread_key_t? {
        if let key { return key }
        var made = pthread_key_t()
        let result = pthread_key_create(&made) { bits in
            if let bits { Unmanaged<AnyObject>.fromOpaque(bits).release() }
        }
        guard result == 0 else { return nil }
        let (won, current) = keyWord.compareExchange(
            expected: 0, desired: made &+ 1, ordering: .acquiringAndReleasing)
        if won { return made }
        pthread_key_delete(made)
        return current &- 1
    }

    /// The calling thread's object. A process that is out of keys or memory gets a new one at every
    /// look.
    public func value(orMake make: () -> Value) -> Value {
        // Before the object: objects of a thread end in the order of their keys, so this one ends
        // before those that it makes.
        guard let key = makeKey() else { return make() }
        if let bits = pthread_getspecific(key) {
            return Unmanaged<Value>.fromOpaque(bits).takeUnretainedValue()
        }
        return replace(with: make())
    }

    /// The calling thread's object, if there is one.
    var existing: Value? {
        guard let key, let bits = pthread_getspecific(key) else { return nil }
        return Unmanaged<Value>.fromOpaque(bits).takeUnretainedValue()
    }

    /// Asks the calling thread's object something, for less than taking hold of it costs.
    @inlinable @inline(__always)
    public func ask<Answer>(orMake make: () -> Value, _ question: (Value) -> Answer) -> Answer {
        guard let key, let bits = pthread_getspecific(key) else {
            return question(value(orMake: make))
        }
        return Unmanaged<Value>.fromOpaque(bits)._withUnsafeGuaranteedRef(question)
    }

    /// Whether an object is the calling thread's; cheaper than reading the object.
    @inlinable @inline(__always)
    public func isCurrent(_ value: Unmanaged<Value>) -> Bool {
        guard let key else { return false }
        return pthread_getspecific(key) == value.toOpaque()
    }

    /// Gives the calling thread another object and releases the one it had.
    @discardableResult
    package func replace(with value: Value) -> Value {
        guard let key = makeKey() else { return value }
        let old = pthread_getspecific(key)
        let bits = Unmanaged.passRetained(value).toOpaque()
        guard pthread_setspecific(key, bits) == 0 else {
            Unmanaged<Value>.fromOpaque(bits).release()
            return value
        }
        if let old { Unmanaged<Value>.fromOpaque(old).release() }
        return value
    }
}
