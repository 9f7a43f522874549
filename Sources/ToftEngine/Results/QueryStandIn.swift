package import ToftModel
internal import ToftQuery
enum QueryBase { case all; case keys([Int64]) }
struct BoundQuery: Sendable { var dependencies: [Dep] = []; var hasOrderings: Bool { false }
 struct Dep { var steps: [Step]; var property: PropertyRef }
 struct Step { var property: PropertyRef }
 struct PropertyRef { var classID: ClassID; var propertyID: PropertyID }
 func appending(_ q: BoundQuery) -> BoundQuery { q }
 static func parse(_ q: String, arguments: [QueryArgument], className: String, schema: StoredSchema) throws(QueryError) -> BoundQuery { BoundQuery() }
 init() {}
 init(_ q: QuerySyntax, arguments: [QueryArgument] = [], className: String, schema: StoredSchema) throws(QueryError) {}
 func keys(in: ModelView, of: QueryBase = .all) throws(ModelError) -> [Int64] { [] }
}
package enum QueryArgument: Sendable { case value(Value); case list([Value]) }
