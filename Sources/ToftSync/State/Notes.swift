/// The place that an element of a list got: a child of another one, on one side. The root of
/// the tree has no element; its children stand on its right.
package struct TreePlace: Hashable, Sendable {
    package enum Side: UInt8, Hashable, Sendable { case left, right }

    package var parent: MadeID?
    package var side: Side
    /// The number of the placement that put the parent where it was; 0 for one that nobody knows.
    package var parentPlacement: UInt64
    /// The number of this placement.
    package var placement: UInt64
}

/// The server's note of the last write of a path.
package struct WriteNote: Hashable, Sendable {
    package var time: Int64
    package var entry: UInt64
    package var writer: ReplicaNumber
    package var isExplicit: Bool
    /// Of an element's insert or move.
    package var place: TreePlace?
}

/// The makers of an object or embedded object: its creator, and those who made it meanwhile, too.
package struct BirthNote: Hashable, Sendable {
    package var entry: UInt64
    package var creator: ReplicaNumber?
    package var joined: Set<ReplicaNumber> = []
}

/// The place of a removed element, and the entry that removed it.
package struct Tombstone: Hashable, Sendable {
    package var label: Int64
    package var entry: UInt64
}

/// The server's part beside the tables of a realm: the log, and notes of all that is newer than
/// the floor. It changes in the same transactions as the tables.
///
/// A transaction is begun, and then kept or undone. The rules read and write within one.
package protocol ServerStore: Tables {
    mutating func begin()
    /// Puts back all that has changed since `begin`.
    mutating func undo()
    mutating func keep()

    func write(at path: Path) -> WriteNote?
    mutating func setWrite(_ note: WriteNote?, at path: Path)
    /// Forgets the writes of all paths below one.
    mutating func forgetWrites(below path: Path)

    func birth(at path: Path) -> BirthNote?
    mutating func setBirth(_ note: BirthNote?, at path: Path)

    func tombstone(at path: Path) -> Tombstone?
    mutating func setTombstone(_ tombstone: Tombstone?, at path: Path)

    /// Forgets all notes of an object.
    mutating func forgetNotes(of object: ObjectID)

    /// The last element or tombstone of a list before a place; of all, where that is nil.
    func place(before place: ElementPlace?, in list: Path) -> ElementPlace?
    /// The first element or tombstone of a list behind a place; of all, where that is nil.
    func place(after place: ElementPlace?, in list: Path) -> ElementPlace?

    /// Whether another object of the class has the same values in a unique constraint.
    func breaksUnique(_ object: ObjectID) -> Bool

    /// The last entry of the log.
    var head: UInt64 { get }
    /// The log has the entries behind this one.
    var logStart: UInt64 { get }
    /// How many elements have been placed.
    var placements: UInt64 { get set }
    func lastNumber(of replica: ReplicaNumber) -> UInt64
    /// Appends the next entry; its replica's last number is that of the entry from now on.
    mutating func append(_ entry: LogEntry)
    /// An entry behind `logStart`.
    func entry(_ sequence: UInt64) -> LogEntry
    /// The newest time of all entries up to one, those that are no longer in the log included.
    func newestTime(through sequence: UInt64) -> Int64
    /// The last changeset of a replica in the entries up to one; 0 if they have no changeset.
    func lastNumber(of replica: ReplicaNumber, through sequence: UInt64) -> UInt64

    /// Forgets the notes of entries up to `floor`, on which no changeset to come is based.
    mutating func forget(through floor: UInt64)
    /// Drops the log up to an entry.
    mutating func trimLog(through sequence: UInt64)
}
