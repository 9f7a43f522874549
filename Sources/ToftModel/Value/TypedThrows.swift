extension [UInt8] {
    /// Calls `body` with the array's bytes; the standard function loses the type of its closure's
    /// errors.
    @inline(__always)
    package func withBytes<Success, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Success
    )
        throws(Failure) -> Success
    {
        let result: Result<Success, Failure> = withUnsafeBytes { buffer in
            do throws(Failure) { return .success(try body(buffer)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
