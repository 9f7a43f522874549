internal import ToftModel
internal import ToftRealmFile
internal import ToftStorage

/// Reads a Realm file into an empty database.
///
/// 1. All objects that are not embedded, with their values except links.
/// 2. Their links, once all exist: those to an embedded object create it, empty.
/// 3. The embedded objects get their values, those within others after these.
///
/// The numbers of objects change, so a table of the old and the new ones is kept in memory: some 50
/// bytes for each object.
struct RealmImport {
    /// Objects of one transaction.
    private static let batch = 20_000

    private let file: RealmFile
    private let store: Store
    private let schema: RealmImportSchema
    private let progress: ((_ done: Int, _ total: Int) -> Void)?
    private var transaction: ModelTransaction
    private var report: RealmImportReport
    /// For each class, by the key of its table: its handle, and the new keys of its objects.
    private var classes: [Int64: ImportedClass] = [:]
    /// Objects that were written in the transaction.
    private var written = 0
    private var done = 0
    private var total = 0

    private struct ImportedClass {
        var handle: ClassHandle
        /// The index in the report.
        let index: Int
        var keys: [Int64: Int64] = [:]
        /// Embedded objects that have no values yet.
        var unfilled: Set<Int64> = []
        /// Of an embedded class: the keys that its table has, until an owner is found.
        var waiting: Set<Int64> = []
    }

    /// - Parameter store: empty, and of nobody else.
    static func run(
        _ file: RealmFile, into store: Store,
        _ progress: ((_ done: Int, _ total: Int) -> Void)?
    ) throws(RealmImportError) -> RealmImportReport {
        var running = try RealmImport(file, store, progress)
        try running.count()
        let creating = file.walk(), linking = file.walk()
        for each in running.schema.classes where !each.declared.isEmbedded {
            try running.createObjects(each, in: creating)
        }
        for each in running.schema.classes where !each.declared.isEmbedded {
            try running.link(each, in: linking)
        }
        var depth = 0
        while try running.fillEmbedded() {
            depth += 1
            guard depth <= Limits.nestedEmbeddedObjects else {
                throw .refused(
                    "more than \(Limits.nestedEmbeddedObjects) embedded objects lie within one "
                        + "another"
                )
            }
        }
        running.countOrphans()
        try running.commit()
        return running.report
    }

    private init(
        _ file: RealmFile, _ store: Store, _ progress: ((_ done: Int, _ total: Int) -> Void)?
    ) throws(RealmImportError) {
        self.file = file
        self.store = store
        self.progress = progress
        let schema = RealmImportSchema(file)
        self.schema = schema
        report = RealmImportReport()
        report.format = file.format
        report.schemaVersion = file.schemaVersion
        report.renamings = schema.renamings
        report.leftOut = schema.leftOut
        report.classes = schema.classes.map { .init(name: $0.declared.name) }
        transaction = try inModel { () throws(ModelError) in
            _ = try ModelSchema.open(
                store, declared: Schema(schema.classes.map(\.declared)),
                version: file.schemaVersion ?? 0)
            return try Self.begin(store)
        }
        for (index, each) in schema.classes.enumerated() {
            let handle = try inModel { [transaction] () throws(ModelError) in
                try transaction.view.schema.classHandle(named: each.declared.name)
            }
            classes[each.table.key] = ImportedClass(handle: handle, index: index)
        }
    }

    // MARK: Transactions

    private static func begin(_ store: Store) throws(ModelError) -> ModelTransaction {
        let (writing, view) = try stored { () throws(StorageError) in
            (try store.beginWrite(), try store.beginRead())
        }
        defer { view.release() }
        return try ModelTransaction(writing, after: try ModelView(view), buffer: WriteBuffer())
    }

    private mutating func commit() throws(RealmImportError) {
        written = 0
        try inModel { [transaction] () throws(ModelError) in _ = try transaction.commit() }
    }

