#if _endian(big)
#error("Arrays of integers are read where they lie: the format needs a little-endian processor.")
#endif

/// Explicit little-endian loads and stores at byte offsets. The caller has established that the
/// bytes exist.
extension UnsafeRawPointer {
    @inline(__always) func uint8(at offset: Int) -> Int {
        Int(load(fromByteOffset: offset, as: UInt8.self))
    }

    @inline(__always) func uint16(at offset: Int) -> Int {
        Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    @inline(__always) func uint32(at offset: Int) -> Int {
        Int(UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    @inline(__always) func uint64(at offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The number of a page, a version, a tree, or a position in the log: the kind that the caller
    /// expects.
    @inline(__always) func uint64<Number: Identifier>(at offset: Int) -> Number {
        Number(uint64(at: offset))
    }

    @inline(__always) func int64(at offset: Int) -> Int64 {
        Int64(bitPattern: uint64(at: offset))
    }

    /// `width` bytes, 16 or 12, in their own order.
    @inline(__always) func fixed(at offset: Int, width: Int) -> FixedBytes {
        let high = UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        if width == 16 {
            let low = loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self)
            return FixedBytes(high: high, low: UInt64(bigEndian: low))
        }
        let low = loadUnaligned(fromByteOffset: offset &+ 8, as: UInt32.self)
        return FixedBytes(high: high, low: UInt64(UInt32(bigEndian: low)) << 32)
    }
}

extension UnsafeMutableRawPointer {
    /// The pointer to the same bytes, for reading.
    @inline(__always) var reading: UnsafeRawPointer { UnsafeRawPointer(self) }

    @inline(__always) func storeUInt8(_ value: Int, at offset: Int) {
        storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: offset, as: UInt8.self)
    }

    @inline(__always) func storeUInt16(_ value: Int, at offset: Int) {
        storeBytes(
            of: UInt16(truncatingIfNeeded: value).littleEndian, toByteOffset: offset,
            as: UInt16.self)
    }

    @inline(__always) func storeUInt32(_ value: Int, at offset: Int) {
        storeBytes(
            of: UInt32(truncatingIfNeeded: value).littleEndian, toByteOffset: offset,
            as: UInt32.self)
    }

    @inline(__always) func storeUInt64(_ value: UInt64, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }

    @inline(__always) func storeUInt64(_ number: some Identifier, at offset: Int) {
        storeUInt64(number.rawValue, at: offset)
    }

    @inline(__always) func storeInt64(_ value: Int64, at offset: Int) {
        storeUInt64(UInt64(bitPattern: value), at: offset)
    }

    /// Writes `width` bytes, 16 or 12.
    @inline(__always) func storeFixed(_ value: FixedBytes, width: Int, at offset: Int) {
        storeBytes(of: value.high.bigEndian, toByteOffset: offset, as: UInt64.self)
        if width == 16 {
            storeBytes(of: value.low.bigEndian, toByteOffset: offset &+ 8, as: UInt64.self)
        } else {
            let low = UInt32(truncatingIfNeeded: value.low >> 32)
            storeBytes(of: low.bigEndian, toByteOffset: offset &+ 8, as: UInt32.self)
        }
    }

    // The three below are deliberately calls of their own. If a throwing function ends with a move
    // of memory, Swift 6.3's optimiser makes it a jump to `memmove` that does not restore the
    // register of the error: the caller sees an error that nobody threw.
    // `Tests/check_tail_copies.py` searches the built code for such functions.

    /// Copies bytes to `offset`; source and destination may overlap.
    @inline(never) func store(_ source: UnsafeRawPointer, count: Int, at offset: Int) {
        advanced(by: offset).copyMemory(from: source, byteCount: count)
    }

    /// Moves `count` bytes inside the same memory.
    @inline(never) func move(from source: Int, to destination: Int, count: Int) {
        advanced(by: destination).copyMemory(from: advanced(by: source), byteCount: count)
    }

    /// Fills `count` bytes with zeros.
    @inline(never) func clear(at offset: Int, count: Int) {
        advanced(by: offset).initializeMemory(as: UInt8.self, repeating: 0, count: count)
    }
}
