#if Terminal
import Foundation
import ToftPlatform
import ToftShell

/// Reads lines from a terminal with the editing, history and completion of libedit, which is loaded
/// when a prompt is shown and linked by nothing; without the library, plain lines. libedit has the
/// licence of BSD; GNU readline, which has the same functions, would put toftdb under the GPL.
///
/// The library has one state for the program, so there is one editor, and one thread uses it.
final class LineEditor {
    private typealias ReadLine =
        @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
    private typealias TakeText = @convention(c) (UnsafePointer<CChar>?) -> Int32
    private typealias TakeNumber = @convention(c) (Int32) -> Void
    private typealias Generator =
        @convention(c) (UnsafePointer<CChar>?, Int32) -> UnsafeMutablePointer<CChar>?
    private typealias Matches =
        @convention(c) (UnsafePointer<CChar>?, Generator?) -> UnsafeMutablePointer<
            UnsafeMutablePointer<CChar>?
        >?
    private typealias Completion =
        @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> UnsafeMutablePointer<
            UnsafeMutablePointer<CChar>?
        >?

    private typealias ReadCharacter = @convention(c) (UnsafeMutableRawPointer?) -> Int32

    private let readLine: ReadLine
    private let addHistory: TakeText
    private let writeHistory: TakeText
    private let historyPath: String?

    /// Completes a word of a line; set before a line is read.
    nonisolated(unsafe) private static var complete:
        (_ word: String, _ before: String) -> [String] = { _, _ in [] }
    nonisolated(unsafe) private static var candidates: [String] = []
    nonisolated(unsafe) private static var next = 0
    nonisolated(unsafe) private static var matches: Matches?
    /// The line that is edited, and whether file names may be completed, in the library.
    nonisolated(unsafe) private static var line: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    nonisolated(unsafe) private static var isOver: UnsafeMutablePointer<Int32>?

    /// Lines of the history that are kept.
    private static let historyLength: Int32 = 10_000

    /// Nil if the system has no libedit.
    init?(
        historyPath: String?, complete: @escaping (_ word: String, _ before: String) -> [String]
    ) {
        guard let library = SharedLibrary(named: ["libedit.so.2", "libedit.so.0", "libedit.so"]),
            let readLine = library.function("readline", as: ReadLine.self),
            let addHistory = library.function("add_history", as: TakeText.self),
            let readHistory = library.function("read_history", as: TakeText.self),
            let writeHistory = library.function("write_history", as: TakeText.self),
            let stifle = library.function("stifle_history", as: TakeNumber.self),
            let matches = library.function("rl_completion_matches", as: Matches.self),
            let completion = library.function(
                "rl_attempted_completion_function",
                as: UnsafeMutablePointer<Completion?>.self),
            let isOver = library.function(
                "rl_attempted_completion_over", as: UnsafeMutablePointer<Int32>.self),
            let line = library.function(
                "rl_line_buffer",
                as: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self),
            let character = library.function(
                "rl_getc_function", as: UnsafeMutablePointer<ReadCharacter?>.self),
            let breaks = library.function(
                "rl_completer_word_break_characters",
                as: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self)
        else { return nil }
        self.readLine = readLine
        self.addHistory = addHistory
        self.writeHistory = writeHistory
        self.historyPath = historyPath
        Self.complete = complete
        Self.matches = matches
        Self.isOver = isOver
        Self.line = line
        // The library reads and writes the characters of the user's language.
        if setlocale(LC_CTYPE, "") == nil { setlocale(LC_CTYPE, "C.UTF-8") }
        breaks.pointee = strdup(Completer.wordBreaks)
        // The library's own function waits on after a signal. Set before the first call.
        character.pointee = { _ in LineEditor.nextCharacter() }
        stifle(Self.historyLength)
        if let historyPath { _ = readHistory(historyPath) }
        completion.pointee = { word, start, _ in LineEditor.completions(word, start) }
    }

    /// The next character of standard input; -1 at its end, and after Control-C.
    private static func nextCharacter() -> Int32 {
        guard let first = nextByte() else { return -1 }
        let length = (~first).leadingZeroBitCount
        guard (2...4).contains(length) else { return Int32(first) }
        var scalar = UInt32(first) & (0x7F >> UInt32(length))
        for _ in 1..<length {
            guard let byte = nextByte() else { return -1 }
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        return Int32(scalar)
    }

    private static func nextByte() -> UInt8? {
        var byte: UInt8 = 0
        while !Interrupts.hasCome {
            let count = Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 1 { return byte }
            if count == 0 || errno != EINTR { return nil }
        }
        return nil
    }

    private static func completions(_ word: UnsafePointer<CChar>?, _ start: Int32)
        -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    {
        guard let word, let line = line?.pointee, let matches else { return nil }
        let before = String(
            decoding: UnsafeRawBufferPointer(
                start: line, count: min(max(0, Int(start)), strlen(line))), as: UTF8.self)
        // A file may follow these commands.
        let takesFile = before.hasPrefix(".open ") || before.hasPrefix(".key ")
        isOver?.pointee = takesFile ? 0 : 1
        if takesFile { return nil }
        candidates = complete(String(cString: word), before)
        return matches(word, { _, state in LineEditor.candidate(state) })
    }

    /// The next candidate, which the library frees.
    private static func candidate(_ state: Int32) -> UnsafeMutablePointer<CChar>? {
        if state == 0 { next = 0 }
        guard next < candidates.count else { return nil }
        defer { next += 1 }
        return strdup(candidates[next])
    }

    /// A line without its end; nil at the end of the input, and if a signal came.
    func read(_ prompt: String) -> String? {
        guard let line = readLine(prompt) else { return nil }
        defer { free(line) }
        let text = String(cString: line)
        if !text.allSatisfy({ $0 == " " }) {
            _ = addHistory(line)
            keepHistory()
        }
        return text
    }

    /// Writes the history to its file, which the user alone can read.
    private func keepHistory() {
        guard let historyPath else { return }
        let mask = umask(0o077)
        _ = writeHistory(historyPath)
        umask(mask)
    }
}
#endif
