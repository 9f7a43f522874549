package import ToftModel
internal import ToftStorage

extension CollectionHandle {
    /// All elements, to keep; of a dictionary the values, in the order of their keys. O(elements).
    package func values() throws(EngineError) -> [Value] {
        if let nested {
            let elements = try elements(nested, from: 0, limit: .max)
            return try model { () throws(ModelError) in
                var values: [Value] = []
                for element in elements { values.append(try element.value().owned()) }
                return values
            }
        }
        return try onCollection { property throws(ModelError) in
            try session.view.listValues(key, property)
        }
    }

    /// All keys of a dictionary, to keep, in ascending order. O(entries).
    package func entryKeys() throws(EngineError) -> [String] {
        var texts: [String] = []
        for cell in try keyCells(from: 0, limit: .max) {
            guard case .bytes(let bytes) = cell,
                let text = String(validating: bytes, as: UTF8.self)
            else {
                throw EngineError(
                    ModelError.inconsistent(
                        "a key of '\(property.className).\(property.name)' is not UTF-8"))
            }
            texts.append(text)
        }
        return texts
    }
}
