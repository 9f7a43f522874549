#if Terminal
import ArgumentParser
import ToftEngine
import ToftStorage

struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a copy without free space, while others use the file.",
        discussion:
            "The copy has been read back and checked, and is durable, when the command ends. It "
            + "must not exist before; after an error there is none. It has the key of the file, "
            + "unless another is given, and can be read by its owner alone.")

    @OptionGroup var source: FileArgument

    @Argument(help: "The new file.", completion: .file())
    var copy: String

    @Option(help: "A file with the 64 bytes of the copy's key.", completion: .file())
    var newKeyFile: String?

    func run() throws {
        try reportingErrors {
            var configuration = try source.reading()
            let store = try Store.open(configuration)
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            if let newKeyFile {
                configuration.encryptionKey = try KeyArgument.key(in: newKeyFile)
            }
            try snapshot.writeCopy(to: copy, encryptionKey: configuration.encryptionKey)
            configuration.location = .file(path: copy)
            let size = try Store.open(configuration).facts().fileSize
            if source.json {
                Output.print(
                    JSONValue.object([
                        ("version", .number(snapshot.version.rawValue)), ("bytes", .number(size)),
                    ]))
            } else {
                Output.print(
                    "\(copy): \(ByteCount.text(size)), a copy of version \(snapshot.version)")
            }
        }
    }
}

struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give a file's free space back while nobody has it open, or beside others.",
        discussion:
            "Works in the file itself, in steps that each leave a whole file: it can be killed. "
            + "Exit status 1 when a process has the file open, but for --online.")

    @OptionGroup var target: FileArgument

    @OptionGroup var access: SharingArgument

    @Flag(help: "Work in small commits, while others use the file.")
    var online = false

    @Option(help: "Bytes that a commit of --online moves at most.")
    var stepBytes: UInt64 = 1 << 20

    func run() throws {
        if online { return try reportingErrors { try compactOnline() } }
        let sizes = try reportingErrors {
            guard
                let sizes = try Database.compact(
                    target.file, encryptionKey: target.key.key(), sharing: access.sharing)
            else {
                throw EngineError(
                    .alreadyOpen, "'\(target.file)' is open: close it everywhere first.")
            }
            return sizes
        }
        if target.json {
            Output.print(
                JSONValue.object([
                    ("bytesBefore", .number(sizes.before)), ("bytesAfter", .number(sizes.after)),
                ]))
        } else {
            Output.print("\(ByteCount.text(sizes.before)), now \(ByteCount.text(sizes.after))")
        }
    }

    private func compactOnline() throws {
        var configuration = StoreConfiguration(location: .file(path: target.file))
        configuration.createsFile = false
        configuration.sharing = access.sharing
        configuration.encryptionKey = try target.key.key()
        let store = try Store.open(configuration)
        var all = try store.compactStep(movingAtMost: stepBytes)
        while all.hasMore {
            let step = try store.compactStep(movingAtMost: stepBytes)
            all.movedSize += step.movedSize
            all.sizeAfter = step.sizeAfter
            all.heldSize = step.heldSize
            all.hasMore = step.hasMore
        }
        try store.close()
        if target.json {
            Output.print(
                JSONValue.object([
                    ("bytesBefore", .number(all.sizeBefore)),
                    ("bytesAfter", .number(all.sizeAfter)),
                    ("movedBytes", .number(all.movedSize)), ("heldBytes", .number(all.heldSize)),
                ]))
        } else {
            Output.print(
                "\(ByteCount.text(all.sizeBefore)), now \(ByteCount.text(all.sizeAfter)); "
                    + "\(ByteCount.text(all.movedSize)) moved"
                    + (all.heldSize == 0
                        ? "" : ", \(ByteCount.text(all.heldSize)) kept for readers: see pins"))
        }
    }
}

struct ChangeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-key",
        abstract: "Encrypt a file with another key, or decrypt it, while nobody has it open.",
        discussion: """
            head -c 64 /dev/urandom > new.key
            toftdb change-key app.toft --key-file old.key --new-key-file new.key

            Without --key-file the file is not encrypted yet, without --new-key-file it is not \
            encrypted afterwards. Its content is written to a new file, which takes its place; \
            a hard link to the old one still leads to the old content, under the old key or plain. \
            Exit status 1 when a process has the file open.
            """)

    @Argument(help: "The database file.", completion: .file())
    var file: String

    @OptionGroup var key: KeyArgument

    @OptionGroup var access: SharingArgument

    @Option(help: "A file with the 64 bytes of the new key.", completion: .file())
    var newKeyFile: String?

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    func run() throws {
        try reportingErrors {
            let new = try newKeyFile.map { try KeyArgument.key(in: $0) }
            guard new != nil || key.keyFile != nil else {
                throw EngineError(
                    .invalidArgument, "Give --key-file, --new-key-file, or both.")
            }
            try Database.changeKey(
                of: file, from: try key.key(), to: new, sharing: access.sharing)
            if json {
                Output.print(JSONValue.object([("encrypted", .bool(new != nil))]))
            } else {
                Output.print(
                    "'\(file)' is \(new == nil ? "not encrypted" : "encrypted with the new key").")
            }
        }
    }
}

struct Pins: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the versions that are read, by which process, and what they hold.",
        discussion:
            "A version that is read keeps the pages that it needs. Another process that has the "
            + "file open for reading only has no number, and nobody knows since when it reads.")

    @OptionGroup var target: FileArgument

    func run() throws {
        try reportingErrors {
            let store = try Store.open(try target.reading())
            let newest = store.latestVersion
            let pins = try store.versionPins()
            if pins.isEmpty, !target.json { Output.print("nobody reads '\(target.file)'") }
            for pin in pins {
                if target.json {
                    Output.print(
                        JSONValue.object([
                            ("version", .number(pin.version.rawValue)),
                            ("process", .number(pin.processID ?? 0)),
                            ("heldBytes", .number(pin.heldSize)),
                            ("seconds", pin.age.map { .integer($0 / 1_000_000_000) } ?? .null),
                        ]))
                } else {
                    let process = pin.processID.map { "process \($0)" } ?? "a process that reads"
                    let place = newest > pin.version ? "older" : "newest"
                    let age = pin.age.map { ", for \($0 / 1_000_000_000) s" } ?? ""
                    Output.print(
                        "version \(pin.version) (\(place)): \(process)\(age), holds "
                            + ByteCount.text(pin.heldSize))
                }
            }
        }
    }
}
#endif
