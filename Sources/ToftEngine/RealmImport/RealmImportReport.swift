/// The imported parts of a Realm file, and those left out.
package struct RealmImportReport: Sendable, Equatable {
    /// A class of the new file.
    package struct Class: Sendable, Equatable {
        package var name: String
        package var objects = 0
    }

    /// A class or a property whose name Toft does not take.
    struct Renaming: Sendable, Equatable {
        /// `Class`, or `Class.property` with the names of the Realm file.
        var old: String
        /// The new name of the class or the property.
        var new: String
    }

    /// The file format of the Realm file.
    package var format = 0
    /// Nil if no program had given it a schema.
    package var schemaVersion: UInt64?
    /// In the order of the Realm file.
    package var classes: [Class] = []
    var renamings: [Renaming] = []
    /// Classes and indexes that have no counterpart, each with the reason.
    var leftOut: [String] = []
    /// Links to missing objects: they are null now, or were removed from their list or set.
    var cutLinks = 0
    /// Embedded objects that no object leads to: they were left out.
    var orphans = 0
    /// Texts that were not UTF-8: invalid bytes are U+FFFD now.
    var replacedTexts = 0
    /// Values of more than 16 MB, which Realm reads as null: so they are null.
    var tooLong = 0
    /// Keys of dictionaries with a '.' or a '$' at the start, which are percent-encoded now.
    var changedKeys = 0

    /// All objects of the new file.
    package var objects: Int { classes.reduce(0) { $0 + $1.objects } }

    /// The differences from the Realm file, in plain sentences.
    package var notes: [String] {
        var notes = renamings.map { "'\($0.old)' is named '\($0.new)' now" }
        notes += leftOut
        func add(_ count: Int, _ text: String) {
            if count > 0 { notes.append("\(count) \(text)") }
        }
        add(cutLinks, "links led to objects that are not there")
        add(orphans, "embedded objects that nothing leads to were left out")
        add(replacedTexts, "texts were not UTF-8; their invalid bytes are U+FFFD now")
        add(tooLong, "values of more than 16 MB are null, as Realm itself reads them")
        add(changedKeys, "keys of dictionaries are percent-encoded, as Toft takes no '.' there")
        return notes
    }
}
