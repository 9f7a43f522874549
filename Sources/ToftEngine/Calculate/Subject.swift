internal import ToftModel
internal import ToftStorage

/// The subject of an observation: enough to find it in any version.
enum Subject: Sendable {
    case database
    case object(ObjectRef)
    case collection(CollectionRef)
    case results(ResultsDefinition)
}

extension Subject {
    /// Whether the subject no longer exists.
    func isGone(in view: ModelView) throws(ModelError) -> Bool {
        switch self {
        case .database: false
        case .object(let object): try !view.exists(object)
        case .collection(let ref): try !view.exists(ref)
        case .results(let definition): try definition.isGone(in: view)
        }
    }

    var isDatabase: Bool {
        if case .database = self { true } else { false }
    }

    /// Whether the first call comes without a change.
    var hasInitialCall: Bool {
        switch self {
        case .database, .object: false
        case .collection, .results: true
        }
    }
}

/// An observer's position: the version of its last notification.
struct ObservedVersion: Sendable {
    let view: ModelView
    /// The results in that version, if they have been evaluated.
    var order: ResultRows?

    var version: Version { view.version }
}

/// The kind of the notification.
enum Outcome: Sendable {
    case nothing
    case committed
    case collection(CollectionChange)
    case object(ObjectChange)
    case failure(EngineError)
}

extension Outcome {
    var isCall: Bool {
        if case .nothing = self { false } else { true }
    }
}
