internal import ToftModel
internal import ToftStorage

/// Follows a path with collections from the rows of a batch to everything at its end, in batches.
///
/// One level for each step, each with a batch of its own: a level that is full is walked on from
/// before it is filled again, so the elements of a row come in order and memory stays that of a few
/// batches.
///
/// The number of paths to an object may grow exponentially with the steps. If they do not matter,
/// `isDistinct` follows one of them; if they are counted, `forEachCounted` multiplies their
/// numbers; if all are followed in order, `isInOrder` leaves out those without a result, so that
/// `settled` can end the walk in time.
final class PathExpander {
    private let source: DataSource
    let levels: [Level]
    private let elements: ElementLevel?
    /// Whether an object is led to once for each row of the start, however many ways there are.
    var isDistinct = false
    /// True if objects are followed one by one, and those without a result not again.
    var isInOrder = false
    /// Rows of the base that are not followed further if `isInOrder`.
    var settled = Selection.empty
    /// Number of delivered batches.
    private var delivered = 0
    /// Receives the batches of the walk in progress; otherwise nil. Kept here, since the compiler
    /// would make a copy of the whole walk for each closure that it is given.
    private var receiver: ((RowBatch) throws(ModelError) -> Void)?

    /// The walk within mixed values.
    var nested: MixedWalk? { elements?.nested }

    /// One step and the objects that it leads to.
    final class Level {
        let step: PathStep
        let batch: RowBatch
        let column: ColumnRead
        let links = Vector(.int)
        /// The objects reached from `owner`, a row of the start; kept if each counts once.
        var known: Set<Int64> = []
        var owner = -1
        /// The objects without a result; kept if all are followed in their order.
        var barren: Set<Int64> = []

        init(_ step: PathStep, _ source: DataSource) throws(ModelError) {
            self.step = step
            batch = RowBatch(try source.reader(step.target))
            column = ColumnRead(step)
        }

        /// Whether `owner` leads to an object for the first time. Owners come in order.
        func isNew(_ key: Int64, _ owner: Int) -> Bool {
            if owner != self.owner {
                known.removeAll(keepingCapacity: true)
                self.owner = owner
            }
            return known.insert(key).inserted
        }
    }

    /// A collection of scalars at the end of the path.
    private final class ElementLevel {
        let column: UInt32
        let position: ListPosition?
        let layout: ValueLayout
        let batch = RowBatch(nil)
        /// For values within mixed values.
        var nested: MixedWalk?

        init(_ column: UInt32, _ position: ListPosition?, _ type: ValueType) {
            self.column = column
            self.position = position
            layout = ValueLayout(type)
            batch.elements = Vector(layout)
        }
    }

    /// `steps`, and then the elements of a collection of scalars if `leaf` is one.
    init(_ steps: [PathStep], _ leaf: PathLeaf, _ source: DataSource) throws(ModelError) {
        self.source = source
        var levels: [Level] = []
        for step in steps { levels.append(try Level(step, source)) }
        self.levels = levels
        switch leaf.withoutPart {
        case .nested(let property, let base, let steps):
            let level = ElementLevel(property.propertyID, nil, .mixed)
            level.nested = MixedWalk(base, steps, source)
            elements = level
        case .elements(let property, let type):
            elements = ElementLevel(property.propertyID, nil, type)
        case .keys(let property):
            elements = ElementLevel(DictionaryColumns.keys(property.propertyID), nil, .string)
        case .lengths(let property): elements = ElementLevel(property.propertyID, nil, .string)
        case .element(let property, let position, let type):
            elements = ElementLevel(property.propertyID, position, type)
        default: elements = nil
        }
    }

    /// Calls `body` with batches of the objects that the wanted rows of `start` lead to; their base
    /// is `base`, whose rows are those of `start`.
    func forEachBatch(
        from start: RowBatch, base: RowBatch, wanted: Selection,
        _ body: (RowBatch) throws(ModelError) -> Void
    ) throws(ModelError) {
        if isDistinct { for level in levels { level.owner = -1 } }
        if isInOrder { for level in levels { level.barren.removeAll(keepingCapacity: true) } }
        settled = .empty
        try withoutActuallyEscaping(body) { body throws(ModelError) in
            let outer = receiver
            receiver = body
            defer { receiver = outer }
            try walk(0, start, wanted, ownsItself: true, base)
        }
    }

    private func deliver(_ batch: RowBatch) throws(ModelError) {
        delivered &+= 1
        try receiver?(batch)
    }

