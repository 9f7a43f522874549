extension [UInt8] {
    /// The array's bytes, for the time of the call.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> Result)
        throws(StorageError) -> Result
    {
        try withUnsafeBufferPointer { buffer throws(StorageError) in
            try body(UnsafeRawBufferPointer(buffer))
        }
    }
}
