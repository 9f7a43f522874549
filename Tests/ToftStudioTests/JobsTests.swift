// Tests: Jobs.swift, StudioFolder.swift
import Foundation
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftStudio

@Suite struct JobsTests {
    /// Makes a file of people in a folder of its own, and shows it.
    private func withFile(
        key: EncryptionKey? = nil, people: Int = 20, _ body: (String, String) throws -> Void
    ) throws {
        try withTemporaryDirectory { folder in
            let path = folder + "/people.toft"
            var configuration = Configuration(
                location: .file(path: path), schema: ShownDatabase.schema)
            configuration.encryptionKey = key
            let session = try Session.open(configuration)
            let owner = try session.classHandle(named: "Person")
            try session.beginWrite()
            for number in 0..<people {
                try session.create(
                    owner.id,
                    [
                        (try owner.property(named: "id").id, .int(Int64(number))),
                        (try owner.property(named: "name").id, .string("person \(number)")),
                    ])
            }
            try session.commit()
            try session.close()
            try body(folder, path)
        }
    }

    private func shown(_ path: String, isReadOnly: Bool = false) throws -> Page {
        let page = Page([try StudioFile(path: path, isReadOnly: isReadOnly)])
        _ = try page.ask(file: "open")
        return page
    }

    @Test func `What is exported is imported elsewhere, as it was`() throws {
        try withFile { folder, path in
            let page = try shown(path)
            for (name, isCSV) in [("people.jsonl", false), ("people.csv", true)] {
                _ = try page.ask(
                    file: "view",
                    [
                        ("view", .integer(1)), ("class", .text("Person")),
                        ("query", .text("id < 10")),
                    ])
                let exported = try page.ask(
                    "export",
                    [("view", .integer(1)), ("to", .text(name)), ("csv", .bool(isCSV))])
                #expect(try exported.count("objects") == 10)
                try withFile(people: 5) { other, otherPath in
                    try FileManager.default.copyItem(
                        atPath: folder + "/" + name, toPath: other + "/" + name)
                    let there = try shown(otherPath)
                    let members: [(String, JSONValue)] = [
                        ("from", .text(name)), ("class", .text("Person")), ("csv", .bool(isCSV)),
                    ]
                    #expect(there.code("import", members) == "duplicatePrimaryKey")
                    let loaded = try there.ask(
                        file: "import", members + [("updates", .bool(true))])
                    #expect(try loaded.count("created") == 5)
                    #expect(try loaded.count("updated") == 5)
                    let counts = there.event("committed").member("counts")
                    #expect(counts?.member("Person")?.number == 10)
                    try there.expectSound()
                }
            }
            try page.expectSound()
        }
    }

    @Test func `A copy opens as the file does, and a compaction leaves it sound`() throws {
        let key = try EncryptionKey((0..<64).map { UInt8($0) })
        try withFile(key: key) { folder, path in
            let page = Page([try StudioFile(path: path, isReadOnly: false)])
            #expect(page.code("open") == "keyRequired")
            #expect(page.code("open", [("key", .text("00"))]) == "invalidArgument")
            let wrong = String(repeating: "00", count: 64)
            #expect(page.code("open", [("key", .text(wrong))]) == "wrongKey")
            let digits = CellWriter.digits((0..<64).map { UInt8($0) })
            _ = try page.ask(file: "open", [("key", .text(digits))])
            #expect(try page.ask(file: "facts").isTrue("isEncrypted"))
            _ = try page.ask(file: "copy", [("to", .text("copy.toft"))])
            let copy = Page([try StudioFile(path: folder + "/copy.toft", isReadOnly: true)])
            #expect(copy.code("open") == "keyRequired")
            _ = try copy.ask(file: "open", [("key", .text(digits))])
            try copy.expectSound()
            #expect(copy.code("commit", [("changes", .list([]))]) == "readOnly")
            #expect(try page.ask(file: "compact").member("bytesAfter") != nil)
            try page.expectSound()
        }
    }

    @Test func `No path leads out of the folder, and nothing that exists is written over`() throws {
        try withFile { folder, path in
            let page = try shown(path)
            try FileManager.default.createDirectory(
                atPath: folder + "/below", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/out", withDestinationPath: "/tmp")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/passwd", withDestinationPath: "/etc/passwd")
            for bad in [
                "../x", "..", ".", "", "/etc/x", "a//b", "below/../../x", "out/x", "below/./x",
                "x\u{0}y", "/",
            ] {
                let code = page.code("copy", [("to", .text(bad))])
                #expect(code == "permissionDenied", "\(bad): \(code)")
            }
            #expect(page.code("copy", [("to", .text("none/x"))]) == "fileNotFound")
            #expect(page.code("copy", [("to", .text("people.toft"))]) == "fileExists")
            #expect(page.code("copy", [("to", .text("passwd"))]) == "fileExists")
            for bad in ["passwd", "../x", "/etc/passwd", "out"] {
                let members = [("from", JSONValue.text(bad)), ("class", JSONValue.text("Person"))]
                let code = page.code("import", members)
                #expect(["permissionDenied", "fileNotFound"].contains(code), "\(bad): \(code)")
            }
            #expect(page.code("folder", [("path", .text("out"))]) == "permissionDenied")
            _ = try page.ask(file: "copy", [("to", .text("below/copy.toft"))])
            let names = try page.ask(file: "folder", [("path", .text(""))])
            #expect("\(names)".contains("below") && !"\(names)".contains("passwd"))
            let below = try page.ask(file: "folder", [("path", .text("below"))])
            #expect("\(below)".contains("copy.toft"))
            try page.expectSound()
        }
    }

    @Test func `A damaged file is read into a new one; one that is open is not`() throws {
        try withFile { _, path in
            let page = Page([try StudioFile(path: path, isReadOnly: false)])
            let report = try page.ask(file: "salvage", [("to", .text("saved.toft"))])
            #expect(report.isTrue("isComplete"))
            _ = try page.ask(file: "open")
            #expect(page.code("salvage", [("to", .text("other.toft"))]) == "alreadyOpen")
            try page.expectSound()
        }
    }
}
