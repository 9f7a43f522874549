internal import CToft
internal import ToftCAPI
internal import ToftModel

/// The C API: handles, `toft_value` and nothing else.
final class CDriver: ModelDriver {
    func open(_ location: ModelLocation, _ shape: Shape) throws -> any ModelSession {
        let loan = Loan()
        let schema = try CSchema.make(shape, loan)
        defer { toft_schema_release(schema) }
        var configuration = toft_configuration()
        configuration.size = MemoryLayout<toft_configuration>.size
        switch location {
        case .memory(let name): configuration.in_memory_name = loan.string(name)
        case .file(let path, let key):
            configuration.path = loan.string(path)
            if let key {
                let bytes = loan.bytes(key)
                configuration.encryption_key = UnsafeRawPointer(bytes.baseAddress)
                configuration.encryption_key_size = key.count
            }
        }
        configuration.schema = schema
        var realm: OpaquePointer?
        try call("toft_realm_open", toft_realm_open(&configuration, &realm))
        return try CSession(realm, shape)
    }
}

/// A call of C that failed.
struct CallFailure: Error, CustomStringConvertible {
    let function: String
    let code: Int32
    let description: String
}

/// Throws the error of a call.
func call(_ function: String, _ status: toft_status) throws {
    guard status != TOFT_OK else { return }
    var error = toft_error()
    error.size = MemoryLayout<toft_error>.size
    toft_last_error(&error)
    let message = String(
        decoding: UnsafeRawBufferPointer(
            start: error.message.data, count: error.message.size), as: UTF8.self)
    throw CallFailure(
        function: function, code: status.rawValue,
        description: "\(function): \(message)")
}

extension Loan {
    func string(_ text: String) -> toft_string { string(Array(text.utf8)) }

    func string(_ bytes: [UInt8]) -> toft_string {
        let copy = self.bytes(bytes)
        return toft_string(
            data: copy.baseAddress?.assumingMemoryBound(to: CChar.self), size: copy.count)
    }
}

private enum CSchema {
    static func make(_ shape: Shape, _ loan: Loan) throws -> OpaquePointer? {
        let classes = loan.array(shape.classes.count, of: toft_class_schema.self)
        for (index, declared) in shape.classes.enumerated() {
            let count = declared.properties.count + declared.inverses.count
            let properties = loan.array(count, of: toft_property_schema.self)
            for (place, property) in declared.properties.enumerated() {
                properties.initializeElement(at: place, to: row(property, shape, loan))
            }
            for (place, inverse) in declared.inverses.enumerated() {
                let origin = shape.classes[inverse.origin]
                var row = toft_property_schema()
                row.size = MemoryLayout<toft_property_schema>.size
                row.name = loan.string(inverse.name)
                row.type = TOFT_TYPE_LINKING_OBJECTS
                row.target_class = loan.string(origin.name)
                row.target_property = loan.string(origin.properties[inverse.property].name)
                properties.initializeElement(at: declared.properties.count + place, to: row)
            }
            let uniques = loan.array(declared.uniques.count, of: toft_unique.self)
            for (place, unique) in declared.uniques.enumerated() {
                let names = loan.array(unique.count, of: toft_string.self)
                for (index, property) in unique.enumerated() {
                    names.initializeElement(
                        at: index, to: loan.string(declared.properties[property].name))
                }
                uniques.initializeElement(
                    at: place,
                    to: toft_unique(
                        size: MemoryLayout<toft_unique>.size,
                        properties: UnsafePointer(names.baseAddress), property_count: names.count))
            }
            classes.initializeElement(
                at: index,
                to: toft_class_schema(
                    size: MemoryLayout<toft_class_schema>.size, name: loan.string(declared.name),
                    properties: UnsafePointer(properties.baseAddress), property_count: count,
                    flags: declared.isEmbedded ? TOFT_CLASS_EMBEDDED.rawValue : 0, reserved: 0,
                    uniques: UnsafePointer(uniques.baseAddress), unique_count: uniques.count))
        }
        var schema: OpaquePointer?
        try call(
            "toft_schema_new",
            toft_schema_new(UnsafePointer(classes.baseAddress), classes.count, &schema))
        return schema
    }

    private static func row(_ property: ShapeProperty, _ shape: Shape, _ loan: Loan)
        -> toft_property_schema
    {
        var flags: UInt32 = 0
        if property.takesNull { flags |= TOFT_PROPERTY_NULLABLE.rawValue }
        if property.isPrimaryKey { flags |= TOFT_PROPERTY_PRIMARY_KEY.rawValue }
        if property.rule == .cascade { flags |= TOFT_PROPERTY_CASCADE.rawValue }
        if property.rule == .deny { flags |= TOFT_PROPERTY_DENY.rawValue }
        if property.isCounted { flags |= TOFT_PROPERTY_AUTO_INCREMENT.rawValue }
        if property.isIndexed { flags |= TOFT_PROPERTY_INDEXED.rawValue }
        switch property.collection {
        case .none: break
        case .list: flags |= TOFT_PROPERTY_LIST.rawValue
        case .set: flags |= TOFT_PROPERTY_SET.rawValue
        case .dictionary: flags |= TOFT_PROPERTY_DICTIONARY.rawValue
        }
        var row = toft_property_schema()
        row.size = MemoryLayout<toft_property_schema>.size
        row.name = loan.string(property.name)
        row.type = property.type.typeInC
        row.flags = flags
        if property.type == .link {
            row.target_class = loan.string(shape.classes[property.target].name)
        }
        return row
    }
}

