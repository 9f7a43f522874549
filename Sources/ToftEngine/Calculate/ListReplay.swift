/// Replays the edits of a list on the positions of its old elements, and gives their changes.
///
/// The list is held as pieces: runs of old elements that are still adjacent, and runs of new ones.
/// Pieces are in chunks, so that an edit costs the square root of their number, not of the list's.
/// Edits come from records: one that does not fit the list is refused, and the caller compares the
/// two lists instead.
struct ListReplay {
    private struct Piece {
        /// The old index of the first element; -1 for new elements.
        var origin: Int
        var count: Int
        var isModified = false
        var isMoved = false

        var isNew: Bool { origin < 0 }
    }

    private struct Chunk {
        var pieces: [Piece]
        var count: Int
    }

    private static let piecesPerChunk = 512

    private let oldCount: Int
    private var chunks: [Chunk]
    /// The number of elements now.
    private(set) var count: Int
    private var isCleared = false

    init(count: Int) {
        oldCount = count
        self.count = count
        chunks = count > 0 ? [Chunk(pieces: [Piece(origin: 0, count: count)], count: count)] : []
    }
}

// MARK: Edits; each answers whether it fitted

extension ListReplay {
    mutating func apply(_ edit: ListEdit) -> Bool {
        switch edit {
        case .insert(let index): insert(at: index)
        case .erase(let index): erase(at: index)
        case .set(let index): set(at: index)
        case .move(let from, let to): move(from: from, to: to)
        case .swap(let one, let other): swap(one, other)
        case .clear: clear()
        }
    }

    private mutating func insert(at index: Int) -> Bool {
        guard index >= 0, index <= count else { return false }
        isCleared = false
        put(Piece(origin: -1, count: 1), at: index)
        return true
    }

    private mutating func erase(at index: Int) -> Bool {
        guard index >= 0, index < count else { return false }
        _ = take(at: index)
        return true
    }

    private mutating func set(at index: Int) -> Bool {
        guard index >= 0, index < count else { return false }
        var piece = take(at: index)
        piece.isModified = true
        put(piece, at: index)
        return true
    }

    private mutating func move(from: Int, to: Int) -> Bool {
        guard from >= 0, from < count, to >= 0, to < count else { return false }
        guard from != to else { return true }
        var piece = take(at: from)
        piece.isMoved = true
        put(piece, at: to)
        return true
    }

    /// As two moves, or as one when the elements are neighbours.
    private mutating func swap(_ one: Int, _ other: Int) -> Bool {
        let (low, high) = (min(one, other), max(one, other))
        guard low != high else { return low >= 0 && low < count }
        guard move(from: high, to: low) else { return false }
        return low + 1 == high || move(from: low + 1, to: high)
    }

    private mutating func clear() -> Bool {
        isCleared = isCleared || count > 0
        chunks = []
        count = 0
        return true
    }
}

// MARK: Pieces

extension ListReplay {
    private func locate(_ index: Int) -> (chunk: Int, piece: Int, offset: Int) {
        var rest = index
        var chunk = 0
        while chunk < chunks.count - 1, rest >= chunks[chunk].count {
            rest -= chunks[chunk].count
            chunk += 1
        }
        var piece = 0
        while piece < chunks[chunk].pieces.count, rest >= chunks[chunk].pieces[piece].count {
            rest -= chunks[chunk].pieces[piece].count
            piece += 1
        }
        return (chunk, piece, rest)
    }

    /// Takes one element out. The index is within the list.
    private mutating func take(at index: Int) -> Piece {
        let (chunk, position, offset) = locate(index)
        let whole = chunks[chunk].pieces[position]
        var taken = whole
        taken.count = 1
        if !whole.isNew { taken.origin = whole.origin + offset }
        var rest: [Piece] = []
        if offset > 0 { rest.append(part(of: whole, 0..<offset)) }
        if offset + 1 < whole.count { rest.append(part(of: whole, offset + 1..<whole.count)) }
        // Two parts of new elements are one run again.
        if whole.isNew, rest.count == 2 { rest = [part(of: whole, 0..<whole.count - 1)] }
        chunks[chunk].pieces.replaceSubrange(position...position, with: rest)
        chunks[chunk].count -= 1
        count -= 1
        normalize(chunk)
        return taken
    }

