/// Meta pages to and from the file.
enum MetaPage {
    static func write(_ meta: Meta, slot: PageNumber, to file: MappedFile) throws(StorageError) {
        let page = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Page.size, alignment: Page.size)
        defer { page.deallocate() }
        meta.encode(to: page)
        #if DEBUG || TOFT_TRIALS
        try checkBeforeWrite(meta, page, slot: slot, path: file.path)
        #endif
        try file.writeDurably(UnsafeRawBufferPointer(page), at: slot.byteOffset)
    }

    /// The valid meta of a slot, nil if the page holds none.
    static func read(slot: PageNumber, fromDevice: Bool, of file: MappedFile) throws(StorageError)
        -> Meta?
    {
        let page = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Page.size, alignment: Page.size)
        defer { page.deallocate() }
        if fromDevice {
            try file.readFromDevice(into: page, at: slot.byteOffset)
        } else {
            try file.read(into: page, at: slot.byteOffset)
        }
        return try Meta(validating: UnsafeRawBufferPointer(page), in: slot, path: file.path)
    }

    /// The newest valid meta, and its slot.
    static func newest(fromDevice: Bool, of file: MappedFile) throws(StorageError) -> (
        meta: Meta, slot: PageNumber
    )? {
        let first = try read(slot: 0, fromDevice: fromDevice, of: file)
        let second = try read(slot: 1, fromDevice: fromDevice, of: file)
        if let first, first.version > second?.version ?? 0 { return (first, 0) }
        return second.map { ($0, 1) }
    }

    /// The other of the two slots.
    static func other(than slot: PageNumber) -> PageNumber { slot == 0 ? 1 : 0 }

    /// The slot that does not hold the newest meta.
    static func idleSlot(of file: MappedFile) throws(StorageError) -> PageNumber {
        try newest(fromDevice: false, of: file).map { other(than: $0.slot) } ?? 0
    }
}
