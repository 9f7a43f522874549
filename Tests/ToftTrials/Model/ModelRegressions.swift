internal import ToftModel
internal import ToftTestKit

/// Sequences that have failed once, with a mistake in the engine or a planted one, as short as they
/// could be made: they always run first.
enum ModelRegressions {
    static let programs: [ModelProgram] = [dataInLists, tooManyRows, oneRowTooMany, grownBySwap]

    /// The check wrote to memory that it had released (a release build only).
    private static let dataInLists = ModelProgram(
        interface: .c,
        shape: [
            ShapeClass(
                name: "C0", properties: [ShapeProperty(name: "p0", type: .data, collection: .list)])
        ],
        [
            .create(class: 0, count: 1, values: [nil]),
            .insert(class: 0, object: 0, list: 0, at: -1, count: 20, .init(200, 7)),
            .commit(durability: 0),
            .insert(class: 0, object: 0, list: 0, at: 3, count: 20, .init(40, 7)),
            .commit(durability: 0),
        ])

    /// A cluster that is nearly full, with room in its heap for more rows than there may be.
    private static let oneRowTooMany = ModelProgram(
        seed: 1_666, interface: .engine, dirtyLimit: 131_072, logPages: 8, sizes: .boundary,
        shape: [
            ShapeClass(
                name: "C0",
                properties: [
                    ShapeProperty(name: "p0", type: .uuid, isIndexed: true),
                    ShapeProperty(name: "p1", type: .text, collection: .list, isNullable: true),
                    ShapeProperty(name: "p2", type: .link),
                    ShapeProperty(name: "p3", type: .link),
                    ShapeProperty(name: "p4", type: .mixed),
                    ShapeProperty(name: "p5", type: .mixed, collection: .dictionary),
                ])
        ],
        [
            .create(
                class: 0, count: 240,
                values: [nil, nil, nil, nil, .init(134, 0), .init(62, 108_083_712)]),
            .commit(durability: 1),
            .create(class: 0, count: 1, values: [nil, nil, nil, nil, nil, nil]),
            .reopen,
            .create(class: 0, count: 17, values: [nil, nil, nil, nil, .init(908, 0), nil]),
        ])

    /// A list that leaves its cluster while two of its elements change places.
    private static let grownBySwap = ModelProgram(
        seed: 3_878, interface: .engine, logPages: 2, sizes: .boundary,
        shape: [
            ShapeClass(
                name: "C0",
                properties: [
                    ShapeProperty(name: "p0", type: .link),
                    ShapeProperty(name: "p1", type: .text, collection: .list, isNullable: true),
                ])
        ],
        [
            .create(class: 0, count: 1, values: [nil, nil]),
            .assign(class: 0, object: 2, list: 0, count: 72, .init(10, 7)),
            .swap(class: 0, object: 2, list: 0, 15_101, 0),
        ])

    /// A cluster grew to 257 rows, which nothing reads.
    private static let tooManyRows = ModelProgram(
        seed: 4_031, interface: .c, sizes: .large,
        shape: [
            ShapeClass(
                name: "C0",
                properties: [
                    ShapeProperty(name: "p0", type: .data),
                    ShapeProperty(name: "p1", type: .link, collection: .list),
                    ShapeProperty(name: "p2", type: .date),
                    ShapeProperty(name: "p3", type: .float, isNullable: true),
                    ShapeProperty(name: "p4", type: .link, isNullable: true),
                    ShapeProperty(name: "p5", type: .int),
                    ShapeProperty(name: "p6", type: .text, isNullable: true, isIndexed: true),
                ])
        ],
        [
            .create(class: 0, count: 249, values: [nil, nil, nil, nil, nil, nil, .init(192, 0)]),
            .create(
                class: 0, count: 9, values: [.init(5, 0), nil, nil, nil, nil, nil, .init(32, 0)]),
            .createEach(
                class: 0, count: 37, durability: 2,
                values: [.init(31, 0), nil, nil, nil, .init(0, 0), nil, .init(51, 0)]),
            .eraseFound(class: 0, query: 10_185_324),
            .insert(class: 0, object: 0, list: 0, at: -1, count: 7, .init(0, 0)),
            .create(
                class: 0, count: 86,
                values: [
                    nil, .init(0, 2_910_190_324), .init(0, 0), nil, nil, .init(0, 42_714),
                    .init(5, 0),
                ]),
        ])
}
