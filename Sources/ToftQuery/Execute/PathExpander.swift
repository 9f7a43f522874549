internal import ToftModel
internal import ToftStorage

/// Follows a path with collections from the rows of a frame to everything at its end, in batches.
///
/// One level for each step, each with a frame of its own: a level that is full is walked on from
/// before it is filled again, so the elements of a row come in order and memory stays that of a few
/// batches.
final class PathExpander {
    private let source: DataSource
    private let levels: [Level]
    private let elements: ElementLevel?

    /// One step and the objects that it leads to.
    private final class Level {
        let step: PathStep
        let frame: RowBatch
        let column: ColumnRead
        let links = Vector(.int)

        init(_ step: PathStep, _ source: DataSource) throws(ModelError) {
            self.step = step
            frame = RowBatch(try source.reader(step.target))
            column = ColumnRead(step.property, .link(step.target))
        }
    }

    /// A list of scalars at the end of the path.
    private final class ElementLevel {
        let property: PropertyRef
        let position: ListPosition?
        let layout: Vector.Layout
        let frame = RowBatch(nil)

        init(_ property: PropertyRef, _ position: ListPosition?, _ type: ValueType) {
            self.property = property
            self.position = position
            layout = Vector.Layout(type)
            frame.elements = Vector(layout)
        }
    }

    /// `steps`, and then the elements of a list of scalars if `leaf` is one.
    init(_ steps: [PathStep], _ leaf: PathLeaf, _ source: DataSource) throws(ModelError) {
        self.source = source
        var levels: [Level] = []
        for step in steps { levels.append(try Level(step, source)) }
        self.levels = levels
        switch leaf {
        case .elements(let property, let type): elements = ElementLevel(property, nil, type)
        case .lengths(let property): elements = ElementLevel(property, nil, .string)
        case .element(let property, let position, let type):
            elements = ElementLevel(property, position, type)
        default: elements = nil
        }
    }

    /// Calls `body` with frames whose rows are what the wanted rows of `start` lead to; their base
    /// is `base`, whose rows are those of `start`.
    func forEachBatch(
        from start: RowBatch, base: RowBatch, wanted: Selection,
        _ body: (RowBatch) throws(ModelError) -> Void
    ) throws(ModelError) {
        try walk(0, start, wanted, ownsItself: true, base, body)
    }

    private func walk(
        _ depth: Int, _ frame: RowBatch, _ wanted: Selection, ownsItself: Bool, _ base: RowBatch,
        _ body: (RowBatch) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard depth < levels.count else {
            if let elements {
                return try walkElements(elements, frame, wanted, ownsItself: ownsItself, base, body)
            }
            return try body(frame)
        }
        let level = levels[depth]
        level.frame.clear()
        level.frame.base = base
        func flush() throws(ModelError) {
            guard level.frame.count > 0 else { return }
            try walk(depth + 1, level.frame, level.frame.rows, ownsItself: false, base, body)
            level.frame.clear()
        }
        func append(_ row: Int, _ key: Int64) throws(ModelError) {
            level.frame.append(key, owner: ownsItself ? row : Int(frame.owners[row]))
            if level.frame.isFull { try flush() }
        }
        switch level.step {
        case .link: try followLinks(level, frame, wanted, ownsItself: ownsItself)
        case .list: try followList(level, frame, wanted, append)
        case .element(_, let position, _): try followElement(level, position, frame, wanted, append)
        case .backlinks(let origin): try followBacklinks(origin, frame, wanted, append)
        }
        try flush()
    }

    // MARK: Steps

    private func followLinks(
        _ level: Level, _ frame: RowBatch, _ wanted: Selection, ownsItself: Bool
    )
        throws(ModelError)
    {
        guard let reader = frame.reader else { return }
        try reader.read(level.column, frame, wanted: wanted, into: level.links)
        var rows = wanted.rows
        while let row = rows.next() {
            let owner = ownsItself ? row : Int(frame.owners[row])
            if !level.links.nulls[row] { level.frame.append(level.links.ints[row], owner: owner) }
        }
    }

    private func followList(
        _ level: Level, _ frame: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        try frame.reader?.forEachList(level.column.column, frame, wanted: wanted) {
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
        _ level: Level, _ position: ListPosition, _ frame: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        try frame.reader?.forEachList(level.column.column, frame, wanted: wanted) {
            row, list throws(ModelError) in
            guard let index = position.index(in: list.count),
                case .int64(let key) = try list.element(index)
            else { return }
            try append(row, key)
        }
    }

    private func followBacklinks(
        _ origin: PropertyRef, _ frame: RowBatch, _ wanted: Selection,
        _ append: (Int, Int64) throws(ModelError) -> Void
    ) throws(ModelError) {
        var rows = wanted.subtracting(frame.absent).rows
        while let row = rows.next() {
            try source.forEachBacklink(to: frame.keys[row], through: origin) {
                key, links throws(ModelError) in
                for _ in 0..<links { try append(row, key) }
            }
        }
    }

    // MARK: Elements

    private func walkElements(
        _ level: ElementLevel, _ frame: RowBatch, _ wanted: Selection, ownsItself: Bool,
        _ base: RowBatch,
        _ body: (RowBatch) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard let vector = level.frame.elements else { return }
        level.frame.base = base
        vector.useOwnStorage()
        var count = 0
        func flush() throws(ModelError) {
            guard count > 0 else { return }
            level.frame.setElementCount(count)
            try body(level.frame)
            vector.useOwnStorage()
            count = 0
        }
        try frame.reader?.forEachList(level.property.propertyID, frame, wanted: wanted) {
            row, list throws(ModelError) in
            var range = 0..<list.count
            if let position = level.position {
                guard let index = position.index(in: list.count) else { return }
                range = index..<(index + 1)
            }
            let owner = UInt8(truncatingIfNeeded: ownsItself ? row : Int(frame.owners[row]))
            for index in range {
                vector.set(count, try list.element(index))
                level.frame.owners[count] = owner
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

extension ListView {
    /// The element at `index`.
    @inline(__always)
    func element(_ index: Int) throws(ModelError) -> Cell {
        do { return try cell(at: index) } catch { throw .storage(error) }
    }
}
