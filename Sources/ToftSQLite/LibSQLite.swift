internal import ToftEngine
internal import ToftPlatform

/// The functions of SQLite's library, which is loaded at the first SQLite file and linked by
/// nothing.
struct LibSQLite: Sendable {
    typealias Open =
        @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32,
            UnsafePointer<CChar>?
        ) -> Int32
    typealias Prepare =
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>,
            UnsafeMutableRawPointer?
        ) -> Int32
    typealias Call = @convention(c) (OpaquePointer?) -> Int32
    typealias SetNumber = @convention(c) (OpaquePointer, Int32) -> Int32
    typealias ErrorText = @convention(c) (OpaquePointer) -> UnsafePointer<CChar>?
    typealias ColumnNumber = @convention(c) (OpaquePointer, Int32) -> Int32
    typealias ColumnInt = @convention(c) (OpaquePointer, Int32) -> Int64
    typealias ColumnReal = @convention(c) (OpaquePointer, Int32) -> Double
    typealias ColumnBytes = @convention(c) (OpaquePointer, Int32) -> UnsafeRawPointer?
    typealias Version = @convention(c) () -> Int32

    let open: Open
    let close: Call
    let setTimeout: SetNumber
    let setResultCodes: SetNumber
    let errorText: ErrorText
    let prepare: Prepare
    let step: Call
    let finalize: Call
    let columnType: ColumnNumber
    let columnInt: ColumnInt
    let columnReal: ColumnReal
    let columnText: ColumnBytes
    let columnBlob: ColumnBytes
    let columnSize: ColumnNumber

    private static let names = ["libsqlite3.so.0", "libsqlite3.so"]
    /// The first that lists its tables with their kinds: 3.37, of 2021.
    private static let leastVersion: Int32 = 3_037_000
    /// Nil if the system has no such library, or one that is too old.
    private static let loaded = LibSQLite()

    static func load() throws(EngineError) -> LibSQLite {
        guard let loaded else {
            throw EngineError(
                .unsupported,
                "This system has no \(names[0]) of version 3.37 or later, which reads SQLite "
                    + "files. Install it: on Debian the package libsqlite3-0.")
        }
        return loaded
    }

    private init?() {
        guard let library = SharedLibrary(named: Self.names),
            let version = library.function("sqlite3_libversion_number", as: Version.self),
            version() >= Self.leastVersion,
            let open = library.function("sqlite3_open_v2", as: Open.self),
            let close = library.function("sqlite3_close_v2", as: Call.self),
            let setTimeout = library.function("sqlite3_busy_timeout", as: SetNumber.self),
            let setResultCodes = library.function(
                "sqlite3_extended_result_codes", as: SetNumber.self),
            let errorText = library.function("sqlite3_errmsg", as: ErrorText.self),
            let prepare = library.function("sqlite3_prepare_v2", as: Prepare.self),
            let step = library.function("sqlite3_step", as: Call.self),
            let finalize = library.function("sqlite3_finalize", as: Call.self),
            let columnType = library.function("sqlite3_column_type", as: ColumnNumber.self),
            let columnInt = library.function("sqlite3_column_int64", as: ColumnInt.self),
            let columnReal = library.function("sqlite3_column_double", as: ColumnReal.self),
            let columnText = library.function("sqlite3_column_text", as: ColumnBytes.self),
            let columnBlob = library.function("sqlite3_column_blob", as: ColumnBytes.self),
            let columnSize = library.function("sqlite3_column_bytes", as: ColumnNumber.self)
        else { return nil }
        self.open = open
        self.close = close
        self.setTimeout = setTimeout
        self.setResultCodes = setResultCodes
        self.errorText = errorText
        self.prepare = prepare
        self.step = step
        self.finalize = finalize
        self.columnType = columnType
        self.columnInt = columnInt
        self.columnReal = columnReal
        self.columnText = columnText
        self.columnBlob = columnBlob
        self.columnSize = columnSize
    }
}
