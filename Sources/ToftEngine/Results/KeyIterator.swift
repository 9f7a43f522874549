internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// The keys of results as they were when the walk began, a run at a time: a loop's elements,
/// whatever happens meanwhile.
package struct KeyIterator {
    private enum Source {
        case keys([Int64])
        /// A class in a version, from this key on.
        case objects(ModelView, ClassHandle, from: Int64)
        // Elsewhere, so that an iterator stays small: a loop over objects copies it.
        indirect case filter(ResultsScan)
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
        case .filter(var scan):
            source = .keys([])
            let keys = try scan.nextRun()
            if keys != nil { source = .filter(scan) }
            return keys
        }
    }
}

/// The results of a filter in one version, found piece by piece: the first, then ever more at once.
struct ResultsScan {
    let results: Results
    let view: ModelView
    let base: QueryBase
    /// The last change of the results' dependencies.
    let lastChange: UInt64
    fileprivate(set) var found: [Int64]
    fileprivate var position: ScanPosition
    /// Number of keys that have been returned.
    private var taken = 0

    init(
        results: Results, view: ModelView, base: QueryBase, lastChange: UInt64, found: [Int64],
        position: ScanPosition
    ) {
        self.results = results
        self.view = view
        self.base = base
        self.lastChange = lastChange
        self.found = found
        self.position = position
    }

    /// The next keys; nil after the last. The results then keep the keys found.
    fileprivate mutating func nextRun() throws(EngineError) -> [Int64]? {
        if taken == found.count, !position.isAtEnd {
            var (found, position) = (self.found, self.position)
            self.found = []
            try results.session.interruption.watching { () throws(EngineError) in
                try results.definition.findMore(
                    &found, upTo: found.count + 1, from: &position, in: view, of: base)
            }
            (self.found, self.position) = (found, position)
            if position.isAtEnd { results.keep(self) }
        }
        guard taken < found.count else { return nil }
        defer { taken = found.count }
        return taken == 0 ? found : Array(found[taken...])
    }
}

extension KeyIterator {
    init(_ keys: [Int64]) {
        source = .keys(keys)
    }

    init(_ scan: ResultsScan) {
        source = .filter(scan)
    }

    /// All objects of a class.
    init(_ owner: ClassHandle, in view: ModelView) {
        source = .objects(view, owner, from: .min)
    }
}

extension Results {
    /// Goes through the keys of objects as they are now. A whole class and the results of a filter
    /// are read during the walk, from the session's version; within a write transaction, which
    /// changes its own data, all keys are read at once.
    package func walk() throws(EngineError) -> KeyIterator {
        let owner = try objectClass()
        if let scan = try scanToWalk() { return KeyIterator(scan) }
        guard case .whole = try current(), session.transaction == nil else {
            return KeyIterator(try keys())
        }
        return KeyIterator(owner, in: session.base)
    }
}
