public import Glibc

/// One object for each thread that asks: made at its first look, released on that thread when it
/// ends. Public because only what is public is inlined in other modules, where a generic call would
/// take longer than what asks.
public final class ThreadLocal<Value: AnyObject>: Sendable {
    @usableFromInline let key: pthread_key_t?

    package init() {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { bits in
            if let bits { Unmanaged<AnyObject>.fromOpaque(bits).release() }
        }
        self.key = result == 0 ? key : nil
    }

    /// The calling thread's object. A process that is out of keys or memory gets a new one at every
    /// look.
    public func value(orMake make: () -> Value) -> Value {
        guard let key else { return make() }
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

    /// Whether an object is the calling thread's: for less than a look at it costs.
    @inlinable @inline(__always)
    public func isCurrent(_ value: Unmanaged<Value>) -> Bool {
        guard let key else { return false }
        return pthread_getspecific(key) == value.toOpaque()
    }

    /// Gives the calling thread another object and releases the one it had.
    @discardableResult
    package func replace(with value: Value) -> Value {
        guard let key else { return value }
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
