extension ExtentRules {
    /// The rules of every type of extent.
    static let all = rules()

    private static func rules() -> ExtentRules {
        let defragment: @Sendable (DirtyPages.Extent) -> Void = { extent in
            if extent.type == .orderedLeaf {
                OrderedLeafEditor(base: extent.base, page: extent.page).defragment()
            }
        }
        #if DEBUG || TOFT_TRIALS
        return ExtentRules(defragment: defragment) { extent, reader throws(StorageError) in
            try reader.checkBeforeWrite(extent)
        }
        #else
        return ExtentRules(defragment: defragment)
        #endif
    }
}

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
#endif
