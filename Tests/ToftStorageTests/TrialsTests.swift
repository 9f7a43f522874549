// Tests: Recovery.swift
internal import Glibc
import Testing
internal import ToftTestKit

/// A little of the trials that need several processes, and of that of queries: each is a run of
/// `ToftTrials`.
@Suite(.serialized) struct TrialsTests {
    private static func run(_ arguments: String...) throws {
        let trial = try ChildProcess(try TrialsProgram.path(), arguments)
        let lines = trial.lines()
        print(lines.joined(separator: "\n"))
        #expect(trial.wait() == 0, "\(lines)")
    }

    @Test func `Three processes commit and observe, and end with the same content`() throws {
        try Self.run("participants", "1000")
    }

    @Test func `A process is killed fifty times, and nothing committed is lost`() throws {
        try Self.run("kills", "50", "1")
    }

    @Test func `Descriptors are closed under the engine, and no commit gets into another file`()
        throws
    {
        try Self.run("descriptors", "100", "\(UInt32.random(in: 0 ... .max))")
    }

    /// Other ones each time; the optimised build does many more.
    @Test func `Random queries have the answers of a plain evaluator`() throws {
        try Self.run("differential", "1000")
    }
}

enum TrialsProgram {
    /// The program is in the folder of the one that runs the tests.
    static func path() throws -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        let tests = String(
            decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let programs = [tests] + CommandLine.arguments
        let candidates = programs.compactMap { program in
            program.lastIndex(of: "/").map { String(program[...$0]) + "ToftTrials" }
        }
        let found = candidates.first { access($0, X_OK) == 0 }
        return try #require(found)
    }
}
