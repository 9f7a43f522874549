public import CToft
internal import ToftEngine
internal import ToftPlatform

@c @implementation
public func toft_results_arrow_stream(
    _ results: OpaquePointer?, _ key_paths: UnsafePointer<toft_string>?, _ count: Int,
    _ out_stream: UnsafeMutablePointer<ArrowArrayStream>?
) -> toft_status {
    entry(results) { () throws(EngineError) in
        let results = try ResolvedHandle(results: results).results
        let out = try Argument.out(out_stream, "out_stream")
        let paths = try Argument.texts(key_paths, count, "key_paths")
        let lent = LentStream(try ArrowStream(results, keyPaths: paths))
        out.initialize(
            to: ArrowArrayStream(
                get_schema: { LentStream.of($0)?.schema($1) ?? LentStream.released },
                get_next: { LentStream.of($0)?.next($1) ?? LentStream.released },
                get_last_error: { LentStream.of($0)?.lastError },
                release: { LentStream.release($0) },
                private_data: Unmanaged.passRetained(lent).toOpaque()))
    }
}

/// A stream that a consumer of Arrow has.
private final class LentStream {
    /// EINVAL, for a stream that was released.
    static let released: Int32 = 22
    /// EIO: `lastError` says more.
    private static let failed: Int32 = 5

    private let stream: ArrowStream
    /// Consumers take turns; those that do not must not crash.
    private let lock = FutexMutex(())
    private var errorText: UnsafeMutablePointer<CChar>?

    init(_ stream: ArrowStream) { self.stream = stream }

    deinit { errorText?.deallocate() }

    static func of(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> LentStream? {
        guard let stream, stream.pointee.release != nil,
            let data = stream.pointee.private_data
        else { return nil }
        return Unmanaged<LentStream>.fromOpaque(data).takeUnretainedValue()
    }

    static func release(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) {
        guard let stream, stream.pointee.release != nil else { return }
        stream.pointee.release = nil
        guard let data = stream.pointee.private_data else { return }
        stream.pointee.private_data = nil
        Unmanaged<LentStream>.fromOpaque(data).release()
    }

    func schema(_ out: UnsafeMutablePointer<ArrowSchema>?) -> Int32 {
        guard let out else { return Self.released }
        out.initialize(
            to: LentSchema.schema(
                ArrowField("", "+s", isNullable: false, children: stream.fields)))
        return 0
    }

    func next(_ out: UnsafeMutablePointer<ArrowArray>?) -> Int32 {
        guard let out else { return Self.released }
        return lock.withLock { _ in
            do throws(EngineError) {
                // A released array is the end.
                out.initialize(to: try stream.next().map(LentArray.array) ?? ArrowArray())
                return 0
            } catch {
                note(error.message)
                return Self.failed
            }
        }
    }

    /// The message of the last failure, ended by NUL; nil without one.
    var lastError: UnsafePointer<CChar>? { UnsafePointer(errorText) }

    private func note(_ message: String) {
        errorText?.deallocate()
        errorText = copied(message)
    }
}

/// A text of C in memory of its own.
private func copied(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    copy.initialize(from: bytes, count: bytes.count)
    return copy
}

/// The memory of a schema that a consumer of Arrow has. Its children are released with it, unless
/// the consumer has moved them away.
private final class LentSchema {
    private let format: UnsafeMutablePointer<CChar>
    private let name: UnsafeMutablePointer<CChar>
    private let metadata: UnsafeMutablePointer<CChar>?
    private let children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowSchema>?>
    private let childCount: Int
    private let dictionary: UnsafeMutablePointer<ArrowSchema>?

    private init(_ field: ArrowField) {
        format = copied(field.format)
        name = copied(field.name)
        metadata = field.extensionName.map(Self.metadata)
        childCount = field.children.count
        children = .allocate(capacity: max(childCount, 1))
        for (index, child) in field.children.enumerated() {
            let schema = UnsafeMutablePointer<ArrowSchema>.allocate(capacity: 1)
            schema.initialize(to: Self.schema(child))
            (children + index).initialize(to: schema)
        }
        dictionary = field.dictionaryFormat.map { format in
            let schema = UnsafeMutablePointer<ArrowSchema>.allocate(capacity: 1)
            schema.initialize(to: Self.schema(ArrowField("", format, isNullable: false)))
            return schema
        }
    }

