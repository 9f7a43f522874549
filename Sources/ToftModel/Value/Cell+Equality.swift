package import ToftStorage

extension Cell {
    /// Whether two cells of one property are equal as values: NaN equals NaN, -0.0 equals 0.0.
    package func isEqual(to other: Cell) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int64(let left), .int64(let right)): left == right
        case (.float32(let left), .float32(let right)): left == right || (left.isNaN && right.isNaN)
        case (.float64(let left), .float64(let right)): left == right || (left.isNaN && right.isNaN)
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left.isSame(as: right)
        case (.fixed(let left), .fixed(let right)): left == right
        default: false
        }
    }

    /// Whether two cells of one property hold the same bits.
    func isIdentical(to other: Cell) -> Bool {
        switch (self, other) {
        case (.float32(let left), .float32(let right)): left.bitPattern == right.bitPattern
        case (.float64(let left), .float64(let right)): left.bitPattern == right.bitPattern
        default: isEqual(to: other)
        }
    }
}
