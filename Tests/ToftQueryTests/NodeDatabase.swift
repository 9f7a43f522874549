import Testing
import ToftModel
import ToftStorage
import ToftTestKit

@testable import ToftEngine
@testable import ToftQuery

/// Three objects of a class with a property of each type, for the tests of single nodes: one with
/// values, one with others (NaN among them), one of nulls and empty collections. Their links lead
/// from the first to the second and back.
struct NodeDatabase {
    let session: Session
    let view: ModelView
    let classID: ClassID

    private static let schema = Schema([
        ClassSchema(
            "Thing",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("number", .int, isOptional: true),
                PropertySchema("other", .int, isOptional: true),
                PropertySchema("ratio", .double, isOptional: true),
                PropertySchema("text", .string, isOptional: true),
                PropertySchema("label", .string, isOptional: true),
                PropertySchema("bytes", .data, isOptional: true),
                PropertySchema("flag", .bool, isOptional: true),
                PropertySchema("moment", .date, isOptional: true),
                PropertySchema("mark", .uuid, isOptional: true),
                PropertySchema("price", .decimal128, isOptional: true),
                PropertySchema("mixed", .mixed),
                .link("next", to: "Thing"),
                .links("friends", to: "Thing"),
                PropertySchema("list", .int, collection: .list),
                PropertySchema("words", .string, collection: .list),
                PropertySchema("set", .int, collection: .set),
                .linkingObjects("before", from: "Thing", "next"),
            ])
    ])

    init() throws {
        session = try Session.open(
            Configuration(
                location: .memory(name: "nodes \(UInt64.random(in: 0 ... .max))"),
                schema: Self.schema))
        let owner = try session.classHandle(named: "Thing")
        classID = owner.id
        func id(_ name: String) throws -> PropertyID { try owner.property(named: name).id }
        try session.beginWrite()
        let first = try session.create(
            classID,
            [
                (id("id"), .int(1)), (id("number"), .int(1)), (id("other"), .int(2)),
                (id("ratio"), .double(1.5)), (id("text"), .string("Alpha")),
                (id("label"), .string("Alp")), (id("bytes"), .data([1, 2])),
                (id("flag"), .bool(true)),
                (id("moment"), .date(Timestamp(seconds: 10, nanoseconds: 5))),
                (id("mark"), .uuid(FixedBytes(bytes: [UInt8](repeating: 1, count: 16)))),
                (id("price"), .decimal(Decimal128("1.50") ?? .zero)),
                (id("mixed"), .string("xyz")),
            ])
        let second = try session.create(
            classID,
            [
                (id("id"), .int(2)), (id("number"), .int(5)), (id("other"), .int(5)),
                (id("ratio"), .double(.nan)), (id("text"), .string("beta")),
                (id("label"), .string("BETA")), (id("bytes"), .data([3])),
                (id("flag"), .bool(false)),
                (id("moment"), .date(Timestamp(seconds: 20, nanoseconds: 0))),
                (id("mark"), .uuid(FixedBytes(bytes: [UInt8](repeating: 2, count: 16)))),
                (id("price"), .decimal(Decimal128("2") ?? .zero)),
                (id("mixed"), .int(7)),
            ])
        let third = try session.create(classID, [(id("id"), .int(3))])
        try first.set(id("next"), Value.link(second.ref))
        try second.set(id("next"), Value.link(first.ref))
        func append(_ object: ObjectHandle, _ name: String, _ values: [Value]) throws {
            let list = try object.collection(id(name), .list)
            for value in values { try list.append(value) }
        }
        try append(first, "friends", [.link(second.ref), .link(third.ref)])
        try append(second, "friends", [.link(first.ref)])
        try append(third, "friends", [.link(third.ref)])
        try append(first, "list", [.int(1), .int(2)])
        try append(second, "list", [.int(5)])
        try append(first, "words", [.string("one"), .string("three")])
        let set = try first.collection(id("set"), .set)
        for value in [4, 3] as [Int64] { _ = try set.setInsert(Value.int(value)) }
        try session.commit()
        view = session.view
    }

    // MARK: Parts of a query

    func bound(_ text: String) throws -> BoundQuery {
        try BoundQuery.parse(text, className: "Thing", schema: view.schema.stored)
    }

    /// The condition of a query.
    func condition(_ text: String) throws -> BoundPredicate {
        guard case .filter(let predicate) = try bound(text).stages[0] else {
            throw Missing(what: "a condition in \(text)")
        }
        return predicate
    }

    /// The left side of a comparison.
    func expression(_ text: String) throws -> BoundExpression {
        switch try condition(text) {
        case .test(let expression, _, _): return expression
        case .pair(let left, _, _, _, _, _): return left
        default: throw Missing(what: "a comparison in \(text)")
        }
    }

    struct Missing: Error { let what: String }

    func source() -> DataSource {
        let source = DataSource(view)
        source.baseCount = 3
        return source
    }

    /// The batches that hold the three objects: the rows of their cluster, and the objects in
    /// another order, one by one.
    func forEachBatch(
        _ reader: ClassReader, _ body: (RowBatch) throws(ModelError) -> Void
    ) throws {
        var failure: ModelError?
        try reader.table.forEachCluster(from: 0) { cluster in
            let batch = RowBatch(reader)
            batch.fill(cluster)
            do throws(ModelError) { try body(batch) } catch { failure = error }
            return true
        }
        if let failure { throw failure }
        let scattered = RowBatch(reader)
        scattered.clear()
        for key in try keys().reversed() { scattered.append(key, owner: 0) }
        _ = try scattered.located()
        try body(scattered)
    }

    func keys() throws -> [Int64] { try BoundQuery(all: classID).keys(in: view) }

    /// The ids of the rows of a batch.
    func ids(_ rows: Selection, of batch: RowBatch) throws -> [Int] {
        let keys = try keys()
        return (0..<3).filter { rows[$0] }.compactMap { row in
            keys.firstIndex(of: batch.keys[row]).map { $0 + 1 }
        }.sorted()
    }
}

