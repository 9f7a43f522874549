import Foundation
import RealmSwift

/// Five questions: scalars of all, scalars of some, links backwards, links forwards, lists of values.
func answer(_ realm: Realm) {
    let packages = realm.objects(Package.self)
    if let mean = packages.average(of: \.installedSize), let largest = packages.max(of: \.installedSize) {
        let total = packages.sum(of: \.installedSize)
        print("1. Installed, all of it takes \(grouped(total)) KiB, on average \(String(format: "%.1f", mean)) KiB; "
            + "the largest package takes \(grouped(largest)) KiB.")
    }

    let libraries = packages.where { $0.section == "libs" }.sorted(by: \.installedSize, ascending: false).prefix(5)
    print("2. The largest libraries: " + libraries.map { "\($0.name) (\(grouped($0.installedSize)) KiB)" }.joined(separator: ", ") + ".")

    if let libc = realm.object(ofType: Package.self, forPrimaryKey: "libc6") {
        print("3. libc6 is needed by \(grouped(libc.dependents.count)) packages directly, and by \(grouped(needing(libc).count)) in the end.")
    } else {
        print("3. libc6 is not among the packages.")
    }

    let programs = packages.where { $0.section != "python" && $0.depends.name.starts(with: "python3") }.count
    let independent = packages.where { $0.depends.count == 0 && $0.recommends.count == 0 }.count
    print("4. \(grouped(programs)) packages outside section python depend on a package of Python 3; "
        + "\(grouped(independent)) depend on nothing and recommend nothing.")

    let languages = ["c", "c++", "python", "perl"].map { language in
        "\(language): \(grouped(packages.filter("ANY tags == %@", "implemented-in::\(language)").count))"
    }
    let many = packages.where { $0.tags.count > 3 }.count
    print("5. Their tags say that they are implemented in \(languages.joined(separator: ", ")); \(grouped(many)) have more than three tags.")
}

/// Who depends on a package, who depends on those...
private func needing(_ package: Package) -> Set<Package> {
    var found: Set = [package]
    var waiting = [package]
    while let next = waiting.popLast() {
        for other in next.dependents where found.insert(other).inserted { waiting.append(other) }
    }
    found.remove(package)
    return found
}

/// A number with commas: "1,234,567".
func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.enumerated().reduce(into: "") { text, digit in
        if digit.offset > 0, (digits.count - digit.offset).isMultiple(of: 3), digits[digit.offset - 1] != "-" { text.append(",") }
        text.append(digit.element)
    }
}
