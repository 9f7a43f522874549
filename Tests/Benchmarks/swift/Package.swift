// swift-tools-version: 6.2
import PackageDescription

// Measurements of the Swift door, in a package of their own so that nobody who uses Toft resolves or builds them:
// swift run -c release --package-path Tests/Benchmarks/swift
let package = Package(
    name: "toft-benchmarks",
    dependencies: [.package(name: "toft", path: "../../..")],
    targets: [.executableTarget(name: "reads", dependencies: [.product(name: "RealmSwift", package: "toft")])],
    swiftLanguageModes: [.v6]
)
