internal import ToftModel
internal import ToftStorage

/// The work prepared for one session: the version to move to, and its observers' notifications.
struct NotificationPackage: Sendable {
    struct Item: Sendable {
        let observation: Observation
        /// The version of its last notification.
        let previousVersion: Version
        /// The observer's position afterwards.
        let basis: ObservedVersion
        let outcome: Outcome
        /// The observer's position before, once the session has taken the package.
        var before: ObservedVersion?
    }

    let view: ModelView
    var items: [Item]

    var version: Version { view.version }
    /// Whether any observer is to be called.
    var hasCalls: Bool { items.contains { $0.outcome.isCall } }
}

extension NotificationPackage.Item {
    /// The call that it means; nil for no call.
    func notification(version: Version) -> ChangeNotification? {
        switch outcome {
        case .nothing:
            return nil
        case .committed:
            return ChangeNotification(.update, from: previousVersion, to: version)
        case .collection(let change):
            var notification = ChangeNotification(
                change.isRootDeleted ? .deleted : .update, from: previousVersion, to: version)
            notification.collection = change
            return notification
        case .object(let change):
            var notification = ChangeNotification(
                change.isDeleted ? .deleted : .update, from: previousVersion, to: version)
            notification.object = change
            return notification
        case .failure(let error):
            return ChangeNotification(.failure(error), from: previousVersion, to: version)
        }
    }
}

extension NotificationPackage {
    /// Computes each observer's changes from its position to `view`. On any thread; takes no lock.
    static func prepare(_ observations: [Observation], to view: ModelView) -> NotificationPackage {
        var travellers: [Version: [(Observation, ObservedVersion)]] = [:]
        for observation in observations {
            if let basis = observation.basis, basis.version < view.version {
                travellers[basis.version, default: []].append((observation, basis))
            }
        }
        var made: [ObjectIdentifier: Item] = [:]
        for group in travellers.values {
            for item in items(for: group, to: view) {
                made[ObjectIdentifier(item.observation)] = item
            }
        }
        return NotificationPackage(
            view: view, items: observations.compactMap { made[ObjectIdentifier($0)] })
    }

    /// The items of observers at one version.
    private static func items(
        for group: [(observation: Observation, basis: ObservedVersion)], to view: ModelView
    ) -> [Item] {
        guard let start = group.first?.basis.view else { return [] }
        do throws(EngineError) {
            var calculation = try ChangeCalculation(
                from: start, to: view, interest: ChangeFilter(group.map(\.observation)))
            return group.map { calculation.item(for: $0.observation, basis: $0.basis) }
        } catch {
            return group.map {
                Item(
                    observation: $0.observation, previousVersion: $0.basis.version,
                    basis: ObservedVersion(view: view), outcome: .failure(error))
            }
        }
    }

    /// The package of a session whose next version can't be read: every observer gets the error,
    /// once.
    static func failure(_ error: EngineError, for observations: [Observation], at view: ModelView)
        -> NotificationPackage
    {
        let items = observations.compactMap { observation -> Item? in
            guard let basis = observation.basis else { return nil }
            return Item(
                observation: observation, previousVersion: basis.version, basis: basis,
                outcome: .failure(error))
        }
        return NotificationPackage(view: view, items: items)
    }
}

extension ChangeCalculation {
    /// An observer's notification and its new position.
    fileprivate mutating func item(for observation: Observation, basis: ObservedVersion)
        -> NotificationPackage.Item
    {
        var next = ObservedVersion(view: new)
        let outcome: Outcome
        do throws(EngineError) {
            outcome = try self.outcome(
                for: observation.subject, watching: observation.paths, basis: basis, next: &next)
        } catch {
            outcome = .failure(error)
        }
        return NotificationPackage.Item(
            observation: observation, previousVersion: basis.version, basis: next, outcome: outcome)
    }
}

extension ChangeFilter {
    /// The information that these observers need.
    fileprivate init(_ observations: some Sequence<Observation>) {
        for observation in observations {
            properties.formUnion(observation.paths?.properties ?? [])
            switch observation.subject {
            case .database: break
            case .object(let object): objects.insert(object)
            case .collection(let ref): add(ref)
            case .results(let definition):
                if case .collection(let ref) = definition.base { add(ref) }
            }
        }
    }

    private mutating func add(_ ref: CollectionRef) {
        // Lists within mixed values are compared.
        if ref.nested == nil { lists.insert(ref) }
    }
}