    private mutating func put(_ piece: Piece, at index: Int) {
        count += 1
        guard !chunks.isEmpty else {
            chunks = [Chunk(pieces: [piece], count: 1)]
            return
        }
        let (chunk, position, offset) = locate(index)
        chunks[chunk].count += 1
        if piece.isNew, let run = newRun(chunk, position, offset) {
            chunks[chunk].pieces[run].count += 1
        } else if offset == 0 {
            chunks[chunk].pieces.insert(piece, at: position)
        } else {
            let whole = chunks[chunk].pieces[position]
            chunks[chunk].pieces.replaceSubrange(
                position...position,
                with: [part(of: whole, 0..<offset), piece, part(of: whole, offset..<whole.count)])
        }
        normalize(chunk)
    }

    /// The run of new elements that a new one placed here joins.
    private func newRun(_ chunk: Int, _ position: Int, _ offset: Int) -> Int? {
        let pieces = chunks[chunk].pieces
        if position < pieces.count, pieces[position].isNew { return position }
        if offset == 0, position > 0, pieces[position - 1].isNew { return position - 1 }
        return nil
    }

    private func part(of piece: Piece, _ range: Range<Int>) -> Piece {
        var part = piece
        part.count = range.count
        if !piece.isNew { part.origin = piece.origin + range.lowerBound }
        return part
    }

    /// Splits a chunk that has grown too long, drops one that became empty.
    private mutating func normalize(_ chunk: Int) {
        let pieces = chunks[chunk].pieces
        if pieces.isEmpty {
            chunks.remove(at: chunk)
        } else if pieces.count > Self.piecesPerChunk {
            let halves = [
                Array(pieces[..<(pieces.count / 2)]), Array(pieces[(pieces.count / 2)...]),
            ]
            chunks.replaceSubrange(
                chunk...chunk,
                with: halves.map { Chunk(pieces: $0, count: $0.reduce(0) { $0 + $1.count }) })
        }
    }
}

// MARK: The outcome

extension ListReplay {
    /// The change of the list. `isModified` is called for elements that stayed, by their new index:
    /// their targets may have changed.
    func change<Failure>(isModified: (Int) throws(Failure) -> Bool) throws(Failure)
        -> CollectionChange
    {
        var change = CollectionChange()
        change.isCleared = isCleared
        let pieces = piecesAtRest()
        var position = 0
        var stayed: [Range<Int>] = []
        for piece in pieces {
            if piece.isNew || piece.isMoved {
                change.insertions.append(position..<position + piece.count)
                if piece.isMoved { change.moves.append(.init(from: piece.origin, to: position)) }
            } else {
                stayed.append(piece.origin..<piece.origin + piece.count)
                for offset in 0..<piece.count {
                    guard piece.isModified ? true : try isModified(position + offset) else {
                        continue
                    }
                    change.modifications.append(piece.origin + offset)
                    change.modificationsNew.append(position + offset)
                }
            }
            position += piece.count
        }
        change.deletions = gaps(between: stayed)
        return change
    }

    /// The change of a list whose elements are not links.
    func change() -> CollectionChange {
        change { _ in false }
    }

    /// The pieces in order. A moved piece that fits between its neighbours counts as not moved.
    private func piecesAtRest() -> [Piece] {
        var pieces = chunks.flatMap(\.pieces)
        for index in pieces.indices where pieces[index].isNew { pieces[index].isMoved = false }
        guard pieces.contains(where: \.isMoved) else { return pieces }
        var start = 0
        var floor = -1
        while start < pieces.count {
            let end = pieces[start...].firstIndex { !$0.isNew && !$0.isMoved } ?? pieces.count
            let ceiling = end < pieces.count ? pieces[end].origin : Int.max
            let fitting = (start..<end).filter {
                pieces[$0].isMoved && pieces[$0].origin > floor && pieces[$0].origin < ceiling
            }
            let kept = longestAscent(fitting.map { pieces[$0].origin }) { _ in false }
            for (index, isKept) in zip(fitting, kept) where isKept { pieces[index].isMoved = false }
            if end < pieces.count { floor = pieces[end].origin + pieces[end].count - 1 }
            start = end + 1
        }
        return pieces
    }

    private func gaps(between stayed: [Range<Int>]) -> IndexRanges {
        var gaps = IndexRanges()
        var next = 0
        for range in stayed {
            gaps.append(next..<range.lowerBound)
            next = range.upperBound
        }
        gaps.append(next..<oldCount)
        return gaps
    }
}
