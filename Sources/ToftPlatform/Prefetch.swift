internal import CPlatform

extension UnsafeRawPointer {
    /// Asks the processor for the cache line at this address, which will be read soon. Any address
    /// will do.
    @inline(__always)
    func prefetch() { platform_prefetch(self) }
}
