// swift-tools-version: 6.2
import PackageDescription

// The layers in order: bytes, then meaning, then questions, then the APIs. A target imports only
// targets that it declares here, and that are declared above it. The compiler refuses an import
// upwards; an import that is not declared is refused by `swift build
// --explicit-target-dependency-import-check error`, which Tests/run uses.
let package = Package(
    name: "toft",
    products: [
        .library(name: "toft", type: .dynamic, targets: ["ToftCAPI"]),
        .library(name: "Toft", targets: ["Toft"]),
        .library(name: "RealmSwift", targets: ["RealmSwift"]),
        .executable(name: "toftdb", targets: ["ToftCLI"]),
    ],
    traits: [
        // A package that depends on Toft, and the C library, resolve and build nothing else. All
        // targets are compiled again when it is switched, so a build folder keeps to one of both.
        .trait(
            name: "Terminal",
            description: """
                The commands of toftdb, whose arguments swift-argument-parser reads, and Studio, \
                which FlyingFox serves
                """)
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", .upToNextMinor(from: "0.27.1")),
    ],
    targets: [
        // Declarations that Linux has and `import Glibc` does not show, with inline wrappers and no
        // logic.
        .target(name: "CPlatform"),
        // The operating system: files, mapping, locks, futexes, threads, thread-locals, the clock,
        // fork. The only importer of the C library; knows nothing of pages.
        .target(name: "ToftPlatform", dependencies: ["CPlatform"]),
        // Bytes: pages, trees, clusters, snapshots, transactions. Has never heard of a class.
        .target(name: "ToftStorage", dependencies: ["ToftPlatform"]),
        // The bytes of Realm's own files, read. Knows nothing of what Toft makes of them.
        .target(name: "ToftRealmFile", dependencies: ["ToftStorage", "ToftPlatform"]),
        // Meaning: schema, values, objects, links, lists, indexes.
        .target(name: "ToftModel", dependencies: ["ToftStorage", "ToftPlatform"]),
        // Questions: text to syntax tree to plan to batches of clusters.
        .target(name: "ToftQuery", dependencies: ["ToftModel", "ToftStorage"]),
        // Sync: what changes on one device and what becomes of it on all, as rules without I/O.
        .target(name: "ToftSync"),
        // Sessions, live results, observation.
        .target(
            name: "ToftEngine",
            dependencies: [
                "ToftQuery", "ToftModel", "ToftRealmFile", "ToftStorage", "ToftPlatform",
            ]),
        // Objects in files of text: JSON lines, comma-separated values. For the Swift API and the
        // terminal; the C library does without.
        .target(
            name: "ToftExchange",
            dependencies: ["ToftEngine", "ToftModel", "ToftStorage", "ToftPlatform"]),
        // The tables of SQLite files, read into new files. For the terminal; SQLite's library is
        // loaded when one is read.
        .target(
            name: "ToftSQLite",
            dependencies: ["ToftEngine", "ToftModel", "ToftStorage", "ToftPlatform"]),
        // The statements of the terminal's shell: parsed, executed, and their rows printed. It
        // knows no terminal, so that any program can run them.
        .target(
            name: "ToftShell",
            dependencies: ["ToftEngine", "ToftQuery", "ToftModel", "ToftStorage"]),
        // The C header as a module, so that the compiler holds every entry point against it.
        .systemLibrary(name: "CToft", path: "include"),
        // The C API.
        .target(
            name: "ToftCAPI",
            dependencies: [
                "CToft", "ToftEngine", "ToftQuery", "ToftModel", "ToftStorage", "ToftPlatform",
            ]),
        // The Swift API: Realm, Object, List, Results as RealmSwift spells them.
        .target(
            name: "Toft",
            dependencies: [
                "ToftExchange", "ToftEngine", "ToftQuery", "ToftModel", "ToftStorage",
                "ToftPlatform",
            ]),
        // The Swift API under the name that existing apps import.
        .target(name: "RealmSwift", dependencies: ["Toft"]),
        // Studio: databases in the browser. A conversation for each page, which knows no sockets;
        // the server, which needs the trait; the page, whose files become parts of the program.
        .target(
            name: "ToftStudio",
            dependencies: [
                "ToftExchange", "ToftEngine", "ToftQuery", "ToftModel", "ToftStorage",
                .product(
                    name: "FlyingFox", package: "FlyingFox",
                    condition: .when(traits: ["Terminal"])),
                .product(
                    name: "FlyingSocks", package: "FlyingFox",
                    condition: .when(traits: ["Terminal"])),
            ],
            resources: [
                "index.html", "studio.css", "icon.svg", "main.js", "socket.js", "elements.js",
                "values.js", "table.js", "query.js", "details.js", "draft.js", "schema.js",
                "panels.js",
            ].map { .embedInCode("Page/\($0)") }),
        // The terminal: `swift build --traits Terminal --product toftdb`.
        .executableTarget(
            name: "ToftCLI",
            dependencies: [
                "ToftStudio", "ToftShell", "ToftExchange", "ToftSQLite", "ToftEngine", "ToftModel",
                "ToftStorage", "ToftPlatform",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["Terminal"])),
            ]),
        // The shared parts of the tests: temporary databases that are checked after every test,
        // lying disks, seeds.
        .target(
            name: "ToftTestKit", dependencies: ["ToftStorage", "ToftPlatform"],
            path: "Tests/ToftTestKit"),
        // System calls that fail on purpose, in the trials.
        .target(name: "CFaults", path: "Tests/CFaults"),
        // Trials that take longer or more than one process: crashes, faults, kills. `swift run -c
        // release ToftTrials`.
        .executableTarget(
            name: "ToftTrials",
            dependencies: [
                "ToftTestKit", "ToftStorage", "ToftPlatform", "ToftModel", "ToftQuery",
                "ToftEngine", "ToftCAPI", "CToft", "CFaults",
            ],
            path: "Tests/ToftTrials"),
        .testTarget(
            name: "ToftStorageTests",
            dependencies: ["ToftStorage", "ToftPlatform", "ToftTestKit", "ToftTrials"]),
        .testTarget(
            name: "ToftModelTests",
            dependencies: ["ToftModel", "ToftStorage", "ToftPlatform", "ToftTestKit"]),
        .testTarget(
            name: "ToftQueryTests",
            dependencies: ["ToftQuery", "ToftEngine", "ToftModel", "ToftStorage", "ToftTestKit"],
            exclude: ["Fixtures", "make-folding-table.py"]),
        .testTarget(
            name: "ToftShellTests",
            dependencies: [
                "ToftShell", "ToftQuery", "ToftEngine", "ToftModel", "ToftStorage", "ToftTestKit",
            ]),
        .testTarget(
            name: "ToftEngineTests",
            dependencies: [
                "ToftEngine", "ToftModel", "ToftStorage", "ToftPlatform", "ToftTestKit",
            ],
            exclude: ["Fixtures"]),
        // A program that is there in Swift, C and Python alike; Tests/test_packages.py compares
        // what they print.
        .executableTarget(
            name: "PackagesSwift", dependencies: ["RealmSwift"], path: "Tests/PackagesSwift"),
        // One of three processes that Tests/test_kills.py kills, each in another language.
        .executableTarget(
            name: "KillWorker", dependencies: ["RealmSwift"], path: "Tests/MixedKills",
            exclude: ["worker.c", "worker.py"]),
        // A program that is there in C, Python and Swift alike; Tests/test_every_type.py compares
        // what they print.
        .executableTarget(
            name: "EveryType", dependencies: ["RealmSwift"], path: "Tests/EveryType",
            exclude: ["every_type.c", "every_type.py", "expected.txt"]),
        // Prints all of a Realm file; Tests/test_realm_files.py compares it with what Realm says.
        .executableTarget(
            name: "RealmDump", dependencies: ["ToftRealmFile", "ToftStorage"],
            path: "Tests/RealmDump"),
        // Writes and reads files of objects; Tests/test_exchange.py compares them with those of the
        // terminal and of Python.
        .executableTarget(
            name: "ExchangeSwift", dependencies: ["RealmSwift"], path: "Tests/Exchange",
            exclude: ["objects.py"]),
        .testTarget(
            name: "ToftSyncTests", dependencies: ["ToftSync", "ToftTestKit", "SyncVectors"],
            exclude: ["Fixtures"]),
        // A server, clients and a network in one thread: random schedules of sync, all from a seed.
        // `swift run -c release ToftSyncSimulator`.
        .executableTarget(
            name: "ToftSyncSimulator", dependencies: ["ToftSync", "ToftTestKit"],
            path: "Tests/ToftSyncSimulator"),
        // Plays vectors of sync: Tests/sync-vectors FILE...
        .executableTarget(
            name: "SyncVectors", dependencies: ["ToftSync"], path: "Tests/SyncVectors"),
        .testTarget(
            name: "ToftStudioTests",
            dependencies: [
                "ToftStudio", "ToftEngine", "ToftModel", "ToftStorage", "ToftTestKit",
            ]),
        .testTarget(
            name: "ToftTests",
            dependencies: ["Toft", "RealmSwift", "ToftEngine", "ToftStorage", "ToftTestKit"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets
where [.regular, .executable, .test].contains(target.type)
    && !["CPlatform", "CFaults"].contains(target.name)
{
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
