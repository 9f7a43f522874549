internal import ToftPlatform

/// The way of a transaction's extents to the file: checksums bottom up, then the bytes, in the
/// order of their pages.
extension PageSpace {
    /// Bytes of one write to the data file at most; larger ones make every later small write
    /// dearer.
    private static let writeSize = 64 * 1024

    /// Computes the checksum of an extent of ours, after those of its children, and returns it. An
    /// inner node has to stand lower than `limit`: where a damaged file names the version that is
    /// being made, its nodes may lead in a circle.
    func settle(_ ref: Ref, below limit: Int = InnerLayout.maximumHeight + 1) throws(StorageError)
        -> UInt64
    {
        if ref.birth != version { return ref.checksum }
        if let done = spilled[ref.page] { return done.checksum }
        guard let extent = dirty.pointee.find(ref.page) else {
            throw .corrupt(page: ref.page, reason: "an extent of this transaction is lost")
        }
        if extent.type == .treeInner { try settleChildren(of: extent, below: limit) }
        return Self.seal(extent)
    }

    private func settleChildren(of extent: DirtyTable.Extent, below limit: Int)
        throws(StorageError)
    {
        let height = UnsafeRawPointer(extent.base).uint8(at: InnerLayout.height)
        guard height < limit || Probe.makes(.heightNotChecked) else {
            throw .corrupt(page: extent.page, reason: "an inner node stands too high")
        }
        let children = try TreeInner.childRefOffsets(UnsafeRawPointer(extent.base))
        for index in 0..<children.count {
            let place = extent.base + children.first + index * children.stride
            guard Ref.birth(decoding: UnsafeRawPointer(place)) == version else { continue }
            var child = Ref(decoding: UnsafeRawPointer(place))
            child.checksum = try settle(child, below: height)
            child.encode(to: place)
        }
    }

    /// Fills an extent's table of checksums and returns the checksum of its first page.
    private static func seal(_ extent: DirtyTable.Extent) -> UInt64 {
        for page in 1..<max(1, Int(extent.pageCount)) {
            let checksum = Checksum.of(
                UnsafeRawPointer(extent.base + page * Page.size), count: Page.size)
            let entry = ExtentHeader.size + (page - 1) * ExtentHeader.checksumSize
            extent.base.storeBytes(of: checksum.littleEndian, toByteOffset: entry, as: UInt64.self)
        }
        return Checksum.of(UnsafeRawPointer(extent.base), count: Page.size)
    }

    /// Writes every extent that is still in memory. All are settled.
    ///
    /// They need not be verified when this process reads them: it has just computed their
    /// checksums.
    func flush() throws(StorageError) {
        let extents = dirty.pointee.sorted { _ in true }
        try write(extents)
        for extent in extents {
            file.noteVerified(extent.page, count: Int(extent.pageCount), birth: version)
        }
    }

    /// Writes leaves to their pages and gives their memory back, when they take more than `limit`
    /// bytes.
    func spill(limit: Int) throws(StorageError) {
        guard dirty.pointee.bytes > limit, !dirty.pointee.isKeeping else { return }
        let leaves = dirty.pointee.sorted {
            $0.type == .orderedLeaf || $0.type == .sequenceLeaf || $0.type == .cluster
        }
        for leaf in leaves {
            spilled[leaf.page] = Spilled(
                checksum: Self.seal(leaf), pageCount: leaf.pageCount, type: leaf.type)
        }
        try write(leaves)
        for leaf in leaves { dirty.pointee.remove(leaf.page) }
        Probe.reach(.spilled)
    }

    private func write(_ extents: [DirtyTable.Extent]) throws(StorageError) {
        var pieces: [UnsafeRawBufferPointer] = []
        var start: UInt64 = 0
        var length = 0
        for extent in extents {
            #if DEBUG || TOFT_TRIALS
            try checkBeforeWrite(extent)
            #endif
            let place = extent.page * UInt64(Page.size)
            let size = Int(extent.pageCount) * Page.size
            if length > 0 && (place != start + UInt64(length) || length + size > Self.writeSize) {
                try file.write(pieces, at: start)
                pieces.removeAll(keepingCapacity: true)
                length = 0
            }
            if length == 0 { start = place }
            pieces.append(UnsafeRawBufferPointer(start: extent.base, count: size))
            length += size
        }
        if length > 0 { try file.write(pieces, at: start) }
    }
}
