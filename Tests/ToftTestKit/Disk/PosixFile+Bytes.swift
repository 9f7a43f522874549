package import ToftPlatform

extension PosixFile {
    /// All bytes of a file.
    package static func bytes(of path: String) throws -> [UInt8] {
        let file = try open(path, forWriting: false)
        defer { try? file.close() }
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }
}