final class CSession: ModelSession {
    private let realm: OpaquePointer?
    private let shape: Shape
    private let loan = Loan()
    private var classes: [toft_class_key] = []
    private var properties: [[toft_property_key]] = []
    private var inverses: [[toft_property_key]] = []
    /// Of each class the properties that hold one value.
    private let scalars: [[Int]]
    private var scalarKeys: [[toft_property_key]] = []
    private var isClosed = false

    init(_ realm: OpaquePointer?, _ shape: Shape) throws {
        self.realm = realm
        self.shape = shape
        scalars = shape.classes.map { declared in
            declared.properties.indices.filter { !declared.properties[$0].isCollection }
        }
        for (index, declared) in shape.classes.enumerated() {
            var key: toft_class_key = 0
            try call(
                "toft_realm_find_class",
                toft_realm_find_class(realm, loan.string(declared.name), &key))
            classes.append(key)
            let keys = try declared.properties.map { try find($0.name, key) }
            properties.append(keys)
            inverses.append(try declared.inverses.map { try find($0.name, key) })
            scalarKeys.append(scalars[index].map { keys[$0] })
        }
        loan.reset()
    }

    deinit { toft_realm_release(realm) }

    private func find(_ name: String, _ owner: toft_class_key) throws -> toft_property_key {
        var key: toft_property_key = 0
        try call(
            "toft_realm_find_property",
            toft_realm_find_property(realm, owner, loan.string(name), &key))
        return key
    }

    func version() throws -> UInt64 {
        var version: UInt64 = 0
        try call("toft_realm_version", toft_realm_version(realm, &version))
        return version
    }

    func begin() throws { try call("toft_realm_begin_write", toft_realm_begin_write(realm, nil)) }
    func cancel() throws { try call("toft_realm_cancel", toft_realm_cancel(realm)) }
    func flush() throws { try call("toft_realm_flush", toft_realm_flush(realm)) }
    func compactStep() throws -> Bool {
        var step = toft_compaction_step()
        step.size = MemoryLayout<toft_compaction_step>.size
        try call("toft_realm_compact_step", toft_realm_compact_step(realm, 1 << 18, &step))
        return step.has_more != 0
    }
    func refresh() throws { try call("toft_realm_refresh", toft_realm_refresh(realm, nil)) }
    func dispatch() throws { try call("toft_realm_dispatch", toft_realm_dispatch(realm, nil)) }
    func close() throws { try call("toft_realm_close", toft_realm_close(realm)) }
    func frozen() throws -> (any ModelSession)? { nil }

    func commit(_ durability: Int) throws -> UInt64 {
        var version: UInt64 = 0
        if durability == 0 {
            try call("toft_realm_commit", toft_realm_commit(realm, nil, &version))
        } else {
            var options = toft_commit_options()
            options.size = MemoryLayout<toft_commit_options>.size
            options.durability = durability == 1 ? TOFT_DURABILITY_GROUP : TOFT_DURABILITY_DEFERRED
            try call("toft_realm_commit", toft_realm_commit(realm, &options, &version))
        }
        return version
    }

    func check() throws -> [String] {
        var report = toft_check_report()
        report.size = MemoryLayout<toft_check_report>.size
        var text = [CChar](repeating: 0, count: 2_000)
        var size = 0
        try call(
            "toft_realm_check", toft_realm_check(realm, &report, &text, text.count, &size))
        guard report.problem_count > 0 else { return [] }
        let bytes = text.prefix(min(size, text.count)).map { UInt8(bitPattern: $0) }
        return [String(decoding: bytes, as: UTF8.self)]
    }

    // MARK: Values

    /// The value for a property: no entries at all are a dictionary too.
    private func value(_ datum: Datum, _ owner: Int, _ property: Int) -> toft_value {
        let isDictionary = shape.classes[owner].properties[property].collection == .dictionary
        guard !isDictionary || !datum.elements.isEmpty else { return toft_value_entries(nil, 0) }
        return value(datum, target: target(owner, property))
    }

