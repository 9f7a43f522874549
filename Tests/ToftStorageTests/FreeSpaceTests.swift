import Testing

@testable import ToftStorage

@Suite struct FreeSpaceTests {
    @Test func aRunIsPinnedByAVersionWithinItsLifetimeAndByNoOther() {
        #expect(FreeSpace.isPinned(birth: 5, death: 9, by: [5]))
        #expect(FreeSpace.isPinned(birth: 5, death: 9, by: [1, 8, 20]))
        #expect(!FreeSpace.isPinned(birth: 5, death: 9, by: [4, 9]))
        #expect(!FreeSpace.isPinned(birth: 5, death: 9, by: []))
    }

    @Test func aBitmapGivesTheLowestRunAndTakesItBack() {
        let bitmap = Bitmap()
        func take(_ count: Int) -> Int? {
            guard let start = bitmap.run(of: count, below: Page.perRegion) else { return nil }
            return bitmap.take(start, count: count) ? start : nil
        }
        #expect(take(3) == 0)
        #expect(take(1) == 3)
        #expect(take(100) == 4)
        #expect(bitmap.release(1, count: 2))
        #expect(!bitmap.release(1, count: 1), "a page that is free cannot be given back")
        #expect(bitmap.hole(of: 1, shorterThan: 12, below: Page.perRegion) == 1)
        #expect(bitmap.hole(of: 3, shorterThan: 12, below: Page.perRegion) == nil, "what is left is no hole")
        #expect(take(3) == 104)
        #expect(take(2) == 1)
        #expect(bitmap.freePages == Page.perRegion - 107)
    }

    @Test func aBitmapAgreesWithAnArrayOfBooleans() {
        var random = SplitMix(seed: 42)
        let bitmap = Bitmap()
        var model = [Bool](repeating: false, count: Page.perRegion)
        var held: [(Int, Int)] = []
        for _ in 0..<4000 {
            if random.next() % 3 == 0, let index = held.indices.randomElement(using: &random) {
                let (start, count) = held.remove(at: index)
                #expect(bitmap.release(start, count: count))
                for page in start..<(start + count) { model[page] = false }
            } else {
                let count = Int(random.next() % 20) + 1
                var expected: Int?
                var run = 0
                for page in model.indices {
                    run = model[page] ? 0 : run + 1
                    if run == count {
                        expected = page - count + 1
                        break
                    }
                }
                let start = bitmap.run(of: count, below: Page.perRegion)
                #expect(start == expected)
                guard let start else { continue }
                #expect(bitmap.take(start, count: count))
                for page in start..<(start + count) { model[page] = true }
                held.append((start, count))
            }
        }
        #expect(bitmap.freePages == model.lazy.filter { !$0 }.count)
    }

    @Test func aNewFileIsSoundBeforeItHasAnyTree() throws {
        let file = MemoryFile(name: "new")
        try Recovery.format(file)
        let meta = try #require(try MetaPage.newest(fromDevice: false, of: file)?.meta)
        #expect(meta.version == 1)
        #expect(meta.isClosedCleanly)
        let space = PageSpace(file: file, sections: Sections(file: file), version: 1)
        let root = try Root(reading: meta.root, in: space)
        #expect(root.catalog.isEmpty)
        #expect(try FreeSpaceReader.regions(root.directory, in: space).map(\.freePages) == [Page.perRegion - 4])
    }
}

/// A small generator with a seed (Sebastiano Vigna's SplitMix64).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
