package import ToftEngine

/// Prints rows in one of the forms.
package struct RowPrinter {
    private let mode: OutputMode
    private let output: any ShellOutput
    /// Whether control sequences set the heading and null apart.
    private let isColored: Bool
    private let isTerminal: Bool
    private var buffer = ByteBuffer()

    /// Bytes that are gathered before they are written.
    private static let capacity = 65_536

    package init(_ mode: OutputMode, to output: any ShellOutput, isColored: Bool = false) {
        self.mode = mode
        self.output = output
        self.isColored = isColored
        isTerminal = output.isTerminal
    }

    /// Prints all rows.
    /// - Returns: their number.
    @discardableResult
    package mutating func print<Rows: RowSource>(_ rows: consuming Rows) throws(EngineError) -> Int
    {
        var rows = rows
        let count =
            switch mode {
            case .json: try printJSON(&rows)
            case .csv: try printCSV(&rows)
            case .line: try printLines(&rows)
            case .table: try printTable(&rows)
            }
        try output.write(&buffer)
        return count
    }

    /// Ends a row that begins at an index of the buffer.
    private mutating func endRow(from start: Int) throws(EngineError) {
        if isTerminal { makeHarmless(from: start) }
        if buffer.count >= Self.capacity { try output.write(&buffer) }
    }

    private mutating func makeHarmless(from start: Int) {
        let isPlain = buffer.bytes[start...].allSatisfy {
            $0 >= 0x20 && $0 < 0x7F || $0 == 0x0A || $0 == 0x0D || $0 == 0x09
        }
        if isPlain { return }
        let text = String(decoding: buffer.bytes[start...], as: UTF8.self)
        buffer.cut(to: start)
        buffer.append(TerminalText.harmless(text))
    }

    // MARK: For programs

    private mutating func printJSON<Rows: RowSource>(_ rows: inout Rows) throws(EngineError) -> Int
    {
        var keys: [[UInt8]] = []
        for column in rows.columns {
            var key = ByteBuffer()
            key.append(keys.isEmpty ? "{" : ",")
            key.appendJSON(column.title)
            key.append(UInt8(ascii: ":"))
            keys.append(key.bytes)
        }
        var done = 0
        while true {
            let count = try rows.next()
            if count == 0 { return done }
            for row in 0..<count {
                let start = buffer.count
                if keys.isEmpty { buffer.append(UInt8(ascii: "{")) }
                for (column, key) in keys.enumerated() {
                    key.withUnsafeBytes { buffer.append($0) }
                    try rows.cell(column, of: row).appendJSON(to: &buffer)
                }
                buffer.append("}\n")
                try endRow(from: start)
            }
            done += count
        }
    }

    private mutating func printCSV<Rows: RowSource>(_ rows: inout Rows) throws(EngineError) -> Int {
        let columns = rows.columns
        var start = buffer.count
        for (index, column) in columns.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer.appendCSV(column.title)
        }
        buffer.append("\r\n")
        try endRow(from: start)
        var done = 0
        while true {
            let count = try rows.next()
            if count == 0 { return done }
            for row in 0..<count {
                start = buffer.count
                for column in columns.indices {
                    if column > 0 { buffer.append(UInt8(ascii: ",")) }
                    try rows.cell(column, of: row).appendCSV(to: &buffer)
                }
                buffer.append("\r\n")
                try endRow(from: start)
            }
            done += count
        }
    }

    // MARK: For people

    private mutating func printLines<Rows: RowSource>(_ rows: inout Rows) throws(EngineError) -> Int
    {
        let columns = rows.columns
        let titles = columns.map { TerminalText.line($0.title) }
        let width = titles.map { TerminalText.width($0) }.max() ?? 0
        var done = 0
        while true {
            let count = try rows.next()
            if count == 0 { return done }
            for row in 0..<count {
                if done + row > 0 { buffer.append(UInt8(ascii: "\n")) }
                for (column, title) in titles.enumerated() {
                    buffer.append(repeating: 0x20, count: width - TerminalText.width(title))
                    buffer.append(title)
                    buffer.append(" = ")
                    _ = appendLine(try rows.cell(column, of: row))
                    buffer.append(UInt8(ascii: "\n"))
                }
                if buffer.count >= Self.capacity { try output.write(&buffer) }
            }
            done += count
        }
    }

    private mutating func printTable<Rows: RowSource>(_ rows: inout Rows) throws(EngineError) -> Int
    {
        let columns = rows.columns
        let first = try rows.next()
        let titles = columns.map { TerminalText.line($0.title) }
        var widths = titles.map { TerminalText.width($0) }
        for row in 0..<first {
            for column in columns.indices {
                let start = buffer.count
                widths[column] = max(
                    widths[column], appendLine(try rows.cell(column, of: row)))
                buffer.cut(to: start)
            }
        }
        let limits = output.width.map { Self.fit(widths, in: $0) }
        // Without a terminal a longer value moves the others in its row, and nothing is cut.
        let isCutting = limits != nil
        widths = limits ?? widths.map { min($0, Self.widestUncut) }
        heading(titles, columns, widths)
        var done = 0, count = first
        while count > 0 {
            for row in 0..<count {
                for (column, width) in widths.enumerated() {
                    if column > 0 { buffer.append("  ") }
                    try append(
                        rows.cell(column, of: row), width, isCutting,
                        atRight: columns[column].isNumber, isLast: column == widths.count - 1)
                }
                buffer.append(UInt8(ascii: "\n"))
                if buffer.count >= Self.capacity { try output.write(&buffer) }
            }
            done += count
            count = try rows.next()
        }
        return done
    }

    /// The widest column of a table that goes to a file or a program.
    private static let widestUncut = 60
    /// The least width that a column is cut to.
    private static let narrowest = 5

    /// The widths of columns, the widest cut until all fit into a terminal, if that is possible.
    static func fit(_ widths: [Int], in available: Int) -> [Int] {
        var widths = widths
        var excess = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - available
        while excess > 0 {
            guard let widest = widths.max(), widest > narrowest else { return widths }
            let next = max(narrowest, widths.filter { $0 < widest }.max() ?? narrowest)
            let places = widths.indices.filter { widths[$0] == widest }
            let cut = min(places.count * (widest - next), excess)
            for (index, place) in places.enumerated() {
                widths[place] -= cut / places.count + (index < cut % places.count ? 1 : 0)
            }
            excess -= cut
        }
        return widths
    }

    private mutating func heading(
        _ titles: [String], _ columns: [PrintedColumn], _ widths: [Int]
    ) {
        if isColored { buffer.append("\u{1B}[1m") }
        for (column, title) in titles.enumerated() {
            if column > 0 { buffer.append("  ") }
            let start = buffer.count
            buffer.append(title)
            place(
                TerminalText.width(title), from: start, widths[column], isCutting: true,
                atRight: columns[column].isNumber, isLast: column == titles.count - 1)
        }
        if isColored { buffer.append("\u{1B}[0m") }
        buffer.append(UInt8(ascii: "\n"))
        for (column, width) in widths.enumerated() {
            if column > 0 { buffer.append("  ") }
            buffer.append(repeating: UInt8(ascii: "-"), count: width)
        }
        buffer.append(UInt8(ascii: "\n"))
    }

    private mutating func append(
        _ cell: PrintedCell, _ width: Int, _ isCutting: Bool, atRight: Bool, isLast: Bool
    ) throws(EngineError) {
        if isColored, case .null = cell {
            // The control sequences have no width.
            let pad = width - 4
            if atRight { buffer.append(repeating: 0x20, count: pad) }
            buffer.append("\u{1B}[2mnull\u{1B}[0m")
            if !atRight, !isLast { buffer.append(repeating: 0x20, count: pad) }
            return
        }
        let start = buffer.count
        let taken = appendLine(cell)
        place(taken, from: start, width, isCutting: isCutting, atRight: atRight, isLast: isLast)
    }

    /// Fills a value at the end of the buffer up to the width of its column, or cuts it.
    private mutating func place(
        _ taken: Int, from start: Int, _ width: Int, isCutting: Bool, atRight: Bool, isLast: Bool
    ) {
        if taken > width {
            guard isCutting else { return }
            let text = String(decoding: buffer.bytes[start...], as: UTF8.self)
            let kept = TerminalText.prefix(text, max(0, width - 1))
            buffer.cut(to: start)
            buffer.append(kept.text)
            buffer.append("…")
            if !isLast { buffer.append(repeating: 0x20, count: width - 1 - kept.width) }
        } else if atRight {
            buffer.insert(repeating: 0x20, count: width - taken, at: start)
        } else if !isLast {
            buffer.append(repeating: 0x20, count: width - taken)
        }
    }

    /// Appends a value in one line that no terminal obeys.
    /// - Returns: the columns it takes.
    private mutating func appendLine(_ cell: PrintedCell) -> Int {
        let start = buffer.count
        cell.appendPlain(to: &buffer)
        let isPlain = buffer.bytes[start...].allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        if isPlain { return buffer.count - start }
        let text = TerminalText.line(String(decoding: buffer.bytes[start...], as: UTF8.self))
        buffer.cut(to: start)
        buffer.append(text)
        return TerminalText.width(text)
    }
}
