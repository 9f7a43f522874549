/// Runs a schedule: what it found, or nil.
func failure(of schedule: Schedule, _ counts: inout [String: Int]) -> Failure? {
    var world = World(schedule)
    defer { counts.merge(world.counts, uniquingKeysWith: +) }
    do throws(Failure) {
        try world.run()
        return nil
    } catch { return error }
}

extension Schedule {
    /// A schedule with as few events as this finds that still fails.
    func shrunk() -> Schedule {
        var best = self
        var counts: [String: Int] = [:]
        func fails(_ events: [Event]) -> Bool {
            var schedule = best
            schedule.events = events
            guard failure(of: schedule, &counts) != nil else { return false }
            best = schedule
            return true
        }
        for client in 0..<clients {
            _ = fails(best.events.filter { $0.client != client })
        }
        var size = max(best.events.count / 2, 1)
        while true {
            var start = 0
            while start < best.events.count {
                let end = min(start + size, best.events.count)
                let others = Array(best.events[..<start] + best.events[end...])
                if !fails(others) { start = end }
            }
            if size == 1 { return best }
            size /= 2
        }
    }
}
