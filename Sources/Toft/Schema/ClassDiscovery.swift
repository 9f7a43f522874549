internal import Synchronization

/// Finds the subclasses of `Object` and `EmbeddedObject` in the program and its libraries, without
/// the app naming them.
///
/// The Swift compiler leaves a record of every type in its image. We read the records of classes
/// alone, follow their superclass references to those two, and instantiate only the classes that
/// lead there: the other thousands cost a few loads each. Generic classes and classes within
/// generic types have no single type and are left out.
enum ClassDiscovery {
    /// Every subclass of the two, in no particular order. Looks again when libraries have been
    /// loaded since.
    static func objectTypes() -> [ObjectBase.Type] {
        let images = TypeRecords.images()
        return cache.withLock { cache in
            if cache.imageCount != images.count {
                cache = Cache(imageCount: images.count, types: find(in: images))
            }
            return cache.types
        }
    }

    /// The name of the class that a class is declared in; nil if it is at the top level.
    static func nameOfClass(around type: AnyClass) -> String? {
        TypeDescriptor.of(type)?.outer?.name
    }

    private struct Cache {
        var imageCount = 0
        var types: [ObjectBase.Type] = []
    }

    private static let cache = Mutex(Cache())

    private static func find(in images: [TypeRecords]) -> [ObjectBase.Type] {
        var children: [UnsafeRawPointer: [TypeDescriptor]] = [:]
        for descriptor in images.joined() {
            if let parent = descriptor.superclass {
                children[parent.address, default: []].append(descriptor)
            }
        }
        var types: [ObjectBase.Type] = []
        let roots = [Object.self, EmbeddedObject.self].compactMap { TypeDescriptor.of($0) }
        var waiting = roots.flatMap { children[$0.address] ?? [] }
        while let descriptor = waiting.popLast() {
            waiting += children[descriptor.address] ?? []
            if !descriptor.isGeneric, let type = descriptor.makeType() as? ObjectBase.Type {
                types.append(type)
            }
        }
        return types
    }
}

/// The type records of one image: relative references to descriptors.
private struct TypeRecords: Sequence {
    let start: UnsafeRawPointer
    let count: Int

    /// Of every image that is loaded.
    static func images() -> [TypeRecords] {
        var images: [TypeRecords] = []
        withUnsafeMutablePointer(to: &images) { images in
            enumerateMetadataSections(
                { sections, context in
                    let images = context.assumingMemoryBound(to: [TypeRecords].self)
                    if let records = TypeRecords(sections) { images.pointee.append(records) }
                    return true
                }, images)
        }
        return images
    }

    /// The sections begin with version, base and two reserved words; the ranges (start, length)
    /// follow: protocols, conformances, types...
    private init?(_ sections: UnsafeRawPointer) {
        let words = sections.assumingMemoryBound(to: UInt.self)
        guard let start = UnsafeRawPointer(bitPattern: words[8]) else { return nil }
        self.start = start
        count = Int(words[9]) / MemoryLayout<Int32>.size
    }

    func makeIterator() -> AnyIterator<TypeDescriptor> {
        var index = 0
        return AnyIterator {
            while index < count {
                defer { index += 1 }
                let record = start + index * MemoryLayout<Int32>.size
                if let descriptor = TypeDescriptor(record: record) { return descriptor }
            }
            return nil
        }
    }
}

/// The descriptor of a class, as the compiler lays it out: flags, parent, name, accessor, fields,
/// superclass, four bytes each.
private struct TypeDescriptor {
    let address: UnsafeRawPointer

    private enum Offset {
        static let parent = 4
        static let name = 8
        static let accessor = 12
        static let superclass = 20
    }

    private static let kindMask: UInt32 = 0x1F
    private static let anonymousKind: UInt32 = 2
    private static let classKind: UInt32 = 16
    private static let genericFlag: UInt32 = 0x80

    /// The low bits of a record are the kind of its reference: 0 the descriptor itself, 1 a pointer
    /// to it; others are for Objective-C.
    init?(record: UnsafeRawPointer) {
        let relative = record.load(as: Int32.self)
        let target = record + Int(relative & ~3)
        switch relative & 3 {
        case 0: self.init(target)
        case 1: self.init(target.load(as: UnsafeRawPointer?.self))
        default: return nil
        }
    }

    private init?(_ address: UnsafeRawPointer?) {
        guard let address, address.load(as: UInt32.self) & Self.kindMask == Self.classKind else {
            return nil
        }
        self.address = address
    }

    /// The descriptor of a known type: a class's metadata refers to it.
    static func of(_ type: AnyClass) -> TypeDescriptor? {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        return TypeDescriptor(
            metadata.load(fromByteOffset: descriptorOffset, as: UnsafeRawPointer?.self))
    }

    /// In a class's metadata without Objective-C: kind, superclass, flags, instance address point,
    /// size, alignment..., then the descriptor.
    private static let descriptorOffset = 40

    var isGeneric: Bool { address.load(as: UInt32.self) & Self.genericFlag != 0 }

    /// The superclass's descriptor: its mangled name begins with a symbolic reference, direct (1)
    /// or through a pointer (2).
    var superclass: TypeDescriptor? {
        let field = address + Offset.superclass
        let relative = field.load(as: Int32.self)
        guard relative != 0 else { return nil }
        let name = field + Int(relative)
        let reference = name + 1
        let target = reference + Int(reference.loadUnaligned(as: Int32.self))
        switch name.load(as: UInt8.self) {
        case 1: return TypeDescriptor(target)
        case 2: return TypeDescriptor(target.load(as: UnsafeRawPointer?.self))
        default: return nil
        }
    }

    /// The name of the class alone.
    var name: String {
        let field = address + Offset.name
        let text = field + Int(field.load(as: Int32.self))
        return String(cString: text.assumingMemoryBound(to: CChar.self))
    }

    /// The class that this one is declared in; nil if it is at the top level.
    var outer: TypeDescriptor? {
        var context = Self.parent(of: address)
        // A private declaration has a context of its own.
        if let found = context, found.load(as: UInt32.self) & Self.kindMask == Self.anonymousKind {
            context = Self.parent(of: found)
        }
        return TypeDescriptor(context)
    }

    /// The parent of a context: a relative pointer, to a pointer if the lowest bit is set.
    private static func parent(of context: UnsafeRawPointer) -> UnsafeRawPointer? {
        let field = context + Offset.parent
        let relative = field.load(as: Int32.self)
        guard relative != 0 else { return nil }
        let target = field + Int(relative & ~1)
        return relative & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)
    }

    /// Brings the type to life through its accessor function.
    func makeType() -> AnyClass? {
        typealias Accessor = @convention(c) (Int) -> UnsafeRawPointer?
        let field = address + Offset.accessor
        let relative = field.load(as: Int32.self)
        guard relative != 0 else { return nil }
        let accessor = unsafeBitCast(field + Int(relative), to: Accessor.self)
        return accessor(0).map { unsafeBitCast($0, to: AnyClass.self) }
    }
}

@_silgen_name("swift_enumerateAllMetadataSections")
private func enumerateMetadataSections(
    _ body: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Bool,
    _ context: UnsafeMutableRawPointer)
