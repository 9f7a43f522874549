package import ToftModel

/// Names for paths in queries, class by class: `chief` for `boss.name`.
package struct KeyPathAliases: Sendable {
    private var paths: [ClassID: [String: String]] = [:]

    /// Most aliases that are expanded on one path.
    static let substitutionLimit = 50

    package init() {}

    /// Whether no alias was ever made.
    package var isEmpty: Bool { paths.isEmpty }

    /// Makes `name` an alias of a path in a class; nil removes it.
    package mutating func set(_ name: String, of classID: ClassID, to path: String?) {
        paths[classID, default: [:]][name] = path
    }

    /// True if a name is an alias in a class.
    package func contains(_ name: String, of classID: ClassID) -> Bool {
        paths[classID]?[name] != nil
    }

    /// The aliases of a class.
    func names(of classID: ClassID) -> [String] { paths[classID].map { $0.keys.sorted() } ?? [] }

    /// The elements of an alias; nil for other names.
    func elements(for name: String, of classID: ClassID, at offset: Int) -> [PathSyntax.Element]? {
        paths[classID]?[name].map { path in
            PathSyntax.Element.Kind.parts(of: path).map { PathSyntax.Element($0, offset: offset) }
        }
    }
}
