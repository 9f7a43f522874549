import Foundation
import Testing

/// The programs that come with the Swift door, run as they are.
@Suite("Programs")
struct ProgramTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let sample = root.appendingPathComponent("bindings/c/examples/packages/sample.jsonl")
    private static let programInC = root.appendingPathComponent("build/bindings-c/packages")

    /// Beside the tests in the build folder.
    private static var packages: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("PackagesSwift")
    }

    private func run(_ program: URL, _ arguments: String...) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        return text
    }

    /// What is left when time, memory, processes and the size of the file are taken out.
    private func withoutCircumstances(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("It took ") { return "It took its time." }
            if line.hasPrefix("   The answers took ") { return "   The answers took their time." }
            if line.hasPrefix("Process ") { return "Process observes." }
            return String(line)
        }.joined(separator: "\n")
    }

    @Test("The main job loads the sample, answers, and follows what another process commits")
    func mainJob() throws {
        let lines = try run(Self.packages, Self.sample.path).split(separator: "\n").map { String($0) }
        let followed = lines.filter { $0.hasPrefix("   version ") }.map { String($0.drop { $0 != ";" }) }
        #expect(
            followed == [
                "; inserted 0, 1, 2 -> now example-apple example-banana example-date",
                "; inserted 2; modified 1 -> now example-apple example-banana example-cherry example-date",
                "; deleted 0; modified 3 -> now example-banana example-cherry example-date",
            ])
        #expect(lines.last == "   The copy that followed the indices equals the results.")
    }

    @Test("It prints what the program in C prints", .enabled(if: FileManager.default.isExecutableFile(atPath: programInC.path)))
    func sameAsInC() throws {
        let (swift, c) = (try run(Self.packages, Self.sample.path), try run(Self.programInC, Self.sample.path))
        #expect(withoutCircumstances(swift) == withoutCircumstances(c))
    }
}
