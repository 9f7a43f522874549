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

    let sha256: Hash
    let sha224: Hash
    let makeContext: MakeContext
    let freeContext: FreeContext
    let counterMode: MakeContext
    let startCipher: StartCipher
    let updateCipher: UpdateCipher
    let blockMode: MakeContext
    let startDecipher: StartCipher
    let updateDecipher: UpdateCipher
    let setPadding: SetPadding

    /// A hash function: its three steps, and the bytes that it gives.
    struct Hash: Sendable {
        let start: StartHash
        let update: UpdateHash
        let finish: FinishHash
        let size: Int

        /// Bytes for the state of a hash (SHA256_CTX has 112).
        static let stateSize = 128

        fileprivate init?(_ name: String, size: Int, in library: SharedLibrary) {
            guard let start = library.function("\(name)_Init", as: StartHash.self),
                let update = library.function("\(name)_Update", as: UpdateHash.self),
                let finish = library.function("\(name)_Final", as: FinishHash.self)
            else { return nil }
            self.start = start
            self.update = update
            self.finish = finish
            self.size = size
        }
    }

    private static let names = ["libcrypto.so.3", "libcrypto.so"]
    /// Nil if the system has no libcrypto, or one without these functions.
    private static let loaded = LibCrypto()

    static func load() throws(StorageError) -> LibCrypto {
        guard let loaded else { throw .cipherMissing(library: names[0]) }
        return loaded
    }

    private init?() {
        guard let library = SharedLibrary(named: Self.names),
            let sha256 = Hash("SHA256", size: 32, in: library),
            let sha224 = Hash("SHA224", size: 28, in: library),
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
        self.sha256 = sha256
        self.sha224 = sha224
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
