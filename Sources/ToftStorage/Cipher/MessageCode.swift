internal import ToftPlatform

/// HMAC under one key of at most 64 bytes, with SHA-256 unless another hash is named. Any thread.
struct MessageCode: Sendable {
    /// Bytes of a whole code of SHA-256.
    static let size = 32
    private static let blockSize = 64

    private let hash: LibCrypto.Hash
    /// The states of the hash behind the inner and the outer block of the key.
    private let states: SecretMemory

    /// - Throws: `cipherMissing`.
    init(
        key: UnsafeRawBufferPointer, hash: KeyPath<LibCrypto, LibCrypto.Hash> = \.sha256
    ) throws(StorageError) {
        self.hash = try LibCrypto.load()[keyPath: hash]
        states = SecretMemory(byteCount: 2 * LibCrypto.Hash.stateSize)
        let block = SecretMemory(byteCount: Self.blockSize)
        block.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: key.prefix(Self.blockSize)))
        guard let state = states.bytes.baseAddress, let bytes = block.bytes.baseAddress else {
            return
        }
        for index in block.bytes.indices { block.bytes[index] ^= 0x36 }
        _ = self.hash.start(state)
        _ = self.hash.update(state, bytes, Self.blockSize)
        for index in block.bytes.indices { block.bytes[index] ^= 0x36 ^ 0x5C }
        _ = self.hash.start(state + LibCrypto.Hash.stateSize)
        _ = self.hash.update(state + LibCrypto.Hash.stateSize, bytes, Self.blockSize)
    }

    /// Writes the code of a message, which comes in pieces, into as many bytes as its hash gives.
    func write(_ pieces: [UnsafeRawBufferPointer], to code: UnsafeMutableRawPointer) {
        withUnsafeTemporaryAllocation(byteCount: LibCrypto.Hash.stateSize, alignment: 16) {
            buffer in
            guard let state = buffer.baseAddress, let begun = states.bytes.baseAddress else {
                return
            }
            state.copyMemory(from: begun, byteCount: LibCrypto.Hash.stateSize)
            for piece in pieces {
                if let base = piece.baseAddress { _ = hash.update(state, base, piece.count) }
            }
            _ = hash.finish(code, state)
            state.copyMemory(
                from: begun + LibCrypto.Hash.stateSize, byteCount: LibCrypto.Hash.stateSize)
            _ = hash.update(state, code, hash.size)
            _ = hash.finish(code, state)
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
