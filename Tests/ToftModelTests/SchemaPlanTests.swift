// Tests: ToftModel/Schema.swift, SchemaPlan.swift, StoredSchema.swift,
// StoredSchema+Restriction.swift
import Testing
import ToftStorage
@testable import ToftModel

@Suite struct SchemaPlanTests {
    static let people = Schema([
        ClassSchema(
            "Person",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("name", .string, isIndexed: true),
                PropertySchema("age", .int, isOptional: true),
                PropertySchema("scores", .double, collection: .list), .link("dog", to: "Dog"),
            ]),
        ClassSchema(
            "Dog",
            [PropertySchema("name", .string), .linkingObjects("owners", from: "Person", "dog")]),
    ])

    /// The file's content after the plan: with trees as a transaction would give them.
    static func carriedOut(_ plan: SchemaPlan) -> StoredSchema {
        var schema = plan.target, tree: TreeID = 100
        let next = { () -> TreeID in
            tree.rawValue += 1; return tree
        }
        for index in schema.classes.indices {
            if schema.classes[index].table == 0 { schema.classes[index].table = next() }
            if schema.classes[index].primaryKeyID != nil {
                schema.classes[index].primaryKeyTree = next()
            }
            for place in schema.classes[index].properties.indices
            where schema.classes[index].properties[place].type == .link {
                schema.classes[index].properties[place].backlinkTree = next()
            }
        }
        for case .createIndex(let id, let property) in plan.changes {
            guard let index = schema.classIndex(id: id),
                let place = schema.classes[index].propertyIndex(id: property)
            else { continue }
            schema.classes[index].properties[place].indexTree = next()
        }
        return schema
    }

    static func stored(_ schema: Schema = people, version: UInt64 = 3) throws -> StoredSchema {
        carriedOut(try StoredSchema().plan(for: schema, version: version))
    }

    func changed(_ edit: (inout Schema) -> Void) -> Schema {
        var schema = Self.people
        edit(&schema)
        return schema
    }

    func differences(_ edit: (inout Schema) -> Void) throws -> [String] {
        let stored = try Self.stored()
        do {
            _ = try stored.plan(for: changed(edit), version: 4)
            return []
        } catch {
            guard case .schemaMismatch(let found) = error else { throw error }
            return found.map(\.description)
        }
    }

    @Test func `An empty file gets every class`() throws {
        let plan = try StoredSchema().plan(for: Self.people, version: 3)
        #expect(
            plan.changes == [
                .createTable(1), .createTable(2), .createIndex(1, 2), .createBacklinks(1, 5),
                .updateClass(2), .setVersion(3),
            ])
        #expect(plan.target.storedClass(named: "Person")?.primaryKeyID == 1)
        #expect(
            plan.target.storedClass(named: "Dog")?.property(named: "owners")?.originPropertyID == 5)
    }

    @Test func `The same schema needs nothing`() throws {
        #expect(try Self.stored().plan(for: Self.people, version: 3).isEmpty)
    }

    @Test func `A lower version than the files is an error and a higher one is stored`() throws {
        let stored = try Self.stored()
        #expect(throws: ModelError.schemaVersionTooLow(stored: 3, given: 2)) {
            _ = try stored.plan(for: Self.people, version: 2)
        }
        #expect(try stored.plan(for: Self.people, version: 9).changes == [.setVersion(9)])
    }

    @Test func `Classes properties and indexes are added without a version change`() throws {
        let plan = try Self.stored().plan(
            for: changed {
                $0.classes.append(ClassSchema("Cat", [.link("owner", to: "Person")]))
                $0.classes[1].properties += [
                    PropertySchema("age", .int, isIndexed: true), .links("friends", to: "Cat"),
                ]
                $0.classes[0].properties[2].isIndexed = true
                $0.classes[0].properties.append(.linkingObjects("cats", from: "Cat", "owner"))
            }, version: 3)
        #expect(
            plan.changes == [
                .createTable(3), .createIndex(1, 3), .addColumn(2, 3), .createIndex(2, 3),
                .addColumn(2, 4), .createBacklinks(2, 4),
                .createBacklinks(3, 1), .updateClass(1),
            ])
    }

    @Test func `A subset of the schema is fine and changes nothing`() throws {
        let stored = try Self.stored()
        let subset = changed {
            $0.classes[0].properties.removeAll { ["age", "dog"].contains($0.name) }
            $0.classes.remove(at: 1)
        }
        #expect(try stored.plan(for: subset, version: 3).isEmpty)
        let seen = stored.restricted(to: subset)
        #expect(seen.visibleClasses.map(\.name) == ["Person"])
        #expect(
            seen.storedClass(named: "Person")?.visibleProperties.map(\.name) == [
                "id", "name", "scores",
            ])
        #expect(seen.storedClass(named: "Person")?.property(named: "age") == nil)
    }

    @Test func `What a higher version drops is hidden and comes back under its old id`() throws {
        let stored = try Self.stored()
        let dropped = changed { $0.classes[0].properties.remove(at: 2) }
        let plan = try stored.plan(for: dropped, version: 4)
        #expect(plan.changes == [.updateClass(1), .setVersion(4)])
        let after = Self.carriedOut(plan)
        #expect(after.storedClass(named: "Person")?.property(id: 3)?.isHidden == true)
        let back = try after.plan(for: Self.people, version: 4)
        #expect(back.changes == [.updateClass(1)])
        #expect(back.target.storedClass(named: "Person")?.property(named: "age")?.id == 3)
    }

    @Test func `An index that is no longer declared is dropped`() throws {
        let stored = try Self.stored()
        let tree = try #require(
            stored.storedClass(named: "Person")?.property(named: "name")?.indexTree)
        let plan = try stored.plan(
            for: changed { $0.classes[0].properties[1].isIndexed = false }, version: 3)
        #expect(plan.changes == [.dropIndex(1, 2, tree: tree)])
        #expect(
            plan.target.storedClass(named: "Person")?.property(named: "name")?.isIndexed == false)
    }

    @Test func `An inverse link may follow another link`() throws {
        let plan = try Self.stored().plan(
            for: changed {
                $0.classes[0].properties.append(.links("dogs", to: "Dog"))
                $0.classes[1].properties[1].origin = "dogs"
            }, version: 3)
        #expect(plan.changes == [.addColumn(1, 6), .createBacklinks(1, 6), .updateClass(2)])
        #expect(
            plan.target.storedClass(named: "Dog")?.property(named: "owners")?.originPropertyID == 6)
    }

    @Test func `Every difference that opening does not change is named whatever the version`()
        throws
    {
        let found = try differences {
            $0.classes[0].properties[0].isPrimaryKey = false
            $0.classes[0].properties[1].type = .data
            $0.classes[0].properties[1].isIndexed = false
            $0.classes[0].properties[2].isOptional = false
            $0.classes[0].properties[3].collection = .none
            $0.classes[0].properties[4].target = "Person"
            $0.classes[1].properties[0].isPrimaryKey = true
            $0.classes[1].properties[1] = PropertySchema("owners", .int)
        }
        #expect(
            found == [
                "property 'Person.name' is string in the file and data in the declared schema",
                "property 'Person.age' is optional int in the file and int in the declared "
                    + "schema; the file may hold null there. Declare it optional, or add "
                    + "a required property under another name and copy the values",
                "property 'Person.scores' is list of double in the file and double in the "
                    + "declared schema",
                "property 'Person.dog' is link to 'Dog' in the file and link to 'Person' in the "
                    + "declared schema",
                "class 'Person' has the primary key 'id' in the file and no primary key in the "
                    + "declared schema",
                "property 'Dog.owners' is inverse link in the file and int in the declared schema",
                "class 'Dog' has no primary key in the file and the primary key 'name' in the "
                    + "declared schema",
            ])
    }

    @Test func `A stored name lets the property be called otherwise`() throws {
        let renamed = changed {
            $0.classes[0].name = "Human"
            $0.classes[0].properties[1].name = "fullName"
            $0.classes[1].properties[1].target = "Human"
        }
        let stored = try Self.stored()
        #expect(try stored.plan(for: renamed, version: 3).isEmpty)
        let seen = stored.restricted(to: renamed)
        #expect(
            seen.storedClass(named: "Human")?.property(named: "fullName")?.persistedName == "name")
        #expect(seen.storedClass(named: "Person") == nil)
    }
}
