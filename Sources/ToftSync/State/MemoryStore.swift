/// A server's store in memory, for tests and the simulator. A copy is a backup.
package struct MemoryStore: Sendable {
    private struct ObjectNotes: Sendable {
        var writes: [[Step]: WriteNote] = [:]
        var births: [[Step]: BirthNote] = [:]
        var tombstones: [[Step]: Tombstone] = [:]
        /// List -> its tombstones in the order of their labels.
        var removed: [[Step]: [ElementPlace]] = [:]
    }

    /// One change, as it has to be put back.
    private enum Undo {
        case content(Content, Path)
        case write(WriteNote?, Path)
        case birth(BirthNote?, Path)
        case tombstone(Tombstone?, Path)
        case notes(ObjectNotes, ObjectID)
        case schema(MemoryTables)
        case placements(UInt64)
    }

    package private(set) var tables: MemoryTables
    private var notes: [ObjectID: ObjectNotes] = [:]
    private var changes: [Undo] = []
    private var isRecording = false
    private var log: ArraySlice<LogEntry> = []
    private var last: [ReplicaNumber: UInt64] = [:]
    /// Of the entries that are no longer in the log.
    private var lastOfTrimmed: [ReplicaNumber: UInt64] = [:]
    private var newestTrimmedTime: Int64 = 0
    private var newestTime: Int64 = 0
    package var placements: UInt64 = 0 {
        willSet { note(.placements(placements)) }
    }

    package init(_ schema: Schema) { tables = MemoryTables(schema) }

    private mutating func note(_ change: Undo) {
        if isRecording { changes.append(change) }
    }
}

extension MemoryStore: ServerStore {
    package var schema: Schema { tables.schema }

    package func contains(_ object: ObjectID) -> Bool { tables.contains(object) }

    package func content(at path: Path) -> Content? { tables.content(at: path) }

    package func links(to object: ObjectID) -> [Path] { tables.links(to: object) }

    package func eachObject(_ body: (ObjectID) -> Void) { tables.eachObject(body) }

    package func breaksUnique(_ object: ObjectID) -> Bool { tables.breaksUnique(object) }

    @discardableResult
    package mutating func put(_ content: Content, at path: Path) -> Content? {
        guard let old = tables.put(content, at: path) else { return nil }
        note(.content(old, path))
        return old
    }

    package mutating func add(_ type: ClassSchema) {
        note(.schema(tables))
        tables.add(type)
    }

    package mutating func add(_ property: PropertySchema, to type: ClassNumber) {
        note(.schema(tables))
        tables.add(property, to: type)
    }

    // MARK: Transactions

    package mutating func begin() { isRecording = true }

    package mutating func keep() {
        isRecording = false
        changes.removeAll(keepingCapacity: true)
    }

    package mutating func undo() {
        isRecording = false
        for change in changes.reversed() {
            switch change {
            case .content(let content, let path): tables.put(content, at: path)
            case .write(let note, let path): setWrite(note, at: path)
            case .birth(let note, let path): setBirth(note, at: path)
            case .tombstone(let tombstone, let path): setTombstone(tombstone, at: path)
            case .notes(let notes, let object): self.notes[object] = notes
            case .schema(let tables): self.tables = tables
            case .placements(let count): placements = count
            }
        }
        changes.removeAll(keepingCapacity: true)
    }

    // MARK: Notes

    package func write(at path: Path) -> WriteNote? { notes[path.object]?.writes[path.steps] }

    package mutating func setWrite(_ write: WriteNote?, at path: Path) {
        if let write {
            let old = notes[path.object, default: ObjectNotes()].writes
                .updateValue(write, forKey: path.steps)
            note(.write(old, path))
        } else if let old = notes[path.object]?.writes.removeValue(forKey: path.steps) {
            note(.write(old, path))
        }
    }

    package mutating func forgetWrites(below path: Path) {
        for steps in notes[path.object]?.writes.keys.map(\.self) ?? []
        where steps.count > path.steps.count && steps.starts(with: path.steps) {
            setWrite(nil, at: Path(path.object, steps))
        }
    }

    package func birth(at path: Path) -> BirthNote? { notes[path.object]?.births[path.steps] }

    package mutating func setBirth(_ birth: BirthNote?, at path: Path) {
        if birth == nil, notes[path.object] == nil { return }
        note(.birth(self.birth(at: path), path))
        notes[path.object, default: ObjectNotes()].births[path.steps] = birth
    }

    package func tombstone(at path: Path) -> Tombstone? {
        notes[path.object]?.tombstones[path.steps]
    }

