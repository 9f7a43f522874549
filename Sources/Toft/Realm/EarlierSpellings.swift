public import Foundation

// Spellings of apps for Apple's systems and of classes without `@Persisted`: the compiler says the
// present one.

extension RealmCollection {
    /// Linux has no predicates in text.
    @available(
        *, unavailable,
        message:
            "Give the text to the query: filter(\"age > %@\", 3); or write where { $0.age > 3 }"
    )
    public func filter(_ predicate: NSPredicate) -> Results<Element> { filter("TRUEPREDICATE") }

    /// Linux has no predicates in text.
    @available(
        *, unavailable,
        message: "Give the text to the call: index(matching: \"age > %@\", 3)"
    )
    public func index(matching predicate: NSPredicate) -> Int? { nil }
}
