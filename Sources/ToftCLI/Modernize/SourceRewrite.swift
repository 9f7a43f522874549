#if Terminal
/// The files of a program with the changes to make in them, and the lines that are left.
struct SourceRewrite {
    struct File {
        let path: String
        let source: SourceText
        fileprivate(set) var edits: [Edit] = []
        fileprivate(set) var left: [Left] = []

        init(path: String, bytes: [UInt8]) {
            self.path = path
            source = SourceText(bytes)
        }

        fileprivate var usesRealm: Bool {
            ["RealmSwift", "Toft"].contains { module in
                source.words("import").contains { word in
                    var tokens = SourceTokens(source.code, word.upperBound..<source.code.count)
                    return tokens.takeName().map { tokens.text($0) == module } ?? false
                }
            }
        }
    }

    /// Other text in the place of what stands in one line, or the whole line away.
    struct Edit {
        let range: Range<Int>
        let text: String
    }

    /// A line that somebody has to look at.
    struct Left: Equatable {
        /// From 1.
        let line: Int
        let reason: String
    }

    private(set) var files: [File]
    /// The names of classes whose objects a database keeps.
    private var models: Set<String> = []
    /// The names of properties that were boxes.
    private var boxes: Set<String> = []

    init(_ files: [File]) {
        self.files = files
        findModels()
        for (index, file) in files.enumerated() { self.files[index] = rewritingClasses(of: file) }
        for (index, file) in self.files.enumerated() { self.files[index] = rewritingUses(in: file) }
    }

    // MARK: Classes

    private static let roots: Set<String> = ["Object", "EmbeddedObject", "AsymmetricObject"]

    private mutating func findModels() {
        var bases: [(name: String, base: String)] = []
        for file in files {
            let usesRealm = file.usesRealm
            for found in file.source.classes() {
                guard let base = found.base else { continue }
                if !Self.roots.contains(base) { bases.append((found.name, base)) }
                if Self.roots.contains(base), usesRealm { models.insert(found.name) }
            }
        }
        var count = -1
        while models.count != count {
            count = models.count
            models.formUnion(bases.filter { models.contains($0.base) }.map(\.name))
        }
    }

    private mutating func rewritingClasses(of file: File) -> File {
        var file = file
        for found in file.source.classes() where models.contains(found.name) {
            rewriteHeader(of: found, &file)
            let ignored = file.source.names(of: "ignoredProperties", in: found.body)
            if ignored == nil {
                file.leave(
                    found.header.upperBound,
                    "ignoredProperties() of '\(found.name)' is no list of names in quotes: see "
                        + "which of its properties are not to be stored")
            }
            for member in file.source.members(of: found) {
                rewrite(member, ignored: ignored ?? [], &file)
            }
            leaveRest(of: found, &file)
        }
        return file
    }

    private func rewriteHeader(of found: SourceClass, _ file: inout File) {
        for word in file.source.words("objcMembers") where found.header.contains(word.lowerBound) {
            file.remove((word.lowerBound - 1)..<word.upperBound)
        }
        for word in file.source.words("objc") where found.header.contains(word.lowerBound) {
            if word.upperBound < file.source.code.count,
                file.source.code[word.upperBound] == UInt8(ascii: "(")
            {
                file.leave(
                    word.lowerBound,
                    "the name in @objc(...) is that of the class in a file: override class func "
                        + "_realmObjectName()")
            } else {
                file.remove((word.lowerBound - 1)..<word.upperBound)
            }
        }
    }

    /// Tells of the rest of Objective-C in a class, and of initializers of an older form.
    private func leaveRest(of found: SourceClass, _ file: inout File) {
        for word in file.source.words("objc") where found.body.contains(word.lowerBound) {
            let at = (word.lowerBound - 1)..<word.upperBound
            let isDone = file.edits.contains { $0.range.overlaps(at) }
            if !isDone, !file.isLeft(word.lowerBound) {
                file.leave(word.lowerBound, "there is no @objc on Linux")
            }
        }
        for word in file.source.words("init") where found.body.contains(word.lowerBound) {
            let line = file.source.line(of: word.lowerBound)
            let range = file.source.range(ofLine: line)
            var tokens = SourceTokens(file.source.code, word.upperBound..<range.upperBound)
            guard tokens.take(UInt8(ascii: "(")), tokens.take(UInt8(ascii: ")")) else { continue }
            let before = SourceTokens(file.source.code, range).text(
                range.lowerBound..<word.lowerBound)
            let words = before.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.contains("override"), !words.contains("required") {
                file.leave(word.lowerBound, "write required init()")
            }
        }
    }

