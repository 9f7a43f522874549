package import ToftModel

/// A query that is parsed once, to be bound to classes and arguments any number of times. Any
/// thread.
package struct PreparedQuery: Sendable {
    package let text: String
    /// Nil where the text has a hyphen: whether that subtracts depends on the names of a schema.
    private let syntax: QuerySyntax?

    package init(_ text: String) throws(QueryError) {
        self.text = text
        syntax =
            text.utf8.contains(UInt8(ascii: "-"))
            ? nil : try Parser.parse(text, hyphenatedNames: [])
    }

    /// The query of a class of this name.
    package func bound(
        to className: String, arguments: [QueryArgument], schema: StoredSchema
    ) throws(QueryError) -> BoundQuery {
        guard let syntax else {
            return try BoundQuery.parse(
                text, arguments: arguments, className: className, schema: schema)
        }
        return try BoundQuery(syntax, arguments: arguments, className: className, schema: schema)
    }
}
