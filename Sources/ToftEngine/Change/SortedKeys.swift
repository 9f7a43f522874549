extension [Int64] {
    /// The index of a key in ascending keys; nil if it is missing.
    func binarySearch(_ key: Int64) -> Int? {
        let index = lowerBound(of: key)
        return index < count && self[index] == key ? index : nil
    }

    /// The index of the first key that is not below a key, in ascending keys.
    func lowerBound(of key: Int64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