    package mutating func setTombstone(_ tombstone: Tombstone?, at path: Path) {
        guard let id = path.element else { return }
        let old = self.tombstone(at: path)
        note(.tombstone(old, path))
        if old == tombstone { return }
        let list = path.parent.steps
        var all = notes[path.object]?.removed.removeValue(forKey: list) ?? []
        if let old {
            all.remove(at: all.firstIndex(notBefore: ElementPlace(Label(old.label), id)))
        }
        if let tombstone {
            let place = ElementPlace(Label(tombstone.label), id)
            all.insert(place, at: all.firstIndex(notBefore: place))
        }
        notes[path.object, default: ObjectNotes()].tombstones[path.steps] = tombstone
        if !all.isEmpty { notes[path.object]?.removed[list] = all }
    }

    package mutating func forgetNotes(of object: ObjectID) {
        if let old = notes.removeValue(forKey: object) { note(.notes(old, object)) }
    }

    package func place(before place: ElementPlace?, in list: Path) -> ElementPlace? {
        let elements = elements(of: list)
        let tombstones = notes[list.object]?.removed[list.steps] ?? []
        func last(_ places: [ElementPlace]) -> ElementPlace? {
            let index = place.map(places.firstIndex(notBefore:)) ?? places.count
            return index > 0 ? places[index - 1] : nil
        }
        guard let element = last(elements) else { return last(tombstones) }
        return last(tombstones).map { max($0, element) } ?? element
    }

    package func place(after place: ElementPlace?, in list: Path) -> ElementPlace? {
        let elements = elements(of: list)
        let tombstones = notes[list.object]?.removed[list.steps] ?? []
        func first(_ places: [ElementPlace]) -> ElementPlace? {
            guard let place else { return places.first }
            var index = places.firstIndex(notBefore: place)
            if index < places.count, places[index] == place { index += 1 }
            return index < places.count ? places[index] : nil
        }
        guard let element = first(elements) else { return first(tombstones) }
        return first(tombstones).map { min($0, element) } ?? element
    }

    private func elements(of list: Path) -> [ElementPlace] {
        tables.content(at: list)?.node?.list?.order ?? []
    }

    // MARK: The log

    package var head: UInt64 { UInt64(log.endIndex) }

    package var logStart: UInt64 { UInt64(log.startIndex) }

    package func lastNumber(of replica: ReplicaNumber) -> UInt64 { last[replica] ?? 0 }

    package mutating func append(_ entry: LogEntry) {
        log.append(entry)
        last[entry.replica] = entry.number
        newestTime = max(newestTime, entry.time)
    }

    package func entry(_ sequence: UInt64) -> LogEntry { log[Int(sequence) - 1] }

    package func newestTime(through sequence: UInt64) -> Int64 {
        sequence >= head
            ? newestTime
            : log.prefix(upTo: max(Int(sequence), log.startIndex)).map(\.time)
                .reduce(newestTrimmedTime, max)
    }

    package func lastNumber(of replica: ReplicaNumber, through sequence: UInt64) -> UInt64 {
        if sequence >= head { return lastNumber(of: replica) }
        let entry = log.prefix(upTo: max(Int(sequence), log.startIndex)).last {
            $0.replica == replica
        }
        return entry?.number ?? lastOfTrimmed[replica] ?? 0
    }

    package mutating func forget(through floor: UInt64) {
        for object in notes.keys.map(\.self) {
            guard var kept = notes.removeValue(forKey: object) else { continue }
            kept.writes = kept.writes.filter { $0.value.entry > floor }
            kept.births = kept.births.filter { $0.value.entry > floor }
            kept.tombstones = kept.tombstones.filter { $0.value.entry > floor }
            kept.removed = [:]
            for (steps, tombstone) in kept.tombstones {
                guard case .element(let id) = steps.last else { continue }
                kept.removed[Array(steps.dropLast()), default: []]
                    .append(ElementPlace(Label(tombstone.label), id))
            }
            for list in kept.removed.keys { kept.removed[list]?.sort() }
            if !(kept.writes.isEmpty && kept.births.isEmpty && kept.tombstones.isEmpty) {
                notes[object] = kept
            }
        }
    }

    package mutating func trimLog(through sequence: UInt64) {
        for entry in log.prefix(upTo: min(max(Int(sequence), log.startIndex), log.endIndex)) {
            lastOfTrimmed[entry.replica] = max(lastOfTrimmed[entry.replica] ?? 0, entry.number)
            newestTrimmedTime = max(newestTrimmedTime, entry.time)
        }
        log = log[max(Int(sequence), log.startIndex)...]
    }
}
