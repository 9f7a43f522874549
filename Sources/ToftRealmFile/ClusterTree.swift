/// Up to 256 objects: their keys, and a node that has a leaf for each column.
struct Cluster {
    /// Slot 0 has the keys, slot 1 the leaf of the column at position 0.
    var node: Node
    var keys: [Int64]
}

/// Walks the trees that hold objects.
struct ClusterTree {
    let nodes: NodeReader

    /// Calls `body` with each cluster in the order of keys.
    func forEach(
        _ ref: Int, _ body: (Cluster) throws(RealmFileError) -> Void
    ) throws(RealmFileError) {
        var last: Int64?
        _ = try forEach(ref, offset: 0, depth: 0, &last, body)
    }

    private func forEach(
        _ ref: Int, offset: UInt64, depth: Int, _ last: inout Int64?,
        _ body: (Cluster) throws(RealmFileError) -> Void
    ) throws(RealmFileError) -> Int {
        guard depth < NodeReader.depthLimit else { throw nodes.damage("a tree is too deep") }
        let node = try nodes.node(ref)
        guard node.hasRefs, node.kind == .numbers, node.size >= 1 else {
            throw nodes.damage("the node at \(ref) is not a cluster")
        }
        try nodes.charge(node.size)
        if node.isInner { return try inner(node, offset, depth, &last, body) }
        let keys = try keys(node, offset)
        for key in keys {
            if let last, key <= last { throw nodes.damage("the keys of objects do not ascend") }
            last = key
        }
        if !keys.isEmpty { try body(Cluster(node: node, keys: keys)) }
        return keys.count
    }

    private func keys(_ node: Node, _ offset: UInt64) throws(RealmFileError) -> [Int64] {
        switch try nodes.slot(node, 0) {
        case .nothing: return []
        case .tagged(let count):
            guard count >= 0, count <= LeafReader.clusterSize else {
                throw nodes.damage("a cluster has \(count) objects")
            }
            try nodes.charge(Int(count))
            return (0..<UInt64(count)).map { Int64(bitPattern: offset &+ $0) }
        case .ref(let ref):
            let keys = try nodes.numbers(ref)
            guard keys.size <= LeafReader.clusterSize else {
                throw nodes.damage("a cluster has \(keys.size) objects")
            }
            return (0..<keys.size).map { Int64(bitPattern: offset &+ keys.unsigned($0)) }
        }
    }

    private func inner(
        _ node: Node, _ offset: UInt64, _ depth: Int, _ last: inout Int64?,
        _ body: (Cluster) throws(RealmFileError) -> Void
    ) throws(RealmFileError) -> Int {
        guard node.size >= 4 else { throw nodes.damage("an inner node has no clusters") }
        let levels = try nodes.tagged(node, 1)
        guard (1...7).contains(levels) else {
            throw nodes.damage("an inner node is \(levels) levels above its clusters")
        }
        let children = node.size - 3
        let offsets = try nodes.optionalRef(node, 0).map { ref throws(RealmFileError) in
            try nodes.numbers(ref)
        }
        if let offsets, offsets.size != children {
            throw nodes.damage("an inner node has \(children) clusters and \(offsets.size) keys")
        }
        var count = 0
        for child in 0..<children {
            let own = offsets.map { $0.unsigned(child) } ?? UInt64(child) << UInt64(8 * levels)
            count += try forEach(
                try nodes.ref(node, 3 + child), offset: offset &+ own, depth: depth + 1, &last, body
            )
        }
        guard try nodes.tagged(node, 2) == Int64(count) else {
            throw nodes.damage("an inner node has \(count) objects, and says another number")
        }
        return count
    }
}
