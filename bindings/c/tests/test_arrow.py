# Tests: ArrowStreams.swift, ArrowInputs.swift, ArrowColumn.swift, ArrowData.swift,
# ArrowNode.swift, ArrowStream.swift, ArrowInput.swift, ArrowImport.swift
"""Tables of Arrow out of results, and objects of such tables."""

import ctypes
import itertools
import random
import struct
import threading
import unittest
import uuid
from decimal import Decimal as PythonDecimal

from arrow import RELEASE_STREAM, Column, Failed, Producer, Stream, Table, ints, texts
from calls import (
    Date,
    E,
    S,
    ToftError,
    check,
    class_schema,
    configuration,
    get,
    last_error,
    property_schema,
    sized,
    status,
    status_name,
    text,
    values,
)

NULLABLE, LIST, SET = E.TOFT_PROPERTY_NULLABLE, E.TOFT_PROPERTY_LIST, E.TOFT_PROPERTY_SET
DICTIONARY = E.TOFT_PROPERTY_DICTIONARY
CLASSES = {
    "Maker": [
        property_schema("name", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_PRIMARY_KEY),
        property_schema("country", E.TOFT_TYPE_STRING, NULLABLE),
    ],
    "Shop": [property_schema("city", E.TOFT_TYPE_STRING)],
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
        property_schema("anything", E.TOFT_TYPE_MIXED, NULLABLE),
        property_schema("maker", E.TOFT_TYPE_LINK, NULLABLE, "Maker"),
        property_schema("shop", E.TOFT_TYPE_LINK, NULLABLE, "Shop"),
        property_schema("other", E.TOFT_TYPE_LINK, NULLABLE, "Thing"),
        property_schema("place", E.TOFT_TYPE_LINK, NULLABLE, "Place"),
        property_schema("numbers", E.TOFT_TYPE_INT, LIST),
        property_schema("makers", E.TOFT_TYPE_LINK, LIST, "Maker"),
        property_schema("tags", E.TOFT_TYPE_STRING, SET),
        property_schema("scores", E.TOFT_TYPE_DOUBLE, DICTIONARY),
        property_schema("places", E.TOFT_TYPE_LINK, LIST, "Place"),
        property_schema("must", E.TOFT_TYPE_STRING),
    ],
    "Place": [
        property_schema("x", E.TOFT_TYPE_DOUBLE),
        property_schema("name", E.TOFT_TYPE_STRING, NULLABLE),
    ],
}
EMBEDDED = {"Place"}
_names = itertools.count()


