internal import ToftEngine
internal import ToftModel

/// Gives a class of objects or projections the identity for `Identifiable`:
///
/// ```swift
/// class Dog: Object, ObjectKeyIdentifiable {
///     @Persisted(primaryKey: true) var _id: ObjectId
/// }
/// ```
public protocol ObjectKeyIdentifiable: Identifiable {
    /// Equal for all instances of one managed object, in any realm of its file; unique for an
    /// unmanaged object.
    var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    public var id: UInt64 { identity }
}

extension ObjectKeyIdentifiable where Self: ProjectionObservable {
    public var id: UInt64 { rootObject.identity }
}

extension ObjectBase {
    fileprivate final var identity: UInt64 {
        guard let ref = row?.handle.ref else {
            return UInt64(UInt(bitPattern: ObjectIdentifier(self)))
        }
        // Unique below 2^20 classes and 2^44 objects of each.
        return UInt64(ref.classID) << 44 ^ UInt64(bitPattern: ref.key)
    }
}
