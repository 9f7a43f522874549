package import ToftPlatform

/// A disk whose next durable write takes so long that others get work done meanwhile.
package final class SlowFile: WrappedFile, @unchecked Sendable {
    /// Done in the next durable write, before it happens; then forgotten.
    package var meanwhile: (() throws -> Void)?
    /// Whether the durable write fails with the error of the action.
    package var failsAfterwards = false
    /// The error of that.
    package private(set) var failure: (any Error)?

    package override init(_ base: any StorageFile) { super.init(base) }

    package override func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        let work = meanwhile
        meanwhile = nil
        do {
            try work?()
        } catch {
            failure = error
        }
        if failsAfterwards, let error = failure as? SystemError { throw error }
        try super.writeDurably(bytes, at: offset)
    }
}
