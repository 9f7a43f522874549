internal import CPlatform

/// The stack of the calling thread. Code that nests as deeply as its input checks the room before
/// each level: a thread may have 64 KiB, and the process ends when the stack does.
package enum ThreadStack {
    /// Bytes for code that does not nest, including the deepest call of storage.
    #if DEBUG
    private static let reserve: UInt = 96 << 10
    #else
    private static let reserve: UInt = 20 << 10
    #endif

    private final class Bounds {
        private(set) var lowest: UInt = 0
        /// 0 if the system does not say.
        private(set) var size = 0

        init() {
            if platform_thread_stack(&lowest, &size) != 0 { size = 0 }
        }
    }

    private static let bounds = ThreadLocal<Bounds>()

    /// True if `bytes` are left besides those that any call takes. Also true on a stack that the
    /// thread was not created with, as its end is unknown.
    package static func hasRoom(for bytes: Int = 0) -> Bool {
        let position = platform_stack_position()
        return bounds.ask(orMake: { Bounds() }) { bounds in
            let left = position &- bounds.lowest
            return left >= UInt(bitPattern: bounds.size)
                || left >= reserve &+ UInt(bitPattern: bytes)
        }
    }
}