    // MARK: Properties

    /// Types of Foundation's for Objective-C, and what takes their place.
    private static let foreign = [
        "NSDate": "Date", "NSData": "Data", "NSString": "String", "NSNumber": "Int, Double or Bool",
        "NSArray": "List", "NSMutableArray": "List", "NSDictionary": "Map", "NSSet": "MutableSet",
        "CGFloat": "Double", "Array": "List", "Dictionary": "Map", "Set": "MutableSet",
    ]

    private mutating func rewrite(
        _ member: SourceMember, ignored: [String], _ file: inout File
    ) {
        guard member.attribute("Persisted") == nil else { return }
        let name = file.source.text(member.name)
        let value = file.source.value(of: member)
        let objc = member.attribute("objc"), dynamic = member.modifier("dynamic")
        let isStored = ["static", "class", "lazy", "weak", "unowned"].allSatisfy {
            member.modifier($0) == nil
        }
        if ignored.contains(name) {
            if objc?.hasArguments == false { file.remove(objc) }
            file.remove(dynamic)
            return
        }
        let isComputed = member.hasBlock && value.callee == nil
        if isStored, !isComputed, let kind = Kind(value, file.source) {
            return rewrite(member, name, value, kind, &file)
        }
        guard !member.isConstant, objc != nil || dynamic != nil else { return }
        guard dynamic != nil else {
            return file.leave(member.start, "'\(name)' is @objc and not dynamic: is it stored?")
        }
        if let reason = reasonToLeave(member, name, value, isStored: isStored, file.source) {
            return file.leave(member.start, reason)
        }
        file.insertPersisted(member)
    }

    private func reasonToLeave(
        _ member: SourceMember, _ name: String, _ value: SourceValue, isStored: Bool,
        _ source: SourceText
    ) -> String? {
        if !isStored { return "'\(name)' is static, lazy, weak or unowned" }
        if member.attribute("objc")?.hasArguments == true {
            return "'\(name)' has another name in @objc(...)"
        }
        if member.hasBlock {
            return "'\(name)' is computed, or a block makes or observes its value"
        }
        if source.declaresSeveral(member) { return "several properties in one line: part them" }
        var type = value.type.map { source.text($0) } ?? value.callee ?? ""
        while type.last == "?" || type.last == "!" { type.removeLast() }
        if type.first == "[" {
            return "'\(name)' is an array or a dictionary: it can be a List or a Map"
        }
        let plain = type.prefix { $0 != "<" }
        if let other = Self.foreign[String(plain)] {
            return "'\(name)' is of \(plain), which can't be stored: it can be of \(other)"
        }
        return nil
    }

    /// A constant that a class without `@Persisted` kept values in.
    private enum Kind {
        case box(type: String, value: String?)
        case collection(type: String)
        case links(from: String, property: String)
        /// One of these in a form that is not known.
        case unknown(String)

        init?(_ value: SourceValue, _ source: SourceText) {
            let said = value.type.map { source.text($0) }
            let saidName = said.map { String($0.prefix { $0 != "<" }) }
            let name = value.callee ?? saidName ?? ""
            var generics = value.generics.map { source.text($0) }
            if generics == nil, let said, let open = said.firstIndex(of: "<"), said.last == ">" {
                generics = String(said[said.index(after: open)...].dropLast())
            }
            let arguments = value.arguments.map { source.text($0).trimmed }
            switch name {
            case "RealmOptional", "RealmProperty":
                guard let generics, let arguments else {
                    self = .unknown(name)
                    return
                }
                let isOptional = name == "RealmOptional" && generics.last != "?"
                let isPlain = arguments.isEmpty || arguments == "nil"
                guard name == "RealmOptional" || isPlain, isPlain || arguments.isLiteral else {
                    self = .unknown(name)
                    return
                }
                self = .box(
                    type: isOptional ? generics + "?" : generics, value: isPlain ? nil : arguments)
            case "List", "MutableSet", "Map":
                let type = generics.map { "\(name)<\($0)>" }
                self =
                    arguments == ""
                    ? type.map { .collection(type: $0) } ?? .unknown(name)
                    : .unknown(name)
            case "LinkingObjects":
                let found = arguments.flatMap(Self.links)
                self = found.map { .links(from: $0.type, property: $0.property) } ?? .unknown(name)
            default: return nil
            }
        }

