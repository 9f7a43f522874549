import ToftEngine
import ToftModel
import ToftQuery

/// Texts through lexer, parser and binder, made by libFuzzer, which keeps those that reach new
/// code: see `Tests/fuzz.py`. The first byte chooses a class of the conformance data, the rest is
/// the query. Each text ends in an error with a message, or is accepted; then the text that it
/// gives of itself is accepted too, and gives itself again. Small ones are also run.
private func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    guard let bytes, size > 0 else { return 0 }
    let all = world.classes[Int(bytes[0]) % world.classes.count]
    let text = String(
        decoding: UnsafeBufferPointer(start: bytes + 1, count: size - 1), as: UTF8.self)
    let results: Results
    do {
        results = try all.filter(text, arguments: world.arguments)
    } catch {
        guard !error.message.isEmpty else { fatalError("an error without a message") }
        return 0
    }
    do {
        let described = try results.query()
        let again = try all.filter(described).query()
        guard again == described else { fatalError("\(described) is \(again) of itself") }
        if size < 80 { _ = try results.keys() }
    } catch {
        fatalError("accepted, and then: \(error.message)")
    }
    return 0
}

/// libFuzzer's loop, which makes texts and calls the function with each.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The package manager takes the target's name for that of its `main`.
@_cdecl("QueryFuzz_main")
public func runFuzzer(
    _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { testOneInput($0, $1) }
}

nonisolated(unsafe) private let world = World()

private struct World {
    /// All objects of each class, in the order of their names.
    let classes: [Results]
    let arguments: [QueryArgument]

    init() {
        do {
            let session = try ConformanceData(indexed: false).session
            let found = session.schema.stored.visibleClasses.sorted { $0.name < $1.name }
            classes = try found.map { try session.results(of: $0.id) }
            let person = try session.classHandle(named: "Person").id
            arguments = [
                .value(.int(18)), .list([.string("Bob"), .null, .int(1)]),
                .value(.string("boss.age")), .value(.double(0.1)),
                .value(.link(ObjectRef(classID: person, key: 1))), .value(.string("18")),
            ]
        } catch {
            fatalError("the conformance data: \(error)")
        }
    }
}
