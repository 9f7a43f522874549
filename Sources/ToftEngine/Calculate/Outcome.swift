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