    /// Counts an object that was written; begins a new transaction after some.
    private mutating func step() throws(RealmImportError) {
        written += 1
        done += 1
        guard written >= Self.batch else { return }
        try commit()
        progress?(min(done, total), total)
        try inModel { () throws(ModelError) in
            try stored { () throws(StorageError) in try CurrentCall.checkInterruption() }
        }
        transaction = try inModel { [store] () throws(ModelError) in try Self.begin(store) }
        for each in schema.classes {
            let handle = try inModel { [transaction] () throws(ModelError) in
                try transaction.view.schema.classHandle(named: each.declared.name)
            }
            classes[each.table.key]?.handle = handle
        }
    }

    /// Counts the objects, each once for each time that it is written.
    private mutating func count() throws(RealmImportError) {
        let walk = file.walk()
        for each in schema.classes {
            let times = !each.declared.isEmbedded && each.hasLinks ? 2 : 1
            var count = 0, waiting: Set<Int64> = []
            do throws(RealmFileError) {
                try file.forEachObject(of: each.table, [], in: walk) { objects in
                    count += objects.keys.count
                    if each.declared.isEmbedded { waiting.formUnion(objects.keys) }
                }
            } catch {
                throw .file(error)
            }
            total += times * count
            classes[each.table.key]?.waiting = waiting
        }
    }

    // MARK: Objects

    private mutating func createObjects(
        _ each: RealmImportSchema.Class, in walk: RealmFile.Walk
    ) throws(RealmImportError) {
        let own = each.positions { !$0.canLink }
        try forEach(each, own, in: walk) { importing, key, values throws(RealmImportError) in
            // Nothing else holds the table of keys while it grows: it would be copied each time.
            guard let handle = importing.classes[each.table.key]?.handle,
                let index = importing.classes[each.table.key]?.index
            else { return }
            let place = "\(each.declared.name) with the key \(key)"
            let values = try importing.values(own, values, each, handle, place)
            let created = try inModel(place) {
                [transaction = importing.transaction]
                () throws(ModelError) in
                try transaction.create(handle, values).key
            }
            importing.classes[each.table.key]?.keys[key] = created
            importing.report.classes[index].objects += 1
            try importing.step()
        }
    }

    private mutating func link(_ each: RealmImportSchema.Class, in walk: RealmFile.Walk)
        throws(RealmImportError)
    {
        let own = each.positions(\.canLink)
        guard !own.isEmpty else { return }
        try forEach(each, own, in: walk) { importing, key, values throws(RealmImportError) in
            guard let created = importing.classes[each.table.key]?.keys[key] else { return }
            try importing.fill(
                created, each, own, values, "\(each.declared.name) with the key \(key)")
            try importing.step()
        }
    }

    /// Gives values to the embedded objects that were created since the last call; false if there
    /// are no such objects.
    private mutating func fillEmbedded() throws(RealmImportError) -> Bool {
        var found = false
        let walk = file.walk()
        for each in schema.classes where each.declared.isEmbedded {
            guard let waiting = classes[each.table.key]?.unfilled, !waiting.isEmpty else {
                continue
            }
            found = true
            classes[each.table.key]?.unfilled = []
            let all = each.positions { _ in true }
            try forEach(each, all, in: walk) { importing, key, values throws(RealmImportError) in
                guard waiting.contains(key),
                    let created = importing.classes[each.table.key]?.keys[key]
                else { return }
                try importing.fill(
                    created, each, all, values, "\(each.declared.name) with the key \(key)")
                try importing.step()
            }
        }
        return found
    }

    private mutating func countOrphans() {
        for each in schema.classes where each.declared.isEmbedded {
            guard let known = classes[each.table.key] else { continue }
            report.orphans += known.waiting.count
            report.classes[known.index].objects = known.keys.count
        }
    }

    /// Calls `body` with each object of a class and its values at some positions.
    private mutating func forEach(
        _ each: RealmImportSchema.Class, _ positions: [Int], in walk: RealmFile.Walk,
        _ body: (inout RealmImport, Int64, [RealmValue]) throws(RealmImportError) -> Void
    ) throws(RealmImportError) {
        var failure: RealmImportError?
        do throws(RealmFileError) {
            try file.forEachObject(of: each.table, positions.map { each.columns[$0] }, in: walk) {
                objects throws(RealmFileError) in
                for (row, key) in objects.keys.enumerated() {
                    do throws(RealmImportError) {
                        try body(&self, key, objects.columns.map { $0[row] })
                    } catch {
                        failure = error
                        throw .notRealm
                    }
                }
            }
        } catch {
            throw failure ?? .file(error)
        }
    }

