package import ToftModel
internal import ToftStorage

/// Makes objects of the rows of a table in Arrow's layout.
///
/// 1. Columns are properties by their names. A property without a column gets its default. The
///    column `_key` is skipped: new objects get new keys.
/// 2. A link is the primary key of its target, which may come in a later row.
/// 3. Embedded objects are structs; they, mixed values, and links to objects that do not exist yet
///    take the way of JSON, once their object is there.
/// 4. The caller undoes everything after an error.
package struct ArrowImport {
    private let session: Session
    private let owner: ClassHandle
    private let policy: UpdatePolicy
    private let defaults: [Assignment]
    /// For each column its property; nil for one that is skipped.
    private var properties: [PropertyHandle?] = []
    private var reader: ObjectsFromJSON
    /// Number of rows so far.
    package private(set) var count = 0

    /// - Parameter defaults: values for new objects of properties that may have no column.
    package init(
        _ session: Session, class id: ClassID, policy: UpdatePolicy, defaults: [Assignment]
    ) throws(EngineError) {
        self.session = session
        self.policy = policy
        self.defaults = defaults
        owner = try session.classHandle(id)
        _ = try session.writing()
        reader = ObjectsFromJSON(session, policy: policy)
    }

    /// Takes the columns of all batches.
    package mutating func begin(_ fields: [ArrowInputField]) throws(EngineError) {
        properties = []
        var known: Set<PropertyID> = []
        for field in fields {
            guard let property = owner.storedProperty(named: field.name) else {
                guard field.name == owner.keyMember else { throw unknown(field.name) }
                properties.append(nil)
                continue
            }
            guard known.insert(property.id).inserted else {
                throw EngineError(
                    .invalidArgument, "Two columns are '\(owner.name).\(property.name)'.")
            }
            try requireSupported(field)
            properties.append(property)
        }
    }

    private func unknown(_ name: String) -> EngineError {
        let names = owner.visibleProperties.filter(\.isStored).map(\.name)
        let hint = NearestName.hint(for: name, among: names).map { " " + $0 } ?? ""
        return EngineError(
            .noSuchProperty,
            "'\(owner.name)' has no stored property '\(name)', which is a column.\(hint)")
    }

    private func requireSupported(_ field: ArrowInputField) throws(EngineError) {
        guard field.format != nil else {
            throw EngineError(
                .unsupported,
                "Column '\(field.name)' has Arrow's type '\(field.formatText)', which is not "
                    + "supported: convert it first.")
        }
        for child in field.children + field.dictionary { try requireSupported(child) }
    }

    /// Creates or updates an object for each row.
    package mutating func add(_ columns: [ArrowInput], rows: Int) throws(EngineError) {
        let transaction = try session.writing()
        defer { session.noteUnread() }
        let given = Set(properties.compactMap { $0?.id })
        let ofNew = defaults.filter { !given.contains($0.property) }
        var lent = ArrowLoan()
        for row in 0..<rows {
            try naming(count) { importer throws(EngineError) in
                lent.clear()
                var later: [(PropertyHandle, ArrowInput)] = []
                for (property, column) in zip(importer.properties, columns) {
                    guard let property else { continue }
                    guard
                        let value = try importer.value(row, of: property, column, &lent)
                    else {
                        later.append((property, column))
                        continue
                    }
                    lent.assignments.append(Assignment(property.id, value))
                }
                lent.assignments += ofNew
                let made = try lent.assignments.withUnsafeBufferPointer {
                    values throws(EngineError) in
                    try model { () throws(ModelError) in
                        try transaction.create(
                            importer.owner, values, policy: importer.policy,
                            valuesOfNew: ofNew.count)
                    }
                }
                guard !later.isEmpty else { return }
                let object = importer.session.handle(made.key, importer.owner)
                for (property, column) in later {
                    let json = try column.json(
                        row, of: property, in: importer.session.schema, isElement: false)
                    try importer.reader.set(
                        .dictionary([(property.persistedName, json)]), in: object,
                        place: importer.count, isNew: made.isNew)
                }
            }
            count += 1
        }
        try reader.linkWhereMany { place, work throws(EngineError) in
            try Self.naming(place, work)
        }
    }

    /// Fills in the links that wait for objects of later rows.
    package mutating func finish() throws(EngineError) {
        try reader.link { place, work throws(EngineError) in try Self.naming(place, work) }
    }

    private mutating func naming(
        _ row: Int, _ work: (inout ArrowImport) throws(EngineError) -> Void
    ) throws(EngineError) {
        do throws(EngineError) { try work(&self) } catch { throw Self.named(error, row) }
    }

    private static func naming(_ row: Int, _ work: () throws(EngineError) -> Void)
        throws(EngineError)
    {
        do throws(EngineError) { try work() } catch { throw named(error, row) }
    }

    private static func named(_ error: EngineError, _ row: Int) -> EngineError {
        EngineError(
            error.code, "Row \(row): \(error.message)", detail: error.detail, number: Int64(row))
    }

    /// The value of a property for a new object; nil if it has to wait until that is there.
    private func value(
        _ row: Int, of property: PropertyHandle, _ column: ArrowInput, _ lent: inout ArrowLoan
    ) throws(EngineError) -> BorrowedValue? {
        if property.ownsTargets || property.type == .mixed {
            // The object is made with none, and without a value where null is no value, too.
            return try column.isNull(row) && !property.isCollection ? .null : nil
        }
        guard property.isCollection else { return try element(row, of: property, column) }
        if try column.isNull(row) {
            return property.collection == .dictionary
                ? .dictionary(UnsafeBufferPointer(start: nil, count: 0))
                : .list(UnsafeBufferPointer(start: nil, count: 0))
        }
        let (rows, keys, values) = try column.collection(row, of: property)
        if let keys {
            let entries = lent.buffer(of: rows.count, BorrowedEntry.self)
            for (index, row) in rows.enumerated() {
                guard let value = try element(row, of: property, values) else { return nil }
                entries.initializeElement(
                    at: index,
                    to: BorrowedEntry(key: try keys.key(row, of: property), value: value))
            }
            return .dictionary(UnsafeBufferPointer(entries))
        }
        let elements = lent.buffer(of: rows.count, BorrowedValue.self)
        for (index, row) in rows.enumerated() {
            guard let value = try element(row, of: property, values) else { return nil }
            elements.initializeElement(at: index, to: value)
        }
        return .list(UnsafeBufferPointer(elements))
    }

    /// One value; nil for a link to an object that does not exist yet.
    private func element(_ row: Int, of property: PropertyHandle, _ column: ArrowInput)
        throws(EngineError) -> BorrowedValue?
    {
        guard property.type == .link else { return try column.value(row, of: property) }
        if try column.isNull(row) { return .null }
        let view = session.view
        let target = try model { () throws(ModelError) in
            try view.schema.classHandle(id: property.targetClassID ?? 0)
        }
        guard let primaryKey = target.primaryKey else {
            let key = try column.json(row, of: property, in: view.schema, isElement: true)
            guard case .integer(let key) = key else { return .null }
            return .link(ObjectRef(classID: target.id, key: key))
        }
        let value = try column.value(row, of: primaryKey)
        let key = try model { () throws(ModelError) in try view.find(value, target) }
        return key.map { .link(ObjectRef(classID: target.id, key: $0)) }
    }
}

/// Memory for the values of one row.
private struct ArrowLoan: ~Copyable {
    var assignments: [Assignment] = []
    private var buffers: [UnsafeMutableRawPointer] = []

    deinit { for buffer in buffers { buffer.deallocate() } }

    /// Lets go of the values of the row before.
    mutating func clear() {
        assignments.removeAll(keepingCapacity: true)
        for buffer in buffers { buffer.deallocate() }
        buffers.removeAll(keepingCapacity: true)
    }

    mutating func buffer<Element>(of count: Int, _: Element.Type)
        -> UnsafeMutableBufferPointer<Element>
    {
        let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: count)
        if let base = buffer.baseAddress { buffers.append(UnsafeMutableRawPointer(base)) }
        return buffer
    }
}
