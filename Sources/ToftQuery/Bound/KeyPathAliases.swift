package import ToftModel

/// Names that stand for paths in queries, class by class: `chief` for `boss.name`.
package struct KeyPathAliases: Sendable {
    private var paths: [ClassID: [String: String]] = [:]

    /// Aliases that may stand for one another on a path.
    static let substitutionLimit = 50

    package init() {}

    /// Whether no alias was ever made.
    package var isEmpty: Bool { paths.isEmpty }

    /// Makes `name` stand for a path in a class; nil takes it away.
    package mutating func set(_ name: String, of classID: ClassID, to path: String?) {
        paths[classID, default: [:]][name] = path
    }

    /// Whether a name stands for a path in a class.
    package func contains(_ name: String, of classID: ClassID) -> Bool {
        paths[classID]?[name] != nil
    }

    /// The names that stand for paths in a class.
    func names(of classID: ClassID) -> [String] { paths[classID].map { $0.keys.sorted() } ?? [] }

    /// What stands in the place of a name that is none of a property.
    func elements(for name: String, of classID: ClassID, at offset: Int) -> [PathSyntax.Element]? {
        paths[classID]?[name].map { path in
            PathSyntax.Element.Kind.parts(of: path).map { PathSyntax.Element($0, offset: offset) }
        }
    }
}
