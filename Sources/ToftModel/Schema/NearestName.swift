/// The name that a mistyped one may be.
package enum NearestName {
    /// "Did you mean", for a name that differs in case or in a letter or two.
    package static func hint(for name: String, among candidates: [String]) -> String? {
        // Of those that are as near, one that begins alike.
        let near = candidates.min {
            let (first, second) = (distance($0, name), distance($1, name))
            return first != second
                ? first < second : $0.first == name.first && $1.first != name.first
        }
        let length = name.utf8.count
        guard let near, distance(near, name) <= min(max(1, length / 4), length - 1) else {
            return nil
        }
        return "Did you mean '\(near)'?"
    }

    /// Number of letters to insert, delete, change or exchange with the next, ignoring case; long
    /// names count up to a limit.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased().utf8)
        let right = Array(right.lowercased().utf8)
        guard left.count <= 64, right.count <= 64 else { return .max }
        var (before, above) = ([Int](), Array(0...right.count))
        for (index, byte) in left.enumerated() {
            var row = [index + 1]
            for (column, other) in right.enumerated() {
                var least = min(above[column] + (byte == other ? 0 : 1), above[column + 1] + 1)
                if index > 0, column > 0, byte == right[column - 1], left[index - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                row.append(min(least, row[column] + 1))
            }
            (before, above) = (above, row)
        }
        return above[right.count]
    }
}
