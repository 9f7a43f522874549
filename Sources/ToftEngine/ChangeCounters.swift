internal import ToftModel

/// When what was last changed, as a session sees it: so that results know whether what they found
/// still holds.
struct ChangeCounters {
    /// The last change of anything.
    private(set) var now: UInt64 = 1
    private var everything: UInt64 = 1
    private var classes: [ClassID: UInt64] = [:]
    private var properties: [PropertyRef: UInt64] = [:]

    /// The session moved, or something happened whose reach is not known.
    mutating func noteEverything() {
        now += 1
        everything = now
        classes.removeAll(keepingCapacity: true)
        properties.removeAll(keepingCapacity: true)
    }

    /// An object came.
    mutating func noteCreation(of classID: ClassID) {
        now += 1
        classes[classID] = now
    }

    mutating func noteSet(_ property: PropertyRef) {
        now += 1
        properties[property] = now
    }

    /// The last change of any of these.
    func last(of watched: Dependencies) -> UInt64 {
        var last = everything
        for id in watched.classes { last = max(last, classes[id] ?? 0) }
        for property in watched.properties { last = max(last, properties[property] ?? 0) }
        return last
    }
}

/// What results hang on, each thing once. There are few: they are searched one by one.
struct Dependencies: Sendable {
    /// Whose objects may come.
    private(set) var classes: [ClassID] = []
    private(set) var properties: [PropertyRef] = []

    mutating func add(_ classID: ClassID) {
        if !classes.contains(classID) { classes.append(classID) }
    }

    mutating func add(_ property: PropertyRef) {
        if !properties.contains(property) { properties.append(property) }
    }
}

/// A property of a class.
struct PropertyRef: Hashable, Sendable {
    let classID: ClassID
    let property: PropertyID
}

extension PropertyRef {
    init(_ property: PropertyHandle) {
        self.init(classID: property.classID, property: property.id)
    }
}
