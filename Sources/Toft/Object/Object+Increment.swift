internal import ToftEngine

/// Gives `increment` the type that it is called on.
public protocol _Incrementable: ObjectBase {}

extension ObjectBase: _Incrementable {}

extension _Incrementable {
    /// Adds an amount, which may be negative, to an integer property: for counters. The commit
    /// keeps the amount beside the result. An addition that overflows is misuse; nothing is changed
    /// then. Adds to the value of an unmanaged object, too.
    public func increment<Number: _ScalarInteger>(
        _ keyPath: ReferenceWritableKeyPath<Self, Number>, by amount: Number = 1
    ) {
        Misuse.reporting {
            try row?.home.verify()
            let (sum, overflows) = self[keyPath: keyPath].addingReportingOverflow(amount)
            guard !overflows else {
                throw Realm.Error(
                    .overflow,
                    "\(self[keyPath: keyPath]) and \(amount) do not fit in \(Number.self).")
            }
            guard let row else { return self[keyPath: keyPath] = sum }
            let name = KeyPathNames.name(of: keyPath), binding = row.home.binding
            guard let place = binding.model.properties.firstIndex(where: { $0.name == name }) else {
                throw Realm.Error(
                    .noSuchProperty, "'\(binding.model.name)' has no property '\(name)' of its own."
                )
            }
            try row.handle.add(Int64(amount), to: binding.propertyIDs[place])
        }
    }
}
