# Tests: Argument.swift, CString.swift, CreateObjects.swift, Values.swift
"""Objects that are created by columns, in each layout that the header has."""

import array
import ctypes
import itertools
import unittest
import uuid

from calls import (
    Date,
    Decimal,
    E,
    Float,
    Link,
    ObjectId,
    S,
    check,
    get,
    last_error,
    open_realm,
    property_schema,
    python,
    sized,
    status,
    status_name,
    text,
    values,
)

NULLABLE = E.TOFT_PROPERTY_NULLABLE
CLASSES = {
    "Thing": [
        property_schema("id", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_PRIMARY_KEY),
        property_schema("flag", E.TOFT_TYPE_BOOL, NULLABLE),
        property_schema("count", E.TOFT_TYPE_INT, NULLABLE),
        property_schema("ratio", E.TOFT_TYPE_FLOAT, NULLABLE),
        property_schema("score", E.TOFT_TYPE_DOUBLE, NULLABLE),
        property_schema("title", E.TOFT_TYPE_STRING, NULLABLE),
        property_schema("picture", E.TOFT_TYPE_DATA, NULLABLE),
        property_schema("day", E.TOFT_TYPE_DATE, NULLABLE),
        property_schema("code", E.TOFT_TYPE_UUID, NULLABLE),
        property_schema("token", E.TOFT_TYPE_OBJECT_ID, NULLABLE),
        property_schema("price", E.TOFT_TYPE_DECIMAL, NULLABLE),
        property_schema("other", E.TOFT_TYPE_LINK, NULLABLE, "Thing"),
        property_schema("must", E.TOFT_TYPE_STRING),
        property_schema("numbers", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_LIST),
    ],
}
_names = itertools.count()


def slices(things, code):
    """Offsets and bytes, as Arrow has them."""
    data = b"".join(things)
    ends = itertools.accumulate(map(len, things), initial=0)
    return array.array(code, ends), data


