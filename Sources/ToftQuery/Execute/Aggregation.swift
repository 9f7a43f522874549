internal import ToftModel
internal import ToftStorage

/// One value of many, batch by batch. Null and NaN do not count; sums of integers wrap around.
struct Aggregation {
    private let operation: AggregateOperation
    private let type: ValueType
    private var count = 0
    private var intSum: Int64 = 0
    private var doubleSum = 0.0
    private var leastInt = Int64.max
    private var greatestInt = Int64.min
    private var leastDouble = Double.infinity
    private var greatestDouble = -Double.infinity
    private var leastDate = Timestamp.maximum
    private var greatestDate = Timestamp.minimum

    init(_ operation: AggregateOperation, of type: ValueType) {
        self.operation = operation
        self.type = type
    }

    mutating func add(_ vector: Vector, _ wanted: Mask) {
        let rows = wanted.subtracting(vector.nulls)
        switch vector.layout {
        case .int: addInts(vector.ints, rows)
        case .double: addDoubles(vector.doubles, rows)
        case .date: addDates(vector, rows)
        case .bool, .text: break
        }
    }

    private mutating func addInts(_ values: UnsafePointer<Int64>, _ mask: Mask) {
        count &+= mask.count
        var (sum, least, greatest) = (intSum, leastInt, greatestInt)
        for index in 0..<4 {
            let word = mask.word(index)
            let start = values + index * 64
            if word == .max {
                for row in 0..<64 {
                    sum &+= start[row]
                    least = min(least, start[row])
                    greatest = max(greatest, start[row])
                }
            } else {
                var rest = word
                while rest != 0 {
                    let value = start[rest.trailingZeroBitCount]
                    sum &+= value
                    least = min(least, value)
                    greatest = max(greatest, value)
                    rest &= rest &- 1
                }
            }
        }
        (intSum, leastInt, greatestInt) = (sum, least, greatest)
    }

    private mutating func addDoubles(_ values: UnsafePointer<Double>, _ mask: Mask) {
        var rows = mask.rows
        var (sum, least, greatest, seen) = (doubleSum, leastDouble, greatestDouble, count)
        while let row = rows.next() {
            let value = values[row]
            if value.isNaN { continue }
            seen &+= 1
            sum += value
            if value < least { least = value }
            if value > greatest { greatest = value }
        }
        (doubleSum, leastDouble, greatestDouble, count) = (sum, least, greatest, seen)
    }

    private mutating func addDates(_ vector: Vector, _ mask: Mask) {
        var rows = mask.rows
        while let row = rows.next() {
            let date = Timestamp(seconds: vector.ints[row], nanoseconds: vector.nanoseconds[row])
            count += 1
            leastDate = min(leastDate, date)
            greatestDate = max(greatestDate, date)
        }
    }

    /// Null where there was no value, except that their sum is 0.
    var result: Value {
        switch operation {
        case .sum: type == .int ? .int(intSum) : .double(doubleSum)
        case .average where count == 0: .null
        case .average: .double((type == .int ? Double(intSum) : doubleSum) / Double(count))
        case .minimum, .maximum: count == 0 ? .null : extreme(isLeast: operation == .minimum)
        }
    }

    private func extreme(isLeast: Bool) -> Value {
        switch type {
        case .int: .int(isLeast ? leastInt : greatestInt)
        case .float: .float(Float(isLeast ? leastDouble : greatestDouble))
        case .double: .double(isLeast ? leastDouble : greatestDouble)
        case .date: .date(isLeast ? leastDate : greatestDate)
        case .bool, .string, .data, .link: .null
        }
    }
}

extension Aggregation {
    /// Whether values of a type have such an aggregate: numbers have all, dates a least and a greatest.
    static func isPossible(_ operation: AggregateOperation, of type: ValueType) -> Bool {
        switch type {
        case .int, .float, .double: true
        case .date: operation == .minimum || operation == .maximum
        case .bool, .string, .data, .link: false
        }
    }
}
