package import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// The part of a session that other threads see: changed with its lock, on its own thread.
struct SharedView {
    /// The session's version; nil after its end.
    var view: ModelView?
    /// Whether a write transaction is open.
    var isWriting = false
}

/// Questions that any thread may ask: the session's version answers them, without the changes of an
/// open write transaction. Unreadable objects count as missing.
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

    /// The session's version; 0 after its end.
    package var versionElsewhere: UInt64 {
        shared.withLock { $0.view?.version.rawValue ?? 0 }
    }

    /// The session's visible classes; empty after its end.
    package var classesElsewhere: [ClassHandle] {
        shared.withLock { $0.view?.schema.visibleClasses ?? [] }
    }
}
