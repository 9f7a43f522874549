internal import ToftStorage

// MARK: Inverse links

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

    /// The objects that link to one, each as often as it does, in the order of their keys.
    package func sources(of target: ObjectRef, through link: PropertyRef) throws(ModelError)
        -> [Int64]
    {
        try backlinks(to: target.key, through: try property(link))
    }
}

// MARK: Links

extension ModelView {
    /// The links in a list.
    package func linkedKeys(_ ref: CollectionRef) throws(ModelError) -> [Int64] {
        let list = try list(ref)
        var keys: [Int64] = []
        keys.reserveCapacity(list.reservedCount)
        for index in 0..<list.count {
            if case .int64(let key) = try stored({ () throws(StorageError) in
                try list.cell(at: index)
            }) {
                keys.append(key)
            }
        }
        return keys
    }

    /// The objects that a property links to; among them some that are deleted already.
    func targets(of key: Int64, _ property: PropertyHandle) throws(ModelError)
        -> [Int64]
    {
        let table = try rows(schema.classes[property.classPosition])
        guard property.collection == .none else {
            try unflushed?.flushValue(key, property.column, property.classPosition)
            return try stored { () throws(StorageError) in try table.list(key, property.column) }
                .linkTargets()
        }
        let waiting = unflushed?.value(key, property.column, property.classPosition)
        let cell =
            if let waiting { waiting } else {
                try stored { () throws(StorageError) in try table.cell(key, property.column) }
            }
        guard case .int64(let target) = cell else { return [] }
        return [target]
    }
}

// MARK: Embedded objects

extension ModelView {
    /// The object that owns an embedded one.
    func embeddingObject(of key: Int64, _ owner: ClassHandle) throws(ModelError)
        -> (key: Int64, owner: ClassHandle)?
    {
        for property in owner.incoming where property.ownsTargets {
            var found: Int64?
            try forEachBacklink(to: key, through: property) { source, _ in
                found = source
                return false
            }
            if let found { return (found, schema.classes[property.classPosition]) }
        }
        return nil
    }

    /// True if more embedded objects than allowed are on the path to one, itself included; also if
    /// it is below a cycle of them.
    func isNestedTooDeep(_ key: Int64, _ owner: ClassHandle) throws(ModelError) -> Bool {
        guard schema.mayNestTooDeep[owner.position] else { return false }
        var (object, owner) = (key, owner), depth = 0
        while owner.isEmbedded {
            depth += 1
            guard depth <= Limits.nestedEmbeddedObjects else { return true }
            guard let outer = try embeddingObject(of: object, owner) else { return false }
            (object, owner) = outer
        }
        return false
    }
}
