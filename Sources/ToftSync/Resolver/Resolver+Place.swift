/// Places of elements: the tree of Fugue, kept for elements above the floor.
///
/// An element is a right child of its left neighbour or, where that has right children which the
/// author knew, a left child of its right neighbour. Children of one side stand by the time of
/// their transaction, earlier first. So a run that one author has typed, forwards or backwards, is
/// never broken up by another's.
extension Resolver {
    /// A label for an element between two neighbours, and its place in the tree.
    mutating func place(_ neighbours: Neighbours, in list: Path) -> (label: Int64, TreePlace) {
        let (left, right) = (neighbours.left, neighbours.right)
        let leftPlace = left.flatMap { usablePlace(of: $0, in: list) }
        let isLeftUsable = left == nil || leftPlace != nil
        var before: ElementPlace?
        var after: ElementPlace?
        var parent: MadeID?
        var side = TreePlace.Side.right
        if let right, let rightPlace = usablePlace(of: right, in: list),
            !isLeftUsable || child(right, of: left, .right, in: list) != nil
        {
            (parent, side) = (right, .left)
            (before, after) = (store.place(before: rightPlace, in: list), rightPlace)
            while let last = before, let other = child(last.id, of: right, .left, in: list),
                !isEarlier(other)
            {
                (before, after) = (store.place(before: last, in: list), last)
            }
        } else if isLeftUsable {
            parent = left
            (before, after) = (leftPlace, store.place(after: leftPlace, in: list))
            while let next = after, let other = child(next.id, of: left, .right, in: list),
                isEarlier(other)
            {
                (before, after) = (next, store.place(after: next, in: list))
            }
        } else {
            before = store.place(before: nil, in: list)
        }
        store.placements += 1
        let place = TreePlace(
            parent: parent, side: side, parentPlacement: placement(of: parent, in: list),
            placement: store.placements)
        return (label(between: before, and: after, in: list), place)
    }

    /// The place of an element or tombstone, unless somebody has moved it since the author saw it.
    private func usablePlace(of id: MadeID, in list: Path) -> ElementPlace? {
        let path = list + .element(id)
        if let move = store.write(at: path + .label), !knew(move) { return nil }
        if case .element(let label, _) = store.content(at: path) { return ElementPlace(label, id) }
        return store.tombstone(at: path).map { ElementPlace(Label($0.label), id) }
    }

    /// The note of an element's last placement.
    private func note(of id: MadeID, in list: Path) -> WriteNote? {
        let path = list + .element(id)
        return store.write(at: path + .label) ?? store.write(at: path)
    }

    private func placement(of id: MadeID?, in list: Path) -> UInt64 {
        id.flatMap { note(of: $0, in: list)?.place?.placement } ?? 0
    }

    /// The note of that child of `parent`, on one side, in whose subtree an element is.
    private mutating func child(
        _ id: MadeID, of parent: MadeID?, _ side: TreePlace.Side, in list: Path
    ) -> WriteNote? {
        let oldest = placement(of: parent, in: list)
        var (above, steps) = (id, 0)
        // A child is placed after its parent, so the way up ends.
        while let note = note(of: above, in: list), let place = note.place,
            place.placement > oldest
        {
            // A parent that has moved since is none; one whose note is forgotten is.
            if let up = place.parent, let now = self.note(of: up, in: list)?.place,
                now.placement != place.parentPlacement
            {
                return nil
            }
            if place.parent == parent, place.side == side {
                if steps > 8 { climbs.note(above, for: Climb(list, id, parent, side)) }
                return note
            }
            guard let up = place.parent else { return nil }
            (above, steps) = (up, steps + 1)
            // The neighbour of the element before, which was looked for when that one came.
            if steps == 1, let known = climbs[Climb(list, up, parent, side)] {
                climbs.note(known, for: Climb(list, id, parent, side))
                return self.note(of: known, in: list)
            }
        }
        return nil
    }

    private func isEarlier(_ write: WriteNote) -> Bool {
        (write.time, write.writer) < (time, author)
    }

    // MARK: Labels

