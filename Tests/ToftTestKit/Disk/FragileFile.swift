internal import Synchronization
package import ToftPlatform

/// A disk below a page cache, as it is on a real machine when a sync fails: the kernel calls the
/// pages clean, so no later sync writes them, while the cache still shows them (ext4, XFS), or
/// shows the content of the disk (btrfs).
package final class FragileFile: WrappedFile, @unchecked Sendable {
    package enum AfterFailure: String, Sendable, CaseIterable {
        case cacheKeepsThem
        case cacheForgetsThem
    }

    private struct State {
        var device: [UInt8]
        var dirty: Set<Int> = []
    }

    private let state: Mutex<State>
    private let afterFailure: AfterFailure
    private static let pageSize = 4096

    package init(content: [UInt8], afterFailure: AfterFailure) throws {
        state = Mutex(State(device: content))
        self.afterFailure = afterFailure
        super.init(try MemoryFile(content: content))
    }

    /// The bytes that a power failure leaves, at the least.
    package var device: [UInt8] { state.withLock { $0.device } }

    package override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try base.write(bytes, at: offset)
        state.withLock { $0.dirty.formUnion(Self.pages(offset, bytes.count)) }
    }

    package override func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try write(bytes, at: offset)
        try writeOut(Array(Self.pages(offset, bytes.count)))
    }

    package override func sync() throws(SystemError) {
        try writeOut(state.withLock { $0.dirty.sorted() })
        let size = Int(try base.size())
        state.withLock { Self.resize(&$0.device, size) }
    }

    package override func readFromDevice(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        let device = device
        guard Int(offset) + buffer.count <= device.count else {
            throw .fileEnds(path: path, offset: UInt64(device.count))
        }
        buffer.copyBytes(from: device[Int(offset)..<Int(offset) + buffer.count])
        _ = try base.size()
    }

    /// The effect of a failing sync.
    package func loseDirtyPages() throws(SystemError) {
        let dirty = state.withLock { state in
            defer { state.dirty = [] }
            return state.dirty
        }
        guard afterFailure == .cacheForgetsThem else { return }
        let device = device
        for page in dirty {
            guard (page + 1) * Self.pageSize <= device.count else { continue }
            let content = Array(device[page * Self.pageSize..<(page + 1) * Self.pageSize])
            try content.withUnsafeBufferPointer { bytes throws(SystemError) in
                try base.write(UnsafeRawBufferPointer(bytes), at: UInt64(page * Self.pageSize))
            }
        }
    }

    private func writeOut(_ pages: [Int]) throws(SystemError) {
        for page in pages {
            let content = try content(of: page)
            state.withLock { state in
                if state.device.count < page * Self.pageSize + content.count {
                    Self.resize(&state.device, page * Self.pageSize + content.count)
                }
                state.device.replaceSubrange(
                    page * Self.pageSize..<page * Self.pageSize + content.count, with: content)
                state.dirty.remove(page)
            }
        }
    }

    private func content(of page: Int) throws(SystemError) -> [UInt8] {
        let count = min(Self.pageSize, Int(try base.size()) - page * Self.pageSize)
        var content = [UInt8](repeating: 0, count: count)
        try content.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
            try base.read(
                into: UnsafeMutableRawBufferPointer(buffer), at: UInt64(page * Self.pageSize))
        }
        return content
    }

    private static func pages(_ offset: UInt64, _ count: Int) -> Range<Int> {
        Int(offset) / pageSize..<(Int(offset) + count + pageSize - 1) / pageSize
    }

    private static func resize(_ bytes: inout [UInt8], _ size: Int) {
        if bytes.count < size {
            bytes.append(contentsOf: [UInt8](repeating: 0, count: size - bytes.count))
        }
        if bytes.count > size { bytes.removeLast(bytes.count - size) }
    }
}
