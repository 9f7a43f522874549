// Tests: SchemaValidation.swift, NameIndex.swift
import Testing
@testable import ToftModel

@Suite struct SchemaValidationTests {
    /// The problems found by validation, one line each.
    func problems(_ classes: ClassSchema...) -> [String] {
        Schema(classes).problems().map(\.description)
    }

    @Test func `A schema of every kind of property is valid`() {
        let scalars: [PropertyType] = [.bool, .int, .float, .double, .string, .data, .date]
        var properties = scalars.map { PropertySchema("\($0)", $0) }
        properties += scalars.map { PropertySchema("optional_\($0)", $0, isOptional: true) }
        properties += scalars.map { PropertySchema("list_\($0)", $0, collection: .list) }
        properties += scalars.map {
            PropertySchema("optionalList_\($0)", $0, collection: .list, isOptional: true)
        }
        properties += [
            PropertySchema("id", .int, isOptional: true, isPrimaryKey: true),
            .link("friend", to: "All"), .links("friends", to: "All"),
            .linkingObjects("friendOf", from: "All", "friend"),
            .linkingObjects("amongFriendsOf", from: "All", "friends"),
        ]
        properties += [PropertyType.bool, .int, .string, .date].map {
            PropertySchema("indexed_\($0)", $0, isIndexed: true)
        }
        #expect(problems(ClassSchema("All", properties)) == [])
    }

