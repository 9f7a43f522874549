/// At this path there is now this.
package struct Fact: Hashable, Sendable {
    package let path: Path
    package let content: Content

    package init(_ path: Path, _ content: Content) {
        self.path = path
        self.content = content
    }
}

/// News of the entries in (`from`, `through`] for a replica: facts as they are after the last.
package struct Batch: Hashable, Sendable {
    package var epoch: UInt32
    package var from: UInt64
    package var through: UInt64
    /// The newest of the replica's own changesets that they answer; 0 if they answer nothing.
    package var answered: UInt64
    package var facts: [Fact]
    /// The server's classes, if the entries have added some or properties of some.
    package var schema: Schema?
    /// Whether the facts are all that there is, whatever `from` was.
    package var isComplete: Bool
    /// The entry up to which the server can't lose anything any more.
    package var safe: UInt64
    /// The newest time of all entries so far.
    package var time: Int64

    package init(
        epoch: UInt32 = 0, from: UInt64, through: UInt64, answered: UInt64, facts: [Fact],
        schema: Schema? = nil, isComplete: Bool, safe: UInt64 = 0, time: Int64 = 0
    ) {
        self.epoch = epoch
        self.from = from
        self.through = through
        self.answered = answered
        self.facts = facts
        self.schema = schema
        self.isComplete = isComplete
        self.safe = safe
        self.time = time
    }
}

/// Why the server refused a changeset as a whole. Raw values are codes of the wire.
package enum RefusalReason: UInt16, Hashable, Sendable {
    case badChangeset = 212
    case schemaConflict = 213
    case validator = 300
    case unique = 301
    case deny = 302
}

package struct Refusal: Hashable, Sendable {
    package let reason: RefusalReason
    /// For the author of the changeset.
    package let message: String

    package init(_ reason: RefusalReason, _ message: String) {
        self.reason = reason
        self.message = message
    }
}

/// An entry of the server's log: which paths a changeset changed, not to what.
package struct LogEntry: Hashable, Sendable {
    package var sequence: UInt64
    package var replica: ReplicaNumber
    package var number: UInt64
    package var base: UInt64
    package var time: Int64
    /// Everyone gets a fact for these.
    package var shown: [Path]
    /// The author gets a fact for these, too.
    package var told: [Path]
    /// Whether it has added classes or properties.
    package var changesSchema: Bool
    package var refusal: Refusal?
}
