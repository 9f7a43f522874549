import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

@Suite struct KeyBytesTests {
    func bytes(_ value: Value, optional: Bool) -> [UInt8] {
        let room = UnsafeMutableRawPointer.allocate(byteCount: KeyBytes.capacity, alignment: 16)
        defer { room.deallocate() }
        var key = KeyBytes(room)
        let cell: Cell
        switch value {
        case .null: cell = .null
        case .bool(let value): cell = .bool(value)
        case .int(let value): cell = .int64(value)
        case .date(let value): cell = .timestamp(value)
        case .uuid(let value), .objectId(let value): cell = .fixed(value)
        case .string(let text):
            return Array(text.utf8).withUnsafeBytes { text in
                let fits = key.put(.bytes(text), optional: optional)
                #expect(fits)
                return Array(key.bytes)
            }
        default: return []
        }
        let fits = key.put(cell, optional: optional)
        #expect(fits)
        return Array(key.bytes)
    }

    @Test(arguments: [PropertyType.int, .bool, .string, .date, .uuid, .objectId], [false, true])
    func `Bytes sort as values do`(type: PropertyType, isOptional: Bool) {
        var seed = Seed.random()
        for _ in 0..<5_000 {
            let left = isOptional && seed.chance(10) ? .null : IndexTests.sample(type, &seed)
            let right = isOptional && seed.chance(10) ? .null : IndexTests.sample(type, &seed)
            let leftBytes = bytes(left, optional: isOptional),
                rightBytes = bytes(right, optional: isOptional)
            if left == right {
                #expect(leftBytes == rightBytes, "\(seed)")
            } else {
                #expect(leftBytes != rightBytes, "\(seed)")
            }
            if sharePrefix(left, right) { continue }
            #expect(
                leftBytes.lexicographicallyPrecedes(rightBytes) == IndexTests.less(left, right),
                "\(seed): \(left) \(right)")
        }
    }

    /// Long strings with the same first 200 bytes have no order.
    func sharePrefix(_ left: Value, _ right: Value) -> Bool {
        guard case .string(let left) = left, case .string(let right) = right else { return false }
        return left.utf8.count > 200 && right.utf8.count > 200
            && left.utf8.prefix(200).elementsEqual(right.utf8.prefix(200))
    }

    @Test func `No key is longer than a tree takes`() {
        let worst = bytes(.string(String(repeating: "\u{0}", count: 100_000)), optional: true)
        #expect(worst.count + 8 <= 512 && worst.count == 415)
    }

    /// The bytes are format: a change of them makes files unreadable.
    @Test func `The bytes of some values are these`() {
        #expect(bytes(.int(1), optional: false) == [0x80, 0, 0, 0, 0, 0, 0, 1])
        #expect(bytes(.int(-1), optional: true) == [1, 0x7F, 255, 255, 255, 255, 255, 255, 255])
        #expect(bytes(.null, optional: true) == [0])
        #expect(bytes(.bool(true), optional: false) == [1])
        #expect(bytes(.string("a\u{0}b"), optional: false) == [97, 0, 255, 98, 0, 0])
        #expect(
            bytes(.date(Timestamp(seconds: 0, nanoseconds: -1)), optional: false) == [
                0x80, 0, 0, 0, 0, 0, 0, 0, 0x7F, 255, 255, 255,
            ])
        let long = bytes(.string(String(repeating: "x", count: 201)), optional: false)
        #expect(long.suffix(14) == [0, 1, 0x80, 0, 0, 201, 182, 49, 80, 13, 6, 243, 187, 167])
    }
}
