internal import ToftTestKit

/// Draws the commands of a sequence.
struct CommandGenerator {
    private let profile: ModelProfile
    private let shape: Shape
    private var numbers: Seed
    private let total: Int

    init(_ profile: ModelProfile, _ shape: Shape, _ numbers: Seed) {
        self.profile = profile
        self.shape = shape
        self.numbers = numbers
        total = profile.weights.reduce(0, +)
    }

    mutating func commands() -> [Command] {
        var commands: [Command] = []
        for _ in 0..<2 + numbers.below(4) { commands.append(command("create")) }
        while commands.count < profile.commandCount {
            if profile.sizes.profile == .boundary, numbers.chance(3) {
                commands += numbers.chance(70) ? fullList() : longList()
            }
            commands.append(command(kind()))
        }
        return commands
    }

    /// A list of several leaves that is taken down again, so that leaves merge.
    private mutating func longList() -> [Command] {
        let owner = owner(), object = any()
        let lists = shape.classes[owner].editable
        guard let list = numbers.pick(Array(lists.indices)) else { return [] }
        var draw = draw(shape.classes[owner].properties[lists[list]])
        draw.size = min(draw.size, 60)
        let width = width(shape.classes[owner].properties[lists[list]], draw)
        let count = min(2_000, (2 + numbers.below(3)) * 4_000 / width)
        var commands: [Command] = [
            .assign(class: owner, object: object, list: list, count: count, draw)
        ]
        for _ in 0..<8 {
            commands.append(
                .remove(
                    class: owner, object: object, list: list, at: any(),
                    count: 1 + numbers.below(count / 3 + 1)))
        }
        return commands
    }

    /// A list that is almost too long for its cluster, and edits that make it a little longer for a
    /// moment or for good.
    private mutating func fullList() -> [Command] {
        let owner = owner(), object = any()
        let lists = shape.classes[owner].editable
        guard let list = numbers.pick(Array(lists.indices)) else { return [] }
        let property = shape.classes[owner].properties[lists[list]]
        var draw = draw(property)
        let isBytes = property.type == .text || property.type == .data
        if isBytes { draw.size = 1 + numbers.below(numbers.chance(70) ? 30 : 220) }
        let width = width(property, draw)
        let count = max(1, 1_016 / width - 3 + numbers.below(6))
        var commands: [Command] = [
            .assign(class: owner, object: object, list: list, count: count, draw)
        ]
        for _ in 0..<1 + numbers.below(3) {
            let place = numbers.below(count)
            var other = self.draw(property)
            if isBytes { other.size = draw.size + numbers.below(3 * width) }
            commands.append(
                .replace(class: owner, object: object, list: list, at: place, other))
            commands.append(
                numbers.chance(60)
                    ? .swap(class: owner, object: object, list: list, place, any())
                    : .move(class: owner, object: object, list: list, from: place, to: any()))
        }
        return commands
    }

    private mutating func kind() -> String {
        var rest = numbers.below(total)
        for (index, weight) in profile.weights.enumerated() {
            if rest < weight { return ModelProfile.kinds[index].name }
            rest -= weight
        }
        return "commit"
    }

    private mutating func any() -> Int { numbers.below(1 << 16) }

    private mutating func owner() -> Int { numbers.below(shape.classes.count) }

