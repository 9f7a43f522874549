/// Checks that no page is written that its own reader would refuse. Debug builds and those with
/// trials check each write; release builds do not have this.
#if DEBUG || TOFT_TRIALS
extension PageReader {
    /// Decodes an extent of this transaction as its reader will. Throws `invalidPage` if the reader
    /// would refuse it.
    func checkBeforeWrite(_ extent: DirtyPages.Extent) throws(StorageError) {
        do throws(StorageError) {
            try check(extent)
        } catch {
            guard case .corrupt(_, let reason) = error else { throw error }
            throw .invalidPage(page: extent.page, kind: "\(extent.type)", reason: reason)
        }
    }

    private func check(_ extent: DirtyPages.Extent) throws(StorageError) {
        let base = UnsafeRawPointer(extent.base)
        let ref = Ref(
            page: extent.page, birth: version, checksum: 0,
            pageCount: UInt32(truncatingIfNeeded: Int(extent.pageCount)))
        try Self.checkHeader(base, ref, extent.type)
        switch extent.type {
        case .treeInner:
            let height = base.uint8(at: InnerLayout.height)
            guard height >= 1, height <= InnerLayout.maximumHeight else {
                throw .corrupt(page: ref.page, reason: "an inner node of height \(height)")
            }
            try InnerNode(base, page: ref.page, height: height).check(isSequence: nil)
        case .orderedLeaf: try OrderedLeaf(base, page: ref.page).check()
        case .cluster:
            try ClusterPage(base, page: ref.page, pageCount: ref.pageCount).check()
        case .sequenceLeaf:
            try ElementBlock(
                ofAnyType: base + SequenceLeafLayout.block, available: SequenceLeafLayout.room,
                page: ref.page
            ).check()
        case .root:
            _ = try Root(reading: ref, in: self)
            _ = try RootPayload.runs(of: ref, in: self)
        case .regionDirectory: _ = try FreeSpaceReader.regions(ref, in: self)
        case .batchList: _ = try FreeSpaceReader.batches(ref, in: self)
        case .freedBatch: _ = try FreeSpaceReader.batch(ref, in: self)
        case .blob: _ = try blob(ref)
        case .bitmap: break
        case .meta: throw .corrupt(page: ref.page, reason: "a meta is no extent")
        }
    }
}

extension LogAppend {
    /// Reads a frame back as a recovery will.
    static func checkBeforeWrite(_ bytes: [UInt8], salt: UInt64, _ cipher: Cipher?)
        throws(StorageError)
    {
        let isSound = try bytes.withBytes { bytes throws(StorageError) -> Bool in
            guard let base = bytes.baseAddress,
                let frame = LogFrame(validating: base, room: bytes.count, salt: salt)
            else { return false }
            if frame.kind == .marker { return true }
            return try frame.payload(at: base, cipher).withBytes { bytes throws(StorageError) in
                try CommitRecord(validating: bytes).forEach { _ in }
            }
        }
        if !isSound {
            throw .invalidPage(page: 0, kind: "log frame", reason: "its own reader refuses it")
        }
    }
}

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
