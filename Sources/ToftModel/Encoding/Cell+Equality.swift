package import ToftStorage

extension Cell {
    /// Whether two cells of one property are equal as values: NaN equals NaN, -0.0 equals 0.0;
    /// decimals also have the same digits.
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

    /// Compares cells of a type: necessary for decimals, as 1.0 equals 1.00, and for mixed values.
    package func isEqual(to other: Cell, of type: PropertyType) -> Bool {
        if type == .mixed, case .bytes = self, case .bytes = other {
            return MixedValue.order(self, other) == 0
        }
        if type == .decimal128, case .fixed(let left) = self, case .fixed(let right) = other {
            return Decimal128(stored: left) == Decimal128(stored: right)
        }
        return isEqual(to: other)
    }

    /// Whether two cells of one property of a type hold the same bits; collections within mixed
    /// values may have other ids.
    func isIdentical(to other: Cell, of type: PropertyType) -> Bool {
        if type == .mixed, case .bytes(let left) = self, case .bytes(let right) = other {
            return MixedFormat.isIdentical(left, right)
        }
        return isIdentical(to: other)
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
