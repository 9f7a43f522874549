internal import ToftModel

/// The effect of a migration's automatic handling on a class that becomes embedded, and on the
/// objects within its objects: each gets one owner.
extension ModelContent {
    enum OwnersEnd { case done, tooDeep, tooManyCopies }

    /// Copies have keys from here on until the file's are known, which are in the same order.
    private static let firstCopy: Int64 = 1 << 40
    private static let copyLimit = 2_000
    private static let depthLimit = 100

    /// The first link that leads to an object owns it, each further one a copy of it; objects
    /// without a link are deleted.
    mutating func giveOwners(_ owner: Int) -> OwnersEnd {
        let walked = shape.embedded(in: owner)
        var owned: Set<ModelObject> = [], copies = 0
        for origin in shape.classes.indices where !walked.contains(origin) {
            for key in classes[origin].keys {
                var waiting = [(object: ModelObject(owner: origin, key: key), depth: 0)]
                while let (holder, depth) = waiting.popLast() {
                    for property in shape.places(from: holder.owner, to: walked) {
                        for (index, target) in targets(of: holder, property) {
                            var object = target
                            if !owned.insert(object).inserted {
                                copies += 1
                                guard copies <= Self.copyLimit else { return .tooManyCopies }
                                object.key = Self.firstCopy + Int64(copies)
                                let values = row(target.owner, target.key) ?? []
                                insert(object.owner, object.key, values)
                                replace(index, of: holder, property, by: .link(object.key))
                                owned.insert(object)
                            }
                            guard !shape.places(from: object.owner, to: walked).isEmpty else {
                                continue
                            }
                            guard depth < Self.depthLimit else { return .tooDeep }
                            waiting.append((object, depth + 1))
                        }
                    }
                }
            }
        }
        for owner in walked.sorted() {
            let others = classes[owner].keys.filter {
                !owned.contains(ModelObject(owner: owner, key: $0))
            }
            _ = erase(owner, keys: Set(others))
        }
        return .done
    }

    private func targets(of holder: ModelObject, _ property: Int) -> [(Int, ModelObject)] {
        let target = shape.classes[holder.owner].properties[property].target
        let values = row(holder.owner, holder.key)?[property].targets ?? []
        return values.enumerated().compactMap { index, value in
            guard case .link(let key) = value else { return nil }
            return (index, ModelObject(owner: target, key: key))
        }
    }

    private mutating func replace(
        _ index: Int, of holder: ModelObject, _ property: Int, by link: Datum
    ) {
        guard let place = classes[holder.owner].index(of: holder.key) else { return }
        let isCollection = shape.classes[holder.owner].properties[property].isCollection
        let old = classes[holder.owner].rows[place][property]
        classes[holder.owner].rows[place][property] =
            isCollection ? old.replacing([ModelStep(old, at: index, key: [])], by: link) : link
    }

    /// Gives copies the keys that they have in the file.
    /// - Parameter keys: of each class.
    /// - Returns: their number; nil if the file has more objects, or fewer.
    mutating func nameCopies(_ keys: [[Int64]]) -> Int? {
        var names: [Int64: Int64] = [:]
        for (owner, found) in keys.enumerated() {
            let copies = classes[owner].keys.filter { $0 > Self.firstCopy }
            guard found.count == classes[owner].keys.count else { return nil }
            for (copy, key) in zip(copies, found.suffix(copies.count)) { names[copy] = key }
            classes[owner].keys = classes[owner].keys.map { names[$0] ?? $0 }
        }
        for (owner, declared) in shape.classes.enumerated() {
            for (place, property) in declared.properties.enumerated() where property.type == .link {
                for row in classes[owner].rows.indices {
                    let old = classes[owner].rows[row][place]
                    classes[owner].rows[row][place] = old.linking(names)
                }
            }
        }
        return names.count
    }
}

extension Shape {
    /// A class that becomes embedded, and the embedded ones whose objects are within its objects.
    fileprivate func embedded(in owner: Int) -> Set<Int> {
        var found: Set<Int> = [], waiting = [owner]
        while let next = waiting.popLast() {
            guard found.insert(next).inserted else { continue }
            waiting += classes[next].properties.filter { $0.type == .link }.map(\.target)
                .filter { classes[$0].isEmbedded }
        }
        return found
    }

    /// The properties of a class whose links own objects of some classes.
    fileprivate func places(from owner: Int, to targets: Set<Int>) -> [Int] {
        let properties = classes[owner].properties
        return properties.indices.filter {
            properties[$0].type == .link && properties[$0].collection != .set
                && targets.contains(properties[$0].target)
        }
    }
}

extension Datum {
    /// The links with other names of their objects.
    fileprivate func linking(_ names: [Int64: Int64]) -> Datum {
        switch self {
        case .link(let key): .link(names[key] ?? key)
        case .entry(let key, let value): .entry(key, value.linking(names))
        case .list(let elements): .list(elements.map { $0.linking(names) })
        default: self
        }
    }
}
