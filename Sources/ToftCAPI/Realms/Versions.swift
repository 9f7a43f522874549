internal import CToft

private let version: StaticString = "0.1.0"

@c @implementation
public func toft_version() -> UnsafePointer<CChar>? {
    version.foreign
}

@c @implementation
public func toft_version_number() -> UInt32 {
    UInt32(TOFT_VERSION_MAJOR * 1_000_000 + TOFT_VERSION_MINOR * 1_000 + TOFT_VERSION_PATCH)
}

@c @implementation
public func toft_abi_version() -> UInt32 {
    UInt32(TOFT_ABI_VERSION)
}

extension StaticString {
    /// The text for C: it is never released and ends in NUL.
    var foreign: UnsafePointer<CChar>? {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