    private mutating func label(
        between before: ElementPlace?, and after: ElementPlace?, in list: Path
    ) -> Int64 {
        let gap = settings.labelGap
        switch (before?.label.whole, after?.label.whole) {
        case (nil, nil): return 0
        case (nil, let high?) where high > .min + 2 * gap: return high - gap
        case (let low?, nil) where low < .max - 2 * gap: return low + gap
        case (let low?, let high?) where low.distance(to: high, isAtLeast: 2):
            return (low & high) + ((low ^ high) >> 1)
        default: return renumber(between: before, and: after, in: list)
        }
    }

    /// Gives the smallest crowded part of a list labels with room between them; the label for an
    /// element between `before` and `after`.
    private mutating func renumber(
        between before: ElementPlace?, and after: ElementPlace?, in list: Path
    ) -> Int64 {
        var left: [ElementPlace] = []  // from `before` to the front
        var right: [ElementPlace] = []
        var (low, high) = (before, after)
        var crowding: Int64 = 1
        var half = 1
        while low != nil || high != nil {
            while let place = low, left.count < half || settings.renumbersWholeLists {
                left.append(place)
                low = store.place(before: place, in: list)
            }
            while let place = high, right.count < half || settings.renumbersWholeLists {
                right.append(place)
                high = store.place(after: place, in: list)
            }
            // Wider parts get wider steps (by 4/3 each time), so that they are crowded later.
            half *= 2
            crowding += crowding / 3 + 1
            let places = Int64(left.count + right.count + 1)
            switch (low?.label.whole, high?.label.whole) {
            case (let first?, let last?):
                let (room, overflow) = last.subtractingReportingOverflow(first)
                let step = (overflow ? .max : room) / (places + 1)
                if step > crowding {
                    return relabel(left, right, from: first + step, step, in: list)
                }
            // At an end there is as much room as one likes.
            case (let first?, nil) where first < .max - (places + 1) * settings.labelGap:
                let gap = settings.labelGap
                return relabel(left, right, from: first + gap, gap, in: list)
            case (nil, let last?) where last > .min + (places + 1) * settings.labelGap:
                let gap = settings.labelGap
                return relabel(left, right, from: last - places * gap, gap, in: list)
            default: continue
            }
        }
        // A whole list; labels from 0.
        return relabel(left, right, from: 0, settings.labelGap, in: list)
    }

    private mutating func relabel(
        _ left: [ElementPlace], _ right: [ElementPlace], from first: Int64, _ step: Int64,
        in list: Path
    ) -> Int64 {
        let own = first + Int64(left.count) * step
        let labels =
            left.reversed().enumerated().map { ($1.id, first + Int64($0) * step) }
            + right.enumerated().map { ($1.id, own + Int64($0 + 1) * step) }
        for (id, label) in labels {
            let path = list + .element(id)
            if let tombstone = store.tombstone(at: path) {
                store.setTombstone(Tombstone(label: label, entry: tombstone.entry), at: path)
            } else {
                store.put(.label(Label(label)), at: path + .label)
                show(path + .label)
            }
        }
        return own
    }
}

extension Int64 {
    fileprivate func distance(to other: Int64, isAtLeast distance: Int64) -> Bool {
        let (room, overflow) = other.subtractingReportingOverflow(self)
        return overflow || room >= distance
    }
}

/// One way up the tree of a list's places: from an element to a child of `parent`.
struct Climb: Hashable, Sendable {
    let list: Path
    let id: MadeID
    let parent: MadeID?
    let side: TreePlace.Side

    init(_ list: Path, _ id: MadeID, _ parent: MadeID?, _ side: TreePlace.Side) {
        self.list = list
        self.id = id
        self.parent = parent
        self.side = side
    }
}

/// The ends of long ways up, so that a run of elements is not climbed anew for each. New elements
/// leave them, as they are leaves; all others that change the tree forget all.
struct Climbs: Sendable {
    private static let most = 100_000
    private var ends: [Climb: MadeID] = [:]

    subscript(climb: Climb) -> MadeID? { ends.isEmpty ? nil : ends[climb] }

    mutating func note(_ end: MadeID, for climb: Climb) {
        if ends.count >= Self.most { ends = [:] }
        ends[climb] = end
    }

    mutating func forget() {
        if !ends.isEmpty { ends = [:] }
    }
}
