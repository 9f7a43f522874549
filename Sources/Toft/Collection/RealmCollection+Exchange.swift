public import Foundation
internal import ToftEngine
internal import ToftExchange
internal import ToftModel

/// Objects into files. Realm has nothing like it.
extension RealmCollection where Element: Object {
    /// Writes each object as a JSON object, one a line, as `toftdb export` and Python's
    /// `write_json_lines` do; `Realm.readJSONLines` and they read it.
    ///
    /// ```swift
    /// try realm.objects(Dog.self).where { $0.age > 3 }.writeJSONLines(to: url)
    /// ```
    ///
    /// Properties have the names that the database file has for them, see `propertiesMapping()`.
    /// Links are primary keys; objects without one have their keys as `_key`. <doc:Limits> has the
    /// whole format.
    ///
    /// The objects are those that exist at its beginning: their keys, 8 bytes each, are in memory,
    /// and one object at a time. They are written to a temporary file in the same folder, which
    /// takes the name when all of it is on the disk: after an error or a crash, an older file at
    /// `fileURL` is unchanged, and a new one does not exist. A new file can be read by its owner
    /// alone; one that is replaced keeps its owner and its mode.
    ///
    /// Call it where the collection may be used; a frozen collection may be written on any thread.
    ///
    /// - Parameters:
    ///   - fileURL: the file; an existing one is replaced. A new one can be read by its owner
    ///     alone.
    ///   - depth: number of links, 0 to 100, up to which objects are written in place of links,
    ///     each once in a line.
    ///   - progress: called after each object, on this thread, with the number of finished objects
    ///     and of those at the beginning; an error of it ends the call and is thrown.
    /// - Returns: the number of objects written.
    /// - Throws: `Realm.Error`: `.invalidArgument` for another `depth`; `.valueTooLong` if more
    ///   than 101 objects are nested; `.fileNotFound` if the folder is missing, `.isDirectory`,
    ///   `.fileExists` if `fileURL` is the database itself, `.permissionDenied`, `.diskFull`,
    ///   `.fileAccess`; `.invalidArgument` for an unmanaged list; `.collectionInvalidated`,
    ///   `.wrongThread`, `.closed`.
    @discardableResult
    public func writeJSONLines(
        to fileURL: URL, depth: Int = 0,
        progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
    ) throws -> Int {
        try write(to: fileURL, progress) { owner, session throws(EngineError) in
            .json(of: owner, in: session, depth: try ObjectToJSON.checked(depth: depth))
        }
    }

    /// Writes comma-separated values (RFC 4180), the names of properties first, as
    /// `toftdb export --csv` and Python's `write_csv` do; `Realm.readCSV` and they read it.
    ///
    /// Nothing between two commas is nil, `""` an empty text; lists, sets, maps, embedded objects
    /// and values of any type are JSON. An object without primary key has its key as `_key`, unless
    /// `properties` is given. About the file, threads and cost, see `writeJSONLines`.
    ///
    /// - Parameters:
    ///   - fileURL: the file; an existing one is replaced.
    ///   - properties: the names of the properties to write, in their order; empty: all.
    ///   - progress: called after each object, on this thread, with the number of finished objects
    ///     and of those at the beginning; an error of it ends the call and is thrown.
    /// - Returns: the number of objects written.
    /// - Throws: `Realm.Error`: the errors of `writeJSONLines`; `.noSuchProperty`;
    ///   `.invalidArgument` for a property that is named twice; `.missingPrimaryKey` for a link to
    ///   an object whose primary key is nil, which a field can't express.
    @discardableResult
    public func writeCSV(
        to fileURL: URL, properties: [String] = [],
        progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
    ) throws -> Int {
        try write(to: fileURL, progress) { owner, session throws(EngineError) in
            properties.isEmpty
                ? .csv(of: owner, in: session) : try .csv(of: owner, properties, in: session)
        }
    }

    /// Writes comma-separated values of the properties that key paths name:
    /// `dogs.writeCSV(to: url, properties: [\.name, \.age])`.
    @discardableResult
    public func writeCSV(
        to fileURL: URL, properties: [PartialKeyPath<Element>],
        progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
    ) throws -> Int {
        let names = try Realm.attempt { properties.map { KeyPathNames.name(of: $0) } }
        return try writeCSV(to: fileURL, properties: names, progress: progress)
    }

    private func write(
        to fileURL: URL, _ progress: ((Int, Int) throws -> Void)?,
        _ text: (ClassHandle, Session) throws(EngineError) -> ObjectText
    ) throws -> Int {
        do {
            let core = try exportedCore()
            let session = core.session.engine
            let total = try core.count()
            var text = try text(core.objectClass(), session)
            var done = 0
            try TextFile.create(try fileURL.filePath, from: session) { file in
                try file.write(text.header)
                try core.results.forEachObject { object in
                    try file.write(try text.line(of: object))
                    done += 1
                    try progress?(done, total)
                }
            }
            return done
        } catch let error as EngineError {
            throw Realm.Error(error)
        }
    }

    private func exportedCore() throws -> _CollectionCore {
        guard let core = try _core() else {
            throw Realm.Error(
                .invalidArgument,
                "Only objects of a realm can be written to a file. Add them to one first.")
        }
        guard !core.isStale else {
            throw Realm.Error(
                .collectionInvalidated, "The realm has been invalidated. Ask it for the objects.")
        }
        try core.session.verify()
        return core
    }
}

extension _CollectionCore {
    fileprivate func objectClass() throws(EngineError) -> ClassHandle {
        try session.engine.classHandle(results.classID ?? 0)
    }
}
