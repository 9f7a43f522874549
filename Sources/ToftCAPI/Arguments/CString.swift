internal import CToft

/// A text in memory that C can point into for as long as this object lives; a NUL follows it.
///
/// `@unchecked Sendable`: its memory is never changed.
final class CString: @unchecked Sendable {
    private let bytes: UnsafeMutablePointer<CChar>
    private let count: Int

    init(_ text: String) {
        let utf8 = text.utf8
        let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: utf8.count + 1)
        var index = 0
        for unit in utf8 {
            buffer[index] = CChar(bitPattern: unit)
            index += 1
        }
        buffer[index] = 0
        bytes = buffer.baseAddress.unsafelyUnwrapped
        count = index
    }

    deinit { bytes.deallocate() }

    var string: toft_string { toft_string(data: bytes, size: count) }
}
