internal import ToftModel
internal import ToftTestKit

/// Sequences that have failed once, as short as they could be made: they always run first.
enum ModelRegressions {
    static let programs: [ModelProgram] = [dataInLists, tooManyRows]

    /// The check wrote to memory that it had given back (a release build only).
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