    private func value(_ datum: Datum, target: toft_class_key) -> toft_value {
        switch datum {
        case .null: return toft_value_null()
        case .bool(let value): return toft_value_bool(value)
        case .int(let value): return toft_value_int(value)
        case .float(let value): return toft_value_float(value)
        case .double(let value): return toft_value_double(value)
        case .text(let bytes): return toft_value_string(loan.string(bytes))
        case .data(let bytes):
            let copy = loan.bytes(bytes)
            return toft_value_data(copy.baseAddress, copy.count)
        case .date(let seconds, let rest): return toft_value_date(seconds, rest)
        case .uuid(let bytes):
            var uuid = toft_uuid()
            withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
            return toft_value_uuid(uuid)
        case .objectId(let bytes):
            var objectId = toft_object_id()
            withUnsafeMutableBytes(of: &objectId) { $0.copyBytes(from: bytes) }
            return toft_value_object_id(objectId)
        case .decimal(let low, let high):
            return toft_value_decimal(toft_decimal(low: low, high: high))
        case .link(let key): return toft_value_link(toft_link(object_key: key, class_key: target))
        case .object(let owner, let key):
            return toft_value_link(toft_link(object_key: key, class_key: classes[owner]))
        case .map(let elements):
            return elements.isEmpty
                ? toft_value_entries(nil, 0) : value(.list(elements), target: target)
        case .list(let elements):
            if case .entry? = elements.first {
                let entries = loan.array(elements.count, of: toft_entry.self)
                for (index, element) in elements.enumerated() {
                    entries.initializeElement(
                        at: index,
                        to: toft_entry(
                            key: loan.string(element.key), value: value(element, target: target)))
                }
                return toft_value_entries(entries.baseAddress, entries.count)
            }
            let values = values(elements, target: target)
            return toft_value_list(values.baseAddress, values.count)
        case .entry(_, let element): return value(element, target: target)
        }
    }

    private func values(_ elements: [Datum], target: toft_class_key)
        -> UnsafeMutableBufferPointer<toft_value>
    {
        let values = loan.array(elements.count, of: toft_value.self)
        for (index, element) in elements.enumerated() {
            values.initializeElement(at: index, to: value(element, target: target))
        }
        return values
    }

    private func target(_ owner: Int, _ property: Int) -> toft_class_key {
        classes[shape.classes[owner].properties[property].target]
    }

    private func assignments(_ owner: Int, _ given: [(property: Int, value: Datum)])
        -> ([toft_property_key], UnsafeMutableBufferPointer<toft_value>)
    {
        let values = loan.array(given.count, of: toft_value.self)
        for (index, item) in given.enumerated() {
            values.initializeElement(
                at: index, to: value(item.value, owner, item.property))
        }
        return (given.map { properties[owner][$0.property] }, values)
    }

    // MARK: Objects

    private func withObject<Result>(
        _ owner: Int, _ key: Int64, _ body: (OpaquePointer) throws -> Result
    ) throws -> Result {
        var object: OpaquePointer?
        try call(
            "toft_realm_follow",
            toft_realm_follow(
                realm, toft_link(object_key: key, class_key: classes[owner]), &object))
        guard let object else {
            throw CallFailure(
                function: "toft_realm_follow", code: 401, description: "there is no object \(key)")
        }
        defer { toft_object_release(object) }
        return try body(object)
    }

    private func withCollection<Result>(
        _ owner: Int, _ key: Int64, _ property: Int,
        _ body: (CollectionKind, OpaquePointer?) throws -> Result
    ) throws -> Result {
        try withObject(owner, key) { object in
            try withCollection(owner, property, of: object, body)
        }
    }

    private func withCollection<Result>(
        _ owner: Int, _ property: Int, of object: OpaquePointer?,
        _ body: (CollectionKind, OpaquePointer?) throws -> Result
    ) throws -> Result {
        try withCollection(
            shape.classes[owner].properties[property].collection, owner, property, of: object, body)
    }

    /// The collection of a property, or of its mixed value, that is of a kind.
    private func withCollection<Result>(
        _ kind: CollectionKind, _ owner: Int, _ property: Int, of object: OpaquePointer?,
        _ body: (CollectionKind, OpaquePointer?) throws -> Result
    ) throws -> Result {
        let key = properties[owner][property]
        var handle: OpaquePointer?
        switch kind {
        case .none, .list: try call("toft_object_list", toft_object_list(object, key, &handle))
        case .set: try call("toft_object_get_set", toft_object_get_set(object, key, &handle))
        case .dictionary:
            try call(
                "toft_object_get_dictionary", toft_object_get_dictionary(object, key, &handle))
        }
        defer { release(handle, kind) }
        return try body(kind, handle)
    }

    private func release(_ handle: OpaquePointer?, _ kind: CollectionKind) {
        switch kind {
        case .none, .list: toft_list_release(handle)
        case .set: toft_set_release(handle)
        case .dictionary: toft_dictionary_release(handle)
        }
    }

