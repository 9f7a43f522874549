# Tests: Values.swift
"""Mixed properties: values of every type, and lists and dictionaries within one another."""

import ctypes
import math
import pathlib
import tempfile
import unittest
import uuid

from calls import (
    Date,
    Decimal,
    E,
    Float,
    Link,
    Nested,
    ObjectId,
    S,
    check,
    class_schema,
    configuration,
    get,
    last_error,
    property_schema,
    python,
    sized,
    status,
    status_name,
    text,
    text_of,
    value,
    values,
)
from world import CHANGES_CALLBACK

MIXED = E.TOFT_TYPE_MIXED
LONGEST = 16_777_215
# : One value of every type that is neither a link nor a collection, and the limits of some.
SCALARS = [
    None,
    False,
    True,
    0,
    -(2**63),
    2**63 - 1,
    Float(1.5),
    2.25,
    -0.0,
    math.inf,
    "",
    "Grüße, 世界 \0 end",
    b"",
    b"\0\xff\x80",
    Date(-5, -7),
    Date(2**40, 999_999_999),
    Decimal(150, 0x303C << 48),
    ObjectId(range(244, 256)),
    uuid.UUID(int=2**127 + 5),
]
#: In the order of mixed values.
ORDERED = [
    None,
    False,
    True,
    -5,
    Float(1.5),
    2,
    2.5,
    Decimal(3, 0x3040 << 48),
    "a",
    b"a",
    Date(1, 0),
    ObjectId(12),
    uuid.UUID(int=7),
]
CLASSES = [
    class_schema(
        "Thing",
        [
            property_schema("id", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_PRIMARY_KEY),
            property_schema("any", MIXED, E.TOFT_PROPERTY_NULLABLE | E.TOFT_PROPERTY_INDEXED),
            property_schema("list", MIXED, E.TOFT_PROPERTY_LIST),
            property_schema("set", MIXED, E.TOFT_PROPERTY_SET),
            property_schema("map", MIXED, E.TOFT_PROPERTY_DICTIONARY),
        ],
    ),
    class_schema("Other", [property_schema("name", E.TOFT_TYPE_STRING)]),
    class_schema("Part", [property_schema("name", E.TOFT_TYPE_STRING)]),
]
CLASSES[2].flags = E.TOFT_CLASS_EMBEDDED


def nested(depth, innermost=0):
    """A value in `depth` lists."""
    for _ in range(depth):
        innermost = [innermost]
    return innermost


