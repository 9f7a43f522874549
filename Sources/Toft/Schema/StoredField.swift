@_spi(Reflection) internal import Swift
internal import ToftModel
internal import ToftPlatform

/// A stored property of a class, as the compiler lays it out.
struct StoredField {
    /// The name of the storage, which is not that of a property with a wrapper or a lazy one.
    let name: String
    let offset: Int
    let type: any Any.Type
    /// Whether it is kept without `@Persisted`.
    let isLegacy: Bool

    /// The fields of a class and its base classes, which come first.
    static func all(of type: ObjectBase.Type) -> [StoredField] {
        let ignored = type.ignoredProperties()
        var fields: [StoredField] = []
        _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) {
            name, offset, type, _ in
            let name = String(cString: name)
            fields.append(
                StoredField(
                    name: name, offset: offset, type: type,
                    isLegacy: type is any LegacyProperty.Type && !ignored.contains(name)))
            return true
        }
        return fields
    }

    var isPersisted: Bool { isWrapped || isLegacy }

    private var isWrapped: Bool {
        type is any AnyPersisted.Type && !(type is any LegacyProperty.Type)
    }

    /// The name that the program gave a property without a wrapper.
    private var declaredName: String {
        name.hasPrefix(Self.lazyPrefix) ? String(name.dropFirst(Self.lazyPrefix.count)) : name
    }

    /// The wrapped type of an optional.
    private var wrapped: any Any.Type { (type as? any AnyOptional.Type)?.wrapped ?? type }

    /// Whether it could be a property of the database.
    private var isPersistable: Bool {
        wrapped is any _Persistable.Type || wrapped is any RealmCollectionValue.Type
    }

    private var isCollection: Bool {
        (wrapped as? any _Persistable.Type)?._isKeptWhenManaged ?? false
    }

    private static let lazyPrefix = "$__lazy_storage_$_"
}

extension StoredField {
    /// The problem with the stored properties of a class; nil if they are valid. It is a problem if
    /// the class has no stored property, and no subclass to have some, or a collection that is not
    /// stored, which always is a mistake.
    static func problem(of type: ObjectBase.Type, _ className: String) -> String? {
        let fields = declared(of: type), ignored = type.ignoredProperties()
        let lost = fields.first {
            !$0.isPersisted && $0.isCollection && !ignored.contains($0.declaredName)
        }
        if let lost { return lost.text(ofCollectionIn: className) }
        guard !fields.contains(where: \.isPersisted), !hasSubclasses(type) else { return nil }
        let names = fields.filter(\.isPersistable).map(\.declaredName)
        return "No properties are defined for '\(className)'. Did you remember to mark them with "
            + "'@Persisted' in your model?"
            + (names.isEmpty ? "" : " Not marked: \(listed(names)).")
    }

    /// Unstored variables of a class, or of a base class of it: they look as properties did before
    /// there was `@Persisted`.
    static func unstored(of type: ObjectBase.Type) -> String? {
        let ignored = type.ignoredProperties()
        var names: [String] = []
        var level: ObjectBase.Type? = type
        while let current = level, current != base(of: type) {
            let parent = _getSuperclass(current) as? ObjectBase.Type
            let own = all(of: current).dropFirst(parent.map { all(of: $0).count } ?? 0)
            if !own.contains(where: \.isWrapped) {
                names =
                    own.filter {
                        $0.isPersistable && !$0.isLegacy && !ignored.contains($0.declaredName)
                    }
                    .map(\.declaredName) + names
            }
            level = parent
        }
        return names.isEmpty ? nil : listed(names)
    }

    /// The fields of an app's class, without those of `Object` and `EmbeddedObject`.
    private static func declared(of type: ObjectBase.Type) -> [StoredField] {
        Array(all(of: type).dropFirst(all(of: base(of: type)).count))
    }

    /// The class of Toft's that an app's class derives from.
    private static func base(of type: ObjectBase.Type) -> ObjectBase.Type {
        type is Object.Type ? Object.self : type._isEmbedded ? EmbeddedObject.self : ObjectBase.self
    }

    private static func hasSubclasses(_ type: ObjectBase.Type) -> Bool {
        ClassDiscovery.objectTypes().contains { other in
            var parent: AnyClass? = _getSuperclass(other)
            while let current = parent {
                if current == type { return true }
                parent = _getSuperclass(current)
            }
            return false
        }
    }

    private func text(ofCollectionIn className: String) -> String {
        let declaration =
            wrapped is any _LinkingObjects.Type
            ? "@Persisted(originProperty: \"...\") var \(declaredName): \(wrapped)"
            : "@Persisted var \(declaredName): \(wrapped)"
        return "'\(className).\(declaredName)' is not stored: it is a \(wrapped) without "
            + "'@Persisted'. Write \(declaration), or name it in ignoredProperties()."
    }

    private static func listed(_ names: [String]) -> String {
        names.map { "'\($0)'" }.joined(separator: ", ")
    }
}

/// Tells the log of variables that are not stored, once for each class.
enum UnstoredVariables {
    private static let told = ProcessWide<Set<ObjectIdentifier>> { [] }

    static func tell(of model: ModelClass) {
        guard Diagnostics.isTold(.warn), model.unstored != nil,
            told.withLock({ $0.insert(ObjectIdentifier(model)).inserted })
        else { return }
        let names = model.unstored ?? ""
        Diagnostics.tell(
            .warn,
            "Class '\(model.name)' does not store \(names): a variable is stored if it is marked "
                + "with @Persisted. Name it in ignoredProperties() if it is not to be.")
    }
}