    /// A collection within a mixed value.
    private func withCollection<Result>(
        _ owner: Int, _ key: Int64, _ property: Int, _ steps: [ModelStep],
        _ body: (CollectionKind, OpaquePointer?) throws -> Result
    ) throws -> Result {
        func go(_ kind: CollectionKind, _ handle: OpaquePointer?, _ steps: ArraySlice<ModelStep>)
            throws -> Result
        {
            guard let step = steps.first else { return try body(kind, handle) }
            return try withInner(kind, handle, step) { try go($0, $1, steps.dropFirst()) }
        }
        return try withObject(owner, key) { object in
            let declared = shape.classes[owner].properties[property].collection
            guard declared == .none, let first = steps.first else {
                return try withCollection(owner, property, of: object) {
                    try go($0, $1, steps[...])
                }
            }
            return try withCollection(
                first.isMap ? .dictionary : .list, owner, property, of: object
            ) { try go($0, $1, steps.dropFirst()) }
        }
    }

    /// The list or dictionary that an element is.
    private func withInner<Result>(
        _ kind: CollectionKind, _ handle: OpaquePointer?, _ step: ModelStep,
        _ body: (CollectionKind, OpaquePointer?) throws -> Result
    ) throws -> Result {
        var inner: OpaquePointer?
        switch (kind == .dictionary, step.isMap) {
        case (false, false):
            try call("toft_list_get_list", toft_list_get_list(handle, UInt64(step.index), &inner))
        case (false, true):
            try call(
                "toft_list_get_dictionary",
                toft_list_get_dictionary(handle, UInt64(step.index), &inner))
        case (true, false):
            try call(
                "toft_dictionary_get_list",
                toft_dictionary_get_list(handle, loan.string(step.key), &inner))
        case (true, true):
            try call(
                "toft_dictionary_get_dictionary",
                toft_dictionary_get_dictionary(handle, loan.string(step.key), &inner))
        }
        guard inner != nil else { throw ModelViolation("there is no value of a key \(step)") }
        let kind: CollectionKind = step.isMap ? .dictionary : .list
        defer { release(inner, kind) }
        return try body(kind, inner)
    }

    func create(_ owner: Int, _ given: [(property: Int, value: Datum)], policy: Int) throws
        -> (key: Int64, isNew: Bool)
    {
        defer { loan.reset() }
        let (keys, values) = assignments(owner, given)
        var link = toft_link()
        var isNew = false
        try call(
            "toft_realm_create_object",
            toft_realm_create_object(
                realm, classes[owner], toft_update_policy(rawValue: UInt32(policy)), keys,
                values.baseAddress, given.count, nil, &link, &isNew))
        return (link.object_key, isNew)
    }

    func set(_ owner: Int, _ key: Int64, _ property: Int, _ datum: Datum) throws {
        defer { loan.reset() }
        try withObject(owner, key) { object in
            var value = value(datum, owner, property)
            try call(
                "toft_object_set", toft_object_set(object, properties[owner][property], &value))
        }
    }

    func set(_ owner: Int, _ key: Int64, _ given: [(property: Int, value: Datum)]) throws {
        defer { loan.reset() }
        let (keys, values) = assignments(owner, given)
        try withObject(owner, key) { object in
            try call(
                "toft_object_set_values",
                toft_object_set_values(object, keys, values.baseAddress, given.count))
        }
    }

    func add(_ owner: Int, _ key: Int64, _ property: Int, _ amount: Int64) throws {
        try withObject(owner, key) { object in
            try call(
                "toft_object_add", toft_object_add(object, properties[owner][property], amount))
        }
    }

    func embed(_ owner: Int, _ key: Int64, _ property: Int, _ place: ModelEmbedding) throws -> Int64
    {
        defer { loan.reset() }
        var link = toft_link()
        if case .one = place {
            try withObject(owner, key) { object in
                try call(
                    "toft_object_set_embedded",
                    toft_object_set_embedded(
                        object, properties[owner][property], nil, nil, 0, nil, &link))
            }
            return link.object_key
        }
        try withCollection(owner, key, property) { _, handle in
            switch place {
            case .one: break
            case .insert(let index):
                try call(
                    "toft_list_insert_embedded",
                    toft_list_insert_embedded(handle, UInt64(index), nil, nil, 0, nil, &link))
            case .replace(let index):
                try call(
                    "toft_list_set_embedded",
                    toft_list_set_embedded(handle, UInt64(index), nil, nil, 0, nil, &link))
            case .entry(let name):
                try call(
                    "toft_dictionary_set_embedded",
                    toft_dictionary_set_embedded(
                        handle, loan.string(name), nil, nil, 0, nil, &link))
            }
        }
        return link.object_key
    }

    func erase(_ owner: Int, _ key: Int64) throws {
        try withObject(owner, key) { try call("toft_object_delete", toft_object_delete($0)) }
    }

    func eraseAll(_ owner: Int) throws {
        try call("toft_realm_delete_all", toft_realm_delete_all(realm, classes[owner]))
    }

