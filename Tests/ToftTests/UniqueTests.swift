// Tests: UniqueConstraint.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

class Member: Object {
    @Persisted var email: String?
    @Persisted var street = ""
    @Persisted var number: Int?

    convenience init(_ email: String?, _ street: String = "", _ number: Int? = nil) {
        self.init()
        self.email = email
        self.street = street
        self.number = number
    }

    override class func uniqueProperties() -> [[String]] { [["email"], ["street", "number"]] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Unique properties")
struct UniquePropertyTests {
    @Test
    func `A commit with two of the same throws and is cancelled, a swap is none`() throws {
        try TestRealm.with([Member.self]) { realm in
            let ann = Member("ann", "s", 1), bob = Member("bob", "s", 2)
            try realm.write {
                realm.add([ann, bob, Member(nil, "s"), Member(nil, "s")])
            }
            for (member, words) in [
                (Member("ann"), "email = 'ann'"), (Member(nil, "s", 2), "street = 's' and number"),
            ] {
                #expect {
                    try realm.write { realm.add(member) }
                } throws: {
                    ($0 as? Realm.Error)?.code == .duplicateValue && "\($0)".contains(words)
                }
                #expect(!realm.isInWriteTransaction && realm.objects(Member.self).count == 4)
            }
            try realm.write { (ann.email, bob.email) = (bob.email, ann.email) }
            #expect(ann.email == "bob" && bob.email == "ann")
        }
    }
}
