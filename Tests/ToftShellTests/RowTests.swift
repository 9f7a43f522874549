// Tests: RowPrinter.swift, PrintedCell.swift, RowSource.swift, ByteBuffer.swift,
// TerminalText.swift, ShellOutput.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage

@testable import ToftShell

@Suite struct RowTests {
    private static let columns = [
        PrintedColumn("name"), PrintedColumn("age", isNumber: true), PrintedColumn("tags"),
    ]

    private func printed(
        _ rows: [[JSONValue]], _ mode: OutputMode, _ columns: [PrintedColumn] = columns,
        isTerminal: Bool = false, width: Int? = nil
    ) throws -> String {
        let output = TestOutput(isTerminal: isTerminal, width: width)
        var printer = RowPrinter(mode, to: output)
        let count = try printer.print(ValueRows(columns, rows))
        #expect(count == rows.count)
        return output.text
    }

    private let rows: [[JSONValue]] = [
        [.text("Rex"), .integer(3), .list([.text("a"), .text("b")])],
        [.text("Ada, \"the\" dog"), .null, .list([])],
    ]

    @Test func `Rows are JSON lines`() throws {
        #expect(
            try printed(rows, .json) == """
                {"name":"Rex","age":3,"tags":["a","b"]}
                {"name":"Ada, \\"the\\" dog","age":null,"tags":[]}

                """)
    }

    @Test func `Rows are comma-separated values with the names first`() throws {
        #expect(
            try printed(rows, .csv)
                == "name,age,tags\r\nRex,3,\"[\"\"a\"\",\"\"b\"\"]\"\r\n"
                + "\"Ada, \"\"the\"\" dog\",,[]\r\n")
    }

    @Test func `Rows are lines of names and values`() throws {
        #expect(
            try printed(rows, .line) == """
                name = Rex
                 age = 3
                tags = ["a","b"]

                name = Ada, "the" dog
                 age = null
                tags = []

                """)
    }

    @Test func `Rows are a table with numbers at the right`() throws {
        #expect(
            try printed(rows, .table) == """
                name             age  tags
                --------------  ----  ---------
                Rex                3  ["a","b"]
                Ada, "the" dog  null  []

                """)
    }

    @Test func `A table of no rows has its heading`() throws {
        #expect(try printed([], .table) == "name  age  tags\n----  ---  ----\n")
        #expect(try printed([], .json) == "")
    }

    @Test func `A table is cut to the terminal, the widest columns first`() throws {
        let long = String(repeating: "x", count: 300)
        let rows: [[JSONValue]] = [[.text(long), .integer(1_234_567), .text(long)]]
        for width in [20, 40, 80, 120] {
            let text = try printed(rows, .table, isTerminal: true, width: width)
            for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
            #expect(text.contains("1234567") || width == 20)
            #expect(text.contains("…"))
        }
        #expect(RowPrinter.fit([10, 10], in: 22) == [10, 10])
        #expect(RowPrinter.fit([10, 10], in: 21) == [9, 10])
        #expect(RowPrinter.fit([100, 10, 3], in: 40) == [23, 10, 3])
        #expect(RowPrinter.fit([100, 100], in: 3) == [5, 5])
        #expect(RowPrinter.fit([], in: 10) == [])
    }

    @Test func `Nothing is cut without a terminal`() throws {
        let long = String(repeating: "x", count: 300)
        let text = try printed([[.text(long), .integer(1), .text("y")]], .table)
        #expect(text.contains(long + "    1  y"))
    }

    @Test func `Letters of double width keep the columns straight`() throws {
        let rows: [[JSONValue]] = [
            [.text("東京"), .integer(1), .text("a")],
            [.text("e\u{301}"), .integer(2), .text("b")],
            [.text("abcd"), .integer(3), .text("c")],
        ]
        #expect(
            try printed(rows, .table) == """
                name  age  tags
                ----  ---  ----
                東京    1  a
                e\u{301}       2  b
                abcd    3  c

                """)
        #expect(TerminalText.width("東京") == 4 && TerminalText.width("e\u{301}") == 1)
        #expect(TerminalText.prefix("東京", 3).text == "東")
    }

    @Test(arguments: OutputMode.allCases)
    func `A terminal obeys nothing of the data`(mode: OutputMode) throws {
        let harmful = "\u{1B}[2J\u{9B}5A\u{202E}\u{7F}\u{0}\r\u{7}"
        let columns = [PrintedColumn(harmful)]
        let text = try printed([[.text(harmful)]], mode, columns, isTerminal: true, width: 200)
        for scalar in text.unicodeScalars {
            let isObeyed =
                scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format
            #expect(!isObeyed || scalar == "\n" || mode == .csv && scalar == "\r")
        }
    }

    @Test func `A row of a table is one line`() throws {
        let text = try printed([[.text("a\nb\tc"), .null, .null]], .table)
        #expect(text.split(separator: "\n").count == 3 && text.contains(#"a\nb\tc"#))
    }

    @Test func `Each type is printed as the other forms of output have it`() throws {
        let session = try Session.open(
            Configuration(location: .memory(name: "types \(UInt64.random(in: 0 ... .max))")))
        var buffer = ByteBuffer()
        let dates = [
            0, 1, 86_399, 86_400, 951_782_400, 4_107_542_400, 253_402_300_799, 253_402_300_800, -1,
        ].map { Timestamp(seconds: $0, nanoseconds: 0) }
        for date in dates + [Timestamp(seconds: 5, nanoseconds: 7)] {
            buffer.append(date)
            #expect(String(decoding: buffer.bytes, as: UTF8.self) == date.text)
            buffer.removeAll()
        }
        let json = ObjectToJSON(session)
        let id = FixedBytes(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_0000_0000)
        let cells: [(PrintedCell, Value)] = [
            (.null, .null), (.bool(true), .bool(true)), (.int(.min), .int(.min)),
            (.int(.max), .int(.max)), (.int(0), .int(0)), (.double(0.1), .double(0.1)),
            (.double(-.infinity), .double(-.infinity)), (.double(.nan), .double(.nan)),
            (.uuid(id), .uuid(id)), (.objectId(id), .objectId(id)),
            (.decimal(Decimal128(Int64(5))), .decimal(Decimal128(Int64(5)))),
            (.date(dates[4]), .date(dates[4])),
        ]
        for (cell, value) in cells {
            buffer.removeAll()
            cell.appendJSON(to: &buffer)
            let expected = try json.value(value).description
            #expect(String(decoding: buffer.bytes, as: UTF8.self) == expected)
        }
        for size in 0...7 {
            let data = Array((250...255).map { UInt8($0) } + [0]).prefix(size)
            buffer.removeAll()
            Array(data).withUnsafeBytes { PrintedCell.data($0).appendJSON(to: &buffer) }
            let expected = try json.value(.data(Array(data))).description
            #expect(String(decoding: buffer.bytes, as: UTF8.self) == expected)
        }
        for text in ["", "a\"b\\c", "\u{1}\u{1F}\n\r\t", "ä€😀"] {
            buffer.removeAll()
            buffer.appendJSON(text)
            let expected = JSONValue.text(text).description
            #expect(String(decoding: buffer.bytes, as: UTF8.self) == expected)
        }
    }
}
