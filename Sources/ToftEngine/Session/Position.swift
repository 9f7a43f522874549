internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// The state that a session shows outside of its write transaction.
///
/// 1. It is one version until `refresh`, `dispatch` or `beginWrite` moves the session; commits move
///    it to their own.
/// 2. `counters` counts every change that may affect reads.
struct Position {
    /// The session's database; after `close`, an empty one in memory.
    private(set) var database: Database
    /// The session's version. Changed by `move` and by the end alone.
    private(set) var base: ModelView
    /// When each thing changed last, for the results that are open.
    var counters = ChangeCounters()
    /// The number of the write transaction that the session entered last.
    private(set) var transactionNumber: UInt64 = 0
    /// The number of the last transaction that was cancelled, or whose end is unknown.
    private(set) var cancelledNumber: UInt64 = 0
    /// Names that queries use for paths: see `setAlias`.
    var aliases = KeyPathAliases()

    init(_ database: Database, at base: ModelView) {
        self.database = database
        self.base = base
    }

    /// Moves to a version.
    /// - Parameter isNoted: whether `counters` has the version's changes.
    mutating func move(to view: ModelView, isNoted: Bool) {
        if !isNoted { noteDifference(to: view) }
        base = view
    }

    /// Counts a version's changes since this one.
    private mutating func noteDifference(to view: ModelView) {
        guard view.version != base.version else { return }
        // Without results, nobody reads the counters.
        guard counters.areInUse, let changes = VersionChanges(from: base, to: view) else {
            return counters.noteEverything()
        }
        counters.note(changes)
    }

    /// Lets go of the database. Handles may hold the session for long; they must not hold the file.
    mutating func leave() {
        guard let nowhere = Database.nowhere else { return }
        base = nowhere.view
        database = nowhere.database
    }

    // MARK: Write transactions

    mutating func enterTransaction() { transactionNumber += 1 }

    /// A transaction has begun with the state that is shown, and builds on a version.
    mutating func noteBeginning(on version: Version) {
        counters.beginTransaction()
        // It may build on one of a group of commits that nobody sees yet.
        if version != base.version { counters.noteEverything() }
    }

    /// The transaction has ended, and the state before it is shown.
    mutating func noteCancellation() {
        cancelledNumber = transactionNumber
        counters.cancelTransaction()
    }
}

/// The state that a session showed at some time, to find out later which objects were touched
/// since.
struct SessionMark {
    let schema: ModelSchema
    let version: Version
    /// Within a write transaction: its number, and the end of its record.
    let writing: (number: UInt64, record: RecordPosition)?
}
