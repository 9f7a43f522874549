// Tests: Access.swift
import Testing
@testable import ToftStudio

@Suite struct AccessTests {
    private var access = Access(port: 4321)

    private func key(in access: Access) -> String {
        access.address?.split(separator: "#").last.map(String.init) ?? ""
    }

    @Test mutating func `The address opens one socket, and its page gets a key for further ones`() {
        let first = key(in: access)
        #expect(access.address == "http://127.0.0.1:4321/#\(first)")
        #expect(first.utf8.count == 32)
        let further = access.enter(origin: access.origin, key: first)
        #expect(further != nil && further != first)
        #expect(access.address == nil)
        #expect(access.enter(origin: access.origin, key: first) == nil)
        for _ in 0..<2 {
            #expect(access.enter(origin: access.origin, key: further) == further)
        }
    }

    @Test mutating func `Another origin, another key and no key open nothing, and use up nothing`()
    {
        let first = key(in: access)
        for origin in [nil, "", "null", "http://localhost:4321", "http://127.0.0.1:4322", "x"] {
            #expect(access.enter(origin: origin, key: first) == nil, "\(origin ?? "none")")
        }
        for key in [nil, "", String(first.dropLast()), first + "A", String(first.reversed())] {
            #expect(access.enter(origin: access.origin, key: key) == nil)
        }
        #expect(access.enter(origin: access.origin, key: first) != nil)
    }

    @Test func `A name that leads to the address is not the address`() {
        #expect(access.accepts(host: "127.0.0.1:4321"))
        for host in [nil, "", "127.0.0.1", "127.0.0.1:4322", "localhost:4321", "evil.example:4321"]
        {
            #expect(!access.accepts(host: host), "\(host ?? "none")")
        }
    }

    @Test func `Two starts have different keys`() {
        #expect(key(in: access) != key(in: Access(port: 4321)))
    }
}
