/// One copy of a realm: writes at once, and takes the server's word for everything that none of its
/// unanswered changes owns.
///
/// One thread at a time may use it. `Replica+Writes` has what the user does, `Replica+Facts` what
/// the server says.
package struct Replica<Store: Tables> {
    /// An answered changeset that the server may still lose.
    package struct Kept: Hashable, Sendable {
        package let entry: UInt64
        package let changeset: Changeset
    }

    package let number: ReplicaNumber
    package internal(set) var store: Store
    /// The last entry that has been applied.
    package internal(set) var cursor: UInt64 = 0
    package internal(set) var epoch: UInt32 = 0
    /// Unanswered changesets, the oldest first.
    package internal(set) var pending: [Changeset] = []
    package internal(set) var kept: [Kept] = []
    /// Whether only a complete batch helps. It outlives a batch that is lost.
    package internal(set) var needsAll = false
    /// The newest time that it has given or applied.
    package internal(set) var newestTime: Int64 = 0
    package internal(set) var lastNumber: UInt64 = 0
    package internal(set) var owners = Owners()
    private(set) var counter: UInt64 = 0
    var transaction: [Op] = []

    package init(_ number: ReplicaNumber, _ store: Store) {
        self.number = number
        self.store = store
    }

    /// An id for what the replica makes next.
    package mutating func makeID() -> MadeID {
        counter += 1
        return MadeID(number, counter)
    }

    /// Nothing that it will ever send is based on an earlier entry.
    package var floor: UInt64 { pending.reduce(cursor) { min($0, $1.base) } }

    /// Follows a server that was restored from a copy: what it lost is unanswered again.
    ///
    /// - Parameters:
    ///   - head: The last entry of the restored log.
    ///   - last: The replica's last changeset that the restored server has.
    package mutating func rewind(epoch: UInt32, head: UInt64, last: UInt64) {
        pending = kept.map(\.changeset).filter { $0.number > last } + pending
        kept.removeAll { $0.changeset.number > last }
        for index in pending.indices { pending[index].base = min(pending[index].base, head) }
        lastNumber = max(lastNumber, last)
        self.epoch = epoch
        cursor = min(cursor, head)
        needsAll = true
        owners = Owners()
        for changeset in pending { owners.insert(changeset, store.schema) }
    }
}

extension Replica: Sendable where Store: Sendable {}
