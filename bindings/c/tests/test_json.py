# Tests: JSON.swift
"""Objects from JSON, and as JSON: the output is read back exactly, faults are reported."""

import ctypes
import itertools
import json
import unittest

from calls import (
    E,
    S,
    ToftError,
    check,
    class_schema,
    configuration,
    get,
    property_schema,
    sized,
    text,
)

NULLABLE = E.TOFT_PROPERTY_NULLABLE
LIST, SET, DICTIONARY = E.TOFT_PROPERTY_LIST, E.TOFT_PROPERTY_SET, E.TOFT_PROPERTY_DICTIONARY
LINK = E.TOFT_TYPE_LINK
THING = [
    property_schema("id", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_PRIMARY_KEY),
    property_schema("flag", E.TOFT_TYPE_BOOL),
    property_schema("ratio", E.TOFT_TYPE_FLOAT),
    property_schema("score", E.TOFT_TYPE_DOUBLE),
    property_schema("title", E.TOFT_TYPE_STRING),
    property_schema("picture", E.TOFT_TYPE_DATA),
    property_schema("day", E.TOFT_TYPE_DATE, NULLABLE),
    property_schema("code", E.TOFT_TYPE_UUID),
    property_schema("token", E.TOFT_TYPE_OBJECT_ID),
    property_schema("price", E.TOFT_TYPE_DECIMAL),
    property_schema("any", E.TOFT_TYPE_MIXED, NULLABLE),
    property_schema("numbers", E.TOFT_TYPE_INT, LIST | NULLABLE),
    property_schema("words", E.TOFT_TYPE_STRING, SET),
    property_schema("scores", E.TOFT_TYPE_DOUBLE, DICTIONARY),
    property_schema("next", LINK, NULLABLE, "Thing"),
    property_schema("others", LINK, LIST, "Thing"),
    property_schema("named", LINK, DICTIONARY | NULLABLE, "Thing"),
    property_schema("home", LINK, NULLABLE, "Home"),
    property_schema("homes", LINK, LIST, "Home"),
    property_schema("note", LINK, NULLABLE, "Note"),
    property_schema("back", E.TOFT_TYPE_LINKING_OBJECTS, 0, "Thing", "next"),
]
HOME = [
    property_schema("street", E.TOFT_TYPE_STRING),
    property_schema("annex", LINK, NULLABLE, "Home"),
    property_schema("owner", LINK, NULLABLE, "Thing"),
]
NOTE = [
    property_schema("text", E.TOFT_TYPE_STRING),
    property_schema("more", LINK, NULLABLE, "Note"),
]
FULL = {
    "id": 1,
    "flag": True,
    "ratio": 0.5,
    "score": -1e300,
    "title": 'Grüße, 世界 𝄞 \0 "\\\n',
    "picture": "AP+A",
    "day": "1969-12-31T23:59:59.999999999Z",
    "code": "00112233-4455-6677-8899-aabbccddeeff",
    "token": "507f1f77bcf86cd799439011",
    "price": "1.50",
    "any": {"a": [1, {"$double": 2.0}, {"$date": "2026-11-22T08:30:00Z"}], "b": None},
    "numbers": [9223372036854775807, None, -9223372036854775808],
    "words": ["a", "é"],
    "scores": {"": 0.1, "nan": "nan", "z": "-inf"},
    "next": None,
    "others": [],
    "named": {"me": 1, "nobody": None},
    "home": {
        "street": "Elm",
        "annex": {"street": "Yard", "annex": None, "owner": 1},
        "owner": None,
    },
    "homes": [{"street": "Oak", "annex": None, "owner": 1}],
    "note": None,
}
_names = itertools.count()


