internal import ToftModel

/// The classes and properties that results depend on.
struct Dependencies: Hashable, Sendable {
    /// Classes whose objects may be created and deleted.
    private(set) var classes = SmallSet<ClassID>()
    /// Classes with the object that the results were made from, which may be deleted.
    private(set) var owners = SmallSet<ClassID>()
    private(set) var properties = SmallSet<PropertyRef>()

    mutating func add(_ classID: ClassID) { classes.insert(classID) }

    mutating func add(owner classID: ClassID) { owners.insert(classID) }

    mutating func add(_ property: PropertyRef) { properties.insert(property) }
}

/// A set of few elements, which are searched one by one. One alone needs no memory of its own.
struct SmallSet<Element: Hashable & Sendable>: Sequence, Hashable, Sendable {
    private var first: Element?
    private var others: [Element] = []

    mutating func insert(_ element: Element) {
        if first == nil {
            first = element
        } else if !contains(element) {
            others.append(element)
        }
    }

    func contains(_ element: Element) -> Bool { first == element || others.contains(element) }

    func makeIterator() -> Iterator { Iterator(set: self) }

    struct Iterator: IteratorProtocol {
        fileprivate let set: SmallSet
        private var index = 0

        fileprivate init(set: SmallSet) {
            self.set = set
        }

        mutating func next() -> Element? {
            defer { index += 1 }
            if index == 0 { return set.first }
            return index <= set.others.count ? set.others[index - 1] : nil
        }
    }
}
