internal import ToftModel
internal import ToftStorage

/// Results as a table in Arrow's layout, a batch of rows at a time.
///
/// 1. It shows the version of its beginning, which it pins until it ends. Of a write transaction it
///    has the changes so far: all batches are then made at once, in memory.
/// 2. Each column is a property of the objects, of the targets of links before it, or of embedded
///    objects. A link gives null behind it if it is null.
/// 3. A batch is read cluster after cluster: its keys are sorted, those of linked objects too. It
///    has so few rows that its memory stays bounded, however wide the table is.
/// 4. It may be used on any thread, by one at a time.
package final class ArrowStream {
    /// The columns.
    package let fields: [ArrowField]
    private let root: ArrowNode
    private let columns: [ArrowColumn]
    private var source: Source
    /// The most rows of the next batch.
    private var rowLimit: Int
    private let mostRows: Int

    private static let mostRows = 1 << 16
    /// Bytes of values of fixed width that a batch may have.
    private static let fixedBytes = 32 << 20

    fileprivate enum Source {
        /// The objects of a class from a key on.
        case whole(Reader, next: Int64?)
        case keys(Reader, [Int64], next: Int)
        /// Batches that are made already.
        case made([ArrowData], next: Int)
    }

    fileprivate struct Reader {
        var view: ModelView
        let session: Session
    }

    /// - Parameter keyPaths: the columns; empty: every property that is stored, before them the
    ///   objects' keys as `_key` if the class has no primary key.
    /// - Throws: `noSuchProperty`; `typeMismatch` for results of values, and for paths over
    ///   collections; `invalidArgument` for a path given twice.
    package init(_ results: Results, keyPaths: [String]) throws(EngineError) {
        let session = results.session
        let owner = try results.objectClass()
        let isWriting = session.transaction != nil
        let keys: [Int64]? = results.isWhole && !isWriting ? nil : try results.keys()
        let frozen = isWriting ? session : try session.frozen()
        let view = frozen.view
        root = ArrowNode(
            try model { () throws(ModelError) in
                try view.schema.classHandle(id: owner.id)
            })
        var plan = ArrowPlan(view: view, mayLackObjects: results.mayLackObjects)
        columns = try plan.columns(of: root, keyPaths)
        fields = columns.map(\.field)
        let width = 16 * max(1, plan.columnCount)
        mostRows = max(1, min(Self.mostRows, Self.fixedBytes / width))
        rowLimit = mostRows
        let reader = Reader(view: view, session: frozen)
        source =
            if let keys { .keys(reader, keys, next: 0) } else { .whole(reader, next: .min) }
        guard isWriting else { return }
        var made: [ArrowData] = []
        while let batch = try next() { made.append(batch) }
        source = .made(made, next: 0)
    }

    /// The next batch, a struct of the columns; nil after the last one.
    package func next() throws(EngineError) -> ArrowData? {
        switch source {
        case .made(let batches, let next):
            guard next < batches.count else { return nil }
            source = .made(batches, next: next + 1)
            return batches[next]
        case .keys(var reader, let keys, let next):
            guard next < keys.count else { return nil }
            try reader.renew()
            let (batch, count) = try batch(reader, keys[next...].prefix(rowLimit))
            source = .keys(reader, keys, next: next + count)
            return batch
        case .whole(var reader, let next):
            guard let next else { return nil }
            try reader.renew()
            let keys = try reader.keys(of: root.owner, from: next, rowLimit)
            guard !keys.isEmpty else {
                source = .made([], next: 0)
                return nil
            }
            let (batch, count) = try batch(reader, keys[...])
            source = .whole(reader, next: count == 0 ? nil : Self.after(keys[count - 1]))
            return batch
        }
    }

    private static func after(_ key: Int64) -> Int64? { key == .max ? nil : key + 1 }

    /// A batch of the first of some objects, and their number.
    private func batch(_ reader: Reader, _ keys: ArraySlice<Int64>) throws(EngineError)
        -> (ArrowData, Int)
    {
        var count = keys.count
        while true {
            let budget = ArrowBudget()
            let reading = ArrowReading(view: reader.view, session: reader.session, budget: budget)
            let batchKeys = UnsafeMutableBufferPointer<Int64>.allocate(capacity: count)
            defer { batchKeys.deallocate() }
            _ = batchKeys.initialize(from: keys.prefix(count))
            try root.read(batchKeys, reading)
            if budget.isExceeded, count > 1 {
                count = max(1, count / 4)
                rowLimit = count
                continue
            }
            if budget.bytes < ArrowBudget.limit / 8 { rowLimit = min(rowLimit * 2, mostRows) }
            var children: [ArrowData] = []
            for column in columns { children.append(try column.finish()) }
            return (ArrowData(length: count, buffers: [nil], children: children), count)
        }
    }
}

