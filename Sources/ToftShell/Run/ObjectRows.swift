internal import ToftModel
internal import ToftStorage
package import ToftEngine
package import ToftQuery

/// Columns of the objects of some results. Plain properties are read for many objects at once,
/// into memory that is used again.
package struct ObjectRows: RowSource {
    package let columns: [PrintedColumn]
    private let results: Results
    private let sources: [Source]
    private let keys: ColumnMemory
    private let paths: PathMemory
    /// Number of rows that have been read.
    private var done = 0

    /// Rows that are read at once.
    private static let capacity = 1_024

    /// The source of a column's values.
    private enum Source {
        case key
        case plain(PropertyType, ColumnMemory)
        case path([ObjectColumn.Step])
    }

    init(_ results: Results, _ columns: [ObjectColumn]) {
        self.results = results
        self.columns = columns.map { PrintedColumn($0.title, isNumber: $0.isNumber) }
        keys = ColumnMemory(nil, elementSize: 8, capacity: Self.capacity)
        paths = PathMemory(results.session)
        sources = columns.map { column in
            if column.isKey { return .key }
            guard let property = column.plainProperty,
                let size = ColumnBuffer.elementSize(of: property)
            else { return .path(column.steps) }
            return .plain(
                property.type,
                ColumnMemory(property.id, elementSize: size, capacity: Self.capacity))
        }
    }

    /// All properties of the objects, or the columns that paths name.
    package init(_ results: Results, _ paths: [StatementReader.Path] = []) throws(EngineError) {
        let owner = try results.session.classHandle(results.classID ?? 0)
        guard !paths.isEmpty else {
            self.init(results, ObjectColumn.all(of: owner))
            return
        }
        var columns: [ObjectColumn] = []
        for path in paths {
            columns.append(try ObjectColumn(path, from: owner, in: results.session))
        }
        self.init(results, columns)
    }

    package mutating func next() throws(EngineError) -> Int {
        let session = results.session
        // Nothing of the rows before is used any more.
        if !session.isFrozen { try session.giveBackMemory() }
        var buffers = [keys.buffer]
        for case .plain(_, let memory) in sources { buffers.append(memory.buffer) }
        let count = try results.read(buffers, from: done, capacity: Self.capacity)
        done += count
        return count
    }

    package func cell(_ column: Int, of row: Int) throws(EngineError) -> PrintedCell {
        switch sources[column] {
        case .key: return .int(keys.load(row, as: Int64.self))
        case .plain(let type, let memory): return memory.cell(row, type)
        case .path(let steps):
            guard let classID = results.classID else { return .null }
            let ref = ObjectRef(classID: classID, key: keys.load(row, as: Int64.self))
            guard let object = try results.session.object(ref) else { return .null }
            return .json(try paths.reader.value(of: object, steps[...]))
        }
    }
}

/// The reader of paths, which keeps what it knows from one value to the next.
private final class PathMemory {
    var reader: PathReader

    init(_ session: Session) { reader = PathReader(session) }
}

/// Memory for the values of one property of many objects: see `ColumnBuffer`.
private final class ColumnMemory {
    private let property: PropertyID?
    private let elementSize: Int
    private let values: UnsafeMutableRawPointer
    private let nulls: UnsafeMutablePointer<UInt8>

    init(_ property: PropertyID?, elementSize: Int, capacity: Int) {
        self.property = property
        self.elementSize = elementSize
        values = .allocate(byteCount: elementSize * capacity, alignment: 16)
        values.initializeMemory(as: UInt8.self, repeating: 0, count: elementSize * capacity)
        nulls = .allocate(capacity: capacity)
        nulls.initialize(repeating: 0, count: capacity)
    }

    deinit {
        values.deallocate()
        nulls.deallocate()
    }

    var buffer: ColumnBuffer { ColumnBuffer(property: property, values: values, nulls: nulls) }

    @inline(__always)
    func load<Element: BitwiseCopyable>(_ row: Int, as type: Element.Type) -> Element {
        values.loadUnaligned(fromByteOffset: row * elementSize, as: type)
    }

    /// A value; `row` is below the number of rows that were read.
    func cell(_ row: Int, _ type: PropertyType) -> PrintedCell {
        if nulls[row] != 0 { return .null }
        switch type {
        case .bool: return .bool(load(row, as: UInt8.self) != 0)
        case .int: return .int(load(row, as: Int64.self))
        case .float: return .double(Double(load(row, as: Float.self)))
        case .double: return .double(load(row, as: Double.self))
        case .string: return .text(bytes(row))
        case .data: return .data(bytes(row))
        case .date:
            let seconds = load(row, as: Int64.self)
            let nanoseconds = values.loadUnaligned(
                fromByteOffset: row * elementSize + 8, as: Int32.self)
            return .date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        case .uuid: return .uuid(fixed(row, 16))
        case .objectId: return .objectId(fixed(row, 12))
        case .decimal128:
            let low = load(row, as: UInt64.self)
            let high = values.loadUnaligned(
                fromByteOffset: row * elementSize + 8, as: UInt64.self)
            return .decimal(Decimal128(low: low, high: high))
        case .link, .linkingObjects, .mixed: return .null
        }
    }

    private func bytes(_ row: Int) -> UnsafeRawBufferPointer {
        let base = UnsafeRawPointer(bitPattern: load(row, as: UInt.self))
        let count = values.loadUnaligned(fromByteOffset: row * elementSize + 8, as: Int.self)
        return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : count)
    }

    private func fixed(_ row: Int, _ size: Int) -> FixedBytes {
        FixedBytes(
            UnsafeRawBufferPointer(start: values + row * elementSize, count: size))
    }
}
