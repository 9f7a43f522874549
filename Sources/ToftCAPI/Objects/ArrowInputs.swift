public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_realm_create_from_arrow(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ policy: toft_update_policy,
    _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
    _ property_keys: UnsafePointer<toft_property_key>?, _ values: UnsafePointer<toft_value>?,
    _ count: Int, _ out_rows: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let stream = try GivenStream(stream)
        let session = try ResolvedHandle(realm: realm).session
        let policy = try UpdatePolicy(policy)
        try BorrowedArguments.with { loan throws(EngineError) in
            let defaults = try loan.assignments(property_keys, values, count)
            let rows = try session.create(
                class_key, from: stream, policy: policy, defaults: Array(defaults))
            out_rows?.pointee = UInt64(rows)
        }
    }
}

extension Session {
    /// Creates or updates an object for each row of a stream, all or nothing.
    fileprivate func create(
        _ id: ClassID, from stream: borrowing GivenStream, policy: UpdatePolicy,
        defaults: [Assignment]
    ) throws(EngineError) -> Int {
        var importer = try ArrowImport(self, class: id, policy: policy, defaults: defaults)
        let root = try stream.field()
        guard case .structure? = root.format else {
            throw .invalidArgument(
                "The stream has batches of '\(root.formatText)', not of structs: give a table.")
        }
        try importer.begin(root.children)
        return try allOrNothing { () throws(EngineError) in
            while let batch = try stream.next() {
                try batch.with(root) { columns, rows throws(EngineError) in
                    try importer.add(columns, rows: rows)
                }
            }
            try importer.finish()
            return importer.count
        }
    }
}

/// A stream that a producer of Arrow has handed in. It is released whatever becomes of it.
private struct GivenStream: ~Copyable {
    private let stream: UnsafeMutablePointer<ArrowArrayStream>

    init(_ given: UnsafeMutablePointer<ArrowArrayStream>?) throws(EngineError) {
        guard let given else { throw Argument.isNull("stream") }
        guard given.pointee.release != nil else {
            throw .invalidArgument("The stream has been released: it can be read once.")
        }
        stream = given
    }

    deinit { stream.pointee.release?(stream) }

    private func check(_ status: Int32) throws(EngineError) {
        guard status != 0 else { return }
        let text = stream.pointee.get_last_error?(stream).map { String(cString: $0) }
        throw .invalidArgument(
            "The producer of the stream failed with error \(status)"
                + (text.map { ": \($0)" } ?? "."))
    }

    private func missing(_ name: String) -> EngineError {
        .invalidArgument("The stream has no function '\(name)'.")
    }

    /// The type of the batches.
    func field() throws(EngineError) -> ArrowInputField {
        guard let get = stream.pointee.get_schema else { throw missing("get_schema") }
        var schema = ArrowSchema()
        try check(get(stream, &schema))
        defer { schema.release?(&schema) }
        guard schema.release != nil else {
            throw .invalidArgument("The stream gave a schema that has been released.")
        }
        return try ArrowInputField(schema, depth: 0)
    }

    /// The next batch; nil after the last one.
    func next() throws(EngineError) -> GivenBatch? {
        guard let get = stream.pointee.get_next else { throw missing("get_next") }
        var array = ArrowArray()
        try check(get(stream, &array))
        return array.release == nil ? nil : GivenBatch(array)
    }
}

/// A batch that a stream gave.
private struct GivenBatch: ~Copyable {
    private let array: UnsafeMutablePointer<ArrowArray>

    init(_ given: ArrowArray) {
        array = .allocate(capacity: 1)
        array.initialize(to: given)
    }

    deinit {
        array.pointee.release?(array)
        array.deallocate()
    }

    /// Lends the columns.
    func with(
        _ root: ArrowInputField,
        _ body: (_ columns: [ArrowInput], _ rows: Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        let batch = try ArrowInput(array.pointee, root)
        for row in 0..<batch.length where try batch.isNull(row) {
            throw .invalidArgument("Row \(row) of a batch is null: there is no object.")
        }
        try body(batch.children, batch.length)
    }
}

/// The deepest nesting of types that is read.
private let mostNested = 64

extension ArrowInputField {
    fileprivate init(_ schema: ArrowSchema, depth: Int) throws(EngineError) {
        let name = schema.name.map { String(cString: $0) } ?? ""
        guard let format = schema.format.map({ String(cString: $0) }) else {
            throw .invalidArgument("Arrow's schema has no format for column '\(name)'.")
        }
        guard depth < mostNested else {
            throw .invalidArgument("Arrow's schema has more than \(mostNested) types in another.")
        }
        var children: [ArrowInputField] = []
        guard 0...Int64(Limits.propertiesPerClass * 2) ~= schema.n_children else {
            throw .invalidArgument(
                "Arrow's schema has \(schema.n_children) children in column '\(name)'.")
        }
        for index in 0..<Int(schema.n_children) {
            guard let child = schema.children?[index], child.pointee.release != nil else {
                throw .invalidArgument("Arrow's schema lacks a child of column '\(name)'.")
            }
            children.append(try ArrowInputField(child.pointee, depth: depth + 1))
        }
        var dictionary: [ArrowInputField] = []
        if let values = schema.dictionary {
            dictionary.append(try ArrowInputField(values.pointee, depth: depth + 1))
        }
        self.init(
            name: name, formatText: format, extensionName: Self.extensionName(schema.metadata),
            children: children, dictionary: dictionary)
        if let format = self.format { try Self.requireShape(format, self) }
    }