extension ArrowStream.Reader {
    /// Lets go of memory that reading an encrypted file has filled.
    fileprivate mutating func renew() throws(EngineError) {
        guard session.isFrozen else { return }
        if let fresh = try model({ [view] () throws(ModelError) in try view.again() }) {
            view = fresh
        }
    }

    /// The keys of up to `limit` objects of a class, from a key on.
    fileprivate func keys(of owner: ClassHandle, from first: Int64, _ limit: Int)
        throws(EngineError) -> [Int64]
    {
        var keys: [Int64] = []
        let table = try model { () throws(ModelError) in try view.keyTable(owner) }
        keys.reserveCapacity(min(limit, table.rowCount))
        try storage { () throws(StorageError) in
            try table.forEachCluster(from: first) { cluster throws(StorageError) in
                let rows = cluster.keys
                for row in cluster.lowerBound(first)..<cluster.count where keys.count < limit {
                    keys.append(rows[row])
                }
                return keys.count < limit
            }
        }
        return keys
    }
}

extension Results {
    /// Whether objects that are listed may have been deleted.
    fileprivate var mayLackObjects: Bool {
        if case .objects = definition.base { true } else { false }
    }
}

/// Finds the columns that key paths name.
private struct ArrowPlan {
    let view: ModelView
    /// Whether each object may be missing, so that each of its values may be null.
    let mayLackObjects: Bool
    private(set) var columnCount = 0

    init(view: ModelView, mayLackObjects: Bool) {
        self.view = view
        self.mayLackObjects = mayLackObjects
    }

    mutating func columns(of root: ArrowNode, _ keyPaths: [String]) throws(EngineError)
        -> [ArrowColumn]
    {
        let owner = root.owner
        guard !keyPaths.isEmpty else {
            var columns: [ArrowColumn] = []
            if owner.primaryKey == nil, !owner.isEmbedded {
                columns.append(key(of: root, owner.keyMember))
            }
            for property in owner.visibleProperties where property.isStored {
                let isNullable = property.isNullable || mayLackObjects
                columns.append(
                    try column(property, of: root, property.name, isNullable, within: [owner.id]))
            }
            return columns
        }
        var columns: [ArrowColumn] = []
        var known: Set<String> = []
        for path in keyPaths {
            guard known.insert(path).inserted else {
                throw EngineError(
                    .invalidArgument,
                    "The key path '\(path)' is given twice, and columns have different names.")
            }
            columns.append(try column(path, of: root))
        }
        return columns
    }

    private mutating func column(_ path: String, of root: ArrowNode) throws(EngineError)
        -> ArrowColumn
    {
        var node = root
        let names = path.pathNames
        for name in names.dropLast() {
            let property = try self.property(name, of: node.owner)
            guard property.type == .link, property.collection == .none else {
                throw EngineError(
                    .typeMismatch,
                    "'\(node.owner.name).\(name)' is \(property.typeName): the key path '\(path)' "
                        + "has to lead over links to one object each.")
            }
            node = node.target(of: property, try target(of: property))
        }
        let last = names[names.count - 1]
        let owner = node.owner
        if last == owner.keyMember, !owner.isEmbedded { return key(of: node, path) }
        let property = try self.property(last, of: owner)
        guard property.isStored else {
            throw EngineError(
                .typeMismatch,
                "'\(owner.name).\(last)' is an inverse link, which is computed and can't be a "
                    + "column.")
        }
        let isNullable = node !== root || property.isNullable || mayLackObjects
        return try column(property, of: node, path, isNullable, within: [owner.id])
    }

