// KillWorker DATABASE NUMBER: commits and follows the commits of all until it is killed. See
// worker.c, which does the same.
import Foundation
import RealmSwift

let (workers, kept) = (3, 20)

final class Entry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
}

final class Part: EmbeddedObject {
    @Persisted var text: String
    @Persisted var inner: Part?

    convenience init(_ text: String, inner: Part? = nil) {
        self.init()
        self.text = text
        self.inner = inner
    }
}

final class Count: Object {
    @Persisted(primaryKey: true) var worker: Int  // -1: all
    @Persisted var commits: Int
}

func commits(_ realm: Realm, of worker: Int) -> Int {
    realm.object(ofType: Count.self, forPrimaryKey: worker)?.commits ?? 0
}

func commit(_ realm: Realm, _ worker: Int) throws -> Int {
    try realm.write {
        let number = commits(realm, of: worker) + 1
        let text = "\(worker)/\(number)"
        let entry = realm.create(
            Entry.self, value: ["id": number * workers + worker, "text": text])
        entry.part = Part(text, inner: Part(text))
        entry.parts.append(objectsIn: [Part(text), Part(text, inner: Part(text))])
        let last = realm.object(ofType: Entry.self, forPrimaryKey: (number - 1) * workers + worker)
        last?.part = Part("again")  // the old one goes, with the one in it
        if let old = realm.object(
            ofType: Entry.self, forPrimaryKey: (number - kept) * workers + worker)
        {
            realm.delete(old)
        }
        realm.create(Count.self, value: ["worker": worker, "commits": number], update: .modified)
        realm.create(
            Count.self, value: ["worker": -1, "commits": commits(realm, of: -1) + 1],
            update: .modified)
        return number
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let worker = Int(arguments[2]) else { exit(2) }
let url = URL(fileURLWithPath: arguments[1])
let realm = try Realm(
    configuration: Realm.Configuration(
        fileURL: url, objectTypes: [Entry.self, Part.self, Count.self]))
var copy: [Int] = []
var calls = 0
let token = realm.objects(Entry.self).sorted(by: \.id).observe { change in
    calls += 1
    switch change {
    case .initial(let entries):
        copy = entries.map { $0.id }
    case .update(let entries, let deletions, let insertions, _):
        for index in deletions.reversed() { copy.remove(at: index) }
        for index in insertions { copy.insert(entries[index].id, at: index) }
        if copy != entries.map({ $0.id }) {
            FileHandle.standardError.write(Data("the copy differs\n".utf8))
            exit(3)
        }
    case .error(let error):
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(3)
    }
}
try FileHandle.standardOutput.write(
    contentsOf: Data("opened \(commits(realm, of: worker)) 0\n".utf8))
while true {
    let number = try commit(realm, worker)
    try FileHandle.standardOutput.write(contentsOf: Data("committed \(number) \(calls)\n".utf8))
    _ = RunLoop.main.run(mode: .default, before: Date())
}
