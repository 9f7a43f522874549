/// The effect of an object's deletion on the objects that it links to through a property, or the
/// effect of such links on the deletion of their target. Raw values are format: bits of
/// `SchemaEncoding`.
package enum DeleteRule: UInt8, Sendable, CaseIterable {
    /// Nothing: the targets stay. A link to an object that is deleted becomes null, or leaves its
    /// collection.
    case nullify = 0
    /// The targets are deleted with the object that links, whatever else links to them.
    case cascade = 1
    /// While another object links to it, the target can't be deleted.
    case deny = 2
}
