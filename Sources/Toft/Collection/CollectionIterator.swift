internal import ToftModel

/// Iterates over a collection as it was when the loop began: elements that are added or removed
/// meanwhile make no difference. Objects that are deleted meanwhile are still returned, and are
/// invalidated: check `isInvalidated` in a loop that deletes others than its own.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// The walk, if the elements are managed objects.
    @usableFromInline var walk: ObjectIterator?
    private var source = Source.nothing
    private var position = 0

    private enum Source {
        case nothing
        case unmanaged([Element])
        case values(_CollectionCore, [Value])
    }

    init(_ elements: [Element]) {
        source = .unmanaged(elements)
    }

    init(_ core: _CollectionCore?) {
        guard let core else { return }
        Misuse.reporting {
            walk = try core.walk()
            if core.home == nil { source = .values(core, try core.values()) }
        }
    }

    /// Goes through elements of a collection that were taken before.
    init(_ core: _CollectionCore, _ values: [Value]) {
        source = .values(core, values)
    }

    @inlinable public mutating func next() -> Element? {
        // Homes are made for the class of the elements.
        if let object = walk?.next() { return unsafeBitCast(object, to: Element.self) }
        return nextValue()
    }

    @usableFromInline mutating func nextValue() -> Element? {
        switch source {
        case .nothing: nil
        case .unmanaged(let elements): advance(to: elements.count).map { elements[$0] }
        case .values(let core, let values): nextValue(of: values, core)
        }
    }

    private mutating func nextValue(of values: [Value], _ core: _CollectionCore) -> Element? {
        guard !core.isStale, let index = advance(to: values.count) else { return nil }
        return Element._make(_EngineValue(values[index], core.session))
    }

    private mutating func advance(to count: Int) -> Int? {
        guard position < count else { return nil }
        defer { position += 1 }
        return position
    }
}