class ArrowTests(unittest.TestCase):
    def setUp(self):
        classes = [class_schema(name, properties) for name, properties in CLASSES.items()]
        for each, name in zip(classes, CLASSES):
            each.flags = E.TOFT_CLASS_EMBEDDED if name in EMBEDDED else 0
        schema = get(
            "toft_schema_new", (S.toft_class_schema * len(classes))(*classes), len(classes)
        )
        given = configuration(schema=schema, memory=f"arrow-{next(_names)}")
        self.realm = get("toft_realm_open", ctypes.byref(given))
        check("toft_schema_release", schema)
        self.classes = {
            name: get("toft_realm_find_class", self.realm, text(name)) for name in CLASSES
        }
        check("toft_realm_begin_write", self.realm, None)
        self.is_writing = True

    def tearDown(self):
        self.commit()
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", self.realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        check("toft_realm_release", self.realm)

    def commit(self):
        if self.is_writing:
            check("toft_realm_commit", self.realm, None, None)
            self.is_writing = False

    def create(self, owner, json):
        link = S.toft_link()
        arguments = self.realm, self.classes[owner], E.TOFT_UPDATE_ERROR, text(json)
        check("toft_realm_create_from_json", *arguments, None, ctypes.byref(link), None)
        return link

    def results(self, owner="Thing", query=None):
        results = get("toft_realm_objects", self.realm, self.classes[owner])
        if query:
            results = get("toft_results_filter", results, text(query), None, 0)
        return results

    def table(self, *paths, owner="Thing", query=None, results=None):
        return Table(self.stream(*paths, results=results or self.results(owner, query)))

    def stream(self, *paths, results):
        kept = [text(path) for path in paths]
        stream = Stream()
        check(
            "toft_results_arrow_stream",
            results,
            (S.toft_string * max(1, len(kept)))(*kept) if kept else None,
            len(kept),
            ctypes.byref(stream),
        )
        return stream

    def insert(self, *batches, owner="Thing", policy=E.TOFT_UPDATE_ERROR, defaults=None, **wrong):
        producer = Producer(*batches, **wrong)
        given = defaults or {}
        keys = [self.key(owner, name) for name in given]
        rows = ctypes.c_uint64()
        try:
            check(
                "toft_realm_create_from_arrow",
                self.realm,
                self.classes[owner],
                policy,
                ctypes.byref(producer.stream),
                (ctypes.c_uint32 * max(1, len(keys)))(*keys),
                values(list(given.values())),
                len(keys),
                ctypes.byref(rows),
            )
        finally:
            self.assertTrue(producer.is_released)
        return rows.value

    def key(self, owner, name):
        return get("toft_realm_find_property", self.realm, self.classes[owner], text(name))

    def count(self, owner="Thing"):
        return get("toft_results_count", self.results(owner))

    def refused(self, expected, words, *batches, **options):
        """A table that is refused: nothing of it is there."""
        before = self.count()
        with self.assertRaises(ToftError) as caught:
            self.insert(*batches, **options)
        self.assertEqual(status_name(caught.exception.status), expected, caught.exception)
        for word in words.split("|"):
            self.assertIn(word, caught.exception.message)
        self.assertEqual(self.count(), before)
        return caught.exception

    def fill(self):
        self.create("Maker", '{"name": "Acme", "country": "DE"}')
        self.create("Maker", '{"name": "Bolt"}')
        self.shop = self.create("Shop", '{"city": "Ulm"}')
        self.create(
            "Thing",
            '{"id": 1, "flag": true, "count": -5, "ratio": 0.5, "score": 2.25, "title": "é",'
            '"picture": "AP8=", "day": "1969-12-31T23:59:59.999999500Z",'
            '"code": "00112233-4455-6677-8899-aabbccddeeff",'
            '"token": "0102030405060708090a0b0c", "price": "1.50", "anything": [1, "a"],'
            '"maker": "Acme", "place": {"x": 1.5, "name": "here"}, "numbers": [1, 2, 3],'
            '"makers": ["Bolt", "Acme", "Bolt"], "tags": ["b", "a"], "scores": {"z": 1, "a": 2},'
            '"places": [{"x": 1}, {"x": 2, "name": "two"}], "must": "m"}',
        )
        self.create("Thing", '{"id": 2, "other": 1, "price": "-2", "must": ""}')

    # ------------------------------------------------------------------------------------------ Out

    def test_every_type_has_its_type_of_arrow(self):
        self.fill()
        self.commit()
        table = self.table()
        self.assertEqual(table.names, [each.name.decode() for each in self.properties("Thing")])
        self.assertEqual(
            table.formats,
            {
                "id": "l",
                "flag": "b",
                "count": "l",
                "ratio": "f",
                "score": "g",
                "title": "U",
                "picture": "Z",
                "day": "tsu:UTC",
                "code": "w:16 arrow.uuid",
                "token": "w:12",
                "price": "d:38,2",
                "anything": "U arrow.json",
                "maker": "U",
                "shop": "l",
                "other": "l",
                "place": "+s(g,U)",
                "numbers": "+L(l)",
                "makers": "+L(U)",
                "tags": "+L(U)",
                "scores": "+m(+s(U,g))",
                "places": "+L(+s(g,U))",
                "must": "U",
            },
        )
        required = {"id", "must", "numbers", "makers", "tags", "scores", "places"}
        self.assertEqual(set(table.names) - table.nullable, required)
        first = {name: column[0] for name, column in table.columns.items()}
        self.assertEqual(
            first,
            {
                "id": 1,
                "flag": True,
                "count": -5,
                "ratio": 0.5,
                "score": 2.25,
                "title": "é",
                "picture": b"\0\xff",
                "day": -1,
                "code": bytes.fromhex("00112233445566778899aabbccddeeff"),
                "token": bytes(range(1, 13)),
                "price": PythonDecimal("1.50"),
                "anything": '[1,"a"]',
                "maker": "Acme",
                "shop": None,
                "other": None,
                "place": {"x": 1.5, "name": "here"},
                "numbers": [1, 2, 3],
                "makers": ["Bolt", "Acme", "Bolt"],
                "tags": ["a", "b"],
                "scores": {"a": 2.0, "z": 1.0},
                "places": [{"x": 1.0, "name": None}, {"x": 2.0, "name": "two"}],
                "must": "m",
            },
        )
        second = {name: column[1] for name, column in table.columns.items()}
        empty = {"id": 2, "other": 1, "price": PythonDecimal(-2), "must": ""}
        empty |= {"numbers": [], "makers": [], "tags": [], "scores": {}, "places": []}
        self.assertEqual(second, dict.fromkeys(table.names) | empty)

    def properties(self, owner):
        """The names of a class's properties."""
        names = []
        for declared in CLASSES[owner]:
            name = S.toft_string.from_buffer_copy(bytes(declared.name))
            names.append(type("Named", (), {"name": ctypes.string_at(name.data, name.size)}))
        return names

    def test_key_paths_lead_over_links_and_embedded_objects(self):
        self.fill()
        self.commit()
        table = self.table("id", "other.maker.country", "maker", "other._key", "place.name")
        self.assertEqual(table.names[1], "other.maker.country")
        self.assertEqual(
            table.columns,
            {
                "id": [1, 2],
                "other.maker.country": [None, "DE"],
                "maker": ["Acme", None],
                "other._key": [None, 0],
                "place.name": ["here", None],
            },
        )

    def test_a_class_without_primary_key_has_the_keys_of_its_objects(self):
        self.fill()
        self.commit()
        table = self.table(owner="Shop")
        self.assertEqual(table.columns, {"_key": [self.shop.object_key], "city": ["Ulm"]})

    def test_the_order_of_the_results_is_that_of_the_rows(self):
        for number in range(1_000):
            self.create("Thing", f'{{"id": {number}, "count": {number * 7 % 1_000}, "must": "x"}}')
        for number in range(1_000):
            other = (number * 13 + 5) % 1_000
            link = f'{{"id": {number}, "other": {other}}}'
            arguments = self.realm, self.classes["Thing"], E.TOFT_UPDATE_MODIFIED, text(link)
            check("toft_realm_create_from_json", *arguments, None, None, None)
        self.commit()
        criterion = S.toft_sort()
        criterion.key_path = kept = text("count")
        results = get("toft_results_sort", self.results(), ctypes.byref(criterion), 1)
        del kept
        table = self.table("id", "count", "other.count", results=results)
        self.assertEqual(table.columns["count"], list(range(1_000)))
        expected = [(number * 13 + 5) % 1_000 * 7 % 1_000 for number in table.columns["id"]]
        self.assertEqual(table.columns["other.count"], expected)

    def test_texts_that_repeat_are_dictionaries(self):
        for number in range(600):
            json = f'{{"id": {number}, "title": "colour {number % 3}", "must": "{number}"}}'
            self.create("Thing", json)
        self.create("Thing", '{"id": 600, "must": "last"}')
        self.commit()
        table = self.table("title", "must")
        self.assertEqual(table.formats, {"title": "i[U]", "must": "U"})
        self.assertEqual(
            table.columns["title"], [f"colour {number % 3}" for number in range(600)] + [None]
        )

    def test_batches_have_65536_rows_and_few_if_the_texts_are_long(self):
        ids = range(65_537)
        self.insert([ints("id", ids), texts("must", ["x" for _ in ids])])
        self.commit()
        self.assertEqual(self.table("id").batch_sizes, [65_536, 1])
        check("toft_realm_begin_write", self.realm, None)
        self.is_writing = True
        long = "x" * (1 << 20)
        self.insert([ints("id", range(70_000, 70_064)), texts("must", [long] * 64)])
        self.commit()
        table = self.table("must", query="id >= 70000")
        self.assertEqual(sum(table.batch_sizes), 64)
        self.assertLessEqual(max(table.batch_sizes), 32)
        self.assertEqual({len(each) for each in table.columns["must"]}, {1 << 20})

    def test_decimals_have_the_most_digits_or_are_texts(self):
        for number, price in enumerate(("1", "-0.001", "123456789012345678901234567890")):
            self.create("Thing", f'{{"id": {number}, "price": "{price}", "must": ""}}')
        self.commit()
        table = self.table("price")
        self.assertEqual(table.formats["price"], "d:38,3")
        self.assertEqual(table.columns["price"][1], PythonDecimal("-0.001"))
        check("toft_realm_begin_write", self.realm, None)
        self.is_writing = True
        self.create("Thing", '{"id": 9, "price": "nan", "must": ""}')
        self.commit()
        table = self.table("price")
        self.assertEqual(table.formats["price"], "U")
        self.assertEqual(
            table.columns["price"][1:], ["-0.001", "123456789012345678901234567890", "NaN"]
        )

    def test_a_stream_shows_the_version_of_its_beginning_after_its_realm_is_gone(self):
        self.fill()
        self.commit()
        stream = self.stream("id", results=self.results())
        check("toft_realm_begin_write", self.realm, None)
        check("toft_realm_delete_all", self.realm, self.classes["Thing"])
        check("toft_realm_commit", self.realm, None, None)
        self.assertEqual(self.count(), 0)
        found = []
        reader = threading.Thread(target=lambda: found.append(Table(stream)))
        reader.start()
        reader.join()
        self.assertEqual(found[0].columns, {"id": [1, 2]})

    def test_a_write_transaction_gives_its_changes(self):
        self.fill()
        stream = self.stream("id", "makers", "other.title", results=self.results())
        self.create("Thing", '{"id": 3, "must": ""}')
        table = Table(stream)
        self.assertEqual(table.columns["id"], [1, 2])
        self.assertEqual(table.columns["other.title"], [None, "é"])

    def test_deleted_objects_of_a_snapshot_are_null(self):
        self.fill()
        self.commit()
        snapshot = get("toft_results_snapshot", self.results())
        check("toft_realm_begin_write", self.realm, None)
        link = get("toft_realm_find_object", self.realm, self.classes["Thing"], values([1]))
        check("toft_object_delete", link)
        check("toft_realm_commit", self.realm, None, None)
        table = self.table("id", "numbers", "place", "anything", results=snapshot)
        self.assertIn("id", table.nullable)
        self.assertEqual(
            table.columns,
            {"id": [None, 2], "numbers": [None, []], "place": [None, None], "anything": [None] * 2},
        )

    def test_paths_that_are_no_columns_are_refused(self):
        self.fill()
        for path, expected, words in (
            ("titel", "TOFT_ERROR_NO_SUCH_PROPERTY", "Did you mean 'title'?"),
            ("maker.titel", "TOFT_ERROR_NO_SUCH_PROPERTY", "Maker"),
            ("makers.name", "TOFT_ERROR_TYPE_MISMATCH", "makers.name"),
            ("title.name", "TOFT_ERROR_TYPE_MISMATCH", "title.name"),
            ("", "TOFT_ERROR_NO_SUCH_PROPERTY", "''"),
            ("maker.", "TOFT_ERROR_NO_SUCH_PROPERTY", "''"),
        ):
            with self.subTest(path), self.assertRaises(ToftError) as caught:
                self.stream(path, results=self.results())
            self.assertEqual(status_name(caught.exception.status), expected)
            self.assertIn(words, caught.exception.message)
        with self.assertRaisesRegex(ToftError, "given twice"):
            self.stream("id", "id", results=self.results())

    def test_a_date_beyond_microseconds_is_an_error_of_the_stream(self):
        link = self.create("Thing", '{"id": 1, "must": ""}')
        thing = get("toft_realm_follow", self.realm, link)
        for seconds in (9_223_372_036_854, -9_223_372_036_854):
            check("toft_object_set", thing, self.key("Thing", "day"), values([Date(seconds, 0)]))
            with self.subTest(seconds=seconds):
                table = self.table("day")
                self.assertEqual(table.columns["day"], [seconds * 1_000_000])
        date = Date(9_223_372_036_855, 0)
        check("toft_object_set", thing, self.key("Thing", "day"), values([date]))
        self.commit()
        stream = self.stream("day", results=self.results())
        with self.assertRaisesRegex(Failed, "'Thing.day' has a date"):
            Table(stream)
        RELEASE_STREAM(stream.release)(stream)
        self.assertFalse(stream.release)

    # ------------------------------------------------------------------------------------------- In

    def test_a_table_comes_back_as_it_went(self):
        self.fill()
        self.commit()
        before = self.table()
        stream = self.stream(results=self.results())
        check("toft_realm_begin_write", self.realm, None)
        self.is_writing = True
        for each in ("Thing",):
            results = self.results(each)
            check("toft_results_delete_all", results)
        rows = ctypes.c_uint64()
        check(
            "toft_realm_create_from_arrow",
            self.realm,
            self.classes["Thing"],
            E.TOFT_UPDATE_ERROR,
            ctypes.byref(stream),
            None,
            None,
            0,
            ctypes.byref(rows),
        )
        self.assertEqual(rows.value, 2)
        self.assertFalse(stream.release)
        self.commit()
        after = self.table()
        self.assertEqual(after.formats, before.formats)
        self.assertEqual(after.columns, before.columns)

    def test_links_find_objects_of_later_rows_and_batches(self):
        must = texts("must", ["x", "x"])
        self.insert(
            [ints("id", [1, 2]), ints("other", [2, 4]), must],
            [ints("id", [3, 4]), ints("other", [None, 4]), must],
        )
        self.assertEqual(self.table("id", "other").columns["other"], [2, 4, None, 4])

    def test_a_link_to_nothing_is_an_error_that_undoes_all(self):
        must = texts("must", ["x", "x"])
        error = self.refused(
            "TOFT_ERROR_NO_SUCH_OBJECT",
            "Row 1: |links to 9",
            [ints("id", [1, 2]), ints("other", [1, 9]), must],
        )
        self.assertEqual(error.number, 1)

    def test_rows_update_objects_as_the_policy_says(self):
        must = texts("must", ["x", "y"])
        self.insert([ints("id", [1, 2]), must])
        self.refused(
            "TOFT_ERROR_DUPLICATE_PRIMARY_KEY", "Row 0: ", [ints("id", [2]), texts("must", ["z"])]
        )
        table = [ints("id", [2, 3]), ints("count", [7, None]), texts("must", ["z", "z"])]
        self.assertEqual(self.insert(table, policy=E.TOFT_UPDATE_MODIFIED), 2)
        self.assertEqual(
            self.table("id", "count", "must").columns,
            {"id": [1, 2, 3], "count": [None, 7, None], "must": ["x", "z", "z"]},
        )

    def test_defaults_are_for_new_objects_without_the_column(self):
        self.insert([ints("id", [1])], defaults={"must": "a", "count": 3})
        table = [ints("id", [1, 2]), texts("must", ["b", "b"])]
        self.insert(table, defaults={"must": "c", "count": 4}, policy=E.TOFT_UPDATE_ALL)
        self.assertEqual(
            self.table("id", "count", "must").columns,
            {"id": [1, 2], "count": [3, 4], "must": ["b", "b"]},
        )

    def test_values_come_in_all_types_that_hold_them_exactly(self):
        def fixed(code, format, numbers):
            packed = struct.pack(f"={len(numbers)}{code}", *numbers)
            return lambda name: Column(name, format, len(numbers), None, packed)

        def dictionary(name):
            inner = texts("", ["x", "y"])
            codes = Column(name, "C", 2, None, b"\1\0", dictionary=inner)
            return codes

        views = struct.pack("=i12s", 3, b"abc") + struct.pack("=i4sii", 13, b"long", 0, 1)
        cases = [
            ("count", fixed("b", "c", [-128, 127]), [-128, 127]),
            ("count", fixed("B", "C", [0, 255]), [0, 255]),
            ("count", fixed("h", "s", [-32_768, 1]), [-32_768, 1]),
            ("count", fixed("H", "S", [65_535, 1]), [65_535, 1]),
            ("count", fixed("i", "i", [-(2**31), 1]), [-(2**31), 1]),
            ("count", fixed("I", "I", [2**32 - 1, 1]), [2**32 - 1, 1]),
            ("count", fixed("Q", "L", [2**63 - 1, 1]), [2**63 - 1, 1]),
            ("count", fixed("d", "g", [2.0**53, -1.0]), [2**53, -1]),
            ("count", lambda name: Column(name, "n", 2), [None, None]),
            ("score", fixed("q", "l", [2**53, -1]), [2.0**53, -1.0]),
            ("score", fixed("H", "e", [0x3E00, 0x8001]), [1.5, -(2.0**-24)]),
            ("ratio", fixed("d", "g", [0.5, -0.25]), [0.5, -0.25]),
            ("price", fixed("q", "l", [2**62, -1]), [PythonDecimal(2**62), PythonDecimal(-1)]),
            (
                "price",
                fixed("i", "d:9,2,32", [150, -1]),
                [PythonDecimal("1.5"), PythonDecimal("-0.01")],
            ),
            ("price", fixed("q", "d:18,-2,64", [3, -1]), [PythonDecimal(300), PythonDecimal(-100)]),
            ("day", fixed("i", "tdD", [1, -1]), [86_400_000_000, -86_400_000_000]),
            ("day", fixed("q", "tdm", [1_500, -1]), [1_500_000, -1_000]),
            ("day", fixed("q", "tss:Europe/Berlin", [1, -1]), [1_000_000, -1_000_000]),
            ("day", fixed("q", "tsn:UTC", [1_999, -1_001]), [1, -2]),
            ("title", dictionary, ["y", "x"]),
            (
                "title",
                lambda name: Column(
                    name, "vu", 2, None, views, b"-longer texts", struct.pack("=q", 14)
                ),
                ["abc", "longer texts\0"],
            ),
            ("picture", lambda name: Column(name, "w:2", 2, None, b"abcd"), [b"ab", b"cd"]),
            (
                "code",
                lambda name: texts(name, [str(uuid.UUID(int=5)), None]),
                [uuid.UUID(int=5).bytes, None],
            ),
            ("flag", lambda name: Column(name, "b", 2, None, b"\2"), [False, True]),
            (
                "numbers",
                lambda name: Column(name, "+w:1", 2, None, children=[ints("", [4, 5])]),
                [[4], [5]],
            ),
            (
                "numbers",
                lambda name: Column(
                    name,
                    "+vl",
                    2,
                    None,
                    struct.pack("=2i", 1, 0),
                    struct.pack("=2i", 2, 1),
                    children=[ints("", [4, 5, 6])],
                ),
                [[5, 6], [4]],
            ),
            ("scores", self.entries_as_lists, [{"a": 1.0, "b": 2.0}, {}]),
            (
                "anything",
                lambda name: texts(name, ['{"a": [1]}', "1"], extension="arrow.json"),
                ['{"a":[1]}', "1"],
            ),
            ("anything", lambda name: texts(name, ["[1]", None]), ['"[1]"', None]),
        ]
        for number, (name, column, expected) in enumerate(cases):
            with self.subTest(name, number=number):
                ids = ints("id", [2 * number, 2 * number + 1])
                self.insert([ids, column(name)], defaults={"must": ""})
                query = f"id IN {{{2 * number}, {2 * number + 1}}}"
                self.assertEqual(self.table(name, query=query).columns[name], expected)

    @staticmethod
    def entries_as_lists(name):
        """A dictionary as libraries without maps have it."""
        doubles = Column("value", "g", 2, None, struct.pack("=2d", 1, 2))
        entries = Column("item", "+s", 2, None, children=[texts("key", ["a", "b"]), doubles])
        return Column(name, "+l", 2, None, struct.pack("=3i", 0, 2, 2), children=[entries])

    def test_an_offset_and_a_bitmap_are_those_of_arrow(self):
        column = ints("count", [9, None, 7])
        column.length, column.wrong = 2, {"offset": 1}
        self.insert([ints("id", [1, 2]), column], defaults={"must": ""})
        self.assertEqual(self.table("count").columns["count"], [None, 7])

    def test_an_object_key_is_skipped(self):
        self.insert([ints("_key", [70, 80]), texts("city", ["Bonn", "Kiel"])], owner="Shop")
        self.assertEqual(self.table("city", owner="Shop").columns["city"], ["Bonn", "Kiel"])

    # -------------------------------------------------------------------------------- Wrong tables

    def test_values_that_a_property_does_not_hold_are_refused(self):
        def one(name, format, *buffers, **more):
            return [Column(name, format, 1, *buffers, **more)]

        must, double = {"must": ""}, struct.pack("=d", 1.5)
        mismatch, invalid = "TOFT_ERROR_TYPE_MISMATCH", "TOFT_ERROR_INVALID_ARGUMENT"
        for expected, words, column in (
            (mismatch, "Row 0: |Thing.count|does not hold 1.5", one("count", "g", None, double)),
            (mismatch, "Thing.count", one("count", "L", None, struct.pack("=Q", 2**63))),
            (mismatch, "Thing.score", one("score", "l", None, struct.pack("=q", 2**53 + 1))),
            (mismatch, "Thing.ratio", one("ratio", "g", None, struct.pack("=d", 1e300))),
            (mismatch, "can't be made of Arrow's 'u'", [texts("count", ["5"])]),
            (mismatch, "can't be made of Arrow's 'l'", [ints("title", [5])]),
            (mismatch, "no time zone", one("day", "tsu:", None, struct.pack("=q", 5))),
            (mismatch, "Thing.code", one("code", "w:15", None, b"x" * 15)),
            (mismatch, "Thing.code", [texts("code", ["no"])]),
            (
                mismatch,
                "34 digits",
                one("price", "d:38,0", None, (10**37 + 1).to_bytes(16, "little")),
            ),
            (mismatch, "Thing.numbers", [ints("numbers", [5])]),
            (mismatch, "Thing.place", [ints("place", [5])]),
            (invalid, "UTF-8", one("title", "u", None, struct.pack("=2i", 0, 1), b"\xff")),
            ("TOFT_ERROR_UNSUPPORTED", "tDs", one("count", "tDs", None, struct.pack("=q", 5))),
            ("TOFT_ERROR_UNSUPPORTED", "d:9,-9", one("price", f"d:9,{-(2**63)}", None, bytes(16))),
            ("TOFT_ERROR_UNSUPPORTED", "+ud:1", one("anything", "+ud:1", None)),
            ("TOFT_ERROR_NO_SUCH_PROPERTY", "titel|Did you mean 'title'?", [texts("titel", ["x"])]),
            ("TOFT_ERROR_NULL_NOT_ALLOWED", "Row 0: |must", [texts("must", [None])]),
        ):
            with self.subTest(words):
                self.refused(expected, words, [ints("id", [1]), *column], defaults=must)
        self.refused("TOFT_ERROR_MISSING_PRIMARY_KEY", "id", [texts("must", ["x"])])
        self.refused(invalid, "Two columns", [ints("id", [1]), ints("id", [1])])

    def test_a_table_that_contradicts_itself_is_refused(self):
        ids = ints("id", [1, 2])
        offsets = struct.pack("=3i", 0, 3, 1)

        def spoiled(**wrong):
            return [ids, ints("count", [1, 2], **wrong)]

        for words, columns in (
            ("length -1", spoiled(length=-1)),
            ("offset -1", spoiled(offset=-1)),
            (
                "fit nowhere",
                [ids, Column("picture", f"w:{1 << 30}", 1 << 40, None, b"", offset=1 << 40)],
            ),
            (f"offset {2**62}", spoiled(offset=2**62)),
            ("has 3 rows and 'count' in it 1|2 rows and 'count' in it 1", spoiled(length=1)),
            ("3 buffers", spoiled(n_buffers=3)),
            ("1 buffers", spoiled(n_buffers=1)),
            ("no buffers", spoiled(buffers=None)),
            ("offsets 3 and 1", [ids, Column("title", "u", 2, None, offsets, b"abc")]),
            (
                "offsets -1 and",
                [ids, Column("title", "u", 2, None, struct.pack("=3i", -1, 0, 0), b"")],
            ),
            ("buffer is missing", [ids, Column("count", "l", 2, None, None)]),
            ("buffer is missing", [ids, Column("title", "u", 2, None, None, None)]),
            (
                "there are 2",
                [
                    ids,
                    Column(
                        "numbers",
                        "+l",
                        2,
                        None,
                        struct.pack("=3i", 0, 2, 3),
                        children=[ints("", [1, 2])],
                    ),
                ],
            ),
            ("there are 1", [ids, Column("numbers", "+w:1", 2, None, children=[ints("", [1])])]),
            ("children", [ids, Column("numbers", "+l", 2, None, offsets)]),
            ("children", [ids, Column("count", "l", 2, None, bytes(16), children=[ids])]),
            (
                "outside of its dictionary",
                [ids, Column("title", "c", 2, None, b"\0\2", dictionary=texts("", ["x", "y"]))],
            ),
            (
                "outside of its dictionary",
                [ids, Column("title", "c", 2, None, b"\0\xff", dictionary=texts("", ["x", "y"]))],
            ),
            (
                "no integers",
                [ids, Column("title", "g", 2, None, bytes(16), dictionary=texts("", ["x"]))],
            ),
            (
                "buffer 3 of 1",
                [
                    ids,
                    Column(
                        "title",
                        "vu",
                        2,
                        None,
                        struct.pack("=i4sii", 13, b"", 3, 0) * 2,
                        b"x" * 13,
                        struct.pack("=q", 13),
                    ),
                ],
            ),
            (
                "ends behind its buffer",
                [
                    ids,
                    Column(
                        "title",
                        "vu",
                        2,
                        None,
                        struct.pack("=i4sii", 13, b"", 0, 1) * 2,
                        b"x" * 13,
                        struct.pack("=q", 13),
                    ),
                ],
            ),
            (
                "the size -1",
                [
                    ids,
                    Column(
                        "title",
                        "vu",
                        2,
                        None,
                        struct.pack("=i12s", -1, b"") * 2,
                        struct.pack("=q", 0),
                    ),
                ],
            ),
        ):
            with self.subTest(words):
                error = self.refused(
                    "TOFT_ERROR_INVALID_ARGUMENT",
                    words.split("|")[-1],
                    columns,
                    defaults={"must": ""},
                )
                self.assertIn("Arrow", error.message)

    def test_streams_that_fail_or_are_over_are_refused(self):
        column = [ints("id", [1])]
        must = {"must": ""}
        self.refused(
            "TOFT_ERROR_INVALID_ARGUMENT", "the disk is on fire", column, error=5, defaults=must
        )
        self.refused(
            "TOFT_ERROR_INVALID_ARGUMENT", "no function 'get_schema'", column, get_schema=None
        )
        self.refused("TOFT_ERROR_INVALID_ARGUMENT", "no function 'get_next'", column, get_next=None)
        producer = Producer(column)
        producer.stream.release = None
        result = status(
            "toft_realm_create_from_arrow",
            self.realm,
            self.classes["Thing"],
            E.TOFT_UPDATE_ERROR,
            ctypes.byref(producer.stream),
            None,
            None,
            0,
            None,
        )
        self.assertEqual(status_name(result), "TOFT_ERROR_INVALID_ARGUMENT")
        self.assertIn("has been released", last_error()[1])

    def test_a_failure_in_a_later_batch_undoes_all(self):
        must = texts("must", ["x"])
        error = self.refused(
            "TOFT_ERROR_DUPLICATE_PRIMARY_KEY",
            "Row 2: ",
            [ints("id", [1]), must],
            [ints("id", [2]), must],
            [ints("id", [1]), must],
        )
        self.assertEqual(error.number, 2)

    def test_outside_of_a_write_transaction_the_stream_is_released_too(self):
        self.commit()
        with self.assertRaisesRegex(ToftError, "outside of a write transaction"):
            self.insert([ints("id", [1]), texts("must", ["x"])])

    def test_random_tables_come_back(self):
        seed = random.randrange(1 << 32)
        chosen = random.Random(seed)
        with self.subTest(seed=seed):
            for _ in range(20):
                count = chosen.choice((1, 2, 63, 64, 65, 255, 256, 257, 1_000))
                ids = chosen.sample(range(10_000), count)
                others = [chosen.choice([None, *ids]) for _ in ids]
                titles = [chosen.choice((None, "", "a", "ü" * chosen.randrange(300))) for _ in ids]
                check("toft_realm_delete_all", self.realm, self.classes["Thing"])
                must = texts("must", [""] * count)
                self.insert([ints("id", ids), ints("other", others), texts("title", titles), must])
                titled = dict(zip(ids, titles))
                table = self.table("id", "other", "title", "other.title")
                self.assertEqual(table.columns["id"], ids)
                self.assertEqual(table.columns["other"], others)
                self.assertEqual(table.columns["title"], titles)
                expected = [None if other is None else titled[other] for other in others]
                self.assertEqual(table.columns["other.title"], expected)


if __name__ == "__main__":
    unittest.main()
