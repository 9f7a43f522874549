internal import ToftPlatform

/// Meta pages to and from the file.
enum MetaPage {
    static func write(_ meta: Meta, slot: PageNumber, to file: DataFile) throws(StorageError) {
        let page = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Page.size, alignment: Page.size)
        defer { page.deallocate() }
        var meta = meta
        meta.key = file.cipher?.header
        meta.encode(to: page) { bytes in file.cipher?.digest(ofMeta: bytes) ?? .none }
        #if DEBUG || TOFT_TRIALS
        try checkBeforeWrite(meta, page, slot: slot, path: file.path)
        #endif
        try file.writeDurably(UnsafeRawBufferPointer(page), at: slot.byteOffset)
    }

    /// Makes sure that a slot which holds no valid meta never does because of a torn write: the
    /// parts of two might make one of them whole.
    static func clear(slot: PageNumber, of file: DataFile) throws(StorageError) {
        try [UInt8](repeating: 0, count: Page.size).withBytes { bytes throws(StorageError) in
            try file.writeDurably(bytes, at: slot.byteOffset)
        }
    }

    /// The valid meta of a slot; nil if the page is not a valid one.
    static func read(slot: PageNumber, fromDevice: Bool, of file: DataFile) throws(StorageError)
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
        let bytes = UnsafeRawBufferPointer(page)
        guard let meta = try Meta(validating: bytes, in: slot, path: file.path) else { return nil }
        try authenticate(meta, bytes, in: slot, of: file)
        return meta
    }

    /// A valid meta was written with the key of the file.
    private static func authenticate(
        _ meta: Meta, _ page: UnsafeRawBufferPointer, in slot: PageNumber, of file: DataFile
    ) throws(StorageError) {
        guard meta.key != nil || file.cipher != nil else { return }
        guard let cipher = file.cipher else { throw .keyRequired(path: file.path) }
        guard meta.key == cipher.header,
            cipher.digest(ofMeta: Meta.authenticated(page)).matches(meta.authentication)
        else {
            throw .corrupt(page: slot, reason: "a meta was not written with the key of the file")
        }
    }

    /// The newest valid meta of a file whose key is not known yet; nil if no meta is valid.
    static func unauthenticated(of file: any StorageFile) throws(StorageError) -> Meta? {
        let page = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Page.size, alignment: Page.size)
        defer { page.deallocate() }
        var newest: Meta?
        let size = try system(file.size())
        for slot: PageNumber in [0, 1] where size >= (slot + 1).byteOffset {
            try system(file.read(into: page, at: slot.byteOffset))
            // Damage is reported when the file is recovered.
            let meta = try? Meta(
                validating: UnsafeRawBufferPointer(page), in: slot, path: file.path)
            if let meta, meta.version > newest?.version ?? 0 { newest = meta }
        }
        return newest
    }

    /// The newest valid meta, and its slot.
    static func newest(fromDevice: Bool, of file: DataFile) throws(StorageError) -> (
        meta: Meta, slot: PageNumber
    )? {
        let first = try read(slot: 0, fromDevice: fromDevice, of: file)
        let second = try read(slot: 1, fromDevice: fromDevice, of: file)
        if let first, first.version > second?.version ?? 0 { return (first, 0) }
        if second == nil { try refuseLaterFormat(of: file) }
        return second.map { ($0, 1) }
    }

    /// Throws if both pages are invalid here and name one later format, which may have its checksum
    /// elsewhere.
    static func refuseLaterFormat(of file: DataFile) throws(StorageError) {
        let page = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Page.size, alignment: Page.size)
        defer { page.deallocate() }
        var formats: [UInt32] = []
        for slot: PageNumber in [0, 1] {
            try file.read(into: page, at: slot.byteOffset)
            guard let format = Meta.format(of: UnsafeRawBufferPointer(page)) else { return }
            formats.append(format)
        }
        guard let format = formats.first, format > MetaLayout.currentFormat,
            formats.allSatisfy({ $0 == format })
        else { return }
        throw .unsupportedFormat(
            path: file.path, found: format, feature: "format version \(format)")
    }

    /// The other of the two slots.
    static func other(than slot: PageNumber) -> PageNumber { slot == 0 ? 1 : 0 }

    /// The slot that does not hold the newest meta.
    static func idleSlot(of file: DataFile) throws(StorageError) -> PageNumber {
        try newest(fromDevice: false, of: file).map { other(than: $0.slot) } ?? 0
    }
}

#if DEBUG || TOFT_TRIALS
extension MetaPage {
    /// Reads a meta back as the next opening will.
    static func checkBeforeWrite(
        _ meta: Meta, _ page: UnsafeMutableRawBufferPointer, slot: PageNumber, path: String
    ) throws(StorageError) {
        let read = try? Meta(validating: UnsafeRawBufferPointer(page), in: slot, path: path)
        guard let read, read.version == meta.version, read.root == meta.root,
            read.logMap.segments.count == meta.logMap.segments.count
        else {
            throw .invalidPage(page: slot, kind: "meta", reason: "its own reader refuses it")
        }
    }
}
#endif

extension StorageError {
    static let noMeta = StorageError.corrupt(page: 0, reason: "neither meta page is valid")
}
