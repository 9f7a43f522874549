internal import ToftModel
internal import ToftTestKit

/// A sequence of commands with all that it runs on: made of a seed, or written down.
struct ModelProgram {
    enum Interface: String {
        case engine, c
    }

    enum Ground: String {
        case memory, tmpfs, disk
        /// A file of tmpfs with a key.
        case encrypted
    }

    var seed: UInt64
    var interface: Interface
    var ground: Ground
    /// Bytes of changed leaves that a transaction keeps in memory.
    var dirtyLimit: Int
    var logPages: UInt64
    var sizes: SizeProfile
    var shape: Shape
    var commands: [Command]

    init(
        seed: UInt64 = 0, interface: Interface, ground: Ground = .memory,
        dirtyLimit: Int = 48 << 20, logPages: UInt64 = 256, sizes: SizeProfile = .tiny,
        shape: [ShapeClass], _ commands: [Command]
    ) {
        self.seed = seed
        self.interface = interface
        self.ground = ground
        self.dirtyLimit = dirtyLimit
        self.logPages = logPages
        self.sizes = sizes
        self.shape = Shape(classes: shape)
        self.commands = commands
    }

    /// The sequence of a seed.
    init(seed: UInt64) {
        var numbers = Seed(seed &* 0x9E37_79B9 &+ 77)
        self.seed = seed
        interface = seed & 1 == 0 ? .engine : .c
        let place = numbers.below(100)
        ground = place < 50 ? .memory : place < 80 ? .tmpfs : place < 97 ? .encrypted : .disk
        dirtyLimit = numbers.chance(25) ? (1 << 14) << numbers.below(4) : 48 << 20
        logPages = numbers.pick([2, 8, 64, 256]) ?? 8
        let profile = ModelProfile(&numbers)
        sizes = profile.sizes.profile
        shape = Shape.random(&numbers, profile)
        commands = []
        var generator = CommandGenerator(profile, shape, numbers)
        commands = generator.commands()
    }
}

extension ModelProgram: CustomStringConvertible {
    /// The program as it can be pasted into `ModelRegressions`.
    var description: String {
        var text =
            "ModelProgram(\n    seed: \(seed), interface: .\(interface), ground: .\(ground), "
        text +=
            "dirtyLimit: \(dirtyLimit), logPages: \(logPages), sizes: .\(sizes),\n    shape: [\n"
        for declared in shape.classes {
            text += "        ShapeClass(\n            name: \"\(declared.name)\", "
            text += "isEmbedded: \(declared.isEmbedded),\n            "
            text += "properties: [\n"
            for property in declared.properties { text += "                \(property.literal),\n" }
            text += "            ],\n            inverses: ["
            text += declared.inverses.map {
                "ShapeInverse(name: \"\($0.name)\", origin: \($0.origin), property: \($0.property))"
            }.joined(separator: ", ")
            text += "],\n            uniques: \(declared.uniques)),\n"
        }
        text += "    ],\n    [\n"
        for command in commands { text += "        .\(command),\n" }
        return text + "    ])"
    }
}

extension ShapeProperty {
    fileprivate var literal: String {
        var text = "ShapeProperty(name: \"\(name)\", type: .\(type)"
        if isCollection { text += ", collection: .\(collection)" }
        if isNullable { text += ", isNullable: true" }
        if isIndexed { text += ", isIndexed: true" }
        if isPrimaryKey { text += ", isPrimaryKey: true" }
        if isCounted { text += ", isCounted: true" }
        if target > 0 { text += ", target: \(target)" }
        if rule != .nullify { text += ", rule: .\(rule)" }
        if isOwning { text += ", isOwning: true" }
        return text + ")"
    }
}

extension Shape {
    /// Classes of a random sequence.
    static func random(_ numbers: inout Seed, _ profile: ModelProfile) -> Shape {
        let count = 1 + numbers.below(numbers.chance(50) ? 2 : 4)
        var shape = Shape(classes: (0..<count).map { ShapeClass(name: "C\($0)") })
        for index in shape.classes.indices.dropFirst() where numbers.chance(30) {
            shape.classes[index].isEmbedded = true
        }
        for index in shape.classes.indices {
            if !shape.classes[index].isEmbedded, numbers.chance(50) {
                let kinds: [ShapeType] = [.int, .int, .text, .text, .uuid, .objectId]
                let type = numbers.pick(kinds) ?? .int, isNullable = numbers.chance(15)
                shape.classes[index].properties.append(
                    ShapeProperty(
                        name: "id", type: type, isNullable: isNullable, isPrimaryKey: true,
                        isCounted: type == .int && !isNullable && numbers.chance(60)))
            }
            // Few properties let one decide how large a row is.
            let properties = numbers.chance(40) ? 1 + numbers.below(2) : 1 + numbers.below(9)
            for _ in 0..<properties { shape.addProperty(to: index, &numbers) }
            if shape.classes[index].properties.isEmpty { shape.addProperty(to: index, &numbers) }
        }
        for index in shape.classes.indices where numbers.chance(20) {
            shape.addUnique(to: index, &numbers)
        }
        shape.addInverses(&numbers)
        return shape
    }

    mutating func addProperty(to index: Int, _ numbers: inout Seed) {
        let types: [ShapeType] = [
            .bool, .int, .int, .float, .double, .text, .text, .text, .data, .date, .link, .link,
            .uuid, .objectId, .decimal, .mixed, .mixed, .mixed,
        ]
        let type = numbers.pick(types) ?? .int
        let kinds: [CollectionKind] = [.list, .list, .set, .dictionary]
        var collection = numbers.chance(45) ? numbers.pick(kinds) ?? .list : .none
        let target = type == .link ? numbers.below(classes.count) : 0
        let isOwning = type == .link && classes[target].isEmbedded
        if isOwning, collection == .set { collection = .list }
        var rule = DeleteRule.nullify
        if type == .link, !isOwning, numbers.chance(20) {
            rule = numbers.chance(40) || classes[index].isEmbedded ? .deny : .cascade
        }
        var number = classes[index].properties.count
        while classes[index].properties.contains(where: { $0.name == "p\(number)" }) { number += 1 }
        classes[index].properties.append(
            ShapeProperty(
                name: "p\(number)", type: type, collection: collection,
                isNullable: numbers.chance(40) && type != .link && type != .mixed,
                isIndexed: collection == .none && type.canBeIndexed && numbers.chance(35),
                target: target, rule: rule, isOwning: isOwning))
    }

    /// A unique constraint on one or two properties of a class.
    private mutating func addUnique(to index: Int, _ numbers: inout Seed) {
        let found = classes[index].properties.indices.filter {
            let property = classes[index].properties[$0]
            return !property.isCollection && property.type.canBeIndexed
                && property.type != .bool && property.type != .mixed
        }
        guard let first = numbers.pick(found), let second = numbers.pick(found) else { return }
        classes[index].uniques.append(first == second ? [first] : [first, second])
    }

    /// An inverse of most links without one.
    mutating func addInverses(_ numbers: inout Seed) {
        for origin in classes.indices {
            for (place, property) in classes[origin].properties.enumerated()
            where property.type == .link && numbers.chance(60) {
                let isKnown = classes[property.target].inverses.contains {
                    $0.origin == origin && $0.property == place
                }
                if isKnown { continue }
                // A migration may have given this place to another property.
                var name = "from_\(origin)_\(place)"
                while classes[property.target].inverses.contains(where: { $0.name == name }) {
                    name += "_"
                }
                classes[property.target].inverses.append(
                    ShapeInverse(name: name, origin: origin, property: place))
            }
        }
    }
}
