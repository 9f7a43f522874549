extension Unmanaged {
    /// Runs a body with the instance, which somebody else keeps meanwhile: no reference is counted.
    ///
    /// The standard library's own function takes no body with typed errors. It is public because
    /// only public code is inlined in other modules.
    @inlinable @inline(__always)
    public func borrow<Value, Failure: Error>(
        _ body: (Instance) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // Not a `Result`: to destroy one takes calls.
        var failure: Failure?
        let value: Value? = _withUnsafeGuaranteedRef { instance in
            do throws(Failure) { return try body(instance) } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        // The result is a value because there was no failure.
        return value.unsafelyUnwrapped
    }
}
