public import Foundation
internal import ToftEngine
internal import ToftExchange
internal import ToftModel

/// Objects from files. Realm has nothing like it.
extension Realm {
    /// Creates an object of each line of a file, all or nothing: a file of `writeJSONLines`,
    /// Python's `write_json_lines` or `toftdb export`. Needs a write transaction.
    ///
    /// ```swift
    /// try realm.write { try realm.readJSONLines(of: Dog.self, from: url) }
    /// ```
    ///
    /// A line is a JSON object whose members are properties, by the names that the database file
    /// has for them, or those of the class. A link is the primary key of its target, or an object
    /// in its place; its target may come in a later line. Objects without primary key have numbers
    /// as `_key`, by which the lines link to them. A new object has its class's defaults for
    /// members that the line lacks, except for links and collections, which begin empty. Empty
    /// lines and a byte order mark are left out. <doc:Limits> has the whole format.
    ///
    /// After an error, the objects that the call has created are deleted, and the transaction can
    /// continue. Objects that were updated stay so: cancel the transaction then.
    ///
    /// The file is read line by line, and may be of any length. Links to objects of later lines
    /// stay in memory, and the `_key` of each object that has no primary key. Call it where the
    /// realm may be used.
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - fileURL: the file.
    ///   - update: the policy for an object whose primary key exists; `.error` is an error.
    ///   - progress: called after each object, on this thread, with the number of finished objects
    ///     and of all, for which the file is read twice. An error of it ends the call and is
    ///     thrown.
    /// - Returns: the number of objects in the file.
    /// - Throws: `Realm.Error`, which names the line, the property and the remedy:
    ///   `.invalidArgument` for text that is not JSON, `.noSuchProperty`, `.typeMismatch`,
    ///   `.nullNotAllowed`, `.noSuchObject` for a link to a missing object, `.duplicatePrimaryKey`,
    ///   `.missingPrimaryKey`, also if `update` is given for a class without one; `.fileNotFound`,
    ///   `.isDirectory`, `.permissionDenied`, `.fileAccess`; `.notInTransaction`, `.readOnly`,
    ///   `.noSuchClass`, `.wrongThread`, `.closed`.
    @discardableResult
    public func readJSONLines<Model: Object>(
        of type: Model.Type, from fileURL: URL, update: UpdatePolicy = .error,
        progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
    ) throws -> Int {
        try read(try owner(of: type), fileURL, update, progress) { _, _ in }
    }

    /// Reads lines into a class that is known by its name: one of the realm's classes; an unknown
    /// name is `.noSuchClass`.
    ///
    /// ```swift
    /// try realm.write { try realm.readJSONLines(ofType: "Dog", from: url) }
    /// ```
    @discardableResult
    public func readJSONLines(
        ofType typeName: String, from fileURL: URL, update: UpdatePolicy = .error,
        progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
    ) throws -> Int {
        try read(try owner(named: typeName), fileURL, update, progress) { _, _ in }
    }

    /// Creates an object of each record of comma-separated values, all or nothing: a file of
    /// `writeCSV`, Python's `write_csv` or `toftdb export --csv`. Needs a write transaction.
    ///
    /// The first line names the properties. Nothing between two commas is nil, or an empty text if
    /// the property is not optional; lists, sets, maps, embedded objects and values of any type are
    /// JSON. Empty lines are left out, except with one column. For the rest, see `readJSONLines`.
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - fileURL: the file.
    ///   - update: the policy for an object whose primary key exists; `.error` is an error.
    ///   - progress: called after each object, on this thread, with the number of finished objects
    ///     and of all, for which the file is read twice. An error of it ends the call and is
    ///     thrown.
    /// - Returns: the number of objects in the file.
    /// - Throws: `Realm.Error`: the errors of `readJSONLines`; `.invalidArgument` also for a file
    ///   that is empty, quotes without an end, and a record with too few or too many fields.
    @discardableResult
    public func readCSV<Model: Object>(
        of type: Model.Type, from fileURL: URL, update: UpdatePolicy = .error,
        progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
    ) throws -> Int {
        try readCSV(try owner(of: type), fileURL, update, progress)
    }

    /// Reads records into a class that is known by its name: one of the realm's classes; an unknown
    /// name is `.noSuchClass`.
    @discardableResult
    public func readCSV(
        ofType typeName: String, from fileURL: URL, update: UpdatePolicy = .error,
        progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
    ) throws -> Int {
        try readCSV(try owner(named: typeName), fileURL, update, progress)
    }

    private func owner(of type: ObjectBase.Type) throws -> ClassHandle {
        try session.home(of: type).binding.owner
    }

    private func owner(named name: String) throws -> ClassHandle {
        try session.dynamicHome(named: name).binding.owner
    }

    private func readCSV(
        _ owner: @autoclosure () throws -> ClassHandle, _ fileURL: URL, _ update: UpdatePolicy,
        _ progress: ((Int, Int) throws -> Void)?
    ) throws -> Int {
        try read(try owner(), fileURL, update, progress) { lines, owner throws(EngineError) in
            try lines.readCSV(of: owner, in: session.engine, ignoresUnknown: false)
        }
    }

    private func read(
        _ owner: @autoclosure () throws -> ClassHandle, _ fileURL: URL, _ update: UpdatePolicy,
        _ progress: ((Int, Int) throws -> Void)?,
        _ begin: (inout ObjectLines, ClassHandle) throws(EngineError) -> Void
    ) throws -> Int {
        do {
            try session.requireWriting()
            let owner = try owner()
            guard update == .error || owner.primaryKey != nil else {
                throw Self.noPrimaryKey(className: owner.name)
            }
            var lines = try ObjectLines(path: try fileURL.filePath) { Self.hint($0, update) }
            try begin(&lines, owner)
            let total = progress == nil ? 0 : try lines.count()
            return try session.add(&lines, of: owner, update) { try progress?($0, total) }
        } catch let error as EngineError {
            throw Realm.Error(error)
        }
    }

    /// The advice for an error in a line.
    private static func hint(_ code: ErrorCode, _ update: UpdatePolicy) -> String {
        switch code {
        case .noSuchProperty: " Leave it out, or declare it."
        case .duplicatePrimaryKey where update == .error:
            " 'update: .all' changes the object that has it."
        default: ""
        }
    }
}

extension RealmSession {
    /// Adds the objects of lines, all or nothing.
    fileprivate func add(
        _ lines: inout ObjectLines, of owner: ClassHandle, _ update: Realm.UpdatePolicy,
        _ progress: (Int) throws -> Void
    ) throws -> Int {
        var objects = ObjectsFromJSON(engine, policy: update.engine, takesBack: update == .error)
        let defaults = DefaultValues(configuration.models)
        objects.defaults = { owner, given throws(EngineError) in
            do throws(ModelError) {
                return try defaults.values(of: owner, besides: given)
            } catch {
                throw EngineError(error)
            }
        }
        // Deleting created objects again costs less than a savepoint.
        let updates = update != .error
        if updates { try engine.beginSavepoint() }
        do {
            let count = try objects.add(&lines, of: owner) { done, _ in try progress(done) }
            if updates { try engine.endSavepoint(keeping: true) }
            return count
        } catch {
            if updates { try? engine.endSavepoint(keeping: false) } else { objects.takeBack() }
            throw error
        }
    }
}
