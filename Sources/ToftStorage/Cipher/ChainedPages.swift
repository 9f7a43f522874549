internal import ToftPlatform

/// Pages that other programs have encrypted with AES-256 in CBC mode and authenticated with
/// HMAC-SHA-224, under the two halves of one key. Toft's own pages are those of `Cipher`. One
/// thread.
package final class ChainedPages {
    /// Bytes of a page's code.
    package static let codeSize = 28
    private static let blockSize = 16

    private let blocks: BlockMode
    private let code: MessageCode

    /// - Throws: `cipherMissing`, `addressSpaceExhausted`.
    package init(_ key: EncryptionKey) throws(StorageError) {
        let half = EncryptionKey.size / 2
        let cipherKey = SecretMemory(byteCount: half)
        cipherKey.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: key.bytes[..<half]))
        blocks = try CounterMode(key: cipherKey).blocks()
        code = try MessageCode(
            key: UnsafeRawBufferPointer(rebasing: key.bytes[half...]), hash: \.sha224)
    }

    /// Whether an encrypted page has this code, compared in constant time.
    package func has(_ page: UnsafeRawBufferPointer, code: UnsafeRawBufferPointer) -> Bool {
        guard code.count == Self.codeSize else { return false }
        return withUnsafeTemporaryAllocation(byteCount: MessageCode.size, alignment: 16) { own in
            guard let base = own.baseAddress else { return false }
            self.code.write([page], to: base)
            var difference: UInt8 = 0
            for index in 0..<Self.codeSize { difference |= own[index] ^ code[index] }
            return difference == 0
        }
    }

    /// Decrypts a page of whole blocks in its place.
    ///
    /// - Throws: `addressSpaceExhausted` if libcrypto finds no memory.
    package func decrypt(
        _ page: UnsafeMutableRawBufferPointer, startingWith vector: (UInt64, UInt64)
    ) throws(StorageError) {
        guard let base = page.baseAddress else { return }
        let count = page.count / Self.blockSize
        var previous = vector
        let encrypted = [UInt8](page)
        guard blocks.decrypt(base, count: count) else { throw .addressSpaceExhausted }
        encrypted.withUnsafeBytes { encrypted in
            for block in 0..<count {
                let offset = block * Self.blockSize
                for half in 0..<2 {
                    let at = offset + 8 * half
                    let own = page.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    page.storeBytes(
                        of: own ^ (half == 0 ? previous.0 : previous.1), toByteOffset: at,
                        as: UInt64.self)
                }
                previous = (
                    encrypted.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                    encrypted.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
                )
            }
        }
    }
}
