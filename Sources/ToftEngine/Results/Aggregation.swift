internal import ToftModel
internal import ToftStorage

/// What can be made of many values.
package enum Aggregate: Sendable {
    case minimum
    case maximum
    case sum
    case average
}

extension Aggregate {
    /// Whether values of a type have it.
    func exists(for type: PropertyType) -> Bool {
        switch type {
        case .int, .float, .double: true
        case .date: self == .minimum || self == .maximum
        case .bool, .string, .data, .link, .linkingObjects: false
        }
    }
}

/// Gathers numbers or dates. Null and NaN do not count.
struct Aggregation {
    private(set) var count = 0
    private var integers = IntegerTotal()
    private var numbers = NumberTotal()
    private var earliest: Timestamp?
    private var latest: Timestamp?

    private struct IntegerTotal {
        var sum: Int64 = 0
        /// For the average, which does not wrap around.
        var sumOfHalves = 0.0
        var least = Int64.max
        var greatest = Int64.min
    }

    private struct NumberTotal {
        var sum = 0.0
        var least = Double.infinity
        var greatest = -Double.infinity
    }

    @inline(__always)
    mutating func add(_ value: Int64) {
        count &+= 1
        integers.sum &+= value
        integers.sumOfHalves += Double(value)
        integers.least = min(integers.least, value)
        integers.greatest = max(integers.greatest, value)
    }

    @inline(__always)
    mutating func add(_ value: Double) {
        guard !value.isNaN else { return }
        count &+= 1
        numbers.sum += value
        numbers.least = min(numbers.least, value)
        numbers.greatest = max(numbers.greatest, value)
    }

    @inline(__always)
    mutating func add(_ value: Timestamp) {
        count &+= 1
        earliest = min(earliest ?? value, value)
        latest = max(latest ?? value, value)
    }

    mutating func add(_ cell: Cell) {
        switch cell {
        case .int64(let value): add(value)
        case .float32(let value): add(Double(value))
        case .float64(let value): add(value)
        case .timestamp(let value): add(value)
        case .null, .bool, .bytes: break
        }
    }

    mutating func add(_ value: Value) {
        switch value {
        case .int(let value): add(value)
        case .float(let value): add(Double(value))
        case .double(let value): add(value)
        case .date(let value): add(value)
        case .null, .bool, .string, .data, .link: break
        }
    }

    /// The aggregate of what was gathered, of values of a type that has it.
    func value(_ aggregate: Aggregate, of type: PropertyType) -> Value {
        switch aggregate {
        case .sum: type == .int ? .int(integers.sum) : .double(numbers.sum)
        case .average: count == 0 ? .null : .double((type == .int ? integers.sumOfHalves : numbers.sum) / Double(count))
        case .minimum: count == 0 ? .null : extreme(integers.least, numbers.least, earliest, type)
        case .maximum: count == 0 ? .null : extreme(integers.greatest, numbers.greatest, latest, type)
        }
    }

    private func extreme(_ integer: Int64, _ number: Double, _ date: Timestamp?, _ type: PropertyType) -> Value {
        switch type {
        case .int: .int(integer)
        case .float: .float(Float(number))
        case .double: .double(number)
        case .date: date.map { .date($0) } ?? .null
        case .bool, .string, .data, .link, .linkingObjects: .null
        }
    }
}

extension Aggregation {
    /// Gathers a column of rows of a cluster.
    mutating func add(_ rows: ClusterRows, of cluster: ClusterView, _ column: UInt32, _ type: PropertyType) throws(StorageError) {
        switch rows {
        case .range(let range): try add(each: range, of: cluster, column, type)
        case .places(let places): try add(each: places, of: cluster, column, type)
        }
    }

    private mutating func add(
        each rows: some RandomAccessCollection<Int>, of cluster: ClusterView, _ column: UInt32, _ type: PropertyType
    ) throws(StorageError) {
        let nulls = try cluster.nulls(column)
        switch type {
        case .int:
            let values = try cluster.int64s(column)
            for row in rows where !nulls.isNull(row) { add(values[row]) }
        case .float:
            let values = try cluster.float32s(column)
            for row in rows where !nulls.isNull(row) { add(Double(values[row])) }
        case .double:
            let values = try cluster.float64s(column)
            for row in rows where !nulls.isNull(row) { add(values[row]) }
        case .date:
            let values = try cluster.timestamps(column)
            for row in rows where !nulls.isNull(row) {
                add(Timestamp(seconds: values.seconds[row], nanoseconds: values.nanoseconds[row]))
            }
        case .bool, .string, .data, .link, .linkingObjects: break
        }
    }
}
