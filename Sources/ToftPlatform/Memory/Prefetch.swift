public import CPlatform

extension UnsafeRawPointer {
    /// Asks the processor for the cache line at this address, which will be read soon. Any address
    /// will do.
    ///
    /// It is public because only public code is inlined in other modules: a call for each line
    /// would cost as much as the prefetch saves.
    @inlinable @inline(__always)
    public func prefetch() { platform_prefetch(self) }
}
