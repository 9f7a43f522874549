internal import ToftModel
internal import ToftStorage
internal import ToftTestKit

/// The effect of each command on the database and on the model.
extension ModelRun {
    static let schemaMismatch: Int32 = 302
    static let tooLong: Int32 = 408
    static let duplicateKey: Int32 = 403
    static let nullNotAllowed: Int32 = 407
    static let overflow: Int32 = 410
    static let deletionDenied: Int32 = 412
    static let duplicateValue: Int32 = 413
    static let valueLimit = 16_777_215
    static let depthLimit = 100
    /// Objects that a sequence has at most, so that one does not take a minute.
    static let objectLimit = 12_000
    static let listLimit = 8_000

    func execute(_ command: Command) throws {
        if command.isChange { return try change(command) }
        switch command {
        case .begin(let index): try begin(index)
        case .commit(let durability): try commit(durability)
        case .rollback: try rollback()
        case .flush:
            if writer == nil { try seats.first { !$0.isFrozen }?.session.flush() }
        case .checkpoint: if writer == nil { _ = try anchor?.checkpoint() }
        case .compactStep(let index): try compactInSteps(seat(index))
        case .createEach(let owner, let count, let durability, let values):
            try createEach(owner, count, durability, values)
        case .open: if seats.count < 6 { try join() }
        case .close(let index): try close(seat(index))
        case .freeze(let index): try freeze(seat(index))
        case .look(let index): try look(seat(index), percent: 20)
        case .refresh(let index): try refresh(seat(index))
        case .dispatch(let index): try dispatch(seat(index))
        case .reopen: try reopen()
        case .kill: try kill()
        case .copy: try copy()
        case .compact: try compact()
        case .changeKey(let number): try changeKey(number)
        case .addClass(let bits): try addClass(bits)
        case .addProperty(let owner, let bits): try addProperty(owner, bits)
        case .toggleIndex(let owner, let property): try toggleIndex(owner, property)
        case .makeOptional(let owner, let property, let isKeeping):
            try makeOptional(owner, property, isKeeping)
        case .migrate(let owner, let property, let bits): try migrate(owner, property, bits)
        case .query(let index, let owner, let bits): try ask(seat(index), owner, bits)
        case .find(let index, let owner, let draw): try find(seat(index), owner, draw)
        case .observe(let index, let owner, let object, let bits):
            try observe(seat(index), owner, object, bits)
        case .stop(let index, let observer):
            let seat = seat(index)
            if !seat.watchers.isEmpty { seat.watchers.remove(at: observer % seat.watchers.count) }
        default: break
        }
    }

    // MARK: Objects

    private func change(_ command: Command) throws {
        let session = try begin().session
        switch command {
        case .create(let owner, let count, let values):
            try create(session, owner, count, policy: 0, values)
        case .upsert(let owner, let count, let policy, let values):
            try create(session, owner, count, policy: policy, values)
        case .set(let owner, let object, let property, let draw):
            try setRun(session, owner, object, 1, property, draw)
        case .setRun(let owner, let object, let count, let property, let draw):
            try setRun(session, owner, object, count, property, draw)
        case .setSame(let owner, let object, let property):
            try setSame(session, owner, object, property)
        case .add(let owner, let object, let property, let amount):
            try add(session, owner, object, property, amount)
        case .countUp(let owner, let object, let count, let property, let list, let draw):
            try countUp(session, owner, object, count, property, list, draw)
        case .setMany(let owner, let object, let values):
            try setMany(session, owner, object, values)
        case .own(let owner, let object, let property, let at, let action):
            try own(session, owner, object, property, at, action)
        case .erase(let owner, let object, let count): try erase(session, owner, object, count)
        case .eraseAll(let owner):
            let owner = self.owner(owner)
            try erase(content.classes[owner].keys, owner) { try session.eraseAll(owner) }
        case .eraseFound(let owner, let bits): try eraseFound(session, self.owner(owner), bits)
        case .nest(let owner, let object, let property, let path, let at, let action, let draw):
            try nest(session, owner, object, property, path, at, action, draw)
        default: try edit(session, command)
        }
    }

