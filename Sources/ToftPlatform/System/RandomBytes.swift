internal import CPlatform
internal import Glibc

/// Unpredictable bytes from the kernel: salts, identities, names of temporary files.
package enum RandomBytes {
    /// Any number but 0.
    package static func nonzero() throws(SystemError) -> UInt64 {
        while true {
            let number = try uint64()
            if number != 0 { return number }
        }
    }

    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SystemError) {
        var done = 0
        while done < buffer.count {
            guard let base = buffer.baseAddress else { return }
            let count = platform_random(base + done, buffer.count - done)
            if count == -Int(EINTR) { continue }
            done += try checked("getrandom", "", count)
        }
    }

    package static func uint64() throws(SystemError) -> UInt64 {
        var value: UInt64 = 0
        let result: Result<Void, SystemError> = withUnsafeMutableBytes(of: &value) { bytes in
            do throws(SystemError) {
                return .success(try fill(bytes))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return value
    }
}
