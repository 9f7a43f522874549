import Foundation
import Synchronization
import Testing
import ToftEngine
import ToftModel
import ToftStorage

@testable import Toft

/// Databases of tests: in memory, or in a folder that is deleted afterwards; each is checked from
/// the first page to the last when the test ends.
enum TestRealm {
    private static let counter = Atomic(0)

    /// A configuration of a new database in memory.
    static func inMemory(_ types: [ObjectBase.Type]? = nil) -> Realm.Configuration {
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        return Realm.Configuration(inMemoryIdentifier: "test-\(number)", objectTypes: types)
    }

    /// Runs a body with a realm in memory.
    static func with(_ types: [ObjectBase.Type]? = nil, _ body: (Realm) throws -> Void) throws {
        let realm = try Realm(configuration: inMemory(types))
        try body(realm)
        try check(realm)
        expectNoOpenWrite()
    }

    /// Runs a body with a realm in a file.
    static func withFile(_ types: [ObjectBase.Type]? = nil, _ body: (Realm, URL) throws -> Void)
        throws
    {
        try withFolder { folder in
            let url = folder.appendingPathComponent("test.realm")
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: types))
            try body(realm, url)
            try check(realm)
        }
    }

    static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "toft-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
        expectNoOpenWrite()
    }

    /// A transaction that a test leaves open stays on its thread, which runs other tests.
    static func expectNoOpenWrite() {
        #expect(OpenWrites.here.isEmpty, "a write transaction was left open")
    }

    /// The oldest version that somebody reads.
    static func oldestPinnedVersion(_ realm: Realm) throws -> UInt64 {
        try realm.session.engine.facts().oldestPinnedVersion.rawValue
    }

    /// Bytes of deferred commits that wait to become durable.
    static func deferredSize(_ realm: Realm) throws -> UInt64 {
        try realm.session.engine.facts().deferredSize
    }

    /// Number of objects of a class; -1 if it is unknown.
    static func count(_ className: String, in realm: Realm) -> Int {
        let engine = realm.session.engine
        return (try? engine.count(of: engine.classHandle(named: className).id)) ?? -1
    }

    /// Reads all of it.
    static func check(_ realm: Realm) throws {
        if realm.isInWriteTransaction { realm.cancelWrite() }
        realm.refresh()
        #expect(try realm.session.engine.checkEverything().problems == [])
    }
}

/// Expects a block to throw, or to be misuse, with a code.
///
/// A function and not `#expect(misuse { ... } == code)`: closures within the macro can get the
/// symbol of another closure around it (Swift 6.3).
func expectError<Result>(
    _ code: Realm.Error.Code, _ block: () throws -> Result,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    do {
        _ = try Realm.attempt(block)
        Issue.record("no error, where \(code) was expected", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? Realm.Error)?.code == code, sourceLocation: sourceLocation)
    }
}

extension ExitTest.Condition {
    /// The way in which the default handler of misuse ends a process: by the processor's trap.
    static var trap: ExitTest.Condition {
        #if arch(x86_64)
        .signal(SIGILL)
        #else
        .signal(SIGTRAP)
        #endif
    }
}
