package import ToftStorage

extension Cell {
    /// Whether this cell comes before another of the same property: null first, false before true,
    /// NaN before all numbers, text and bytes by their bytes, links by their targets' keys.
    /// - Parameter type: the property's type; decimals are compared as numbers, mixed values as
    ///   `MixedValue.order` says.
    package func isBefore(_ other: Cell, of type: PropertyType) -> Bool {
        switch (self, other) {
        case (_, .null): false
        case (.null, _): true
        case (.bool(let left), .bool(let right)): !left && right
        case (.int64(let left), .int64(let right)): left < right
        case (.float32(let left), .float32(let right)):
            left < right || (left.isNaN && !right.isNaN)
        case (.float64(let left), .float64(let right)):
            left < right || (left.isNaN && !right.isNaN)
        case (.timestamp(let left), .timestamp(let right)): left < right
        case (.bytes, .bytes) where type == .mixed: MixedValue.order(self, other) < 0
        case (.bytes(let left), .bytes(let right)): left.isBefore(right)
        case (.fixed(let left), .fixed(let right)) where type == .decimal128:
            Decimal128(stored: left) < Decimal128(stored: right)
        case (.fixed(let left), .fixed(let right)): left < right
        default: false
        }
    }
}
