internal import ToftStorage

/// An entry of a backlink tree, behind its target: the source of a link and the number of links
/// between them.
struct BacklinkEntry {
    var source: Int64
    var links: Int

    @inline(__always)
    init(
        key: UnsafeRawBufferPointer, behind targetSize: Int, value: UnsafeRawBufferPointer,
        _ property: PropertyHandle
    ) throws(ModelError) {
        guard let found = KeyBytes.lastKey(key), found.start == targetSize,
            value.count == 0 || value.count == 4
        else {
            throw .inconsistent(
                "a backlink of '\(property.className).\(property.name)' has a wrong length")
        }
        source = found.key
        links = try BacklinkEntry.links(value)
    }

    /// The number of links that a value encodes: 1 to `Limits.collectionElements`.
    static func links(_ value: UnsafeRawBufferPointer) throws(ModelError) -> Int {
        if value.count == 0 { return 1 }
        guard value.count == 4 else {
            throw .inconsistent("a number of links is \(value.count) bytes long")
        }
        let links = Int(UInt32(littleEndian: value.loadUnaligned(as: UInt32.self)))
        guard links > 1, links <= Limits.collectionElements else {
            throw .inconsistent("an object links \(links) times to another")
        }
        return links
    }
}
