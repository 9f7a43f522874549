// Tests: Compiler.swift, CrossPairNode.swift, FarTestNode.swift, MixedNodes.swift, PairNode.swift,
// PredicateNode.swift, RowFilter.swift, RowPredicate.swift, TextNode.swift, ValueNode.swift,
// CollectionNodes.swift
import Testing
import ToftModel
import ToftTestKit

@testable import ToftQuery

/// Each node over three objects, one of which has nothing but nulls, in a cluster and one by one.
@Suite struct PredicateNodeTests {
    private let things: NodeDatabase

    init() throws { things = try NodeDatabase() }

    @Test func `FixedNode passes everything or nothing`() throws {
        try things.expect("TRUEPREDICATE", by: FixedNode.self, finds: [1, 2, 3])
        try things.expect("FALSEPREDICATE", by: FixedNode.self, finds: [])
    }

    @Test func `NotNode passes the rows that its part does not, null among them`() throws {
        try things.expect("NOT (number > 1 OR text == 'x')", by: NotNode.self, finds: [1, 3])
    }

    @Test func `AndNode passes the rows that all parts pass`() throws {
        try things.expect("number > 0 AND text == 'beta'", by: AndNode.self, finds: [2])
        try things.expect("number > 0 AND flag == null", by: AndNode.self, finds: [])
    }

    @Test func `OrNode passes the rows that any part passes, each once`() throws {
        try things.expect("number == 1 OR text == 'Alpha'", by: OrNode.self, finds: [1])
        try things.expect("number == 1 OR flag == null", by: OrNode.self, finds: [1, 3])
    }

    @Test func `TestNode compares one value of each row`() throws {
        try things.expect("ratio == 1.5", by: TestNode.self, finds: [1])
        try things.expect("flag == false", by: TestNode.self, finds: [2])
        try things.expect("moment == null", by: TestNode.self, finds: [3])
    }

    @Test func `IntRangeNode compares integers of the objects themselves`() throws {
        try things.expect("number > 1", by: IntRangeNode.self, finds: [2])
        try things.expect("number >= 1", by: IntRangeNode.self, finds: [1, 2])
        try things.expect("number == 9", by: IntRangeNode.self, finds: [])
    }

    @Test func `TextNode compares texts of the objects themselves`() throws {
        try things.expect("text == 'beta'", by: TextNode.self, finds: [2])
        try things.expect("text BEGINSWITH[c] 'a'", by: TextNode.self, finds: [1])
        try things.expect("text CONTAINS 'a'", by: TextNode.self, finds: [1, 2])
    }

    @Test func `PairNode compares two values of each row`() throws {
        try things.expect("number == other", by: PairNode.self, finds: [2, 3])
        try things.expect("number < other", by: PairNode.self, finds: [1])
        try things.expect("text ==[c] label", by: PairNode.self, finds: [2, 3])
    }

    @Test func `CollectionPairNode compares each element with a value of its row`() throws {
        try things.expect("ANY list == number", by: CollectionPairNode.self, finds: [1, 2])
        try things.expect("ALL list == number", by: CollectionPairNode.self, finds: [2, 3])
    }

    @Test func `CrossPairNode compares the elements of two collections`() throws {
        try things.expect("ANY list == ANY set", by: CrossPairNode.self, finds: [])
        try things.expect("ANY list < ANY set", by: CrossPairNode.self, finds: [1])
    }

    @Test func `CollectionTestNode tests elements with ANY, ALL and NONE`() throws {
        try things.expect("ANY list > 1", by: CollectionTestNode.self, finds: [1, 2])
        try things.expect("ALL list > 1", by: CollectionTestNode.self, finds: [2, 3])
        try things.expect("NONE list > 1", by: CollectionTestNode.self, finds: [3])
    }

    @Test func `WholeListNode compares a list element by element`() throws {
        try things.expect("list == {1, 2}", by: WholeListNode.self, finds: [1])
        try things.expect("list == {2, 1}", by: WholeListNode.self, finds: [])
    }

    @Test func `WholeSetNode compares a set in any order`() throws {
        try things.expect("set == {3, 4}", by: WholeSetNode.self, finds: [1])
        try things.expect("set == {4, 3}", by: WholeSetNode.self, finds: [1])
        try things.expect("set == {3}", by: WholeSetNode.self, finds: [])
    }

    @Test func `FarTestNode follows links that lead in a circle`() throws {
        try things.expect("ANY friends.friends.number == 1", by: FarTestNode.self, finds: [1])
        try things.expect(
            "ANY friends.friends.friends.friends.number == 5", by: FarTestNode.self, finds: [2])
        try things.expect(
            "NONE friends.friends.number == 1", by: FarTestNode.self, finds: [2, 3])
    }

    @Test func `RowFilter leaves out rows that have no object`() throws {
        let source = things.source()
        let batch = RowBatch(try source.reader(things.classID))
        batch.clear()
        for key in [1_000] + (try things.keys()) { batch.append(key, owner: 0) }
        _ = try batch.located()
        let filter = RowFilter(PredicateNode())
        #expect(try filter.count(in: batch) == 3)
        #expect(try !filter.rows(of: batch)[0])
    }
}

/// Nodes that give values, over the same objects.
@Suite struct ValueNodeTests {
    private let things: NodeDatabase

    init() throws { things = try NodeDatabase() }

    @Test func `PropertyNode reads a column`() throws {
        try things.expect(valueOf: "number == 1", by: PropertyNode.self, nulls: [3], [1, 5])
        try things.expect(valueOf: "text == 'a'", by: PropertyNode.self, nulls: [3])
        try things.expect(valueOf: "mixed == 'a'", by: PropertyNode.self, nulls: [3])
    }

