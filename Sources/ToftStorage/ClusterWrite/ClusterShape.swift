/// The size of a new cluster.
struct ClusterShape {
    var rowCapacity: Int
    /// Bytes of heap, room included.
    var heap: Int
}

/// Room in clusters: no spare room once the end of the table has moved on, some after a change in
/// the middle, as much again while they grow.
extension ClusterBuilder {
    /// No room: for clusters that are full.
    var sealed: ClusterShape { ClusterShape(rowCapacity: rowCount, heap: liveHeap) }

    /// Some room.
    var loose: ClusterShape {
        let wanted = ClusterShape(
            rowCapacity: min(ClusterLimits.rows, max(8, rowCount * 3 / 2)),
            heap: hasHeap ? liveHeap + liveHeap / 4 + 64 : 0)
        return fits(wanted) ? filled(wanted) : sealed
    }

    /// Room for `rows` rows and `heap` more bytes, doubled if that fits; nil if the cluster has to
    /// be split or already has `ClusterLimits.rows` rows.
    func grown(rows: Int, from capacity: Int, heap: Int) -> ClusterShape? {
        guard rows <= ClusterLimits.rows else { return nil }
        let wantedCapacity =
            rows > capacity ? min(ClusterLimits.rows, max(8, capacity * 2)) : capacity
        let least = liveHeap + heap
        let expected =
            hasHeap ? max(least + least / 8 + 64, liveHeap * wantedCapacity / max(1, rowCount)) : 0
        let generous = ClusterShape(rowCapacity: wantedCapacity, heap: expected)
        if fits(generous) { return filled(generous) }
        let modest = ClusterShape(
            rowCapacity: max(rows, min(rows + rows / 8, wantedCapacity)), heap: least + least / 16)
        return fits(modest) || rows == 1 ? modest : nil
    }

    /// The shape of a tail: a page. Nil if `rows` rows with `heap` more bytes take more, and are
    /// not few.
    func tail(rows: Int, from capacity: Int, heap: Int) -> ClusterShape? {
        let least = liveHeap + heap
        var shape = ClusterShape(rowCapacity: rows, heap: least)
        guard pages(shape) == 1 && rows <= ClusterLimits.rows else {
            return rows > ClusterLimits.tailRows
                ? nil : grown(rows: rows, from: capacity, heap: heap)
        }
        while shape.rowCapacity + 8 <= ClusterLimits.rows {
            let larger = ClusterShape(
                rowCapacity: shape.rowCapacity + 8,
                heap: max(least, least * (shape.rowCapacity + 8) / max(1, rowCount)))
            if pages(larger) > 1 { break }
            shape = larger
        }
        return shape
    }

    /// The shape of a cluster that begins with these few rows at the end of the table: like the one
    /// before if many rows are coming.
    func first(like last: ClusterBuilder?) -> ClusterShape {
        if let last {
            let more = last.isFull ? 0 : last.rowCount / 8
            let capacity = min(ClusterLimits.rows, last.rowCount + more)
            let heap = liveHeap + last.plainHeap + last.plainHeap / 16
            let same = ClusterShape(rowCapacity: max(8, capacity), heap: hasHeap ? heap : 0)
            if fits(same) { return same }
        }
        let small = ClusterShape(rowCapacity: max(8, rowCount), heap: liveHeap)
        return fits(small) ? filled(small) : sealed
    }

    /// Number of rows that fill all pages but the last, if all `rows` rows, which take `payload`
    /// bytes, would leave a sixteenth of their cluster empty. All rows, if that number would be
    /// small.
    static func rowsFillingPages(_ rows: Int, payload: Int) -> Int {
        let pages = pages(payload: payload)
        guard pages > 1, room(pages) - payload >= pages * Page.size / 16 else { return rows }
        let fewer = rows * room(pages - 1) / payload
        return fewer >= ClusterLimits.filledRows ? fewer : rows
    }

    /// Whether further rows, if they are like these, would not fill a page, except for a few.
    var isFull: Bool {
        let all = ClusterLimits.rows
        let limit = Self.rowsFillingPages(
            all, payload: fixedBytes(all) + liveHeap * all / max(1, rowCount))
        return rowCount >= Self.enoughRows(limit)
    }

    /// Number of rows from which a cluster with a limit counts as full: it is not rewritten for a
    /// few more.
    static func enoughRows(_ limit: Int) -> Int {
        limit < ClusterLimits.rows ? limit - limit / 32 : limit
    }

    /// The first rows alone, if they fill their pages and all rows would not.
    func fillingPages() throws(StorageError) -> ClusterBuilder? {
        let pages = pages(sealed)
        var rows = Self.rowsFillingPages(rowCount, payload: payload)
        while rows < rowCount && rows >= ClusterLimits.filledRows {
            let fewer = try first(rows)
            if fewer.pages(fewer.sealed) < pages { return fewer }
            rows -= 4
        }
        return nil
    }

    func fits(_ shape: ClusterShape) -> Bool { pages(shape) * Page.size <= ClusterLimits.bytes }

    /// Without a heap, the rest of the last page is room for further rows.
    private func filled(_ shape: ClusterShape) -> ClusterShape {
        guard !hasHeap else { return shape }
        var filled = shape
        let pages = pages(shape)
        while filled.rowCapacity + 8 <= ClusterLimits.rows {
            filled.rowCapacity += 8
            if self.pages(filled) > pages {
                filled.rowCapacity -= 8
                break
            }
        }
        return filled
    }
}