    private func property(_ name: String, of owner: ClassHandle) throws(EngineError)
        -> PropertyHandle
    {
        try model { () throws(ModelError) in try owner.property(named: name) }
    }

    private func target(of property: PropertyHandle) throws(EngineError) -> ClassHandle {
        try model { () throws(ModelError) in
            try view.schema.classHandle(id: property.targetClassID ?? 0)
        }
    }

    /// The objects' own keys.
    private mutating func key(of node: ArrowNode, _ name: String) -> ArrowColumn {
        let isNullable = mayLackObjects || name.contains(".")
        return added(ArrowFixedColumn(ArrowField(name, "l", isNullable: isNullable), nil), node)
    }

    private mutating func added(_ column: ArrowColumn, _ node: ArrowNode) -> ArrowColumn {
        columnCount += 1
        node.columns.append(column)
        return column
    }

    /// - Parameter classes: the classes around embedded objects.
    private mutating func column(
        _ property: PropertyHandle, of node: ArrowNode, _ name: String, _ isNullable: Bool,
        within classes: [ClassID]
    ) throws(EngineError) -> ArrowColumn {
        if property.isCollection {
            return try collection(property, of: node, name, isNullable, within: classes)
        }
        if isJSON(property, within: classes) {
            columnCount += 1
            let column = ArrowJSONPropertyColumn(json(name), property)
            node.wholes.append(column)
            return column
        }
        if property.type == .link {
            let owner = try target(of: property)
            if property.ownsTargets || owner.primaryKey != nil {
                return try object(node.target(of: property, owner), name, property, within: classes)
            }
        }
        return added(try value(property, name, isNullable), node)
    }

    /// Whether values are written as JSON.
    private func isJSON(_ property: PropertyHandle, within classes: [ClassID]) -> Bool {
        property.type == .mixed
            || property.ownsTargets && classes.contains(property.targetClassID ?? 0)
    }

    private func json(_ name: String) -> ArrowField {
        ArrowField(name, "U", isNullable: true, extensionName: "arrow.json")
    }

    /// The objects that a link leads to: their primary keys, or if they are embedded all of them.
    private mutating func object(
        _ node: ArrowNode, _ name: String, _ property: PropertyHandle, within classes: [ClassID]
    ) throws(EngineError) -> ArrowColumn {
        if !property.ownsTargets {
            guard let primaryKey = node.owner.primaryKey else { return key(of: node, name) }
            return added(try value(primaryKey, name, true), node)
        }
        var columns: [ArrowColumn] = []
        for each in node.owner.visibleProperties where each.isStored {
            columns.append(
                try column(each, of: node, each.name, true, within: classes + [node.owner.id]))
        }
        let field = ArrowField(name, "+s", isNullable: true, children: columns.map(\.field))
        let column = ArrowStructColumn(field, columns)
        node.structs.append(column)
        return column
    }

    private mutating func collection(
        _ property: PropertyHandle, of node: ArrowNode, _ name: String, _ isNullable: Bool,
        within classes: [ClassID]
    ) throws(EngineError) -> ArrowColumn {
        let isMap = property.collection == .dictionary
        let elementName = isMap ? "value" : "item"
        let elements: ArrowCollectionColumn.Elements
        if isJSON(property, within: classes) {
            elements = .json(ArrowJSONColumn(json(elementName)))
        } else if property.type == .link {
            let inner = ArrowNode(try target(of: property))
            elements = .objects(inner, try object(inner, elementName, property, within: classes))
        } else {
            let optional = property.isOptional
            elements = .values(try value(property, elementName, optional))
        }
        columnCount += 2
        var child = elements.column.field
        if isMap {
            child = ArrowField(
                "entries", "+s", isNullable: false,
                children: [ArrowField("key", "U", isNullable: false), child])
        }
        let field = ArrowField(
            name, isMap ? "+m" : "+L", isNullable: isNullable, children: [child])
        let column = ArrowCollectionColumn(field, property, elements)
        node.wholes.append(column)
        return column
    }

