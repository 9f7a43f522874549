internal import ToftPlatform

/// Encrypts a file's content, and detects changes to it. Any thread.
///
/// 1. Two keys of the file are derived from the caller's key and a random number of the file: one
///    for AES-256, one for HMAC-SHA-256.
/// 2. The MAC, cut to 128 bits, covers the plain bytes, their type and their position, and is the
///    first counter of their encryption. So two different contents never share a counter, whatever
///    a crash or a copy of the file does, and nothing random has to be stored.
/// 3. The MAC is stored in the parent's reference, up to the meta, which contains its own. An
///    extent of an older version, another place or another file does not match its parent's
///    reference.
/// 4. An observer sees sizes, numbers of pages and versions, and which pages change; also whether
///    bytes written in the same version to the same place are the same as before.
final class Cipher: Sendable {
    let header: KeyHeader
    private let code: MessageCode
    private let stream: CounterMode

    /// The kinds of data that are encrypted or authenticated; the raw values are format.
    private enum Subject: UInt64 {
        case extent = 1
        case logFrame = 2
        case meta = 3
    }

    /// A cipher of a new file.
    ///
    /// - Throws: `cipherMissing`; `io` if the system gives no random numbers.
    convenience init(ofNewFileWith key: EncryptionKey) throws(StorageError) {
        try self.init(
            key,
            fileID: Digest(
                low: try system(RandomBytes.uint64()), high: try system(RandomBytes.uint64())))
    }

    /// The cipher of a file. Whether it is the right one, its `header` says.
    ///
    /// - Throws: `cipherMissing`.
    init(_ key: EncryptionKey, fileID: Digest) throws(StorageError) {
        let source = try MessageCode(key: key.bytes)
        stream = try CounterMode(key: Self.derive("Toft: encryption", fileID, source))
        let codeKey = Self.derive("Toft: authentication", fileID, source)
        code = try MessageCode(key: UnsafeRawBufferPointer(codeKey.bytes))
        let check = Self.derive("Toft: key check", fileID, source)
        header = KeyHeader(
            fileID: fileID,
            keyCheck: check.bytes.baseAddress.map { Digest(decoding: UnsafeRawPointer($0)) }
                ?? .none)
    }

    private static func derive(_ purpose: StaticString, _ fileID: Digest, _ source: MessageCode)
        -> SecretMemory
    {
        let derived = SecretMemory(byteCount: MessageCode.size)
        withUnsafeTemporaryAllocation(byteCount: Digest.size, alignment: 16) { bytes in
            guard let id = bytes.baseAddress, let place = derived.bytes.baseAddress else { return }
            fileID.encode(to: id)
            source.write(
                [
                    UnsafeRawBufferPointer(
                        start: purpose.utf8Start, count: purpose.utf8CodeUnitCount),
                    UnsafeRawBufferPointer(bytes),
                ], to: place)
        }
        return derived
    }

    // MARK: Extents

    /// The MAC of an extent.
    func digest(
        of base: UnsafeRawPointer, _ type: ExtentType, page: PageNumber, birth: Version,
        pageCount: Int
    ) -> Digest {
        digest(
            .extent, UInt64(type.rawValue), page.rawValue, birth.rawValue,
            [UnsafeRawBufferPointer(start: base, count: pageCount * Page.size)])
    }

    /// Encrypts whole pages of an extent with this MAC.
    func encrypt(
        _ base: UnsafeRawPointer, to sealed: UnsafeMutableRawPointer, pageCount: Int,
        _ digest: Digest
    ) throws(StorageError) {
        try stream.apply(digest, base, to: sealed, count: pageCount * Page.size)
    }

    /// Decrypts an extent in its place.
    ///
    /// - Throws: `corrupt` if it does not match the reference.
    func decrypt(_ base: UnsafeMutableRawPointer, _ ref: Ref, _ type: ExtentType)
        throws(StorageError)
    {
        let count = Int(ref.pageCount)
        try stream.apply(ref.digest, base, to: base, count: count * Page.size)
        let found = digest(of: base, type, page: ref.page, birth: ref.birth, pageCount: count)
        guard found.matches(ref.digest) else {
            throw .corrupt(
                page: ref.page, reason: "its authentication code differs from its parent's")
        }
    }

    // MARK: Extents without a parent

    /// Finds extents by the first block of their header, in which only the number of pages is
    /// unknown: for each number the block decrypts to one first counter, which is the MAC in the
    /// lost parent. The second block of the header confirms the number, except for one in four
    /// billion; readers of the extent compare its MAC.
    final class Finder {
        private let blocks: BlockMode
        private let counters: UnsafeMutableRawPointer
        private let headers: UnsafeMutableRawPointer

        fileprivate init(_ blocks: BlockMode) {
            self.blocks = blocks
            let size = ExtentLimit.pages * Digest.size
            counters = .allocate(byteCount: size, alignment: 16)
            headers = .allocate(byteCount: size, alignment: 16)
        }

