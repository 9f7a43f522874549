/// The permanent number of a class within one database; never used twice.
package typealias ClassID = UInt32
/// The permanent number of a property within its class, and of its column in the class's table;
/// never used twice.
package typealias PropertyID = UInt32

/// The name of an object within one database: its class and its key. A key is never used twice in a
/// class.
///
/// Keys of objects are 0 or greater; the negative half is kept for links whose target has not
/// arrived yet.
package struct ObjectRef: Hashable, Sendable {
    package var classID: ClassID
    package var key: Int64

    package init(classID: ClassID, key: Int64) {
        self.classID = classID
        self.key = key
    }

    /// The reference of no object: used in comparisons for one that is not in the database.
    package static let nowhere = ObjectRef(classID: 0, key: .min)
}

/// A property of a class.
package struct PropertyRef: Hashable, Sendable {
    package let classID: ClassID
    package let propertyID: PropertyID

    package init(classID: ClassID, propertyID: PropertyID) {
        self.classID = classID
        self.propertyID = propertyID
    }
}
