package import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// What threads besides a session's own see of it: changed with its lock, on its own thread.
struct SharedView {
    /// What the session stands at; nil after its end.
    var view: ModelView?
    /// Whether a write transaction is open.
    var isWriting = false
}

/// What any thread may ask: it is answered by the version that the session stands at, without what
/// an open write transaction has changed. What can't be read is not there.
extension Session {
    /// Whether an object exists. One that an open write transaction has made does, too.
    package func existsElsewhere(_ ref: ObjectRef) -> Bool {
        shared.withLock { shared in
            guard let view = shared.view else { return false }
            if (try? view.exists(ref)) == true { return true }
            return shared.isWriting && (try? view.isToCome(ref)) == true
        }
    }

    /// Whether classes with these names have no object.
    package func isEmptyElsewhere(_ names: [String]) -> Bool {
        shared.withLock { shared in
            guard let view = shared.view else { return true }
            return names.allSatisfy { name in
                guard let owner = try? view.schema.classHandle(named: name) else { return true }
                return (try? view.count(owner)) ?? 0 == 0
            }
        }
    }

    /// The version that the session stands at; 0 after its end.
    package var versionElsewhere: UInt64 {
        shared.withLock { $0.view?.version.rawValue ?? 0 }
    }

    /// The classes that the session sees; none after its end.
    package var classesElsewhere: [ClassHandle] {
        shared.withLock { $0.view?.schema.visibleClasses ?? [] }
    }
}

extension Results {
    /// Whether what the results were made from still exists, for any thread.
    package var isValidElsewhere: Bool {
        session.shared.withLock { shared in
            guard let view = shared.view else { return false }
            return shared.isWriting || (try? definition.isGone(in: view)) == false
        }
    }
}