    func owner(_ index: Int) -> Int { index % content.classes.count }

    private func touch(_ objects: [ModelObject]) { touched.formUnion(objects) }

    /// The row of an object, drawn from all of its class; nil without objects.
    private func rowIndex(_ owner: Int, _ object: Int) -> Int? {
        let count = content.classes[owner].keys.count
        return count == 0 ? nil : object % count
    }

    /// The values of some draws; those of a list are its elements.
    private func values(_ owner: Int, _ draws: [Draw?], _ index: Int) -> [(
        property: Int, value: Datum
    )] {
        let properties = content.shape.classes[owner].properties
        var values: [(property: Int, value: Datum)] = []
        for (property, draw) in draws.enumerated() where property < properties.count {
            guard let draw, !properties[property].isOwning else { continue }
            let declared = properties[property]
            if declared.isCollection {
                let count = Int(draw.bits % 5)
                values.append((property, .list(content(declared, draw.plus(index), count))))
            } else {
                values.append((property, draw.plus(index).value(declared, in: content)))
            }
        }
        return values
    }

    private func elements(_ property: ShapeProperty, _ draw: Draw, _ count: Int) -> [Datum] {
        // Texts and data of two lengths, so that a swap makes the block longer halfway; together as
        // long as the draw says.
        let difference = min(max(0, draw.size), Int(draw.bits % 9))
        let elements = (0..<count).map { index in
            var draw = draw.plus(index)
            if draw.size >= 0 { draw.size += index & 1 == 0 ? difference : -difference }
            return element(property, draw)
        }
        // A list of links has no null; there may be no object to link to.
        return property.takesNull ? elements : elements.filter { !$0.value.isNull }
    }

    private func element(_ property: ShapeProperty, _ draw: Draw) -> Datum {
        let value = draw.value(property, in: content)
        switch (property.collection, value) {
        case (.dictionary, _): return .entry(draw.entryKey(), value)
        // The choice of a set between two equal numbers (0 and -0, 1.0 and 1.00) depends on the
        // order of their arrival.
        case (.set, .float(0)): return .float(0)
        case (.set, .double(0)): return .double(0)
        case (.set, .decimal(let low, let high)): return Decimals.first(equalTo: low, high)
        default: return value
        }
    }

    /// The content of a whole collection after an assignment of `count` elements.
    private func content(_ property: ShapeProperty, _ draw: Draw, _ count: Int) -> [Datum] {
        let elements = elements(property, draw, count)
        guard property.collection != .list else { return elements }
        var content: [Datum] = []
        for element in elements { content.put(element) }
        return content
    }

    private func isTooLong(_ value: Datum) -> Bool {
        switch value {
        case .entry(_, let value): isTooLong(value)
        case .text(let bytes), .data(let bytes): bytes.count > Self.valueLimit
        case .list, .map: value.depth > Self.depthLimit
        default: false
        }
    }

    /// Whether a value is too long for its property, or one of its elements is.
    private func isTooLong(_ owner: Int, _ given: (property: Int, value: Datum)) -> Bool {
        content.shape.classes[owner].properties[given.property].isCollection
            ? given.value.elements.contains(where: isTooLong) : isTooLong(given.value)
    }

