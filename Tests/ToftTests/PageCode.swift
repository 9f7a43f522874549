import Foundation

/// The code of a page of the documentation, to be looked for in the source of a test that compiles
/// it.
struct PageCode {
    private let lines: [String]

    /// - Parameter name: of the page, without `.md`.
    init(page name: String, file: String = #filePath) throws {
        let tests = URL(fileURLWithPath: file).deletingLastPathComponent()
        let page = tests.appendingPathComponent("../../Sources/Toft/Toft.docc/\(name).md")
        lines = try String(contentsOf: page, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }

    /// The blocks of Swift.
    var blocks: [String] {
        var blocks: [String] = [], current: String?
        for line in lines {
            if line == "```swift" {
                current = ""
            } else if line == "```", let block = current {
                blocks.append(block)
                current = nil
            } else {
                current?.append(line + "\n")
            }
        }
        return blocks
    }

    /// The code in the second column of the tables whose first column has older spellings.
    var newSpellings: [String] {
        var spellings: [String] = [], isTable = false
        for line in lines {
            let cells = line.split(separator: "|").map(String.init)
            if line.hasPrefix("| Older |") {
                isTable = true
            } else if cells.isEmpty {
                isTable = false
            }
            guard isTable, cells.count == 2, !line.hasPrefix("|--"), !line.hasPrefix("| Older")
            else { continue }
            spellings += cells[1].split(separator: "`", omittingEmptySubsequences: false)
                .enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
        return spellings
    }

    /// Whether a source has some code, however its lines are broken.
    static func has(_ code: String, in source: String) -> Bool {
        func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
        return squeezed(source).contains(squeezed(code))
    }
}
