// Tests: Recovery.swift
import Testing
internal import ToftTestKit

/// A taste of it, in the suite that runs with every change: `swift run -c release ToftTrials crash`
/// tries all.
@Suite struct CrashTests {
    @Test(arguments: Workload.scripted.prefix(5))
    func `A crash at any moment leaves what was committed`(workload: Workload) throws {
        var limits = CrashImages.Limits()
        limits.exhaustivePages = 4
        limits.singlePages = 3
        limits.randomSubsets = 5
        limits.tornPages = 3
        limits.fullyTornMetas = 0
        limits.tornMetaPlaces = 4
        limits.lyingSubsets = 1
        limits.percentTried = 10
        let report = try CrashTrial.run(workload, seed: 1, limits: limits)
        #expect(report.violations == [])
    }
}