    @Test func `Every problem is reported at once with its class and property`() {
        let found = problems(
            ClassSchema(
                "Dog",
                [PropertySchema("owner", .link, target: "Person"), PropertySchema("", .int)]),
            ClassSchema(
                "Dog",
                [PropertySchema("age", .double, isPrimaryKey: true), PropertySchema("age", .int)]))
        #expect(
            found == [
                "class 'Dog' is declared twice",
                "property 'Dog.owner' has the target class 'Person', which the schema does not "
                    + "have",
                "property 'Dog.owner' is a to-one link and must be optional",
                "property 'Dog.' has an empty name",
                "property 'Dog.age' is declared twice",
                "property 'Dog.age' is of type double and can't be the primary key; int, "
                    + "string, objectId and uuid can",
            ])
    }

    @Test func `Names that differ only in case or in unicode spelling are different names`() {
        #expect(problems(ClassSchema("Dog"), ClassSchema("dog")) == [])
        #expect(
            problems(
                ClassSchema(
                    "A", [PropertySchema("caf\u{E9}", .int), PropertySchema("cafe\u{301}", .int)]))
                == [])
    }

    @Test func `A name may fill its limit and not one byte more`() {
        let longest = String(repeating: "é", count: 28) + "x",
            property = String(repeating: "é", count: 31) + "x"
        #expect(longest.utf8.count == 57 && property.utf8.count == 63)
        #expect(problems(ClassSchema(longest, [PropertySchema(property, .int)])) == [])
        let found = problems(ClassSchema(longest + "x", [PropertySchema(property + "x", .int)]))
        #expect(found.count == 2)
        #expect(found.first?.hasSuffix("has a name that is 58 bytes long; the limit is 57") == true)
        #expect(found.last?.hasSuffix("has a name that is 64 bytes long; the limit is 63") == true)
    }

    @Test(arguments: [
        ("@count", "begins with '@'"), ("$0", "begins with '$'"), ("__1", "is '__' and a number"),
        ("9a", "begins with '9'"), ("-a", "begins with '-'"),
        (" a", "begins or ends with a space"), ("a ", "begins or ends with a space"),
        ("a\tb", "contains U+9"), ("a.b", "contains '.'"), ("a\u{0}b", "contains U+0"),
        ("a\nb", "contains U+A"), ("a[0]", "contains '['"),
    ])
    func `A name that queries could not spell is refused`(name: String, reason: String) {
        let asClass = problems(ClassSchema(name)),
            asProperty = problems(ClassSchema("A", [PropertySchema(name, .int)]))
        let asStored = problems(ClassSchema("A", [PropertySchema("a", .int, persistedName: name)]))
        #expect(asClass.count == 1 && asProperty.count == 1 && asStored.count == 1)
        #expect(asClass.first?.contains(reason) == true)
        #expect(asProperty.first?.contains(reason) == true)
        #expect(asStored.first?.contains(reason) == true)
    }

    @Test func `A name may have spaces within`() {
        #expect(problems(ClassSchema("My Dog", [PropertySchema("first  name", .int)])) == [])
    }

    @Test func `A name may begin with two underlines, unless only a number follows`() {
        for name in ["__v", "__", "__1a", "__\u{661}"] {
            #expect(problems(ClassSchema(name, [PropertySchema(name, .int)])) == [])
        }
        #expect(problems(ClassSchema("__12", [PropertySchema("__0", .int)])).count == 2)
    }

    @Test func `Two properties may not share a stored name`() {
        let found = problems(
            ClassSchema(
                "A", [PropertySchema("a", .int), PropertySchema("b", .int, persistedName: "a")]))
        #expect(found == ["property 'A.a' is the stored name of two properties"])
    }

    @Test func `Primary keys are one int or string and no list`() {
        let key = { (type: PropertyType, collection: CollectionKind) in
            self.problems(
                ClassSchema(
                    "A", [PropertySchema("id", type, collection: collection, isPrimaryKey: true)]))
        }
        #expect(key(.int, .none) == [] && key(.string, .none) == [])
        for type in [PropertyType.bool, .float, .double, .data, .date] {
            #expect(key(type, .none).count == 1)
        }
        #expect(key(.int, .list) == ["property 'A.id' is a list and can't be the primary key"])
        let several = problems(
            ClassSchema(
                "A",
                [
                    PropertySchema("a", .int, isPrimaryKey: true),
                    PropertySchema("b", .string, isPrimaryKey: true),
                ]))
        #expect(several == ["class 'A' has several primary keys: 'a', 'b'"])
    }

    @Test func `Indexes are of int bool string and date and of no list`() {
        for type in [PropertyType.float, .double, .data] {
            #expect(
                problems(ClassSchema("A", [PropertySchema("a", type, isIndexed: true)])).count == 1)
        }
        #expect(
            problems(
                ClassSchema("A", [PropertySchema("a", .int, collection: .list, isIndexed: true)])
            ).count == 1)
        #expect(
            problems(
                ClassSchema(
                    "A",
                    [PropertySchema("a", .link, isOptional: true, isIndexed: true, target: "A")])
            ).count == 1)
    }

    @Test func `Links name a target and only links do`() {
        #expect(
            problems(ClassSchema("A", [PropertySchema("a", .link, isOptional: true)])) == [
                "property 'A.a' names no target class"
            ])
        #expect(
            problems(ClassSchema("A", [PropertySchema("a", .int, target: "A")])) == [
                "property 'A.a' is of type int and has no target class"
            ])
        #expect(
            problems(
                ClassSchema(
                    "A",
                    [PropertySchema("a", .link, collection: .list, isOptional: true, target: "A")]))
                == ["property 'A.a' is a list of links, whose elements can't be optional"])
    }

    @Test func `An inverse link needs a link to its own class`() {
        let person = ClassSchema(
            "Person", [.links("dogs", to: "Dog"), PropertySchema("age", .int)])
        #expect(
            problems(
                person, ClassSchema("Dog", [.linkingObjects("owners", from: "Person", "dogs")]))
                == [])
        #expect(
            problems(
                person, ClassSchema("Dog", [.linkingObjects("owners", from: "Person", "cats")]))
                == [
                    "property 'Dog.owners' is the inverse of 'Person.cats', which the schema does "
                        + "not have"
                ])
        #expect(
            problems(person, ClassSchema("Dog", [.linkingObjects("owners", from: "Person", "age")]))
                == ["property 'Dog.owners' is the inverse of 'Person.age', which is not a link"])
        #expect(
            problems(
                person, ClassSchema("Dog"),
                ClassSchema("Cat", [.linkingObjects("owners", from: "Person", "dogs")]))
                == ["property 'Cat.owners' is the inverse of 'Person.dogs', which links to 'Dog'"])
        #expect(
            problems(
                person,
                ClassSchema("Dog", [PropertySchema("owners", .linkingObjects, target: "Person")]))
                == ["property 'Dog.owners' is an inverse link and names no origin property"])
    }
}
