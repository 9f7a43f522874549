import Foundation
import Synchronization
import Testing

/// A thread with a run loop, as an app's main thread is one.
struct LoopThread {
    /// Runs a body on a new thread, and waits for its end.
    static func run(_ body: @escaping @Sendable (LoopThread) throws -> Void) throws {
        let result = Mutex<(any Error)?>(nil)
        let end = DispatchSemaphore(value: 0)
        let thread = Thread {
            do {
                try body(LoopThread())
            } catch {
                result.withLock { $0 = error }
            }
            end.signal()
        }
        thread.start()
        end.wait()
        if let error = result.withLock({ $0 }) { throw error }
    }

    /// Runs a block from inside the run loop, where observing is possible.
    func inside<Result>(_ block: @escaping () throws -> Result) throws -> Result {
        let outcome = Box<Swift.Result<Result, any Error>?>(nil)
        let work = Box(block)
        let timer = Timer(timeInterval: 0, repeats: false) { _ in
            outcome.value = Swift.Result { try work.value() }
        }
        RunLoop.current.add(timer, forMode: .common)
        wait { outcome.value != nil }
        return try #require(outcome.value).get()
    }

    /// Runs the loop until a condition holds; false if it does not within some seconds.
    @discardableResult
    func wait(_ seconds: Double = 60, until condition: () -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while !condition() {
            guard Date() < end else { return false }
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
        }
        return true
    }

    /// Runs the loop for a time in which nothing is expected to happen.
    func rest() {
        wait(0.15) { false }
    }
}

/// A value that closures share on one thread.
final class Box<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// Runs a block on another thread, and waits for it.
func elsewhere<Result: Sendable>(_ block: @escaping @Sendable () throws -> Result) throws -> Result
{
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
    let end = DispatchSemaphore(value: 0)
    Thread {
        let result = Swift.Result { try block() }
        outcome.withLock { $0 = result }
        end.signal()
    }.start()
    end.wait()
    return try #require(outcome.withLock { $0 }).get()
}

/// A value that threads share.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    /// The value as it is now.
    var current: Value { state.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) {
        state.withLock { body(&$0) }
    }
}
