internal import Glibc
internal import ToftTestKit

/// `ToftTrials crash`, ...: each prints its results and ends with 1 if something was wrong.
@main
enum Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            exit(try Trials.run(arguments.first ?? "", Array(arguments.dropFirst())) ? 0 : 1)
        } catch {
            print("ToftTrials \(arguments.joined(separator: " ")): \(error)")
            exit(1)
        }
    }
}

enum Trials {
    /// This program, for children of it.
    static let executable: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        return count > 0
            ? String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            : CommandLine.arguments[0]
    }()

    static func run(_ name: String, _ arguments: [String]) throws -> Bool {
        func number(_ index: Int, _ standard: Int) -> Int {
            arguments.count > index ? Int(arguments[index]) ?? standard : standard
        }
        switch name {
        case "crash":
            return try CrashTrials.run(floor: number(0, 20_000), seed: UInt64(number(1, 1)))
        case "again":
            return try CrashTrials.again(arguments.first ?? "", seed: UInt64(number(1, 1)))
        case "faults": return try FaultTrials.run(stride: number(0, 1), pairs: number(1, 0))
        case "descriptors":
            return try DescriptorTrials.run(rounds: number(0, 2_000), seed: UInt64(number(1, 1)))
        case "participants": return try ParticipantTrial.run(commits: number(0, 1_000))
        case "interleavings": return try InterleavingTrials.run()
        case "files": return try FileTrials.run()
        case "model": return try ModelTrial.run(arguments)
        case "query":
            return try QueryTrial.run(texts: number(0, 20_000), seed: UInt64(number(1, 1)))
        case "differential":
            return try DifferentialTrial.run(
                queries: number(0, 6_000),
                seed: UInt64(number(1, Int.random(in: 0...Int(UInt32.max)))))
        case "mutants": return try MutantTrials.run(arguments.first)
        case "hunt": return try MutantTrials.hunt(arguments.first ?? "")
        case "soak":
            return try SoakTrial.run(commits: number(0, 12_000), seed: UInt64(number(1, 1)))
        case "kills":
            return try KillTrial.run(
                kills: number(0, 50), seed: UInt64(number(1, 1)),
                isEncrypted: arguments.last == "encrypted")
        case "damage":
            return try DamageTrial.run(cases: number(0, 20_000), seed: UInt64(number(1, 1)))
        case "realm":
            return try RealmFileTrial.run(files: number(0, 20_000), seed: UInt64(number(1, 1)))
        case "realm-worker": return try RealmFileTrial.work(arguments)
        case "realm-again":
            return try RealmFileTrial.again(number(0, 0), seed: UInt64(number(1, 1)))
        case "bits": return try BitTrial.run(stride: number(0, 8_191))
        case "damage-worker": return try DamageTrial.work(arguments)
        case "damage-again": return try DamageTrial.again(arguments)
        case "all":
            return try [
                "crash", "faults", "interleavings", "files", "descriptors", "participants",
                "kills", "soak", "damage", "realm", "bits", "query", "differential",
            ]
            .allSatisfy { try run($0, []) }
        case "participant" where arguments.count == 3:
            try ParticipantTrial.participant(arguments[0], number(1, 0), number(2, 0))
        case "child" where arguments.count == 5:
            guard let role = KillRole(rawValue: arguments[0]) else { return false }
            try KillRole.run(role, arguments[1], arguments[2], number(3, 0), UInt64(number(4, 0)))
        case "open" where arguments.count == 2:
            Roles.open(arguments[0], isReadOnly: arguments[1] == "ro")
        case "change-key" where arguments.count == 1: Roles.changeKey(arguments[0])
        case "scatter-once" where arguments.count == 2:
            Roles.scatterOnce(arguments[0], round: number(1, 0))
        case "hold" where arguments.count == 2:
            try Roles.hold(
                arguments[0], inTransaction: arguments[1] == "write",
                poison: arguments[1] == "poison")
        case "scatter" where arguments.count == 2:
            try Roles.scatter(arguments[0], round: number(1, 0))
        case "grow" where arguments.count == 2: Roles.grow(arguments[0], limit: number(1, 0))
        case "crowd" where arguments.count == 2: Roles.crowd(arguments[0], bytes: number(1, 0))
        case "squeeze" where arguments.count == 1: Roles.squeeze(arguments[0])
        case "fork" where arguments.count == 1: try Roles.fork(arguments[0])
        case "orphan" where arguments.count == 2:
            try Roles.orphan(arguments[0], through: arguments[1])
        default:
            print(
                "usage: ToftTrials crash [images [seed]] | again WORKLOAD SEED | "
                    + "faults [stride [pairs]] "
                    + "| model [--seed N | --commands N --sequences N | --minutes N] "
                    + "| interleavings | files | descriptors [rounds [seed]] "
                    + "| participants [commits] "
                    + "| kills [kills [seed [encrypted]]] | "
                    + "soak [commits [seed]] | query [texts [seed]] "
                    + "| differential [queries [seed]] "
                    + "| mutants [one | how many] | damage [files [seed]] "
                    + "| damage-again CORPUS CLASS NUMBER | realm [files [seed]] "
                    + "| realm-again NUMBER [seed] | bits [stride] | all"
            )
            return false
        }
        return true
    }
}
