internal import ToftPlatform

/// AES-256 in counter mode under one key. Any thread.
///
/// `@unchecked Sendable`: a context is used by the thread that took it out of the list.
final class CounterMode: @unchecked Sendable {
    private let crypto: LibCrypto
    /// Contexts with the key that nobody uses now.
    private let idle = FutexMutex<[OpaquePointer]>([])
    private let key: SecretMemory

    /// - Throws: `cipherMissing`.
    init(key: SecretMemory) throws(StorageError) {
        crypto = try LibCrypto.load()
        self.key = key
    }

    deinit {
        // Wipes the key that each has.
        for context in idle.withLock({ $0 }) { crypto.freeContext(context) }
    }

    /// Encrypts or decrypts bytes, which is the same: `start` is the counter's first value. Source
    /// and destination may be one.
    ///
    /// - Throws: `addressSpaceExhausted` if libcrypto finds no memory.
    func apply(
        _ start: Digest, _ source: UnsafeRawPointer, to destination: UnsafeMutableRawPointer,
        count: Int
    ) throws(StorageError) {
        let context: OpaquePointer
        if let last = idle.withLock({ $0.popLast() }) {
            context = last
        } else {
            context = try makeContext()
        }
        defer { idle.withLock { $0.append(context) } }
        let isDone = withUnsafeTemporaryAllocation(byteCount: Digest.size, alignment: 16) { bytes in
            guard let counter = bytes.baseAddress else { return false }
            start.encode(to: counter)
            var written: Int32 = 0
            return crypto.startCipher(context, nil, nil, nil, counter) == 1
                && crypto.updateCipher(
                    context, destination, &written, source, Int32(clamping: count)) == 1
                && Int(written) == count
        }
        if !isDone { throw .addressSpaceExhausted }
    }

    /// Single blocks under the same key.
    func blocks() throws(StorageError) -> BlockMode { try BlockMode(crypto, key: key) }

    private func makeContext() throws(StorageError) -> OpaquePointer {
        guard let context = crypto.makeContext() else { throw .addressSpaceExhausted }
        guard
            crypto.startCipher(context, crypto.counterMode(), nil, key.bytes.baseAddress, nil) == 1
        else {
            crypto.freeContext(context)
            throw .addressSpaceExhausted
        }
        return context
    }
}

/// Single blocks of AES-256, encrypted and decrypted, for blocks whose content is known but not
/// their counter. One thread uses it.
final class BlockMode {
    private let crypto: LibCrypto
    private let encrypting: OpaquePointer
    private let decrypting: OpaquePointer

    /// - Throws: `addressSpaceExhausted` if libcrypto finds no memory.
    fileprivate init(_ crypto: LibCrypto, key: SecretMemory) throws(StorageError) {
        self.crypto = crypto
        guard let encrypting = crypto.makeContext() else { throw .addressSpaceExhausted }
        guard let decrypting = crypto.makeContext() else {
            crypto.freeContext(encrypting)
            throw .addressSpaceExhausted
        }
        self.encrypting = encrypting
        self.decrypting = decrypting
        let mode = crypto.blockMode(), bytes = key.bytes.baseAddress
        guard crypto.startCipher(encrypting, mode, nil, bytes, nil) == 1,
            crypto.startDecipher(decrypting, mode, nil, bytes, nil) == 1,
            crypto.setPadding(encrypting, 0) == 1, crypto.setPadding(decrypting, 0) == 1
        else { throw .addressSpaceExhausted }
    }

    deinit {
        crypto.freeContext(encrypting)
        crypto.freeContext(decrypting)
    }

    /// Encrypts whole blocks in place; false if libcrypto fails.
    func encrypt(_ blocks: UnsafeMutableRawPointer, count: Int) -> Bool {
        var written: Int32 = 0
        return crypto.updateCipher(
            encrypting, blocks, &written, blocks, Int32(clamping: count * Digest.size)) == 1
            && Int(written) == count * Digest.size
    }

    /// Decrypts whole blocks in place; false if libcrypto fails.
    func decrypt(_ blocks: UnsafeMutableRawPointer, count: Int) -> Bool {
        var written: Int32 = 0
        return crypto.updateDecipher(
            decrypting, blocks, &written, blocks, Int32(clamping: count * Digest.size)) == 1
            && Int(written) == count * Digest.size
    }
}
