internal import ToftEngine

extension Realm {
    /// Calls the block after every commit of any process: at once for this realm's own, when the
    /// realm moves to it for others. When `autorefresh` is off, it gets `.refreshRequired` instead.
    public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
        Misuse.reporting {
            try session.verify()
            try session.requireDelivery()
            return try session.observeRealm(block)
        } ?? NotificationToken()
    }
}

extension RealmSession {
    fileprivate func observeRealm(_ block: @escaping NotificationBlock) throws -> NotificationToken
    {
        let observer = RealmObserver(block)
        add(observer)
        let token = try engine.observe { [weak self] _ in
            if let self { observer.block(.didChange, Realm(self)) }
        }
        observer.token = token
        return NotificationToken(token, keeping: self)
    }
}
