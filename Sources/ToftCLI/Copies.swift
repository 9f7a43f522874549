import ArgumentParser
import ToftEngine
import ToftStorage

struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a copy without free space, while others use the file.",
        discussion:
            "The copy has been read back and checked, and is durable, when the command ends. It "
            + "must not exist before; after an error there is none.")

    @OptionGroup var source: FileArgument

    @Argument(help: "The new file.", completion: .file())
    var copy: String

    func run() throws {
        try reportingErrors {
            var configuration = StoreConfiguration(location: .file(path: source.file))
            configuration.isReadOnly = true
            configuration.usesMapping = !source.buffered
            let store = try Store.open(configuration)
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            try snapshot.writeCopy(to: copy)
            configuration.location = .file(path: copy)
            let size = try Store.open(configuration).facts().fileSize
            if source.json {
                print(
                    JSONLine.object([
                        ("version", .number(snapshot.version.rawValue)), ("bytes", .number(size)),
                    ]))
            } else {
                print("\(copy): version \(snapshot.version), \(ByteCount.text(size))")
            }
        }
    }
}

struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give a file's free space back, where nobody has it open.",
        discussion:
            "Works in the file itself, in steps that each leave a whole file: it can be killed. "
            + "Exit status 1 when a process has the file open.")

    @OptionGroup var target: FileArgument

    func run() throws {
        let sizes = try reportingErrors {
            guard let sizes = try Database.compact(target.file) else {
                throw EngineError(
                    .alreadyOpen, "'\(target.file)' is open: close it everywhere first.")
            }
            return sizes
        }
        if target.json {
            print(
                JSONLine.object([
                    ("bytesBefore", .number(sizes.before)), ("bytesAfter", .number(sizes.after)),
                ]))
        } else {
            print("\(ByteCount.text(sizes.before)), now \(ByteCount.text(sizes.after))")
        }
    }
}

struct Pins: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the versions that are read, by which process, and what they hold.",
        discussion:
            "A version that is read keeps the pages that it needs. A process that has the file "
            + "open for reading only has no number.")

    @OptionGroup var target: FileArgument

    func run() throws {
        try reportingErrors {
            var configuration = StoreConfiguration(location: .file(path: target.file))
            configuration.isReadOnly = true
            configuration.usesMapping = !target.buffered
            let store = try Store.open(configuration)
            let newest = store.latestVersion
            for pin in try store.versionPins() {
                if target.json {
                    print(
                        JSONLine.object([
                            ("version", .number(pin.version.rawValue)),
                            ("process", .number(pin.processID ?? 0)),
                            ("heldBytes", .number(pin.heldSize)),
                        ]))
                } else {
                    let process = pin.processID.map { "process \($0)" } ?? "a process that reads"
                    let age = newest > pin.version ? "older" : "newest"
                    print(
                        "version \(pin.version) (\(age)): \(process), holds "
                            + ByteCount.text(pin.heldSize))
                }
            }
        }
    }
}
