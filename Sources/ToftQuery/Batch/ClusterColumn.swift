internal import ToftStorage

extension Vector {
    /// Points the vector at a column whose values have the vector's layout in the cluster; false if
    /// they have to be copied.
    func use(_ column: ColumnRead, of cluster: ClusterView) throws(StorageError) -> Bool {
        switch layout {
        case .int:
            let (integers, nulls) = try cluster.nullableIntegers(column.column, &known)
            use(integers)
            use(nulls: nulls, count: integers.count)
        case .bool:
            let view = try cluster.column(column.column, &known)
            bits = Selection(bitmap: try view.bools(), count: cluster.count)
            use(nulls: view.nulls, count: cluster.count)
        case .double where column.type == .double:
            let view = try cluster.column(column.column, &known)
            doubles = try view.float64s()
            use(nulls: view.nulls, count: cluster.count)
        case .double, .date, .fixed, .decimal, .text, .mixed: return false
        }
        return true
    }

    private func use(nulls bitmap: UnsafePointer<UInt64>?, count: Int) {
        nulls = bitmap.map { Selection(bitmap: $0, count: count) } ?? .empty
    }
}

/// One column of one cluster, its pointers looked up once.
struct ClusterColumn {
    private let count: Int
    private let layout: ValueLayout
    private let isFloat: Bool
    /// Rows that are null.
    private let nulls: Selection
    private let bits: Selection
    private let ints: IntegerColumn?
    private let floats: UnsafePointer<Float>?
    private let doubles: UnsafePointer<Double>?
    private let nanoseconds: UnsafePointer<Int32>?
    private let fixed: FixedColumn?
    private let texts: BytesColumn?

    init(_ cluster: ClusterView, _ column: ColumnRead) throws(StorageError) {
        count = cluster.count
        layout = column.layout
        isFloat = column.type == .float
        let view = try cluster.column(column.column)
        nulls =
            view.nulls.map { Selection(bitmap: $0, count: cluster.count) }
            ?? .empty
        var bits = Selection.empty
        var ints: IntegerColumn?
        var floats: UnsafePointer<Float>?
        var doubles: UnsafePointer<Double>?
        var nanoseconds: UnsafePointer<Int32>?
        var fixed: FixedColumn?
        var texts: BytesColumn?
        switch column.layout {
        case .bool:
            bits = Selection(bitmap: try view.bools(), count: cluster.count)
        case .int: ints = try view.integers()
        case .double where isFloat: floats = try view.float32s()
        case .double: doubles = try view.float64s()
        case .date:
            let parts = try view.timestamps()
            ints = parts.seconds
            nanoseconds = parts.nanoseconds
        case .fixed, .decimal: fixed = try view.fixed()
        case .text, .mixed: texts = try cluster.bytes(column.column)
        }
        self.bits = bits
        self.ints = ints
        self.floats = floats
        self.doubles = doubles
        self.nanoseconds = nanoseconds
        self.fixed = fixed
        self.texts = texts
    }

    /// Makes `vector` the whole column, in place if the values have the vector's layout.
    func read(into vector: Vector, wanted: Selection) throws(StorageError) {
        vector.useOwnStorage()
        vector.nulls = nulls
        if let texts {
            let own = vector.ownTexts
            var rows = wanted.subtracting(nulls).rows
            while let row = rows.next() { own[row] = try texts[row] }
        } else if let fixed {
            var rows = wanted.subtracting(nulls).rows
            while let row = rows.next() { vector.set(row, fixed[row]) }
        } else if let floats {
            let own = vector.ownDoubles
            for row in 0..<count { own[row] = Double(floats[row]) }
        } else if let doubles {
            vector.doubles = doubles
        } else if let ints {
            vector.use(ints)
            if let nanoseconds { vector.nanoseconds = nanoseconds }
        } else {
            vector.bits = bits
        }
    }

    /// Copies one row of the column to a row of the vector's own storage.
    @inline(__always)
    func copy(_ source: Int, to row: Int, of vector: Vector) throws(StorageError) {
        if nulls[source] {
            vector.nulls.insert(row)
            return
        }
        switch layout {
        case .bool: if bits[source] { vector.bits.insert(row) }
        case .int: vector.ownInts[row] = ints?[source] ?? 0
        case .double:
            vector.ownDoubles[row] = isFloat ? Double(floats?[source] ?? 0) : doubles?[source] ?? 0
        case .date:
            vector.ownInts[row] = ints?[source] ?? 0
            vector.ownNanoseconds[row] = nanoseconds?[source] ?? 0
        case .fixed, .decimal: vector.set(row, fixed?[source] ?? .zero)
        case .text, .mixed:
            vector.ownTexts[row] =
                try texts?[source] ?? UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }
}
