internal import ToftStorage

extension ModelView {
    /// Calls `body` with each object that links to `target`, an object of the class `owner`,
    /// through `property`, and with its number of links, in the order of the sources' keys, until
    /// it returns false. Reads in O(log links + those found).
    package func forEachBacklink(
        to target: Int64, of owner: ClassID? = nil, through property: PropertyHandle,
        _ body: (_ source: Int64, _ links: Int) throws(ModelError) -> Bool
    ) throws(ModelError) {
        let tree = try backlinkTree(property)
        try KeyBytes.with { prefix throws(ModelError) in
            prefix.put(target: target, of: property.backlinkClass(owner ?? 0))
            try tree.forEachEntry(withPrefix: prefix.bytes) { key, value throws(ModelError) in
                let entry = try BacklinkEntry(
                    key: key, behind: prefix.count, value: value, property)
                if entry.links > ModelView.linksTakenOnTrust {
                    try requireElements(entry.links, of: entry.source, property)
                }
                return try body(entry.source, entry.links)
            }
        }
    }

    /// Links of one source that become as many elements of results without reading the source: few
    /// bytes of a damaged file would fill the memory.
    static let linksTakenOnTrust = 64

    /// Throws unless `source` holds at least as many links through `property`. O(log objects), for
    /// mixed values O(their elements).
    private func requireElements(_ links: Int, of source: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        let held: Int
        if property.type == .mixed {
            held = try mixedLinks(of: source, property)
        } else {
            held = property.isCollection ? try listCount(source, property) : 1
        }
        guard links <= held else {
            throw .inconsistent(
                "a backlink of '\(property.className).\(property.name)' counts \(links) links of "
                    + "the object \(source), which holds \(held)")
        }
    }

    /// The keys of the objects that link to `target` through `property`, each as often as it does,
    /// in ascending order.
    package func backlinks(
        to target: Int64, of owner: ClassID? = nil, through property: PropertyHandle
    ) throws(ModelError) -> [Int64] {
        var sources: [Int64] = []
        try forEachBacklink(to: target, of: owner, through: property) { source, links in
            for _ in 0..<links { sources.append(source) }
            return true
        }
        return sources
    }

    /// Number of links to `target` through `property`.
    package func backlinkCount(
        to target: Int64, of owner: ClassID? = nil, through property: PropertyHandle
    ) throws(ModelError) -> Int {
        var count = 0
        try forEachBacklink(to: target, of: owner, through: property) { _, links in
            count += links
            return true
        }
        return count
    }

    /// Number of links to an object through all properties except hidden ones.
    func backlinkCount(to target: Int64, _ owner: ClassHandle) throws(ModelError) -> Int {
        var count = 0
        for property in owner.incoming
        where !property.isHidden && !schema.classes[property.classPosition].isHidden {
            count += try backlinkCount(to: target, of: owner.id, through: property)
        }
        return count
    }
}

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