// MARK: What nodes find

extension NodeDatabase {
    /// Compiles the condition of a query, which has to give a node of a type, and expects what it
    /// finds in a cluster and row by row.
    func expect(
        _ text: String, by type: PredicateNode.Type, finds ids: [Int],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let source = source()
        let node = try Compiler(source: source).predicate(try condition(text))
        #expect(Swift.type(of: node) == type, "\(text)", sourceLocation: location)
        try forEachBatch(try source.reader(classID)) { batch throws(ModelError) in
            let rows = try node.evaluate(batch, wanted: batch.presentRows) & batch.presentRows
            let found = (try? self.ids(rows, of: batch)) ?? []
            #expect(found == ids, "\(text)", sourceLocation: location)
            let count = try node.count(in: batch)
            #expect(count == ids.count, "\(text)", sourceLocation: location)
        }
    }

    /// Compiles the left side of a comparison, which has to give a node of a type, and expects the
    /// rows that are null and, of numbers, the values of the others.
    func expect(
        valueOf text: String, by type: ValueNode.Type, nulls: [Int], _ values: [Double]? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let source = source()
        let node = try Compiler(source: source).value(try expression(text))
        #expect(Swift.type(of: node) == type, "\(text)", sourceLocation: location)
        let keys = try keys()
        try forEachBatch(try source.reader(classID)) { batch throws(ModelError) in
            let vector = try node.evaluate(batch, wanted: batch.presentRows)
            let empty = (try? self.ids(vector.nulls & batch.presentRows, of: batch)) ?? []
            #expect(empty == nulls, "\(text)", sourceLocation: location)
            guard let values else { return }
            var found: [Int: Double] = [:]
            for row in 0..<3 where !vector.nulls[row] {
                let number = vector.layout == .int ? Double(vector.ints[row]) : vector.doubles[row]
                found[keys.firstIndex(of: batch.keys[row]) ?? -1] = number
            }
            let sorted = found.sorted { $0.key < $1.key }.map(\.value)
            #expect(sorted == values, "\(text)", sourceLocation: location)
        }
    }

    /// Compiles the test of a comparison, which has to be of a type, and expects the rows that
    /// pass.
    func expect(
        testOf text: String, by type: RowPredicate.Type, passes ids: [Int],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        guard case .test(let expression, let bound, _) = try condition(text) else {
            throw Missing(what: "a test in \(text)")
        }
        let source = source()
        let compiler = Compiler(source: source)
        let test = try compiler.rowTest(bound)
        #expect(Swift.type(of: test) == type, "\(text)", sourceLocation: location)
        let node = try compiler.value(expression)
        try forEachBatch(try source.reader(classID)) { batch throws(ModelError) in
            let vector = try node.evaluate(batch, wanted: batch.presentRows)
            let rows = test.evaluate(vector, count: batch.count, wanted: batch.presentRows)
            let found = (try? self.ids(rows & batch.presentRows, of: batch)) ?? []
            #expect(found == ids, "\(text)", sourceLocation: location)
        }
    }
}
