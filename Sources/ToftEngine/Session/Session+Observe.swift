internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

extension Session {
    /// A descriptor that is readable while `dispatch` has something to do. It belongs to the
    /// session: poll it, never read or close it.
    package func eventDescriptor() throws(EngineError) -> Int32 {
        try check()
        let flag = try openChannel().flag
        if !flag.isIntact {
            throw EngineError(StorageError.descriptorLost(path: database.store.path))
        }
        return flag.fileDescriptor
    }

    /// Has a handler called, on any thread, whenever the event descriptor becomes readable, for
    /// callers without a loop that polls. It must not call the session, only cause the session's
    /// thread to dispatch.
    package func setWakeHandler(_ handler: @escaping @Sendable () -> Void) throws(EngineError) {
        try check()
        try openChannel().setWakeHandler(handler)
    }

    /// Announces new versions like changes, even without an observer.
    package func follow() throws(EngineError) {
        try check()
        let channel = try servedChannel()
        if channel.isBehind(database.store.latestVersion) { database.notifier.poke() }
    }

    /// True if a version is newer than the session's.
    package var isBehind: Bool { database.store.latestVersion > base.version }

    /// Moves to the version that the notifier has prepared, if one waits, and calls the observers
    /// that are due. Never waits. Does nothing in a write transaction. Returns the number of
    /// handlers called.
    @discardableResult
    package func dispatch() throws(EngineError) -> Int {
        try check()
        guard observation.depth == 0 else {
            throw EngineError(
                .insideCallback,
                "Can't dispatch inside a callback: the dispatch that called it continues when it "
                    + "returns."
            )
        }
        guard let channel else { return 0 }
        guard transaction == nil else {
            channel.flag.clear()
            return 0
        }
        guard let prepared = channel.take() else { return callInitial() }
        return deliver(adopt(prepared))
    }

    /// Observes every commit of any process: the session's own at once, others when the session
    /// moves to them.
    package func observe(_ handler: @escaping NotificationHandler) throws(EngineError) -> Token {
        try observe(.database, handler)
    }

    /// - Parameters:
    ///   - keyPaths: from the subject's class; nil for everything that the subject reaches.
    ///   - callsInitially: whether the first call of results and lists comes without a change.
    func observe(
        _ subject: Subject, _ handler: @escaping NotificationHandler, keyPaths: [String]? = nil,
        from classID: ClassID? = nil, callsInitially: Bool = true
    ) throws(EngineError) -> Token {
        try check()
        var paths: WatchedPaths?
        if let keyPaths { paths = try WatchedPaths(keyPaths, from: classID, in: schema) }
        guard transaction?.hasChanges != true else {
            throw EngineError(
                .observeInTransaction,
                "Can't observe in a write transaction that has changed something. Observe before "
                    + "it or after it."
            )
        }
        let channel = try servedChannel()
        let observation = Observation(
            subject, watching: paths, from: ObservedVersion(view: base),
            callsInitially: callsInitially, handler: handler)
        channel.add(observation)
        if channel.isBehind(database.store.latestVersion) { database.notifier.poke() }
        return Token(observation, in: channel)
    }

    /// The channel, which the notifier works for from now on.
    private func servedChannel() throws(EngineError) -> Channel {
        let channel = try openChannel()
        if !observation.isServed {
            try database.notifier.add(channel)
            observation.isServed = true
        }
        return channel
    }

    private func openChannel() throws(EngineError) -> Channel {
        if let channel { return channel }
        guard !isFrozen else {
            throw EngineError(
                .observationUnavailable,
                "A frozen realm never changes, so there is nothing to observe.")
        }
        let opened = try Channel(at: base)
        observation.channel = opened
        return opened
    }
}

// MARK: Delivery

extension Session {
    /// Moves the session and its observers to the version of a package. This happens before any
    /// handler runs: the notifier may work at any time, and must not compute the same changes
    /// again.
    func adopt(_ prepared: NotificationPackage) -> NotificationPackage {
        var adopted = prepared
        for index in adopted.items.indices {
            let item = adopted.items[index]
            if item.outcome.isCall { adopted.items[index].before = item.observation.basis }
            item.observation.move(to: item.basis)
        }
        move(to: prepared.view)
        return adopted
    }

