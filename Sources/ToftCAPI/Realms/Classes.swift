public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_realm_classes(
    _ realm: OpaquePointer?, _ out_keys: UnsafeMutablePointer<toft_class_key>?, _ capacity: Int,
    _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let room = try Argument.room(out_keys, capacity, "out_keys")
        let count = try Argument.out(out_count, "out_count")
        try session.check()
        let classes = session.schema.visibleClasses.sorted {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
        Argument.fill(room, classes.map(\.id))
        count.pointee = classes.count
    }
}

@c @implementation
public func toft_realm_find_class(
    _ realm: OpaquePointer?, _ name: toft_string, _ out_key: UnsafeMutablePointer<toft_class_key>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.out(out_key, "out_key")
        out.pointee = try session.classHandle(named: try Argument.text(name, "name")).id
    }
}

@c @implementation
public func toft_realm_set_alias(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ name: toft_string,
    _ key_path: toft_string
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let name = try Argument.text(name, "name")
        let path = try Argument.text(key_path, "key_path")
        try session.setAlias(name, of: class_key, to: path.isEmpty ? nil : path)
    }
}

@c @implementation
public func toft_realm_class_info(
    _ realm: OpaquePointer?, _ class_key: toft_class_key,
    _ out_info: UnsafeMutablePointer<toft_class_info>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.outStructure(out_info, "out_info")
        let found = try realm.session.classHandle(class_key)
        var info = toft_class_info()
        info.key = found.id
        info.primary_key = found.primaryKey.map { $0.isHidden ? 0 : $0.id } ?? 0
        info.name = realm.box.name(found.name, classID: found.id).string
        info.property_count = UInt64(found.visibleProperties.count)
        info.flags = found.isEmbedded ? TOFT_CLASS_EMBEDDED.rawValue : 0
        info.unique_count = UInt64(found.uniques.count)
        Argument.fill(out, info)
    }
}

@c @implementation
public func toft_realm_class_unique(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ index: UInt64,
    _ out_keys: UnsafeMutablePointer<toft_property_key>?, _ capacity: Int,
    _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let room = try Argument.room(out_keys, capacity, "out_keys")
        let count = try Argument.out(out_count, "out_count")
        let uniques = try session.classHandle(class_key).uniques
        let index = Argument.index(index)
        guard index < uniques.count else {
            throw EngineError(outOfRange: index, count: uniques.count)
        }
        let ids = uniques[index].properties.map(\.id)
        Argument.fill(room, ids)
        count.pointee = ids.count
    }
}

@c @implementation
public func toft_realm_properties(
    _ realm: OpaquePointer?, _ class_key: toft_class_key,
    _ out_keys: UnsafeMutablePointer<toft_property_key>?, _ capacity: Int,
    _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let room = try Argument.room(out_keys, capacity, "out_keys")
        let count = try Argument.out(out_count, "out_count")
        let properties = try session.classHandle(class_key).visibleProperties
        Argument.fill(room, properties.map(\.id))
        count.pointee = properties.count
    }
}

@c @implementation
public func toft_realm_find_property(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ name: toft_string,
    _ out_key: UnsafeMutablePointer<toft_property_key>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.out(out_key, "out_key")
        let name = try Argument.text(name, "name")
        let found = try session.classHandle(class_key)
        out.pointee = try model { () throws(ModelError) in try found.property(named: name) }.id
    }
}

@c @implementation
public func toft_realm_find_properties(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ names: UnsafePointer<toft_string>?,
    _ count: Int, _ out_keys: UnsafeMutablePointer<toft_property_key>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let names = try Argument.array(names, count, "names")
        let room = try Argument.room(out_keys, count, "out_keys")
        let owner = try session.classHandle(class_key)
        var keys: [toft_property_key] = []
        for name in names {
            let name = try Argument.text(name, "names")
            keys.append(
                try model { () throws(ModelError) in try owner.property(named: name) }.id)
        }
        Argument.fill(room, keys)
    }
}

@c @implementation
public func toft_realm_property_info(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ property_key: toft_property_key,
    _ out_info: UnsafeMutablePointer<toft_property_info>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.outStructure(out_info, "out_info")
        let found = try realm.session.classHandle(class_key)
        let property = try model { () throws(ModelError) in try found.property(id: property_key) }
        var info = toft_property_info()
        info.key = property.id
        info.type = property.type.typeInC
        info.flags = PropertyFlag.flags(of: property, in: found)
        info.target_class = property.targetClassID ?? 0
        info.target_property = property.originPropertyID ?? 0
        info.name = realm.box.name(property.name, classID: found.id, property: property.id).string
        Argument.fill(out, info)
    }
}

@c @implementation
public func toft_realm_object_count(
    _ realm: OpaquePointer?, _ class_key: toft_class_key, _ out_count: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.out(out_count, "out_count")
        out.pointee = UInt64(try session.count(of: class_key))
    }
}
