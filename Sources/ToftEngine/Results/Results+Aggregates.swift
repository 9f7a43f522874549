package import ToftModel

/// What can be made of many values.
package enum Aggregate: Sendable {
    case minimum
    case maximum
    case sum
    case average
}

extension Results {
    /// Makes one value of a property of all objects, or of the values themselves (nil). Null does not count. Sums of integers wrap around.
    package func aggregate(_ aggregate: Aggregate, of property: PropertyID?) throws(EngineError) -> Value {
        throw EngineError(.unsupported, "Not built yet.")
    }

    /// How the results are worked out: the plan as text.
    package func explain() throws(EngineError) -> String {
        throw EngineError(.unsupported, "Not built yet.")
    }
}