    @Test func `LinkedNode reads behind a link, null behind none, round a circle`() throws {
        try things.expect(valueOf: "next.number == 1", by: LinkedNode.self, nulls: [3], [5, 1])
        try things.expect(
            valueOf: "next.next.next.number == 1", by: LinkedNode.self, nulls: [3], [5, 1])
    }

    @Test func `ArithmeticNode computes, null with null and beyond the range`() throws {
        try things.expect(
            valueOf: "number + other == 1", by: ArithmeticNode.self, nulls: [3], [3, 10])
        try things.expect(
            valueOf: "other - number == 1", by: ArithmeticNode.self, nulls: [3], [1, 0])
        try things.expect(
            valueOf: "number * 9223372036854775807 == 1", by: ArithmeticNode.self, nulls: [2, 3],
            [0x1p63])
        try things.expect(
            valueOf: "other / (number - 1) == 1", by: ArithmeticNode.self, nulls: [1, 3], [1])
    }

    @Test func `CountNode counts lists, links and what links here`() throws {
        try things.expect(valueOf: "list.@count == 1", by: CountNode.self, nulls: [], [2, 1, 0])
        try things.expect(valueOf: "friends.@count == 1", by: CountNode.self, nulls: [], [2, 1, 1])
        try things.expect(valueOf: "before.@count == 1", by: CountNode.self, nulls: [], [1, 1, 0])
    }

    @Test func `AggregateNode gives one value of a collection`() throws {
        try things.expect(valueOf: "list.@sum == 1", by: AggregateNode.self, nulls: [], [3, 5, 0])
        try things.expect(valueOf: "list.@max == 1", by: AggregateNode.self, nulls: [3], [2, 5])
        try things.expect(
            valueOf: "friends.@min.number == 1", by: AggregateNode.self, nulls: [3], [5, 1])
    }

    @Test func `LengthNode gives the bytes of texts`() throws {
        try things.expect(valueOf: "text.@size == 1", by: LengthNode.self, nulls: [3], [5, 4])
    }

    @Test func `MixedSizeNode gives the size of mixed values that have one`() throws {
        try things.expect(valueOf: "mixed.@size == 1", by: MixedSizeNode.self, nulls: [2, 3], [3])
    }

    @Test func `TypeNameNode gives a type to null too`() throws {
        try things.expect(valueOf: "mixed.@type == 'int'", by: TypeNameNode.self, nulls: [])
        try things.expect("mixed.@type == 'null'", by: TestNode.self, finds: [3])
    }

    @Test func `SubqueryNode counts the objects of a collection that pass`() throws {
        try things.expect(
            valueOf: "SUBQUERY(friends, $x, $x.number > 1).@count == 1", by: SubqueryNode.self,
            nulls: [], [1, 0, 0])
    }
}

/// Tests of single values, over the same objects.
@Suite struct RowPredicateTests {
    private let things: NodeDatabase

    init() throws { things = try NodeDatabase() }

    @Test func `NullTest passes null, or everything else`() throws {
        try things.expect(testOf: "number == null", by: NullTest.self, passes: [3])
        try things.expect(testOf: "number != null", by: NullTest.self, passes: [1, 2])
    }

    @Test func `BoolTest passes one value; inverted, null too`() throws {
        try things.expect(testOf: "flag == true", by: BoolTest.self, passes: [1])
        try things.expect(testOf: "flag != true", by: BoolTest.self, passes: [2, 3])
    }

    @Test func `IntRangeTest passes a range; inverted, null too`() throws {
        try things.expect(testOf: "number >= 5", by: IntRangeTest.self, passes: [2])
        try things.expect(testOf: "number != 5", by: IntRangeTest.self, passes: [1, 3])
    }

    @Test func `IntSetTest passes members`() throws {
        try things.expect(testOf: "number IN {5, 7, 9, 11, 13}", by: IntSetTest.self, passes: [2])
    }

    @Test func `DoubleRangeTest leaves NaN out of every range`() throws {
        try things.expect(testOf: "ratio > 1", by: DoubleRangeTest.self, passes: [1])
        try things.expect(testOf: "ratio < 9", by: DoubleRangeTest.self, passes: [1])
        try things.expect(testOf: "ratio != 1.5", by: DoubleRangeTest.self, passes: [2, 3])
    }

    @Test func `DateRangeTest compares seconds, then nanoseconds`() throws {
        try things.expect(testOf: "moment < T10:6", by: DateRangeTest.self, passes: [1])
        try things.expect(testOf: "moment > T10:5", by: DateRangeTest.self, passes: [2])
    }

    @Test func `FixedRangeTest compares uuids`() throws {
        try things.expect(
            testOf: "mark == uuid(01010101-0101-0101-0101-010101010101)", by: FixedRangeTest.self,
            passes: [1])
    }

    @Test func `DecimalRangeTest compares decimals by value`() throws {
        try things.expect(testOf: "price == 1.5", by: DecimalRangeTest.self, passes: [1])
        try things.expect(testOf: "price >= 1.5", by: DecimalRangeTest.self, passes: [1, 2])
    }

    @Test func `TextRowTest and TextSetTest compare texts`() throws {
        try things.expect(testOf: "text ENDSWITH 'a'", by: TextRowTest.self, passes: [1, 2])
        try things.expect(
            testOf: "text IN {'beta', 'x', 'y', 'z', 'w'}", by: TextSetTest.self, passes: [2])
    }

    @Test func `MixedRowTest compares values of one kind`() throws {
        try things.expect(testOf: "mixed == 7", by: MixedRowTest.self, passes: [2])
        try things.expect(testOf: "mixed > 'a'", by: MixedRowTest.self, passes: [1])
        try things.expect(testOf: "mixed != 7", by: MixedRowTest.self, passes: [1, 3])
    }
}
