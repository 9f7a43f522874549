extension Resolver {
    /// Whether the author knew a write.
    func knew(_ write: WriteNote) -> Bool { write.entry <= base || write.writer == author }

    /// Whether a write at a path takes the place of the last one there. An explicit value beats a
    /// default, a write beats one that its author knew; else the later time, of equal times the
    /// higher replica, wins.
    func wins(at path: Path, isExplicit: Bool = true) -> Bool {
        guard let write = store.write(at: path) else { return true }
        if write.isExplicit != isExplicit { return isExplicit }
        return knew(write) || (time, author) > (write.time, write.writer)
    }

    /// Notes that the author's write stands at a path.
    mutating func stamp(_ path: Path, isExplicit: Bool = true, place: TreePlace? = nil) {
        var newest = time
        if let write = store.write(at: path), knew(write) {
            // So that a slow clock does not make a write older than what it has replaced.
            newest = max(time, write.time == .max ? .max : write.time + 1)
        }
        store.setWrite(
            WriteNote(
                time: newest, entry: sequence, writer: author, isExplicit: isExplicit,
                place: place),
            at: path)
    }

    /// Whether an object is there, and is the very one that the author meant: it had seen it, made
    /// it, or made the same one at the same time.
    func knows(_ object: ObjectID) -> Bool {
        store.contains(object) && knowsBirth(at: Path(object))
    }

    /// Whether the author knows the object and each embedded object on the way to a path.
    func knowsWay(to path: Path) -> Bool {
        guard store.contains(path.object) else { return false }
        for count in path.steps.indices
        where !knowsBirth(at: Path(path.object, path.steps[..<count])) {
            return false
        }
        return true
    }

    private func knowsBirth(at path: Path) -> Bool {
        guard let birth = store.birth(at: path) else { return true }
        return birth.entry <= base || birth.creator == author || birth.joined.contains(author)
    }

    /// Notes that the author has made what is at a path.
    mutating func bear(_ path: Path) {
        store.setBirth(BirthNote(entry: sequence, creator: author), at: path)
    }
}
