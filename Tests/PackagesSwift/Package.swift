import RealmSwift

/// A package and what it links to.
final class Package: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var version: String
    @Persisted(indexed: true) var section: String
    @Persisted var priority: String
    @Persisted var maintainer: String
    @Persisted var size: Int
    @Persisted var installedSize: Int
    @Persisted var essential: Bool
    @Persisted(originProperty: "depends") var dependents: LinkingObjects<Package>
    @Persisted var summary: String
    @Persisted var homepage: String?
    @Persisted var tags: List<String>
    @Persisted var depends: List<Package>
    @Persisted var recommends: List<Package>

    // `description` is what every object has already.
    override class func propertiesMapping() -> [String: String] { ["summary": "description"] }

    convenience init(_ record: PackageRecord) {
        self.init()
        name = record.name
        version = record.version
        section = record.section
        priority = record.priority
        maintainer = record.maintainer
        size = record.size
        installedSize = record.installedSize
        essential = record.essential
        summary = record.description
        homepage = record.homepage
        tags.append(objectsIn: record.tags)
    }
}