    deinit {
        for index in 0..<childCount {
            guard let child = children[index] else { continue }
            child.pointee.release?(child)
            child.deallocate()
        }
        children.deallocate()
        if let dictionary {
            dictionary.pointee.release?(dictionary)
            dictionary.deallocate()
        }
        format.deallocate()
        name.deallocate()
        metadata?.deallocate()
    }

    static func schema(_ field: ArrowField) -> ArrowSchema {
        let lent = LentSchema(field)
        var flags: Int64 = 0
        if field.isNullable { flags |= Int64(ARROW_FLAG_NULLABLE) }
        if field.format == "+m" { flags |= Int64(ARROW_FLAG_MAP_KEYS_SORTED) }
        return ArrowSchema(
            format: lent.format, name: lent.name, metadata: lent.metadata, flags: flags,
            n_children: Int64(lent.childCount), children: lent.children,
            dictionary: lent.dictionary,
            release: { schema in
                guard let schema, let data = schema.pointee.private_data else { return }
                schema.pointee.release = nil
                schema.pointee.private_data = nil
                Unmanaged<LentSchema>.fromOpaque(data).release()
            },
            private_data: Unmanaged.passRetained(lent).toOpaque())
    }

    /// The name of an extension type in the form of Arrow's metadata: the number of pairs, then
    /// each text after its length.
    private static func metadata(_ name: String) -> UnsafeMutablePointer<CChar> {
        var bytes: [UInt8] = []
        func put(_ number: Int) {
            withUnsafeBytes(of: Int32(number)) { bytes.append(contentsOf: $0) }
        }
        put(2)
        for text in ["ARROW:extension:name", name, "ARROW:extension:metadata", ""] {
            put(text.utf8.count)
            bytes += Array(text.utf8)
        }
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { memory[index] = CChar(bitPattern: byte) }
        return memory
    }
}

/// The memory of a batch, or of a part of one, that a consumer of Arrow has.
private final class LentArray {
    private let data: ArrowData
    private let buffers: UnsafeMutablePointer<UnsafeRawPointer?>
    private let children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowArray>?>
    private let dictionary: UnsafeMutablePointer<ArrowArray>?

    private init(_ data: ArrowData) {
        self.data = data
        buffers = .allocate(capacity: max(data.buffers.count, 1))
        for (index, memory) in data.buffers.enumerated() {
            (buffers + index).initialize(to: memory.map { UnsafeRawPointer($0.base) })
        }
        children = .allocate(capacity: max(data.children.count, 1))
        for (index, child) in data.children.enumerated() {
            let array = UnsafeMutablePointer<ArrowArray>.allocate(capacity: 1)
            array.initialize(to: Self.array(child))
            (children + index).initialize(to: array)
        }
        dictionary = data.dictionary.map { data in
            let array = UnsafeMutablePointer<ArrowArray>.allocate(capacity: 1)
            array.initialize(to: Self.array(data))
            return array
        }
    }

    deinit {
        for index in data.children.indices {
            guard let child = children[index] else { continue }
            child.pointee.release?(child)
            child.deallocate()
        }
        children.deallocate()
        if let dictionary {
            dictionary.pointee.release?(dictionary)
            dictionary.deallocate()
        }
        buffers.deallocate()
    }

    static func array(_ data: ArrowData) -> ArrowArray {
        let lent = LentArray(data)
        return ArrowArray(
            length: Int64(data.length), null_count: Int64(data.nullCount), offset: 0,
            n_buffers: Int64(data.buffers.count), n_children: Int64(data.children.count),
            buffers: lent.buffers, children: lent.children, dictionary: lent.dictionary,
            release: { array in
                guard let array, let data = array.pointee.private_data else { return }
                array.pointee.release = nil
                array.pointee.private_data = nil
                Unmanaged<LentArray>.fromOpaque(data).release()
            },
            private_data: Unmanaged.passRetained(lent).toOpaque())
    }
}
