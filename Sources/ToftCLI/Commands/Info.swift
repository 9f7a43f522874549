#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftStorage

struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a file's version, size, free space and log.",
        discussion:
            "Reads the file's format alone, so it also works where the schema does not open. "
            + "Takes no locks that writers wait for."
    )

    @OptionGroup var target: FileArgument

    func run() throws {
        try reportingErrors {
            let store = try Store.open(try target.reading())
            let facts = try store.facts()
            if target.json {
                Output.print(
                    JSONValue.object([
                        ("version", .number(facts.version.rawValue)),
                        ("fileBytes", .number(facts.fileSize)),
                        ("liveBytes", .number(facts.liveSize)),
                        ("freeBytes", .number(facts.freeSize)),
                        ("heldBytes", .number(facts.heldSize)),
                        ("oldestPinnedVersion", .number(facts.oldestPinnedVersion.rawValue)),
                        ("logBytes", .number(facts.logSize)),
                        ("checkpointVersion", .number(facts.checkpointVersion.rawValue)),
                        ("deferredBytes", .number(facts.deferredSize)),
                        ("pageBytes", .number(UInt64(Page.size))),
                        ("format", .number(UInt64(MetaLayout.currentFormat))),
                    ]))
            } else {
                Output.print("version       \(facts.version)")
                Output.print("file          \(ByteCount.text(facts.fileSize))")
                Output.print("live          \(ByteCount.text(facts.liveSize))")
                Output.print("free          \(ByteCount.text(facts.freeSize))")
                Output.print("for readers   \(ByteCount.text(facts.heldSize))")
                let oldest = facts.oldestPinnedVersion
                Output.print(
                    "oldest reader \(oldest == facts.version ? "none behind" : "version \(oldest)")"
                )
                Output.print("log           \(ByteCount.text(facts.logSize)), \(log(facts))")
                Output.print(
                    "format        \(MetaLayout.currentFormat), pages of \(Page.size) bytes")
            }
        }
    }

    private func log(_ facts: StoreFacts) -> String {
        if facts.checkpointVersion == facts.version { return "nothing waits for a checkpoint" }
        let durable =
            facts.deferredSize == 0
            ? "all durable" : "\(ByteCount.text(facts.deferredSize)) not durable yet"
        return "commits since version \(facts.checkpointVersion), \(durable)"
    }
}
#endif
