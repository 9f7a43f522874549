package import ToftQuery

/// A statement of the shell, as it was parsed.
package enum Statement {
    case question(Question)
    /// How a question is answered, in place of the answer.
    case explain(Question)
    case create(Creation)
    case set(Change)
    case delete(Selection)
    case begin
    case commit
    case cancel
    /// Takes the last change back.
    case undo
}

/// A name, and its place in the statement.
package struct NamedPlace: Sendable {
    package var name: String
    package var place: StatementPlace
}

/// Objects of a class, and the part of them that is asked for.
package struct Question: Sendable {
    package var owner: NamedPlace
    /// The condition and the order. Nil: all objects.
    package var query: QuerySyntax?
    package var answer = Answer.objects([])

    /// The part of the objects that is asked for.
    package enum Answer: Sendable {
        /// Columns; empty for all properties.
        case objects([StatementReader.Path])
        case count
        case groups(GroupSyntax)
    }
}

/// Groups of objects, or aggregates over all of them.
package struct GroupSyntax: Sendable {
    /// Without keys all objects are one group.
    package var keys: [StatementReader.Path] = []
    /// The columns behind the keys.
    package var values: [GroupColumn] = []
    /// Alternatives of conditions that hold together. Empty: no condition.
    package var having: [[GroupCondition]] = []
    /// Columns to sort by, the first being the most significant.
    package var sort: [(column: GroupColumn, isAscending: Bool)] = []
    package var offset = 0
    package var limit: Int?
    /// Columns that only `having` and `sort` read, behind `values`.
    package var hidden: [GroupColumn] = []
}

/// A column of groups.
package enum GroupColumn: Sendable, Equatable {
    case key(Int)
    case count
    case aggregate(AggregateName, of: StatementReader.Path)

    package static func == (left: GroupColumn, right: GroupColumn) -> Bool {
        switch (left, right) {
        case (.key(let left), .key(let right)): left == right
        case (.count, .count): true
        case (.aggregate(let name, let path), .aggregate(let other, let otherPath)):
            name == other && path.text == otherPath.text
        default: false
        }
    }

    /// The heading.
    package func title(_ keys: [StatementReader.Path]) -> String {
        switch self {
        case .key(let index): index < keys.count ? keys[index].text : ""
        case .count: "count"
        case .aggregate(let name, let path): "\(name.rawValue)(\(path.text))"
        }
    }
}

package enum AggregateName: String, Sendable, CaseIterable {
    case sum, avg, min, max
}

/// A comparison of a column of groups with a constant.
package struct GroupCondition: Sendable {
    package var column: GroupColumn
    package var comparator: Comparator
    package var value: StatementReader.Written
    package var place: StatementPlace
}

/// An object to make, as JSON.
package struct Creation: Sendable {
    package var owner: NamedPlace
    package var json: [UInt8]
    /// The place of the JSON.
    package var place: StatementPlace
}

/// The objects that a statement changes.
package struct Selection: Sendable {
    package var owner: NamedPlace
    package var objects: Objects

    package enum Objects: Sendable {
        case query(QuerySyntax)
        /// The object whose primary key, named here, has a value.
        case key(NamedPlace, StatementReader.Written)
    }
}

/// Properties of some objects and the values that they get.
package struct Change: Sendable {
    package var selection: Selection
    package var assignments: [Assigned]

    package struct Assigned: Sendable {
        package var property: NamedPlace
        package var value: StatementReader.Written
        package var valuePlace: StatementPlace
    }
}