    // MARK: Values

    /// Sets properties of an object that was created.
    private mutating func fill(
        _ key: Int64, _ each: RealmImportSchema.Class, _ positions: [Int], _ values: [RealmValue],
        _ place: String
    ) throws(RealmImportError) {
        guard let owner = classes[each.table.key]?.handle else { return }
        let plain = try self.values(positions, values, each, owner, place)
        if !plain.isEmpty {
            try inModel(place) { [transaction] () throws(ModelError) in
                try transaction.set(key, owner, plain)
            }
        }
        for (position, value) in zip(positions, values) {
            let property = try self.property(each, position, owner)
            guard property.ownsTargets else { continue }
            try embed(value, in: key, property, place)
        }
    }

    private func property(
        _ each: RealmImportSchema.Class, _ position: Int, _ owner: ClassHandle
    ) throws(RealmImportError) -> PropertyHandle {
        try inModel { () throws(ModelError) in
            try owner.property(named: each.declared.properties[position].name)
        }
    }

    /// The values of an object except its embedded objects, and the defaults of a new one.
    private mutating func values(
        _ positions: [Int], _ values: [RealmValue], _ each: RealmImportSchema.Class,
        _ owner: ClassHandle, _ place: String
    ) throws(RealmImportError) -> [(property: PropertyHandle, value: Value)] {
        var found: [(property: PropertyHandle, value: Value)] = []
        for (position, value) in zip(positions, values) {
            let property = try property(each, position, owner)
            guard !property.ownsTargets else { continue }
            let place = "\(place), property '\(property.name)'"
            let value = try self.value(value, property, place, isKey: property.isPrimaryKey)
            switch value {
            case .null where !property.isPrimaryKey: continue
            case .list(let values) where values.isEmpty && property.isCollection: continue
            case .dictionary(let entries) where entries.isEmpty && property.isCollection: continue
            default: found.append((property, value))
            }
        }
        return found
    }

    /// A value in Toft's form. `isKey`: a text must stay unchanged.
    private mutating func value(
        _ value: RealmValue, _ property: PropertyHandle, _ place: String, isKey: Bool = false
    ) throws(RealmImportError) -> Value {
        switch value {
        case .null: return .null
        case .tooLong:
            report.tooLong += 1
            return .null
        case .int(let number): return .int(number)
        case .bool(let flag): return .bool(flag)
        case .float(let bits): return .float(Float(bitPattern: bits))
        case .double(let bits): return .double(Double(bitPattern: bits))
        case .string(let bytes):
            if let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
            guard !isKey else { throw .refused("\(place): the primary key is no UTF-8") }
            report.replacedTexts += 1
            return .string(String(decoding: bytes, as: UTF8.self))
        case .data(let bytes): return .data(bytes)
        case .timestamp(let seconds, let nanoseconds):
            return .date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        case .decimal(let low, let high): return .decimal(Decimal128(low: low, high: high))
        case .objectId(let bytes): return .objectId(FixedBytes(bytes: bytes))
        case .uuid(let bytes): return .uuid(FixedBytes(bytes: bytes))
        case .link(let table, let key):
            guard let target = classes[table], let created = target.keys[key],
                !target.handle.isEmbedded
            else {
                report.cutLinks += 1
                return .null
            }
            return .link(ObjectRef(classID: target.handle.id, key: created))
        case .list(let values):
            var found: [Value] = []
            for each in values {
                let value = try self.value(each, property, place)
                // A list or a set of links has no nulls.
                if property.type == .link, value.isNull { continue }
                found.append(value)
            }
            return .list(found)
        case .dictionary(let entries):
            var found: [ValueEntry] = []
            for (key, each) in zip(try keys(of: entries, place), entries) {
                found.append(
                    ValueEntry(key: key, value: try self.value(each.value, property, place)))
            }
            found.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return .dictionary(found)
        }
    }

