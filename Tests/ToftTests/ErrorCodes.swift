import ToftEngine

enum ErrorCodes {
    /// The engine's list.
    static var engine: [String] { ErrorCode.allCases.map { "\($0) \($0.rawValue)" } }
}
