/// The lengths of an entry's parts, as a leaf stores them.
struct LeafForm: Equatable {
    let bits: UInt32

    @inline(__always)
    init(bits: Int) { self.bits = UInt32(truncatingIfNeeded: bits) }

    /// The form of a key without a value. `end`: own bytes behind the middle; nil if the key does
    /// not have it.
    @inline(__always)
    init(own: Int, end: Int?) {
        self.init(bits: own | (end.map { $0 &+ 1 } ?? 0) << OrderedLeafLayout.endShift)
    }

    /// The form of this key with a value.
    @inline(__always)
    func with(_ stored: UnsafeRawBufferPointer, isBlob: Bool) -> LeafForm {
        let length = isBlob ? OrderedLeafLayout.blobLength : stored.count
        let mask = OrderedLeafLayout.lengthMask << OrderedLeafLayout.valueShift
        return LeafForm(bits: Int(bits) & ~mask | length << OrderedLeafLayout.valueShift)
    }

    /// Bytes of the key besides the shared ones and the middle.
    @inline(__always)
    var own: Int { Int(bits) & OrderedLeafLayout.lengthMask }

    @inline(__always)
    var hasMiddle: Bool { bits >> UInt32(OrderedLeafLayout.endShift) != 0 }

    /// Own bytes behind the middle; 0 without one.
    @inline(__always)
    var end: Int { max(0, Int(bits) >> OrderedLeafLayout.endShift &- 1) }

    /// Own bytes before the middle; all without one.
    @inline(__always)
    var head: Int { own &- end }

    @inline(__always)
    var isBlob: Bool { storedLength == OrderedLeafLayout.blobLength }

    @inline(__always)
    private var storedLength: Int {
        Int(bits) >> OrderedLeafLayout.valueShift & OrderedLeafLayout.lengthMask
    }

    /// Bytes of the value, or of its reference.
    @inline(__always)
    var valueLength: Int { isBlob ? Ref.size : storedLength }

    /// Bytes in the heap.
    @inline(__always)
    var heapSize: Int { max(0, head &- OrderedLeafLayout.hintSize) &+ end &+ valueLength }

    /// The form in a leaf that shares `fewer` bytes less; nil if it can't be derived.
    @inline(__always)
    func sharing(fewer: Int) -> LeafForm? {
        guard head &+ fewer >= 0, own &+ fewer <= TreeLimits.key else { return nil }
        return LeafForm(bits: Int(bits) &+ fewer)
    }
}

/// The forms of a leaf, or those that a leaf is to have.
struct LeafForms {
    /// The leaf, or memory of `OrderedLeafLayout.slots` bytes.
    let base: UnsafeMutableRawPointer

    var count: Int { Self.count(in: base) }

    @inline(__always)
    static func count(in base: UnsafeRawPointer) -> Int {
        min(base.uint16(at: OrderedLeafLayout.formCount), OrderedLeafLayout.formLimit)
    }

    private static func offset(_ index: Int) -> Int {
        OrderedLeafLayout.forms &+ index &* OrderedLeafLayout.formSize
    }

    @inline(__always)
    static func form(_ index: Int, in base: UnsafeRawPointer) -> LeafForm {
        LeafForm(bits: base.uint32(at: offset(index)))
    }

    func removeAll() { base.storeUInt16(0, at: OrderedLeafLayout.formCount) }

    /// The index of a form, or the one that it would get: `formLimit` if there is no room for it.
    func place(of form: LeafForm) -> Int {
        let count = count
        for index in 0..<count where Self.form(index, in: base) == form { return index }
        return count
    }

    /// Bytes that an entry of such a form takes: slot and heap.
    @inline(__always)
    func size(of form: LeafForm, at place: Int) -> Int {
        OrderedLeafLayout.slotSize &+ form.heapSize
            &+ (place < OrderedLeafLayout.formLimit ? 0 : OrderedLeafLayout.formSize)
    }

    /// Adds a form at its index if there is room.
    @inline(__always)
    func add(_ form: LeafForm, at place: Int) {
        guard place == count, place < OrderedLeafLayout.formLimit else { return }
        base.storeUInt32(Int(form.bits), at: Self.offset(place))
        base.storeUInt16(place + 1, at: OrderedLeafLayout.formCount)
    }

    /// Takes over the forms of a leaf for one that shares `fewer` bytes less.
    func replaceAll(by other: UnsafeRawPointer, sharingFewer fewer: Int) {
        removeAll()
        for index in 0..<Self.count(in: other) {
            guard let form = Self.form(index, in: other).sharing(fewer: fewer) else { continue }
            add(form, at: count)
        }
    }
}
