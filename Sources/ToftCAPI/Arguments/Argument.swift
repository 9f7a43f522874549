internal import CToft
internal import ToftEngine
internal import ToftModel

extension EngineError {
    static func invalidArgument(_ message: String) -> EngineError {
        EngineError(.invalidArgument, message)
    }
}

/// Checks of C's arguments. Each names the parameter in its error.
enum Argument {
    /// A pointer to one thing, which may not be NULL.
    @inline(__always)
    static func pointer<Pointee>(_ pointer: UnsafePointer<Pointee>?, _ name: StaticString)
        throws(EngineError) -> UnsafePointer<Pointee>
    {
        guard let pointer else { throw isNull(name) }
        return pointer
    }

    /// Room for a result, which may not be NULL.
    @inline(__always)
    static func out<Pointee>(_ pointer: UnsafeMutablePointer<Pointee>?, _ name: StaticString)
        throws(EngineError)
        -> UnsafeMutablePointer<Pointee>
    {
        guard let pointer else { throw isNull(name) }
        return pointer
    }

    /// `count` things in a row. NULL only with a count of 0.
    @inline(__always)
    static func array<Pointee>(
        _ pointer: UnsafePointer<Pointee>?, _ count: Int, _ name: StaticString
    ) throws(EngineError)
        -> UnsafeBufferPointer<Pointee>
    {
        try checkCount(count, of: MemoryLayout<Pointee>.stride, name)
        guard pointer != nil || count == 0 else { throw isNull(name) }
        return UnsafeBufferPointer(start: pointer, count: count)
    }

    /// Room for `count` results in a row. NULL only with a count of 0.
    @inline(__always)
    static func room<Pointee>(
        _ pointer: UnsafeMutablePointer<Pointee>?, _ count: Int, _ name: StaticString
    ) throws(EngineError)
        -> UnsafeMutableBufferPointer<Pointee>
    {
        try checkCount(count, of: MemoryLayout<Pointee>.stride, name)
        guard pointer != nil || count == 0 else { throw isNull(name) }
        return UnsafeMutableBufferPointer(start: pointer, count: count)
    }

    /// A count or length that memory can hold. Lengths of C arrive as signed integers, those beyond
    /// half the address space as negative ones.
    @inline(__always)
    static func checkCount(_ count: Int, of stride: Int, _ name: StaticString) throws(EngineError) {
        guard count >= 0, count <= Int.max / 2 / stride else { throw tooMany(count, name) }
    }

    @inline(never)
    private static func tooMany(_ count: Int, _ name: StaticString) -> EngineError {
        .invalidArgument(
            "The length of '\(name)', \(UInt(bitPattern: count)), is more than memory can hold.")
    }

    /// An index or number of elements; those beyond the signed range are more than any collection
    /// has.
    static func index(_ index: UInt64) -> Int {
        Int(clamping: index)
    }

    @inline(never)
    static func isNull(_ name: StaticString) -> EngineError {
        .invalidArgument("'\(name)' is NULL.")
    }
}

extension Argument {
    /// A text of at most `Limits.valueBytes` bytes of valid UTF-8.
    static func text(_ string: toft_string, _ name: StaticString) throws(EngineError) -> String {
        let bytes = try bytes(UnsafeRawPointer(string.data), string.size, name)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw notUTF8(bytes, name)
        }
        return text
    }

    @inline(never)
    private static func notUTF8(_ bytes: UnsafeRawBufferPointer, _ name: StaticString)
        -> EngineError
    {
        do {
            _ = try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)
            return .invalidArgument("'\(name)' is not valid UTF-8.")
        } catch {
            let place = error.byteOffsets.lowerBound
            return .invalidArgument(
                "'\(name)' is not valid UTF-8: there is a wrong byte at \(place) of "
                    + "\(bytes.count), 0x\(String(bytes[place], radix: 16)).")
        }
    }

    /// A text whose copy would be wasted, checked like one: for names that are looked up and for
    /// paths, which can't contain NUL either.
    static func path(_ string: toft_string, _ name: StaticString) throws(EngineError) -> String {
        let path = try text(string, name)
        if path.utf8.contains(0) { throw .invalidArgument("'\(name)' contains a NUL byte.") }
        return path
    }

    /// Bytes of at most `Limits.valueBytes`.
    static func bytes(_ data: UnsafeRawPointer?, _ size: Int, _ name: StaticString)
        throws(EngineError) -> UnsafeRawBufferPointer
    {
        try checkCount(size, of: 1, name)
        guard data != nil || size == 0 else {
            throw .invalidArgument("'\(name)' is NULL, but its length is \(size).")
        }
        guard size <= Limits.valueBytes else {
            throw EngineError(
                .valueTooLong,
                "'\(name)' is \(size) bytes long; the limit is \(Limits.valueBytes).",
                number: Int64(size))
        }
        return UnsafeRawBufferPointer(start: data, count: size)
    }
}

extension Argument {
    /// Writes as many results as there is room for.
    static func fill<Result>(_ room: UnsafeMutableBufferPointer<Result>, _ results: [Result]) {
        for index in 0..<min(room.count, results.count) { room[index] = results[index] }
    }

    /// Writes as much of a text as there is room for before the NUL that ends it, and returns the
    /// size of the whole without NUL.
    static func fill(_ room: UnsafeMutableBufferPointer<CChar>, _ text: String) -> Int {
        var size = 0
        for unit in text.utf8 {
            if size < room.count - 1 { room[size] = CChar(bitPattern: unit) }
            size += 1
        }
        if !room.isEmpty { room[min(size, room.count - 1)] = 0 }
        return size
    }

    /// Checks that a word which later versions may use is zero.
    static func reserved(_ word: UInt32, _ name: StaticString) throws(EngineError) {
        guard word == 0 else {
            throw .invalidArgument("'\(name)' has a reserved word that is not 0.")
        }
    }

    /// Checks flags against those that this version knows.
    static func flags(_ flags: UInt32, known: UInt32, _ name: StaticString) throws(EngineError) {
        guard flags & ~known == 0 else {
            throw EngineError(
                .unsupported,
                "'\(name)' has flags that this version of the library does not know: "
                    + "\(flags & ~known).")
        }
    }

    /// Texts in a row.
    static func texts(
        _ pointer: UnsafePointer<toft_string>?, _ count: Int, _ name: StaticString
    ) throws(EngineError) -> [String] {
        var texts: [String] = []
        for string in try array(pointer, count, name) { texts.append(try text(string, name)) }
        return texts
    }
}
