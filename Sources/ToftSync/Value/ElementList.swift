/// The elements of a list in the order of their labels. An element is found in O(log n).
package struct ElementList: Hashable, Sendable {
    /// An element's label and what it holds.
    package struct Held: Hashable, Sendable {
        package var label: Label
        package var node: Node

        package init(label: Label, node: Node) {
            self.label = label
            self.node = node
        }
    }

    package private(set) var order: [ElementPlace] = []
    private var held: [MadeID: Held] = [:]

    package init() {}

    /// Elements as a replica makes them with their object: labels 0, 1, 2...
    package init(_ elements: [(MadeID, Node)]) {
        for (index, (id, node)) in elements.enumerated() {
            self[id] = Held(label: Label(Int64(index)), node: node)
        }
    }

    package var isEmpty: Bool { order.isEmpty }
    package var count: Int { order.count }

    package subscript(id: MadeID) -> Held? {
        get { held[id] }
        set {
            let old = held.updateOrRemove(newValue, for: id)
            if old?.label == newValue?.label { return }
            if let old { order.remove(at: place(of: ElementPlace(old.label, id))) }
            if let newValue {
                let place = ElementPlace(newValue.label, id)
                order.insert(place, at: self.place(of: place))
            }
        }
    }

    /// Edits what an element holds; its label stays.
    mutating func edit<Result>(_ id: MadeID, _ body: (inout Node) -> Result) -> Result? {
        guard let index = held.index(forKey: id) else { return nil }
        return body(&held.values[index].node)
    }

    /// The index of a place, or of the first behind it.
    func place(of place: ElementPlace) -> Int { order.firstIndex(notBefore: place) }

    package func node(_ place: ElementPlace) -> Node { held[place.id]?.node ?? .value(.null) }
}

extension Dictionary {
    /// Sets or removes a value; gives the old one.
    fileprivate mutating func updateOrRemove(_ value: Value?, for key: Key) -> Value? {
        if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
    }
}

extension [ElementPlace] {
    /// The index of a place, or of the first behind it, in places that ascend.
    func firstIndex(notBefore place: ElementPlace) -> Int {
        guard let last, last >= place else { return count }
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
