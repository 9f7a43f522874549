import ToftEngine
import ToftStorage

@testable import ToftShell

/// Keeps what is printed.
final class TestOutput: ShellOutput {
    let isTerminal: Bool
    let width: Int?
    private var bytes: [UInt8] = []

    init(isTerminal: Bool = false, width: Int? = nil) {
        self.isTerminal = isTerminal
        self.width = width
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }

    /// The text printed since the last call.
    func take() -> String {
        defer { bytes = [] }
        return text
    }
}

/// Answers questions as a test says.
final class TestConsole: ShellConsole {
    let kept: TestOutput
    var usesPager = false
    /// Nil: nobody can be asked.
    var answer: Bool?
    private(set) var questions: [String] = []

    init(_ output: TestOutput = TestOutput()) { kept = output }

    var output: any ShellOutput { kept }

    func beginRows() {}
    func endRows() {}

    func confirms(_ question: String) -> Bool? {
        questions.append(question)
        return answer
    }

    func waits(for descriptor: Int32) -> Bool { false }

    func key(in file: String) throws(EngineError) -> EncryptionKey {
        throw EngineError(.fileNotFound, "There is no file '\(file)'.")
    }
}
