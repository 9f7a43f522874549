import ToftPlatform
import ToftStorage
@testable import ToftEngine

/// Dispatches until the session shows the newest version and no notification is left.
func normalize(_ session: Session) throws(EngineError) {
    try session.dispatch()
    while let channel = session.channel,
        channel.isBehind(session.database.store.latestVersion)
            || channel.flag.wait(timeoutMilliseconds: 0)
    {
        _ = channel.flag.wait(timeoutMilliseconds: 100)
        try session.dispatch()
    }
}
