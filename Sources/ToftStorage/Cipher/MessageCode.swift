internal import ToftPlatform

/// HMAC-SHA-256 under one key of at most 64 bytes. Any thread.
struct MessageCode: Sendable {
    /// Bytes of a whole code.
    static let size = 32
    private static let blockSize = 64

    private let crypto: LibCrypto
    /// The states of the hash behind the inner and the outer block of the key.
    private let states: SecretMemory

    /// - Throws: `cipherMissing`.
    init(key: UnsafeRawBufferPointer) throws(StorageError) {
        crypto = try LibCrypto.load()
        states = SecretMemory(byteCount: 2 * LibCrypto.hashState)
        let block = SecretMemory(byteCount: Self.blockSize)
        block.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: key.prefix(Self.blockSize)))
        guard let state = states.bytes.baseAddress, let bytes = block.bytes.baseAddress else {
            return
        }
        for index in block.bytes.indices { block.bytes[index] ^= 0x36 }
        _ = crypto.startHash(state)
        _ = crypto.updateHash(state, bytes, Self.blockSize)
        for index in block.bytes.indices { block.bytes[index] ^= 0x36 ^ 0x5C }
        _ = crypto.startHash(state + LibCrypto.hashState)
        _ = crypto.updateHash(state + LibCrypto.hashState, bytes, Self.blockSize)
    }

    /// Writes the code of a message, which comes in pieces, into `size` bytes.
    func write(_ pieces: [UnsafeRawBufferPointer], to code: UnsafeMutableRawPointer) {
        withUnsafeTemporaryAllocation(byteCount: LibCrypto.hashState, alignment: 16) { buffer in
            guard let state = buffer.baseAddress, let begun = states.bytes.baseAddress else {
                return
            }
            state.copyMemory(from: begun, byteCount: LibCrypto.hashState)
            for piece in pieces {
                if let base = piece.baseAddress { _ = crypto.updateHash(state, base, piece.count) }
            }
            _ = crypto.finishHash(code, state)
            state.copyMemory(
                from: begun + LibCrypto.hashState, byteCount: LibCrypto.hashState)
            _ = crypto.updateHash(state, code, Self.size)
            _ = crypto.finishHash(code, state)
        }
    }

    /// The first half of the code.
    func digest(_ pieces: [UnsafeRawBufferPointer]) -> Digest {
        withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 16) { buffer in
            guard let code = buffer.baseAddress else { return .none }
            write(pieces, to: code)
            return Digest(decoding: code)
        }
    }
}
