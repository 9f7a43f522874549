internal import Synchronization
package import ToftPlatform

/// A disk that fails at one of its operations, or from one on.
package final class FaultFile: WrappedFile, @unchecked Sendable {
    package enum Operation: String, Sendable, CaseIterable {
        case read, readFromDevice, write, writeDurably, sync, grow, truncate, map, populate, size
    }

    package struct Fault: Sendable {
        /// The operation that fails first, counted from 0.
        package var index: Int
        /// Whether all later ones fail too.
        package var isLasting: Bool
        /// The bytes of a failing write that reach the disk all the same, of 8.
        package var writtenEighths: Int
        package var error: SystemError

        package init(index: Int, isLasting: Bool, writtenEighths: Int = 0, error: SystemError) {
            self.index = index
            self.isLasting = isLasting
            self.writtenEighths = writtenEighths
            self.error = error
        }
    }

    private struct State {
        var fault: Fault?
        var operations: [Operation] = []
    }

    private let state: Mutex<State>

    package init(_ base: any StorageFile, fault: Fault? = nil) {
        state = Mutex(State(fault: fault))
        super.init(base)
    }

    /// The operations on the disk so far.
    package var operations: [Operation] { state.withLock { $0.operations } }

    /// A fault whose index counts from `count` operations on.
    package func plan(_ fault: Fault, after count: Int) {
        var fault = fault
        fault.index += count
        state.withLock { $0.fault = fault }
    }

    /// From now on nothing fails.
    package func repair() { state.withLock { $0.fault = nil } }

    /// Counts an operation; the fault if it is to fail.
    private func fault(at operation: Operation) -> Fault? {
        state.withLock { state in
            let index = state.operations.count
            state.operations.append(operation)
            guard let fault = state.fault,
                index == fault.index || (fault.isLasting && index > fault.index)
            else { return nil }
            return fault
        }
    }

    private func attempt(_ operation: Operation) throws(SystemError) {
        if let fault = fault(at: operation) { throw fault.error }
    }

    private func attemptWrite(
        _ operation: Operation, _ bytes: UnsafeRawBufferPointer, _ offset: UInt64
    ) throws(SystemError) {
        guard let fault = fault(at: operation) else { return }
        defer { if operation == .writeDurably { try? (base as? FragileFile)?.loseDirtyPages() } }
        let part = UnsafeRawBufferPointer(
            rebasing: bytes[..<(bytes.count * fault.writtenEighths / 8)])
        try base.write(part, at: offset)
        throw fault.error
    }

    package override func size() throws(SystemError) -> UInt64 {
        try attempt(.size)
        return try base.size()
    }

    package override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try attempt(.read)
        try base.read(into: buffer, at: offset)
    }

    package override func readFromDevice(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        try attempt(.readFromDevice)
        try base.readFromDevice(into: buffer, at: offset)
    }

    package override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try attemptWrite(.write, bytes, offset)
        try base.write(bytes, at: offset)
    }

    package override func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try attemptWrite(.writeDurably, bytes, offset)
        try base.writeDurably(bytes, at: offset)
    }

    package override func sync() throws(SystemError) {
        do throws(SystemError) {
            try attempt(.sync)
        } catch {
            try (base as? FragileFile)?.loseDirtyPages()
            throw error
        }
        try base.sync()
    }

    package override func grow(to size: UInt64) throws(SystemError) {
        try attempt(.grow)
        try base.grow(to: size)
    }

    package override func truncate(to size: UInt64) throws(SystemError) {
        try attempt(.truncate)
        try base.truncate(to: size)
    }

    package override func map(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer)
        throws(SystemError)
    {
        try attempt(.map)
        try base.map(range, at: address)
    }

    package override func populate(
        _ range: Range<UInt64>, at address: UnsafeRawPointer, readingAhead: Bool
    ) throws(SystemError) {
        try attempt(.populate)
        try base.populate(range, at: address, readingAhead: readingAhead)
    }
}
