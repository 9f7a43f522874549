/// The classes and properties that some results depend on.
package struct ResultsWatch: Hashable, Sendable {
    let dependencies: Dependencies
}

extension Results {
    package var watch: ResultsWatch { ResultsWatch(dependencies: definition.watched) }
}

extension Session {
    /// A number that grows with each change of something that some results depend on.
    package func stamp(of watch: ResultsWatch) -> UInt64 { lastChange(of: watch.dependencies) }

    /// A number that grows with each change that the session sees.
    package var stampOfEverything: UInt64 { counters.now }
}