class MixedTests(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = str(pathlib.Path(self.directory.name) / "mixed.toft")
        self.handles = []
        self.realm = self.open()
        self.thing, self.other, self.part = (
            get("toft_realm_find_class", self.realm, text(name))
            for name in ("Thing", "Other", "Part")
        )
        for name in ("id", "any", "list", "set", "map"):
            key = get("toft_realm_find_property", self.realm, self.thing, text(name))
            setattr(self, f"{name}_key", key)
        check("toft_realm_begin_write", self.realm, None)
        self.object = self.made(self.thing, {self.id_key: 1})

    def tearDown(self):
        """Whatever a test did, the file is sound: before and after it is opened anew."""
        if get("toft_realm_is_writing", self.realm):
            check("toft_realm_commit", self.realm, None, None)
        self.check_file()
        for kind, handle in reversed(self.handles):
            check(f"toft_{kind}_release", handle)
        self.handles = []
        self.realm = self.open()
        self.check_file()
        check("toft_realm_release", self.realm)

    def check_file(self):
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        words = ctypes.create_string_buffer(4096)
        check("toft_realm_check", self.realm, ctypes.byref(report), words, 4096, ctypes.byref(size))
        self.assertEqual((report.problem_count, words.value), (0, b""))

    def open(self):
        classes = (S.toft_class_schema * len(CLASSES))(*CLASSES)
        given = configuration(path=self.path, classes=classes, class_count=len(CLASSES))
        realm = get("toft_realm_open", ctypes.byref(given))
        self.handles.append(("realm", realm))
        return realm

    def made(self, owner, given, policy=E.TOFT_UPDATE_ERROR):
        keys, out = (ctypes.c_uint32 * max(len(given), 1))(*given), ctypes.c_void_p()
        things = values(list(given.values()))
        check(
            "toft_realm_create_object",
            self.realm,
            owner,
            policy,
            keys,
            things,
            len(given),
            ctypes.byref(out),
            None,
            None,
        )
        return self.keep("object", out.value)

    def keep(self, kind, handle):
        self.handles.append((kind, handle))
        return handle

    def collection(self, kind, function, *arguments):
        return self.keep(kind, get(function, *arguments))

    def set(self, thing, key=None, of=None):
        check("toft_object_set", of or self.object, key or self.any_key, value(thing))

    def get(self, key=None, of=None):
        return get("toft_object_get", of or self.object, key or self.any_key)

    def whole(self, of=None):
        """The value of `any` with all that is in it, read handle by handle."""
        owner = of or self.object
        found = get("toft_object_get", owner, self.any_key)
        if not isinstance(found, Nested):
            return found
        if found.kind == "list":
            return self.list_contents(get("toft_object_list", owner, self.any_key))
        return self.dictionary_contents(get("toft_object_get_dictionary", owner, self.any_key))

    def list_contents(self, handle):
        """All of a list, whose handle it releases."""
        found = []
        for index in range(get("toft_list_count", handle)):
            element = get("toft_list_get", handle, index)
            if isinstance(element, Nested):
                count, element = element.count, self.within("list", handle, index, element)
                self.assertEqual(len(element), count)
            found.append(element)
        check("toft_list_release", handle)
        return found

    def dictionary_contents(self, handle):
        """All of a dictionary, whose handle it releases."""
        entries, count = (S.toft_entry * 100)(), ctypes.c_size_t()
        check("toft_dictionary_get_entries", handle, 0, entries, 100, ctypes.byref(count))
        found = {}
        for entry in entries[: count.value]:
            key, element = text_of(entry.key), python(entry.value)
            if isinstance(element, Nested):
                element = self.within("dictionary", handle, text(key), element)
            found[key] = element
        check("toft_dictionary_release", handle)
        return found

    def within(self, kind, handle, at, element):
        if element.kind == "list":
            return self.list_contents(get(f"toft_{kind}_get_list", handle, at))
        return self.dictionary_contents(get(f"toft_{kind}_get_dictionary", handle, at))

    def entry(self, handle, key):
        out = S.toft_value()
        check("toft_dictionary_get", handle, text(key), ctypes.byref(out), None)
        return python(out)

    def refused(self, expected, function, *arguments):
        """A call that fails, and changes nothing."""
        result = status(function, *arguments)
        self.assertEqual(status_name(result), f"TOFT_ERROR_{expected}", last_error())

    def linked(self, thing):
        return get("toft_object_link", thing)

    def same(self, one, other):
        self.assertEqual((type(one), repr(one)), (type(other), repr(other)))

    # --- Values

    def test_a_mixed_property_holds_a_value_of_every_type(self):
        self.assertIsNone(self.get())
        info = get("toft_realm_property_info", self.realm, self.thing, self.any_key)
        flags = E.TOFT_PROPERTY_NULLABLE | E.TOFT_PROPERTY_INDEXED
        self.assertEqual((info.type, info.flags), (MIXED, flags))
        other = self.made(self.other, {})
        for thing in [*SCALARS, self.linked(other), self.linked(self.object)]:
            self.set(thing)
            found = self.get()
            self.assertEqual(found, thing)
            self.assertIsInstance(thing, float if isinstance(found, float) else type(found))
            out = S.toft_value()
            check("toft_object_get", self.object, self.any_key, ctypes.byref(out))
            self.assertEqual(out.type, value(thing).type)

    def test_values_of_every_type_stay_in_the_file(self):
        every = {str(index): thing for index, thing in enumerate(SCALARS)}
        every["nested"] = [list(SCALARS), {"": [], "é\0": {}}]
        self.set(every)
        self.set(SCALARS, self.list_key)
        check("toft_realm_commit", self.realm, None, None)
        self.realm = self.open()
        found = get("toft_realm_find_object", self.realm, self.thing, value(1))
        self.keep("object", found)
        self.assertEqual(self.whole(of=found), every)
        elements = get("toft_object_list", found, self.list_key)
        self.assertEqual(self.list_contents(elements), SCALARS)

    def test_a_mixed_property_is_always_optional_and_no_primary_key(self):
        out = ctypes.c_void_p()
        for optional in (0, E.TOFT_PROPERTY_NULLABLE):
            declared = property_schema("any", MIXED, E.TOFT_PROPERTY_PRIMARY_KEY | optional)
            wrong = class_schema("Wrong", [declared])
            self.refused("INVALID_SCHEMA", "toft_schema_new", wrong, 1, ctypes.byref(out))
        for name in ("list", "set", "map"):
            info = get(
                "toft_realm_property_info", self.realm, self.thing, getattr(self, f"{name}_key")
            )
            self.assertTrue(info.flags & E.TOFT_PROPERTY_NULLABLE)

    def test_a_value_as_long_as_any_is_held_and_one_byte_more_is_not(self):
        room = LONGEST - 5
        for thing in (b"x" * room, "x" * room):
            self.set(thing)
            self.assertEqual(self.get(), thing)
            longer = thing + thing[:1]
            self.refused(
                "VALUE_TOO_LONG", "toft_object_set", self.object, self.any_key, value(longer)
            )
        half = b"y" * (LONGEST // 2 - 14)
        self.set([half, half])
        elements = self.collection("list", "toft_object_list", self.object, self.any_key)
        self.refused("VALUE_TOO_LONG", "toft_list_append", elements, values([b"z" * 20]), 1)
        self.assertEqual(get("toft_list_count", elements), 2)

    def test_text_that_is_no_utf8_and_keys_that_cannot_be_are_refused_at_every_depth(self):
        wrong = value("x")
        wrong.string = text(b"\xff\xfe")
        self.refused("INVALID_ARGUMENT", "toft_object_set", self.object, self.any_key, wrong)
        for thing in ({"a.b": 1}, {"$a": 1}, [{"ok": {"a.b": 1}}]):
            self.refused(
                "INVALID_ARGUMENT", "toft_object_set", self.object, self.any_key, value(thing)
            )
        self.assertIsNone(self.get())

    # --- Collections within a value

    def test_nested_collections_are_read_and_edited_at_every_depth(self):
        self.set({"name": "Ada", "tags": [1, "two", {"deep": [3.0, None]}]})
        self.assertEqual(self.get(), Nested("dictionary", 2))
        top = self.collection("dictionary", "toft_object_get_dictionary", self.object, self.any_key)
        tags = self.collection("list", "toft_dictionary_get_list", top, text("tags"))
        inner = self.collection("dictionary", "toft_list_get_dictionary", tags, 2)
        deep = self.collection("list", "toft_dictionary_get_list", inner, text("deep"))
        self.assertIsNone(get("toft_dictionary_get_list", top, text("none")))
        self.assertIsNone(get("toft_dictionary_get_dictionary", top, text("none")))
        self.assertEqual(self.entry(inner, "deep"), Nested("list", 2))

        check("toft_list_append", deep, values([b"x", [True]]), 2)
        check("toft_list_set", deep, 0, value("changed"))
        check("toft_list_insert", deep, 1, values([9]), 1)
        check("toft_list_move", deep, 4, 0)
        check("toft_list_swap", deep, 1, 2)
        self.assertEqual(
            self.whole(),
            {
                "name": "Ada",
                "tags": [1, "two", {"deep": [[True], 9, "changed", None, b"x"]}],
            },
        )
        check("toft_list_erase", deep, 1, 3)
        # Handles follow their collection when elements before it come and go.
        check("toft_list_erase", tags, 0, 1)
        check("toft_list_insert", tags, 0, values([[], {}]), 2)
        new = get("toft_dictionary_set", inner, text("also"), value({"x": 1}))
        self.assertTrue(new)
        self.assertFalse(get("toft_dictionary_set", inner, text("also"), value({"x": [2]})))
        self.assertEqual(get("toft_dictionary_find", inner, text("deep")), 1)
        self.assertTrue(get("toft_dictionary_erase", top, text("name")))
        self.assertFalse(get("toft_dictionary_erase", top, text("name")))
        self.assertEqual(
            self.whole(),
            {"tags": [[], {}, "two", {"also": {"x": [2]}, "deep": [[True], b"x"]}]},
        )
        self.assertEqual(get("toft_list_find", deep, value(b"x")), 1)
        self.assertEqual(get("toft_list_find", deep, value("x")), 2**64 - 1)
        check("toft_list_clear", deep)
        check("toft_dictionary_clear", inner)
        self.assertEqual(self.whole(), {"tags": [[], {}, "two", {}]})

    def test_a_wrong_index_or_kind_is_an_error_and_changes_nothing(self):
        self.set([1, [2], {"a": 3}])
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        out, element = ctypes.byref(ctypes.c_void_p()), ctypes.byref(S.toft_value())
        for index in (3, 4, 2**63, 2**64 - 1):
            self.refused("INDEX_OUT_OF_RANGE", "toft_list_get", top, index, element)
            self.refused("INDEX_OUT_OF_RANGE", "toft_list_get_list", top, index, out)
            self.refused("INDEX_OUT_OF_RANGE", "toft_list_get_dictionary", top, index, out)
            self.refused("INDEX_OUT_OF_RANGE", "toft_list_set", top, index, value(1))
            self.refused("INDEX_OUT_OF_RANGE", "toft_list_move", top, index, 0)
            self.refused("INDEX_OUT_OF_RANGE", "toft_list_swap", top, 0, index)
            self.refused("INDEX_OUT_OF_RANGE", "toft_list_erase", top, index, 1)
        self.refused("INDEX_OUT_OF_RANGE", "toft_list_insert", top, 4, values([1]), 1)
        for index, wrong in ((0, "list"), (0, "dictionary"), (1, "dictionary"), (2, "list")):
            self.refused("TYPE_MISMATCH", f"toft_list_get_{wrong}", top, index, out)
        self.refused("TYPE_MISMATCH", "toft_object_get_dictionary", self.object, self.any_key, out)
        self.refused("TYPE_MISMATCH", "toft_object_get_set", self.object, self.any_key, out)
        entries = self.collection("dictionary", "toft_list_get_dictionary", top, 2)
        self.refused("TYPE_MISMATCH", "toft_dictionary_get_list", entries, text("a"), out)
        self.assertEqual(self.whole(), [1, [2], {"a": 3}])

    def test_a_collection_that_is_replaced_or_removed_is_invalid(self):
        def is_gone(kind, handle, count):
            self.assertFalse(get(f"toft_{kind}_is_valid", handle))
            out = ctypes.byref(ctypes.c_uint64())
            self.refused("COLLECTION_INVALIDATED", f"toft_{kind}_count", handle, out)
            self.refused("COLLECTION_INVALIDATED", f"toft_{kind}_clear", handle)
            self.assertEqual(self.whole(), count)

        self.set([[1], {"a": [2]}])
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        first = self.collection("list", "toft_list_get_list", top, 0)
        second = self.collection("dictionary", "toft_list_get_dictionary", top, 1)
        inner = self.collection("list", "toft_dictionary_get_list", second, text("a"))
        check("toft_list_set", top, 0, value([1]))
        is_gone("list", first, [[1], {"a": [2]}])
        check("toft_list_erase", top, 1, 1)
        is_gone("dictionary", second, [[1]])
        is_gone("list", inner, [[1]])
        self.assertTrue(get("toft_list_is_valid", top))
        self.set([[1]])
        is_gone("list", top, [[1]])
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        self.set(7)
        is_gone("list", top, 7)
        self.set([5])
        is_gone("list", top, [5])
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        doomed = self.made(self.thing, {self.id_key: 2, self.any_key: {"a": 1}})
        entries = self.collection("dictionary", "toft_object_get_dictionary", doomed, self.any_key)
        check("toft_object_delete", doomed)
        is_gone("dictionary", entries, [5])
        check("toft_realm_cancel", self.realm)
        self.assertFalse(get("toft_list_is_valid", top), "what the transaction made is gone")

    def test_a_hundred_collections_are_within_one_another_and_no_more(self):
        for depth in (1, 99, 100):
            self.set(nested(depth))
            self.assertEqual(self.whole(), nested(depth))
        for depth in (101, 102, 103, 300):
            self.refused(
                "VALUE_TOO_LONG", "toft_object_set", self.object, self.any_key, value(nested(depth))
            )
        self.assertEqual(self.whole(), nested(100))
        # The nesting by edits: the innermost list takes values, and no list.
        innermost = get("toft_object_list", self.object, self.any_key)
        for _ in range(99):
            outer, innermost = innermost, get("toft_list_get_list", innermost, 0)
            check("toft_list_release", outer)
        self.keep("list", innermost)
        check("toft_list_append", innermost, values(["deepest"]), 1)
        self.refused("VALUE_TOO_LONG", "toft_list_append", innermost, values([[]]), 1)
        self.refused("VALUE_TOO_LONG", "toft_list_set", innermost, 0, value({}))
        self.assertEqual(get("toft_list_count", innermost), 2)
        # An element of a list property has as many within it.
        self.set([nested(100)], self.list_key)
        self.refused(
            "VALUE_TOO_LONG", "toft_object_set", self.object, self.list_key, value([nested(101)])
        )

    def test_a_nested_collection_knows_its_object_and_has_live_results(self):
        self.set([{"a": 2, "b": 1.5}, 7])
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        inner = self.collection("dictionary", "toft_list_get_dictionary", top, 0)
        found, path = [], text("self")
        for kind, handle in (("list", top), ("dictionary", inner)):
            owner = S.toft_link()
            check(f"toft_{kind}_owner", handle, ctypes.byref(owner), None)
            self.assertEqual(owner.object_key, self.linked(self.object).object_key)
            results = self.keep("results", get(f"toft_{kind}_results", handle))
            found.append(results)
            criterion = S.toft_sort(path, 0, 0)
            found.append(
                self.keep("results", get("toft_results_sort", results, ctypes.byref(criterion), 1))
            )
        contents = [[{"a": 2, "b": 1.5}, 7], [7, {"a": 2, "b": 1.5}], [2, 1.5], [1.5, 2]]
        for results, expected in zip(found, contents):
            self.assertEqual(self.elements(results), expected)
        check("toft_list_erase", top, 0, 1)
        self.assertEqual(get("toft_results_count", found[0]), 1)
        count = ctypes.byref(ctypes.c_uint64())
        self.refused("COLLECTION_INVALIDATED", "toft_results_count", found[3], count)
        out = ctypes.byref(ctypes.c_void_p())
        self.refused("COLLECTION_INVALIDATED", "toft_dictionary_results", inner, out)

    def test_a_nested_collection_tells_what_changed_and_its_end(self):
        self.set({"a": [1, 2, 3], "b": 0})
        top = self.collection("dictionary", "toft_object_get_dictionary", self.object, self.any_key)
        inner = self.collection("list", "toft_dictionary_get_list", top, text("a"))
        check("toft_realm_commit", self.realm, None, None)
        told = {"list": [], "dictionary": []}

        def note(kind):
            def take(_, changes):
                changes = changes.contents
                told[kind].append(
                    [changes.kind]
                    + [
                        list(getattr(changes, f"{name}s")[: getattr(changes, f"{name}_count")])
                        if getattr(changes, f"{name}_count")
                        else []
                        for name in ("deletion", "insertion", "modification")
                    ]
                )

            return CHANGES_CALLBACK(take)

        callbacks = {kind: note(kind) for kind in told}
        for kind, handle in (("list", inner), ("dictionary", top)):
            observe = f"toft_{kind}_observe"
            token = get(observe, handle, None, callbacks[kind], None, None)
            self.keep("token", token)
        for kind in told:
            self.wait_for(told[kind], 1)
        check("toft_realm_begin_write", self.realm, None)
        check("toft_list_set", inner, 1, value(2.5))
        check("toft_list_append", inner, values([4]), 1)
        check("toft_realm_commit", self.realm, None, None)
        self.wait_for(told["list"], 2)
        self.wait_for(told["dictionary"], 2)
        self.assertEqual(told["list"][1], [E.TOFT_CHANGE_UPDATE, [], [3], [1]])
        self.assertEqual(told["dictionary"][1], [E.TOFT_CHANGE_UPDATE, [], [], [0]])
        check("toft_realm_begin_write", self.realm, None)
        check("toft_dictionary_set", top, text("a"), value(None), None)
        check("toft_realm_commit", self.realm, None, None)
        self.wait_for(told["list"], 3)
        self.assertEqual(told["list"][2], [E.TOFT_CHANGE_DELETED, [0, 1, 2, 3], [], []])
        check("toft_realm_begin_write", self.realm, None)

    def test_edits_of_nested_collections_need_a_transaction(self):
        self.set([{"a": 1}])
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        inner = self.collection("dictionary", "toft_list_get_dictionary", top, 0)
        check("toft_realm_commit", self.realm, None, None)
        self.refused("NOT_IN_TRANSACTION", "toft_list_append", top, values([1]), 1)
        self.refused("NOT_IN_TRANSACTION", "toft_list_clear", top)
        self.refused("NOT_IN_TRANSACTION", "toft_dictionary_set", inner, text("a"), value(2), None)
        self.refused("NOT_IN_TRANSACTION", "toft_dictionary_clear", inner)
        self.assertEqual(self.whole(), [{"a": 1}])
        check("toft_realm_begin_write", self.realm, None)
        check("toft_dictionary_set", inner, text("a"), value(2), None)
        check("toft_realm_cancel", self.realm)
        self.assertEqual(self.whole(), [{"a": 1}])

    # --- Properties that are collections

    def test_a_list_of_mixed_values_takes_each_of_them_and_collections(self):
        things = [*SCALARS, [1, {"a": []}], {"b": [None]}]
        self.set(things, self.list_key)
        elements = self.collection("list", "toft_object_list", self.object, self.list_key)
        for index, thing in enumerate(SCALARS):
            self.assertEqual(get("toft_list_get", elements, index), thing)
        last = self.collection("dictionary", "toft_list_get_dictionary", elements, len(things) - 1)
        inner = self.collection("list", "toft_dictionary_get_list", last, text("b"))
        check("toft_list_append", inner, values(["x"]), 1)
        check("toft_list_erase", elements, 0, len(SCALARS))
        check("toft_list_move", elements, 1, 0)
        check("toft_list_append", inner, values([[2]]), 1)
        check("toft_list_insert", elements, 0, values([None, 5.0]), 2)
        check("toft_list_append", inner, values([3]), 1)
        expected = [None, 5.0, {"b": [None, "x", [2], 3]}, [1, {"a": []}]]
        again = get("toft_object_list", self.object, self.list_key)
        self.assertEqual(self.list_contents(again), expected)
        self.assertEqual(get("toft_list_find", elements, value(5)), 1, "numbers by their value")
        check("toft_list_swap", elements, 2, 3)
        self.assertTrue(get("toft_list_is_valid", inner))
        check("toft_list_erase", elements, 3, 1)
        self.assertFalse(get("toft_list_is_valid", inner))

    def test_a_set_of_mixed_values_orders_them_by_type_and_has_no_number_twice(self):
        other = self.linked(self.made(self.other, {}))
        self.set([*reversed(ORDERED), other, other, 2.0, Float(2.0), True], self.set_key)
        elements = self.collection("set", "toft_object_get_set", self.object, self.set_key)
        found = [
            get("toft_set_get", elements, index) for index in range(get("toft_set_count", elements))
        ]
        self.assertEqual(found, [*ORDERED, other])
        for equal in (2, 2.0, Float(2.0), Decimal(20, 0x303E << 48)):
            self.assertEqual(get("toft_set_find", elements, value(equal)), 5)
            self.assertFalse(get("toft_set_insert", elements, value(equal), None))
        self.assertEqual(get("toft_set_find", elements, value("b")), 2**64 - 1)
        self.assertTrue(get("toft_set_erase", elements, value(2.0)))
        for refused in ([], [1], {}, {"a": 1}):
            self.refused("TYPE_MISMATCH", "toft_set_insert", elements, value(refused), None, None)
            self.refused(
                "TYPE_MISMATCH", "toft_object_set", self.object, self.set_key, value([refused])
            )
        self.assertEqual(get("toft_set_count", elements), len(ORDERED))

    def test_a_dictionary_of_mixed_values_takes_each_of_them_and_collections(self):
        things = {f"k{index:02}": thing for index, thing in enumerate(SCALARS)}
        things["list"], things["map"] = [1, [2]], {"": {"x": None}}
        self.set(things, self.map_key)
        again = get("toft_object_get_dictionary", self.object, self.map_key)
        self.assertEqual(self.dictionary_contents(again), things)
        entries = self.collection(
            "dictionary", "toft_object_get_dictionary", self.object, self.map_key
        )
        inner = self.collection("list", "toft_dictionary_get_list", entries, text("list"))
        check("toft_dictionary_erase", entries, text("k03"), None)
        check("toft_list_append", inner, values(["x"]), 1)
        self.assertEqual(self.entry(entries, "list"), Nested("list", 3))
        check("toft_dictionary_set", entries, text("list"), value([]), None)
        self.assertFalse(get("toft_list_is_valid", inner))

    def test_no_collection_within_a_value_is_a_set(self):
        elements = values([1, 2])
        members = S.toft_value(type=E.TOFT_TYPE_SET)
        members.list = S.toft_values(ctypes.cast(elements, ctypes.POINTER(S.toft_value)), 2)
        array = (S.toft_value * 1)(members)
        wrong = S.toft_value(type=E.TOFT_TYPE_LIST)
        wrong.list = S.toft_values(ctypes.cast(array, ctypes.POINTER(S.toft_value)), 1)
        for key in (self.any_key, self.list_key):
            self.refused("INVALID_ARGUMENT", "toft_object_set", self.object, key, wrong)
        self.assertIsNone(self.get())

    # --- Links

    def test_a_deleted_object_is_null_in_mixed_values_and_leaves_sets(self):
        target, other = self.made(self.thing, {self.id_key: 2}), self.made(self.other, {})
        link, stays = self.linked(target), self.linked(other)
        self.set({"a": [link, stays, {"b": link}], "c": link})
        self.set([link, stays, [link, 1]], self.list_key)
        self.set([link, stays, None, 1], self.set_key)
        self.set({"x": link, "y": {"z": link}, "w": stays}, self.map_key)
        plain = self.made(self.thing, {self.id_key: 3, self.any_key: link})
        top = self.collection("dictionary", "toft_object_get_dictionary", self.object, self.any_key)
        inner = self.collection("list", "toft_dictionary_get_list", top, text("a"))
        check("toft_object_delete", target)
        self.assertIsNone(self.get(of=plain))
        self.assertEqual(self.whole(), {"a": [None, stays, {"b": None}], "c": None})
        self.assertEqual(get("toft_list_count", inner), 3, "the collection is the same one")
        elements = get("toft_object_list", self.object, self.list_key)
        self.assertEqual(self.list_contents(elements), [None, stays, [None, 1]])
        entries = get("toft_object_get_dictionary", self.object, self.map_key)
        self.assertEqual(
            self.dictionary_contents(entries), {"w": stays, "x": None, "y": {"z": None}}
        )
        members = self.collection("set", "toft_object_get_set", self.object, self.set_key)
        found = [get("toft_set_get", members, index) for index in range(3)]
        self.assertEqual((get("toft_set_count", members), found), (3, [None, 1, stays]))
        check("toft_realm_commit", self.realm, None, None)
        self.check_file()
        check("toft_realm_begin_write", self.realm, None)
        check("toft_object_delete", self.object)
        check("toft_object_delete", other)

    def test_links_lead_to_objects_that_exist_and_are_not_embedded(self):
        other = self.made(self.other, {})
        link = self.linked(other)
        for wrong, expected in (
            (Link(link.object_key + 5, link.class_key), "OBJECT_DELETED"),
            (Link(link.object_key, 4711), "NO_SUCH_CLASS"),
            (Link(0, self.part), "EMBEDDED_OBJECT"),
        ):
            for thing in (wrong, [1, {"a": wrong}]):
                self.refused(expected, "toft_object_set", self.object, self.any_key, value(thing))
        self.set([link, link])
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        check("toft_list_erase", top, 0, 1)
        check("toft_object_delete", other)
        self.assertEqual(self.whole(), [None])

    # --- Upserts, copies, observers

    def test_an_upsert_of_what_is_modified_leaves_what_is_equal_alone(self):
        given = {self.id_key: 1, self.any_key: [1, {"a": nested(98)}], self.list_key: [[1], 2]}
        self.made(self.thing, given, E.TOFT_UPDATE_ALL)
        top = self.collection("list", "toft_object_list", self.object, self.any_key)
        self.made(self.thing, given, E.TOFT_UPDATE_MODIFIED)
        self.assertTrue(get("toft_list_is_valid", top), "nothing was written")
        self.made(self.thing, {**given, self.any_key: [1, {"b": 2}]}, E.TOFT_UPDATE_MODIFIED)
        self.assertFalse(get("toft_list_is_valid", top))
        self.assertEqual(self.whole(), [1, {"b": 2}])
        # Equal numbers of different types are not the same value.
        self.made(self.thing, {self.id_key: 1, self.any_key: 1}, E.TOFT_UPDATE_ALL)
        self.made(self.thing, {self.id_key: 1, self.any_key: 1.0}, E.TOFT_UPDATE_MODIFIED)
        self.assertIsInstance(self.get(), float)

    def test_observers_see_a_change_within_a_collection_as_one_of_the_property(self):
        self.set({"a": [1]})
        self.set([{"b": 1}, 2], self.list_key)
        check("toft_realm_commit", self.realm, None, None)
        told = []

        def note(user_data, changes):
            seen = changes.contents
            kept = list(
                seen.modifications_after[: seen.modification_count]
                if seen.modification_count
                else []
            )
            names = [seen.properties[index] for index in range(seen.property_count)]
            told.append((user_data, seen.kind, names, kept))

        callback = CHANGES_CALLBACK(note)
        options = sized(S.toft_observe_options, flags=E.TOFT_OBSERVE_NO_INITIAL)
        elements = self.collection("list", "toft_object_list", self.object, self.list_key)
        for number, function, handle in (
            (1, "toft_object_observe", self.object),
            (2, "toft_list_observe", elements),
        ):
            self.keep("token", get(function, handle, options, callback, number, None))
        check("toft_realm_dispatch", self.realm, None)
        check("toft_realm_begin_write", self.realm, None)
        top = self.collection("dictionary", "toft_object_get_dictionary", self.object, self.any_key)
        inner = self.collection("list", "toft_dictionary_get_list", top, text("a"))
        check("toft_list_append", inner, values([2]), 1)
        check("toft_realm_commit", self.realm, None, None)
        check("toft_realm_refresh", self.realm, None)
        self.wait_for(told, 1)
        self.assertEqual(told, [(1, E.TOFT_CHANGE_UPDATE, [self.any_key], [])])
        told.clear()
        check("toft_realm_begin_write", self.realm, None)
        entries = self.collection("dictionary", "toft_list_get_dictionary", elements, 0)
        check("toft_dictionary_set", entries, text("b"), value([2]), None)
        check("toft_realm_commit", self.realm, None, None)
        self.wait_for(told, 2)
        self.assertEqual(
            sorted(told),
            [
                (1, E.TOFT_CHANGE_UPDATE, [self.list_key], []),
                (2, E.TOFT_CHANGE_UPDATE, [], [0]),
            ],
        )

    def wait_for(self, told, count):
        for _ in range(2000):
            check("toft_realm_refresh", self.realm, None)
            check("toft_realm_dispatch", self.realm, None)
            if len(told) >= count:
                return

    # --- Results

    def test_the_least_and_the_greatest_of_a_property_are_the_ends_of_their_order(self):
        for number, each in enumerate([5, "a text", None, [9], 2.5, True]):
            self.set(each, self.any_key, self.made(self.thing, {self.id_key: 2 + number}))
        things = self.collection("results", "toft_realm_objects", self.realm, self.thing)
        self.assertIs(get("toft_results_minimum", things, self.any_key), True)
        self.assertEqual(get("toft_results_maximum", things, self.any_key), "a text")
        self.assertEqual(get("toft_results_sum", things, self.any_key), Decimal(75, 0x303E << 48))
        greatest = get("toft_results_aggregate", things, E.TOFT_AGGREGATE_MAXIMUM, text("any"))
        self.assertEqual(greatest, "a text")

    def test_results_of_a_list_add_up_the_numbers_and_order_all_but_collections(self):
        numbers = [2, 2.5, Decimal(2, 0x3040 << 48), "no number", None, [4], True]
        self.set(numbers, self.list_key)
        elements = self.collection("list", "toft_object_list", self.object, self.list_key)
        found = self.collection("results", "toft_list_results", elements)
        self.assertEqual(get("toft_results_count", found), len(numbers))
        self.assertEqual(get("toft_results_sum", found, 0), Decimal(65, 0x303E << 48))
        greatest = S.toft_value()
        for last in ("no number", "a text that is longer than those that lie in the value"):
            if last != "no number":
                check("toft_list_erase", elements, 5, 1)
                check("toft_list_set", elements, 3, value(last))
            check("toft_results_maximum", found, 0, ctypes.byref(greatest))
            self.assertEqual(python(greatest), last)
        numbers[3:6] = [last, None]
        self.assertEqual(self.elements(found), numbers)

    def elements(self, results):
        out, count = (S.toft_value * 10)(), ctypes.c_size_t()
        check("toft_results_get_values", results, 0, out, 10, ctypes.byref(count))
        return [python(each) for each in out[: count.value]]


if __name__ == "__main__":
    unittest.main()
