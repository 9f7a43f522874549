internal import Observation
internal import ToftEngine
internal import ToftModel

/// The reads of a realm that `withObservationTracking` has seen: properties and collections, and
/// what they were. The first change of each is told when the realm shows it: after a commit of its
/// own, and when it goes to a newer version.
///
/// To Observation each thing that was read is a property of this object, named by the key path of a
/// subscript. Used where the realm belongs.
final class TrackedReads: Observable {
    /// A thing that can be read.
    fileprivate enum Subject: Hashable {
        case probe(Probe)
        case property(ObjectRef, PropertyID)
        case results(ResultsWatch)
        /// All that the realm shows.
        case everything
    }

    /// The state of a thing when it was read.
    private enum Content: Equatable {
        case value(Value)
        case stamp(UInt64)
        case gone
    }

    private unowned let session: RealmSession
    private let registrar = ObservationRegistrar()
    private let probe: Probe
    private let probePath: KeyPath<TrackedReads, Bool>
    private var known: [Subject: Content] = [:]
    /// Of the whole database.
    private var token: Token?

    init(_ session: RealmSession) {
        self.session = session
        let probe = Probe()
        self.probe = probe
        probePath = \TrackedReads[Subject.probe(probe)]
    }

    /// For key paths alone.
    fileprivate subscript(subject: Subject) -> Bool { false }

    // MARK: Reading

    /// Whether the running code is within `withObservationTracking`: there, and there alone, the
    /// registrar keeps the key path that it is given, and asks for its hash.
    private var isTracking: Bool {
        probe.wasHashed = false
        registrar.access(self, keyPath: probePath)
        return probe.wasHashed
    }

    /// A property of an object is being read.
    func note(_ object: ObjectRef, _ column: Int) {
        if isTracking { note(.property(object, PropertyID(truncatingIfNeeded: column))) }
    }

    /// Results, or the collection that they show, are being read.
    func note(_ results: @autoclosure () throws -> ToftEngine.Results) {
        if isTracking, let watch = try? results().watch { note(.results(watch)) }
    }

    /// Something is being read that any change may change.
    func noteEverything() {
        if isTracking { note(.everything) }
    }

    private func note(_ subject: Subject) {
        guard isFollowing() else { return }
        let now = content(of: subject)
        if let before = known.updateValue(now, forKey: subject), before != now { tell(subject) }
        registrar.access(self, keyPath: \TrackedReads[subject])
    }

    private func content(of subject: Subject) -> Content {
        switch subject {
        case .probe: .gone
        case .property(let ref, let id):
            (try? session.engine.object(ref)?.value(id)).map { .value($0) } ?? .gone
        case .results(let watch): .stamp(watch.stamp(in: session.engine))
        case .everything: .stamp(session.engine.stampOfEverything)
        }
    }

    /// Whether changes get here: not from within a transaction that has changed something before
    /// the first read.
    private func isFollowing() -> Bool {
        if token != nil { return true }
        do {
            try session.requireDelivery()
            token = try session.engine.observe { [weak self] _ in self?.tellChanges() }
            return true
        } catch { return false }
    }

    // MARK: Telling

    /// Tells what is another than it was.
    private func tellChanges() {
        let changed = known.filter { content(of: $0.key) != $0.value }.map(\.key)
        for subject in changed { known[subject] = nil }
        for subject in changed { tell(subject) }
    }

    /// Tells all, as the realm begins anew.
    func tellAll() {
        let all = known.keys
        known = [:]
        token?.stop()
        token = nil
        for subject in all { tell(subject) }
    }

    private func tell(_ subject: Subject) {
        registrar.withMutation(of: self, keyPath: \TrackedReads[subject]) {}
    }

    /// A key that notes whether its hash was asked for. `@unchecked Sendable`: used where the realm
    /// belongs.
    fileprivate final class Probe: Hashable, @unchecked Sendable {
        var wasHashed = false

        static func == (left: Probe, right: Probe) -> Bool { left === right }

        func hash(into hasher: inout Hasher) {
            wasHashed = true
            hasher.combine(ObjectIdentifier(self))
        }
    }
}
