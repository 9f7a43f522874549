internal import CPlatform
internal import Glibc
internal import Synchronization

/// Where the sections of one file lie in memory.
///
/// 1. A section's address space is reserved whole at its first use, and its address never changes.
/// 2. The part of it that exists in the file is mapped, readable and shared; the rest faults. The
///    mapped part only grows, in step with the file; nothing beyond the end of the file is ever
///    mapped.
/// 3. `base` and `mapped` of a section are written under the lock, base first; readers load
///    `mapped` (acquire), then `base`. So a look-up that finds enough mapped takes no lock.
/// 4. Only `shrink` and `unmapAll` take away, and only when nobody reads.
final class SectionMap: @unchecked Sendable {
    private struct Entry: ~Copyable {
        let base = Atomic<UInt>(0)
        let mapped = Atomic<Int>(0)
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let lock = Mutex<Int>(0)  // sections in use, counted from 0
    /// Memory pages may be larger than ours; a mapping begins at one, so section 0 is mapped with
    /// what lies before it.
    private let lead: Int
    private static let tableSize = Section.countLimit * MemoryLayout<Entry>.stride

    init() throws(SystemError) {
        lead = Section.headSize % platform_memory_page_size()
        // 2 MiB of address space; only what is used becomes memory. Zero bytes are valid entries.
        guard let table = platform_reserve(Self.tableSize),
            platform_commit_memory(table, Self.tableSize) == 0
        else {
            throw .addressSpaceExhausted
        }
        entries = table.assumingMemoryBound(to: Entry.self)
    }

    deinit {
        unmapAll()
        _ = platform_unmap(entries, Self.tableSize)
    }

    /// The section's base, if so much of it is mapped.
    @inline(__always)
    func base(_ index: Int, holding byteCount: Int) -> UnsafeRawPointer? {
        guard index >= 0, index < Section.countLimit,
            entries[index].mapped.load(ordering: .acquiring) >= byteCount
        else { return nil }
        return UnsafeRawPointer(bitPattern: entries[index].base.load(ordering: .relaxed))
    }

    /// Maps what exists of a section in a file of `fileSize` bytes.
    func extend(_ index: Int, fileSize: UInt64, descriptor: Int32, path: String)
        throws(SystemError)
    {
        let limit = Int(
            min(UInt64(Section.size), fileSize.subtractingOrZero(Section.offset(of: index))))
        try lock.withLock { count throws(SystemError) in
            let entry = entries + index
            let mapped = entry.pointee.mapped.load(ordering: .relaxed)
            guard limit > mapped else { return }
            let base = try reserved(index)
            count = max(count, index + 1)
            // The page that holds the end of the mapped part may be mapped already, when memory
            // pages are large.
            let from =
                mapped == 0 ? -lead : mapped.roundedDown(platform_memory_page_size(), lead: lead)
            let offset = Int64(Section.offset(of: index)) + Int64(from)
            let result = platform_map_reading(
                descriptor, UnsafeMutableRawPointer(mutating: base) + from, limit - from, offset)
            if result == -ENOMEM { throw .addressSpaceExhausted }
            try checked("mmap", path, result)
            entry.pointee.mapped.store(limit, ordering: .releasing)
        }
    }

    /// Takes away what lies beyond `fileSize`.
    func shrink(fileSize: UInt64, path: String) throws(SystemError) {
        try lock.withLock { count throws(SystemError) in
            for index in 0..<count {
                let keep = Int(
                    min(UInt64(Section.size), fileSize.subtractingOrZero(Section.offset(of: index)))
                )
                let mapped = entries[index].mapped.load(ordering: .relaxed)
                guard keep < mapped,
                    let base = UnsafeMutableRawPointer(
                        bitPattern: entries[index].base.load(ordering: .relaxed))
                else { continue }
                let from = (keep + lead).roundedUp(platform_memory_page_size()) - lead
                entries[index].mapped.store(keep, ordering: .releasing)
                if from < mapped {
                    try checked("mmap", path, platform_unmap_to_reserve(base + from, mapped - from))
                }
            }
        }
    }

    func unmapAll() {
        lock.withLock { count in
            for index in 0..<count {
                entries[index].mapped.store(0, ordering: .releasing)
                let base = entries[index].base.exchange(0, ordering: .relaxed)
                if let base = UnsafeMutableRawPointer(bitPattern: base) {
                    _ = platform_unmap(base - lead, Section.size + lead)
                }
            }
            count = 0
        }
    }

    private func reserved(_ index: Int) throws(SystemError) -> UnsafeRawPointer {
        if let base = UnsafeRawPointer(bitPattern: entries[index].base.load(ordering: .relaxed)) {
            return base
        }
        guard let reservation = platform_reserve(Section.size + lead) else {
            throw .addressSpaceExhausted
        }
        entries[index].base.store(UInt(bitPattern: reservation + lead), ordering: .relaxed)
        return UnsafeRawPointer(reservation + lead)
    }
}

extension UInt64 {
    package func subtractingOrZero(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}

extension Int {
    package func roundedUp(_ unit: Int) -> Int { (self + unit - 1) / unit * unit }
    fileprivate func roundedDown(_ unit: Int, lead: Int) -> Int {
        (self + lead) / unit * unit - lead
    }
}
