internal import Glibc

/// A library that is loaded while the program runs. It stays loaded.
///
/// `@unchecked Sendable`: the handle never changes, and any thread may look symbols up.
package final class SharedLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Loads the first of these names that the system finds. Nil if it finds no such library.
    package init?(named names: [String]) {
        for name in names {
            if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) {
                self.handle = handle
                return
            }
        }
        return nil
    }

    /// A library that the program has loaded already. Nil if it has not.
    package init?(loaded name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD) else { return nil }
        self.handle = handle
    }

    /// The address of a function of the library, whose type is given by the caller. Nil if the
    /// library has no function of this name.
    package func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }
}