    /// Checks the number of children that a type has.
    private static func requireShape(_ format: ArrowFormat, _ field: ArrowInputField)
        throws(EngineError)
    {
        switch format {
        case .structure: return
        case .list, .listView, .fixedList, .map:
            if field.children.count == 1 { return }
        default:
            if field.children.isEmpty { return }
        }
        throw .invalidArgument(
            "Arrow's schema gives column '\(field.name)' of type '\(field.formatText)' "
                + "\(field.children.count) children.")
    }

    /// The name of an extension type in Arrow's metadata; empty without one.
    private static func extensionName(_ metadata: UnsafePointer<CChar>?) -> String {
        guard let metadata else { return "" }
        var next = UnsafeRawPointer(metadata)
        func number() -> Int {
            defer { next += 4 }
            return Int(next.loadUnaligned(as: Int32.self))
        }
        func text() -> String? {
            let count = number()
            guard 0...1 << 24 ~= count else { return nil }
            defer { next += count }
            return String(
                decoding: UnsafeRawBufferPointer(start: next, count: count), as: UTF8.self)
        }
        let pairs = number()
        guard 0...1 << 16 ~= pairs else { return "" }
        for _ in 0..<pairs {
            guard let key = text(), let value = text() else { return "" }
            if key == "ARROW:extension:name" { return value }
        }
        return ""
    }
}

extension ArrowInput {
    /// Holds an array against its schema, as far as the structures let one.
    fileprivate convenience init(_ array: ArrowArray, _ field: ArrowInputField)
        throws(EngineError)
    {
        func damaged(_ reason: String) -> EngineError {
            .invalidArgument("Arrow's column '\(field.name)' is damaged: \(reason).")
        }
        guard let format = field.format else {
            throw EngineError(
                .unsupported, "Arrow's type '\(field.formatText)' is not supported.")
        }
        let most = Int64(1) << 45
        guard array.release != nil else { throw damaged("it has been released") }
        guard 0...most ~= array.length, 0...most ~= array.offset else {
            throw damaged("it has the length \(array.length) and the offset \(array.offset)")
        }
        let (room, overflows) = (array.length + array.offset).multipliedReportingOverflow(
            by: Int64(format.valueSize))
        guard !overflows, room <= 2 * most else {
            throw damaged("its \(array.length) rows of '\(field.formatText)' fit nowhere")
        }
        var bufferCount = format.bufferCount
        if case .view = format { bufferCount = max(bufferCount, Int(clamping: array.n_buffers)) }
        guard Int64(bufferCount) == array.n_buffers, bufferCount < 1 << 24 else {
            throw damaged("it has \(array.n_buffers) buffers, not \(bufferCount)")
        }
        guard array.buffers != nil || bufferCount == 0 else { throw damaged("it has no buffers") }
        var buffers: [UnsafeRawPointer?] = []
        for index in 0..<bufferCount { buffers.append(array.buffers[index]) }
        guard array.n_children == Int64(field.children.count),
            array.children != nil || field.children.isEmpty
        else { throw damaged("it has \(array.n_children) children, not \(field.children.count)") }
        guard (array.dictionary != nil) == !field.dictionary.isEmpty else {
            throw damaged("it and its schema differ in having a dictionary")
        }
        if !field.dictionary.isEmpty {
            guard case .integer = format else { throw damaged("its indexes are no integers") }
        }
        var children: [ArrowInput] = []
        for (index, child) in field.children.enumerated() {
            guard let given = array.children[index] else { throw damaged("it lacks a child") }
            children.append(try ArrowInput(given.pointee, child))
        }
        let end = array.length + array.offset
        if case .structure = format, let short = children.first(where: { $0.length < end }) {
            throw damaged(
                "it has \(end) rows and '\(short.field.name)' in it \(short.length)")
        }
        let dictionary: ArrowInput? =
            if let values = array.dictionary, let field = field.dictionary.first {
                try ArrowInput(values.pointee, field)
            } else { nil }
        self.init(
            field, format, length: Int(array.length), offset: Int(array.offset), buffers: buffers,
            children: children, dictionary: dictionary)
    }
}