    private func create(
        _ session: any ModelSession, _ index: Int, _ count: Int, policy: Int, _ draws: [Draw?]
    ) throws {
        let owner = owner(index)
        let declared = content.shape.classes[owner]
        guard !declared.isEmbedded else { return }
        let policy = declared.primaryKey == nil ? 0 : policy
        for index in 0..<count where content.objectCount < Self.objectLimit {
            var values = values(owner, draws, index)
            var next: (property: Int, value: Datum)?
            var isExhausted = false
            if let key = declared.primaryKey, !values.contains(where: { $0.property == key }) {
                if declared.properties[key].isCounted {
                    isExhausted = content.classes[owner].counter == .max
                    next = (key, .int(content.classes[owner].counter &+ 1))
                } else {
                    values.append(
                        (key, Draw(8, UInt64(index)).value(declared.properties[key], in: content)))
                }
            }
            let known = declared.primaryKey.flatMap { key in
                values.first { $0.property == key }.flatMap { content.find(owner, $0.value) }
            }
            let code =
                values.contains { isTooLong(owner, $0) }
                ? Self.tooLong
                : isExhausted
                    ? Self.overflow : known != nil && policy == 0 ? Self.duplicateKey : nil
            let made = try attempt(expecting: code) {
                try session.create(owner, values, policy: policy)
            }
            if let next { values.append(next) }
            if let made { try adopt(made, known, owner, values) }
        }
    }

    private func adopt(
        _ made: (key: Int64, isNew: Bool), _ known: Int64?, _ owner: Int,
        _ values: [(property: Int, value: Datum)]
    ) throws {
        guard made.isNew == (known == nil) else {
            throw ModelViolation(
                made.isNew
                    ? "made what was there: object \(made.key)" : "updated what was not there")
        }
        touched.insert(ModelObject(owner: owner, key: made.key))
        if let known {
            guard known == made.key, let index = content.classes[owner].index(of: known) else {
                throw ModelViolation("updated object \(made.key), not \(known)")
            }
            for (property, value) in values {
                content.classes[owner].rows[index][property] = value
            }
            return
        }
        let last = max(highestKeys[owner], content.classes[owner].keys.last ?? -1)
        guard made.key > last else {
            throw ModelViolation("the new object got the key \(made.key) after \(last)")
        }
        var row = content.shape.classes[owner].properties.map(\.initial)
        for (property, value) in values { row[property] = value }
        content.insert(owner, made.key, row)
    }

    private func createEach(_ owner: Int, _ count: Int, _ durability: Int, _ draws: [Draw?]) throws
    {
        try commit(durability)
        for index in 0..<count {
            let session = try begin().session
            try create(
                session, owner, 1, policy: 0, draws.map { $0.map { $0.plus(index) } })
            try commitIfOpen(durability)
        }
        if let seat = seats.first(where: { !$0.isFrozen }), writer == nil {
            try refresh(seat)
            try verify(seat, percent: 5)
        }
    }

    private func setRun(
        _ session: any ModelSession, _ index: Int, _ object: Int, _ count: Int, _ property: Int,
        _ draw: Draw
    ) throws {
        let owner = owner(index)
        let settable = content.shape.classes[owner].settable
        guard let first = rowIndex(owner, object), !settable.isEmpty else { return }
        let property = settable[property % settable.count]
        let end = min(first + count, content.classes[owner].keys.count)
        for row in first..<end {
            let value = draw.plus(row - first).value(
                content.shape.classes[owner].properties[property], in: content)
            let key = content.classes[owner].keys[row]
            let done: Void? = try attempt(expecting: isTooLong(value) ? Self.tooLong : nil) {
                try session.set(owner, key, property, value)
            }
            guard done != nil else { continue }
            content.classes[owner].rows[row][property] = value
            touched.insert(ModelObject(owner: owner, key: key))
        }
    }

    private func setSame(_ session: any ModelSession, _ index: Int, _ object: Int, _ property: Int)
        throws
    {
        let owner = owner(index)
        let settable = content.shape.classes[owner].settable
        guard let row = rowIndex(owner, object), !settable.isEmpty else { return }
        let property = settable[property % settable.count]
        let key = content.classes[owner].keys[row]
        try session.set(owner, key, property, content.classes[owner].rows[row][property])
        touched.insert(ModelObject(owner: owner, key: key))
    }

