internal import ToftModel

/// Goes through a collection as it was when the loop began: elements that are added or taken out meanwhile make no difference, and those
/// deleted meanwhile are passed over.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
    private enum Source {
        case nothing
        case unmanaged([Element])
        case objects(_CollectionCore, [Int64])
        case values(_CollectionCore, [Value])
    }

    private let source: Source
    private var position = 0

    init(_ elements: [Element]) {
        source = .unmanaged(elements)
    }

    init(_ core: _CollectionCore?) {
        guard let core, let contents = Misuse.reporting({ try core.contents() }) else {
            source = .nothing
            return
        }
        switch contents {
        case .keys(let keys): source = .objects(core, keys)
        case .values(let values): source = .values(core, values)
        }
    }

    public mutating func next() -> Element? {
        switch source {
        case .nothing: nil
        case .unmanaged(let elements): advance(to: elements.count).map { elements[$0] }
        case .values(let core, let values): advance(to: values.count).map { Element._make(_EngineValue(values[$0], core.session)) }
        case .objects(let core, let keys): nextObject(core, keys)
        }
    }

    private mutating func advance(to count: Int) -> Int? {
        guard position < count else { return nil }
        defer { position += 1 }
        return position
    }

    private mutating func nextObject(_ core: _CollectionCore, _ keys: [Int64]) -> Element? {
        while let index = advance(to: keys.count) {
            guard let object = Misuse.reporting({ try core.object(Element.self, key: keys[index]) }) else { return nil }
            if let object { return object }
        }
        return nil
    }
}