    /// A column of values of a property, or of its elements.
    private func value(_ property: PropertyHandle, _ name: String, _ isNullable: Bool)
        throws(EngineError) -> ArrowColumn
    {
        func fixed(_ format: String, _ extensionName: String? = nil, scale: Int = 0) -> ArrowColumn
        {
            ArrowFixedColumn(
                ArrowField(name, format, isNullable: isNullable, extensionName: extensionName),
                property, scale: scale)
        }
        switch property.type {
        case .bool: return fixed("b")
        case .int, .link: return fixed("l")
        case .float: return fixed("f")
        case .double: return fixed("g")
        case .date: return fixed("tsu:UTC")
        case .uuid: return fixed("w:16", "arrow.uuid")
        case .objectId: return fixed("w:12")
        case .decimal128:
            if let scale = try scale(of: property) { return fixed("d:38,\(scale)", scale: scale) }
            return ArrowDecimalTextColumn(ArrowField(name, "U", isNullable: isNullable), property)
        case .string:
            if !property.isCollection, try isCoded(property) {
                return ArrowCodedColumn(
                    ArrowField(name, "i", isNullable: isNullable, dictionaryFormat: "U"),
                    property.column)
            }
            return ArrowBytesColumn(
                ArrowField(name, "U", isNullable: isNullable), property.column)
        case .data, .mixed, .linkingObjects:
            return ArrowBytesColumn(
                ArrowField(name, "Z", isNullable: isNullable), property.column)
        }
    }

    private func table(of property: PropertyHandle) throws(EngineError) -> TableReader {
        try model { () throws(ModelError) in
            try view.table(try view.schema.classHandle(id: property.classID))
        }
    }

    /// Whether clusters of a class have codes for a property: of three that are not the last one,
    /// which may have none yet.
    private func isCoded(_ property: PropertyHandle) throws(EngineError) -> Bool {
        let table = try table(of: property)
        let count = table.rowCount
        guard count > 0 else { return false }
        return try storage { () throws(StorageError) in
            for rank in [0, count / 3, count * 2 / 3] {
                let cluster = try table.cluster(atRank: rank).view
                if try cluster.bytes(property.column).coding == nil { return false }
            }
            return true
        }
    }

    /// The most digits that a decimal of a property has behind the point; nil if one is not finite,
    /// or if 38 digits do not hold all of them. O(objects).
    private func scale(of property: PropertyHandle) throws(EngineError) -> Int? {
        let table = try table(of: property)
        var whole = 0, fraction = 0
        var isFinite = true
        func note(_ cell: Cell) {
            guard case .fixed(let bytes) = cell else { return }
            guard let digits = Decimal128(stored: bytes).digitsAroundPoint else {
                isFinite = false
                return
            }
            (whole, fraction) = (max(whole, digits.whole), max(fraction, digits.fraction))
        }
        try storage { () throws(StorageError) in
            try table.forEachCluster { cluster throws(StorageError) in
                let view = try cluster.column(property.column)
                for row in 0..<cluster.count {
                    if property.isCollection {
                        let list = try cluster.list(property.column, row)
                        for index in 0..<list.count { note(try list.cell(at: index)) }
                    } else if !view.nulls.isNull(row) {
                        note(.fixed(try view.fixed()[row]))
                    }
                }
                return isFinite
            }
        }
        return isFinite && whole + fraction <= 38 ? fraction : nil
    }
}
