// ExchangeSwift DATABASE FOLDER write | read: the files of a folder that hold the objects of each
// class, as JSON lines and as comma-separated values. See objects.py, which does the same.
import Foundation
import RealmSwift

final class Label: EmbeddedObject {
    @Persisted var text: String
    @Persisted var any: AnyRealmValue
    @Persisted var to: Thing?
}

/// Only its key in the file distinguishes it from others.
final class Part: Object {
    @Persisted var word: String
    @Persisted var next: Part?
    @Persisted var any: AnyRealmValue

    override class func propertiesMapping() -> [String: String] { ["word": "class"] }
}

final class Thing: Object {
    @Persisted(primaryKey: true) var id: Int?
    @Persisted var name: String?
    @Persisted var count: Int
    @Persisted var weight: Double
    @Persisted var short: Float
    @Persisted var price: Decimal128?
    @Persisted var at: Date?
    @Persisted var day: Date?
    @Persisted var code: UUID?
    @Persisted var mark: ObjectId?
    @Persisted var data: Data
    @Persisted var any: AnyRealmValue
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var kinds: MutableSet<AnyRealmValue>
    @Persisted var notes: Map<String, AnyRealmValue>
    @Persisted var words: List<String>
    @Persisted var numbers: MutableSet<Int>
    @Persisted var ratios: Map<String, Double>
    @Persisted var friend: Thing?
    @Persisted var friends: List<Thing>
    @Persisted var named: Map<String, Thing?>
    @Persisted var label: Label?
    @Persisted var labels: List<Label>
    @Persisted var kept: Map<String, Label?>
}

let arguments = CommandLine.arguments
guard arguments.count == 4 else { exit(2) }
let folder = URL(fileURLWithPath: arguments[2])
let realm = try Realm(
    configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: arguments[1]),
        objectTypes: [Thing.self, Label.self, Part.self]))

@MainActor func exchange<Model: Object>(_ type: Model.Type, _ form: String) throws {
    let url = folder.appendingPathComponent("\(type).\(form)")
    let objects = realm.objects(type)
    let count =
        switch (arguments[3], form) {
        case ("write", "csv"): try objects.writeCSV(to: url)
        case ("write", _): try objects.writeJSONLines(to: url)
        case (_, "csv"): try realm.write { try realm.readCSV(of: type, from: url) }
        default: try realm.write { try realm.readJSONLines(of: type, from: url) }
        }
    print(form, type, count)
}

for form in ["json_lines", "csv"] {
    if arguments[3] == "read" { try realm.write { realm.deleteAll() } }
    try exchange(Thing.self, form)
    try exchange(Part.self, form)
}
guard try realm.check().isEmpty else { exit(1) }
