/// An observer, and a copy of the observed content that is fed by change sets alone.
final class Watcher {
    /// The subject, so that the model can compute its content.
    enum Subject {
        case database
        case object(Int, Int64)
        case list(Int, Int64, Int)
        case found(Question)
        case linking(Int, Int64, Int)
    }

    struct Row: Equatable {
        var key: Int64
        /// A hash of all that the row holds.
        var print: Int
    }

    let subject: Subject
    var token: AnyObject?
    private var arrived: [ModelChange] = []
    private var copy: [Row]?
    private var object: [Datum]?
    private(set) var isEnded = false
    private(set) var calls = 0

    init(_ subject: Subject, _ content: ModelContent) {
        self.subject = subject
        if case .object(let owner, let key) = subject { object = content.row(owner, key) }
    }

    func receive(_ change: ModelChange) { arrived.append(change) }

    /// Processes the calls that came. Returns the fault, if any.
    func work(_ content: (UInt64) -> ModelContent?) -> String? {
        defer { arrived = [] }
        for change in arrived {
            calls += 1
            if isEnded { return "a call after the last one" }
            if case .database = subject { continue }
            guard change.kind != .failure else { return "changes could not be worked out" }
            guard let now = content(change.version) else { return "version \(change.version)?" }
            if let wrong = apply(change, now) { return wrong }
        }
        return nil
    }

    private func apply(_ change: ModelChange, _ content: ModelContent) -> String? {
        if change.kind == .deleted {
            isEnded = true
            return isGone(content) ? nil : "a last call for what is still there"
        }
        if case .object(let owner, let key) = subject {
            guard let now = content.row(owner, key) else { return "an update of a deleted object" }
            defer { object = now }
            for (place, value) in (object ?? []).enumerated()
            where !Datum.isSame(value, now[place]) && !change.properties.contains(place) {
                return "property \(place) changed and is not listed"
            }
            return nil
        }
        guard let now = rows(content) else { return "an update of what is gone" }
        guard change.kind == .update, let old = copy else {
            copy = now
            return nil
        }
        guard let replayed = Self.replay(change, old, now) else {
            return "a change set that does not fit: \(change) on \(old.count) -> \(now.count)"
        }
        copy = now
        guard replayed == now else {
            let place = zip(replayed, now).enumerated().first { $0.element.0 != $0.element.1 }
            return "after \(change) the copy differs at \(place?.offset ?? -1)"
        }
        return nil
    }

    private static func replay(_ change: ModelChange, _ old: [Row], _ now: [Row]) -> [Row]? {
        guard change.modifications.count == change.modificationsNew.count,
            old.count - change.deletions.count + change.insertions.count == now.count,
            change.deletions.last ?? -1 < old.count, change.insertions.last ?? -1 < now.count,
            change.modifications.last ?? -1 < old.count,
            change.modificationsNew.last ?? -1 < now.count
        else { return nil }
        var copy = old
        let gone = Set(change.deletions)
        if !gone.isEmpty {
            copy = old.indices.filter { !gone.contains($0) }.map { old[$0] }
        }
        var merged: [Row] = []
        var next = 0
        let new = Set(change.insertions)
        for index in now.indices {
            if new.contains(index) {
                merged.append(now[index])
            } else {
                guard next < copy.count else { return nil }
                merged.append(copy[next])
                next += 1
            }
        }
        for index in change.modificationsNew { merged[index] = now[index] }
        return merged
    }

    /// After a session's refresh, a subject without a notification has not changed.
    func missed(_ content: ModelContent) -> String? {
        if case .database = subject { return nil }
        if isEnded { return nil }
        if isGone(content) { return "nobody said that it is gone" }
        if case .object(let owner, let key) = subject {
            let now = content.row(owner, key) ?? []
            for (place, value) in (object ?? []).enumerated()
            where !Datum.isSame(value, now[place]) {
                return "nobody said that property \(place) changed"
            }
            return nil
        }
        guard let copy else { return "there was no first call" }
        return copy == rows(content) ? nil : "nobody said what changed"
    }

    private func isGone(_ content: ModelContent) -> Bool {
        switch subject {
        case .database, .found: false
        case .object(let owner, let key), .list(let owner, let key, _),
            .linking(let owner, let key, _):
            content.row(owner, key) == nil
        }
    }

    private func rows(_ content: ModelContent) -> [Row]? {
        func rows(_ owner: Int, _ keys: [Int64]) -> [Row] {
            keys.map { key in
                var hasher = Hasher()
                for value in content.row(owner, key) ?? [] { value.hash(into: &hasher) }
                return Row(key: key, print: hasher.finalize())
            }
        }
        switch subject {
        case .database, .object: return []
        case .list(let owner, let key, let property):
            guard let row = content.row(owner, key) else { return nil }
            let declared = content.shape.classes[owner].properties[property]
            if declared.type == .link {
                let linked = rows(
                    declared.target,
                    row[property].values.map { if case .link(let key) = $0 { key } else { -1 } })
                return zip(linked, row[property].elements).map { linked, element in
                    guard case .entry(let key, _) = element else { return linked }
                    return Row(key: linked.key, print: linked.print ^ key.hashValue)
                }
            }
            return row[property].elements.map { value in
                var hasher = Hasher()
                value.hash(into: &hasher)
                return Row(key: 0, print: hasher.finalize())
            }
        case .found(let question):
            return rows(
                question.owner,
                question.answer(content, of: content.classes[question.owner].keys))
        case .linking(let owner, let key, let inverse):
            guard content.row(owner, key) != nil else { return nil }
            let link = content.shape.classes[owner].inverses[inverse]
            return rows(link.origin, content.sources(of: key, through: link))
        }
    }
}
