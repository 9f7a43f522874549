internal import Synchronization
internal import ToftPlatform

/// Makes a version visible: its descriptor is written to the next slot of a small ring, then one
/// store of a word names version and slot.
///
/// 1. Only the process that holds the byte of the write lock publishes, one thread at a time (or
///    the first to attach); a descriptor that it did not get to name does not exist.
/// 2. A reader copies the descriptor and reads the word again. If it has changed, the copy is
///    discarded: the slot of the word's version is written again only after the word has changed.
struct VersionRing: Sendable {
    let words: SharedWords

    private var current: UnsafeMutablePointer<Atomic<UInt64>> {
        words.word(LockFileLayout.published)
    }
    private static let count = LockFileLayout.descriptorCount

    /// The word that names the newest version; it never has the same value twice.
    @inline(__always)
    var token: UInt64 { current.pointee.load(ordering: .sequentiallyConsistent) }

    /// The newest version. 0 if no version was published.
    @inline(__always)
    var version: Version {
        Version(current.pointee.load(ordering: .acquiring) / Self.count)
    }

    /// A consistent copy of the newest descriptor, and the token that it was read under.
    func latest() -> (published: PublishedVersion, token: UInt64) {
        while true {
            let token = current.pointee.load(ordering: .acquiring)
            let copy = descriptor(at: token % Self.count)
            atomicMemoryFence(ordering: .acquiring)
            if current.pointee.load(ordering: .relaxed) == token { return (copy, token) }
        }
    }

    func publish(_ version: PublishedVersion) {
        let slot = (current.pointee.load(ordering: .relaxed) % Self.count + 1) % Self.count
        let offset = offset(of: slot)
        store(version.version, offset + LockFileLayout.Descriptor.version)
        withUnsafeTemporaryAllocation(byteCount: Ref.size, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            version.root.encode(to: base)
            for part in stride(from: 0, to: Ref.size, by: 8) {
                store(
                    base.loadUnaligned(fromByteOffset: part, as: UInt64.self),
                    offset + LockFileLayout.Descriptor.root + part)
            }
        }
        store(version.fileSize, offset + LockFileLayout.Descriptor.fileSize)
        store(version.log.position, offset + LockFileLayout.Descriptor.logPosition)
        store(version.log.sequence, offset + LockFileLayout.Descriptor.logSequence)
        store(version.log.hash, offset + LockFileLayout.Descriptor.logHash)
        store(version.durableLog, offset + LockFileLayout.Descriptor.durableLog)
        current.pointee.store(
            version.version.rawValue &* Self.count &+ slot, ordering: .sequentiallyConsistent)
    }

    private func descriptor(at slot: UInt64) -> PublishedVersion {
        let offset = offset(of: slot)
        let root = withUnsafeTemporaryAllocation(byteCount: Ref.size, alignment: 8) {
            buffer -> Ref in
            for part in stride(from: 0, to: Ref.size, by: 8) {
                buffer.storeBytes(
                    of: load(offset + LockFileLayout.Descriptor.root + part), toByteOffset: part,
                    as: UInt64.self)
            }
            guard let base = buffer.baseAddress else {
                return Ref(page: 0, birth: 0, checksum: 0, pageCount: 0)
            }
            return Ref(decoding: base)
        }
        return PublishedVersion(
            version: load(offset + LockFileLayout.Descriptor.version), root: root,
            fileSize: load(offset + LockFileLayout.Descriptor.fileSize),
            log: LogEnd(
                position: load(offset + LockFileLayout.Descriptor.logPosition),
                sequence: load(offset + LockFileLayout.Descriptor.logSequence),
                hash: load(offset + LockFileLayout.Descriptor.logHash)),
            durableLog: load(offset + LockFileLayout.Descriptor.durableLog))
    }

    private func offset(of slot: UInt64) -> Int {
        LockFileLayout.ring + Int(slot) * LockFileLayout.descriptorSize
    }

    private func load(_ offset: Int) -> UInt64 {
        words.word(offset).pointee.load(ordering: .relaxed)
    }
    private func load<Number: Identifier>(_ offset: Int) -> Number { Number(load(offset)) }
    private func store(_ number: some Identifier, _ offset: Int) { store(number.rawValue, offset) }
    private func store(_ value: UInt64, _ offset: Int) {
        words.word(offset).pointee.store(value, ordering: .relaxed)
    }
}
