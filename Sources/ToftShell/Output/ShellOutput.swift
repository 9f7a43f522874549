package import ToftEngine

/// The forms in which rows are printed.
package enum OutputMode: String, CaseIterable, Sendable {
    /// Columns of equal width, with a heading.
    case table
    /// A JSON object for each row.
    case json
    /// Comma-separated values behind a record with the names of the columns.
    case csv
    /// A line for each value: `name = Rex`, and an empty one between rows.
    case line
}

/// Takes the output of the shell: a terminal, a file, a pager, or a test.
package protocol ShellOutput: AnyObject {
    /// Whether the bytes go to a terminal, on which control characters of data are not obeyed but
    /// shown.
    var isTerminal: Bool { get }
    /// The columns of that terminal; nil without one, where nothing is cut.
    var width: Int? { get }

    /// Throws if nothing can be written any more.
    func write(_ bytes: UnsafeRawBufferPointer) throws(EngineError)

    /// Tells a person something, beside the rows that a program may read.
    func tell(_ text: String) throws(EngineError)
}

extension ShellOutput {
    package func tell(_ text: String) throws(EngineError) { try print(text) }

    /// Writes lines of the shell itself.
    package func print(_ text: String) throws(EngineError) {
        var buffer = ByteBuffer()
        buffer.append(isTerminal ? TerminalText.harmless(text) : text)
        buffer.append(UInt8(ascii: "\n"))
        try write(&buffer)
    }

    /// Writes a buffer and empties it.
    package func write(_ buffer: inout ByteBuffer) throws(EngineError) {
        let written = buffer.bytes.withUnsafeBytes { bytes in
            Result { () throws(EngineError) in try write(bytes) }
        }
        buffer.removeAll()
        try written.get()
    }
}
