public import CPlatform

extension UnsafeRawPointer {
    /// Asks the processor for the cache line at this address, which will be read soon. Any address
    /// will do.
    ///
    /// Public because only what is public is inlined in other modules: a call for each line costs
    /// as much as the line's arrival saves.
    @inlinable @inline(__always)
    public func prefetch() { platform_prefetch(self) }
}
