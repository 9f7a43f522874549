internal import ToftPlatform

/// The functions of OpenSSL's libcrypto, which is loaded at the first encrypted file and linked by
/// nothing.
struct LibCrypto: Sendable {
    typealias StartHash = @convention(c) (UnsafeMutableRawPointer) -> Int32
    typealias UpdateHash =
        @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, Int) -> Int32
    typealias FinishHash =
        @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32
    typealias MakeContext = @convention(c) () -> OpaquePointer?
    typealias FreeContext = @convention(c) (OpaquePointer) -> Void
    typealias StartCipher =
        @convention(c) (
            OpaquePointer, OpaquePointer?, OpaquePointer?, UnsafeRawPointer?, UnsafeRawPointer?
        ) -> Int32
    typealias UpdateCipher =
        @convention(c) (
            OpaquePointer, UnsafeMutableRawPointer, UnsafeMutablePointer<Int32>, UnsafeRawPointer,
            Int32
        ) -> Int32

    typealias SetPadding = @convention(c) (OpaquePointer, Int32) -> Int32

    let startHash: StartHash
    let updateHash: UpdateHash
    let finishHash: FinishHash
    let makeContext: MakeContext
    let freeContext: FreeContext
    let counterMode: MakeContext
    let startCipher: StartCipher
    let updateCipher: UpdateCipher
    let blockMode: MakeContext
    let startDecipher: StartCipher
    let updateDecipher: UpdateCipher
    let setPadding: SetPadding

    /// Bytes for the state of a hash (SHA256_CTX has 112).
    static let hashState = 128

    private static let names = ["libcrypto.so.3", "libcrypto.so"]
    /// Nil where the system has no libcrypto, or one without these functions.
    private static let loaded = LibCrypto()

    static func load() throws(StorageError) -> LibCrypto {
        guard let loaded else { throw .cipherMissing(library: names[0]) }
        return loaded
    }

    private init?() {
        guard let library = SharedLibrary(named: Self.names),
            let startHash = library.function("SHA256_Init", as: StartHash.self),
            let updateHash = library.function("SHA256_Update", as: UpdateHash.self),
            let finishHash = library.function("SHA256_Final", as: FinishHash.self),
            let makeContext = library.function("EVP_CIPHER_CTX_new", as: MakeContext.self),
            let freeContext = library.function("EVP_CIPHER_CTX_free", as: FreeContext.self),
            let counterMode = library.function("EVP_aes_256_ctr", as: MakeContext.self),
            let startCipher = library.function("EVP_EncryptInit_ex", as: StartCipher.self),
            let updateCipher = library.function("EVP_EncryptUpdate", as: UpdateCipher.self),
            let blockMode = library.function("EVP_aes_256_ecb", as: MakeContext.self),
            let startDecipher = library.function("EVP_DecryptInit_ex", as: StartCipher.self),
            let updateDecipher = library.function("EVP_DecryptUpdate", as: UpdateCipher.self),
            let setPadding = library.function("EVP_CIPHER_CTX_set_padding", as: SetPadding.self)
        else { return nil }
        self.startHash = startHash
        self.updateHash = updateHash
        self.finishHash = finishHash
        self.makeContext = makeContext
        self.freeContext = freeContext
        self.counterMode = counterMode
        self.startCipher = startCipher
        self.updateCipher = updateCipher
        self.blockMode = blockMode
        self.startDecipher = startDecipher
        self.updateDecipher = updateDecipher
        self.setPadding = setPadding
    }
}
