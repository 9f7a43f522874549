package import ToftEngine
package import ToftModel
package import ToftQuery

/// Answers questions about the objects of a session.
package struct QuestionRunner {
    private let session: Session
    private let arguments: [QueryArgument]

    /// - Parameter arguments: the values of `$0`, `$1`... in conditions.
    package init(_ session: Session, arguments: [QueryArgument] = []) {
        self.session = session
        self.arguments = arguments
    }

    // MARK: Objects

    /// The objects that a question is about.
    package func results(_ question: Question) throws(EngineError) -> Results {
        try results(of: question.owner, question.query)
    }

    func results(of owner: NamedPlace, _ query: QuerySyntax?) throws(EngineError) -> Results {
        let results = try session.results(of: try self.owner(owner).id)
        guard let query else { return results }
        return try results.filter(query, arguments: arguments)
    }

    /// The class that a statement names. The error lists the classes that exist.
    func owner(_ owner: NamedPlace) throws(EngineError) -> ClassHandle {
        try owner.place.naming { () throws(EngineError) in
            try session.givenClass(owner.name)
        }
    }

    // MARK: Answers

    /// Prints the answer.
    /// - Returns: the number of rows.
    @discardableResult
    package func print(_ question: Question, with printer: RowPrinter) throws(EngineError) -> Int {
        try print(question.answer, of: try results(question), with: printer)
    }

    /// Prints the part of some results that is asked for.
    @discardableResult
    package func print(
        _ answer: Question.Answer, of results: Results, with printer: RowPrinter
    ) throws(EngineError) -> Int {
        var printer = printer
        switch answer {
        case .objects(let paths):
            return try printer.print(try ObjectRows(results, paths))
        case .count:
            return try printer.print(
                ValueRows(
                    [PrintedColumn("count", isNumber: true)],
                    [[.integer(Int64(try results.count))]]))
        case .groups(let groups):
            return try printer.print(try GroupRunner(session, groups, of: results).rows())
        }
    }

    /// How a question is answered: the plan, and what a run read.
    package func explanation(_ question: Question) throws(EngineError) -> String {
        let results = try results(question)
        switch question.answer {
        case .count: return try results.explain(for: .count)
        case .objects, .groups: return try results.explain()
        }
    }
}

extension Session {
    /// The class of a name that was given. The error lists the classes that exist.
    package func givenClass(_ name: String) throws(EngineError) -> ClassHandle {
        do throws(EngineError) {
            return try classHandle(named: name)
        } catch {
            let names = schema.visibleClasses.prefix(20).map(\.name)
            guard error.code == .noSuchClass, !names.isEmpty else { throw error }
            let rest = schema.visibleClasses.count > names.count ? "..." : "."
            throw EngineError(
                error.code,
                "\(error.message) The classes are: \(names.joined(separator: ", "))\(rest)")
        }
    }
}

extension StatementPlace {
    /// Runs work; an error without a place gets this one.
    func naming<Result>(_ work: () throws(EngineError) -> Result) throws(EngineError) -> Result {
        do throws(EngineError) {
            return try work()
        } catch {
            guard error.detail.isEmpty, error.code != .interrupted else { throw error }
            throw EngineError(
                error.code, error.message, detail: excerpt, number: Int64(offset))
        }
    }
}