    private func add(
        _ session: any ModelSession, _ index: Int, _ object: Int, _ property: Int, _ amount: Int64
    ) throws {
        let owner = owner(index), declared = content.shape.classes[owner]
        let settable = declared.settable.filter { declared.properties[$0].type == .int }
        guard let row = rowIndex(owner, object), !settable.isEmpty else { return }
        let property = settable[property % settable.count]
        let key = content.classes[owner].keys[row]
        var sum: Int64?
        var failure: Int32? = Self.nullNotAllowed
        if case .int(let old) = content.classes[owner].rows[row][property] {
            let (result, overflows) = old.addingReportingOverflow(amount)
            sum = overflows ? nil : result
            failure = overflows ? Self.overflow : nil
        }
        _ = try attempt(expecting: failure) { try session.add(owner, key, property, amount) }
        guard let sum else { return }
        content.classes[owner].rows[row][property] = .int(sum)
        touched.insert(ModelObject(owner: owner, key: key))
    }

    private func countUp(
        _ session: any ModelSession, _ index: Int, _ object: Int, _ count: Int, _ property: Int,
        _ list: Int, _ draw: Draw
    ) throws {
        let owner = owner(index)
        for turn in 0..<count {
            let object = object + turn * 7_919
            try add(session, index, object, property, 1)
            try edit(
                session,
                .insert(
                    class: index, object: object, list: list, at: -1, count: 1, draw.plus(turn)))
            guard turn % 3 == 0, let row = rowIndex(owner, object) else { continue }
            let key = content.classes[owner].keys[row]
            if let difference = try session.difference(owner, key, content.classes[owner].rows[row])
            {
                throw ModelViolation("object \(key) of class \(owner), at once: \(difference)")
            }
        }
    }

    private func setMany(_ session: any ModelSession, _ index: Int, _ object: Int, _ draws: [Draw?])
        throws
    {
        let owner = owner(index)
        guard let row = rowIndex(owner, object) else { return }
        let primaryKey = content.shape.classes[owner].primaryKey
        let values = values(owner, draws, 0).filter { $0.property != primaryKey }
        let key = content.classes[owner].keys[row]
        let isLong = values.contains { isTooLong(owner, $0) }
        let done: Void? = try attempt(expecting: isLong ? Self.tooLong : nil) {
            try session.set(owner, key, values)
        }
        guard done != nil else { return }
        for (property, value) in values { content.classes[owner].rows[row][property] = value }
        touched.insert(ModelObject(owner: owner, key: key))
    }

    private func erase(_ session: any ModelSession, _ index: Int, _ object: Int, _ count: Int)
        throws
    {
        let owner = owner(index)
        guard let first = rowIndex(owner, object) else { return }
        let end = min(first + count, content.classes[owner].keys.count)
        guard content.shape.hasRules || content.shape.classes[owner].isEmbedded else {
            for key in content.classes[owner].keys[first..<end] { try session.erase(owner, key) }
            return touch(content.erase(owner, first..<end))
        }
        // One that is deleted may take others of the same class with it.
        for key in Array(content.classes[owner].keys[first..<end]) {
            guard content.classes[owner].index(of: key) != nil else { continue }
            try erase([key], owner) { try session.erase(owner, key) }
        }
    }

    /// Runs a call that deletes objects with all that depend on them, unless a link denies it.
    private func erase(_ keys: [Int64], _ owner: Int, _ body: () throws -> Void) throws {
        let isDenied = content.isDenied(owner, keys)
        try attempt(expecting: isDenied ? Self.deletionDenied : nil, body)
        if !isDenied { touch(content.erase(owner, keys: Set(keys))) }
    }

    private func eraseFound(_ session: any ModelSession, _ owner: Int, _ bits: UInt64) throws {
        let question = Question(bits, owner, content)
        let keys = question.answer(content, of: content.classes[owner].keys)
        let results = try session.results(.all(owner), question.query(content.shape))
        try erase(keys, owner) { try results.deleteAll() }
    }

    // MARK: Embedded objects

