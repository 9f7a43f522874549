#if Terminal
import Foundation
import ToftEngine
import ToftModel

/// Packages as objects: the demo's data and its questions.
struct PackageCatalog {
    static let schema = Schema([
        ClassSchema(
            "Package",
            [
                PropertySchema("name", .string, isPrimaryKey: true),
                PropertySchema("section", .string, isIndexed: true),
                PropertySchema("installedSize", .int),
                PropertySchema("tags", .string, collection: .list),
                .links("depends", to: "Package"),
                .linkingObjects("neededBy", from: "Package", "depends"),
            ])
    ])

    private let session: Session
    private let owner: ClassHandle
    private let name, section, installedSize, tags, depends, neededBy: PropertyID

    init(session: Session) throws {
        self.session = session
        let owner = try session.classHandle(named: "Package")
        func property(_ name: String) throws -> PropertyID {
            guard let found = owner.visibleProperties.first(where: { $0.name == name }) else {
                throw EngineError(
                    .noSuchProperty,
                    "The file's class 'Package' has no property '\(name)'. Give the demo a file "
                        + "of its own."
                )
            }
            return found.id
        }
        self.owner = owner
        name = try property("name")
        section = try property("section")
        installedSize = try property("installedSize")
        tags = try property("tags")
        depends = try property("depends")
        neededBy = try property("neededBy")
    }

    // MARK: Loading

    mutating func load(_ packages: [PackageRecord], from source: String) throws {
        let start = Date()
        try session.beginWrite()
        var objects: [ObjectHandle] = []
        for package in packages {
            let object = try session.create(
                owner.id,
                [
                    (name, .string(package.name)), (section, .string(package.section)),
                    (installedSize, .int(package.installedSize)),
                ], policy: .all)
            let list = try object.list(tags)
            try list.clear()
            for tag in package.tags { try list.append(.string(tag)) }
            objects.append(object)
        }
        var linked = 0
        var missing = 0
        for (package, object) in zip(packages, objects) {
            let list = try object.list(depends)
            try list.clear()
            for dependency in package.depends {
                if let target = try session.find(Value.string(dependency), in: owner.id) {
                    try list.append(.link(target.ref))
                    linked += 1
                } else {
                    missing += 1
                }
            }
        }
        let version = try session.commit()
        let seconds = String(format: "%.2f", Date().timeIntervalSince(start))
        Output.print(
            "\(packages.count) packages of \(source) are in the database, with \(linked) links "
                + "between them"
        )
        Output.print(
            "(\(missing) dependencies name no package here). One transaction, version \(version), "
                + "\(seconds) s.\n"
        )
    }

    // MARK: Questions

    func answer() throws {
        let all = try session.results(of: owner.id)
        let total = try all.aggregate(.sum, of: installedSize)
        let average = try all.aggregate(.average, of: installedSize)
        Output.print(
            "1. How large is all of it?          \(number(total)) KiB in \(try all.count) "
                + "packages, \(number(average)) KiB on average"
        )
        let libraries = try all.filter("section ENDSWITH 'libs' SORT(installedSize DESC) LIMIT(3)")
        Output.print(
            "2. Which libraries are the largest? \(try names(libraries).joined(separator: ", "))")
        if let libc = try session.find(Value.string("libc6"), in: owner.id) {
            Output.print(
                "3. Who needs libc6?                 \(try libc.linkingObjects(neededBy).count) "
                    + "packages"
            )
        } else {
            Output.print(
                "3. Who needs nobody?                "
                    + "\(try all.filter("depends.@count == 0").count) packages"
            )
        }
        let python = try all.filter(
            "ANY depends.name BEGINSWITH 'python3' AND NOT section CONTAINS 'python'")
        Output.print(
            "4. Who needs Python unexpectedly?   \(try python.count) packages, for example "
                + "\(try names(python.limited(to: 3)).joined(separator: ", "))"
        )
        let tagged = try all.filter("ANY tags BEGINSWITH[c] 'ROLE::'")
        Output.print(
            "5. How many have a tag of a role?   \(try tagged.count), and "
                + "\(try all.filter("tags.@count > 3").count) have more than three tags\n"
        )
    }

    private func names(_ results: Results) throws -> [String] {
        try (0..<(try results.count)).map { index in
            if case .string(let text) = try results.object(at: index).value(name) {
                text
            } else {
                "?"
            }
        }
    }

    private func number(_ value: Value) -> String {
        switch value {
        case .int(let value): String(value)
        case .double(let value): String(format: "%.0f", value)
        default: "no"
        }
    }
}
#endif
