// The module that apps written for RealmSwift import: the Swift API under its old name, and the
// parts of Apple's platforms that their code uses.
@_exported public import Toft

/// Runs the block. On Apple's platforms programs release their realms with it; here, as nothing is
/// autoreleased, a realm is closed with its last reference.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
}
