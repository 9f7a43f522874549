internal import Synchronization

/// Finds out which properties a Swift key path names: `\Dog.owner?.name` is "owner.name",
/// `\Person.dogs[0].name` is "dogs.name".
enum KeyPathNames {
    /// The name of a key path; of one that names no persisted property it is misuse, and "".
    static func name<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String {
        name(of: keyPath, from: Root.self) { $0.instance(of: Root.self)[keyPath: keyPath] }
    }

    /// The name of a projection's key path in the class of its object.
    static func name<Projected: ProjectionObservable>(of keyPath: PartialKeyPath<Projected>)
        -> String
    {
        name(of: keyPath, from: Projected.Root.self) { recorder in
            let root = recorder.instance(of: Projected.Root.self)
            return Projected(projecting: root)[keyPath: keyPath]
        }
    }

    private static func name(
        of keyPath: AnyKeyPath, from root: ObjectBase.Type, _ read: (KeyPathRecorder) -> Any
    ) -> String {
        let key = Key(keyPath: keyPath)
        if let name = known.withLock({ $0[key] }) { return name }
        let recorder = KeyPathRecorder()
        recorder.finish(read(recorder))
        let name = recorder.names.joined(separator: ".")
        if name.isEmpty {
            Misuse.report(
                Realm.Error(
                    .noSuchProperty,
                    "The key path \(keyPath) names no persisted property of "
                        + "'\(ModelClass.name(of: root))'."
                ))
            return name
        }
        known.withLock { $0[key] = name }
        return name
    }

    /// `@unchecked Sendable`: key paths are immutable.
    private struct Key: Hashable, @unchecked Sendable {
        let keyPath: AnyKeyPath
    }

    private static let known = Mutex<[Key: String]>([:])
}

/// Notes which properties are read of instances made for that.
final class KeyPathRecorder {
    private(set) var names: [String] = []
    /// The instance that was made last.
    private var last: ObjectBase?

    /// An instance that reports its reads to this recorder; its properties' columns are their
    /// places in the class.
    func instance<Model: ObjectBase>(of type: Model.Type) -> Model {
        let object = type.init()
        ModelClass.of(type).prepareForRecording(object, self)
        last = object
        return object
    }

    func record(_ name: String) { names.append(name) }

    /// Notes the property that the path ends with, if it is one without `@Persisted`: that itself
    /// tells nothing when it is read.
    fileprivate func finish(_ value: Any) {
        guard let last, let property = value as? any LegacyProperty else { return }
        for own in ModelClass.of(type(of: last)).properties where own.isLegacy {
            own.withAddress(in: last) {
                if own.wrapper.legacy(at: $0)?.identity == property.identity { record(own.name) }
            }
        }
    }

    func record(_ object: ObjectBase, _ column: Int) {
        let properties = ModelClass.of(type(of: object)).properties
        if properties.indices.contains(column) { names.append(properties[column].name) }
    }

    /// A link was read: the next read is a property of its target.
    func follow<Model: ObjectBase>(_ object: ObjectBase, _ column: Int, to type: Model.Type)
        -> Model
    {
        record(object, column)
        return instance(of: type)
    }

    /// A collection was read: the next read is a property of its elements, if they are objects.
    func follow<Element: RealmCollectionValue>(
        _ object: ObjectBase, _ column: Int, toElements type: Element.Type
    ) -> [Element] {
        record(object, column)
        guard let target = Element._shape.target, let element = instance(of: target) as? Element
        else { return [] }
        return [element]
    }
}

extension ModelClass {
    fileprivate func prepareForRecording(_ object: ObjectBase, _ recorder: KeyPathRecorder) {
        object.recorder = recorder
        for (index, property) in properties.enumerated() {
            property.withAddress(in: object) { address in
                guard let offset = property.wrapper.columnOffset else {
                    property.wrapper.legacy(at: address)?
                        .record(LegacyRecording(recorder, property.name))
                    return
                }
                if property.wrapper.isKept { property.wrapper.clear(at: address) }
                address.storeBytes(
                    of: Int32(truncatingIfNeeded: index), toByteOffset: offset, as: Int32.self)
            }
        }
    }
}