class JSONTests(unittest.TestCase):
    def setUp(self):
        home = class_schema("Home", HOME)
        home.flags = E.TOFT_CLASS_EMBEDDED
        classes = (S.toft_class_schema * 3)(
            home, class_schema("Thing", THING), class_schema("Note", NOTE)
        )
        schema = get("toft_schema_new", classes, 3)
        self.realms = [
            get(
                "toft_realm_open",
                ctypes.byref(configuration(schema=schema, memory=f"json-{next(_names)}")),
            )
            for _ in range(2)
        ]
        check("toft_schema_release", schema)
        for realm in self.realms:
            check("toft_realm_begin_write", realm, None)

    def tearDown(self):
        for realm in self.realms:
            report, size = sized(S.toft_check_report), ctypes.c_size_t()
            check("toft_realm_commit", realm, None, None)
            check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
            self.assertEqual(report.problem_count, 0)
            check("toft_realm_release", realm)

    def create(self, given, name="Thing", policy=E.TOFT_UPDATE_ERROR, realm=0, flags=None):
        """Creates an object, and gives its handle and whether it is new."""
        realm = self.realms[realm]
        made, created = ctypes.c_void_p(), ctypes.c_bool()
        given = given if isinstance(given, (str, bytes)) else json.dumps(given)
        key = get("toft_realm_find_class", realm, text(name))
        function, with_flags = "toft_realm_create_from_json", ()
        if flags is not None:
            function, with_flags = f"{function}_with_flags", (flags,)
        check(
            function, realm, key, policy, *with_flags, text(given), ctypes.byref(made),
            None, ctypes.byref(created),
        )  # fmt: skip
        return made, created.value

    def text(self, handle, depth=0):
        size = ctypes.c_size_t()
        check("toft_object_to_json", handle, depth, None, 0, ctypes.byref(size))
        room = ctypes.create_string_buffer(size.value + 1)
        check("toft_object_to_json", handle, depth, room, size.value + 1, ctypes.byref(size))
        return room.raw[:-1].decode()

    def read(self, handle, depth=0):
        return json.loads(self.text(handle, depth))

    def count(self, name="Thing", realm=0):
        key = get("toft_realm_find_class", self.realms[realm], text(name))
        return get("toft_realm_object_count", self.realms[realm], key)

    def refused(self, given, code, *words, **options):
        counts = [self.count(name) for name in ("Thing", "Home", "Note")]
        with self.assertRaises(ToftError) as caught:
            self.create(given, **options)
        self.assertEqual(caught.exception.status, getattr(E, f"TOFT_ERROR_{code}"))
        for word in words:
            self.assertIn(word, caught.exception.message)
        self.assertEqual([self.count(name) for name in ("Thing", "Home", "Note")], counts)
        return caught.exception

    def test_an_object_of_every_type_is_read_back_as_it_was_written(self):
        made, is_new = self.create(FULL)
        self.assertTrue(is_new)
        written = self.text(made)
        self.assertEqual(json.loads(written), FULL)
        self.assertEqual(list(json.loads(written)), list(FULL))
        copy, _ = self.create(written, realm=1)
        self.assertEqual(self.text(copy), written)
        again, _ = self.create({"id": 2})
        self.assertEqual(
            self.read(again),
            {
                **dict.fromkeys(FULL),
                **{"id": 2, "flag": False, "ratio": 0.0, "score": 0.0, "title": "", "picture": ""},
                **{"code": "00000000-0000-0000-0000-000000000000", "token": "0" * 24},
                **{"price": "0", "numbers": [], "words": [], "scores": {}, "others": []},
                **{"named": {}, "homes": []},
            },
        )
        for handle in (made, copy, again):
            check("toft_object_release", handle)

    def test_objects_stand_inside_as_deep_as_was_asked_and_each_once(self):
        circle = {"id": 1, "next": {"id": 2, "next": {"id": 3, "next": 1}}, "others": [3, 2]}
        made, _ = self.create(circle)
        self.assertEqual((self.count(), self.read(made)["next"]), (3, 2))
        one = self.read(made, 1)
        self.assertEqual((one["next"]["id"], one["next"]["next"]), (2, 3))
        self.assertEqual([one["others"][0]["id"], one["others"][1]], [3, 2])
        deep = self.read(made, 100)
        self.assertEqual(deep["next"]["next"]["next"], 1)
        self.assertEqual(deep["others"], [3, 2])
        copy, _ = self.create(self.text(made, 100), realm=1)
        self.assertEqual(self.text(copy, 100), self.text(made, 100))
        self.assertEqual(self.count(realm=1), 3)
        with self.assertRaises(ToftError) as caught:
            self.text(made, 101)
        self.assertIn("101", caught.exception.message)

    def test_a_name_that_stands_twice_in_an_object_is_refused_wherever_that_is(self):
        self.create({"id": 7})
        for members, name in (
            ('"title": "a", "title": "a"', "title"),
            ('"title": "a", "t\\u0069tle": "b"', "title"),
            ('"next": 7, "next": null', "next"),
            ('"next": {"id": 50, "id": 50}', "id"),
            ('"scores": {"a": 1, "b": 2, "a": 3}', "a"),
            ('"any": {"a": 1, "a": 2}', "a"),
            ('"any": [{"b": [{"a": 1, "a": 2}]}]', "a"),
            ('"any": {"$date": "2026-11-22", "$date": "2026-11-23"}', "$date"),
            ('"any": {"$class": "Thing", "$class": "Home", "$link": 7}', "$class"),
            ('"home": {"street": "a", "street": "a"}', "street"),
            (f'"any": {{{", ".join(f"{json.dumps(str(n % 40))}: 1" for n in range(41))}}}', "0"),
        ):
            with self.subTest(members=members[:60]):
                error = self.refused(
                    f'{{"id": 9, {members}}}', "INVALID_ARGUMENT", f"'{name}' twice"
                )
                self.assertGreater(error.number, 9)
        self.assertEqual(self.count(), 1)
        # Names are the same where their bytes are.
        made, _ = self.create('{"id": 9, "any": {"\u00e9": 1, "e\u0301": 2, "K": 3, "\u212a": 4}}')
        self.assertEqual(len(self.read(made)["any"]), 4)

    def test_objects_without_primary_key_are_named_within_their_text(self):
        made, _ = self.create(
            {"id": 1, "note": {"_key": 70, "text": "a", "more": {"text": "b", "more": 70}}}
        )
        written = self.text(made, 5)
        note = json.loads(written)["note"]
        self.assertEqual((note["more"]["text"], note["more"]["more"]), ("b", note["_key"]))
        copy, _ = self.create(written, realm=1)
        self.assertEqual(self.text(copy, 5), written)
        self.refused({"id": 9, "note": 4711}, "MISSING_PRIMARY_KEY", "Thing.note", "4711", "_key")

    def test_policies_say_what_becomes_of_objects_that_are_there(self):
        self.create({"id": 1, "title": "a", "numbers": [1], "next": {"id": 2}})
        self.refused({"id": 1}, "DUPLICATE_PRIMARY_KEY", "Thing")
        self.refused({"id": 3, "next": {"id": 2}}, "DUPLICATE_PRIMARY_KEY", "Thing")
        for policy in (E.TOFT_UPDATE_MODIFIED, E.TOFT_UPDATE_ALL):
            made, is_new = self.create(
                {"id": 1, "numbers": None, "next": {"id": 2, "title": "b"}}, policy=policy
            )
            self.assertFalse(is_new)
            found = self.read(made, 1)
            self.assertEqual((found["title"], found["numbers"]), ("a", []))
            self.assertEqual(found["next"]["title"], "b")
        self.refused({"text": "x"}, "MISSING_PRIMARY_KEY", name="Note", policy=E.TOFT_UPDATE_ALL)
        self.assertEqual(self.count(), 2)

    def test_members_that_are_no_properties_are_left_out_or_refused(self):
        given = {"id": 1, "nope": [{"x": 1}], "back": [], "next": {"id": 2, "nope": None}}
        for flags in (None, E.TOFT_JSON_DEFAULT):
            made, _ = self.create(given, flags=flags, policy=E.TOFT_UPDATE_ALL)
            self.assertEqual(self.read(made, 1)["next"]["id"], 2)
            check("toft_object_release", made)
        for name, wrong in (("nope", 1), ("back", [])):
            for given in ({"id": 5, name: wrong}, {"id": 5, "home": {"street": "x", "nope": 1}}):
                self.refused(given, "NO_SUCH_PROPERTY", flags=E.TOFT_JSON_REFUSE_UNKNOWN)
        self.refused({"id": 5}, "UNSUPPORTED", "flags", flags=2)

    def test_a_text_that_is_refused_leaves_what_it_would_update(self):
        made, _ = self.create(FULL)
        before = self.text(made, 3)
        self.refused(
            {**FULL, "home": {"street": "new"}, "next": {"id": 1, "homes": [{"street": 5}]}},
            "TYPE_MISMATCH", policy=E.TOFT_UPDATE_ALL,
        )  # fmt: skip
        self.refused(
            {"id": 1, "title": "new", "next": 99}, "NO_SUCH_OBJECT", policy=E.TOFT_UPDATE_ALL
        )
        self.assertEqual(self.text(made, 3), before)
        check("toft_object_release", made)

    def test_what_does_not_fit_is_refused_and_creates_nothing(self):
        for name, wrong, code, *words in (
            ("title", None, "NULL_NOT_ALLOWED", "Thing.title"),
            ("words", ["a", None], "NULL_NOT_ALLOWED", "Thing.words"),
            ("title", 3, "TYPE_MISMATCH", "Thing.title", "string", "an integer: 3"),
            ("flag", 1, "TYPE_MISMATCH", "Thing.flag", "bool"),
            ("numbers", [1.5], "TYPE_MISMATCH", "Thing.numbers", "int", "1.5"),
            ("numbers", [2**63], "TYPE_MISMATCH", "Thing.numbers", "9223372036854775808"),
            ("numbers", {"a": 1}, "TYPE_MISMATCH", "Thing.numbers", "an object"),
            ("ratio", 3.5e38, "TYPE_MISMATCH", "Thing.ratio", "float"),
            ("picture", "*", "TYPE_MISMATCH", "Thing.picture", "base64"),
            ("picture", "AA=", "TYPE_MISMATCH", "Thing.picture"),
            ("day", "2026-02-29T00:00:00Z", "TYPE_MISMATCH", "Thing.day", "ISO 8601"),
            ("day", "2026-02-28T24:00:00Z", "TYPE_MISMATCH", "Thing.day"),
            ("day", "2026-02-28T00:00:00", "TYPE_MISMATCH", "Thing.day"),
            ("code", "12", "TYPE_MISMATCH", "Thing.code", "8-4-4-4-12"),
            ("token", "g" * 24, "TYPE_MISMATCH", "Thing.token"),
            ("price", "1,5", "TYPE_MISMATCH", "Thing.price", "decimal"),
            ("price", True, "TYPE_MISMATCH", "Thing.price", "decimal"),
            ("any", {"$date": "soon"}, "TYPE_MISMATCH", "Thing.any", "$date"),
            ("any", {"$class": "No", "$link": 1}, "NO_SUCH_CLASS", "No"),
            ("scores", {"a.b": 1}, "INVALID_ARGUMENT", "Thing.scores", "'.'"),
            ("next", 77, "NO_SUCH_OBJECT", "Thing.next", "77"),
            ("next", "x", "TYPE_MISMATCH", "Thing.next", "primary key"),
            ("next", {"id": 5, "others": [{"id": 6}, 77]}, "NO_SUCH_OBJECT", "Thing.others", "77"),
            ("home", {"street": "Elm", "owner": 77}, "NO_SUCH_OBJECT", "Home.owner"),
            ("home", 5, "TYPE_MISMATCH", "Thing.home", "embedded"),
            ("homes", [{"street": "Elm"}, {"street": 1}], "TYPE_MISMATCH", "Home.street"),
        ):
            with self.subTest(name=name, wrong=wrong):
                self.refused({"id": 9, name: wrong}, code, *words)
        self.refused({"title": "x"}, "MISSING_PRIMARY_KEY", "Thing")
        self.refused([{"id": 9}], "TYPE_MISMATCH", "a list")
        self.refused({"street": "Elm"}, "EMBEDDED_OBJECT", "Home", name="Home")
        self.assertEqual(self.count(), 0)

    def test_what_is_no_json_is_told_with_its_place(self):
        for given, place in (
            ("", 0),
            ("{", 1),
            ('{"id": 1', 8),
            ('{"id": 1,}', 9),
            ("{'id': 1}", 1),
            ('{"id" 1}', 6),
            ('{"id": 01}', 7),
            ('{"id": 1.}', 9),
            ('{"id": -}', 8),
            ('{"id": NaN}', 7),
            ('{"id": Infinity}', 7),
            ('{"id": -Infinity}', 8),
            ('{"id": 0x10}', 8),
            ('{"id": +1}', 7),
            ('{"id": .5}', 7),
            ('{"id": 1_0}', 8),
            ('{"id": tru}', 7),
            ('{"id": 1} 2', 10),
            ('{"title": "a', 10),
            ('{"title": "\t"}', 11),
            ('{"title": "\\x"}', 11),
            ('{"title": "\\ud800"}', 11),
            ('{"title": "\\u12g4"}', 15),
            (b'{"title": "\xff"}', 11),
            ("\0", 0),
        ):
            with self.subTest(given=given):
                error = self.refused(given, "INVALID_ARGUMENT", "not JSON", f"byte {place}")
                self.assertEqual(error.number, place)

    def test_an_int_is_exactly_what_stands_there_or_an_error(self):
        for given, number in (
            ("0", 0),
            ("-0", 0),
            ("-0.0", 0),
            ("-0e-999999999999999999999", 0),
            ("0e999999999999999999999", 0),
            ("2.0", 2),
            ("-2.50e1", -25),
            ("2500e-2", 25),
            ("0.0025e4", 25),
            (f"{2**53 + 1}", 2**53 + 1),
            (f"{2**53 + 1}.0", 2**53 + 1),
            (f"-{2**53 + 1}.000e0", -(2**53) - 1),
            (f"{2**63 - 1}", 2**63 - 1),
            (f"{2**63 - 1}.00", 2**63 - 1),
            (f"-{2**63}", -(2**63)),
            (f"-{2**63}.0", -(2**63)),
            ("1e18", 10**18),
            ("9.223372036854775807E+18", 2**63 - 1),
        ):
            with self.subTest(given=given):
                text = f'{{"id": 1, "numbers": [{given}], "any": [{given}]}}'
                made, _ = self.create(text, policy=E.TOFT_UPDATE_ALL)
                self.assertEqual(self.read(made)["numbers"], [number])
                self.assertEqual(
                    self.read(made)["any"],
                    [{"$double": -0.0} if given.startswith("-0") else number],
                )
        for given in (
            "0.5",
            "2.5",
            "25e-1",
            "1.00000000000000000001",
            f"{2**53}.5",
            f"{2**53 + 1}.5",
            f"{2**63}",
            f"{2**63}.0",
            f"-{2**63 + 1}",
            "1e19",
            "1e-300",
            "1e400",
            "-1e-400",
            "1e999999999999999999999",
            "1e-999999999999999999999",
        ):
            with self.subTest(given=given):
                text = f'{{"id": 2, "numbers": [{given}]}}'
                self.refused(text, "TYPE_MISMATCH", "Thing.numbers", "int", "whole")

    def test_a_number_is_what_stands_there_or_refused(self):
        digits = "12345678901234567890123456789012345"
        for name, given, found in (
            ("score", "1e-320", 1e-320),
            ("score", "0e999", 0.0),
            ("score", "18446744073709551615", 18446744073709551616.0),
            ("ratio", "0.1", 0.10000000149011612),
            # Twice rounded it is the float below.
            ("ratio", "1.000000059604644775390625000001", 1.00000011920928955078125),
            ("price", "1.50", "1.50"),
            ("price", "19.99", "19.99"),
            ("price", "-0", "-0"),
            ("price", digits[:34], digits[:34]),
            ("price", json.dumps(digits[:34]), digits[:34]),
            ("price", f"{digits[:34]}e-39", f"0.00000{digits[:34]}"),
            ("price", f"{digits[:33]}.00", f"{digits[:33]}.0"),
            ("price", "1e6000", "1E+6000"),
            ("any", "18446744073709551615", {"$decimal": "18446744073709551615"}),
            ("any", f"-{2**63 + 1}", {"$decimal": f"-{2**63 + 1}"}),
            ("any", digits[:34], {"$decimal": digits[:34]}),
            ("any", "1" + "0" * 40, {"$decimal": "1.000000000000000000000000000000000E+40"}),
            ("any", f'[{{"a": {2**64}}}]', [{"a": {"$decimal": str(2**64)}}]),
            ("any", f'{{"$decimal": {digits[:34]}}}', {"$decimal": digits[:34]}),
            ("any", '{"$decimal": 1.50}', {"$decimal": "1.50"}),
            ("any", "1e20", {"$double": 1e20}),
            ("any", f"{2**64}.0", {"$double": 2.0**64}),
            ("any", "0.1234567890123456789", 0.12345678901234568),
            ("any", "-0", {"$double": -0.0}),
        ):
            with self.subTest(name=name, given=given):
                made, _ = self.create(f'{{"id": 1, "{name}": {given}}}', policy=E.TOFT_UPDATE_ALL)
                self.assertEqual(self.read(made)[name], found)
        for name, given in (
            ("score", "1e400"),
            ("score", "-1e400"),
            ("score", "1e-400"),
            ("ratio", "1e39"),
            ("ratio", "1e-50"),
            ("price", digits),
            ("price", json.dumps(digits)),
            ("price", f"0.{digits}"),
            ("price", "1e7000"),
            ("price", "1e-7000"),
            ("any", digits),
            ("any", f"-{digits}"),
            ("any", f'[1, {{"a": {digits}}}]'),
            ("any", "1e400"),
            ("any", "1e-400"),
            ("any", '{"$double": 1e400}'),
            ("any", '{"$float": 1e39}'),
            ("any", f'{{"$decimal": "{digits}"}}'),
            ("any", f'{{"$decimal": {digits}}}'),
        ):
            with self.subTest(name=name, given=given):
                self.refused(f'{{"id": 2, "{name}": {given}}}', "TYPE_MISMATCH", f"Thing.{name}")
        # Written text is read back, also from the whole range of a decimal.
        self.assertEqual(self.count(), 1)

    def test_a_byte_order_mark_is_left_out(self):
        made, _ = self.create(b'\xef\xbb\xbf {"id": 3, "title": "\xef\xbb\xbfx"}')
        self.assertEqual(self.read(made)["title"], "\ufeffx")

    def test_texts_are_read_in_every_spelling(self):
        made, _ = self.create(
            '\t{ "id" : 1.0, "title" : "\\u00e9\\/\\b", "score":2e0,'
            ' "day" : "2026-11-22 09:30:00.5+01:00", "numbers":[1e2] }\n'
        )
        found = self.read(made)
        self.assertEqual((found["title"], found["score"]), ("\u00e9/\b", 2.0))
        self.assertEqual(found["day"], "2026-11-22T08:30:00.5Z")
        for day, read in (
            ("2024-02-29", "2024-02-29T00:00:00Z"),
            ("1582-12-31T23:59:59Z", "T-12212553601:0"),
            ("1583-01-01T00:00:00Z", "1583-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
            ("T253402300800:0", "T253402300800:0"),
            ("T-5:-7", "1969-12-31T23:59:54.999999993Z"),
            ("2024-01-01 00:00:00+00", "2024-01-01T00:00:00Z"),
            ("2024-01-01T00:00Z", "2024-01-01T00:00:00Z"),
            ("2024-01-01T05+05", "2024-01-01T00:00:00Z"),
            ("20240101T000000Z", "2024-01-01T00:00:00Z"),
            ("20240101T013000,5+0130", "2024-01-01T00:00:00.5Z"),
            ("2024-01-01 00:00:00 -00:00", "2024-01-01T00:00:00Z"),
            ("2020-W53-7T23:59:59Z", "2021-01-03T23:59:59Z"),
            ("2021W011T00Z", "2021-01-04T00:00:00Z"),
            ("1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.25Z"),
        ):
            made, _ = self.create({"id": 1, "day": day}, policy=E.TOFT_UPDATE_ALL)
            self.assertEqual(self.read(made)["day"], read)

        for day, told in (
            ("2024-01-01T00:00:00", "no time zone"),
            ("2024-01-01 00:00", "no time zone"),
            ("2024-13-01", "month is 13"),
            ("2023-02-29T00:00Z", "day is 29, which is none of 1 to 28"),
            ("2024-01-01T24:00Z", "hour is 24"),
            ("2024-01-01T23:60Z", "minute is 60"),
            ("2024-01-01T23:59:60Z", "second is 60"),
            ("2024-01-01T00:00+25", "time zone is 25"),
            ("2024-01-01T00:00Z!", "goes on behind its time zone"),
            ("2021-W53-1T00Z", "week is 53, which is none of 1 to 52"),
            ("2021-W52-8T00Z", "day of the week is 8"),
            ("22.11.2026", "not of the form"),
            ("2026-11-22T08:30:00.Z", "not of the form"),
            ("2026-1122T08Z", "not of the form"),
            ("", "not of the form"),
            ("T5", "colon"),
            ("T5:-1", "different signs"),
            ("T\u0301:5", "colon"),
        ):
            with self.subTest(day=day):
                self.refused({"id": 2, "day": day}, "TYPE_MISMATCH", "Thing.day", told, "ISO 8601")

    def test_a_text_is_as_deep_as_its_limit(self):
        limit = 400  # TOFT_MAX_JSON_DEPTH
        home = {"street": "last"}
        for number in range(98):
            home = {"street": str(number), "annex": home}
        made, _ = self.create({"id": 1, "home": home})  # 100 objects in one another
        self.assertEqual(self.count("Home"), 99)
        self.assertEqual(self.text(made).count("street"), 99)
        self.create({"id": 1, "home": {"street": "top", "annex": home}}, policy=E.TOFT_UPDATE_ALL)
        self.assertEqual(self.text(made).count("street"), 100)
        home = {"street": "top", "annex": {"street": "second", "annex": home}}
        self.refused({"id": 2, "home": home}, "VALUE_TOO_LONG", "Home.annex", "100")
        # If links are followed, an object embedded in the last one may be one too many.
        chain, _ = self.create({"id": 1000, "home": {"street": "last"}})
        for number in range(1001, 1101):
            chain, _ = self.create({"id": number, "next": number - 1})
        self.assertEqual(self.text(chain, 99).count("title"), 100)
        with self.assertRaises(ToftError) as caught:
            self.text(chain, 100)
        self.assertEqual(caught.exception.status, E.TOFT_ERROR_VALUE_TOO_LONG)
        self.assertIn("101", caught.exception.message)

        def lists(count):
            return '{"id": 2, "nope": ' + "[" * count + "]" * count + "}"

        strict = E.TOFT_JSON_REFUSE_UNKNOWN
        self.refused(lists(limit - 1), "NO_SUCH_PROPERTY", "nope", flags=strict)
        self.refused(lists(limit), "VALUE_TOO_LONG", str(limit))
        self.refused("[" * 1_000_000, "VALUE_TOO_LONG", str(limit))

    def test_nothing_is_written_outside_of_a_transaction_nor_read_of_what_is_gone(self):
        made, _ = self.create({"id": 1})
        check("toft_object_delete", made)
        with self.assertRaises(ToftError) as caught:
            self.text(made)
        self.assertEqual(caught.exception.status, E.TOFT_ERROR_OBJECT_DELETED)
        check("toft_realm_commit", self.realms[0], None, None)
        self.refused({"id": 2}, "NOT_IN_TRANSACTION")
        check("toft_realm_begin_write", self.realms[0], None)


if __name__ == "__main__":
    unittest.main()