    /// The keys of a dictionary: '%', '.' and a '$' at the start are percent-encoded if one of them
    /// has a '.' or a '$' that Toft does not accept, so that they differ as before.
    private mutating func keys(of entries: [RealmEntry], _ place: String)
        throws(RealmImportError) -> [String]
    {
        let isPlain = entries.allSatisfy {
            !$0.key.contains(UInt8(ascii: ".")) && $0.key.first != UInt8(ascii: "$")
        }
        var keys: [String] = []
        for entry in entries {
            guard let key = String(validating: entry.key, as: UTF8.self) else {
                throw .refused("\(place): a key of a dictionary is no UTF-8")
            }
            keys.append(isPlain ? key : encoded(entry.key))
        }
        return keys
    }

    private mutating func encoded(_ bytes: [UInt8]) -> String {
        var changed: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "."): changed += Array("%2E".utf8)
            case UInt8(ascii: "%"): changed += Array("%25".utf8)
            case UInt8(ascii: "$") where index == 0: changed += Array("%24".utf8)
            default: changed.append(byte)
            }
        }
        if changed != bytes { report.changedKeys += 1 }
        return String(decoding: changed, as: UTF8.self)
    }

    // MARK: Embedded objects

    /// Creates the embedded objects that a value leads to, without values.
    private mutating func embed(
        _ value: RealmValue, in owner: Int64, _ property: PropertyHandle, _ place: String
    ) throws(RealmImportError) {
        switch value {
        case .link:
            _ = try embed(value, place) { transaction throws(ModelError) in
                try transaction.setEmbedded(owner, property)
            }
        case .list(let values):
            var index = 0
            for each in values {
                let isThere = try embed(each, place) { transaction throws(ModelError) in
                    try transaction.listInsertEmbedded(owner, property, at: index)
                }
                if isThere { index += 1 }
            }
        case .dictionary(let entries):
            for (key, each) in zip(try keys(of: entries, place), entries) {
                let key = Array(key.utf8)
                let isThere = try embed(each.value, place) { transaction throws(ModelError) in
                    try key.withBytes { bytes throws(ModelError) in
                        try transaction.dictionarySetEmbedded(owner, property, bytes)
                    }
                }
                guard !isThere else { continue }
                try inModel(place) { [transaction] () throws(ModelError) in
                    try key.withBytes { bytes throws(ModelError) in
                        _ = try transaction.dictionarySet(owner, property, bytes, .null)
                    }
                }
            }
        default: break
        }
    }

    /// Creates the embedded object that a value leads to; false if it leads to none.
    private mutating func embed(
        _ value: RealmValue, _ place: String,
        _ create: (ModelTransaction) throws(ModelError) -> Int64
    ) throws(RealmImportError) -> Bool {
        guard case .link(let table, let key) = value else { return false }
        guard classes[table]?.keys[key] == nil else {
            throw .refused("\(place): the embedded object with the key \(key) has two owners")
        }
        guard classes[table]?.waiting.remove(key) != nil else {
            report.cutLinks += 1
            return false
        }
        let created = try inModel(place) { [transaction] () throws(ModelError) in
            try create(transaction)
        }
        classes[table]?.keys[key] = created
        classes[table]?.unfilled.insert(key)
        return true
    }
}

extension RealmImportSchema.Class {
    /// The positions of the columns whose types have a property.
    fileprivate func positions(_ isWanted: (PropertyType) -> Bool) -> [Int] {
        columns.indices.filter { isWanted(declared.properties[$0].type) }
    }

    fileprivate var hasLinks: Bool { declared.properties.contains { $0.type.canLink } }
}

/// Why an import ends.
enum RealmImportError: Error {
    case file(RealmFileError)
    case model(ModelError, place: String)
    /// Something that the new file can't hold.
    case refused(String)
}

/// Calls the model: its errors become the import's.
private func inModel<Result>(
    _ place: String = "", _ call: () throws(ModelError) -> Result
) throws(RealmImportError) -> Result {
    do throws(ModelError) {
        return try call()
    } catch {
        throw .model(error, place: place)
    }
}