    private func own(
        _ session: any ModelSession, _ index: Int, _ object: Int, _ property: Int, _ at: Int,
        _ action: Int
    ) throws {
        let owner = owner(index), declared = content.shape.classes[owner]
        guard let row = rowIndex(owner, object), !declared.owning.isEmpty,
            content.objectCount < Self.objectLimit
        else { return }
        let property = declared.owning[property % declared.owning.count]
        let key = content.classes[owner].keys[row]
        let before = content.classes[owner].rows[row][property]
        let target = declared.properties[property].target
        func embed(_ place: ModelEmbedding) throws -> Datum {
            let made = try session.embed(owner, key, property, place)
            try adopt((made, true), nil, target, [])
            return .link(made)
        }
        let after: Datum
        switch declared.properties[property].collection {
        case .none:
            if action % 3 == 0 {
                try session.set(owner, key, property, .null)
                after = .null
            } else {
                after = try embed(.one)
            }
        case .list:
            var elements = before.elements
            let place = at % max(1, elements.count)
            switch elements.isEmpty ? 0 : action % 8 {
            case 0..<4:
                elements.insert(
                    try embed(.insert(at % (elements.count + 1))), at: at % (elements.count + 1))
            case 4: elements[place] = try embed(.replace(place))
            case 5:
                try session.edit(owner, key, property, [], .remove(place..<place + 1))
                elements.remove(at: place)
            case 6:
                let other = action / 8 % elements.count
                try session.edit(owner, key, property, [], .move(place, other))
                elements.insert(elements.remove(at: place), at: other)
            default:
                try session.edit(owner, key, property, [], .clear)
                elements = []
            }
            after = .list(elements)
        case .set, .dictionary:
            var elements = before.elements
            let name = Draw(0, UInt64(at)).entryKey()
            switch elements.isEmpty ? 0 : action % 8 {
            case 0..<5: elements.put(.entry(name, try embed(.entry(name))))
            case 5:
                elements.put(.entry(name, .null))
                try session.edit(owner, key, property, [], .put([.entry(name, .null)]))
            case 6:
                let gone = elements.remove(at: at % elements.count)
                try session.edit(owner, key, property, [], .take([gone]))
            default:
                try session.edit(owner, key, property, [], .clear)
                elements = []
            }
            after = .list(elements)
        }
        guard let row = content.classes[owner].index(of: key) else { return }
        content.classes[owner].rows[row][property] = after
        touched.insert(ModelObject(owner: owner, key: key))
        let kept = Set(after.targets)
        var dropped: Set<Int64> = []
        for case .link(let child) in before.targets where !kept.contains(.link(child)) {
            dropped.insert(child)
        }
        touch(content.erase(target, keys: dropped))
    }

    // MARK: Lists

