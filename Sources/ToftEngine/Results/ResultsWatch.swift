/// The classes and properties that some results depend on.
package struct ResultsWatch: Hashable, Sendable {
    fileprivate let dependencies: Dependencies

    /// A number that grows with each change of one of them that a session sees.
    package func stamp(in session: Session) -> UInt64 { session.lastChange(of: dependencies) }
}

extension Results {
    package var watch: ResultsWatch { ResultsWatch(dependencies: definition.watched) }
}
