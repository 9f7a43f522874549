internal import ToftPlatform
internal import ToftStorage

/// The smallest encrypted file with content, and the effect of flipping one bit of it.
package struct EncryptedBits {
    /// The answer of a file with a changed bit.
    private enum Outcome {
        /// The opening, the reading or the check ends with an error of damage.
        case refused
        /// All is as before, and the check finds nothing.
        case unseen
        /// Something else than was written, or an error that does not mean damage.
        case wrong
    }

    /// The use of a page's bytes.
    package enum Use: Sendable {
        /// One of the two metas, which replace each other.
        case meta
        /// A page of the log, not needed by a closed file.
        case log
        /// A page that opening, reading everything and checking read.
        case needed
        /// A page that nothing leads to.
        case free
    }

    package let image: [UInt8]
    /// Of each page.
    package let uses: [Use]
    /// The number of pages that the check counts as free.
    package let freePages: Int
    private let key: EncryptionKey
    private let content: [UInt8]

    private static let tree = SystemTree.firstUser

    /// Makes a file of one value: a closed database, or a copy of one, which has no log.
    package init(isCopy: Bool) throws {
        let key = try EncryptionKey((0..<EncryptionKey.size).map { 1 + UInt8($0) })
        let disk = MemoryFile(name: "bits")
        try Store.format(disk, encryptionKey: key)
        let store = try Store.open(
            on: WrappedFile(disk), coordinator: try Coordinator.inMemory(), firstLogPages: 1,
            encryptionKey: key)
        let transaction = try store.beginWrite()
        _ = try transaction.createOrderedTree()
        try Array("name".utf8).withUnsafeBytes { key throws in
            try Array("value".utf8).withUnsafeBytes { value throws in
                try transaction.treePut(Self.tree, key, value, derived: false)
            }
        }
        _ = try transaction.commit()
        let copy = MemoryFile(name: "copy")
        if isCopy {
            let snapshot = try store.beginRead()
            try snapshot.writeCopy(to: copy, encryptionKey: key)
            snapshot.release()
        }
        try store.close()
        image = try (isCopy ? copy : disk).content()
        self.key = key
        let file = ReadPages(try MemoryFile(content: image))
        let found = try Self.read(file, key)
        content = found.content
        guard found.report.isSound else { throw Unsound(problems: found.report.problems) }
        let read = file.pages, log = Self.logPages(image)
        uses = (0..<image.count / Page.size).map {
            $0 < 2 ? .meta : log.contains($0) ? .log : read.contains($0) ? .needed : .free
        }
        freePages = Int(found.report.freePages + found.report.pinnedFreePages)
    }

    /// The pages that either meta lists as those of the log.
    private static func logPages(_ image: [UInt8]) -> Set<Int> {
        var pages: Set<Int> = []
        for meta in [0, Page.size] {
            for segment in 0..<Int(Image.half(image, meta + 176)) {
                let at = meta + 312 + 24 * segment
                let first = Int(Image.word(image, at))
                pages.formUnion(first..<first + Int(Image.word(image, at + 8)))
            }
        }
        return pages
    }

    package struct Unsound: Error {
        package let problems: [String]
    }

    /// Flips every `stride`-th bit, one at a time. Returns those without the right effect: a bit of
    /// a needed page is refused, all others change nothing.
    package func surprises(stride: Int) throws -> [String] {
        var surprises: [String] = []
        for bit in Swift.stride(from: 0, to: image.count * 8, by: stride) {
            let use = uses[bit / 8 / Page.size], outcome = try outcome(flipping: bit)
            guard outcome != (use == .needed ? .refused : .unseen) else { continue }
            surprises.append("bit \(bit % 8) of byte \(bit / 8), of a \(use) page: \(outcome)")
        }
        return surprises
    }

    /// The file's answer when one bit is changed.
    private func outcome(flipping bit: Int) throws -> Outcome {
        var damaged = image
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        do {
            let found = try Self.read(try MemoryFile(content: damaged), key)
            if found.content != content { return .wrong }
            return found.report.isSound ? .unseen : .refused
        } catch let error as StorageError {
            switch error {
            case .corrupt, .unsupportedFormat: return .refused
            default: return .wrong
            }
        }
    }

    /// Everything in the tree, and the report of the check.
    private static func read(_ file: any StorageFile, _ key: EncryptionKey) throws -> (
        content: [UInt8], report: CheckReport
    ) {
        let store = try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), encryptionKey: key)
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        var content: [UInt8] = []
        let cursor = try snapshot.orderedTree(tree).cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            content += Array(cursor.key) + Array(try cursor.value)
            isThere = try cursor.next()
        }
        return (content, try store.check())
    }
}

/// Notes which pages are read.
private final class ReadPages: WrappedFile, @unchecked Sendable {
    private(set) var pages: Set<Int> = []

    private func note(_ count: Int, at offset: UInt64) {
        let first = Int(offset) / Page.size
        pages.formUnion(first..<(Int(offset) + count + Page.size - 1) / Page.size)
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        note(buffer.count, at: offset)
        try super.read(into: buffer, at: offset)
    }

    override func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        note(buffer.count, at: offset)
        try super.readFromDevice(into: buffer, at: offset)
    }
}
