import Foundation
import RealmSwift

private let commits = 3

/// The process that writes: one commit for each line on its standard input.
func write(_ database: String) throws {
    guard readLine() != nil else { return }
    let realm = try Realm(configuration: configuration(database))
    for number in 0..<commits {
        try realm.write { change(realm, number) }
        guard readLine() != nil else { return }
    }
}

private func change(_ realm: Realm, _ number: Int) {
    func put(_ name: String, _ version: String) {
        realm.create(Package.self, value: ["name": "example-\(name)", "version": version, "section": "example"], update: .modified)
    }
    switch number {
    case 0:
        for fruit in ["apple", "banana", "date"] { put(fruit, "1.0") }
    case 1:
        put("cherry", "1.0")
        put("banana", "1.1")
    default:
        if let apple = realm.object(ofType: Package.self, forPrimaryKey: "example-apple") { realm.delete(apple) }
        put("date", "2.0")
    }
}

/// Starts this program again, to write.
func startWriter(_ database: String) throws -> (process: Process, orders: FileHandle) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--write", database]
    process.standardInput = pipe
    try process.run()
    return (process, pipe.fileHandleForWriting)
}

/// Observes a query while the writer makes its commits, follows them by their indices in a copy, and compares.
func observe(_ realm: Realm, _ process: Process, _ orders: FileHandle) throws -> Bool {
    let examples = realm.objects(Package.self).where { $0.section == "example" }.sorted(by: \.name)
    var copy: [String] = []
    var calls = -1
    let token = examples.observe { change in
        calls += 1
        guard case .update(let packages, let deletions, let insertions, let modifications) = change else { return }
        for index in deletions.reversed() { copy.remove(at: index) }
        for index in insertions { copy.insert(packages[index].name, at: index) }
        let kinds = [("deleted", deletions), ("inserted", insertions), ("modified", modifications)].filter { !$1.isEmpty }
        let told = kinds.map { "; \($0) \($1.map { String($0) }.joined(separator: ", "))" }.joined()
        print("   version \(realm.version)\(told) -> now \(copy.joined(separator: " "))")
    }
    print("Process \(ProcessInfo.processInfo.processIdentifier) observes section 'example' while process \(process.processIdentifier) writes:")
    func wait(_ count: Int) -> Bool {
        let end = Date(timeIntervalSinceNow: 30)
        while calls < count, Date() < end { _ = RunLoop.main.run(mode: .default, before: end) }
        return calls >= count
    }
    var isRight = wait(0)
    for number in 1...commits where isRight {
        try orders.write(contentsOf: Data("next\n".utf8))
        isRight = wait(number)
    }
    try orders.close()
    process.waitUntilExit()
    token.invalidate()
    isRight = isRight && process.terminationStatus == 0 && copy == examples.map { $0.name }
    print(isRight ? "   The copy that followed the indices equals the results." : "   Something went wrong.")
    return isRight
}