        /// `fromType: Person.self, property: "dogs"`, or with `#keyPath(Person.dogs)`.
        private static func links(_ arguments: String) -> (type: String, property: String)? {
            let parts = arguments.split(separator: ",").map { String($0).trimmed }
            guard parts.count == 2, parts[0].hasPrefix("fromType:"), parts[0].hasSuffix(".self"),
                parts[1].hasPrefix("property:")
            else { return nil }
            let type = String(parts[0].dropFirst(9).dropLast(5)).trimmed
            var property = String(parts[1].dropFirst(9)).trimmed
            if property.hasPrefix("#keyPath("), property.last == ")",
                let last = property.dropFirst(9).dropLast().split(separator: ".").last
            {
                property = "\"\(last)\""
            }
            return property.first == "\"" ? (type, property) : nil
        }
    }

    private mutating func rewrite(
        _ member: SourceMember, _ name: String, _ value: SourceValue, _ kind: Kind,
        _ file: inout File
    ) {
        if member.hasBlock || file.source.declaresSeveral(member)
            || file.source.line(of: member.start)
                != file.source.line(of: max(member.name.upperBound, member.rest.upperBound) - 1)
        {
            return file.leave(member.start, "'\(name)' is written in a form that is not known")
        }
        let declaration: String
        switch kind {
        case .unknown(let what):
            return file.leave(member.start, "'\(name)' is a \(what) in a form that is not known")
        case .box(let type, let value):
            boxes.insert(name)
            declaration = "var \(name): \(type)" + (value.map { " = \($0)" } ?? "")
        case .collection(let type): declaration = "var \(name): \(type)"
        case .links(let type, _): declaration = "var \(name): LinkingObjects<\(type)>"
        }
        file.edits.append(
            Edit(range: member.keyword.lowerBound..<member.rest.upperBound, text: declaration))
        if case .links(_, let property) = kind {
            file.insertPersisted(member, "(originProperty: \(property))")
        } else {
            file.insertPersisted(member)
        }
    }

    // MARK: Uses

    /// Rewrites the older words outside of the declarations.
    private func rewritingUses(in file: File) -> File {
        var file = file
        rewriteEnums(&file)
        rewriteBoxes(&file)
        if file.usesRealm {
            for word in file.source.words("NSPredicate") {
                file.leave(
                    word.lowerBound,
                    "there is no NSPredicate on Linux: give its text to the query, "
                        + "filter(\"age > %@\", 3)")
            }
        }
        for word in file.source.words("Realm") {
            let line = file.source.range(ofLine: file.source.line(of: word.lowerBound))
            var tokens = SourceTokens(file.source.code, line.lowerBound..<word.lowerBound)
            if let first = tokens.takeName(), tokens.text(first) == "import" {
                file.leave(word.lowerBound, "the module for Objective-C is not there")
            }
        }
        // Of two at one place the insertion comes first.
        file.edits.sort {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
        file.left.sort { ($0.line, $0.reason) < ($1.line, $1.reason) }
        return file
    }

    private func rewriteEnums(_ file: inout File) {
        for word in file.source.words("RealmEnum") {
            file.edits.append(Edit(range: word, text: "PersistableEnum"))
            let line = file.source.range(ofLine: file.source.line(of: word.lowerBound))
            for objc in file.source.words("objc") where line.contains(objc.lowerBound) {
                file.remove((objc.lowerBound - 1)..<objc.upperBound)
            }
        }
    }

    /// `dog.age.value` of a box, where nothing else has the name.
    private func rewriteBoxes(_ file: inout File) {
        guard !boxes.isEmpty else { return }
        let code = file.source.code
        for word in file.source.words("value") {
            let dot = word.lowerBound - 1
            guard dot > 0, code[dot] == UInt8(ascii: ".") else { continue }
            var start = dot
            while start > 0, SourceTokens.isOfName(code[start - 1]) { start -= 1 }
            let name = file.source.text(start..<dot)
            guard boxes.contains(name) else { continue }
            if start > 0, code[start - 1] == UInt8(ascii: "."), isOnlyBox(name) {
                file.edits.append(Edit(range: dot..<word.upperBound, text: ""))
            } else {
                file.leave(word.lowerBound, "'\(name)' was a box: does it need its '.value' here?")
            }
        }
    }

    /// Whether all variables with a name were boxes of models.
    private func isOnlyBox(_ name: String) -> Bool {
        files.allSatisfy { file in
            let declared = ["var", "let"].flatMap { keyword -> [Range<Int>] in
                file.source.words(keyword == "var" ? "var" : "let").compactMap { word in
                    var tokens = SourceTokens(
                        file.source.code, word.upperBound..<file.source.code.count)
                    return tokens.takeName().flatMap { tokens.text($0) == name ? word : nil }
                }
            }
            return declared.allSatisfy { word in
                file.edits.contains { $0.range.contains(word.lowerBound) && !$0.text.isEmpty }
            }
        }
    }
}

extension SourceRewrite.File {
    fileprivate mutating func leave(_ index: Int, _ reason: String) {
        let place = SourceRewrite.Left(line: source.line(of: index) + 1, reason: reason)
        if !left.contains(place) { left.append(place) }
    }