    func edit(
        _ owner: Int, _ key: Int64, _ property: Int, _ steps: [ModelStep], _ edit: ModelListEdit
    ) throws {
        defer { loan.reset() }
        let target = target(owner, property)
        if case .assign(let elements) = edit {
            return try set(owner, key, property, .list(elements))
        }
        try withCollection(owner, key, property, steps) { kind, list in
            switch edit {
            case .put(let elements):
                for element in elements { try put(element, target, into: list) }
            case .take(let elements):
                for element in elements { try take(element, target, from: list) }
            case .insert(let index, let elements):
                let values = values(elements, target: target)
                try call(
                    "toft_list_insert",
                    toft_list_insert(list, UInt64(index), values.baseAddress, values.count))
            case .append(let elements):
                let values = values(elements, target: target)
                try call(
                    "toft_list_append", toft_list_append(list, values.baseAddress, values.count))
            case .set(let index, let datum):
                var value = value(datum, target: target)
                try call("toft_list_set", toft_list_set(list, UInt64(index), &value))
            case .remove(let range):
                try call(
                    "toft_list_erase",
                    toft_list_erase(list, UInt64(range.lowerBound), UInt64(range.count)))
            case .move(let from, let to):
                try call("toft_list_move", toft_list_move(list, UInt64(from), UInt64(to)))
            case .swap(let one, let other):
                try call("toft_list_swap", toft_list_swap(list, UInt64(one), UInt64(other)))
            case .clear:
                switch kind {
                case .none, .list: try call("toft_list_clear", toft_list_clear(list))
                case .set: try call("toft_set_clear", toft_set_clear(list))
                case .dictionary: try call("toft_dictionary_clear", toft_dictionary_clear(list))
                }
            case .assign: break
            }
        }
    }

    private func put(_ element: Datum, _ target: toft_class_key, into handle: OpaquePointer?) throws
    {
        var value = value(element, target: target)
        if case .entry(let key, _) = element {
            try call(
                "toft_dictionary_set",
                toft_dictionary_set(handle, loan.string(key), &value, nil))
        } else {
            try call("toft_set_insert", toft_set_insert(handle, &value, nil, nil))
        }
    }

    private func take(_ element: Datum, _ target: toft_class_key, from handle: OpaquePointer?)
        throws
    {
        var isErased = false
        if case .entry(let key, _) = element {
            try call(
                "toft_dictionary_erase",
                toft_dictionary_erase(handle, loan.string(key), &isErased))
        } else {
            var value = value(element, target: target)
            try call("toft_set_erase", toft_set_erase(handle, &value, &isErased))
        }
        if !isErased { throw ModelViolation("\(element) was not there to be erased") }
    }

    // MARK: Reading

    func keys(_ owner: Int) throws -> [Int64] {
        var results: OpaquePointer?
        try call("toft_realm_objects", toft_realm_objects(realm, classes[owner], &results))
        return try CResults(results, properties[owner]).keys()
    }

    func difference(_ owner: Int, _ key: Int64, _ row: [Datum]) throws -> String? {
        let declared = shape.classes[owner]
        return try withObject(owner, key) { object -> String? in
            defer { loan.reset() }
            let values = loan.array(scalars[owner].count, of: toft_value.self)
            try call(
                "toft_object_get_values",
                toft_object_get_values(
                    object, scalarKeys[owner], values.count, values.baseAddress))
            let byLink = loan.array(scalars[owner].count, of: toft_value.self)
            var isFound = false
            try call(
                "toft_realm_follow_values",
                toft_realm_follow_values(
                    realm, toft_link(object_key: key, class_key: classes[owner]),
                    scalarKeys[owner], byLink.count, byLink.baseAddress, &isFound))
            if !isFound { return "the object is not found by its link" }
            for (index, place) in scalars[owner].enumerated() {
                let isMixed = declared.properties[place].type == .mixed
                for value in [values[index], byLink[index]] {
                    if isMixed ? isSameMixed(value, row[place]) : Self.isSame(value, row[place]) {
                        continue
                    }
                    return "'\(declared.properties[place].name)' is \(Self.shown(value)), not "
                        + "\(row[place])"
                }
                guard isMixed, row[place].isCollection else { continue }
                let found = try withCollection(
                    ModelStep(row[place], at: 0, key: []).isMap ? .dictionary : .list, owner,
                    place, of: object
                ) { try difference($0, $1, row[place].elements, isMixed: true) }
                if let found { return "'\(declared.properties[place].name)' \(found)" }
            }
            for place in declared.collections {
                let found = try withCollection(owner, place, of: object) { kind, handle in
                    try difference(
                        kind, handle, row[place].elements,
                        isMixed: declared.properties[place].type == .mixed)
                }
                if let found { return "'\(declared.properties[place].name)' \(found)" }
            }
            return nil
        }
    }