    private func walk(
        _ depth: Int, _ batch: RowBatch, _ wanted: Selection, ownsItself: Bool, _ base: RowBatch
    ) throws(ModelError) {
        guard depth < levels.count else {
            if let elements {
                return try walkElements(elements, batch, wanted, ownsItself: ownsItself, base)
            }
            return try deliver(batch)
        }
        let level = levels[depth]
        level.batch.clear()
        level.batch.base = base
        func flush() throws(ModelError) {
            guard level.batch.count > 0 else { return }
            try checkInterruption()
            try walk(depth + 1, level.batch, level.batch.rows, ownsItself: false, base)
            level.batch.clear()
        }
        func append(_ row: Int, _ key: Int64) throws(ModelError) {
            let owner = ownsItself ? row : Int(batch.owners[row])
            if isDistinct, !level.isNew(key, owner) { return }
            if isInOrder, settled[owner] || level.barren.contains(key) { return }
            level.batch.append(key, owner: owner)
            if isInOrder {
                let before = delivered
                try flush()
                if delivered == before { level.barren.insert(key) }
            } else if level.batch.isFull {
                try flush()
            }
        }
        try follow(level, batch, wanted, append)
        try flush()
    }

    func checkInterruption() throws(ModelError) {
        do throws(StorageError) { try CurrentCall.checkInterruption() } catch {
            throw .storage(error)
        }
    }

    // MARK: Steps

    /// Calls `append` with each wanted row of `batch` and the targets of the step of `level` from
    /// there, row by row.
    func follow(
        _ level: Level, _ batch: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        switch level.step {
        case .link, .entry: try followLinks(level, batch, wanted, append)
        case .list: try followList(level, batch, wanted, append)
        case .element(_, let position, _): try followElement(level, position, batch, wanted, append)
        case .backlinks(let origin): try followBacklinks(origin, batch, wanted, append)
        }
    }

    private func followLinks(
        _ level: Level, _ batch: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard let reader = batch.reader else { return }
        try reader.read(level.column, batch, wanted: wanted, into: level.links)
        var rows = wanted.rows
        while let row = rows.next() {
            if !level.links.nulls[row] { try append(row, level.links.ints[row]) }
        }
    }

    private func followList(
        _ level: Level, _ batch: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        try batch.reader?.forEachList(level.column.column, batch, wanted: wanted) {
            row, list throws(ModelError) in
            if let keys = list.int64s {
                for index in 0..<list.count { try append(row, keys[index]) }
            } else {
                for index in 0..<list.count {
                    if case .int64(let key) = try list.element(index) { try append(row, key) }
                }
            }
        }
    }

    private func followElement(
        _ level: Level, _ position: ListPosition, _ batch: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        try batch.reader?.forEachList(level.column.column, batch, wanted: wanted) {
            row, list throws(ModelError) in
            guard let index = position.index(in: list.count),
                case .int64(let key) = try list.element(index)
            else { return }
            try append(row, key)
        }
    }

    private func followBacklinks(
        _ origin: PropertyRef, _ batch: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        var rows = wanted.subtracting(batch.absent).rows
        while let row = rows.next() {
            try source.forEachBacklink(
                to: batch.keys[row], of: batch.reader?.classID, through: origin
            ) {
                key, links throws(ModelError) in
                for _ in 0..<links { try append(row, key) }
            }
        }
    }

    // MARK: Elements

    private func walkElements(
        _ level: ElementLevel, _ batch: RowBatch, _ wanted: Selection, ownsItself: Bool,
        _ base: RowBatch
    ) throws(ModelError) {
        guard let vector = level.batch.elements else { return }
        level.batch.base = base
        vector.useOwnStorage()
        var count = 0
        func flush() throws(ModelError) {
            guard count > 0 else { return }
            try checkInterruption()
            level.batch.setElementCount(count)
            try deliver(level.batch)
            vector.useOwnStorage()
            count = 0
        }
        if let nested = level.nested {
            for (row, cell) in try nested.values(level.column, batch, wanted) {
                vector.set(count, cell)
                level.batch.owners[count] = UInt8(
                    truncatingIfNeeded: ownsItself ? row : Int(batch.owners[row]))
                count += 1
                if count == Selection.capacity { try flush() }
            }
            return try flush()
        }
        try batch.reader?.forEachList(level.column, batch, wanted: wanted) {
            row, list throws(ModelError) in
            var range = 0..<list.count
            if let position = level.position {
                guard let index = position.index(in: list.count) else { return }
                range = index..<(index + 1)
            }
            let owner = UInt8(truncatingIfNeeded: ownsItself ? row : Int(batch.owners[row]))
            for index in range {
                vector.set(count, try list.element(index))
                level.batch.owners[count] = owner
                count += 1
                if count == Selection.capacity { try flush() }
            }
        }
        try flush()
    }
}

extension ListPosition {
    /// The index that it is in a list of `count` elements; nil beyond its end.
    func index(in count: Int) -> Int? {
        switch self {
        case .index(let index): index < count ? index : nil
        case .last: count > 0 ? count - 1 : nil
        }
    }
}
