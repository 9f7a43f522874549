package import ToftEngine
package import ToftModel

/// A schema for people.
package enum SchemaText {
    /// A class, its objects' number, and its properties with their types, in lines.
    package static func lines(of owner: ClassHandle, in session: Session) throws(EngineError)
        -> [String]
    {
        var lines = [
            "\(owner.name)  (\(try session.count(of: owner.id)) objects)"
                + (owner.isEmbedded ? ", embedded" : "")
        ]
        let width = owner.visibleProperties.map(\.name.count).max() ?? 0
        for property in owner.visibleProperties {
            let marks =
                (property.isPrimaryKey ? ", primary key" : "")
                + (property.isAutoIncremented ? ", auto-increment" : "")
                + (property.deleteRule == .nullify ? "" : ", \(property.deleteRule)")
                + (property.isIndexed && !property.isPrimaryKey ? ", indexed" : "")
            let blanks = String(repeating: " ", count: max(0, width - property.name.count))
            lines.append("    \(property.name)\(blanks)  \(property.typeName)\(marks)")
        }
        for unique in owner.uniques {
            lines.append("    unique: \(unique.properties.map(\.name).joined(separator: ", "))")
        }
        return lines
    }

    /// The classes and the numbers of their objects, as rows.
    package static func classes(of session: Session) throws(EngineError) -> ValueRows {
        var rows: [[JSONValue]] = []
        for owner in session.schema.visibleClasses {
            rows.append([
                .text(owner.name), .integer(Int64(try session.count(of: owner.id))),
                owner.primaryKey.map { .text($0.name) } ?? .null, .bool(owner.isEmbedded),
            ])
        }
        return ValueRows(
            [
                PrintedColumn("class"), PrintedColumn("objects", isNumber: true),
                PrintedColumn("primaryKey"), PrintedColumn("embedded"),
            ], rows)
    }

    /// Primary keys, indexes and unique constraints, as rows.
    package static func indexes(of session: Session) -> ValueRows {
        var rows: [[JSONValue]] = []
        for owner in session.schema.visibleClasses {
            for property in owner.visibleProperties
            where property.isPrimaryKey || property.isIndexed {
                rows.append([
                    .text(owner.name), .text(property.name),
                    .text(property.isPrimaryKey ? "primary key" : "index"),
                ])
            }
            for unique in owner.uniques {
                rows.append([
                    .text(owner.name),
                    .text(unique.properties.map(\.name).joined(separator: ", ")), .text("unique"),
                ])
            }
        }
        return ValueRows(
            [PrintedColumn("class"), PrintedColumn("properties"), PrintedColumn("kind")], rows)
    }
}
