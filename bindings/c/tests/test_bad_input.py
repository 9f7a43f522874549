# Tests: Argument.swift, Argument+Properties.swift, Argument+Queries.swift
"""Mistakes of callers with schemas, objects, values and queries:

each its own code, and a message with the failure, its place and the remedy.
"""

import ctypes
import tempfile
import unittest

from calls import (
    Date,
    E,
    Float,
    Link,
    S,
    ToftError,
    check,
    get,
    new_schema,
    open_realm,
    property_schema,
    sized,
    status,
    status_name,
    text,
    value,
    values,
)
from world import World

NULLABLE, KEY, INDEXED, LIST = (
    E.TOFT_PROPERTY_NULLABLE,
    E.TOFT_PROPERTY_PRIMARY_KEY,
    E.TOFT_PROPERTY_INDEXED,
    E.TOFT_PROPERTY_LIST,
)


class BadInputTests(unittest.TestCase):
    def setUp(self):
        self.world = World()

    def tearDown(self):
        self.world.close()

    def fail_with(self, expected, words, name, *arguments):
        """The call fails with a code, and its message or detail has the words in it."""
        with self.assertRaises(ToftError) as caught:
            check(name, *arguments)
        error = caught.exception
        self.assertEqual(status_name(error.status), expected, error)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, error.message + "\n" + error.detail)
        for line in error.detail.splitlines():
            self.assertNotIn(line.strip(" -"), error.message.splitlines(), "told twice")
            self.assertFalse(len(line) > 20 and line.strip(" -") in error.message, "told twice")
        return error

    # --- Schemas

    def refuse_schema(self, classes, *problems):
        with self.assertRaises(ToftError) as caught:
            new_schema(classes)
        self.assertEqual(status_name(caught.exception.status), "TOFT_ERROR_INVALID_SCHEMA")
        for problem in problems:
            self.assertIn(problem, caught.exception.detail)
        return caught.exception

    def test_every_problem_of_a_schema_is_told_at_once(self):
        error = self.refuse_schema(
            {
                "Dog": [
                    property_schema("a" * 64, E.TOFT_TYPE_INT),
                    property_schema("score", E.TOFT_TYPE_DOUBLE, KEY),
                    property_schema("photo", E.TOFT_TYPE_DATA, INDEXED),
                    property_schema("owner", E.TOFT_TYPE_LINK, NULLABLE, "Nobody"),
                    property_schema("twice", E.TOFT_TYPE_INT),
                    property_schema("twice", E.TOFT_TYPE_INT),
                    property_schema("owned", E.TOFT_TYPE_LINKING_OBJECTS, 0, "Dog", "missing"),
                ],
                "C" * 58: [],
            },
            "64 bytes",
            "score",
            "photo",
            "Nobody",
            "twice",
            "missing",
            "58 bytes",
        )
        self.assertGreaterEqual(len(error.detail.splitlines()), 7)

    def test_longest_names_are_taken(self):
        check(
            "toft_schema_release",
            new_schema({"C" * 57: [property_schema("p" * 63, E.TOFT_TYPE_INT)]}),
        )

    def test_every_difference_that_would_lose_data_is_told_at_once(self):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/dogs.toft"
            before = {
                "Dog": [
                    property_schema("name", E.TOFT_TYPE_STRING, KEY),
                    property_schema("age", E.TOFT_TYPE_INT),
                    property_schema("weight", E.TOFT_TYPE_DOUBLE, NULLABLE),
                ]
            }
            check("toft_realm_release", open_realm(before, path=path))
            after = {
                "Dog": [
                    property_schema("name", E.TOFT_TYPE_STRING),
                    property_schema("age", E.TOFT_TYPE_STRING),
                    property_schema("weight", E.TOFT_TYPE_DOUBLE),
                ]
            }
            with self.assertRaises(ToftError) as caught:
                open_realm(after, path=path)
            self.assertEqual(status_name(caught.exception.status), "TOFT_ERROR_SCHEMA_MISMATCH")
            for word in ("name", "age", "weight"):
                self.assertIn(word, caught.exception.detail)
            self.assertEqual(len(caught.exception.detail.splitlines()), 3)

    def test_what_is_only_added_needs_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/dogs.toft"
            check(
                "toft_realm_release",
                open_realm({"Dog": [property_schema("name", E.TOFT_TYPE_STRING)]}, path=path),
            )
            more = {
                "Dog": [
                    property_schema("name", E.TOFT_TYPE_STRING, INDEXED),
                    property_schema("age", E.TOFT_TYPE_INT),
                ],
                "Cat": [property_schema("name", E.TOFT_TYPE_STRING)],
            }
            check("toft_realm_release", open_realm(more, path=path))
            realm = open_realm(None, path=path, mode=E.TOFT_MODE_READ_ONLY)
            for name, count in (("Dog", 2), ("Cat", 1)):
                key = get("toft_realm_find_class", realm, text(name))
                self.assertEqual(get("toft_realm_class_info", realm, key).property_count, count)
            check("toft_realm_release", realm)

    # --- Realms

    def test_a_configuration_names_one_place(self):
        from calls import configuration

        for given in (
            configuration(),
            configuration(path="a", memory="b"),
            configuration(path="a\0b"),
        ):
            self.fail_with(
                "TOFT_ERROR_INVALID_ARGUMENT",
                "",
                "toft_realm_open",
                ctypes.byref(given),
                ctypes.byref(ctypes.c_void_p()),
            )

    def test_ending_a_transaction_that_is_not_there_is_an_error(self):
        options = ctypes.byref(sized(S.toft_commit_options))
        for name, arguments in (
            ("toft_realm_commit", (None, None)),
            ("toft_realm_commit", (options, None)),
            ("toft_realm_cancel", ()),
        ):
            self.fail_with(
                "TOFT_ERROR_NOT_IN_TRANSACTION", "transaction", name, self.world.realm, *arguments
            )

    # --- Names

    def test_unknown_names_are_repeated_in_the_message(self):
        realm, person = self.world.realm, self.world.person
        out = ctypes.byref(ctypes.c_uint32())
        self.fail_with(
            "TOFT_ERROR_NO_SUCH_CLASS",
            "Dragon",
            "toft_realm_find_class",
            realm,
            text("Dragon"),
            out,
        )
        self.fail_with(
            "TOFT_ERROR_NO_SUCH_CLASS", "", "toft_realm_find_class", realm, text(""), out
        )
        self.fail_with(
            "TOFT_ERROR_NO_SUCH_PROPERTY",
            ["wings", "Person"],
            "toft_realm_find_property",
            realm,
            person,
            text("wings"),
            out,
        )

    # --- Values

    def test_a_value_of_another_type_is_refused(self):
        things = {
            "name": "x",
            "age": 1,
            "boss": Link(*get("toft_object_link", self.world.object)),
            "nickname": "y",
        }
        others = [True, 1, 1.5, Float(1.5), "text", b"data", Date(0, 0), Link(0, self.world.person)]
        check("toft_realm_begin_write", self.world.realm, None)
        for name in ("age", "nickname", "boss"):
            for wrong in others:
                if type(wrong) is type(things[name]):
                    continue
                with self.subTest(property=name, value=wrong):
                    self.fail_with(
                        "TOFT_ERROR_TYPE_MISMATCH",
                        name,
                        "toft_object_set",
                        self.world.object,
                        self.world.keys[name],
                        value(wrong),
                    )
        check("toft_realm_cancel", self.world.realm)

    def test_null_where_none_may_be_a_changed_key_and_inverse_links_are_refused(self):
        keys, ada = self.world.keys, self.world.object
        check("toft_realm_begin_write", self.world.realm, None)
        self.fail_with(
            "TOFT_ERROR_NULL_NOT_ALLOWED", "age", "toft_object_set", ada, keys["age"], value(None)
        )
        for error, property_name in (
            ("TOFT_ERROR_PRIMARY_KEY_CHANGE", "name"),
            ("TOFT_ERROR_TYPE_MISMATCH", "nickname"),
            ("TOFT_ERROR_TYPE_MISMATCH", "numbers"),
            ("TOFT_ERROR_TYPE_MISMATCH", "boss"),
            ("TOFT_ERROR_TYPE_MISMATCH", "reports"),
        ):
            self.fail_with(error, property_name, "toft_object_add", ada, keys[property_name], 1)
        self.fail_with(
            "TOFT_ERROR_PRIMARY_KEY_CHANGE",
            "name",
            "toft_object_set",
            ada,
            keys["name"],
            value("Eva"),
        )
        self.fail_with(
            "TOFT_ERROR_READ_ONLY_PROPERTY",
            "reports",
            "toft_object_set",
            ada,
            keys["reports"],
            value(None),
        )
        self.fail_with(
            "TOFT_ERROR_TYPE_MISMATCH", "numbers", "toft_object_set", ada, keys["numbers"], value(3)
        )
        self.fail_with(
            "TOFT_ERROR_TYPE_MISMATCH",
            "age",
            "toft_object_list",
            ada,
            keys["age"],
            ctypes.byref(ctypes.c_void_p()),
        )
        self.fail_with(
            "TOFT_ERROR_TYPE_MISMATCH",
            "numbers",
            "toft_object_get",
            ada,
            keys["numbers"],
            ctypes.byref(S.toft_value()),
        )
        check("toft_realm_cancel", self.world.realm)

    def test_longest_values_are_taken_and_longer_ones_refused(self):
        key, limit = self.world.keys["nickname"], 16 * 1024 * 1024 - 1
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_set", self.world.object, key, value("x" * limit))
        self.assertEqual(len(get("toft_object_get", self.world.object, key)), limit)
        self.fail_with(
            "TOFT_ERROR_VALUE_TOO_LONG",
            str(limit),
            "toft_object_set",
            self.world.object,
            key,
            value("x" * (limit + 1)),
        )
        check("toft_realm_cancel", self.world.realm)

    def test_dates_whose_parts_disagree_are_refused(self):
        realm = open_realm({"Event": [property_schema("at", E.TOFT_TYPE_DATE)]}, memory="dates")
        event = get("toft_realm_find_class", realm, text("Event"))
        key = get("toft_realm_find_property", realm, event, text("at"))
        check("toft_realm_begin_write", realm, None)
        out = ctypes.c_void_p()
        check(
            "toft_realm_create_object",
            realm,
            event,
            E.TOFT_UPDATE_ERROR,
            None,
            None,
            0,
            ctypes.byref(out),
            None,
            None,
        )
        for wrong in (Date(1, -1), Date(-1, 1), Date(0, 1_000_000_000), Date(0, -(2**31))):
            self.fail_with(
                "TOFT_ERROR_INVALID_ARGUMENT", "at", "toft_object_set", out, key, value(wrong)
            )
        for right in (Date(2**63 - 1, 999_999_999), Date(-(2**63), -999_999_999), Date(0, -1)):
            check("toft_object_set", out, key, value(right))
            self.assertEqual(get("toft_object_get", out, key), right)
        check("toft_realm_cancel", realm)
        check("toft_object_release", out)
        check("toft_realm_release", realm)

    # --- Objects

    def create(self, names, given, policy=E.TOFT_UPDATE_ERROR):
        keys = (ctypes.c_uint32 * max(len(names), 1))(*(self.world.keys[name] for name in names))
        return (
            self.world.realm,
            self.world.person,
            policy,
            keys,
            values(given),
            len(given),
            None,
            None,
            None,
        )

    def test_objects_that_break_the_rules_are_not_created(self):
        check("toft_realm_begin_write", self.world.realm, None)
        for expected, word, arguments in (
            ("TOFT_ERROR_MISSING_PRIMARY_KEY", "name", self.create(["age"], [3])),
            ("TOFT_ERROR_DUPLICATE_PRIMARY_KEY", "Ada", self.create(["name"], ["Ada"])),
            ("TOFT_ERROR_TYPE_MISMATCH", "name", self.create(["name"], [3])),
            ("TOFT_ERROR_NULL_NOT_ALLOWED", "name", self.create(["name"], [None])),
            ("TOFT_ERROR_TYPE_MISMATCH", "age", self.create(["name", "age"], ["Zoe", "old"])),
            (
                "TOFT_ERROR_READ_ONLY_PROPERTY",
                "reports",
                self.create(["name", "reports"], ["Zoe", None]),
            ),
        ):
            with self.subTest(expected, word=word):
                self.fail_with(expected, word, "toft_realm_create_object", *arguments)
                self.assertEqual(
                    get("toft_results_count", self.world.results), 3, "nothing was created"
                )
        check("toft_realm_cancel", self.world.realm)

    def test_links_to_what_is_gone_or_of_another_class_are_refused(self):
        classes = {
            "Dog": [property_schema("owner", E.TOFT_TYPE_LINK, NULLABLE, "Person")],
            "Person": [property_schema("name", E.TOFT_TYPE_STRING)],
        }
        realm = open_realm(classes, memory="links")
        dog, person = (
            get("toft_realm_find_class", realm, text(name)) for name in ("Dog", "Person")
        )
        owner = get("toft_realm_find_property", realm, dog, text("owner"))
        check("toft_realm_begin_write", realm, None)
        handles = []
        for class_key in (dog, person):
            out = ctypes.c_void_p()
            check(
                "toft_realm_create_object",
                realm,
                class_key,
                E.TOFT_UPDATE_ERROR,
                None,
                None,
                0,
                ctypes.byref(out),
                None,
                None,
            )
            handles.append(out)
        to_person = get("toft_object_link", handles[1])
        check("toft_object_set", handles[0], owner, value(to_person))
        self.fail_with(
            "TOFT_ERROR_TYPE_MISMATCH",
            "owner",
            "toft_object_set",
            handles[0],
            owner,
            value(get("toft_object_link", handles[0])),
        )
        check("toft_object_delete", handles[1])
        self.assertIsNone(get("toft_object_get", handles[0], owner), "the link became null")
        self.fail_with(
            "TOFT_ERROR_OBJECT_DELETED", "", "toft_object_set", handles[0], owner, value(to_person)
        )
        self.fail_with("TOFT_ERROR_OBJECT_DELETED", "", "toft_object_delete", handles[1])
        self.fail_with(
            "TOFT_ERROR_OBJECT_DELETED",
            "",
            "toft_object_set",
            handles[0],
            owner,
            value(Link(-5, person)),
        )
        check("toft_realm_cancel", realm)
        for handle in handles:
            check("toft_object_release", handle)
        check("toft_realm_release", realm)

    def test_primary_keys_of_classes_without_one_are_an_error(self):
        realm = open_realm({"Dog": [property_schema("name", E.TOFT_TYPE_STRING)]}, memory="keyless")
        dog = get("toft_realm_find_class", realm, text("Dog"))
        name = (ctypes.c_uint32 * 1)(get("toft_realm_find_property", realm, dog, text("name")))
        self.fail_with(
            "TOFT_ERROR_MISSING_PRIMARY_KEY",
            "Dog",
            "toft_realm_find_object",
            realm,
            dog,
            value("Rex"),
            ctypes.byref(ctypes.c_void_p()),
        )
        check("toft_realm_begin_write", realm, None)
        self.fail_with(
            "TOFT_ERROR_MISSING_PRIMARY_KEY",
            "Dog",
            "toft_realm_create_object",
            realm,
            dog,
            E.TOFT_UPDATE_ALL,
            name,
            values(["Rex"]),
            1,
            None,
            None,
            None,
        )
        check("toft_realm_cancel", realm)
        check("toft_realm_release", realm)

    def test_a_list_ends_with_its_object(self):
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_delete", self.world.object)
        self.fail_with(
            "TOFT_ERROR_COLLECTION_INVALIDATED",
            "",
            "toft_list_count",
            self.world.list,
            ctypes.byref(ctypes.c_uint64()),
        )
        self.fail_with(
            "TOFT_ERROR_COLLECTION_INVALIDATED",
            "",
            "toft_list_append",
            self.world.list,
            values([1]),
            1,
        )
        check("toft_realm_cancel", self.world.realm)
        self.assertEqual(get("toft_list_count", self.world.list), 3)

    def test_a_list_is_changed_by_all_values_or_by_none(self):
        check("toft_realm_begin_write", self.world.realm, None)
        self.fail_with(
            "TOFT_ERROR_TYPE_MISMATCH",
            "numbers",
            "toft_list_append",
            self.world.list,
            values([4, 5, "six"]),
            3,
        )
        self.fail_with(
            "TOFT_ERROR_NULL_NOT_ALLOWED",
            "numbers",
            "toft_list_insert",
            self.world.list,
            0,
            values([4, None]),
            2,
        )
        self.fail_with(
            "TOFT_ERROR_INDEX_OUT_OF_RANGE", "9", "toft_list_set", self.world.list, 9, value(1)
        )
        self.assertEqual(get("toft_list_count", self.world.list), 3)
        check("toft_realm_cancel", self.world.realm)

    def test_a_list_given_as_a_whole_is_checked(self):
        keys, ada = self.world.keys, self.world.object
        check("toft_realm_begin_write", self.world.realm, None)
        for name, wrong in (
            ("numbers", [7, "x"]),
            ("numbers", [None]),
            ("numbers", 7),
            ("age", [7]),
            ("age", []),
        ):
            self.assertIn(
                status_name(status("toft_object_set", ada, keys[name], value(wrong))),
                ("TOFT_ERROR_TYPE_MISMATCH", "TOFT_ERROR_NULL_NOT_ALLOWED"),
            )
        self.fail_with(
            "TOFT_ERROR_TYPE_MISMATCH",
            "holds list of int, not list",
            "toft_object_set",
            ada,
            keys["numbers"],
            value([[1]]),
        )
        self.assertEqual(get("toft_list_count", self.world.list), 3)
        check("toft_realm_cancel", self.world.realm)

    # --- Queries

    def ask(self, query, arguments=()):
        given = values(list(arguments))
        return (
            "toft_results_filter",
            self.world.results,
            text(query),
            given,
            len(arguments),
            ctypes.byref(ctypes.c_void_p()),
        )

    def test_queries_that_cannot_be_are_told_with_their_place(self):
        for expected, words, query, arguments in (
            ("TOFT_ERROR_QUERY_SYNTAX", "^", "age >", ()),
            ("TOFT_ERROR_INVALID_ARGUMENT", "byte at 9 of 11, 0xff", b"name == '\xff'", ()),
            ("TOFT_ERROR_INVALID_ARGUMENT", "byte at 9 of 11, 0xc3", b"name == '\xc3'", ()),
            ("TOFT_ERROR_QUERY_SYNTAX", "^", "age > 3 AND AND name == 'x'", ()),
            ("TOFT_ERROR_QUERY_SYNTAX", "^", "name == 'unfinished", ()),
            ("TOFT_ERROR_QUERY_SYNTAX", "", "", ()),
            ("TOFT_ERROR_INVALID_QUERY", "wings", "wings == 3", ()),
            ("TOFT_ERROR_INVALID_QUERY", "horns", "boss.horns == 3", ()),
            ("TOFT_ERROR_QUERY_TYPE_MISMATCH", "age", "age == 'old'", ()),
            ("TOFT_ERROR_QUERY_TYPE_MISMATCH", "", "age CONTAINS 'x'", ()),
            ("TOFT_ERROR_INVALID_QUERY_ARGUMENT", "$1", "age == $1", (1,)),
            ("TOFT_ERROR_INVALID_QUERY_ARGUMENT", "$0", "age == $0", ()),
            ("TOFT_ERROR_INVALID_QUERY_ARGUMENT", "-5 nanos", "age == $0", (Date(1, -5),)),
            ("TOFT_ERROR_INVALID_QUERY_ARGUMENT", "", "age == $0", (Date(0, 10**9),)),
            ("TOFT_ERROR_INVALID_QUERY_ARGUMENT", "", "age IN $0", ([Date(-1, 1)],)),
        ):
            with self.subTest(query):
                self.fail_with(expected, words, *self.ask(query, arguments))

    def test_a_query_as_deep_as_memory_is_refused_not_followed(self):
        for query in (
            "(" * 100_000 + "age == 1" + ")" * 100_000,
            "NOT " * 100_000 + "age == 1",
            " AND ".join(["age == 1"] * 50_000),
        ):
            result = status(*self.ask(query)[:-1], ctypes.byref(out := ctypes.c_void_p()))
            if result == E.TOFT_OK:
                get("toft_results_count", out)
                check("toft_results_release", out)
            else:
                self.assertIn(
                    status_name(result), ("TOFT_ERROR_QUERY_SYNTAX", "TOFT_ERROR_INVALID_QUERY")
                )

    def test_aggregates_of_what_cannot_be_added_are_refused(self):
        out = ctypes.byref(S.toft_value())
        for name in ("toft_results_sum", "toft_results_average"):
            self.fail_with(
                "TOFT_ERROR_UNSUPPORTED_AGGREGATE",
                "name",
                name,
                self.world.results,
                self.world.keys["name"],
                out,
            )


if __name__ == "__main__":
    unittest.main()
