internal import Synchronization
internal import ToftPlatform

/// The read-only mapping of a file, section by section, and the memory of which pages have been
/// verified.
///
/// One per open file, shared by every snapshot and thread.
///
/// 1. A section's address never changes; what is mapped of it only grows.
/// 2. A page is remembered as verified by the birth version that its reference named: another
///    version in the same place is verified anew (another process may have reused the page).
/// 3. Nothing beyond the mapped pages is ever touched.
final class Sections: @unchecked Sendable {
    private struct Section {
        var base: UnsafeRawPointer?
        /// For each page of the section the birth version it was verified for, 0 for none.
        var verified: UnsafeMutablePointer<Atomic<UInt64>>?
    }

    let file: MappedFile
    /// An entry is filled once; readers see it through the release of its `mappedPages`.
    private let sections: UnsafeMutablePointer<Section>
    private let mappedPages: UnsafeMutablePointer<Atomic<Int>>
    private let growth = Mutex<Void>(())

    init(file: MappedFile) {
        self.file = file
        sections = .allocate(capacity: ExtentLimit.regions)
        sections.initialize(repeating: Section(), count: ExtentLimit.regions)
        mappedPages = .allocate(capacity: ExtentLimit.regions)
        for index in 0..<ExtentLimit.regions {
            (mappedPages + index).initialize(to: Atomic(0))
        }
    }

    deinit {
        for index in 0..<ExtentLimit.regions {
            sections[index].verified?.deallocate()
        }
        sections.deallocate()
        mappedPages.deallocate()
    }

    /// The address of a page, of which `count` must be there, with its words of verification.
    @inline(__always)
    func locate(_ page: UInt64, count: Int) throws(StorageError) -> (
        base: UnsafeRawPointer, verified: UnsafeMutablePointer<Atomic<UInt64>>
    ) {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            throw .corrupt(page: page, reason: "a reference leaves the file")
        }
        let region = Page.region(of: page)
        let index = Page.indexInRegion(page)
        guard index &+ count <= Page.perRegion else {
            throw .corrupt(page: page, reason: "a reference leaves its region")
        }
        if mappedPages[region].load(ordering: .acquiring) < index &+ count {
            try map(region, pages: index &+ count, for: page)
        }
        guard let base = sections[region].base, let verified = sections[region].verified else {
            throw .addressSpaceExhausted
        }
        return (base + index &* Page.size, verified + index)
    }

    /// Where a page and its word of verification lie, if that much is mapped: for whoever only
    /// wants them fetched.
    @inline(__always)
    func place(_ page: UInt64) -> (base: UnsafeRawPointer, verified: UnsafeRawPointer)? {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            return nil
        }
        let region = Page.region(of: page)
        let index = Page.indexInRegion(page)
        guard mappedPages[region].load(ordering: .acquiring) > index,
            let base = sections[region].base, let verified = sections[region].verified
        else {
            return nil
        }
        return (base + index &* Page.size, UnsafeRawPointer(verified + index))
    }

    /// Has the processor fetch the beginning of a page, which is about to be read, and its word of
    /// verification: all at once, not one after the other.
    @inline(__always)
    func fetch(_ page: UInt64, lines: Int) {
        guard let (base, verified) = place(page) else { return }
        verified.prefetch()
        for line in 0..<lines { (base + line &* 64).prefetch() }
    }

    /// Remembers pages as verified, where they are mapped.
    func noteVerified(_ page: UInt64, count: Int, birth: UInt64) {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            return
        }
        let region = Page.region(of: page)
        let index = Page.indexInRegion(page)
        guard mappedPages[region].load(ordering: .acquiring) >= index + count,
            let verified = sections[region].verified
        else { return }
        for page in index..<(index + count) { verified[page].store(birth, ordering: .relaxed) }
    }

    private func map(_ region: Int, pages: Int, for page: UInt64) throws(StorageError) {
        let failure: StorageError? = growth.withLock { _ in
            do throws(StorageError) {
                try mapLocked(region, pages: pages, for: page)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private func mapLocked(_ region: Int, pages: Int, for page: UInt64) throws(StorageError) {
        guard mappedPages[region].load(ordering: .relaxed) < pages else { return }
        let sectionStart = Page.first(ofRegion: region) * UInt64(Page.size)
        let size = try file.size()
        let present =
            size > sectionStart
            ? Int(min((size - sectionStart) / UInt64(Page.size), UInt64(Page.perRegion))) : 0
        guard present >= pages || Probe.makes(.referenceBoundsNotChecked) else {
            throw .corrupt(page: page, reason: "the file ends before this page")
        }
        sections[region].base = try file.section(region, mapping: present * Page.size)
        if sections[region].verified == nil {
            let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: Page.perRegion)
            for index in 0..<Page.perRegion {
                (words + index).initialize(to: Atomic(0))
            }
            sections[region].verified = words
        }
        mappedPages[region].store(present, ordering: .releasing)
    }
}