    private func edit(_ session: any ModelSession, _ command: Command) throws {
        switch command {
        case .insert(let owner, let object, let list, let at, let count, let draw):
            try edit(session, owner, object, list) { property, elements in
                let new = Array(
                    self.elements(property, draw, count).prefix(
                        max(0, Self.listLimit - elements.count)))
                guard property.collection == .list else { return self.put(new, &elements) }
                guard at >= 0 else {
                    elements += new
                    return .append(new)
                }
                let index = at % (elements.count + 1)
                elements.insert(contentsOf: new, at: index)
                return .insert(index, new)
            }
        case .assign(let owner, let object, let list, let count, let draw):
            try edit(session, owner, object, list) { property, elements in
                elements = self.content(property, draw, count)
                return .assign(self.elements(property, draw, count))
            }
        case .clear(let owner, let object, let list):
            try edit(session, owner, object, list) { _, elements in
                elements = []
                return .clear
            }
        case .replace(let owner, let object, let list, let at, let draw):
            try edit(session, owner, object, list) { property, elements in
                let value = self.element(property, draw).value
                if elements.isEmpty || value.isNull && !property.takesNull { return nil }
                if case .entry(let key, _) = elements[at % elements.count] {
                    return self.put([.entry(key, value)], &elements)
                }
                if property.collection == .set { return self.put([value], &elements) }
                elements[at % elements.count] = value
                return .set(at % elements.count, value)
            }
        case .remove(let owner, let object, let list, let at, let count):
            try edit(session, owner, object, list) { property, elements in
                if elements.isEmpty { return nil }
                let first = at % elements.count
                let range = first..<min(first + count, elements.count)
                let gone = Array(elements[range])
                elements.removeSubrange(range)
                return property.collection == .list ? .remove(range) : .take(gone)
            }
        case .move(let owner, let object, let list, let from, let to):
            try edit(session, owner, object, list) { property, elements in
                if elements.isEmpty || property.collection != .list { return nil }
                let (from, to) = (from % elements.count, to % elements.count)
                elements.insert(elements.remove(at: from), at: to)
                return .move(from, to)
            }
        case .swap(let owner, let object, let list, let one, let other):
            try edit(session, owner, object, list) { property, elements in
                if elements.isEmpty || property.collection != .list { return nil }
                elements.swapAt(one % elements.count, other % elements.count)
                return .swap(one % elements.count, other % elements.count)
            }
        default: break
        }
    }

    /// Puts elements into a set or a dictionary, one by one: if one is too long, that one alone.
    private func put(_ new: [Datum], _ content: inout [Datum]) -> ModelListEdit {
        let new = new.first(where: isTooLong).map { [$0] } ?? new
        for element in new { content.put(element) }
        return .put(new)
    }

    /// `change` edits the model's collection and returns the edit for the database; nil: nothing.
    private func edit(
        _ session: any ModelSession, _ index: Int, _ object: Int, _ list: Int,
        _ change: (ShapeProperty, inout [Datum]) -> ModelListEdit?
    ) throws {
        let owner = owner(index)
        let lists = content.shape.classes[owner].editable
        guard let row = rowIndex(owner, object), !lists.isEmpty else { return }
        let property = lists[list % lists.count]
        let key = content.classes[owner].keys[row]
        var elements = content.classes[owner].rows[row][property].elements
        guard let edit = change(content.shape.classes[owner].properties[property], &elements) else {
            return
        }
        // Of entries with the same key the last one is kept, and all are looked at.
        var given = elements
        if case .assign(let all) = edit { given = all }
        let isLong = given.contains(where: isTooLong)
        let done: Void? = try attempt(expecting: isLong ? Self.tooLong : nil) {
            try session.edit(owner, key, property, [], edit)
        }
        guard done != nil else { return }
        content.classes[owner].rows[row][property] = .list(elements)
        touched.insert(ModelObject(owner: owner, key: key))
    }

    // MARK: Within mixed values

