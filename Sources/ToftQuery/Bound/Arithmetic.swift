internal import ToftModel

/// The rules of `+ - * /`: null with anything is null; so are division by zero and results beyond
/// 64 bits.
enum Arithmetic {
    /// Two constants; others than numbers give null.
    static func fold(_ operation: ArithmeticOperator, _ left: Constant, _ right: Constant)
        -> Constant
    {
        if case .int(let left) = left, case .int(let right) = right {
            return compute(operation, left, right).map { .int($0) } ?? .null
        }
        if let leftDecimal = left.decimal, let rightDecimal = right.decimal {
            switch (left, right) {
            case (.decimal, _), (_, .decimal):
                return compute(operation, leftDecimal, rightDecimal).map { .decimal($0) } ?? .null
            case (.written, .int), (.int, .written), (.written, .written):
                guard let decimal = compute(operation, leftDecimal, rightDecimal),
                    let left = left.number, let right = right.number,
                    let double = compute(operation, left, right)
                else { return .null }
                return .written(WrittenNumber(double: double, decimal: decimal))
            default: break
            }
        }
        guard let left = left.number, let right = right.number else { return .null }
        return compute(operation, left, right).map { .double($0) } ?? .null
    }

    @inline(__always)
    static func compute(_ operation: ArithmeticOperator, _ left: Int64, _ right: Int64) -> Int64? {
        let (result, hasOverflowed) =
            switch operation {
            case .add: left.addingReportingOverflow(right)
            case .subtract: left.subtractingReportingOverflow(right)
            case .multiply: left.multipliedReportingOverflow(by: right)
            case .divide: left.dividedReportingOverflow(by: right)
            }
        return hasOverflowed ? nil : result
    }

    static func compute(
        _ operation: ArithmeticOperator, _ left: Decimal128, _ right: Decimal128
    ) -> Decimal128? {
        switch operation {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: right.isZero ? nil : left / right
        }
    }

    @inline(__always)
    static func compute(_ operation: ArithmeticOperator, _ left: Double, _ right: Double) -> Double?
    {
        switch operation {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: right == 0 ? nil : left / right
        }
    }
}
