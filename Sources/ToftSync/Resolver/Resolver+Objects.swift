extension Resolver {
    /// Makes an object. One that is there is the same: the author joins its makers, and the values
    /// are puts.
    mutating func create(_ object: ObjectID, _ given: [Given]) -> Refusal? {
        let path = Path(object)
        let isThere = store.contains(object)
        let birth = store.birth(at: path)
        // An author who knew the object and makes it again says nothing with defaults.
        let knew = isThere && (birth.map { $0.entry <= base } ?? true)
        if isThere {
            var joined = birth ?? BirthNote(entry: 0)
            joined.joined.insert(author)
            store.setBirth(joined, at: path)
            told.insert(path)
        } else {
            store.make(object)
            bear(path)
            touchUnique(path)
            show(path)
        }
        for one in given {
            if let refusal = fill(path + .property(one.property), one, knew: knew) {
                return refusal
            }
        }
        return nil
    }

    private mutating func fill(_ path: Path, _ given: Given, knew: Bool) -> Refusal? {
        switch given.node {
        case .list(let list):
            var left: MadeID?
            for place in list.order {
                let element = path + .element(place.id)
                if let refusal = insert(element, Neighbours(left, nil), list.node(place)) {
                    return refusal
                }
                left = place.id
            }
        case .set(let members):
            for member in members {
                if let refusal = put(path + .member(member), .member) { return refusal }
            }
        case .dictionary(let entries):
            for (key, node) in entries {
                if let refusal = put(path + .key(key), .node(node)) { return refusal }
            }
        case .value, .fields:
            let isNoEmbeddedObject =
                given.node == .null && store.schema.slot(path)?.property.type == .embedded
            if isNoEmbeddedObject || !given.isExplicit && knew { return nil }
            return put(path, .node(given.node), isExplicit: given.isExplicit)
        }
        return nil
    }

    /// Deletes an object, and what the rules of the server's links take along now. The author is
    /// told of objects that went along on its side and are still there.
    mutating func delete(_ object: ObjectID, _ along: [ObjectID]) -> Refusal? {
        if !store.contains(object) {
            told.insert(Path(object))
        } else if !knows(object) {
            tellWhole(object)
        } else {
            let (going, denying) = store.cascade(object)
            if let denying {
                return Refusal(
                    .deny, "\(denying.described) has a link that denies to delete its target")
            }
            for gone in going { erase(gone) }
        }
        for other in along where store.contains(other) { tellWhole(other) }
        return nil
    }

    /// Takes an object out with the links to it. Each is shown: what follows from a delete is the
    /// server's word, too.
    private mutating func erase(_ object: ObjectID) {
        for link in store.links(to: object) {
            store.unlink(link, from: object)
            touchUnique(link)
            show(link)
        }
        store.put(.absent, at: Path(object))
        store.forgetNotes(of: object)
        climbs.forget()
        show(Path(object))
    }
}
