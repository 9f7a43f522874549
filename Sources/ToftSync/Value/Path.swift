/// One step of a path below an object.
package enum Step: Hashable, Sendable {
    case property(PropertyNumber)
    /// An element of a list: its label and its value.
    case element(MadeID)
    /// A member of a set, which is its own name.
    case member(SyncValue)
    /// An entry of a dictionary.
    case key(Text)
    /// The value of an element.
    case value
    /// The label of an element.
    case label
    /// An edit within a mixed value; names a note of the server, never what is there.
    case nested(CollectionID, Text?)
}

/// A place in a realm. One path is below another if that is a prefix of it.
package struct Path: Hashable, Sendable {
    package let object: ObjectID
    package var steps: [Step]

    package init(_ object: ObjectID, _ steps: [Step] = []) {
        self.object = object
        self.steps = steps
    }

    package init(_ object: ObjectID, _ property: PropertyNumber) {
        self.init(object, [.property(property)])
    }

    package static func + (path: Path, step: Step) -> Path {
        var path = path
        path.steps.append(step)
        return path
    }

    /// The path without its last step; the object for a path of one step.
    package var parent: Path { Path(object, steps.dropLast()) }

    package init(_ object: ObjectID, _ steps: ArraySlice<Step>) {
        self.init(object, Array(steps))
    }

    /// The element that the path ends with.
    package var element: MadeID? {
        if case .element(let id) = steps.last { id } else { nil }
    }
}
