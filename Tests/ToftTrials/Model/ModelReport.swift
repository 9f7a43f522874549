internal import ToftTestKit

/// The statistics of a run of the model test.
struct ModelReport {
    var commands = 0
    var sequences = 0
    var violations = 0
    private var byKind: [String: Int] = [:]
    private var bySizes: [SizeProfile: (sequences: Int, commands: Int)] = [:]
    private var byInterface: [String: Int] = [:]
    private var byGround: [String: Int] = [:]
    private var largestFile = 0
    private var largestContent = 0
    private var handled = (migrations: 0, copies: 0)

    mutating func add(_ program: ModelProgram, _ run: ModelRun) {
        sequences += 1
        commands += run.done
        for command in program.commands.prefix(run.done) { byKind[command.kind, default: 0] += 1 }
        let sizes = bySizes[program.sizes] ?? (0, 0)
        bySizes[program.sizes] = (sizes.sequences + 1, sizes.commands + run.done)
        byInterface[program.interface.rawValue, default: 0] += run.done
        byGround[program.ground.rawValue, default: 0] += 1
        largestFile = max(largestFile, run.bytes)
        largestContent = max(largestContent, run.content.objectCount)
        handled.migrations += run.handled.migrations
        handled.copies += run.handled.copies
    }

    func show(lastSeed: UInt64, _ options: ModelTrial.Options) {
        print(
            "model: \(commands) commands in \(sequences) sequences (seeds \(options.first)..."
                + "\(lastSeed)), \(violations) violations")
        print("  through: " + Self.list(byInterface))
        print("  on: " + Self.list(byGround))
        print(
            "  sizes: "
                + SizeProfile.allCases.map {
                    "\($0) \(bySizes[$0]?.sequences ?? 0) sequences, \(bySizes[$0]?.commands ?? 0)"
                }.joined(separator: "; "))
        print("  commands: " + Self.list(byKind))
        print(
            "  automatic handling of backlinks in \(handled.migrations) migrations, "
                + "\(handled.copies) copies")
        print("  largest file \(largestFile) bytes, most objects \(largestContent)")
    }

    private static func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }
}
