import Testing
import ToftPlatform

/// Runs something on a thread of its own and waits for it. Its values are handed over, not shared.
func onAnotherThread(_ body: () throws -> Void) throws {
    try withoutActuallyEscaping(body) { body in
        let run = HandedOver(body)
        let thread = try PlatformThread(name: "test") {
            do { try run.value() } catch { Issue.record(error) }
        }
        thread.join()
    }
}

/// Something that another thread gets to use while this one does not.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