    private mutating func command(_ kind: String) -> Command {
        let owner = owner()
        let declared = shape.classes[owner]
        let object = any()
        switch kind {
        case "create":
            let count = profile.sizes.objects(&numbers)
            return .create(class: owner, count: count, values: values(of: declared, for: count))
        case "upsert":
            let count = numbers.chance(80) ? 1 : profile.sizes.objects(&numbers)
            return .upsert(
                class: owner, count: count, policy: 1 + numbers.below(2),
                values: values(of: declared, for: count))
        case "createEach":
            let count = min(258, profile.sizes.objects(&numbers))
            return .createEach(
                class: owner, count: count, durability: numbers.below(3),
                values: values(of: declared, for: count))
        case "set":
            let property = settable(declared)
            return .set(class: owner, object: object, property: property.place, property.draw)
        case "setRun":
            let property = settable(declared)
            let count = profile.sizes.objects(&numbers) * 2
            return .setRun(
                class: owner, object: object, count: count, property: property.place,
                property.draw.bounded(for: count))
        case "setSame": return .setSame(class: owner, object: object, property: any())
        case "add":
            let amount = numbers.pick([1, -1, 7, .max, .min, Int64(numbers.below(1 << 40))]) ?? 1
            return .add(class: owner, object: object, property: any(), amount: amount)
        case "countUp":
            guard
                case .insert(_, _, let list, _, _, let draw) = listCommand("insert", owner, object)
            else { return .add(class: owner, object: object, property: any(), amount: 1) }
            return .countUp(
                class: owner, object: object, count: min(258, profile.sizes.objects(&numbers)),
                property: any(), list: list, draw.bounded(for: 258))
        case "setMany":
            return .setMany(class: owner, object: object, values: values(of: declared, for: 1))
        case "erase":
            return .erase(
                class: owner, object: object,
                count: numbers.chance(80) ? 1 : profile.sizes.objects(&numbers))
        case "eraseAll": return .eraseAll(class: owner)
        case "eraseFound": return .eraseFound(class: owner, query: numbers.next() >> 40)
        case "own":
            return .own(
                class: owner, object: numbers.chance(60) ? object % 3 : object, property: any(),
                at: any(), action: any())
        case "nest":
            let few = numbers.chance(70) ? object % 3 : object
            guard let property = numbers.pick(declared.nesting) else {
                let property = settable(declared)
                return .set(class: owner, object: few, property: property.place, property.draw)
            }
            return .nest(
                class: owner, object: few, property: any(), path: any(), at: any(), action: any(),
                draw(declared.properties[property]))
        case "insert", "replace", "remove", "move", "swap", "clear", "assign":
            return listCommand(kind, owner, object)
        case "commit": return .commit(durability: numbers.below(3))
        case "rollback": return .rollback
        case "flush": return .flush
        case "checkpoint": return .checkpoint
        case "compactStep": return .compactStep(session: any())
        case "begin": return .begin(session: any())
        case "open": return .open
        case "close": return .close(session: any())
        case "freeze": return .freeze(session: any())
        case "look": return .look(session: any())
        case "refresh": return .refresh(session: any())
        case "dispatch": return .dispatch(session: any())
        case "reopen": return .reopen
        case "kill": return .kill
        case "copy": return .copy
        case "compact": return .compact
        case "changeKey": return .changeKey(numbers.below(4))
        case "addClass": return .addClass(bits: numbers.next() >> 40)
        case "addProperty": return .addProperty(class: owner, bits: numbers.next() >> 40)
        case "toggleIndex": return .toggleIndex(class: owner, property: any())
        case "makeOptional":
            return .makeOptional(class: owner, property: any(), keeping: numbers.chance(50))
        case "migrate":
            return .migrate(class: owner, property: any(), bits: numbers.next() >> 40)
        case "query":
            return .query(session: any(), class: owner, query: numbers.next() >> 32)
        case "find":
            guard let key = declared.primaryKey else {
                return .query(session: any(), class: owner, query: numbers.next() >> 32)
            }
            return .find(session: any(), class: owner, draw(declared.properties[key]))
        case "observe":
            return .observe(
                session: any(), class: owner,
                object: numbers.chance(60) ? object % 3 : object, bits: numbers.next() >> 40)
        default: return .stop(session: any(), observer: any())
        }
    }

