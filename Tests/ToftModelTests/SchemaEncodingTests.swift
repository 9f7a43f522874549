// Tests: SchemaEncoding.swift, SchemaBytes.swift
import Testing
import ToftStorage
@testable import ToftModel

@Suite struct SchemaEncodingTests {
    func decoded(_ schema: StoredSchema) throws -> StoredSchema {
        var read = try StoredSchema(decodingHeader: schema.encodedHeader())
        for stored in schema.classes {
            read.classes.append(try StoredClass(decoding: stored.encoded()))
        }
        try read.validate()
        return read
    }

    @Test func `A schema reads back as it was written`() throws {
        var schema = try SchemaPlanTests.stored()
        schema.generation = 77
        schema.classes[0].properties[2].isHidden = true
        schema.classes[1].isHidden = true
        #expect(try decoded(schema) == schema)
    }

    @Test func `Fields of a later version are skipped`() throws {
        let schema = try SchemaPlanTests.stored()
        #expect(
            try StoredClass(decoding: schema.classes[0].encoded() + [1, 2, 3]) == schema.classes[0])
        #expect(
            try StoredSchema(decodingHeader: schema.encodedHeader() + [9]).nextClassID
                == schema.nextClassID)
    }

    @Test func `A record that ends early is an error`() throws {
        let record = try SchemaPlanTests.stored().classes[0].encoded()
        for length in record.indices {
            #expect(throws: ModelError.self) { try StoredClass(decoding: Array(record[..<length])) }
        }
    }

    @Test func `No byte of a record makes the reader trap`() throws {
        let schema = try SchemaPlanTests.stored()
        for position in schema.classes[0].encoded().indices {
            for value in [UInt8.min, 1, 0x7F, 0x80, .max] {
                var record = schema.classes[0].encoded()
                record[position] = value
                guard let changed = try? StoredClass(decoding: record) else { continue }
                var damaged = schema
                damaged.classes[0] = changed
                _ = try? damaged.validate()
            }
        }
    }

    @Test func `Types of a later version are named`() throws {
        var writer = SchemaWriter()
        writer.put(SchemaEncoding.encodingVersion)
        writer.put(UInt8(2))
        writer.put(UInt32(1))
        writer.put(UInt32(0))
        writer.put("Address")
        #expect(throws: ModelError.unsupportedSchema("class 'Address' is of kind asymmetric")) {
            try StoredClass(decoding: writer.bytes)
        }
        var record = try SchemaPlanTests.stored().classes[1].encoded()
        let type = try #require(record.firstIndex(of: PropertyType.string.rawValue))
        record[type] = 14
        #expect(throws: ModelError.unsupportedSchema("property 'Dog.name' is of type 14")) {
            try StoredClass(decoding: record)
        }
    }

    @Test func `Contradictions between records are found`() throws {
        func reason(_ edit: (inout StoredSchema) -> Void) throws -> String? {
            var schema = try SchemaPlanTests.stored()
            edit(&schema)
            do { try schema.validate() } catch {
                if case .damagedSchema(let reason) = error { return reason }
            }
            return nil
        }
        #expect(try reason { $0.classes[1].id = 1 } != nil)
        #expect(try reason { $0.nextClassID = 2 } == "class id 2 is out of order")
        #expect(
            try reason { $0.classes[1].persistedName = "Person" }
                == "two classes are named 'Person'")
        #expect(
            try reason { $0.classes[1].table = $0.classes[0].table }?.contains(
                "belongs to something else") == true)
        #expect(
            try reason { $0.classes[1].table = 3 }?.contains("belongs to something else") == true)
        #expect(
            try reason { $0.classes[0].properties[4].targetClassID = 9 }?.contains(
                "links to a class that is not there") == true)
        #expect(
            try reason { $0.classes[0].properties[4].backlinkTree = nil }?.contains(
                "no backlink tree") == true)
        #expect(try reason { $0.classes[0].primaryKeyTree = nil }?.contains("primary key") == true)
        #expect(
            try reason { $0.classes[1].properties[1].originPropertyID = 1 }?.contains(
                "inverse of a link that is not there") == true)
        #expect(try reason { $0.classes[0].properties[0].id = 9 }?.contains("out of order") == true)
        #expect(
            try reason { $0.classes[0].properties[0].persistedName = "name" }?.contains(
                "are named 'name'") == true)
    }
}
