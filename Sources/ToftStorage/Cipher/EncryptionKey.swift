internal import ToftPlatform

/// The key of encrypted files: 64 bytes that the caller keeps. Nothing is stored of it.
package struct EncryptionKey: Sendable {
    package static let size = 64
    private let memory: SecretMemory

    /// - Throws: `invalidKey` unless there are 64 bytes.
    package init(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        guard bytes.count == Self.size else { throw .invalidKey(length: bytes.count) }
        memory = SecretMemory(byteCount: Self.size)
        memory.bytes.copyMemory(from: bytes)
    }

    package init(_ bytes: [UInt8]) throws(StorageError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(StorageError) in try EncryptionKey(bytes) }
        }
        self = try result.get()
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory.bytes) }
}
