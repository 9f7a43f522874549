import ToftModel
import ToftStorage
@testable import ToftEngine

/// Keeps a copy of results or of a list that is fed by change sets alone, and compares it with the
/// original after each.
///
/// A copy keeps of an object a value of one property, so that a forgotten modification shows.
final class Follower {
    private let contents: () throws(EngineError) -> [String]
    private var copy: Replay<String>?
    private(set) var calls = 0
    /// The first difference between the copy and the original.
    private(set) var difference: String?
    private(set) var isEnded = false
    private var lastVersion: Version = 0
    var token: Token?

    init(_ contents: @escaping () throws(EngineError) -> [String]) {
        self.contents = contents
    }

    /// The rows of results of objects: key and the property's value.
    static func following(_ results: Results, _ property: PropertyID) throws(EngineError)
        -> Follower
    {
        let follower = Follower { () throws(EngineError) in
            guard try results.isValid else { return [] }
            var rows: [String] = []
            for index in 0..<(try results.count) {
                let object = try results.object(at: index)
                rows.append("\(object.ref.key) \(try object.value(property))")
            }
            return rows
        }
        follower.token = try results.observe { [unowned follower] in follower.receive($0) }
        return follower
    }

    /// The elements of a list.
    static func following(_ list: CollectionHandle) throws(EngineError) -> Follower {
        let follower = Follower { () throws(EngineError) in
            guard try list.isValid else { return [] }
            var elements: [String] = []
            for index in 0..<(try list.count) { elements.append("\(try list.value(at: index))") }
            return elements
        }
        follower.token = try list.observe { [unowned follower] in follower.receive($0) }
        return follower
    }

    private func receive(_ notification: ChangeNotification) {
        calls += 1
        do throws(EngineError) {
            let now = try contents()
            if notification.version < lastVersion {
                note("version \(notification.version) after \(lastVersion)")
            }
            lastVersion = notification.version
            switch notification.kind {
            case .initial: copy = Replay(now)
            case .update: apply(notification.collection, now)
            case .deleted: isEnded = true
            case .failure(let error): note("\(error)")
            }
        } catch {
            note("\(error)")
        }
    }

    private func apply(_ change: CollectionChange, _ now: [String]) {
        guard let old = copy?.elements.count, change.isApplicable(old: old, new: now.count) else {
            return note(
                "a change set that does not fit: \(change) on \(copy?.elements.count ?? -1) -> "
                    + "\(now.count)"
            )
        }
        copy?.apply(change, current: now)
        if copy?.elements != now { note("after \(change): \(copy?.elements ?? []) is not \(now)") }
    }

    private func note(_ what: String) {
        if difference == nil { difference = what }
    }

    /// Whether the copy equals the present content.
    func isUpToDate() throws(EngineError) -> Bool {
        if isEnded { return true }
        return copy?.elements == (try contents())
    }
}

extension CollectionChange {
    /// True if its indices are within collections of these sizes, and the sizes fit.
    func isApplicable(old: Int, new: Int) -> Bool {
        (deletions.runs.last?.upperBound ?? 0) <= old
            && (insertions.runs.last?.upperBound ?? 0) <= new
            && (modifications.runs.last?.upperBound ?? 0) <= old
            && (modificationsNew.runs.last?.upperBound ?? 0) <= new
            && old - deletions.count + insertions.count == new
    }
}
