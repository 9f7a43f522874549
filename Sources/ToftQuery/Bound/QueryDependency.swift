package import ToftModel

/// A dependency of a query's answer: a property of the objects at the end of a path.
package struct QueryDependency: Hashable, Sendable {
    /// From the queried object to the one whose property is read.
    package var steps: [PathStep]
    /// The property that is read there; for a collection its membership.
    package var property: PropertyRef
    /// The property is read of other objects than that one: of those that link to it, or of the one
    /// that is looked up by its primary key.
    var isOfOthers: Bool

    init(steps: [PathStep], property: PropertyRef, isOfOthers: Bool = false) {
        self.steps = steps
        self.property = property
        self.isOfOthers = isOfOthers
    }
}