        deinit {
            counters.deallocate()
            headers.deallocate()
        }

        /// The reference of the extent of a type that begins at `page`, whose encrypted bytes are
        /// at `base`; nil if no such extent begins there.
        func extent(_ type: ExtentType, _ page: PageNumber, _ base: UnsafeRawPointer) -> Ref? {
            let count = ExtentLimit.pages
            let first: UInt64 = base.uint64(at: 0), second: UInt64 = base.uint64(at: 8)
            for index in 0..<count {
                let known = UInt64(type.rawValue) | UInt64(index + 1) << 32
                counters.storeUInt64(first ^ known, at: index * Digest.size)
                counters.storeUInt64(second ^ page.rawValue, at: index * Digest.size + 8)
            }
            guard blocks.decrypt(counters, count: count) else { return nil }
            for index in 0..<count {
                var counter = Digest(decoding: counters + index * Digest.size)
                let (high, carries) = counter.high.byteSwapped.addingReportingOverflow(1)
                counter.high = high.byteSwapped
                if carries { counter.low = (counter.low.byteSwapped &+ 1).byteSwapped }
                counter.encode(to: headers + index * Digest.size)
            }
            guard blocks.encrypt(headers, count: count) else { return nil }
            let third: UInt64 = base.uint64(at: 16), fourth: UInt64 = base.uint64(at: 24)
            for index in 0..<count {
                let key = UnsafeRawPointer(headers) + index * Digest.size
                let birth = Version(third ^ key.uint64(at: 0)), rest = fourth ^ key.uint64(at: 8)
                let length = rest & 0xFFFF_FFFF, start = rest >> 32
                guard birth > 0, birth < .limit,
                    start == UInt64(ExtentHeader.payloadStart(type, pageCount: index + 1)),
                    length <= UInt64((index + 1) * Page.size)
                else { continue }
                var ref = Ref(page: page, birth: birth, checksum: 0, pageCount: UInt32(index + 1))
                ref.digest = Digest(decoding: counters + index * Digest.size)
                return ref
            }
            return nil
        }
    }

    func finder() throws(StorageError) -> Finder { Finder(try stream.blocks()) }

    // MARK: Log frames

    /// Encrypts the payload of a frame, behind `Digest.size` bytes for its MAC, in its place.
    /// `header`: the bytes of the frame that are authenticated with it.
    func seal(_ payload: UnsafeMutableRawBufferPointer, of header: UnsafeRawBufferPointer)
        throws(StorageError)
    {
        guard let base = payload.baseAddress, payload.count >= Digest.size else { return }
        let text = base + Digest.size
        let count = payload.count - Digest.size
        let digest = digest(
            .logFrame, 0, 0, 0, [header, UnsafeRawBufferPointer(start: text, count: count)])
        digest.encode(to: base)
        try stream.apply(digest, text, to: text, count: count)
    }

    /// The payload of a frame.
    ///
    /// - Throws: `corrupt` if it is not the sealed payload.
    func open(_ payload: UnsafeRawBufferPointer, of header: UnsafeRawBufferPointer)
        throws(StorageError) -> [UInt8]
    {
        guard let base = payload.baseAddress, payload.count >= Digest.size else {
            throw .corrupt(page: 0, reason: "a frame of the log has no authentication code")
        }
        let stored = Digest(decoding: base)
        let count = payload.count - Digest.size
        var text = [UInt8](repeating: 0, count: count)
        let result: Result<Digest, StorageError> = text.withUnsafeMutableBytes { bytes in
            Result { () throws(StorageError) in
                if let text = bytes.baseAddress {
                    try stream.apply(stored, base + Digest.size, to: text, count: count)
                }
                return digest(.logFrame, 0, 0, 0, [header, UnsafeRawBufferPointer(bytes)])
            }
        }
        guard try result.get().matches(stored) else {
            throw .corrupt(page: 0, reason: "a frame of the log has another authentication code")
        }
        return text
    }

    // MARK: Metas

    /// The MAC of the bytes of a meta.
    func digest(ofMeta bytes: UnsafeRawBufferPointer) -> Digest { digest(.meta, 0, 0, 0, [bytes]) }

    // MARK: Parts

    private func digest(
        _ subject: Subject, _ type: UInt64, _ page: UInt64, _ birth: UInt64,
        _ pieces: [UnsafeRawBufferPointer]
    ) -> Digest {
        withUnsafeTemporaryAllocation(byteCount: 56, alignment: 16) { buffer in
            guard let place = buffer.baseAddress else { return .none }
            header.fileID.encode(to: place)
            place.storeUInt64(subject.rawValue, at: 16)
            place.storeUInt64(type, at: 24)
            place.storeUInt64(page, at: 32)
            place.storeUInt64(birth, at: 40)
            place.storeUInt64(UInt64(pieces.reduce(0) { $0 + $1.count }), at: 48)
            return code.digest([UnsafeRawBufferPointer(buffer)] + pieces)
        }
    }
}