class ColumnTests(unittest.TestCase):
    def setUp(self):
        self.realm = open_realm(CLASSES, memory=f"columns-{next(_names)}")
        self.thing = get("toft_realm_find_class", self.realm, text("Thing"))
        self.kept = []
        check("toft_realm_begin_write", self.realm, None)

    def tearDown(self):
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_commit", self.realm, None, None)
        check("toft_realm_check", self.realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        check("toft_realm_release", self.realm)

    def key(self, name):
        return get("toft_realm_find_property", self.realm, self.thing, text(name))

    def address(self, memory):
        self.kept.append(memory)
        if isinstance(memory, array.array):
            return memory.buffer_info()[0]
        if isinstance(memory, bytes):
            memory = ctypes.create_string_buffer(memory, len(memory) + 1)
            self.kept.append(memory)
        return ctypes.addressof(memory)

    def column(self, name, element_size, memory, **members):
        members = {
            key: self.address(part)
            if isinstance(part, (array.array, bytes, ctypes.Array))
            else part
            for key, part in members.items()
        }
        for key in ("nulls", "validity"):
            if key in members:
                members[key] = ctypes.cast(members[key], ctypes.POINTER(ctypes.c_uint8))
        result = sized(S.toft_input_column, element_size=element_size, **members)
        result.property_key = self.key(name)
        result.values = None if memory is None else self.address(memory)
        return result

    def call(self, columns, count, policy=E.TOFT_UPDATE_ERROR):
        """The status, the keys and which are new."""
        given = (S.toft_input_column * max(1, len(columns)))(*columns)
        keys, created = (ctypes.c_int64 * (count + 1))(), (ctypes.c_uint8 * (count + 1))()
        keys[count], created[count] = 77, 77
        result = status(
            "toft_realm_create_objects",
            self.realm,
            self.thing,
            policy,
            given,
            len(columns),
            count,
            keys,
            created,
        )
        self.assertEqual((keys[count], created[count]), (77, 77), "nothing behind the room")
        if result != E.TOFT_OK:
            self.assertEqual((list(keys), list(created)), ([0] * count + [77], [0] * count + [77]))
        return result, list(keys)[:-1], list(created)[:-1]

    def create(self, columns, count, policy=E.TOFT_UPDATE_ERROR):
        result, keys, created = self.call(columns, count, policy)
        self.assertEqual(status_name(result), "TOFT_OK", last_error())
        return keys, created

    def ids(self, *ids):
        return self.column("id", 8, array.array("q", ids))

    def found(self, name):
        """A property of all things, in the order of their creation."""
        results = get("toft_realm_objects", self.realm, self.thing)
        found = []
        for index in range(get("toft_results_count", results)):
            thing = get("toft_results_object", results, index)
            found.append(get("toft_object_get", thing, self.key(name)))
            check("toft_object_release", thing)
        check("toft_results_release", results)
        return found

    def test_each_type_in_each_layout(self):
        words = ["", "Grüße", "x" * 300]
        numbers = [-(2**63), 0, 2**63 - 1]
        dates = [Date(-1, -999_999_000), Date(0, 0), Date(2**40, 5_000)]
        raw_dates = (S.toft_date * 3)(*(S.toft_date(*each) for each in dates))
        micros = array.array("q", [d.seconds * 1_000_000 + d.nanoseconds // 1_000 for d in dates])
        texts = (S.toft_string * 3)(*(self.kept_text(word) for word in words))
        datas = (S.toft_data * 3)(*(S.toft_data(each.data, each.size) for each in texts))
        codes = [uuid.UUID(int=0), uuid.UUID(int=2**127 + 1), uuid.UUID(int=2**128 - 1)]
        tokens = [ObjectId(12), ObjectId(range(12)), ObjectId(b"\xff" * 12)]
        prices = [Decimal(0, 6176 << 49), Decimal(2**64 - 1, 2**64 - 1), Decimal(150, 0x303C << 48)]
        raw_prices = (S.toft_decimal * 3)(*(S.toft_decimal(*each) for each in prices))
        encoded = [word.encode() for word in words]
        narrow, data = slices(encoded, "i")
        wide, _ = slices(encoded, "q")
        each_layout = (
            ("flag", 1, b"\0\1\xff", {}, [False, True, True]),
            ("count", 8, array.array("q", numbers), {}, numbers),
            ("ratio", 4, array.array("f", [0.0, -1.5, 2.0**100]), {}, [0.0, -1.5, 2.0**100]),
            ("score", 8, array.array("d", [0.0, -1.5, 1e300]), {}, [0.0, -1.5, 1e300]),
            ("title", 16, texts, {}, words),
            ("title", 1, data, {"offsets": narrow, "offset_size": 4}, words),
            ("title", 1, data, {"offsets": wide, "offset_size": 8}, words),
            ("picture", 16, datas, {}, encoded),
            ("picture", 1, data, {"offsets": narrow, "offset_size": 4}, encoded),
            ("day", 16, raw_dates, {}, dates),
            ("day", 8, micros, {}, dates),
            ("code", 16, b"".join(each.bytes for each in codes), {}, codes),
            ("token", 12, b"".join(tokens), {}, tokens),
            ("price", 16, raw_prices, {}, prices),
            ("price", 24, values([prices[1], None, prices[0]]), {}, [prices[1], None, prices[0]]),
            ("title", 24, values(words), {}, words),
            ("count", 24, values([1, None, 3]), {}, [1, None, 3]),
            ("ratio", 24, values([Float(1.5), None, Float(0)]), {}, [1.5, None, 0.0]),
        )
        expected = {name: [] for name, *_ in each_layout}
        for number, (name, size, memory, members, these) in enumerate(each_layout):
            if "offsets" in members:
                members["values_size"] = len(data)
            first = 3 * number
            with self.subTest(name, element_size=size, **{k: 0 for k in members}):
                keys, created = self.create(
                    [
                        self.ids(first, first + 1, first + 2),
                        self.column(name, size, memory, **members),
                    ],
                    3,
                )
                self.assertEqual((len(set(keys)), created), (3, [1] * 3))
            for other, so_far in expected.items():
                so_far += these if other == name else [None] * 3
        for name, all_of_them in expected.items():
            self.assertEqual(self.found(name), all_of_them, name)

    def kept_text(self, word):
        string = text(word)
        self.kept.append(string)
        return string

    def test_nulls_are_bytes_or_the_bits_of_arrow(self):
        count = 19
        there = [number % 3 != 0 for number in range(count)]
        numbers = array.array("q", range(count))
        wanted = [number if is_there else None for number, is_there in enumerate(there)]
        nulls = bytes(0 if is_there else 200 for is_there in there)
        self.create([self.ids(*range(count)), self.column("count", 8, numbers, nulls=nulls)], count)
        for offset in (0, 1, 7, 8, 9):
            bits = sum(is_there << (row + offset) for row, is_there in enumerate(there))
            bitmap = bits.to_bytes((count + offset + 7) // 8, "little")
            ids = range(100 * (offset + 1), 100 * (offset + 1) + count)
            self.create(
                [
                    self.ids(*ids),
                    self.column("count", 8, numbers, validity=bitmap, validity_offset=offset),
                ],
                count,
            )
        self.assertEqual(self.found("count"), wanted * 6)

    def test_links_and_lists(self):
        [first], _ = self.create([self.ids(1)], 1)
        numbers = values([[1, 2], []])
        links = self.column("other", 8, array.array("q", [first, 0]), nulls=b"\0\1")
        self.create([self.ids(2, 3), links, self.column("numbers", 24, numbers)], 2)
        self.assertEqual(self.found("other"), [None, Link(first, self.thing), None])
        results = get("toft_realm_objects", self.realm, self.thing)
        second = get("toft_results_object", results, 1)
        elements = get("toft_object_list", second, self.key("numbers"))
        room, count = (S.toft_value * 3)(), ctypes.c_size_t()
        check("toft_list_get_values", elements, 0, room, 3, ctypes.byref(count))
        self.assertEqual([python(each) for each in room[: count.value]], [1, 2])
        check("toft_list_release", elements)
        check("toft_object_release", second)
        check("toft_results_release", results)

    def test_a_row_that_fails_takes_the_others_along_and_is_named(self):
        self.create([self.ids(5)], 1)
        null = self.column("must", 24, values(["a", None, "c"]))
        broken_offsets, broken = slices([b"a", b"\xff", b"c"], "i")
        for columns, code, part in (
            ([self.ids(1, 5, 2)], "DUPLICATE_PRIMARY_KEY", "5"),
            ([self.ids(1, 1, 2)], "DUPLICATE_PRIMARY_KEY", "1"),
            ([self.ids(1, 2, 3), null], "NULL_NOT_ALLOWED", "must"),
            (
                [
                    self.ids(1, 2, 3),
                    self.column(
                        "must",
                        1,
                        broken,
                        offsets=broken_offsets,
                        offset_size=4,
                        values_size=3,
                    ),
                ],
                "INVALID_ARGUMENT",
                "UTF-8",
            ),
            (
                [self.ids(1, 2, 3), self.column("other", 8, array.array("q", [999] * 3))],
                "OBJECT_DELETED",
                "",
            ),
            ([self.column("count", 8, array.array("q", [1, 2, 3]))], "MISSING_PRIMARY_KEY", "id"),
        ):
            result, _, _ = self.call(columns, 3)
            _, message, _, number = last_error()
            with self.subTest(code, message=message):
                self.assertEqual(status_name(result), f"TOFT_ERROR_{code}")
                row = 0 if code in ("OBJECT_DELETED", "MISSING_PRIMARY_KEY") else 1
                self.assertEqual(number, row)
                self.assertRegex(message, rf"^Row {row}: .*{part}")
                self.assertEqual(self.found("id"), [5])

    def test_offsets_never_lead_out_of_the_bytes(self):
        for offsets, size, is_right in (
            ([0, 1, 3], 3, True),
            ([1, 1, 2], 3, True),
            ([0, 0, 0], 0, True),
            ([0, 1, 4], 3, False),
            ([0, 2, 1], 3, False),
            ([-1, 1, 2], 3, False),
            ([0, 1, 2**62], 3, False),
            ([0, 0, 1], 0, False),
        ):
            for code, width in (("i", 4), ("q", 8)):
                if max(offsets) >= 2**31 and width == 4:
                    continue
                column = self.column(
                    "title",
                    1,
                    b"abc" if size else None,
                    offsets=array.array(code, offsets),
                    offset_size=width,
                    values_size=size,
                )
                ids = self.ids(hash((*offsets, size, width)), 1)
                result, _, _ = self.call([ids, column], 2)
                expected = "TOFT_OK" if is_right else "TOFT_ERROR_INVALID_ARGUMENT"
                self.assertEqual(status_name(result), expected, (offsets, size))
                if is_right:
                    check("toft_realm_delete_all", self.realm, self.thing)

    def test_sizes_that_a_type_does_not_have_are_errors(self):
        right = {
            "flag": {1},
            "count": {8},
            "ratio": {4},
            "score": {8},
            "title": {16},
            "picture": {16},
            "day": {8, 16},
            "other": {8},
            "numbers": set(),
        }
        for name, sizes in right.items():
            for size in (0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 23, 24, 25, 2**32 - 1):
                column = self.column(name, size, bytes(32), nulls=b"\1")
                result, _, _ = self.call([self.ids(1), column], 0)
                expected = "OK" if size in sizes | {24} else "ERROR_INVALID_ARGUMENT"
                self.assertEqual(status_name(result), f"TOFT_{expected}", (name, size))
        offsets = array.array("q", [0, 0])
        for name, element_size, members in (
            ("title", 1, {"offsets": offsets, "offset_size": 3, "values_size": 1}),
            ("title", 1, {"offsets": offsets, "offset_size": 0, "values_size": 1}),
            ("title", 16, {"offsets": offsets, "offset_size": 8, "values_size": 1}),
            ("count", 1, {"offsets": offsets, "offset_size": 8, "values_size": 1}),
            ("title", 1, {"offsets": offsets, "offset_size": 8, "values_size": 2**64 - 1}),
            ("title", 16, {"values_size": 1}),
            ("title", 16, {"offset_size": 8}),
            ("count", 8, {"nulls": b"\0", "validity": b"\0"}),
            ("count", 8, {"validity": b"\0", "validity_offset": 2**64 - 1}),
        ):
            result, _, _ = self.call(
                [self.ids(1), self.column(name, element_size, bytes(32), **members)], 1
            )
            with self.subTest(name, element_size=element_size, members=list(members)):
                self.assertEqual(status_name(result), "TOFT_ERROR_INVALID_ARGUMENT")
        for name in ("count", "title"):
            result, _, _ = self.call([self.ids(1), self.column(name, 24, None)], 1)
            self.assertEqual(status_name(result), "TOFT_ERROR_INVALID_ARGUMENT")
        unknown = self.column("count", 8, array.array("q", [1]))
        unknown.property_key = 999
        result, _, _ = self.call([unknown], 0)
        self.assertEqual(status_name(result), "TOFT_ERROR_NO_SUCH_PROPERTY")
        self.assertEqual(self.found("id"), [])

    def test_rows_update_what_exists(self):
        self.create([self.ids(1, 2), self.column("count", 8, array.array("q", [10, 20]))], 2)
        for policy in (E.TOFT_UPDATE_ALL, E.TOFT_UPDATE_MODIFIED):
            counts = self.column("count", 8, array.array("q", [11, 30, 31]))
            keys, created = self.create([self.ids(1, 3 + policy, 3 + policy), counts], 3, policy)
            self.assertEqual((created, keys[1] == keys[2]), ([1 - 1, 1, 0], True))
        self.assertEqual(self.found("id"), [1, 2, 4, 5])
        self.assertEqual(self.found("count"), [11, 20, 31, 31])
        # A row that fails takes those before it along.
        result, _, _ = self.call(
            [self.ids(9, 1, 8), self.column("must", 24, values(["x", "y", None]))],
            3,
            E.TOFT_UPDATE_ALL,
        )
        self.assertEqual(status_name(result), "TOFT_ERROR_NULL_NOT_ALLOWED")
        self.assertEqual(self.found("id"), [1, 2, 4, 5])
        self.assertEqual(self.found("must")[0], "")

    def test_some_values_are_for_new_objects_alone(self):
        self.create([self.ids(1), self.column("count", 8, array.array("q", [10]))], 1)
        counts = self.column("count", 8, array.array("q", [20, 21, 22]))
        counts.flags = E.TOFT_INPUT_NEW_ONLY
        for policy in (E.TOFT_UPDATE_ALL, E.TOFT_UPDATE_MODIFIED):
            # A row may be of an object that a row before it has created.
            ids = self.ids(2 * policy, 1, 2 * policy)
            _, created = self.create([counts, ids], 3, policy)
            self.assertEqual(created, [1, 0, 0])
        self.assertEqual(self.found("id"), [1, 2, 4])
        self.assertEqual(self.found("count"), [10, 20, 20])
        self.create([self.ids(5, 6, 7), counts], 3)
        self.assertEqual(self.found("count"), [10, 20, 20, 20, 21, 22])
        counts.flags = 2
        result, _, _ = self.call([self.ids(8, 9, 10), counts], 3)
        self.assertEqual(status_name(result), "TOFT_ERROR_UNSUPPORTED")
        ids = self.ids(20, 21, 22)
        ids.flags = E.TOFT_INPUT_NEW_ONLY
        result, _, _ = self.call([ids], 3, E.TOFT_UPDATE_ALL)
        self.assertEqual(status_name(result), "TOFT_ERROR_MISSING_PRIMARY_KEY")

    def test_it_is_told_which_objects_there_are(self):
        self.create([self.ids(1, 3)], 2)
        found = (ctypes.c_uint8 * 4)(7, 7, 7, 7)
        keys = self.ids(3, 2, 1)
        check("toft_realm_find_objects", self.realm, self.thing, ctypes.byref(keys), 3, found)
        self.assertEqual(list(found), [1, 0, 1, 7])
        generic = self.column("id", 24, values([3, 4]))
        check("toft_realm_find_objects", self.realm, self.thing, ctypes.byref(generic), 2, found)
        self.assertEqual(list(found), [1, 0, 1, 7])
        check("toft_realm_find_objects", self.realm, self.thing, ctypes.byref(keys), 0, None)
        other = self.column("count", 8, array.array("q", [1]))
        for column, count, room, code in (
            (other, 1, found, "INVALID_ARGUMENT"),
            (keys, 3, None, "INVALID_ARGUMENT"),
            (self.column("id", 24, values(["x"])), 1, found, "TYPE_MISMATCH"),
        ):
            result = status(
                "toft_realm_find_objects", self.realm, self.thing, ctypes.byref(column), count, room
            )
            self.assertEqual(status_name(result), f"TOFT_ERROR_{code}")

    def test_no_rows_and_no_columns(self):
        self.assertEqual(self.create([self.ids()], 0), ([], []))
        result, _, _ = self.call([], 1)
        self.assertEqual(status_name(result), "TOFT_ERROR_MISSING_PRIMARY_KEY")
        check(
            "toft_realm_create_objects",
            self.realm,
            self.thing,
            E.TOFT_UPDATE_ERROR,
            None,
            0,
            0,
            None,
            None,
        )


if __name__ == "__main__":
    unittest.main()