    private mutating func listCommand(_ kind: String, _ owner: Int, _ object: Int) -> Command {
        let lists = shape.classes[owner].editable
        // Few objects get long lists, not all of them short ones.
        let object = numbers.chance(60) ? object % 3 : object
        guard !lists.isEmpty else {
            let property = settable(shape.classes[owner])
            return .set(class: owner, object: object, property: property.place, property.draw)
        }
        let list = numbers.below(lists.count)
        let property = shape.classes[owner].properties[lists[list]]
        let draw = draw(property)
        switch kind {
        case "insert":
            let count = profile.sizes.elements(&numbers, width: width(property, draw))
            return .insert(
                class: owner, object: object, list: list, at: numbers.chance(50) ? -1 : any(),
                count: count, draw.bounded(for: count))
        case "replace":
            return .replace(class: owner, object: object, list: list, at: any(), draw)
        case "remove":
            return .remove(
                class: owner, object: object, list: list, at: any(),
                count: numbers.chance(85) ? 1 : 1 + numbers.below(60))
        case "move": return .move(class: owner, object: object, list: list, from: any(), to: any())
        case "swap": return .swap(class: owner, object: object, list: list, any(), any())
        case "clear": return .clear(class: owner, object: object, list: list)
        default:
            let count = profile.sizes.elements(&numbers, width: width(property, draw))
            return .assign(
                class: owner, object: object, list: list, count: count, draw.bounded(for: count))
        }
    }

    /// Bytes that an element takes in the block of a list.
    private func width(_ property: ShapeProperty, _ draw: Draw) -> Int {
        switch property.type {
        case .bool: 1
        case .float: 4
        case .int, .double, .link: 8
        case .date, .objectId: 12
        case .uuid, .decimal: 16
        case .text, .data: 4 + max(0, draw.size)
        case .mixed: 10 + max(0, draw.size)
        }
    }

    private mutating func settable(_ declared: ShapeClass) -> (place: Int, draw: Draw) {
        let properties = declared.settable
        guard let place = numbers.pick(Array(properties.indices)) else { return (0, Draw(0, 0)) }
        return (place, draw(declared.properties[properties[place]]))
    }

    private mutating func values(of declared: ShapeClass, for count: Int) -> [Draw?] {
        declared.properties.map { property in
            if property.isCounted, numbers.chance(60) { return nil }
            if property.isPrimaryKey { return draw(property) }
            if property.isCollection && numbers.chance(70) || numbers.chance(15) { return nil }
            return draw(property).bounded(for: count)
        }
    }

    private mutating func primaryKeyLength() -> Int {
        if numbers.chance(70) { return 8 }
        return numbers.chance(50) ? 199 + numbers.below(4) : max(8, profile.sizes.length(&numbers))
    }

    private mutating func draw(_ property: ShapeProperty) -> Draw {
        // A required property gets some, too: it may be optional by then.
        if numbers.chance(property.takesNull ? profile.nullPercent : profile.nullPercent / 2) {
            return Draw(-1, UInt64(numbers.below(profile.keySpace)))
        }
        if property.isPrimaryKey {
            let bits =
                numbers.chance(95)
                ? UInt64(numbers.below(profile.keySpace)) : numbers.next()
            return Draw(primaryKeyLength(), bits)
        }
        switch property.type {
        case .text, .data:
            // An index key's part of a text ends here.
            if property.isIndexed, profile.sizes.profile == .boundary, numbers.chance(20) {
                return Draw(199 + numbers.below(4), numbers.next() >> 60)
            }
            let isHuge = profile.sizes.profile == .large && numbers.below(2_000) == 0
            return Draw(
                isHuge ? 16_777_214 + numbers.below(3) : profile.sizes.length(&numbers),
                numbers.next() >> UInt64(numbers.pick([0, 40, 60]) ?? 40))
        case .mixed: return Draw(profile.sizes.length(&numbers), numbers.next() >> 24)
        default: return Draw(0, numbers.next() >> UInt64(numbers.pick([0, 40]) ?? 40))
        }
    }
}
