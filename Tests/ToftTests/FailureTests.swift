// Tests: Object+Increment.swift, Confinement.swift, SharedLibrary.swift
import Foundation
import RealmSwift
import Testing
import ToftEngine
import ToftModel
@testable import ToftPlatform
import ToftStorage
import ToftTestKit

@testable import Toft

final class Pebble: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name: String
    @Persisted var weight = 0
    @Persisted var data: Data?
    @Persisted var any: AnyRealmValue
    @Persisted var next: Pebble?
    @Persisted var stones: List<Pebble>
    @Persisted var names: List<String>
    @Persisted var tags: MutableSet<String>
    @Persisted var map: Map<String, String>
    @Persisted var core: Kernel?
    @Persisted var cores: List<Kernel>
    @Persisted(originProperty: "next") var before: LinkingObjects<Pebble>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class Kernel: EmbeddedObject {
    @Persisted var text: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let classes: [ObjectBase.Type] = [Pebble.self, Kernel.self]

/// A database on a disk that can fail, as this thread's realm.
private final class FailingDisk {
    let memory: MemoryFile
    let faults: FaultFile
    private let store: Store
    let realm: Realm

    init(content: [UInt8]? = nil) throws {
        if let content {
            memory = try MemoryFile(content: content)
        } else {
            memory = MemoryFile(name: "failing")
            try Store.format(memory)
        }
        faults = FaultFile(memory)
        store = try Store.open(on: faults, coordinator: try Coordinator.inMemory())
        let configuration = TestRealm.inMemory(classes)
        let engine = try configuration.engine(at: .memory(name: "not looked at"), .thread)
        realm = Realm(
            RealmSession(try Session.open(on: store, engine), configuration.opened, .thread))
    }

    /// Has every operation fail from one on, counted from now.
    func fail(after count: Int, _ error: SystemError) {
        faults.plan(
            FaultFile.Fault(index: count, isLasting: true, error: error),
            after: faults.operations.count)
    }

    func close() throws {
        try realm.close()
        try store.close()
        TestRealm.expectNoOpenWrite()
    }
}

/// Every call that can't throw, each under its name, on a realm that `fill` has filled.
private func calls(_ realm: Realm, _ text: String) -> [(name: String, call: () -> Void)] {
    let all = realm.objects(Pebble.self)
    let changes: [(String, (Pebble) -> Void)] = [
        ("set int", { $0.weight += 1 }), ("set text", { $0.name = text }),
        ("set data", { $0.data = Data(text.utf8) }), ("set mixed", { $0.any = .string(text) }),
        ("set link", { $0.next = all.last }), ("set nil", { $0.next = nil }),
        ("set embedded", { $0.core = Kernel(value: ["text": text]) }),
        ("set list", { $0.names = [text, text] as List }),
        ("set set", { $0.tags = [text, "a"] as MutableSet }),
        ("set map", { $0.map = ["a": text] as Map }),
        ("set by name", { $0.setValue(text, forKey: "name") }),
        ("increment", { $0.increment(\.weight) }),
        ("append", { $0.names.append(text) }),
        ("append objects", { $0.stones.append(objectsIn: [$0, $0]) }),
        ("insert", { $0.names.insert(text, at: 0) }), ("subscript", { $0.names[0] = text }),
        ("move", { $0.names.move(from: 0, to: 1) }), ("swap", { $0.names.swapAt(0, 1) }),
        ("replace", { $0.names.replaceSubrange(0..<1, with: [text, text]) }),
        ("remove", { $0.names.remove(at: 0) }), ("remove all", { $0.names.removeAll() }),
        ("append embedded", { $0.cores.append(Kernel(value: ["text": text])) }),
        ("insert in set", { $0.tags.insert(text) }), ("remove from set", { $0.tags.remove("a") }),
        ("union", { $0.tags.formUnion([text, "b"]) }),
        ("set key", { $0.map["a"] = text }), ("remove key", { $0.map.removeObject(for: "a") }),
    ]
    var calls: [(String, () -> Void)] = changes.map { name, change in
        (name, { if let first = all.first { change(first) } })
    }
    var number = 1_000_000
    calls += [
        (
            "create",
            {
                number += 1; realm.create(Pebble.self, value: ["id": number, "name": text])
            }
        ),
        (
            "update",
            { realm.create(Pebble.self, value: ["id": 1, "name": text], update: .modified) }
        ),
        (
            "add",
            {
                number += 1; realm.add(Pebble(value: ["id": number, "core": ["text": text]]))
            }
        ),
        ("set all", { all.setValue(text, forKey: "name") }),
        ("delete", { if let last = all.last { realm.delete(last) } }),
        ("delete results", { realm.delete(all.filter("weight < 3")) }),
        ("delete all", { realm.deleteAll() }),
    ]
    return calls
}

/// Every way of reading that can't throw.
private func readings(_ realm: Realm) -> [(name: String, call: () -> Void)] {
    let all = realm.objects(Pebble.self)
    func first(_ read: @escaping (Pebble) -> Void) -> () -> Void {
        { if let first = all.first { read(first) } }
    }
    return [
        ("isEmpty", { _ = realm.isEmpty }), ("count", { _ = all.count }),
        ("first", { _ = all.first }), ("last", { _ = all.last }),
        ("subscript", { _ = all[0] }), ("iteration", { for stone in all { _ = stone.name } }),
        ("map", { _ = Array(all.map(\.weight)) }),
        ("filter", { _ = all.filter("name CONTAINS 'x'").count }),
        ("where", { _ = all.where { $0.weight > 3 }.first }),
        ("sorted", { _ = all.sorted(byKeyPath: "name").first }),
        ("distinct", { _ = all.distinct(by: ["name"]).count }),
        ("index", { _ = all.index(matching: "weight == 7") }),
        ("min", { _ = all.min(of: \.weight) as Int? }), ("sum", { _ = all.sum(of: \.weight) }),
        ("average", { _ = all.average(of: \.weight) as Double? }),
        ("groups", { _ = all.groups(by: "name") }),
        ("sections", { _ = all.sectioned(by: \.name).count }),
        ("by key", { _ = realm.object(ofType: Pebble.self, forPrimaryKey: 7) }),
        ("int", first { _ = $0.weight }), ("text", first { _ = $0.name }),
        ("data", first { _ = $0.data }), ("mixed", first { _ = $0.any }),
        ("link", first { _ = $0.next }), ("embedded", first { _ = $0.core?.text }),
        ("by name", first { _ = $0.value(forKey: "name") }),
        ("list", first { _ = Array($0.names) }), ("list element", first { _ = $0.names.first }),
        ("objects", first { for stone in $0.stones { _ = stone.id } }),
        ("set", first { _ = $0.tags.contains("a") }), ("map", first { _ = $0.map["a"] }),
        ("entries", first { for (key, value) in $0.map { _ = key + value } }),
        ("backlinks", first { _ = $0.before.count }), ("description", first { _ = $0.description }),
        ("isInvalidated", first { _ = $0.isInvalidated }), ("freeze", first { _ = $0.freeze() }),
        ("refresh", { _ = realm.refresh() }), ("isEqual", { _ = all.first == all.last }),
    ]
}

private func fill(_ realm: Realm, _ text: String, _ count: Int) throws {
    try realm.write {
        var last: Pebble?
        for number in 0..<count {
            let stone = Pebble(
                value: ["id": number, "name": "stone \(number % 7)", "weight": number])
            stone.data = Data(text.utf8)
            stone.any = ["a": .string(text)]
            stone.next = last
            stone.names.append(objectsIn: ["a", "b", text])
            stone.tags.insert(objectsIn: ["a", text])
            stone.map["a"] = text
            stone.core = Kernel(value: ["text": text])
            if let last { stone.stones.append(last) }
            realm.add(stone)
            last = stone
        }
    }
}

/// The contents of a realm, without the addresses of instances.
private func content(of realm: Realm) -> [String] {
    realm.objects(Pebble.self).map {
        $0.description.replacing(#/<0x[0-9a-f]+>/#, with: "")
    }
}

@Suite("Failures of the machine in calls that can't throw")
struct FailureTests {
    private static let full = SystemError.diskFull(path: "<test>")
    private static let broken = SystemError.io(operation: "pwrite", path: "<test>", errno: EIO)

    @Test(arguments: [(1, 200), (10, 2_000), (100, 240)])
    func `A disk that fails at any moment of a transaction is thrown by write`(
        _ count: Int, _ size: Int
    ) throws {
        let text = String(repeating: "t", count: size)
        for error in [Self.full, Self.broken] {
            let disk = try FailingDisk()
            try fill(disk.realm, "filled", 3)
            let before = content(of: disk.realm)
            // Ends with the transaction that needs no more of the disk than it gets.
            for moment in 0..<400 {
                disk.fail(after: moment, error)
                do {
                    try disk.realm.write {
                        for number in 0..<count {
                            disk.realm.create(
                                Pebble.self, value: ["id": 100 + number, "name": text])
                        }
                        #expect(disk.realm.isInWriteTransaction)
                    }
                    disk.faults.repair()
                    #expect(disk.realm.objects(Pebble.self).count == 3 + count)
                    break
                } catch let failure as Realm.Error {
                    #expect(failure.isFailure, "\(failure)")
                    #expect(!disk.realm.isInWriteTransaction)
                    disk.faults.repair()
                    if [.poisoned, .commitOutcomeUnknown].contains(failure.code) { break }
                    #expect(content(of: disk.realm) == before)
                }
            }
            try? disk.close()
        }
    }

    @Test
    func `Each call on a disk that fails ends its transaction, and what comes then does nothing`()
        throws
    {
        // Long enough to be written at once.
        let text = String(repeating: "t", count: 5_000)
        let disk = try FailingDisk()
        try fill(disk.realm, text, 3)
        let before = content(of: disk.realm), names = calls(disk.realm, text).map(\.name)
        for (index, name) in names.enumerated() {
            for moment in [0, 2] {
                disk.fail(after: moment, Self.full)
                let failure = #expect(throws: Realm.Error.self, "\(name)") {
                    try disk.realm.write {
                        calls(disk.realm, text)[index].call()
                        // Fails at the latest here, and then everything else does nothing.
                        for number in 0..<3 {
                            disk.realm.create(
                                Pebble.self,
                                value: ["id": 5_000 + number, "data": Data(count: 2 << 20)])
                        }
                        for (_, call) in calls(disk.realm, "x") + readings(disk.realm) { call() }
                        disk.realm.beginWrite()
                        let new = Pebble(value: ["id": 6_000])
                        disk.realm.add(new)
                        disk.realm.delete(new)
                    }
                }
                #expect(failure?.code == .diskFull, "\(name) \(moment)")
                disk.faults.repair()
                #expect(!disk.realm.isInWriteTransaction)
                #expect(content(of: disk.realm) == before, "\(name) \(moment)")
            }
        }
        for (name, call) in calls(disk.realm, text) {
            try disk.realm.write { call() }
            #expect(!disk.realm.isInWriteTransaction, "\(name)")
        }
        try TestRealm.check(disk.realm)
        try disk.close()
    }

    @Test
    func `A transaction that is begun and committed by hand throws the failure at its end`() throws
    {
        let disk = try FailingDisk()
        try fill(disk.realm, "filled", 3)
        let realm = disk.realm
        func writeTooMuch() {
            disk.fail(after: 0, Self.full)
            realm.create(Pebble.self, value: ["id": 9, "data": Data(count: 2 << 20)])
            disk.faults.repair()
            realm.create(Pebble.self, value: ["id": 10])
        }
        realm.beginWrite()
        writeTooMuch()
        #expect(realm.isInWriteTransaction)
        expectError(.diskFull) { try realm.commitWrite() }
        #expect(!realm.isInWriteTransaction)

        realm.beginWrite()
        writeTooMuch()
        realm.cancelWrite()
        #expect(!realm.isInWriteTransaction)

        // A block that notices throws the failure all the same.
        expectError(.diskFull) {
            try realm.write {
                writeTooMuch()
                throw CancellationError()
            }
        }
        // Another realm that is written inside takes the outer one along.
        let other = try Realm(configuration: TestRealm.inMemory(classes))
        expectError(.diskFull) {
            try other.write {
                other.create(Pebble.self, value: ["id": 1])
                try realm.write { writeTooMuch() }
            }
        }
        #expect(other.isEmpty)
        var code: Realm.Error.Code?
        try realm.write {
            do { try Realm.attempt { writeTooMuch() } } catch let error as Realm.Error {
                code = error.code
                realm.cancelWrite()
            }
        }
        #expect(code == .diskFull)
        #expect(realm.objects(Pebble.self).count == 3)
        try realm.write { realm.create(Pebble.self, value: ["id": 11]) }
        try TestRealm.check(realm)
        try disk.close()
    }

    @Test
    func `A page that is damaged ends no program: reads give what they can`() throws {
        let disk = try FailingDisk()
        try fill(disk.realm, String(repeating: "t", count: 3_000), 15)
        try disk.close()
        let sound = try disk.memory.content()
        var failures = 0
        for page in 2..<(sound.count / Page.size) {
            var image = sound
            image[page * Page.size + 200] ^= 0x55
            image[page * Page.size + 1] ^= 0x11
            guard let damaged = try? FailingDisk(content: image) else { continue }
            let realm = damaged.realm
            for (name, read) in readings(realm) {
                do {
                    // The error that the handler would get.
                    try Realm.attempt { read() }
                } catch let error as Realm.Error {
                    failures += 1
                    #expect(error.isFailure, "\(name), page \(page): \(error)")
                }
            }
            // In a transaction it ends that.
            do {
                try realm.write {
                    for (_, call) in readings(realm) + calls(realm, "x") { call() }
                }
            } catch let error as Realm.Error {
                failures += 1
                #expect(error.isFailure, "\(error)")
            }
            #expect(!realm.isInWriteTransaction)
            try? damaged.close()
        }
        #expect(failures > 0)
    }

    @Test
    func `Outside of a transaction the handler hears of a failure, and the program goes on`() async
    {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let disk = try FailingDisk()
            try fill(disk.realm, String(repeating: "t", count: 3_000), 15)
            try disk.close()
            let sound = try disk.memory.content()
            let codes = Shared<[Realm.Error.Code]>([]), printing = Realm.failureHandler
            let collecting: @Sendable (Realm.Error) -> Void = { error in
                codes.change { $0.append(error.code) }
            }
            for page in 2..<(sound.count / Page.size) {
                var image = sound
                image[page * Page.size + 1] ^= 0x11
                guard let damaged = try? FailingDisk(content: image) else { continue }
                // Every other page with the handler that is there, which prints.
                Realm.failureHandler = page % 2 == 0 ? printing : collecting
                for (_, read) in readings(damaged.realm) { read() }
            }
            guard codes.current.contains(.corrupt) else { exit(1) }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("Toft failed"), "\(printed)")
    }
}

@Suite("Errors as NSError")
struct BridgingTests {
    @Test
    func `An error is caught as NSError, with its domain, code and message`() {
        func caught(_ body: () throws -> Void) -> NSError? {
            do { try body() } catch let error as NSError { return error }
            return nil
        }
        let error = caught {
            _ = try Realm(fileURL: URL(fileURLWithPath: "/nowhere/at/all.realm"))
        }
        #expect(error?.domain == "io.realm")
        #expect(error?.code == Int(Realm.Error.Code.fileNotFound.rawValue))
        #expect(error?.localizedDescription.contains("/nowhere/at/all.realm") == true)
        let bridged = Realm.Error(.corrupt, "damaged", detail: "page 3") as NSError
        #expect(bridged.domain == "io.realm" && bridged.code == 106)
        #expect(bridged.localizedFailureReason == "page 3")
        #expect((bridged as any Error as? Realm.Error)?.code == .corrupt)
        #expect(caught { throw CocoaError(.fileNoSuchFile) }?.domain == NSCocoaErrorDomain)
    }
}
