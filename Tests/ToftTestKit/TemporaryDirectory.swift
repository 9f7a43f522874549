internal import Glibc

/// A directory that is removed, with all in it, when the body ends.
package func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let directory = try TemporaryDirectory.make()
    defer { TemporaryDirectory.remove(directory) }
    return try body(directory)
}

package enum TemporaryDirectory {
    package static func make() throws -> String {
        var template = Array("/tmp/toft-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Failure("mkdtemp: errno \(errno)") }
        return String(cString: made)
    }

    package static func remove(_ directory: String) {
        for name in names(in: directory) {
            let path = directory + "/" + name
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                remove(path)
            } else {
                unlink(path)
            }
        }
        rmdir(directory)
    }

    package static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        guard let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [String] = []
        while let entry = readdir(stream) {
            // The entry is as long as its name requires, not as long as its type: nothing behind
            // the name may be read.
            let name = String(
                cString: UnsafeRawPointer(entry).advanced(by: nameOffset)
                    .assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// A test's finding, in words.
package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
