// Tests: FilePath.swift
import Glibc
import Testing
import ToftTestKit
@testable import ToftPlatform
@testable import ToftStorage

struct DirectoryTests {
    @Test
    func `The names of a directory of 1,500 files are read, long ones and short ones`() throws {
        try withTemporaryDirectory { directory in
            var expected: Set<String> = []
            for number in 0..<1_500 {
                let name = String(repeating: "n", count: number % 200) + "\(number)"
                expected.insert(name)
                let descriptor = open(directory + "/" + name, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
                #expect(descriptor >= 0)
                close(descriptor)
            }
            let names = try FilePath.names(in: directory)
            #expect(names.count == 1_500)
            #expect(Set(names) == expected)
        }
    }

    @Test
    func `Opening removes what a dead creator of the same name has left, and nothing else`() throws
    {
        try withTemporaryDatabase { database in
            withExtendedLifetime(try database.open()) {}
            let left = database.directory + "/.test.toft.abc.new"
            let other = database.directory + "/.other.toft.abc.new"
            for path in [left, other] {
                close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
            }
            withExtendedLifetime(try database.open()) {}
            let names = try FilePath.names(in: database.directory)
            #expect(!names.contains(".test.toft.abc.new"))
            #expect(names.contains(".other.toft.abc.new"))
        }
    }
}
