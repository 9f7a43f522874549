// swift-tools-version: 6.2
import PackageDescription

// Measurements of the Swift API, in a package of their own so that users of Toft do not resolve or
// build them.
let package = Package(
    name: "toft-benchmarks",
    dependencies: [.package(name: "toft", path: "../..")],
    targets: [
        // The cost of reading and writing single properties: swift run -c release --package-path
        // Tests/Benchmarks reads
        .executableTarget(
            name: "reads", dependencies: [.product(name: "RealmSwift", package: "toft")]),
        // Reads all objects of the file that the comparison with other engines made.
        .executableTarget(
            name: "iterate", dependencies: [.product(name: "RealmSwift", package: "toft")]),
    ],
    swiftLanguageModes: [.v6]
)
