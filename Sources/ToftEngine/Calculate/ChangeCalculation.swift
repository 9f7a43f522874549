internal import ToftModel
internal import ToftStorage

/// The changes of some observers from one version to a later one: the touched rows, and their
/// meaning for each observer.
///
/// The touched rows are read from the commit records. If they have been overwritten, the two
/// versions are compared: a value that was set to itself is then not seen, and a list has deletions
/// and insertions instead of moves.
struct ChangeCalculation {
    let old: ModelView
    let new: ModelView
    let changes: TransactionChanges
    /// Whether `touched` comes from a comparison.
    let isCompared: Bool
    private let links: LinkMap
    private var tests: [ClassID: DeepChangeChecker<VersionLinks>] = [:]
    private var pathTests: [ObjectIdentifier: KeyPathTest<VersionLinks>] = [:]
    /// Changes of results that were computed already: several observers may have the same results.
    private var known: [Question: (change: CollectionChange, order: ResultRows?)] = [:]

    /// Results, and their watched paths.
    private struct Question: Hashable {
        let definition: ObjectIdentifier
        let paths: ObjectIdentifier?
    }

    init(from old: ModelView, to new: ModelView, interest: ChangeFilter) throws(EngineError) {
        let records = try storage { () throws(StorageError) in
            try new.snapshot.records(after: old.snapshot.version)
        }
        if let records,
            let changes = TransactionChanges(records, schema: new.schema.stored, interest: interest)
        {
            self.init(old, new, changes, isCompared: false)
        } else {
            try self.init(comparing: old, with: new)
        }
    }

    /// Compares the versions, whether there are records or not.
    init(comparing old: ModelView, with new: ModelView) throws(EngineError) {
        self.init(old, new, try TransactionChanges(comparing: old, with: new), isCompared: true)
    }

    private init(
        _ old: ModelView, _ new: ModelView, _ changes: TransactionChanges, isCompared: Bool
    ) {
        self.old = old
        self.new = new
        self.changes = changes
        self.isCompared = isCompared
        links = LinkMap(new.schema.stored)
    }

    /// The meaning of the changes for an observer of a subject.
    mutating func outcome(
        for subject: Subject, watching paths: WatchedPaths?, basis: ObservedVersion,
        next: inout ObservedVersion
    ) throws(EngineError) -> Outcome {
        switch subject {
        case .database:
            return .committed
        case .object(let object):
            let change = try self.change(of: object, watching: paths)
            return change.isEmpty ? .nothing : .object(change)
        case .collection(let ref):
            let change = try self.change(of: ref, watching: paths)
            return change.isEmpty ? .nothing : .collection(change)
        case .results(let definition):
            let change = try knownChange(of: definition, watching: paths, basis: basis, next: &next)
            return change.isEmpty ? .nothing : .collection(change)
        }
    }

    private mutating func knownChange(
        of definition: ResultsDefinition, watching paths: WatchedPaths?, basis: ObservedVersion,
        next: inout ObservedVersion
    ) throws(EngineError) -> CollectionChange {
        let question = Question(
            definition: ObjectIdentifier(definition), paths: paths.map { ObjectIdentifier($0) })
        if let known = known[question] {
            next.order = known.order
            return known.change
        }
        let change = try self.change(of: definition, watching: paths, basis: basis, next: &next)
        known[question] = (change, next.order)
        return change
    }

    // MARK: What rows reach

    /// The filter of changed rows of a class: rows that changed themselves, or through the objects
    /// that they reach or the observer watches. `rowCount`: estimated number of rows to test.
    mutating func test(of classID: ClassID, watching paths: WatchedPaths?, rowCount: Int)
        throws(EngineError) -> any RowChangeFilter
    {
        if let paths { return try pathTest(paths, rowCount: rowCount) }
        let budget = Self.budget(rowCount: rowCount)
        if let made = tests[classID], made.serves(budget) { return made }
        let test = try DeepChangeChecker(
            of: classID, modified: changes.modified, links: links, reader: VersionLinks(view: new),
            budget: budget)
        tests[classID] = test
        return test
    }

    /// The test of key paths for an observer.
    mutating func pathTest(_ paths: WatchedPaths, rowCount: Int) throws(EngineError) -> KeyPathTest<
        VersionLinks
    > {
        let budget = Self.budget(rowCount: rowCount)
        if let made = pathTests[ObjectIdentifier(paths)], made.serves(budget) { return made }
        let test = try KeyPathTest(
            paths, changed: try changed(paths), reader: VersionLinks(view: new), budget: budget)
        pathTests[ObjectIdentifier(paths)] = test
        return test
    }

    /// The backward search may read a few objects for each row; beyond that, searching forwards
    /// from the rows is cheaper.
    private static func budget(rowCount: Int) -> Int {
        let (product, overflow) = rowCount.multipliedReportingOverflow(by: 4)
        return overflow ? .max : max(1_000, product)
    }
}

/// Follows the links of a version.
struct VersionLinks: LinkReading {
    let view: ModelView

    func forEachSource(of target: Int64, through link: Link, _ body: (Int64) -> Bool)
        throws(EngineError)
    {
        try model { () throws(ModelError) in
            try view.forEachBacklink(
                to: target, of: link.target, through: try view.property(link.ref)
            ) {
                source, _ in body(source)
            }
        }
    }

    func forEachTarget(of source: Int64, through link: Link, _ body: (Int64) -> Bool)
        throws(EngineError)
    {
        try model { () throws(ModelError) in
            if try view.property(link.ref).type == .mixed {
                for target in try view.mixedTargets(of: source, try view.property(link.ref))
                where target.classID == link.target {
                    guard body(target.key) else { return }
                }
                return
            }
            guard link.isCollection else {
                if case .int64(let target) = try view.cell(source, try view.property(link.ref)) {
                    _ = body(target)
                }
                return
            }
            for target in try view.linkedKeys(
                CollectionRef(
                    owner: ObjectRef(classID: link.source, key: source), property: link.property))
            {
                guard body(target) else { return }
            }
        }
    }
}

extension Link {
    var ref: PropertyRef { PropertyRef(classID: source, propertyID: property) }
}

extension RowChangeFilter {
    /// Whether it is as good as a new one with this budget.
    fileprivate func serves(_ budget: Int) -> Bool { rows != nil || self.budget >= budget }
}
