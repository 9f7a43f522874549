/// A property and the value it is to get.
package struct Assignment {
    package var property: PropertyID
    package var value: BorrowedValue

    package init(_ property: PropertyID, _ value: BorrowedValue) {
        self.property = property
        self.value = value
    }
}

/// The behaviour of a creation whose primary key exists.
package enum UpdatePolicy: Sendable {
    /// It is an error.
    case error
    /// Sets every given property, also to the value that it has; a given list is emptied and filled
    /// again.
    case all
    /// Sets the given properties whose values differ; of a list, the elements that differ.
    case modified
}
