import RealmSwift

/// What loading did.
struct LoadReport {
    var packages = 0
    var repeated = 0
    var depends = 0
    var recommends = 0
    var missingDepends = 0
    var missingRecommends = 0
}

/// First every package, then, when all can be found, the links between them. Two transactions.
func load(_ records: [PackageRecord], into realm: Realm) throws -> LoadReport {
    var report = LoadReport()
    try realm.write {
        realm.deleteAll()
        for record in records {
            if realm.object(ofType: Package.self, forPrimaryKey: record.name) == nil {
                realm.add(Package(record))
                report.packages += 1
            } else {  // the same package for another architecture
                report.repeated += 1
            }
        }
    }
    try realm.write {
        for record in records {
            guard let package = realm.object(ofType: Package.self, forPrimaryKey: record.name), package.depends.isEmpty else { continue }
            let depends = record.depends.compactMap { realm.object(ofType: Package.self, forPrimaryKey: $0) }
            let recommends = record.recommends.compactMap { realm.object(ofType: Package.self, forPrimaryKey: $0) }
            package.depends.append(objectsIn: depends)
            package.recommends.append(objectsIn: recommends)
            report.depends += depends.count
            report.recommends += recommends.count
            report.missingDepends += record.depends.count - depends.count
            report.missingRecommends += record.recommends.count - recommends.count
        }
    }
    return report
}
