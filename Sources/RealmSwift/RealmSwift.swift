// What an app that was written for RealmSwift imports: the Swift API under its old name, nothing
// else.
@_exported public import Toft
