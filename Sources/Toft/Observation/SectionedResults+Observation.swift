public import Dispatch
public import Foundation
internal import ToftEngine

/// The changes of sections since the observer was last called. If changes can't be computed, as the
/// file is damaged, the error goes to `Realm.misuseHandler`, and the observation ends.
public enum SectionedResultsChange<CollectionType> {
    /// The first call: the sections can be read.
    case initial(CollectionType)
    /// Elements or sections were deleted, inserted or changed. Deletions, modifications and
    /// `sectionsToDelete` are indices in the old contents, insertions and `sectionsToInsert` in the
    /// new: remove the deletions from the last to the first, rows before sections; insert the
    /// insertions from the first to the last, sections before rows. The rows of deleted and
    /// inserted sections are among the deletions and insertions. An element whose section changes
    /// is a deletion and an insertion.
    case update(
        CollectionType, deletions: [IndexPath], insertions: [IndexPath],
        modifications: [IndexPath], sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
}

extension RealmSectionedResult {
    /// Calls the block with the sections, or the one section, as they first are, then after every
    /// commit of any process that changed which elements they have or the elements themselves. On
    /// the run loop of this thread, or on `queue`, with the sections of a realm there. Ends when
    /// the token is invalidated or released.
    /// - Parameters:
    ///   - keyPaths: of the elements; if given, only the properties that they name count as their
    ///     modification, and the one that they are sorted by first. `[]`: no property does. If not
    ///     given, everything that an element reaches over up to three links counts.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the sections and their changes. An observer of one section gets its
    ///     changes alone, including its appearance and disappearance.
    /// - Returns: the token that keeps the observation alive.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: queue.map { Place($0) }, block)
    }

    private func observe(
        _ keyPaths: [String]?, at place: Place?,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken {
        Misuse.reporting {
            let results = _sectioned().results.sections.results
            guard let core = try results.requiredCore("observe") else {
                throw Realm.Error(.collectionInvalidated, "The sections have been invalidated.")
            }
            let names = try (SectionElement.self as? any ProjectionObservable.Type)?.names(keyPaths)
            return try Observations.sections(self, core, names ?? keyPaths, at: place, block)
        } ?? NotificationToken()
    }

    /// Observes on an actor, with the sections of a realm of that actor, which is opened for it.
    /// The observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the sections and their changes.
    /// - Returns: the token that keeps the observation alive.
    public func observe<Owner: Actor>(
        keyPaths: [String]? = nil, on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, SectionedResultsChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths, at: Place(actor), Place.called(on: actor, block)).begun()
    }

    /// Observes on an actor, with the sections of a realm of that actor, which is opened for it.
    /// The observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the sections and their changes.
    /// - Returns: the token that keeps the observation alive.
    @_disfavoredOverload
    public func observe<Owner: Actor>(
        keyPaths: [PartialKeyPath<SectionElement>], on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, SectionedResultsChange<Self>) -> Void
    ) async -> NotificationToken where SectionElement: ObjectBase {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: actor, block)
    }

    /// Observes with key paths that the compiler checks: `\.age`, `\.boss?.name`.
    /// - Parameters:
    ///   - keyPaths: key paths of the elements, as above.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the sections and their changes.
    /// - Returns: the token that keeps the observation alive.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken where SectionElement: ObjectBase {
        observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: queue, block)
    }

    /// Observes projections: `\PersonProjection.name`.
    /// - Parameters:
    ///   - keyPaths: key paths of the projections, as above.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the sections and their changes.
    /// - Returns: the token that keeps the observation alive.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken where SectionElement: ProjectionObservable {
        let names = keyPaths.map { KeyPathNames.name(of: $0) }
        let labels = SectionElement.paths.filter { names.contains($0.name) }.map(\.label)
        return observe(keyPaths: labels, on: queue, block)
    }
}

extension Observations {
    /// Observes sections.
    fileprivate static func sections<Observed: RealmSectionedResult>(
        _ observed: Observed, _ core: _CollectionCore, _ keyPaths: [String]?,
        at place: Place?, _ block: @escaping (SectionedResultsChange<Observed>) -> Void
    ) throws -> NotificationToken {
        guard let place else {
            try core.session.requireDelivery()
            let follower = SectionFollower(observed, block)
            return NotificationToken(
                try follower.begin(core, keyPaths), keeping: core.session,
                afterSkip: follower.follow)
        }
        try check(keyPaths, from: core.results.classID, in: core.session)
        return try elsewhere(observed, of: core.session, at: place) { observed, _ in
            guard let core = observed._sectioned().results.sections.results._core() else {
                return nil
            }
            let follower = SectionFollower(observed, block)
            return (try follower.begin(core, keyPaths), follower.follow)
        }
    }
}

/// Keeps the sections of an observer's last call. Used on the observer's thread or queue alone.
private final class SectionFollower<Observed: RealmSectionedResult> {
    private let observed: Observed
    private let sections: Sections<Observed.Key, Observed.SectionElement>
    private let mark: _SectionMark?
    private let block: (SectionedResultsChange<Observed>) -> Void
    /// Nil before the first call.
    private var last: SectionLayout?

    init(_ observed: Observed, _ block: @escaping (SectionedResultsChange<Observed>) -> Void) {
        self.observed = observed
        self.block = block
        let (results, mark) = observed._sectioned()
        sections = results.sections
        self.mark = mark
    }

    func begin(_ core: _CollectionCore, _ keyPaths: [String]?) throws -> Token {
        let sortPath = sections.rule.sortPath
        let isOfValues = core.results.classID == nil
        let watched = isOfValues ? keyPaths : keyPaths.map { $0 + [sortPath] }
        return try core.results.observe(keyPaths: watched) { [self] notification in
            switch notification.kind {
            case .initial:
                follow()
                block(.initial(observed))
            case .update, .deleted:
                tell(notification.collection, isOfModifications: keyPaths != [])
            case .failure(let error): Misuse.report(Realm.Error(error))
            }
        }
    }

    /// Takes the sections as they are now for known to the observer.
    func follow() {
        last = now
    }

    private var now: SectionLayout {
        sections.results.isInvalidated
            ? SectionLayout() : Misuse.reporting { try sections.current().layout } ?? .init()
    }

    private func tell(_ rows: CollectionChange, isOfModifications: Bool) {
        let (old, new) = (last ?? SectionLayout(), now)
        last = new
        var change = SectionChange(from: old, to: new, rows)
        if !isOfModifications { change = change.withoutModifications() }
        if let mark {
            change = change.only(
                old: mark.key.flatMap { old.section(of: $0) },
                new: mark.key.flatMap { new.section(of: $0) })
        }
        guard !change.isEmpty else { return }
        block(
            .update(
                observed, deletions: change.deletions, insertions: change.insertions,
                modifications: change.modifications, sectionsToInsert: change.sectionsToInsert,
                sectionsToDelete: change.sectionsToDelete))
    }
}
