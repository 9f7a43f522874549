// What an app that was written for RealmSwift imports: the Swift API under its old name, and what
// its code takes from Apple's platforms.
@_exported public import Toft

/// Runs the block. Programs release their realms with it on Apple's platforms; here, where nothing
/// is autoreleased, a realm goes with its last reference.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
}
