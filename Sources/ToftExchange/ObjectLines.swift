package import ToftEngine
package import ToftModel

/// The objects in a file: JSON objects, one a line, or records of comma-separated values. It is
/// read piece by piece, so memory holds a piece, or a longer line. A copy continues independently.
/// One thread at a time may use it.
package struct ObjectLines {
    /// A piece of a file from an offset on; empty at its end.
    package typealias Pieces = (_ offset: Int) throws(EngineError) -> [UInt8]
    /// Advice for an error, in addition to its message.
    package typealias Hint = (ErrorCode) -> String

    /// The name of the file, for messages.
    let path: String
    private let pieces: Pieces
    private let hint: Hint
    /// The bytes read so far, from the beginning of a line on.
    private var bytes: [UInt8] = []
    /// The index in `bytes` of the first unread byte.
    private var start = 0
    /// The offset of the byte after `bytes`.
    private var offset = 0
    /// The number of the last line read, counted from 1.
    package private(set) var number = 0
    /// Lines that the one that was read has behind its first one.
    private var further = 0
    private var columns: CSVColumns?

    package init(path: String, pieces: @escaping Pieces, hint: @escaping Hint) {
        self.path = path
        self.pieces = pieces
        self.hint = hint
    }

    /// Number of bytes of the file that have been read.
    package var position: Int { offset - (bytes.count - start) }

    /// Has the lines read as comma-separated values of objects of a class.
    /// - Parameters:
    ///   - ignoresUnknown: whether the first line may name unknown properties.
    ///   - delimiter: the byte between fields; nil: a comma.
    package mutating func readCSV(
        of owner: ClassHandle, in session: Session, ignoresUnknown: Bool, delimiter: UInt8? = nil
    ) throws(EngineError) {
        guard let header = try nextLine(isQuoting: true) else { throw isEmpty }
        columns = try naming(number) { () throws(EngineError) in
            try CSVColumns(
                header, of: owner, in: session, ignoresUnknown: ignoresUnknown,
                delimiter: delimiter ?? CSV.comma)
        }
    }

    /// The error for comma-separated values without a first line.
    var isEmpty: EngineError {
        EngineError(.invalidArgument, "'\(path)' is empty: it names no properties.")
    }

    /// The object of the next line; nil at the end.
    package mutating func next() throws(EngineError) -> JSONValue? {
        guard let line = try nextLine(isQuoting: columns != nil) else { return nil }
        return try naming(number) { () throws(EngineError) in
            if let columns { return try columns.json(line) }
            return try line.withUnsafeBytes { bytes in
                Result { () throws(EngineError) in try JSONParser.value(of: bytes) }
            }.get()
        }
    }

    /// Number of objects left, for which the rest of the file is read.
    package func count() throws(EngineError) -> Int {
        var rest = self, count = 0
        while try rest.nextLine(isQuoting: columns != nil) != nil { count += 1 }
        return count
    }

    /// Runs work on a line; errors name it, with advice.
    package func naming<Result>(_ line: Int, _ work: () throws(EngineError) -> Result)
        throws(EngineError) -> Result
    {
        do throws(EngineError) {
            return try work()
        } catch {
            throw EngineError(
                error.code, "Line \(line) of '\(path)': \(error.message)\(hint(error.code))",
                detail: error.detail, number: error.number)
        }
    }

    // MARK: Lines

    /// The next line that has more than blanks, or any line of one column; nil at the end.
    /// - Parameter isQuoting: whether a line continues within quotes.
    package mutating func nextLine(isQuoting: Bool = false) throws(EngineError)
        -> ArraySlice<UInt8>?
    {
        number += further
        further = 0
        while try hasMore() {
            number += 1
            let end = try endOfLine(isQuoting)
            var line = bytes[start..<end]
            start = min(end + 1, bytes.count)
            if isQuoting { further = line.count(where: { $0 == UInt8(ascii: "\n") }) }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if columns?.isOne == true || !line.allSatisfy(Self.isBlank) { return line }
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    /// The index in `bytes` of the end of the line.
    private mutating func endOfLine(_ isQuoting: Bool) throws(EngineError) -> Int {
        var length = 0, isInside = false
        repeat {
            for index in (start + length)..<bytes.count {
                let byte = bytes[index]
                if isQuoting, byte == UInt8(ascii: "\"") { isInside.toggle() }
                if byte == UInt8(ascii: "\n"), !isInside { return index }
            }
            length = bytes.count - start
        } while try readOn()
        return bytes.count
    }

    private mutating func hasMore() throws(EngineError) -> Bool {
        while start == bytes.count {
            guard try readOn() else { return false }
        }
        return true
    }

    /// Reads another piece. False at the end of the file.
    private mutating func readOn() throws(EngineError) -> Bool {
        let piece = try pieces(offset)
        guard !piece.isEmpty else { return false }
        bytes.removeSubrange(..<start)
        start = 0
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        bytes += offset == 0 && piece.starts(with: mark) ? piece.dropFirst(mark.count) : piece[...]
        offset += piece.count
        return true
    }
}

extension ObjectsFromJSON {
    /// Adds the objects of all lines that are left, and links them.
    /// - Parameters:
    ///   - owner: the class of all; nil: each line says it.
    ///   - progress: called after each line with the number of objects so far.
    /// - Returns: the number of lines with objects.
    @discardableResult
    package mutating func add(
        _ lines: inout ObjectLines, of owner: ClassHandle?,
        progress: (_ done: Int, _ lines: ObjectLines) throws -> Void
    ) throws -> Int {
        var count = 0
        while let json = try lines.next() {
            let place = lines.number
            try lines.naming(place) { () throws(EngineError) in
                _ = try add(json, of: owner, place: place)
            }
            try linkWhereMany(lines.naming)
            count += 1
            try progress(count, lines)
        }
        try link(lines.naming)
        return count
    }
}
