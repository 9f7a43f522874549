import Foundation

/// Plays files of vectors: SyncVectors FILE...
@main
enum SyncVectors {
    static func main() {
        let files = CommandLine.arguments.dropFirst()
        if files.isEmpty {
            print("usage: sync-vectors FILE...")
            exit(2)
        }
        var (passed, failed) = (0, 0)
        for file in files {
            let results: [CaseResult]
            do {
                let text = try String(contentsOfFile: file, encoding: .utf8)
                results = play(try OrderedJSON(parsing: text))
            } catch {
                print("\(file): can't be read: \(error)")
                failed += 1
                continue
            }
            for result in results {
                if result.differences.isEmpty {
                    passed += 1
                    continue
                }
                failed += 1
                print("\(file): \(result.name)")
                for difference in result.differences { print("  \(difference)") }
            }
        }
        print("\(passed) passed, \(failed) failed")
        exit(failed == 0 ? 0 : 1)
    }
}
