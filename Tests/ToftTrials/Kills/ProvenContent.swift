internal import ToftStorage
internal import ToftTestKit

/// Random content whose every version contains its own expected hash, computed from a model and not
/// from the file: a process that was killed leaves enough to judge its work.
enum ProvenContent {
    /// A tree beside the content that holds its hash.
    private static let proof: TreeID = 17
    private static let key = Array("hash".utf8)
    /// Bytes beyond which everything is dropped, so that each look remains short.
    private static let byteLimit = 200_000

    /// The content of a version.
    ///
    /// - Throws: `Failure` if that is not the content that its writer meant to leave.
    static func read(_ snapshot: Snapshot) throws -> Content {
        let content = try Content(snapshot)
        guard try snapshot.hasTree(Content.directory) else { return content }
        let stored = try key.withUnsafeBytes { key throws in
            try snapshot.orderedTree(proof).value(forKey: key)?.loadUnaligned(as: UInt64.self)
        }
        guard stored == hash(content.canonical()) else {
            throw Failure(
                "random commit \(try Content.commitNumber(snapshot)) does not hold what was written"
            )
        }
        return content
    }

    /// Judges the present content and edits it. Returns the number of the commit that is to follow.
    static func edit(_ transaction: WriteTransaction, _ numbers: inout Seed) throws -> UInt64 {
        let content = try read(transaction.view)
        let number = try UInt64(Content.commitNumber(transaction.view)) + 1
        var editor = RecordedDatabase.Editor(transaction: transaction, content: content)
        if content.trees.isEmpty {
            let ids = [try editor.makeTree(), try transaction.createOrderedTree()]
            guard ids == [Content.directory, proof] else { throw Failure("unexpected ids \(ids)") }
        }
        if content.canonical().count > byteLimit { try empty(&editor) }
        var edits = RandomEdits(seed: numbers.next())
        try edits.edits(&editor)
        try editor.put(
            Content.directory, Content.commitKey, withUnsafeBytes(of: number) { Array($0) })
        try key.withUnsafeBytes { key throws in
            try withUnsafeBytes(of: hash(editor.content.canonical())) { value throws in
                try transaction.treePut(proof, key, value, derived: false)
            }
        }
        return number
    }

    private static func empty(_ editor: inout RecordedDatabase.Editor) throws {
        for id in editor.content.tables.keys.sorted() { try editor.dropTable(id) }
        for id in editor.content.trees.keys.sorted() where id != Content.directory {
            try editor.dropTree(id)
        }
    }

    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        var digest = Digest()
        bytes.withUnsafeBytes { digest.add($0) }
        return digest.value
    }
}
