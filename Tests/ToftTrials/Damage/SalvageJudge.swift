internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Compares the content salvaged from a damaged image of a corpus with that of its versions.
struct SalvageJudge {
    /// A property of an object.
    private struct Place: Hashable {
        let name: String
        let key: Int64
        let property: String
    }

    /// The values that each property of each object ever had, by their digests.
    private var held: [Place: [UInt64: Value]] = [:]

    private let key: EncryptionKey?

    init(_ corpus: Corpus, _ file: DamagedFile) throws {
        key = corpus.key
        for image in corpus.history + [corpus.image] {
            try file.hold(image)
            let session = try Inspection.open(file, key)
            try Self.forEachValue(of: session) { place, value in
                held[place, default: [:]][Self.digest(value)] = value
            }
            try session.close()
        }
    }

    /// One in twenty damages is salvaged, in an encrypted file one in four: it has less to ask.
    func isAsked(_ number: Int) -> Bool {
        let hash = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 >> 32
        return hash % (key == nil ? 20 : 4) == 0
    }

    /// The fault of a salvaged file, which is not written to; nil if it is right.
    /// - Parameter isSealed: the checksums are right, so that only the new file's own soundness
    ///   counts.
    func problem(with file: DamagedFile, isSealed: Bool) -> String? {
        do {
            let new = MemoryFile(name: "salvaged")
            try Store.format(WrappedFile(new))
            let store = try Store.open(
                on: WrappedFile(new), coordinator: try Coordinator.inMemory(), firstLogPages: 0)
            let source = try SalvageSource(WrappedFile(file), encryptionKey: key)
            let report = try Salvage.run(source, into: store)
            try store.close()
            let session = try Inspection.open(new)
            if let problem = try session.checkEverything().problems.first {
                return "the salvaged file is not sound: \(problem)"
            }
            let wrong = isSealed ? nil : try wrongValue(of: session, report)
            try session.close()
            return wrong
        } catch ModelError.storage(.corrupt), ModelError.unsupportedSchema,
            StorageError.unsupportedFormat
        {
            return nil
        } catch {
            return "the salvage ends with \(error)"
        }
    }

    private func wrongValue(of session: Session, _ report: SalvageReport) throws -> String? {
        var wrong: String?
        try Self.forEachValue(of: session) { place, value in
            guard wrong == nil, held[place]?[Self.digest(value)] == nil else { return }
            guard let earlier = held[place]?.values,
                let found = report.classes.first(where: { $0.name == place.name })
            else {
                wrong = "'\(place.name)' has gained the object \(place.key)"
                return
            }
            let isLost =
                Self.isDefault(value) && found.properties.contains { $0.name == place.property }
            let isCut =
                found.cutLinks > 0 && earlier.contains { Self.isCut(value, from: $0) }
            if !isLost, !isCut {
                wrong = "'\(place.name).\(place.property)' of \(place.key) is \(value)"
            }
        }
        return wrong
    }

    private static func isDefault(_ value: Value) -> Bool {
        switch value {
        case .null, .bool(false), .int(0), .float(0), .double(0), .string(""), .data([]), .list([]):
            true
        case .date(let date): date.seconds == 0 && date.nanoseconds == 0
        case .uuid(let bytes), .objectId(let bytes): bytes == .zero
        case .decimal(let value): value.stored == .zero
        default: false
        }
    }

    /// Whether a value is another one without some of its links: null, or nothing, is in their
    /// places.
    private static func isCut(_ value: Value, from old: Value) -> Bool {
        switch (value, old) {
        case (.null, .link): return true
        case (.list(let kept), .list(let all)):
            var rest = all[...]
            for value in kept {
                while let first = rest.first, !isCut(value, from: first) {
                    guard case .link = first else { return false }
                    rest.removeFirst()
                }
                if rest.popFirst() == nil { return false }
            }
            return rest.allSatisfy { if case .link = $0 { true } else { false } }
        case (.dictionary(let kept), .dictionary(let all)):
            return kept.count == all.count
                && zip(kept, all).allSatisfy { $0.key == $1.key && isCut($0.value, from: $1.value) }
        default: return digest(value) == digest(old)
        }
    }

    private static func digest(_ value: Value) -> UInt64 {
        var digest = Digest()
        digest.add(value)
        return digest.value
    }

    private static func forEachValue(of session: Session, _ body: (Place, Value) -> Void) throws {
        for owner in session.schema.classes {
            for key in try session.results(of: owner.id).keys() {
                let object = session.handle(key, owner)
                for property in owner.properties where property.isStored {
                    let value =
                        property.isCollection
                        ? Value.list(
                            try object.collection(property.id, property.collection).values())
                        : try object.value(property.id)
                    body(Place(name: owner.name, key: key, property: property.name), value)
                }
            }
        }
    }
}
