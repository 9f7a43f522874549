/// The limits of the data model, each checked with an error that names the part beyond it.
package enum Limits {
    /// UTF-8 bytes of a class name.
    package static let classNameBytes = 57
    /// UTF-8 bytes of a property name.
    package static let propertyNameBytes = 63
    /// Bytes of a string (UTF-8) or data value.
    package static let valueBytes = 16 * 1024 * 1024 - 1
    /// Lists and dictionaries around a value within a mixed one.
    package static let nestedCollections = 100
    /// Embedded objects around one another: as many as the JSON of their owner has in it.
    package static let nestedEmbeddedObjects = 100
    /// Properties of one class, inverse links included.
    package static let propertiesPerClass = 1_000
    /// Unique constraints of a class.
    package static let uniquesPerClass = 64
    /// Elements of one list, set or dictionary.
    package static let collectionElements = Int(Int32.max)
}
