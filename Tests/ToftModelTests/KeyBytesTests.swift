// Tests: KeyBytes.swift
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
                let fits = key.put(.bytes(text), of: .string, optional: optional)
                #expect(fits)
                return Array(key.bytes)
            }
        default: return []
        }
        let fits = key.put(cell, of: .int, optional: optional)
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

    @Test func `A zero in a text becomes two bytes, wherever it stands`() {
        for count in Array(0...25) + [KeyBytes.textLimit - 1, KeyBytes.textLimit] {
            for zero in 0...count {
                var text = (0..<count).map { UInt8($0 % 127 + 1) }
                if zero < count { text[zero] = 0 }
                let escaped = text.flatMap { (byte) -> [UInt8] in byte == 0 ? [0, 0xFF] : [byte] }
                let expected = escaped + [0, 0]
                #expect(
                    bytes(.string(String(decoding: text, as: UTF8.self)), optional: false)
                        == expected, "\(count) bytes, the zero at \(zero)")
            }
        }
    }

    private func bytes(objectKey key: Int64) -> [UInt8] {
        let room = UnsafeMutableRawPointer.allocate(byteCount: KeyBytes.capacity, alignment: 16)
        defer { room.deallocate() }
        var bytes = KeyBytes(room)
        bytes.put(objectKey: key)
        return Array(bytes.bytes)
    }

    @Test func `Object keys sort as numbers do and are read from the end of an entry`() {
        var keys: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for bits in 1..<63 {
            for beyond in -1...1 as ClosedRange<Int64> {
                keys += [1 << Int64(bits) + beyond, -(1 << Int64(bits)) + beyond]
            }
        }
        var seed = Seed.random()
        for _ in 0..<500 {
            keys.append(Int64(bitPattern: seed.next()) >> Int64(seed.below(64)))
        }
        keys.sort()
        var last: (key: Int64, bytes: [UInt8])?
        for key in keys where key != last?.key {
            let bytes = bytes(objectKey: key)
            #expect((2...9).contains(bytes.count))
            if let last {
                #expect(last.bytes.lexicographicallyPrecedes(bytes), "\(seed): \(key)")
                #expect(!bytes.starts(with: last.bytes), "\(seed): \(key)")
            }
            last = (key, bytes)
            ([1, 2, 3] + bytes).withUnsafeBytes { entry in
                let found = KeyBytes.lastKey(entry)
                #expect(found?.key == key && found?.start == 3, "\(seed): \(key)")
                #expect(KeyBytes.lastKey(entry, after: 4) == nil, "\(seed): \(key)")
            }
        }
    }

    @Test func `Bytes that no object key ends with are none`() {
        let wrong: [[UInt8]] = [
            [], [1], [0x80], [0x80, 0x10], [0x80, 0x19], [0x70, 0x12], [0x90, 0x11], [0x60, 0x11],
            [0x90, 0x02], [UInt8](repeating: 0x88, count: 8),
        ]
        for bytes in wrong { bytes.withUnsafeBytes { #expect(KeyBytes.lastKey($0) == nil) } }
    }

    /// Long strings with the same first 200 bytes have no order.
    func sharePrefix(_ left: Value, _ right: Value) -> Bool {
        guard case .string(let left) = left, case .string(let right) = right else { return false }
        return left.utf8.count > 200 && right.utf8.count > 200
            && left.utf8.prefix(200).elementsEqual(right.utf8.prefix(200))
    }

    @Test func `No key is longer than a tree takes`() {
        let worst = bytes(.string(String(repeating: "\u{0}", count: 100_000)), optional: true)
        #expect(worst.count + 9 <= 512 && worst.count == 415)
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
        #expect(bytes(objectKey: 0) == [0x80, 0x01])
        #expect(bytes(objectKey: 0x123) == [0x90, 0x12, 0x32])
        #expect(bytes(objectKey: -1) == [0x7F, 0xF1])
        #expect(bytes(objectKey: .min) == [0x08, 0, 0, 0, 0, 0, 0, 0, 0x08])
        let long = bytes(.string(String(repeating: "x", count: 201)), optional: false)
        #expect(long.suffix(14) == [0, 1, 0x80, 0, 0, 201, 182, 49, 80, 13, 6, 243, 187, 167])
    }
}
