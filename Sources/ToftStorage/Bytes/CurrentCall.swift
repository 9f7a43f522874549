internal import ToftPlatform

/// The call that the calling thread works for.
package enum CurrentCall {
    /// For long operations: throws `interrupted` when the call is to end.
    package static func checkInterruption() throws(StorageError) {
        if InterruptProbe.current?.isInterrupted == true { throw .interrupted }
    }
}
