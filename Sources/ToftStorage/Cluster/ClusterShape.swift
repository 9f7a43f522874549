/// The size of a new cluster.
struct ClusterShape {
    var rowCapacity: Int
    /// Bytes of heap, room included.
    var heap: Int
}

/// How much room clusters get: none once the end of the table has moved on, some after a change in
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

    /// Room for `rows` rows and `heap` more bytes, and for as much again where that fits; nil where
    /// the cluster has to be split, or has `ClusterLimits.rows` rows already.
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

    /// The shape of a tail: what a page takes. Nil where `rows` rows with `heap` more bytes take
    /// more, and are not few.
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

    /// The shape of a cluster that begins with this one row at the end of the table: like the one
    /// before where many rows are coming.
    func first(like last: ClusterBuilder?) -> ClusterShape {
        if let last {
            let capacity = min(ClusterLimits.rows, last.rowCount + last.rowCount / 8)
            let heap = liveHeap + last.plainHeap + last.plainHeap / 16
            let same = ClusterShape(rowCapacity: max(8, capacity), heap: hasHeap ? heap : 0)
            if fits(same) { return same }
        }
        let small = ClusterShape(rowCapacity: 8, heap: liveHeap)
        return fits(small) ? filled(small) : sealed
    }

    func fits(_ shape: ClusterShape) -> Bool { pages(shape) * Page.size <= ClusterLimits.bytes }

    /// Without a heap, what is left of the last page goes to further rows.
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