    private func difference(
        _ kind: CollectionKind, _ handle: OpaquePointer?, _ elements: [Datum], isMixed: Bool
    ) throws -> String? {
        var count: UInt64 = 0
        switch kind {
        case .none, .list: try call("toft_list_count", toft_list_count(handle, &count))
        case .set: try call("toft_set_count", toft_set_count(handle, &count))
        case .dictionary: try call("toft_dictionary_count", toft_dictionary_count(handle, &count))
        }
        guard count == elements.count else {
            return "has \(count) elements, not \(elements.count)"
        }
        let values = loan.array(elements.count, of: toft_value.self)
        var read = 0
        switch kind {
        case .none, .list:
            try call(
                "toft_list_get_values",
                toft_list_get_values(handle, 0, values.baseAddress, values.count, &read))
        case .set:
            try call(
                "toft_set_get_values",
                toft_set_get_values(handle, 0, values.baseAddress, values.count, &read))
        case .dictionary:
            let entries = loan.array(elements.count, of: toft_entry.self)
            try call(
                "toft_dictionary_get_entries",
                toft_dictionary_get_entries(handle, 0, entries.baseAddress, entries.count, &read))
            for (index, element) in elements.enumerated().prefix(read) {
                values[index] = entries[index].value
                let key = toft_value_string(entries[index].key)
                if !Self.isSame(key, element.name) {
                    return "has the key \(Self.shown(key)) at \(index), not \(element)"
                }
            }
        }
        guard read == elements.count else { return "gives \(read) elements of \(count)" }
        for (index, element) in elements.enumerated() {
            let isSame =
                isMixed
                ? isSameMixed(values[index], element.value)
                : Self.isSame(values[index], element.value)
            if !isSame { return "has \(Self.shown(values[index])) at \(index), not \(element)" }
            guard isMixed, element.value.isCollection else { continue }
            let step = ModelStep(element.value, at: index, key: element.key)
            let found = try withInner(kind, handle, step) {
                try difference($0, $1, element.value.elements, isMixed: true)
            }
            if let found { return "[\(index)] \(found)" }
        }
        return nil
    }

    /// Compares mixed values; for a list or a dictionary the number of its elements.
    private func isSameMixed(_ value: toft_value, _ datum: Datum) -> Bool {
        switch datum {
        case .object(let owner, let key):
            value.type == TOFT_TYPE_LINK && value.link.class_key == classes[owner]
                && value.link.object_key == key
        case .list(let elements):
            value.type == TOFT_TYPE_LIST && value.list.count == elements.count
                && value.list.data == nil
        case .map(let elements):
            value.type == TOFT_TYPE_DICTIONARY && value.entries.count == elements.count
                && value.entries.data == nil
        default: Self.isSame(value, datum)
        }
    }

    private static func bytes(_ value: toft_value) -> UnsafeRawBufferPointer {
        value.type == TOFT_TYPE_STRING
            ? UnsafeRawBufferPointer(start: value.string.data, count: value.string.size)
            : UnsafeRawBufferPointer(start: value.data.data, count: value.data.size)
    }

    private static func isSame(_ value: toft_value, _ datum: Datum) -> Bool {
        switch datum {
        case .text(let bytes): value.type == TOFT_TYPE_STRING && bytes.isSame(as: Self.bytes(value))
        case .data(let bytes): value.type == TOFT_TYPE_DATA && bytes.isSame(as: Self.bytes(value))
        default: Datum.isSame(Self.datum(value), datum)
        }
    }

    static func datum(_ value: toft_value) -> Datum {
        switch value.type {
        case TOFT_TYPE_BOOL: .bool(value.boolean)
        case TOFT_TYPE_INT: .int(value.integer)
        case TOFT_TYPE_FLOAT: .float(value.float32)
        case TOFT_TYPE_DOUBLE: .double(value.float64)
        case TOFT_TYPE_STRING: .text(Array(bytes(value)))
        case TOFT_TYPE_DATA: .data(Array(bytes(value)))
        case TOFT_TYPE_DATE: .date(value.date.seconds, value.date.nanoseconds)
        case TOFT_TYPE_LINK: .link(value.link.object_key)
        case TOFT_TYPE_UUID: .uuid(withUnsafeBytes(of: value.uuid) { Array($0) })
        case TOFT_TYPE_OBJECT_ID: .objectId(withUnsafeBytes(of: value.object_id) { Array($0) })
        case TOFT_TYPE_DECIMAL: .decimal(value.decimal.low, value.decimal.high)
        default: .null
        }
    }

    private static func shown(_ value: toft_value) -> String { "\(datum(value))" }

    func find(_ owner: Int, _ datum: Datum) throws -> Int64? {
        defer { loan.reset() }
        var value = value(datum, target: 0)
        var object: OpaquePointer?
        try call(
            "toft_realm_find_object", toft_realm_find_object(realm, classes[owner], &value, &object)
        )
        var isFound = false
        try call(
            "toft_realm_find_values",
            toft_realm_find_values(realm, classes[owner], &value, nil, 0, nil, &isFound))
        if isFound != (object != nil) {
            throw ModelViolation("toft_realm_find_values says \(isFound) for \(datum)")
        }
        guard let object else { return nil }
        defer { toft_object_release(object) }
        var link = toft_link()
        try call("toft_object_link", toft_object_link(object, &link))
        return link.object_key
    }