    /// Calls the observers of a package that has been adopted, then those whose first call is due.
    /// Returns the number of calls.
    @discardableResult
    func deliver(_ prepared: NotificationPackage) -> Int {
        var calls = 0
        // The whole database first, as the frame for the other notifications.
        for item in prepared.items.filter(\.isOfDatabase)
            + prepared.items.filter({ !$0.isOfDatabase })
        {
            calls += tell(item, version: prepared.version) ? 1 : 0
        }
        calls += callInitial()
        pokeIfBehind()
        return calls
    }

    /// Calls an observer. If an earlier handler committed, this notification is out of date: the
    /// observer keeps its position, and is notified of both when the session next moves or
    /// dispatches.
    private func tell(_ item: NotificationPackage.Item, version: Version) -> Bool {
        guard isOpen, let notification = item.notification(version: version) else { return false }
        guard base.version == version else {
            if let before = item.before, item.observation.basis?.version == item.basis.version {
                item.observation.move(to: before)
                // The notifier's pending work begins at a position that the observer has left.
                channel?.sessionMoved(to: base)
            }
            return false
        }
        return call(item.observation, notification)
    }

    private func call(_ observation: Observation, _ notification: ChangeNotification) -> Bool {
        self.observation.depth += 1
        defer { self.observation.depth -= 1 }
        return observation.call(notification)
    }

    private func callInitial() -> Int {
        var calls = 0
        for observation in channel?.observations ?? [] where isOpen && observation.isInitialDue {
            // A transaction's changes would be notified again with its commit.
            if transaction?.hasChanges == true { break }
            observation.move(to: ObservedVersion(view: base))
            calls += call(observation, firstNotification(of: observation.subject)) ? 1 : 0
        }
        if calls > 0 { channel?.clearIfIdle() }
        return calls
    }

    /// The first call; the only one, if the subject has been deleted before it.
    private func firstNotification(of subject: Subject) -> ChangeNotification {
        guard (try? subject.isGone(in: base)) == true else {
            return ChangeNotification(.initial, from: 0, to: base.snapshot.version)
        }
        var notification = ChangeNotification(.deleted, from: 0, to: base.snapshot.version)
        notification.collection = .rootDeleted(count: 0)
        return notification
    }

    func pokeIfBehind() {
        if let channel, channel.isBehind(database.store.latestVersion) { database.notifier.poke() }
    }

    /// Moves to the version that the session has committed, and with it its observers of the whole
    /// database. Returns their notifications. A commit made during those is notified when the
    /// session next moves, so that calls don't nest without end.
    func adoptOwnCommit(_ view: ModelView) -> [NotificationPackage.Item] {
        let basis = ObservedVersion(view: view)
        var items: [NotificationPackage.Item] = []
        if !observation.isNotifyingOwnCommit {
            for observation in channel?.observations ?? []
            where observation.subject.isDatabase {
                guard let before = observation.basis, before.version != view.version else {
                    continue
                }
                items.append(
                    .init(
                        observation: observation, previousVersion: before.version,
                        basis: basis, outcome: .committed, before: before))
                observation.move(to: basis)
            }
        }
        move(to: view, isNoted: noteCommit())
        pokeIfBehind()
        return items
    }

    func tellOwnCommit(_ items: [NotificationPackage.Item]) {
        guard !items.isEmpty else { return }
        observation.isNotifyingOwnCommit = true
        defer { observation.isNotifyingOwnCommit = false }
        for item in items { _ = tell(item, version: item.basis.version) }
        pokeIfBehind()
    }
}

extension NotificationPackage.Item {
    var isOfDatabase: Bool { observation.subject.isDatabase }
}

extension Token {
    /// Whether the observation is one of a session's.
    package func belongs(to session: Session) -> Bool { session.channel === channel }
}
