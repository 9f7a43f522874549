/// One way into the engine. Everything that a sequence does and reads passes through it; its errors
/// have a code of `ErrorCode`.
protocol ModelDriver: AnyObject {
    /// Opens a session with a schema.
    func open(_ location: ModelLocation, _ shape: Shape) throws -> any ModelSession
}

enum ModelLocation {
    case memory(String)
    case file(String, [UInt8]?)
}

/// A session, a realm.
protocol ModelSession: AnyObject {
    func version() throws -> UInt64
    func begin() throws
    func commit(_ durability: Int) throws -> UInt64
    func cancel() throws
    func flush() throws
    /// A step of a compaction beside the other sessions; whether another would do something.
    func compactStep() throws -> Bool
    func refresh() throws
    func dispatch() throws
    func close() throws
    /// A session that always shows this one's version; nil if the driver has no such session.
    func frozen() throws -> (any ModelSession)?
    /// The findings of a check of the whole file.
    func check() throws -> [String]

    func create(_ owner: Int, _ values: [(property: Int, value: Datum)], policy: Int) throws
        -> (key: Int64, isNew: Bool)
    func set(_ owner: Int, _ key: Int64, _ property: Int, _ value: Datum) throws
    func set(_ owner: Int, _ key: Int64, _ values: [(property: Int, value: Datum)]) throws
    func add(_ owner: Int, _ key: Int64, _ property: Int, _ amount: Int64) throws
    /// Makes an embedded object in another one; its key.
    func embed(_ owner: Int, _ key: Int64, _ property: Int, _ place: ModelEmbedding) throws -> Int64
    func erase(_ owner: Int, _ key: Int64) throws
    func eraseAll(_ owner: Int) throws
    /// Edits a collection: that of the property, or with steps one within a mixed value.
    func edit(
        _ owner: Int, _ key: Int64, _ property: Int, _ steps: [ModelStep], _ edit: ModelListEdit
    ) throws

    func keys(_ owner: Int) throws -> [Int64]
    /// The difference of an object from its expected state; nil without a difference.
    func difference(_ owner: Int, _ key: Int64, _ row: [Datum]) throws -> String?
    func find(_ owner: Int, _ value: Datum) throws -> Int64?
    func listIndex(_ owner: Int, _ key: Int64, _ property: Int, of value: Datum) throws -> Int?
    func results(_ base: ModelBase, _ query: ModelQuery?) throws -> any ModelResults
    /// The first object of a class that a prepared query returns, in two runs.
    func firstTwice(_ owner: Int, _ query: ModelQuery) throws -> [Int64?]
    /// Observes; `call` is called with every change set. The token's end is that of the
    /// observation.
    func observe(_ subject: ModelSubject, _ call: @escaping (ModelChange) -> Void) throws
        -> AnyObject
}

/// A step to a list or a dictionary within a mixed value: first into the value of a property that
/// is not a collection, then into an element.
struct ModelStep {
    /// Whether it leads to a dictionary.
    var isMap: Bool
    var index: Int
    /// Of an entry.
    var key: [UInt8]

    init(_ value: Datum, at index: Int, key: [UInt8]) {
        isMap = value.kind == Datum.map([]).kind
        self.index = index
        self.key = key
    }
}

/// The place of a new embedded object.
enum ModelEmbedding {
    case one
    case insert(Int)
    case replace(Int)
    case entry([UInt8])
}

enum ModelListEdit {
    case insert(Int, [Datum])
    case append([Datum])
    case set(Int, Datum)
    case remove(Range<Int>)
    case move(Int, Int)
    case swap(Int, Int)
    case clear
    case assign([Datum])
    /// Of a set or a dictionary: elements that come, one by one.
    case put([Datum])
    /// Elements that go.
    case take([Datum])
}

/// The source of results.
enum ModelBase {
    case all(Int)
    case list(Int, Int64, Int)
    case inverse(Int, Int64, Int)
}

/// A query as text, with its arguments and the class that they are links to.
struct ModelQuery {
    var text: String
    var arguments: [Argument] = []

    struct Argument {
        var value: Datum
        /// The class of links.
        var target = 0
    }
}

enum ModelAggregate: Int, CaseIterable {
    case minimum, maximum, sum, average
}

protocol ModelResults: AnyObject {
    func count() throws -> Int
    func keys() throws -> [Int64]
    func aggregate(_ aggregate: ModelAggregate, of path: String) throws -> Datum
    func deleteAll() throws
    /// The results' query, as text.
    func text() throws -> String
    /// The groups of the values of a property, and an aggregate of each.
    func groups(by key: String, _ aggregate: ModelAggregate, of property: String) throws
        -> [ModelGroup]
}

struct ModelGroup {
    var key: Datum
    var count: Int
    var value: Datum
}

enum ModelSubject {
    case database
    case object(Int, Int64)
    case list(Int, Int64, Int)
    case results(any ModelResults)
}

/// One call of an observer.
struct ModelChange {
    enum Kind {
        case initial, update, deleted, failure
    }

    var kind: Kind
    var version: UInt64
    var deletions: [Int] = []
    var insertions: [Int] = []
    var modifications: [Int] = []
    var modificationsNew: [Int] = []
    /// Of an object: the places of the properties in the class.
    var properties: [Int] = []
}

/// Memory for values that are lent for one call; its content is overwritten afterwards, so that a
/// pointer kept beyond the call shows.
final class Loan {
    private var buffers: [UnsafeMutableRawBufferPointer] = []
    private var room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    private var used = 0

    deinit {
        reset()
        room.deallocate()
    }

    func reset() {
        for index in 0..<used { room[index] = 0xEE }
        used = 0
        for buffer in buffers {
            _ = buffer.initializeMemory(as: UInt8.self, repeating: 0xEE)
            buffer.deallocate()
        }
        buffers = []
    }

    func memory(_ count: Int, alignment: Int = 1) -> UnsafeMutableRawBufferPointer {
        let start = (used + alignment - 1) & ~(alignment - 1)
        if start + count <= room.count {
            used = start + count
            return UnsafeMutableRawBufferPointer(rebasing: room[start..<start + count])
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        buffers.append(buffer)
        return UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    }

    func bytes(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = memory(bytes.count)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }

    func array<Element>(_ count: Int, of type: Element.Type) -> UnsafeMutableBufferPointer<Element>
    {
        memory(count * MemoryLayout<Element>.stride, alignment: 16).bindMemory(to: Element.self)
    }
}

extension [UInt8] {
    func isSame(as bytes: UnsafeRawBufferPointer) -> Bool {
        guard count == bytes.count, count > 0 else { return count == bytes.count }
        return withUnsafeBytes { Datum.isSame($0, bytes) }
    }
}
