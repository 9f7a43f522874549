internal import ToftModel
internal import ToftStorage

/// The keys of results as they were when the walk began, a run at a time: what a loop goes through,
/// whatever happens meanwhile.
package struct KeyIterator {
    private enum Source {
        case keys([Int64])
        /// A class in a version, from this key on.
        case objects(ModelView, ClassHandle, from: Int64)
    }

    private var source: Source

    /// The next keys; nil after the last.
    package mutating func nextRun() throws(EngineError) -> [Int64]? {
        switch source {
        case .keys(let keys):
            source = .keys([])
            return keys.isEmpty ? nil : keys
        case .objects(let view, let owner, let first):
            let keys = try model { () throws(ModelError) in
                try view.keysOfCluster(owner, from: first)
            }
            guard let last = keys.last else { return nil }
            source = last < .max ? .objects(view, owner, from: last + 1) : .keys([])
            return keys
        }
    }
}

extension KeyIterator {
    init(_ keys: [Int64]) {
        source = .keys(keys)
    }

    /// All objects of a class.
    init(_ owner: ClassHandle, in view: ModelView) {
        source = .objects(view, owner, from: .min)
    }
}

extension Results {
    /// Goes through the keys of objects as they are now. A class as a whole is read while it is
    /// gone through, from the version that the session stands at; within a write transaction, which
    /// changes what it reads, all keys are taken at once.
    package func walk() throws(EngineError) -> KeyIterator {
        let owner = try objectClass()
        guard case .whole = try current(), session.transaction == nil else {
            return KeyIterator(try keys())
        }
        return KeyIterator(owner, in: session.base)
    }
}

extension ModelView {
    /// The keys of the cluster that has the first key from `first` on; none where there is no such
    /// key.
    fileprivate func keysOfCluster(_ owner: ClassHandle, from first: Int64) throws(ModelError)
        -> [Int64]
    {
        let table = try table(owner)
        var keys: [Int64] = []
        try stored { () throws(StorageError) in
            try table.forEachCluster(from: first) { cluster throws(StorageError) in
                keys = (0..<cluster.count).map { cluster.keys[$0] }
                return false
            }
        }
        return keys
    }
}
