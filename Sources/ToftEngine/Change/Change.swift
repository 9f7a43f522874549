package import ToftModel

/// The change of a list or of results between two versions.
///
/// To replay it on a copy of the old contents, remove `deletions` from the back, insert the new
/// rows at `insertions` from the front, and read the rows at `modificationsNew` again.
package struct CollectionChange: Sendable, Equatable {
    /// An element that changed its place; both ends are also among the deletions and the
    /// insertions.
    package struct Move: Sendable, Hashable {
        package let from: Int
        package let to: Int

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// Indices in the old contents.
    package var deletions = IndexRanges()
    /// Indices in the new contents.
    package var insertions = IndexRanges()
    /// Rows that stayed and changed: indices in the old contents.
    package var modifications = IndexRanges()
    /// `modifications` as indices in the new contents.
    package var modificationsNew = IndexRanges()
    /// Lists only, by their new place: results report a deletion and an insertion.
    package var moves: [Move] = []
    /// The keys of the listed entries, for a dictionary.
    package var keys: KeyChange?
    /// The list was cleared and has stayed empty.
    var isCleared = false
    /// The collection's owner was deleted; no further change will come.
    var isRootDeleted = false

    package init() {}

    /// True if no observer would be notified.
    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && moves.isEmpty
            && !isCleared && !isRootDeleted
    }
}

/// The keys of a dictionary that were inserted, deleted, or had their value changed; ascending.
package struct KeyChange: Sendable, Equatable {
    package var deletions: [String] = []
    package var insertions: [String] = []
    package var modifications: [String] = []
}

/// The change of one object between two versions.
package struct ObjectChange: Sendable, Equatable {
    /// Ids of the properties that were set (to the same value, too) or whose list was edited,
    /// ascending.
    package var properties: [PropertyID] = []
    /// Their previous values, by id; lists are not among them.
    package var oldValues: [PropertyID: Value] = [:]
    /// The object is deleted; no further change will come.
    package var isDeleted = false

    package init() {}

    package var isEmpty: Bool { properties.isEmpty && !isDeleted }
}