    /// Edits a list or a dictionary within a mixed value; makes one if necessary.
    private func nest(
        _ session: any ModelSession, _ index: Int, _ object: Int, _ number: Int, _ path: Int,
        _ at: Int, _ action: Int, _ draw: Draw
    ) throws {
        let owner = owner(index), nesting = content.shape.classes[owner].nesting
        guard let row = rowIndex(owner, object), !nesting.isEmpty else { return }
        let property = nesting[number % nesting.count]
        let declared = content.shape.classes[owner].properties[property]
        let before = content.classes[owner].rows[row][property]
        var one = declared
        one.collection = .none
        func element(_ index: Int) -> Datum { draw.plus(index).value(one, in: content) }
        guard let steps = steps(before, isElement: !declared.isCollection, path) else {
            guard !declared.isCollection else { return }
            let value =
                action & 1 == 0
                ? Datum.list([element(0), element(1)])
                : .map([.entry(Draw(0, UInt64(at)).entryKey(), element(0))])
            return try setNested(session, owner, row, property, value, [], .set(0, value))
        }
        guard let inner = before.element(at: steps.dropFirst(declared.isCollection ? 0 : 1)) else {
            return
        }
        var elements = inner.elements
        let place = elements.isEmpty ? 0 : at % elements.count, edit: ModelListEdit
        if case .map = inner {
            let name = Draw(0, UInt64(at)).entryKey(), entry = Datum.entry(name, element(0))
            switch elements.isEmpty ? 0 : action % 8 {
            case 0..<3:
                elements.put(entry)
                edit = .put([entry])
            case 3, 4:
                let entry = Datum.entry(elements[place].key, element(0))
                elements[place] = entry
                edit = .put([entry])
            case 5, 6: edit = .take([elements.remove(at: place)])
            default:
                elements = []
                edit = .clear
            }
            return try setNested(session, owner, row, property, .map(elements), steps, edit)
        }
        let other = elements.isEmpty ? 0 : action / 16 % elements.count
        switch elements.isEmpty ? action % 3 : action % 12 {
        case 0:
            elements += [element(0), element(1)]
            edit = .append([element(0), element(1)])
        case 1, 2:
            let index = at % (elements.count + 1)
            elements.insert(element(0), at: index)
            edit = .insert(index, [element(0)])
        case 3, 4, 5:
            elements[place] = element(0)
            edit = .set(place, element(0))
        case 6, 7:
            let range = place..<min(elements.count, place + 1 + action / 16 % 3)
            elements.removeSubrange(range)
            edit = .remove(range)
        case 8, 9:
            elements.insert(elements.remove(at: place), at: other)
            edit = .move(place, other)
        case 10:
            elements.swapAt(place, other)
            edit = .swap(place, other)
        default:
            elements = []
            edit = .clear
        }
        try setNested(session, owner, row, property, .list(elements), steps, edit)
    }

    private func setNested(
        _ session: any ModelSession, _ owner: Int, _ row: Int, _ property: Int, _ value: Datum,
        _ steps: [ModelStep], _ edit: ModelListEdit
    ) throws {
        let key = content.classes[owner].keys[row]
        let declared = content.shape.classes[owner].properties[property]
        let old = content.classes[owner].rows[row][property]
        let new = old.replacing(steps.dropFirst(declared.isCollection ? 0 : 1), by: value)
        let isDeep = new.depth > Self.depthLimit + (declared.isCollection ? 1 : 0)
        let done: Void? = try attempt(expecting: isDeep ? Self.tooLong : nil) {
            if steps.isEmpty {
                try session.set(owner, key, property, value)
            } else {
                try session.edit(owner, key, property, steps, edit)
            }
        }
        guard done != nil else { return }
        content.classes[owner].rows[row][property] = new
        touched.insert(ModelObject(owner: owner, key: key))
    }

    /// The path to one of the lists and dictionaries in a value; nil if it has no such value.
    /// - Parameter isElement: the value is a mixed one, not a property that is a collection.
    private func steps(_ value: Datum, isElement: Bool, _ path: Int) -> [ModelStep]? {
        var steps: [ModelStep] = [], value = value, rest = path
        if isElement {
            guard value.isCollection else { return nil }
            steps.append(ModelStep(value, at: 0, key: []))
        }
        while true {
            if rest % 3 == 0, !steps.isEmpty { break }
            rest /= 3
            let inner = value.elements.indices.filter { value.elements[$0].value.isCollection }
            guard !inner.isEmpty else { break }
            let index = inner[rest % inner.count], element = value.elements[index]
            steps.append(ModelStep(element.value, at: index, key: element.key))
            value = element.value
        }
        return steps.isEmpty ? nil : steps
    }

    // MARK: Sessions

    private func commit(_ durability: Int) throws {
        guard let seat = writer else { return }
        let touched = touched
        try commitIfOpen(durability)
        try verify(seat, touched: touched, percent: 5)
        // A check reads the whole file.
        if content.objectCount < 200 ? numbers.chance(25) : numbers.chance(2) { try check(seat) }
    }

    private func join() throws {
        seats.append(try openSeat())
        try note(seats[seats.count - 1])
    }

