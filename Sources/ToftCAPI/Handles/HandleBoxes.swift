internal import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform

/// Guards the boxes of frozen realms, which threads share.
private let frozenLock = ProcessWide { () }

/// Runs a change of a box of a session.
private func guarding<Result>(_ session: Session, _ body: () -> Result) -> Result {
    session.isFrozen ? frozenLock.withLock { _ in body() } : body()
}

/// The object behind a `toft_realm *`.
final class RealmBox {
    let session: Session
    /// `session` without a reference count, for calls that only read it.
    let lentSession: Unmanaged<Session>
    /// Names that C points to, by class and property.
    private var names: [PropertyName: CString] = [:]

    private struct PropertyName: Hashable {
        let classID: ClassID
        let property: PropertyID
    }

    init(_ session: Session) {
        self.session = session
        lentSession = .passUnretained(session)
    }

    /// A name for C, valid until this realm's end. Property 0 is the class.
    func name(_ name: String, classID: ClassID, property: PropertyID = 0) -> CString {
        let key = PropertyName(classID: classID, property: property)
        return guarding(session) {
            if let text = names[key] { return text }
            let text = CString(name)
            names[key] = text
            return text
        }
    }
}

/// The object behind a `toft_object *`.
final class ObjectBox {
    let object: ObjectHandle

    init(_ object: ObjectHandle) {
        self.object = object
    }
}

/// The object behind a `toft_list *`, `toft_set *` or `toft_dictionary *`.
final class CollectionBox {
    let collection: CollectionHandle

    init(_ collection: CollectionHandle) {
        self.collection = collection
    }
}

/// The object behind a `toft_results *`.
final class ResultsBox {
    let results: Results
    /// Texts that C may still point to: elements of results that are not in the file.
    private var kept: [ForeignBytes] = []

    init(_ results: Results) {
        self.results = results
    }

    /// An element as C sees it.
    func valueInC(at index: Int) throws(EngineError) -> toft_value {
        inC(try results.value(at: index))
    }

    /// A value as C sees it; it stays as long as the results.
    func inC(_ value: Value) -> toft_value {
        guarding(results.session) { toft_value(value, keeping: &kept) }
    }
}

/// The object of a handle, and the owner of handles made from it.
struct ResolvedHandle<Box: AnyObject> {
    let box: Box
    let owner: HandleOwner

    init(_ handle: OpaquePointer?, _ kind: HandleKind) throws(EngineError) {
        let target = try HandleTable.shared.look(handle, kind)
        guard let owner = target.owner else { throw .invalidHandle(kind) }
        // The kind is part of the handle's bits, and each kind has one class.
        box = unsafeDowncast(target.object, to: Box.self)
        self.owner = owner
    }

    /// A further handle of the same.
    func clone(_ kind: HandleKind) throws(EngineError) -> OpaquePointer? { try make(kind, box) }

    func handle(_ object: ObjectHandle?) throws(EngineError) -> OpaquePointer? {
        guard let object else { return nil }
        return try make(.object, ObjectBox(object))
    }

    func handle(_ collection: CollectionHandle?, _ kind: HandleKind) throws(EngineError)
        -> OpaquePointer?
    {
        guard let collection else { return nil }
        return try make(kind, CollectionBox(collection))
    }

    func handle(_ results: Results) throws(EngineError) -> OpaquePointer? {
        try make(.results, ResultsBox(results))
    }

    private func make(_ kind: HandleKind, _ object: AnyObject) throws(EngineError) -> OpaquePointer?
    {
        owner.emptyIfNeeded()
        return try HandleTable.shared.make(kind, object, owner: owner)
    }
}

extension ResolvedHandle where Box == RealmBox {
    /// For entry points that move the realm or need only it. It also ends the objects that other
    /// threads have released.
    init(realm: OpaquePointer?) throws(EngineError) {
        try self.init(realm, .realm)
        owner.emptyIfNeeded()
    }

    var session: Session { box.session }
}

extension ResolvedHandle where Box == ObjectBox {
    init(object: OpaquePointer?) throws(EngineError) { try self.init(object, .object) }

    var object: ObjectHandle { box.object }
}

extension ResolvedHandle where Box == CollectionBox {
    init(list: OpaquePointer?) throws(EngineError) { try self.init(list, .list) }

    var collection: CollectionHandle { box.collection }
}

extension ResolvedHandle where Box == ResultsBox {
    init(results: OpaquePointer?) throws(EngineError) { try self.init(results, .results) }

    var results: Results { box.results }
}
