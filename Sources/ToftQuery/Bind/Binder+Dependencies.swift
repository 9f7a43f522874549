internal import ToftModel

extension Binder {
    /// Records the properties that `path`, which begins at the end of `outer`, reads.
    mutating func record(_ path: BoundPath, from outer: [PathStep]) {
        var steps = outer
        for step in path.steps {
            note(steps, step.property, isOfOthers: step.isBacklink)
            steps.append(step)
        }
        switch path.leaf.withoutPart {
        case .nested(let property, _, let nested):
            note(steps, property)
            for case .key(let name) in nested { noteEvery(String(decoding: name, as: UTF8.self)) }
        case .typeName, .mixedSize: break
        case .property(let property, _), .entry(let property, _, _), .elements(let property, _),
            .keys(let property), .element(let property, _, _), .lengths(let property),
            .size(let property, _):
            note(steps, property)
        case .object, .subquery: break
        case .count(let collection): record(collection, at: steps)
        case .aggregate(_, let collection, let property, _):
            record(collection, at: steps)
            if let property, let step = collection.step(to: property.classID) {
                steps.append(step)
                for step in property.steps {
                    note(steps, step.property)
                    steps.append(step)
                }
                note(steps, property.property)
            }
        }
    }

    /// A mixed value may link to an object of any class that has a property of this name.
    private mutating func noteEvery(_ name: String) {
        for owner in schema.visibleClasses {
            guard let property = owner.property(named: name) else { continue }
            note(
                [], PropertyRef(classID: owner.id, propertyID: property.id), isOfOthers: true)
        }
    }

    private mutating func record(_ collection: BoundCollection, at steps: [PathStep]) {
        switch collection {
        case .list(let property): note(steps, property)
        case .link(let step): note(steps, step.property)
        case .backlinks(let origin): note(steps, origin, isOfOthers: true)
        case .allBacklinks(let origins):
            for origin in origins { note(steps, origin, isOfOthers: true) }
        }
    }

    mutating func note(_ steps: [PathStep], _ property: PropertyRef, isOfOthers: Bool = false) {
        let dependency = QueryDependency(steps: steps, property: property, isOfOthers: isOfOthers)
        if knownDependencies.insert(dependency).inserted { dependencies.append(dependency) }
    }
}

extension PathStep {
    var isBacklink: Bool { if case .backlinks = self { true } else { false } }
}
