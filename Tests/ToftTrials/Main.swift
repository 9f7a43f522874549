internal import Glibc

/// `ToftTrials crash [floor]`, ...: each prints what it did and ends with 1 if something was wrong.
@main
struct Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            exit(try run(arguments.first ?? "", Array(arguments.dropFirst())) ? 0 : 1)
        } catch {
            print("ToftTrials: \(error)")
            exit(1)
        }
    }

    private static func run(_ name: String, _ arguments: [String]) throws -> Bool {
        switch name {
        case "crash": return try CrashTrials.run(floor: arguments.first.flatMap { Int($0) } ?? 20_000)
        default:
            print("usage: ToftTrials crash [images]")
            return false
        }
    }
}
