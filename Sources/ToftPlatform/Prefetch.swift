public import CPlatform

extension UnsafeRawPointer {
    /// Asks the processor for the cache line at this address, which will be read soon. Any address
    /// will do.
    ///
    /// Inlined in other modules, which is why the import is public: a call for each line costs as
    /// much as the line's arrival saves.
    @inlinable @inline(__always)
    package func prefetch() { platform_prefetch(self) }
}
