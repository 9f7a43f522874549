/// The results of opening many images.
package struct CrashReport: Sendable {
    /// The longest that an opening, with its recovery, may take.
    package static let openingLimit: Int64 = 1_000_000_000

    package var generated: [CrashModel: Int] = [:]
    /// The states that differ in the disk or in the versions that it may show.
    package var tried: [CrashModel: Int] = [:]
    /// Disks, each counted once.
    package var disks: Set<UInt64> = []
    /// Contents that were found, each counted once.
    package var contents: Set<UInt64> = []
    package var violations: [String] = []
    package var longestOpening: Int64 = 0
    /// Of the images of a lying disk: those that were sound, and those in which damage was found.
    package var soundAfterLie = 0
    package var damageFound = 0

    package init() {}

    package var triedCount: Int { tried.values.reduce(0, +) }

    package mutating func merge(_ other: CrashReport) {
        generated.merge(other.generated) { $0 + $1 }
        tried.merge(other.tried) { $0 + $1 }
        disks.formUnion(other.disks)
        contents.formUnion(other.contents)
        violations += other.violations
        longestOpening = max(longestOpening, other.longestOpening)
        soundAfterLie += other.soundAfterLie
        damageFound += other.damageFound
    }
}