    fileprivate func isLeft(_ index: Int) -> Bool {
        left.contains { $0.line == source.line(of: index) + 1 }
    }

    fileprivate mutating func remove(_ word: SourceMember.Word?) {
        if let word { remove(word.range) }
    }

    /// Takes a word out with the blanks behind it, or with its line, if nothing else is there.
    fileprivate mutating func remove(_ range: Range<Int>) {
        let line = source.range(ofLine: source.line(of: range.lowerBound))
        var end = range.upperBound
        while end < line.upperBound, [0x20, 0x09].contains(source.bytes[end]) { end += 1 }
        var start = line.lowerBound
        while start < range.lowerBound, [0x20, 0x09].contains(source.bytes[start]) { start += 1 }
        if start == range.lowerBound, end == line.upperBound {
            let number = source.line(of: range.lowerBound)
            edits.append(
                SourceRewrite.Edit(
                    range: source.lineStarts[number]..<source.lineStarts[number + 1], text: ""))
        } else {
            edits.append(SourceRewrite.Edit(range: range.lowerBound..<end, text: ""))
        }
    }

    /// Marks a property as stored, and takes away what marked it before.
    fileprivate mutating func insertPersisted(_ member: SourceMember, _ arguments: String = "") {
        edits.append(
            SourceRewrite.Edit(
                range: member.start..<member.start, text: "@Persisted\(arguments) "))
        remove(member.attribute("objc"))
        remove(member.modifier("dynamic"))
    }

    /// The bytes with all edits made.
    var rewritten: [UInt8] {
        var result: [UInt8] = []
        var next = 0
        for edit in edits where edit.range.lowerBound >= next {
            result += source.bytes[next..<edit.range.lowerBound]
            result += edit.text.utf8
            next = edit.range.upperBound
        }
        return result + source.bytes[next...]
    }

    /// Each line as it was and as it becomes, both without its end; nil for one that goes.
    var lines: [(old: String, new: String?)] {
        var rest = edits[...]
        return (0..<source.lineCount).map { number in
            let whole = source.lineStarts[number]..<source.lineStarts[number + 1]
            let line = source.range(ofLine: number)
            let old = source.text(line)
            var new = "", next = line.lowerBound, isGone = false
            while let edit = rest.first, edit.range.lowerBound < whole.upperBound {
                rest.removeFirst()
                guard edit.range.lowerBound >= next else { continue }
                if edit.range == whole { isGone = true }
                new += source.text(next..<edit.range.lowerBound) + edit.text
                next = min(edit.range.upperBound, line.upperBound)
            }
            return (old, isGone ? nil : new + source.text(next..<max(next, line.upperBound)))
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        var bytes = utf8[...]
        while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether it is a number, `true`, `false` or a text without more.
    fileprivate var isLiteral: Bool {
        if self == "true" || self == "false" { return true }
        if first == "\"" {
            return count > 1 && last == "\"" && dropFirst().dropLast().allSatisfy { $0 != "\"" }
        }
        return Double(filter { $0 != "_" }) != nil
    }
}
#endif