    func listIndex(_ owner: Int, _ key: Int64, _ property: Int, of datum: Datum) throws -> Int? {
        defer { loan.reset() }
        return try withCollection(owner, key, property) { kind, list in
            var value = value(datum, target: target(owner, property))
            var index: UInt64 = 0
            if kind == .set {
                try call("toft_set_find", toft_set_find(list, &value, &index))
            } else {
                try call("toft_list_find", toft_list_find(list, &value, &index))
            }
            return index == .max ? nil : Int(index)
        }
    }

    func results(_ base: ModelBase, _ query: ModelQuery?) throws -> any ModelResults {
        defer { loan.reset() }
        var results: OpaquePointer?
        let owner: Int
        switch base {
        case .all(let index):
            owner = index
            try call("toft_realm_objects", toft_realm_objects(realm, classes[index], &results))
        case .list(let index, let key, let property):
            owner = shape.classes[index].properties[property].target
            try withCollection(index, key, property) { kind, handle in
                switch kind {
                case .none, .list:
                    try call("toft_list_results", toft_list_results(handle, &results))
                case .set: try call("toft_set_results", toft_set_results(handle, &results))
                case .dictionary:
                    try call(
                        "toft_dictionary_results", toft_dictionary_results(handle, &results))
                }
            }
        case .inverse(let index, let key, let inverse):
            owner = shape.classes[index].inverses[inverse].origin
            try withObject(index, key) {
                try call(
                    "toft_object_linking_objects",
                    toft_object_linking_objects($0, inverses[index][inverse], &results))
            }
        }
        let whole = CResults(results, properties[owner])
        guard let query else { return whole }
        let arguments = arguments(of: query)
        var filtered: OpaquePointer?
        try call(
            "toft_results_filter",
            toft_results_filter(
                whole.results, loan.string(query.text), arguments.baseAddress, arguments.count,
                &filtered))
        return CResults(filtered, properties[owner])
    }

    private func arguments(of query: ModelQuery) -> UnsafeMutableBufferPointer<toft_value> {
        let arguments = loan.array(query.arguments.count, of: toft_value.self)
        for (index, argument) in query.arguments.enumerated() {
            arguments.initializeElement(
                at: index, to: value(argument.value, target: classes[argument.target]))
        }
        return arguments
    }

    func firstTwice(_ owner: Int, _ query: ModelQuery) throws -> [Int64?] {
        defer { loan.reset() }
        var prepared: OpaquePointer?
        try call("toft_query_new", toft_query_new(loan.string(query.text), &prepared))
        defer { toft_query_release(prepared) }
        let arguments = arguments(of: query)
        return try (0..<2).map { _ in
            var object = toft_link()
            var isFound = false
            try call(
                "toft_realm_find_first",
                toft_realm_find_first(
                    realm, classes[owner], prepared, arguments.baseAddress, arguments.count,
                    &object, &isFound))
            return isFound ? object.object_key : nil
        }
    }

    // MARK: Observing

    func observe(_ subject: ModelSubject, _ call: @escaping (ModelChange) -> Void) throws
        -> AnyObject
    {
        var token: OpaquePointer?
        var keys: [toft_property_key] = []
        if case .object(let owner, _) = subject { keys = properties[owner] }
        let context = Unmanaged.passRetained(CObserver(keys, call))
        let data = context.toOpaque()
        do {
            try start(subject, data, &token)
        } catch {
            context.release()
            throw error
        }
        return CToken(token)
    }

    private func start(
        _ subject: ModelSubject, _ data: UnsafeMutableRawPointer, _ token: inout OpaquePointer?
    ) throws {
        switch subject {
        case .database:
            try call(
                "toft_realm_observe",
                toft_realm_observe(realm, nil, CObserver.callback, data, CObserver.destroy, &token))
        case .object(let owner, let key):
            try withObject(owner, key) {
                try call(
                    "toft_object_observe",
                    toft_object_observe(
                        $0, nil, CObserver.callback, data, CObserver.destroy, &token))
            }
        case .list(let owner, let key, let property):
            try withCollection(owner, key, property) { kind, handle in
                let observe =
                    switch kind {
                    case .none, .list: toft_list_observe
                    case .set: toft_set_observe
                    case .dictionary: toft_dictionary_observe
                    }
                try call(
                    "toft_..._observe",
                    observe(handle, nil, CObserver.callback, data, CObserver.destroy, &token))
            }
        case .results(let results):
            guard let results = results as? CResults else { throw ModelMisuse() }
            try call(
                "toft_results_observe",
                toft_results_observe(
                    results.results, nil, CObserver.callback, data, CObserver.destroy, &token))
        }
    }
}

/// The context of a C callback.
private final class CObserver {
    private let keys: [toft_property_key]
    private let call: (ModelChange) -> Void

    init(_ keys: [toft_property_key], _ call: @escaping (ModelChange) -> Void) {
        self.keys = keys
        self.call = call
    }

