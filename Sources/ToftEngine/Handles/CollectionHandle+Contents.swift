package import ToftModel
internal import ToftStorage

extension CollectionHandle {
    /// All elements, to keep; of a dictionary the values, in the order of their keys. O(elements).
    package func values() throws(EngineError) -> [Value] {
        try onCollection { property throws(ModelError) in
            try session.view.listValues(key, property)
        }
    }

    /// All keys of a dictionary, to keep, in ascending order. O(entries).
    package func entryKeys() throws(EngineError) -> [String] {
        let keys = try keys()
        var texts: [String] = []
        texts.reserveCapacity(keys.reservedCount)
        for index in 0..<keys.count {
            let cell = try storage { () throws(StorageError) in try keys.cell(at: index) }
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
