internal import CToft
internal import ToftEngine
internal import ToftModel

extension Argument {
    /// Keys of properties of one class.
    static func properties(
        _ keys: UnsafePointer<toft_property_key>?, _ count: Int
    ) throws(EngineError) -> UnsafeBufferPointer<toft_property_key> {
        let keys = try array(keys, count, "property_keys")
        guard count <= Limits.propertiesPerClass else {
            throw .invalidArgument("\(count) properties are more than a class can have.")
        }
        return keys
    }
}
