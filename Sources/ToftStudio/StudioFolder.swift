internal import Foundation
package import ToftEngine

/// A folder in which the page may read and make files: never one outside, whatever a path or a
/// symbolic link says.
package struct StudioFolder: Sendable {
    /// Its absolute path without symbolic links.
    package let path: String

    package init(_ path: String) throws(EngineError) {
        self.path = try Self.resolved(path)
    }

    /// An entry of the folder or of one below.
    struct Entry {
        let name: String
        let isFolder: Bool
        let size: Int64
    }

    /// The entries of a folder, by name; hidden ones are left out.
    /// - Parameter below: its path below this one, empty for this one.
    func entries(_ below: String) throws(EngineError) -> [Entry] {
        let folder = try existing(below)
        var names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw EngineError(.fileAccess, "Can't list '\(folder)'.", detail: folder)
        }
        names.sort()
        return names.compactMap { name in
            guard !name.hasPrefix("."), let path = try? existing(Self.joined(below, name)) else {
                return nil
            }
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Entry(
                name: name, isFolder: status.st_mode & S_IFMT == S_IFDIR,
                size: Int64(status.st_size))
        }
    }

    /// The path of an existing file or folder.
    /// - Throws: `permissionDenied` for one that is not below; `fileNotFound`.
    func existing(_ below: String) throws(EngineError) -> String {
        let found = try Self.resolved(try unresolved(below))
        guard found == path || found.hasPrefix(path == "/" ? "/" : path + "/") else {
            throw outside(below)
        }
        return found
    }

    /// The path of a file that is to be made.
    /// - Throws: `permissionDenied` for one that is not below; `fileExists`.
    func new(_ below: String) throws(EngineError) -> String {
        let whole = try unresolved(below)
        let parts = below.split(separator: "/")
        guard let name = parts.last else { throw outside(below) }
        let parent = try existing(parts.dropLast().joined(separator: "/"))
        var status = stat()
        guard lstat(whole, &status) != 0 else {
            throw EngineError(
                .fileExists, "'\(whole)' exists already. Give another name.", detail: whole)
        }
        return Self.joined(parent, String(name))
    }

    private func unresolved(_ below: String) throws(EngineError) -> String {
        let parts = below.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        guard below.isEmpty || isPlain, !below.utf8.contains(0) else { throw outside(below) }
        return Self.joined(path, below)
    }

    private func outside(_ below: String) -> EngineError {
        EngineError(
            .permissionDenied,
            "'\(below)' is not a path below '\(path)', the folder that Studio may use. Start "
                + "Studio with --root to let it use another one.", detail: below)
    }

    private static func joined(_ folder: String, _ name: String) -> String {
        if folder.isEmpty || name.isEmpty { return folder + name }
        return folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }

    private static func resolved(_ path: String) throws(EngineError) -> String {
        guard let found = realpath(path, nil) else {
            let number = errno
            throw EngineError(
                number == EACCES ? .permissionDenied : .fileNotFound,
                "Can't use '\(path)': \(String(cString: strerror(number))).", detail: path,
                number: Int64(number))
        }
        defer { free(found) }
        return String(cString: found)
    }
}

extension StudioFolder {
    /// Bytes of a file.
    static func size(of path: String) throws(EngineError) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let reason = String(cString: strerror(errno))
            throw EngineError(.fileAccess, "Can't read '\(path)': \(reason).", detail: path)
        }
        return Int(status.st_size)
    }
}