    private func close(_ seat: Seat) throws {
        guard seat !== writer else { return }
        let isLast = seats.filter(\.canWrite).count == 1 && seat.canWrite
        guard !isLast else { return }
        try look(seat, percent: 10)
        seat.watchers = []
        seat.results = []
        if !seat.isFrozen { try seat.session.close() }
        seats.removeAll { $0 === seat }
    }

    private func freeze(_ seat: Seat) throws {
        guard seats.count < 6, seat !== writer, let session = try seat.session.frozen() else {
            return
        }
        seats.append(Seat(session, seat.content, isFrozen: true))
    }

    /// Checks that a session still shows the same.
    func look(_ seat: Seat, percent: Int) throws {
        guard seat !== writer else { return }
        try verify(seat, percent: percent)
    }

    // MARK: The schema

    private func addClass(_ bits: UInt64) throws {
        guard committed.classes.count < 6 else { return }
        try closeAll()
        var numbers = Seed(bits)
        committed.shape.classes.append(ShapeClass(name: "C\(committed.classes.count)"))
        committed.classes.append(ModelRows())
        highestKeys.append(-1)
        for _ in 0...numbers.below(3) {
            committed.shape.addProperty(to: committed.classes.count - 1, &numbers)
        }
        committed.shape.addInverses(&numbers)
        try openChanged()
    }

    private func addProperty(_ owner: Int, _ bits: UInt64) throws {
        let owner = self.owner(owner)
        guard committed.shape.classes[owner].properties.count < 12 else { return }
        try closeAll()
        var numbers = Seed(bits)
        var shape = committed.shape
        shape.addProperty(to: owner, &numbers)
        if let property = shape.classes[owner].properties.last {
            committed.addProperty(owner, property)
        }
        committed.shape.addInverses(&numbers)
        try openChanged()
    }

    private func toggleIndex(_ owner: Int, _ property: Int) throws {
        let owner = self.owner(owner)
        let found = committed.shape.classes[owner].properties.indices.filter {
            let property = committed.shape.classes[owner].properties[$0]
            if property.isPrimaryKey { return property.type == .int && !property.isNullable }
            if property.type == .link { return !property.isOwning }
            return !property.isCollection && property.type.canBeIndexed
        }
        guard !found.isEmpty else { return }
        try closeAll()
        let index = found[property % found.count]
        let property = committed.shape.classes[owner].properties[index]
        if property.isPrimaryKey {
            committed.toggleCounter(owner, index)
        } else if property.type == .link {
            let isEmbedded = committed.shape.classes[owner].isEmbedded
            committed.shape.classes[owner].properties[index].rule =
                property.rule == .deny
                ? .nullify : property.rule == .nullify && !isEmbedded ? .cascade : .deny
        } else {
            committed.shape.classes[owner].properties[index].isIndexed.toggle()
        }
        try openChanged()
    }

    private func makeOptional(_ owner: Int, _ property: Int, _ isKeeping: Bool) throws {
        let owner = self.owner(owner)
        let found = committed.shape.classes[owner].properties.indices.filter {
            let property = committed.shape.classes[owner].properties[$0]
            return !property.isNullable && property.type != .link && !property.isCounted
        }
        guard !found.isEmpty else { return }
        let isKeeping = isKeeping && seats.count < 6
        if isKeeping { try commitIfOpen(0) } else { try closeAll() }
        committed.shape.classes[owner].properties[found[property % found.count]].isNullable = true
        guard isKeeping else { return try openChanged() }
        content = committed
        for seat in seats { seat.isOutdated = true }
        lastWriter = nil
        seats.insert(try openSeat(), at: 0)
        try note(seats[0])
        for seat in seats { try verify(seat, percent: 20) }
    }

    func openChanged() throws {
        content = committed
        seats = [try openSeat()]
        try note(seats[0])
        try verify(seats[0], percent: 20)
    }
}