    static let callback: toft_changes_callback = { data, changes in
        guard let data, let changes = changes?.pointee else { return }
        Unmanaged<CObserver>.fromOpaque(data).takeUnretainedValue().receive(changes)
    }

    static let destroy: toft_destructor = { data in
        if let data { Unmanaged<CObserver>.fromOpaque(data).release() }
    }

    private func receive(_ changes: toft_changes) {
        func indices(_ start: UnsafePointer<UInt64>?, _ count: Int) -> [Int] {
            UnsafeBufferPointer(start: start, count: count).map { Int($0) }
        }
        var change = ModelChange(kind: .failure, version: changes.version)
        switch changes.kind {
        case TOFT_CHANGE_INITIAL: change.kind = .initial
        case TOFT_CHANGE_UPDATE: change.kind = .update
        case TOFT_CHANGE_DELETED: change.kind = .deleted
        default: break
        }
        change.deletions = indices(changes.deletions, changes.deletion_count)
        change.insertions = indices(changes.insertions, changes.insertion_count)
        change.modifications = indices(changes.modifications, changes.modification_count)
        change.modificationsNew = indices(changes.modifications_after, changes.modification_count)
        change.properties = UnsafeBufferPointer(
            start: changes.properties, count: changes.property_count
        ).compactMap { keys.firstIndex(of: $0) }
        call(change)
    }
}

private final class CToken {
    private let token: OpaquePointer?
    init(_ token: OpaquePointer?) { self.token = token }
    deinit { toft_token_release(token) }
}

final class CResults: ModelResults {
    let results: OpaquePointer?
    private let properties: [toft_property_key]

    init(_ results: OpaquePointer?, _ properties: [toft_property_key]) {
        self.results = results
        self.properties = properties
    }

    deinit { toft_results_release(results) }

    func count() throws -> Int {
        var count: UInt64 = 0
        try call("toft_results_count", toft_results_count(results, &count))
        return Int(count)
    }

    func keys() throws -> [Int64] {
        let count = try count()
        var keys = [Int64](repeating: -1, count: count)
        var rows = 0
        try keys.withUnsafeMutableBytes { buffer in
            var column = toft_column()
            column.size = MemoryLayout<toft_column>.size
            column.element_size = 8
            column.values = buffer.baseAddress
            try call(
                "toft_results_columns", toft_results_columns(results, 0, &column, 1, count, &rows))
        }
        return Array(keys.prefix(rows))
    }

    func aggregate(_ aggregate: ModelAggregate, of path: String) throws -> Datum {
        var value = toft_value()
        let loan = Loan()
        try call(
            "toft_results_aggregate",
            toft_results_aggregate(
                results, toft_aggregate(rawValue: UInt32(aggregate.rawValue)), loan.string(path),
                &value))
        return withExtendedLifetime(loan) { CSession.datum(value) }
    }

    func deleteAll() throws {
        try call("toft_results_delete_all", toft_results_delete_all(results))
    }

    func text() throws -> String {
        var size = 0
        try call("toft_results_query", toft_results_query(results, nil, 0, &size))
        var text = [CChar](repeating: 0, count: size + 1)
        try call("toft_results_query", toft_results_query(results, &text, size + 1, &size))
        return String(decoding: text.prefix(size).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func groups(by key: String, _ aggregate: ModelAggregate, of property: String) throws
        -> [ModelGroup]
    {
        let loan = Loan()
        var path = loan.string(key)
        var asked = toft_group_value()
        asked.key_path = loan.string(property)
        asked.aggregate = toft_aggregate(rawValue: UInt32(aggregate.rawValue))
        let collected = Groups()
        try call(
            "toft_results_groups",
            toft_results_groups(
                results, &path, 1, &asked, 1,
                { data, group in
                    guard let data, let group else { return }
                    Unmanaged<Groups>.fromOpaque(data).takeUnretainedValue().groups.append(
                        ModelGroup(
                            key: CSession.datum(group[0]), count: Int(group[1].integer),
                            value: CSession.datum(group[2])))
                }, Unmanaged.passUnretained(collected).toOpaque()))
        return withExtendedLifetime(collected) { collected.groups }
    }

    private final class Groups {
        var groups: [ModelGroup] = []
    }
}

extension ShapeType {
    fileprivate var typeInC: toft_type {
        switch self {
        case .bool: TOFT_TYPE_BOOL
        case .int: TOFT_TYPE_INT
        case .float: TOFT_TYPE_FLOAT
        case .double: TOFT_TYPE_DOUBLE
        case .text: TOFT_TYPE_STRING
        case .data: TOFT_TYPE_DATA
        case .date: TOFT_TYPE_DATE
        case .link: TOFT_TYPE_LINK
        case .uuid: TOFT_TYPE_UUID
        case .objectId: TOFT_TYPE_OBJECT_ID
        case .decimal: TOFT_TYPE_DECIMAL
        case .mixed: TOFT_TYPE_MIXED
        }
    }
}
