# Tests: ToftCAPI/Aggregates.swift, CheckAndInfo.swift, Classes.swift, Columns.swift,
# CopiedValues.swift, ToftCAPI/Copies.swift, Dictionaries.swift, Dispatch.swift,
# EmbeddedObjects.swift, ErrorCode+Name.swift, Errors.swift, Handles.swift, JSON.swift,
# Lists.swift, Migrations.swift, ObjectValues.swift, Objects.swift, ToftCAPI/Observation.swift,
# PreparedQueries.swift, QueriesAndResults.swift, RealmFiles.swift, Realms.swift, Sets.swift,
# SizedStructure.swift, Transactions.swift, Versions.swift
"""Every function with right arguments:

what it does is checked, and a function that nobody called fails the test.
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

from arrow import Producer, Stream, Table, texts
from calls import (
    HEADER,
    LIBRARY,
    RESERVED_TYPES,
    Date,
    Decimal,
    E,
    Float,
    Link,
    ObjectId,
    S,
    ToftError,
    check,
    class_schema,
    configuration,
    get,
    last_error,
    new_schema,
    on_another_thread,
    open_realm,
    property_schema,
    python,
    sized,
    status,
    status_name,
    succeeded,
    text,
    text_of,
    value,
    values,
)
from world import (
    CHANGES_CALLBACK,
    CLASSES,
    DESTRUCTOR,
    GROUP_CALLBACK,
    SCHEMA_CHANGE_CALLBACK,
    World,
)

SALVAGE_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
INITIALIZE_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
COMPACT_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64
)
MIGRATION_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
DEFAULT_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_bool, ctypes.c_void_p, S.toft_string, S.toft_string, ctypes.c_void_p
)
INSIDE_CALLBACK = E.TOFT_ERROR_INSIDE_CALLBACK
SCALARS = {
    "bool": (E.TOFT_TYPE_BOOL, True, False),
    "int": (E.TOFT_TYPE_INT, -(2**63), 0),
    "float": (E.TOFT_TYPE_FLOAT, Float(1.5), Float(0.0)),
    "double": (E.TOFT_TYPE_DOUBLE, 2.25, 0.0),
    "string": (E.TOFT_TYPE_STRING, "Grüße, 世界 \0 end", ""),
    "data": (E.TOFT_TYPE_DATA, b"\0\xff\x80", b""),
    "date": (E.TOFT_TYPE_DATE, Date(-5, -7), Date(0, 0)),
    "uuid": (E.TOFT_TYPE_UUID, uuid.UUID(int=2**127 + 5), uuid.UUID(int=0)),
    "decimal": (E.TOFT_TYPE_DECIMAL, Decimal(150, 0x303C << 48), Decimal(0, 6176 << 49)),
    "object_id": (E.TOFT_TYPE_OBJECT_ID, ObjectId(range(244, 256)), ObjectId(12)),
}


def dictionary_contents(elements):
    """A dictionary read in pieces of two."""
    read, count, found = (S.toft_entry * 2)(), ctypes.c_size_t(), {}
    while True:
        check("toft_dictionary_get_entries", elements, len(found), read, 2, ctypes.byref(count))
        found.update((text_of(each.key), python(each.value)) for each in read[: count.value])
        if count.value == 0:
            return found


def get_info(function, world, key):
    """The information on a property."""
    info = sized(S.toft_property_info)
    check(function, world.realm, world.person, key, ctypes.byref(info))
    return info


def deliver(realm, told, count):
    """Dispatches until `count` calls have come, and a moment longer."""
    deadline = time.monotonic() + 10
    while len(told) < count and time.monotonic() < deadline:
        check("toft_realm_refresh", realm, None)
        time.sleep(0.002)
    check("toft_realm_dispatch", realm, None)


#: The path by which another process finds this file.
TESTS = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)}


def open_encrypted(path):
    """Opens a file that is encrypted with the bytes 0...63."""
    key = (ctypes.c_char * 64)(*bytes(range(64)))
    given = {"encryption_key": ctypes.addressof(key), "encryption_key_size": 64}
    return open_realm(CLASSES, path=path, **given)


def add_people(path, name):
    """Another process: fifty commits to an encrypted file."""
    realm = open_encrypted(path)
    person = get("toft_realm_find_class", realm, text("Person"))
    for number in range(50):
        create_person(realm, person, f"{name} {number}")
    check("toft_realm_close", realm)


def create_person(realm, person, name):
    """Commits a person."""
    check("toft_realm_begin_write", realm, None)
    keys = (ctypes.c_uint32 * 1)(get("toft_realm_find_property", realm, person, text("name")))
    arguments = E.TOFT_UPDATE_ERROR, keys, values([name]), 1, None, None, None
    check("toft_realm_create_object", realm, person, *arguments)
    check("toft_realm_commit", realm, None, None)


class FunctionTests(unittest.TestCase):
    def setUp(self):
        self.world = World()

    def tearDown(self):
        self.world.close()

    # --- Versions, errors, handles

    def test_versions_are_those_of_the_header(self):
        self.assertIn(f'#define TOFT_VERSION "{LIBRARY.toft_version().decode()}"', HEADER.text)
        self.assertIn(f"#define TOFT_ABI_VERSION {LIBRARY.toft_abi_version()}\n", HEADER.text)
        major, minor, patch = LIBRARY.toft_version().decode().split(".")
        for name, number in (("MAJOR", major), ("MINOR", minor), ("PATCH", patch)):
            self.assertIn(f"#define TOFT_VERSION_{name} {number}\n", HEADER.text)
        self.assertGreater(get("toft_handle_count"), 0)
        self.assertEqual(
            LIBRARY.toft_version_number(), (int(major) * 1000 + int(minor)) * 1000 + int(patch)
        )
        succeeded.update(["toft_version", "toft_abi_version", "toft_status_name"])
        succeeded.update(["toft_version_number"])

    def test_every_status_has_the_name_that_the_header_gives_it(self):
        for name, number in HEADER.enumerations["toft_status"].items():
            self.assertEqual(status_name(number), name)
        known = {
            number: status_name(number)
            for number in range(1000)
            if status_name(number) != "TOFT_ERROR_UNKNOWN"
        }
        self.assertEqual(
            known,
            {number: name for name, number in HEADER.enumerations["toft_status"].items()},
            "the library has no other",
        )

    def test_the_last_error_belongs_to_its_thread_and_stays_until_it_is_cleared(self):
        self.assertEqual(
            status("toft_realm_cancel", self.world.realm), E.TOFT_ERROR_NOT_IN_TRANSACTION
        )
        self.assertEqual(on_another_thread(last_error), (E.TOFT_OK, "", "", 0))
        check("toft_realm_refresh", self.world.realm, None)
        self.assertEqual(last_error()[0], E.TOFT_ERROR_NOT_IN_TRANSACTION)
        check("toft_clear_last_error")
        self.assertEqual(last_error(), (E.TOFT_OK, "", "", 0))
        succeeded["toft_last_error"] += 1

    # --- Schema

    def test_a_schema_is_found_again_as_it_was_declared(self):
        realm, person = self.world.realm, self.world.person
        keys, count = (ctypes.c_uint32 * 9)(), ctypes.c_size_t()
        check("toft_realm_classes", realm, keys, 9, ctypes.byref(count))
        self.assertEqual((count.value, keys[0]), (1, person))
        check("toft_realm_classes", realm, None, 0, ctypes.byref(count))
        self.assertEqual(count.value, 1)
        check("toft_realm_properties", realm, person, keys, 2, ctypes.byref(count))
        self.assertEqual(
            (count.value, list(keys)[2:]), (9, [0] * 7), "no more than there is room for"
        )
        check("toft_realm_properties", realm, person, keys, 9, ctypes.byref(count))
        info = get("toft_realm_class_info", realm, person)
        self.assertEqual((text_of(info.name), info.key, info.property_count), ("Person", person, 9))
        self.assertEqual(info.primary_key, self.world.keys["name"])
        for declared, key in zip(CLASSES["Person"], list(keys)):
            found = get("toft_realm_property_info", realm, person, key)
            self.assertEqual(text_of(found.name), text_of(declared.name))
            self.assertEqual((found.type, found.key), (declared.type, key))
            self.assertEqual(
                found.flags & ~E.TOFT_PROPERTY_INDEXED, declared.flags & ~E.TOFT_PROPERTY_INDEXED
            )
            self.assertEqual(found.target_class, person if text_of(declared.target_class) else 0)
            self.assertEqual(
                found.target_property,
                self.world.keys["boss"] if text_of(declared.target_property) else 0,
            )

    def test_properties_are_found_by_their_names_all_or_none(self):
        realm, person = self.world.realm, self.world.person
        kept = [text(name) for name in ("age", "name", "age", "surname")]
        names, keys = (S.toft_string * 3)(*kept[:3]), (ctypes.c_uint32 * 3)()
        check("toft_realm_find_properties", realm, person, names, 3, keys)
        age, name = self.world.keys["age"], self.world.keys["name"]
        self.assertEqual(list(keys), [age, name, age])
        check("toft_realm_find_properties", realm, person, None, 0, None)
        names[1], keys[0] = kept[3], 0
        result = status("toft_realm_find_properties", realm, person, names, 3, keys)
        self.assertEqual(status_name(result), "TOFT_ERROR_NO_SUCH_PROPERTY")
        self.assertIn("surname", last_error()[1])
        self.assertEqual(keys[0], 0, "nothing is written then")

    def test_classes_lie_in_the_configuration_as_well_as_in_a_schema(self):
        people = class_schema("Person", CLASSES["Person"])
        notes = class_schema("Note", [property_schema("text", E.TOFT_TYPE_STRING)])
        classes = (S.toft_class_schema * 2)(people, notes)
        given = configuration(memory="classes", classes=classes, class_count=2)
        realm = get("toft_realm_open", ctypes.byref(given))
        keys, count = (ctypes.c_uint32 * 9)(), ctypes.c_size_t()
        check("toft_realm_classes", realm, keys, 9, ctypes.byref(count))
        names = [text_of(get("toft_realm_class_info", realm, key).name) for key in keys[:2]]
        self.assertEqual((count.value, names), (2, ["Note", "Person"]))
        given.schema = self.world.schema
        out = ctypes.c_void_p()
        self.assertEqual(
            status("toft_realm_open", ctypes.byref(given), ctypes.byref(out)),
            E.TOFT_ERROR_INVALID_ARGUMENT,
            "a schema and classes",
        )
        for wrong in ({"classes": None, "class_count": 2}, {"class_count": 2**60}):
            given = configuration(memory="classes", **{"classes": classes, **wrong})
            self.assertEqual(
                status("toft_realm_open", ctypes.byref(given), ctypes.byref(out)),
                E.TOFT_ERROR_INVALID_ARGUMENT,
            )
        check("toft_realm_release", realm)

    def test_a_file_of_a_higher_schema_version_is_refused(self):
        realm = open_realm(CLASSES, memory="versioned", schema_version=7)
        for version, expected in ((7, "OK"), (0, "OK"), (6, "ERROR_SCHEMA_VERSION_TOO_LOW")):
            given = configuration(
                memory="versioned", schema=self.world.schema, schema_version=version
            )
            out = ctypes.c_void_p()
            result = status("toft_realm_open", ctypes.byref(given), ctypes.byref(out))
            self.assertEqual(status_name(result), f"TOFT_{expected}", version)
            check("toft_realm_release", out)
        check("toft_realm_release", realm)

    def test_a_schema_version_needs_a_schema(self):
        realm = open_realm(CLASSES, memory="versioned", schema_version=7)
        check("toft_realm_release", open_realm(memory="versioned"))
        for version in (1, 7, 8):
            given = configuration(memory="versioned", schema_version=version)
            result = status("toft_realm_open", ctypes.byref(given), ctypes.byref(ctypes.c_void_p()))
            self.assertEqual(status_name(result), "TOFT_ERROR_INVALID_ARGUMENT", version)
        check("toft_realm_release", realm)

    def test_the_schema_version_of_a_file_only_rises(self):
        with tempfile.TemporaryDirectory() as directory:
            path = str(pathlib.Path(directory) / "versioned.toft")
            self.assertEqual(get("toft_realm_info", self.world.realm).schema_version, 0)
            for given, found in ((0, 0), (1, 1), (0, 1), (2**64 - 2, 2**64 - 2), (2**64 - 1,) * 2):
                realm = open_realm(CLASSES, path=path, schema_version=given)
                self.assertEqual(get("toft_realm_info", realm).schema_version, found)
                check("toft_realm_close", realm)
                check("toft_realm_release", realm)
            with self.assertRaisesRegex(ToftError, "SCHEMA_VERSION_TOO_LOW"):
                open_realm(CLASSES, path=path, schema_version=2**64 - 2)

    def test_required_properties_become_optional_when_they_are_declared_so(self):
        def declared(flags):
            return {
                "Thing": [
                    property_schema(name, kind, flags) for name, (kind, _, _) in SCALARS.items()
                ]
                + [property_schema("list", E.TOFT_TYPE_INT, flags | E.TOFT_PROPERTY_LIST)]
            }

        required, optional = declared(0), declared(E.TOFT_PROPERTY_NULLABLE)
        old = open_realm(required, memory="optional")
        thing = get("toft_realm_find_class", old, text("Thing"))
        properties = {
            name: get("toft_realm_find_property", old, thing, text(name))
            for name in [*SCALARS, "list"]
        }
        filled, empty = self.made(old, thing), self.made(old, thing)
        check("toft_realm_begin_write", old, None)
        for name, (_, given, _) in SCALARS.items():
            check("toft_object_set", filled, properties[name], value(given))
        elements = get("toft_object_list", filled, properties["list"])
        check("toft_list_append", elements, values([1, 2]), 2)
        check("toft_realm_commit", old, None, None)

        reader = configuration(memory="optional", mode=E.TOFT_MODE_READ_ONLY)
        schema = new_schema(optional)
        reader.schema = schema
        out = ctypes.c_void_p()
        result = status("toft_realm_open", ctypes.byref(reader), ctypes.byref(out))
        self.assertEqual(status_name(result), "TOFT_ERROR_SCHEMA_MISMATCH")
        self.assertIn("Open the file once for writing with this schema", last_error()[2])
        check("toft_schema_release", schema)

        new = open_realm(optional, memory="optional")
        flags = get("toft_realm_property_info", new, thing, properties["int"]).flags
        self.assertEqual(flags & E.TOFT_PROPERTY_NULLABLE, E.TOFT_PROPERTY_NULLABLE)
        nulled = self.made(new, thing)
        things = get("toft_realm_objects", new, thing)
        same = get("toft_results_object", things, 0)
        for name, (_, given, default) in SCALARS.items():
            self.assertEqual(get("toft_object_get", same, properties[name]), given)
            second = get("toft_results_object", things, 1)
            self.assertEqual(get("toft_object_get", second, properties[name]), default)
            check("toft_object_release", second)
            self.assertIsNone(get("toft_object_get", nulled, properties[name]))
        check("toft_realm_begin_write", new, None)
        for name in SCALARS:
            check("toft_object_set", same, properties[name], value(None))
        numbers = get("toft_object_list", same, properties["list"])
        check("toft_list_append", numbers, values([None]), 1)
        check("toft_realm_commit", new, None, None)

        # The realm with the old classes continues: it reads null, and writes no null.
        check("toft_realm_refresh", old, None)
        self.assertEqual(get("toft_list_count", elements), 3)
        self.assertIsNone(get("toft_list_get", elements, 2))
        check("toft_realm_begin_write", old, None)
        for name, (_, given, default) in SCALARS.items():
            self.assertIsNone(get("toft_object_get", filled, properties[name]))
            result = status("toft_object_set", filled, properties[name], value(None))
            self.assertEqual(status_name(result), "TOFT_ERROR_NULL_NOT_ALLOWED")
            check("toft_object_set", filled, properties[name], value(given))
        result = status("toft_list_append", elements, values([None]), 1)
        self.assertEqual(status_name(result), "TOFT_ERROR_NULL_NOT_ALLOWED")
        check("toft_realm_commit", old, None, None)
        late = self.made(old, thing)
        for name, (_, _, default) in SCALARS.items():
            self.assertEqual(get("toft_object_get", late, properties[name]), default)

        schema = new_schema(required)
        given = configuration(memory="optional", schema=schema)
        result = status("toft_realm_open", ctypes.byref(given), ctypes.byref(out))
        self.assertEqual(status_name(result), "TOFT_ERROR_SCHEMA_MISMATCH")
        self.assertIn("the file may hold null there. Declare it optional", last_error()[2])
        check("toft_schema_release", schema)
        for handle in (filled, empty, nulled, same, late):
            check("toft_object_release", handle)
        for handle in (elements, numbers):
            check("toft_list_release", handle)
        check("toft_results_release", things)
        for realm in (old, new):
            check("toft_realm_release", realm)

    def made(self, realm, owner):
        """A new object of a class, in a transaction of its own."""
        made = ctypes.c_void_p()
        check("toft_realm_begin_write", realm, None)
        check(
            "toft_realm_create_object",
            realm,
            owner,
            E.TOFT_UPDATE_ERROR,
            None,
            None,
            0,
            ctypes.byref(made),
            None,
            None,
        )
        check("toft_realm_commit", realm, None, None)
        return made

    def test_what_later_versions_will_know_is_unsupported_and_not_unknown(self):
        for kind in RESERVED_TYPES:
            declared = class_schema("Thing", [property_schema("thing", kind)])
            out = ctypes.c_void_p()
            result = status("toft_schema_new", ctypes.byref(declared), 1, ctypes.byref(out))
            self.assertEqual(status_name(result), "TOFT_ERROR_UNSUPPORTED", kind)
        full_text = property_schema("thing", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_FULL_TEXT)
        declared, out = class_schema("Thing", [full_text]), ctypes.c_void_p()
        result = status("toft_schema_new", ctypes.byref(declared), 1, ctypes.byref(out))
        self.assertEqual(status_name(result), "TOFT_ERROR_UNSUPPORTED")

    def test_a_result_says_how_much_of_it_was_filled_in(self):
        class Later(ctypes.Structure):
            _fields_ = [("info", S.toft_database_info), ("extra", ctypes.c_uint64)]

        later = Later(extra=77)
        later.info.size = ctypes.sizeof(Later)
        pointer = ctypes.cast(ctypes.byref(later), ctypes.POINTER(S.toft_database_info))
        check("toft_realm_info", self.world.realm, pointer)
        self.assertEqual(later.info.size, ctypes.sizeof(S.toft_database_info))
        self.assertEqual((later.info.page_size, later.extra), (4096, 77))

    def test_results_have_their_query_as_text(self):
        def query(results):
            size = ctypes.c_size_t()
            check("toft_results_query", results, None, 0, ctypes.byref(size))
            buffer = ctypes.create_string_buffer(size.value + 1)
            check("toft_results_query", results, buffer, size.value + 1, ctypes.byref(size))
            return buffer.value.decode()

        self.assertEqual(query(self.world.results), "TRUEPREDICATE")
        results = self.world.results
        for given, expected in (
            ("TRUEPREDICATE limit(5)", "TRUEPREDICATE LIMIT(5)"),
            ("!FALSEPREDICATE", "TRUEPREDICATE LIMIT(5) FILTER(NOT FALSEPREDICATE)"),
        ):
            out = ctypes.c_void_p()
            check("toft_results_filter", results, text(given), None, 0, ctypes.byref(out))
            self.assertEqual(query(out), expected)
            results = out

    def test_an_alias_stands_for_a_path(self):
        def count(query):
            out = ctypes.c_void_p()
            check("toft_results_filter", people, text(query), None, 0, ctypes.byref(out))
            return get("toft_results_count", out)

        def alias(name, path):
            return status("toft_realm_set_alias", realm, person, text(name), text(path))

        realm, person = self.world.realm, self.world.person
        people = get("toft_realm_objects", realm, person)
        self.assertEqual(alias("chief", "boss"), E.TOFT_OK)
        self.assertEqual(alias("years", "chief.age"), E.TOFT_OK)
        for query, plain in (
            ("years > 0", "boss.age > 0"),
            ("chief.chief.name != null", "boss.boss.name != null"),
            ("chief == null SORT(years DESC)", "boss == null"),
            ("chief.@max.chief.age != null", "boss.@max.boss.age != null"),
        ):
            self.assertEqual(count(query), count(plain), query)
        self.assertEqual(alias("round", "round"), E.TOFT_OK)
        out = ctypes.c_void_p()
        result = status(
            "toft_results_filter", people, text("round == 1"), None, 0, ctypes.byref(out)
        )
        self.assertEqual(result, E.TOFT_ERROR_INVALID_QUERY)
        self.assertIn("50", last_error()[1])
        self.assertEqual(alias("years", ""), E.TOFT_OK)
        result = status(
            "toft_results_filter", people, text("years == 1"), None, 0, ctypes.byref(out)
        )
        self.assertEqual(result, E.TOFT_ERROR_INVALID_QUERY)
        self.assertEqual(alias("", "age"), E.TOFT_ERROR_INVALID_ARGUMENT)
        frozen = get("toft_realm_freeze", realm)
        result = status("toft_realm_set_alias", frozen, person, text("a"), text("age"))
        self.assertEqual(result, E.TOFT_ERROR_READ_ONLY)

    def test_texts_end_in_nul_whatever_the_room(self):
        size = ctypes.c_size_t()
        check("toft_results_explain", self.world.results, None, 0, ctypes.byref(size))
        for capacity in (1, 2, size.value, size.value + 1, size.value + 5):
            buffer = ctypes.create_string_buffer(b"#" * 200, 200)
            check("toft_results_explain", self.world.results, buffer, capacity, ctypes.byref(size))
            written = min(size.value, capacity - 1)
            self.assertEqual(buffer.raw[written : written + 2], b"\0#", capacity)
            self.assertNotIn(b"\0", buffer.raw[:written])
            buffer = ctypes.create_string_buffer(b"#" * 200, 200)
            report, length = sized(S.toft_check_report), ctypes.c_size_t()
            check(
                "toft_realm_check",
                self.world.realm,
                ctypes.byref(report),
                buffer,
                capacity,
                ctypes.byref(length),
            )
            self.assertEqual((buffer.raw[:2], length.value), (b"\0#", 0))

    def test_the_last_error_of_a_realm_is_that_of_calls_with_it(self):
        def last(realm):
            error = sized(S.toft_error)
            check("toft_realm_last_error", realm, ctypes.byref(error))
            return status_name(error.code), text_of(error.message)

        other = open_realm(memory=self.world.name)
        self.assertEqual(last(other), ("TOFT_OK", ""))
        status("toft_realm_cancel", other)
        status("toft_list_get", self.world.list, 99, ctypes.byref(S.toft_value()))
        self.assertEqual(last(other)[0], "TOFT_ERROR_NOT_IN_TRANSACTION")
        code, message = last(self.world.realm)
        self.assertEqual(code, "TOFT_ERROR_INDEX_OUT_OF_RANGE")
        self.assertEqual(message, last_error()[1])
        check("toft_realm_close", other)
        self.assertEqual(status("toft_realm_refresh", other, None), E.TOFT_ERROR_CLOSED)
        self.assertEqual(last(other)[0], "TOFT_ERROR_CLOSED", "a closed realm still tells")
        check("toft_realm_release", other)

    # --- Realms and transactions

    def test_realms_share_versions_and_move_when_told(self):
        other = open_realm(memory=self.world.name)
        before = get("toft_realm_version", other)
        self.write(lambda: check("toft_object_release", self.world.create("Barbara", 38)))
        self.assertEqual(get("toft_realm_version", other), before)
        self.assertEqual(get("toft_realm_object_count", other, self.world.person), 3)
        self.assertTrue(get("toft_realm_refresh", other))
        self.assertFalse(get("toft_realm_refresh", other))
        self.assertEqual(get("toft_realm_object_count", other, self.world.person), 4)
        self.assertEqual(
            get("toft_realm_version", other), get("toft_realm_version", self.world.realm)
        )
        check("toft_realm_close", other)
        self.assertEqual(status("toft_realm_close", other), E.TOFT_ERROR_CLOSED)
        check("toft_realm_release", other)

    def test_a_commit_gives_its_version_and_a_cancelled_transaction_leaves_nothing(self):
        realm = self.world.realm
        self.assertFalse(get("toft_realm_is_writing", realm))
        check("toft_realm_begin_write", realm, None)
        self.assertTrue(get("toft_realm_is_writing", realm))
        self.assertEqual(
            status("toft_realm_begin_write", realm, None), E.TOFT_ERROR_ALREADY_IN_TRANSACTION
        )
        check("toft_object_release", self.world.create("Barbara", 38))
        self.assertEqual(get("toft_realm_commit", realm, None), get("toft_realm_version", realm))
        check("toft_realm_begin_write", realm, None)
        made = self.world.create("Dennis", 29)
        self.assertEqual(
            get("toft_results_count", self.world.results), 5, "results see what the transaction did"
        )
        check("toft_realm_cancel", realm)
        self.assertFalse(get("toft_object_is_valid", made))
        self.assertEqual(
            status("toft_object_get", made, self.world.keys["age"], ctypes.byref(S.toft_value())),
            E.TOFT_ERROR_OBJECT_DELETED,
        )
        self.assertEqual(get("toft_results_count", self.world.results), 4)
        check("toft_object_release", made)

    def test_a_savepoint_is_come_back_to(self):
        world, realm = self.world, self.world.realm
        for name, arguments in (("begin", ()), ("end", (True,)), ("end", (False,))):
            result = status(f"toft_realm_{name}_savepoint", realm, *arguments)
            self.assertEqual(result, E.TOFT_ERROR_NOT_IN_TRANSACTION)
        before = {name: get("toft_object_get", world.object, key)
                  for name, key in world.keys.items() if name in ("name", "age")}  # fmt: skip
        check("toft_realm_begin_write", realm, None)
        version = get("toft_realm_version", realm)
        self.assertEqual(
            status("toft_realm_end_savepoint", realm, True), E.TOFT_ERROR_INVALID_ARGUMENT
        )
        check("toft_realm_begin_savepoint", realm)
        made = world.create("Barbara", 38)
        check("toft_object_set", world.object, world.keys["age"], value(99))
        check("toft_list_clear", world.list)
        check("toft_realm_begin_savepoint", realm)
        check("toft_object_delete", world.object)
        self.assertFalse(get("toft_object_is_valid", world.object))
        check("toft_realm_end_savepoint", realm, False)
        self.assertEqual(get("toft_object_get", world.object, world.keys["age"]), 99)
        check("toft_realm_begin_savepoint", realm)
        check("toft_list_append", world.list, values([7]), 1)
        check("toft_realm_end_savepoint", realm, True)
        self.assertEqual(self.contents(world.list), [7])
        self.assertEqual(get("toft_results_count", world.results), 4)
        check("toft_realm_end_savepoint", realm, False)
        self.assertFalse(get("toft_object_is_valid", made))
        self.assertEqual(self.contents(world.list), [1, 2, 3])
        self.assertEqual(get("toft_results_count", world.results), 3)
        for name, was in before.items():
            self.assertEqual(get("toft_object_get", world.object, world.keys[name]), was)
        # Nothing was changed: there is nothing to commit.
        self.assertEqual(get("toft_realm_commit", realm, None), version)
        check("toft_realm_begin_write", realm, None)
        check("toft_realm_begin_savepoint", realm)
        check("toft_object_release", world.create("Barbara", 38))
        check("toft_realm_cancel", realm)
        check("toft_object_release", made)

    def test_a_transaction_is_on_disk_when_its_durability_says(self):
        with tempfile.TemporaryDirectory() as directory:
            realm = open_realm(CLASSES, path=f"{directory}/people.toft")
            person = get("toft_realm_find_class", realm, text("Person"))
            for durability, is_durable in (
                ("IMMEDIATE", True),
                ("GROUP", True),
                ("DEFERRED", False),
                ("IMMEDIATE", True),
            ):
                # Deferred commits become durable within a second: more often than not this is
                # quicker.
                ends = [
                    self.commit_with(realm, person, f"TOFT_DURABILITY_{durability}", number)
                    for number in range(1 if is_durable else 5)
                ]
                (self.assertEqual if is_durable else self.assertNotEqual)(
                    min(ends) if is_durable else max(ends), 0, durability
                )
            self.commit_with(realm, person, "TOFT_DURABILITY_DEFERRED", 0)
            check("toft_realm_flush", realm)
            info = get("toft_realm_info", realm)
            self.assertEqual(info.deferred_size, 0)
            self.assertGreater(info.log_size, 0)
            self.assertLessEqual(info.checkpoint_version, info.latest_version)
            check("toft_realm_flush", realm)
            check("toft_realm_begin_write", realm, None)
            self.assertEqual(status("toft_realm_flush", realm), E.TOFT_ERROR_ALREADY_IN_TRANSACTION)
            check("toft_realm_cancel", realm)
            check("toft_realm_release", realm)
            reader = open_realm(path=f"{directory}/people.toft", mode=E.TOFT_MODE_READ_ONLY)
            self.assertEqual(status("toft_realm_flush", reader), E.TOFT_ERROR_READ_ONLY)
            check("toft_realm_release", reader)

    def test_a_copy_is_made_of_what_a_realm_shows(self):
        with tempfile.TemporaryDirectory() as directory:
            path, copy = f"{directory}/people.toft", f"{directory}/copy.toft"
            realm = open_realm(CLASSES, path=path, schema_version=7)
            person = get("toft_realm_find_class", realm, text("Person"))
            for number in range(30):
                self.commit_with(realm, person, "TOFT_DURABILITY_IMMEDIATE", number)
            check("toft_realm_write_copy", realm, text(copy))
            again = status("toft_realm_write_copy", realm, text(copy))
            self.assertEqual(status_name(again), "TOFT_ERROR_FILE_EXISTS")
            self.assertEqual(last_error()[2], copy)
            for given, wrong in (
                ("", "INVALID_ARGUMENT"),
                (f"{directory}/none/copy.toft", "FILE_NOT_FOUND"),
                (directory, "FILE_EXISTS"),
            ):
                found = status("toft_realm_write_copy", realm, text(given))
                self.assertEqual(status_name(found), f"TOFT_ERROR_{wrong}")
            check("toft_realm_begin_write", realm, None)
            inside = status("toft_realm_write_copy", realm, text(f"{directory}/b.toft"))
            self.assertEqual(status_name(inside), "TOFT_ERROR_ALREADY_IN_TRANSACTION")
            check("toft_realm_cancel", realm)
            check("toft_realm_release", realm)
            self.assertEqual(
                sorted(os.listdir(directory)), ["copy.toft", "people.toft", "people.toft.lock"]
            )
            realm = open_realm(path=copy)
            self.assertEqual(self.count(realm), 30)
            info = get("toft_realm_info", realm)
            self.assertEqual(info.schema_version, 7)
            parts = info.live_size + info.free_size + info.held_size + info.log_size
            self.assertEqual(parts, info.file_size)
            check("toft_realm_release", realm)

    def test_a_file_is_compacted_when_nobody_has_it_open(self):
        asked = []
        callback = COMPACT_CALLBACK(lambda _, total, used: bool(asked.append((total, used))))
        compact = ctypes.cast(callback, ctypes.c_void_p)
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/people.toft"
            realm = open_realm(CLASSES, path=path)
            self.assertEqual(get("toft_compact", text(path)).size_before, 0)
            check("toft_realm_release", realm)
            size = os.path.getsize(path)
            sizes = get("toft_compact", text(path))
            self.assertEqual(sizes.size_before, size)
            self.assertEqual(sizes.size_after, os.path.getsize(path))
            realm = open_realm(path=path, compact=compact)
            other = open_realm(path=path, compact=compact)
            self.assertEqual(len(asked), 1)
            self.assertEqual(asked[0][0], sizes.size_after)
            self.assertLessEqual(asked[0][1], asked[0][0])
            check("toft_realm_release", other)
            check("toft_realm_release", realm)
            missing, out = text(f"{directory}/none"), sized(S.toft_compaction)
            found = status("toft_compact", missing, ctypes.byref(out))
            self.assertEqual(status_name(found), "TOFT_ERROR_FILE_NOT_FOUND")
            seeded = open_realm(path=f"{directory}/new.toft", seed_path=text(path))
            self.assertEqual(self.count(seeded), 0)
            check("toft_realm_release", seeded)

    def test_a_file_is_compacted_in_steps_while_it_is_open(self):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/people.toft"
            realm = open_realm(CLASSES, path=path)
            person = get("toft_realm_find_class", realm, text("Person"))
            name = get("toft_realm_find_property", realm, person, text("name"))
            key = (ctypes.c_uint32 * 1)(name)
            check("toft_realm_begin_write", realm, None)
            for number in range(4_000):
                given = values([f"{number} " * 40])
                check(
                    "toft_realm_create_object",
                    realm,
                    person,
                    E.TOFT_UPDATE_ERROR,
                    key,
                    given,
                    1,
                    None,
                    None,
                    None,
                )
            check("toft_realm_commit", realm, None, None)
            check("toft_realm_begin_write", realm, None)
            check("toft_realm_delete_all", realm, person)
            check("toft_realm_commit", realm, None, None)
            before = os.path.getsize(path)
            step = get("toft_realm_compact_step", realm, 1 << 20)
            self.assertEqual(step.size_before, before)
            while step.has_more:
                step = get("toft_realm_compact_step", realm, 1 << 20)
            self.assertEqual(step.size_after, os.path.getsize(path))
            self.assertLess(step.size_after, before)
            step = get("toft_realm_compact_step", realm, 0)
            self.assertEqual((step.moved_size, step.held_size, step.has_more), (0, 0, 0))
            check("toft_realm_begin_write", realm, None)
            out = sized(S.toft_compaction_step)
            found = status("toft_realm_compact_step", realm, 1, ctypes.byref(out))
            self.assertEqual(status_name(found), "TOFT_ERROR_ALREADY_IN_TRANSACTION")
            check("toft_realm_cancel", realm)
            self.assertEqual(self.count(realm), 0)
            frozen = get("toft_realm_freeze", realm)
            found = status("toft_realm_compact_step", frozen, 1, ctypes.byref(out))
            self.assertEqual(status_name(found), "TOFT_ERROR_READ_ONLY")
            check("toft_realm_release", frozen)
            check("toft_realm_release", realm)

    def test_an_encrypted_file_opens_with_its_key_alone(self):
        key, other = bytes(range(64)), bytes(range(1, 65))

        kept = []

        def given(key):
            kept.append((ctypes.c_char * max(1, len(key)))(*key))
            return {
                "encryption_key": ctypes.addressof(kept[-1]),
                "encryption_key_size": len(key),
            }

        def opening(path, key=None, **members):
            found, out = given(key) if key is not None else {}, ctypes.c_void_p()
            wanted = configuration(path=path, **found, **members)
            return status("toft_realm_open", ctypes.byref(wanted), ctypes.byref(out))

        with tempfile.TemporaryDirectory() as directory:
            path, plain = f"{directory}/people.toft", f"{directory}/plain.toft"
            realm = open_realm(CLASSES, path=path, **given(key))
            person = get("toft_realm_find_class", realm, text("Person"))
            for number in range(30):
                self.commit_with(realm, person, "TOFT_DURABILITY_IMMEDIATE", number)
            found = status("toft_change_key", text(path), key, 64, other, 64)
            self.assertEqual(status_name(found), "TOFT_ERROR_ALREADY_OPEN")
            for old, old_size, new, new_size in (
                (None, 64, other, 64),
                (key, 64, None, 64),
                (key, 0, other, 64),
                (key, 64, other, 63),
                (key, 64, other + b"x", 65),
            ):
                found = status("toft_change_key", text(path), old, old_size, new, new_size)
                self.assertEqual(status_name(found), "TOFT_ERROR_INVALID_ARGUMENT")
            check("toft_realm_write_copy", realm, text(plain))
            copy_path = f"{directory}/copy.toft"
            check("toft_realm_write_copy_with_key", realm, text(copy_path), other, 64)
            check("toft_realm_release", realm)
            for file, key_given, wrong in (
                (path, None, "KEY_REQUIRED"),
                (path, other, "WRONG_KEY"),
                (plain, key, "NOT_ENCRYPTED"),
                *((path, key[:size], "INVALID_ARGUMENT") for size in (0, 1, 63)),
                (path, key + b"x", "INVALID_ARGUMENT"),
            ):
                self.assertEqual(status_name(opening(file, key_given)), f"TOFT_ERROR_{wrong}")
            self.assertEqual(
                status_name(
                    status(
                        "toft_realm_open",
                        ctypes.byref(configuration(memory="secret", **given(key))),
                        ctypes.byref(ctypes.c_void_p()),
                    )
                ),
                "TOFT_ERROR_INVALID_ARGUMENT",
            )
            with open(path, "rb") as file:
                self.assertNotIn(b"Person", file.read())
            with open(plain, "rb") as file:
                self.assertIn(b"Person", file.read())
            sizes = sized(S.toft_compaction)
            check("toft_compact_with_key", text(path), key, 64, ctypes.byref(sizes))
            self.assertGreater(sizes.size_after, 0)
            version = get("toft_file_schema_version_with_key", text(path), key, 64)
            self.assertEqual(version, 0)
            for given_key, size, wrong in (
                (None, 0, "KEY_REQUIRED"),
                (other, 64, "WRONG_KEY"),
                (key, 63, "INVALID_ARGUMENT"),
                (None, 64, "INVALID_ARGUMENT"),
            ):
                out = ctypes.byref(ctypes.c_uint64())
                found = status(
                    "toft_file_schema_version_with_key", text(path), given_key, size, out
                )
                self.assertEqual(status_name(found), f"TOFT_ERROR_{wrong}")
            check("toft_change_key", text(path), key, 64, other, 64)
            check("toft_change_key", text(path), other, 64, None, 0)
            check("toft_change_key", text(plain), None, 0, key, 64)
            for file, members in ((path, {}), (plain, given(key)), (copy_path, given(other))):
                realm = open_realm(path=file, **members)
                self.assertEqual(self.count(realm), 30)
                check("toft_realm_release", realm)

    def test_an_older_file_in_the_place_of_the_newest_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/people.toft"

            def opening(**members):
                out = ctypes.c_void_p()
                wanted = configuration(path=path, **members)
                found = status("toft_realm_open", ctypes.byref(wanted), ctypes.byref(out))
                self.assertEqual(out.value is None, status_name(found) != "TOFT_OK")
                return status_name(found), out.value

            self.assertEqual(opening(minimum_version=1)[0], "TOFT_ERROR_FILE_NOT_FOUND")
            images, versions = [], []
            for number in range(3):
                realm = open_realm(CLASSES, path=path)
                person = get("toft_realm_find_class", realm, text("Person"))
                self.commit_with(realm, person, "TOFT_DURABILITY_IMMEDIATE", number)
                versions.append(get("toft_realm_version", realm))
                with open(path, "rb") as file:
                    images.append(file.read())
                check("toft_realm_release", realm)
            for number, image in enumerate(images):
                with open(path, "wb") as file:
                    file.write(image)
                is_older = number < 2
                for mode in ("TOFT_MODE_READ_ONLY", "TOFT_MODE_READ_WRITE"):
                    found, realm = opening(minimum_version=versions[-1], mode=getattr(E, mode))
                    wanted = "TOFT_ERROR_VERSION_TOO_LOW" if is_older else "TOFT_OK"
                    self.assertEqual(found, wanted)
                    if not is_older:
                        self.assertEqual(self.count(realm), 3)
                        check("toft_realm_release", realm)
                        continue
                    error = sized(S.toft_error)
                    check("toft_last_error", ctypes.byref(error))
                    self.assertEqual(error.number, versions[number])
                    self.assertIn(f"must be at {versions[-1]}", text_of(error.message))
                    with open(path, "rb") as file:
                        self.assertEqual(file.read(), image)

    def salvage(self, path, new_path, key=None, new_key=None, **members):
        """Status and report of a salvage."""
        options, report = sized(S.toft_salvage_options, **members), sized(S.toft_salvage_report)
        kept = [text(path), text(new_path)]
        options.path, options.new_path = kept
        for name, bytes_given in (("key", key), ("new_key", new_key)):
            if bytes_given is not None:
                kept.append((ctypes.c_char * max(1, len(bytes_given)))(*bytes_given))
                setattr(options, name, ctypes.addressof(kept[-1]))
                setattr(options, f"{name}_size", len(bytes_given))
        found = status("toft_salvage", ctypes.byref(options), ctypes.byref(report))
        return status_name(found), report

    def test_a_damaged_file_is_salvaged_into_a_new_one(self):
        told, wanted = [], True

        def tell(user_data, pointer):
            found = S.toft_salvage_class.from_address(pointer)
            self.assertEqual(user_data, 7)
            self.assertEqual(found.size, ctypes.sizeof(S.toft_salvage_class))
            self.assertEqual(found.property_count, 0)
            told.append((text_of(found.name), found.object_count, found.missing_count))
            self.assertEqual(status("toft_compact", text("a"), None), INSIDE_CALLBACK)
            return wanted

        callback = SALVAGE_CALLBACK(tell)
        members = {"found": ctypes.cast(callback, ctypes.c_void_p), "found_user_data": 7}
        with tempfile.TemporaryDirectory() as directory:
            path, new, other = (f"{directory}/{name}.toft" for name in ("people", "new", "other"))
            realm = open_realm(CLASSES, path=path, schema_version=7)
            person = get("toft_realm_find_class", realm, text("Person"))
            for number in range(30):
                self.commit_with(realm, person, "TOFT_DURABILITY_IMMEDIATE", number)
            self.assertEqual(self.salvage(path, new)[0], "TOFT_ERROR_ALREADY_OPEN")
            check("toft_realm_release", realm)
            for given, new_given, wrong, more in (
                (f"{directory}/none", new, "FILE_NOT_FOUND", {}),
                (path, path, "FILE_EXISTS", {}),
                ("", path, "INVALID_ARGUMENT", {}),
                (path, "", "INVALID_ARGUMENT", {}),
                (directory, new, "IS_DIRECTORY", {}),
                (path, new, "UNSUPPORTED", {"flags": E.TOFT_OPEN_WRITE_TIMEOUT}),
                (path, new, "INVALID_ARGUMENT", {"reserved": 1}),
                (path, new, "NOT_ENCRYPTED", {"key": bytes(64)}),
                (path, new, "INVALID_ARGUMENT", {"key": bytes(63)}),
                (path, new, "INVALID_ARGUMENT", {"new_key": bytes(65)}),
                (path, new, "INVALID_ARGUMENT", {"new_key_size": 64}),
            ):
                found, _ = self.salvage(given, new_given, **more)
                self.assertEqual(found, f"TOFT_ERROR_{wrong}")
            self.assertEqual(told, [])
            wanted = False
            found, report = self.salvage(path, new, **members)
            self.assertEqual((found, len(told)), ("TOFT_ERROR_INTERRUPTED", 1))
            self.assertEqual(report.version, 0)
            word = ctypes.c_uint32(1)
            found, _ = self.salvage(path, new, interrupt=ctypes.pointer(word))
            self.assertEqual(found, "TOFT_ERROR_INTERRUPTED")
            self.assertFalse(os.path.exists(new))
            told.clear()
            wanted, word.value = True, 0
            found, report = self.salvage(path, new, interrupt=ctypes.pointer(word), **members)
            self.assertEqual(found, "TOFT_OK")
            self.assertIn(("Person", 30, 0), told)
            self.assertEqual(len(told), report.class_count)
            self.assertEqual(report.object_count, sum(each[1] for each in told))
            self.assertEqual(report.flags, E.TOFT_SALVAGE_COMPLETE)
            realm = open_realm(path=new)
            self.assertEqual(self.count(realm), 30)
            self.assertEqual(get("toft_realm_info", realm).schema_version, 7)
            check("toft_realm_release", realm)
            # Without its first meta page, and without a callback.
            with open(path, "r+b") as file:
                file.write(bytes(4096))
            found, report = self.salvage(path, other, flags=E.TOFT_OPEN_BUFFERED)
            self.assertEqual((found, report.flags), ("TOFT_OK", E.TOFT_SALVAGE_PARTIAL))
            realm = open_realm(path=other)
            self.assertEqual(self.count(realm), 30)
            check("toft_realm_release", realm)

    def import_realm(self, path, new_path, key=None, **members):
        """Status and report of an import of a Realm file."""
        options = sized(S.toft_import_realm_options, **members)
        report = sized(S.toft_import_realm_report)
        kept = [text(path), text(new_path)]
        options.path, options.new_path = kept
        if key is not None:
            kept.append((ctypes.c_char * max(1, len(key)))(*key))
            options.key, options.key_size = ctypes.addressof(kept[-1]), len(key)
        found = status("toft_import_realm", ctypes.byref(options), ctypes.byref(report))
        return status_name(found), report

    def test_a_realm_file_is_imported_into_a_new_one(self):
        notes, realms = [], pathlib.Path(__file__).resolve().parents[3] / "Tests/RealmFiles"

        def tell(user_data, note):
            notes.append((user_data, text_of(note)))
            self.assertEqual(status("toft_compact", text("a"), None), INSIDE_CALLBACK)

        callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, S.toft_string)(tell)
        members = {"note": ctypes.cast(callback, ctypes.c_void_p), "note_user_data": 7}
        plain, encrypted = (str(realms / f"{name}.realm") for name in ("scalars", "encrypted"))
        key = bytes((3 * index + 1) % 256 for index in range(64))
        with tempfile.TemporaryDirectory() as directory:
            new, other = f"{directory}/new.toft", f"{directory}/other.toft"
            for given, new_given, wrong, more in (
                (f"{directory}/none", new, "FILE_NOT_FOUND", {}),
                (plain, plain, "FILE_EXISTS", {}),
                ("", new, "INVALID_ARGUMENT", {}),
                (plain, "", "INVALID_ARGUMENT", {}),
                (directory, new, "IS_DIRECTORY", {}),
                (__file__, new, "NOT_A_DATABASE", {}),
                (encrypted, new, "NOT_A_DATABASE", {}),
                (encrypted, new, "WRONG_KEY", {"key": bytes(64)}),
                (plain, new, "INVALID_ARGUMENT", {"key": bytes(63)}),
                (plain, new, "INVALID_ARGUMENT", {"new_key_size": 64}),
            ):
                found, _ = self.import_realm(given, new_given, **more)
                self.assertEqual(found, f"TOFT_ERROR_{wrong}", given)
                self.assertFalse(os.path.exists(new))
            found, report = self.import_realm(plain, new, **members)
            self.assertEqual((found, report.format), ("TOFT_OK", 24))
            self.assertEqual([each[0] for each in notes], [7] * len(notes))
            self.assertIn("full-text index", notes[0][1])
            realm = open_realm(path=new)
            self.assertEqual(report.schema_version, get("toft_realm_info", realm).schema_version)
            check("toft_realm_release", realm)
            found, report = self.import_realm(encrypted, other, key=key)
            self.assertEqual((found, report.class_count, report.object_count), ("TOFT_OK", 2, 35))

    def test_an_encrypted_file_is_salvaged_with_its_key(self):
        key, other = bytes(range(64)), bytes(range(1, 65))
        with tempfile.TemporaryDirectory() as directory:
            paths = [f"{directory}/{number}.toft" for number in range(4)]
            realm = open_realm(CLASSES, path=paths[0])
            person = get("toft_realm_find_class", realm, text("Person"))
            for number in range(30):
                self.commit_with(realm, person, "TOFT_DURABILITY_IMMEDIATE", number)
            check("toft_realm_release", realm)
            check("toft_change_key", text(paths[0]), None, 0, key, 64)
            for given, wrong in ((None, "KEY_REQUIRED"), (other, "WRONG_KEY")):
                found, _ = self.salvage(paths[0], paths[1], key=given)
                self.assertEqual(found, f"TOFT_ERROR_{wrong}")
            for index, keys in enumerate(((key, other), (other, key), (key, None))):
                found, report = self.salvage(*paths[index : index + 2], *keys)
                self.assertEqual((found, report.flags), ("TOFT_OK", E.TOFT_SALVAGE_COMPLETE))
                self.assertEqual(report.object_count, 30)
            realm = open_realm(path=paths[3])
            self.assertEqual(self.count(realm), 30)
            check("toft_realm_release", realm)

    def test_a_callback_fills_a_new_database_once(self):
        calls, result, more = [], E.TOFT_OK, []

        def fill(user_data, realm):
            self.assertEqual(user_data, 7)
            self.assertTrue(get("toft_realm_is_writing", realm))
            calls.append(realm)
            person = get("toft_realm_find_class", realm, text("Person"))
            name = (ctypes.c_uint32 * 1)(
                get("toft_realm_find_property", realm, person, text("name"))
            )
            made = get_object(realm, person, name, values(["Ada"]))
            more.extend(
                status_name(each)
                for each in (
                    status("toft_realm_commit", realm, None, None),
                    status("toft_realm_cancel", realm),
                    status("toft_realm_begin_write", realm, None),
                    status("toft_realm_close", realm),
                )
            )
            check("toft_object_release", made)
            return result

        def get_object(realm, person, keys, given):
            out = ctypes.c_void_p()
            create = "toft_realm_create_object"
            policy = E.TOFT_UPDATE_ERROR
            check(create, realm, person, policy, keys, given, 1, ctypes.byref(out), None, None)
            return out.value

        callback = INITIALIZE_CALLBACK(fill)
        members = {"initialize": ctypes.cast(callback, ctypes.c_void_p), "initialize_user_data": 7}
        key = (ctypes.c_char * 64)(*bytes(range(64)))
        encrypted = {"encryption_key": ctypes.addressof(key), "encryption_key_size": 64}
        with tempfile.TemporaryDirectory() as directory:
            for place in (
                {"memory": "filled"},
                {"path": f"{directory}/plain.toft"},
                {"path": f"{directory}/encrypted.toft", **encrypted},
            ):
                calls.clear()
                # Its status ends the opening, and the next one begins again.
                for result in (E.TOFT_ERROR_INTERRUPTED, E.TOFT_ERROR_NO_SUCH_OBJECT):
                    with self.assertRaises(ToftError) as caught:
                        open_realm(CLASSES, **place, **members)
                    self.assertEqual(caught.exception.status, result)
                result = E.TOFT_OK
                realm = open_realm(CLASSES, **place, **members)
                other = open_realm(CLASSES, **place, **members)
                self.assertEqual(len(calls), 3)
                self.assertEqual(self.count(realm), 1)
                self.assertEqual(self.count(other), 1)
                self.assertFalse(get("toft_realm_is_writing", realm))
                # The callback's realm has been released with it.
                late = status("toft_realm_refresh", calls[-1], None)
                self.assertEqual(status_name(late), "TOFT_ERROR_INVALID_HANDLE")
                check("toft_realm_release", other)
                check("toft_realm_release", realm)
            inside = "TOFT_ERROR_INSIDE_CALLBACK"
            expected = [inside, inside, "TOFT_ERROR_ALREADY_IN_TRANSACTION", inside]
            self.assertEqual(more[:4], expected)
            # It needs classes, and a reader has no use for it.
            with self.assertRaises(ToftError) as caught:
                open_realm(path=f"{directory}/none.toft", **members)
            self.assertEqual(caught.exception.status, E.TOFT_ERROR_INVALID_ARGUMENT)
            mode = {"mode": E.TOFT_MODE_READ_ONLY}
            check(
                "toft_realm_release",
                open_realm(CLASSES, path=f"{directory}/plain.toft", **mode, **members),
            )
            self.assertEqual(len(calls), 3)

    def test_several_processes_use_an_encrypted_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/people.toft"
            realm = open_encrypted(path)
            command = [sys.executable, "-c", "import test_functions, sys"]
            command[-1] += "; test_functions.add_people(*sys.argv[1:])"
            writers = [
                subprocess.Popen([*command, path, name], env=TESTS) for name in ("a", "b", "c")
            ]
            seen, person = 0, get("toft_realm_find_class", realm, text("Person"))
            while any(writer.poll() is None for writer in writers):
                get("toft_realm_refresh", realm)
                count = get("toft_realm_object_count", realm, person)
                self.assertGreaterEqual(count, seen)
                seen = count
            self.assertEqual([writer.wait() for writer in writers], [0, 0, 0])
            get("toft_realm_refresh", realm)
            self.assertEqual(self.count(realm), 150)
            check("toft_realm_release", realm)

    def test_old_versions_are_listed_and_limited(self):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/people.toft"
            realm = open_realm(CLASSES, path=path, maximum_versions=1)
            person = get("toft_realm_find_class", realm, text("Person"))
            frozen = get("toft_realm_freeze", realm)
            self.commit_with(realm, person, "TOFT_DURABILITY_IMMEDIATE", 1)
            found = status("toft_realm_begin_write", realm, None)
            self.assertEqual(status_name(found), "TOFT_ERROR_TOO_MANY_READERS")
            count = ctypes.c_size_t()
            check("toft_realm_pins", realm, None, 0, ctypes.byref(count))
            pins = (S.toft_version_pin * count.value)()
            check("toft_realm_pins", realm, pins, len(pins), ctypes.byref(count))
            versions = [each.version for each in pins]
            self.assertEqual(versions[0], get("toft_realm_version", frozen))
            self.assertEqual(versions[-1], get("toft_realm_version", realm))
            self.assertEqual({each.process_id for each in pins}, {os.getpid()})
            self.assertGreater(pins[0].held_size, 0)
            self.assertTrue(all(0 <= each.age < 600_000 for each in pins))
            check("toft_realm_release", frozen)
            self.commit_with(realm, person, "TOFT_DURABILITY_IMMEDIATE", 2)
            check("toft_realm_release", realm)

    def count(self, realm):
        """How many people there are in a sound file."""
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        person = get("toft_realm_find_class", realm, text("Person"))
        return get("toft_realm_object_count", realm, person)

    def commit_with(self, realm, person, durability, number):
        """Commits one more person, and gives what then waits to become durable."""
        check("toft_realm_begin_write", realm, None)
        name = (ctypes.c_uint32 * 1)(get("toft_realm_find_property", realm, person, text("name")))
        given = values([f"{durability} {number} {get('toft_realm_version', realm)}"])
        check(
            "toft_realm_create_object",
            realm,
            person,
            E.TOFT_UPDATE_ERROR,
            name,
            given,
            1,
            None,
            None,
            None,
        )
        options = sized(S.toft_commit_options, durability=getattr(E, durability))
        version = get("toft_realm_commit", realm, ctypes.byref(options))
        self.assertEqual(version, get("toft_realm_version", realm))
        return get("toft_realm_info", realm).deferred_size

    def test_a_writer_waits_no_longer_than_it_was_told(self):
        def waited(opened, called):
            """How long a call waits by the timeout of the configuration and that of its own."""
            realm = open_realm(memory=self.world.name, timeout=opened)
            options = sized(S.toft_write_options, timeout=called or 0)
            options.flags = E.TOFT_WRITE_DEFAULT if called is None else E.TOFT_WRITE_TIMEOUT
            begin = time.monotonic()
            result = status("toft_realm_begin_write", realm, ctypes.byref(options))
            seconds = time.monotonic() - begin
            check("toft_realm_release", realm)
            return status_name(result), seconds

        check("toft_realm_begin_write", self.world.realm, None)
        for opened, called, least in (
            (0, None, 0),
            (200, None, 0.19),
            (60_000, 0, 0),
            (None, 0, 0),
            (-1, 200, 0.19),
            (0, 200, 0.19),
            (60_000, 200, 0.19),
        ):
            with self.subTest(opened=opened, called=called):
                result, seconds = on_another_thread(lambda: waited(opened, called))
                self.assertEqual(result, "TOFT_ERROR_LOCK_TIMEOUT")
                self.assertGreaterEqual(seconds, least)
                self.assertLess(seconds, 5)
        for opened, called in ((None, None), (-1, None), (0, -1)):
            with self.subTest(opened=opened, called=called):
                results = []
                waiter = threading.Thread(target=lambda: results.append(waited(opened, called)))
                waiter.start()
                time.sleep(0.2)
                self.assertEqual(results, [])
                check("toft_realm_cancel", self.world.realm)
                waiter.join()
                self.assertEqual(results[0][0], "TOFT_OK")
                check("toft_realm_begin_write", self.world.realm, None)
        check("toft_realm_cancel", self.world.realm)

    def test_a_wait_is_ended_from_another_thread(self):
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_realm_interrupt", self.world.realm)  # nothing waits
        for function in ("toft_realm_begin_write", "toft_realm_flush"):
            opened, results = [], []
            with tempfile.TemporaryDirectory() as directory:
                path = f"{directory}/people.toft"
                writer = open_realm(CLASSES, path=path)
                person = get("toft_realm_find_class", writer, text("Person"))
                for number in range(2):
                    self.commit_with(writer, person, "TOFT_DURABILITY_DEFERRED", number)
                check("toft_realm_begin_write", writer, None)

                def wait():
                    realm = open_realm(path=path)
                    opened.append(realm)
                    arguments = (None,) if function == "toft_realm_begin_write" else ()
                    results.append(status_name(status(function, realm, *arguments)))
                    begin = time.monotonic()
                    options = sized(S.toft_write_options, timeout=100, flags=E.TOFT_WRITE_TIMEOUT)
                    status("toft_realm_begin_write", realm, ctypes.byref(options))
                    results.append(time.monotonic() - begin)
                    check("toft_realm_release", realm)

                waiter = threading.Thread(target=wait)
                waiter.start()
                time.sleep(0.3)
                self.assertEqual(results, [], function)
                begin = time.monotonic()
                check("toft_realm_interrupt", opened[0])
                waiter.join()
                self.assertEqual(results[0], "TOFT_ERROR_INTERRUPTED", function)
                self.assertLess(time.monotonic() - begin, 5)
                self.assertGreater(results[1], 0.09, "the next wait is not ended")
                check("toft_realm_release", writer)
        check("toft_realm_cancel", self.world.realm)

    def test_a_second_transaction_of_a_thread_on_one_file_is_an_error_and_no_wait(self):
        realm, other = self.world.realm, open_realm(memory=self.world.name)
        check("toft_realm_begin_write", realm, None)
        for name, arguments in (
            ("toft_realm_begin_write", (other, None)),
            ("toft_realm_flush", (other,)),
        ):
            self.assertEqual(
                status_name(status(name, *arguments)), "TOFT_ERROR_ALREADY_IN_TRANSACTION", name
            )
        declared = {"Note": [property_schema("text", E.TOFT_TYPE_STRING)]}
        schema, out = new_schema(declared), ctypes.c_void_p()
        given = configuration(memory=self.world.name, schema=schema)
        self.assertEqual(
            status_name(status("toft_realm_open", ctypes.byref(given), ctypes.byref(out))),
            "TOFT_ERROR_ALREADY_IN_TRANSACTION",
            "the new class has to be written",
        )
        result = on_another_thread(lambda: self.begin_without_waiting())
        self.assertEqual(result, "TOFT_ERROR_LOCK_TIMEOUT", "another thread may wait")
        given = configuration(
            memory=self.world.name, confinement=E.TOFT_CONFINEMENT_CALLER, timeout=0
        )
        confined = get("toft_realm_open", ctypes.byref(given))
        self.assertEqual(
            status_name(status("toft_realm_begin_write", confined, None)),
            "TOFT_ERROR_LOCK_TIMEOUT",
            "whose transaction another thread may end",
        )
        check("toft_realm_release", confined)
        for end in ("toft_realm_cancel", "toft_realm_commit", "toft_realm_close"):
            arguments = (None, None) if end == "toft_realm_commit" else ()
            writer = open_realm(memory=self.world.name) if end == "toft_realm_close" else realm
            if writer != realm or end == "toft_realm_commit":
                check("toft_realm_begin_write", writer, None)
            self.assertEqual(
                status("toft_realm_begin_write", other, None), E.TOFT_ERROR_ALREADY_IN_TRANSACTION
            )
            check(end, writer, *arguments)
            check("toft_realm_begin_write", other, None)
            check("toft_realm_cancel", other)
            if writer != realm:
                check("toft_realm_release", writer)
        check("toft_schema_release", schema)
        check("toft_realm_release", other)

    def begin_without_waiting(self):
        realm = open_realm(memory=self.world.name, timeout=0)
        result = status_name(status("toft_realm_begin_write", realm, None))
        check("toft_realm_release", realm)
        return result

    def test_timeouts_are_those_of_poll_and_nothing_else(self):
        for members in (
            {"write_timeout": -2, "flags": E.TOFT_OPEN_WRITE_TIMEOUT},
            {"write_timeout": -(2**31), "flags": E.TOFT_OPEN_WRITE_TIMEOUT},
            {"write_timeout": 5},
            {"write_timeout": -1},
        ):
            with self.subTest(**members):
                given = configuration(memory=self.world.name, **members)
                self.assertEqual(
                    status("toft_realm_open", ctypes.byref(given), ctypes.byref(ctypes.c_void_p())),
                    E.TOFT_ERROR_INVALID_ARGUMENT,
                )
        for timeout, flags in ((-2, E.TOFT_WRITE_TIMEOUT), (5, 0), (-1, 0)):
            with self.subTest(timeout=timeout, flags=flags):
                options = sized(S.toft_write_options, timeout=timeout, flags=flags)
                self.assertEqual(
                    status("toft_realm_begin_write", self.world.realm, ctypes.byref(options)),
                    E.TOFT_ERROR_INVALID_ARGUMENT,
                )

    # --- Objects

    def test_every_type_keeps_its_value_its_null_and_its_default(self):
        for flags, suffix in (
            (0, ""),
            (E.TOFT_PROPERTY_NULLABLE, "Optional"),
            (E.TOFT_PROPERTY_LIST, "List"),
            (E.TOFT_PROPERTY_SET, "Set"),
            (E.TOFT_PROPERTY_DICTIONARY, "Dictionary"),
        ):
            declared = [
                property_schema(name + suffix, kind, flags)
                for name, (kind, _, _) in SCALARS.items()
            ]
            realm = open_realm({"Thing": declared}, memory=f"types{suffix}")
            thing = get("toft_realm_find_class", realm, text("Thing"))
            check("toft_realm_begin_write", realm, None)
            made = ctypes.c_void_p()
            check(
                "toft_realm_create_object",
                realm,
                thing,
                E.TOFT_UPDATE_ERROR,
                None,
                None,
                0,
                ctypes.byref(made),
                None,
                None,
            )
            for name, (_, given, default) in SCALARS.items():
                key = get("toft_realm_find_property", realm, thing, text(name + suffix))
                check_collection = getattr(self, f"check_{suffix.lower()}", None)
                if check_collection is not None:
                    check_collection(made, key, given, default)
                    continue
                self.assertEqual(get("toft_object_get", made, key), None if suffix else default)
                check("toft_object_set", made, key, value(given))
                self.assertEqual(get("toft_object_get", made, key), given)
                if suffix:
                    check("toft_object_set", made, key, value(None))
                    self.assertIsNone(get("toft_object_get", made, key))
            check("toft_realm_commit", realm, None, None)
            check("toft_object_release", made)
            check("toft_realm_release", realm)

    def check_list(self, made, key, given, default):
        elements = get("toft_object_list", made, key)
        self.assertEqual(get("toft_list_count", elements), 0)
        check("toft_list_append", elements, values([given, default]), 2)
        self.assertEqual(
            [get("toft_list_get", elements, index) for index in range(2)], [given, default]
        )
        self.assertEqual(get("toft_list_find", elements, value(default)), 1)
        check("toft_list_release", elements)

    def check_set(self, made, key, given, default):
        elements = get("toft_object_get_set", made, key)
        for each, is_new in ((given, True), (default, True), (given, False)):
            self.assertEqual(get("toft_set_insert", elements, value(each), None), is_new)
        self.assertEqual(get("toft_set_count", elements), 2)
        for each in (given, default):
            index = get("toft_set_find", elements, value(each))
            self.assertEqual(get("toft_set_get", elements, index), each)
        self.assertIs(get("toft_set_erase", elements, value(given)), True)
        self.assertIs(get("toft_set_erase", elements, value(given)), False)
        self.assertEqual(get("toft_set_get", elements, 0), default)
        check("toft_set_release", elements)

    def check_dictionary(self, made, key, given, default):
        elements = get("toft_object_get_dictionary", made, key)
        for name, each, is_new in (
            ("b", given, True),
            ("", default, True),
            ("b", default, False),
            ("é\0", given, True),
        ):
            self.assertEqual(get("toft_dictionary_set", elements, text(name), value(each)), is_new)
        self.assertEqual(dictionary_contents(elements), {"": default, "b": default, "é\0": given})
        check("toft_dictionary_release", elements)

    def test_objects_are_created_updated_found_followed_and_deleted(self):
        realm, person, keys = self.world.realm, self.world.person, self.world.keys
        check("toft_realm_begin_write", realm, None)
        link, created = S.toft_link(), ctypes.c_bool(True)
        names = (ctypes.c_uint32 * 2)(keys["name"], keys["age"])
        for policy, age in ((E.TOFT_UPDATE_ALL, 48), (E.TOFT_UPDATE_MODIFIED, 49)):
            check(
                "toft_realm_create_object",
                realm,
                person,
                policy,
                names,
                values(["Grace", age]),
                2,
                None,
                ctypes.byref(link),
                ctypes.byref(created),
            )
            self.assertFalse(created.value)
            grace = get("toft_realm_find_object", realm, person, value("Grace"))
            self.assertEqual(get("toft_object_link", grace), Link(link.object_key, person))
            self.assertEqual(get("toft_object_get", grace, keys["age"]), age)
            self.assertEqual(
                get("toft_object_get", grace, keys["boss"]),
                get("toft_object_link", self.world.object),
                "the rest stayed",
            )
            check("toft_object_release", grace)
        self.assertIsNone(get("toft_realm_find_object", realm, person, value("Nobody")))
        grace = get("toft_realm_follow", realm, link)
        reports = get("toft_object_linking_objects", self.world.object, keys["reports"])
        self.assertEqual(get("toft_results_count", reports), 2)
        check("toft_object_delete", grace)
        self.assertEqual(get("toft_results_count", reports), 1)
        self.assertFalse(get("toft_object_is_valid", grace))
        self.assertIsNone(get("toft_realm_follow", realm, link))
        check("toft_realm_delete_all", realm, person)
        self.assertEqual(get("toft_realm_object_count", realm, person), 0)
        check("toft_realm_cancel", realm)
        self.assertTrue(get("toft_object_is_valid", grace))
        for handle in (grace, None):
            check("toft_object_release", handle)
        check("toft_results_release", reports)

    def test_an_upsert_takes_null_as_a_value_and_leaves_what_is_not_given(self):
        realm, keys = self.world.realm, self.world.keys
        check("toft_realm_begin_write", realm, None)
        check("toft_object_set", self.world.object, keys["nickname"], value("Countess"))
        for policy in (E.TOFT_UPDATE_ALL, E.TOFT_UPDATE_MODIFIED):
            for given, found in (([None], None), (["Lady"], "Lady"), ([], "Lady")):
                names = ["name", "nickname"][: 1 + len(given)]
                check(
                    "toft_realm_create_object",
                    realm,
                    self.world.person,
                    policy,
                    (ctypes.c_uint32 * len(names))(*(keys[name] for name in names)),
                    values(["Ada", *given]),
                    len(names),
                    None,
                    None,
                    None,
                )
                self.assertEqual(get("toft_object_get", self.world.object, keys["nickname"]), found)
                self.assertEqual(get("toft_object_get", self.world.object, keys["age"]), 52)
        check("toft_realm_cancel", realm)

    def test_objects_are_found_by_primary_keys_of_each_type(self):
        for name in ("int", "string", "uuid", "object_id"):
            kind, given, default = SCALARS[name]
            flags = E.TOFT_PROPERTY_PRIMARY_KEY | E.TOFT_PROPERTY_NULLABLE
            realm = open_realm(
                {"Thing": [property_schema("id", kind, flags)]}, memory=f"key {name}"
            )
            thing = get("toft_realm_find_class", realm, text("Thing"))
            key = (ctypes.c_uint32 * 1)(get("toft_realm_find_property", realm, thing, text("id")))
            check("toft_realm_begin_write", realm, None)
            for each in (given, default, None):
                arguments = (realm, thing, E.TOFT_UPDATE_ERROR, key, values([each]), 1)
                self.assertIsNone(get("toft_realm_find_object", realm, thing, value(each)))
                check("toft_realm_create_object", *arguments, None, None, None)
                found = get("toft_realm_find_object", realm, thing, value(each))
                self.assertEqual(get("toft_object_get", found, key[0]), each)
                check("toft_object_release", found)
                result = status("toft_realm_create_object", *arguments, None, None, None)
                self.assertEqual(status_name(result), "TOFT_ERROR_DUPLICATE_PRIMARY_KEY")
            check("toft_realm_cancel", realm)
            check("toft_realm_release", realm)

    def test_a_link_sets_no_other_link_and_what_it_leads_to_outlives_it(self):
        world, keys = self.world, self.world.keys
        check("toft_realm_begin_write", world.realm, None)
        grace = get("toft_realm_find_object", world.realm, world.person, value("Grace"))
        ada = get("toft_object_get", grace, keys["boss"])
        self.assertEqual(ada, get("toft_object_link", world.object))
        self.assertIsNone(get("toft_object_get", world.object, keys["boss"]))
        self.assertEqual(get("toft_realm_object_count", world.realm, world.person), 3)
        check("toft_object_delete", grace)
        self.assertTrue(get("toft_object_is_valid", world.object))
        self.assertEqual(get("toft_realm_object_count", world.realm, world.person), 2)
        check("toft_realm_cancel", world.realm)
        check("toft_object_release", grace)

    def test_no_null_goes_into_a_list_of_links(self):
        world, friends = self.world, self.world.keys["friends"]
        check("toft_realm_begin_write", world.realm, None)
        ada = get("toft_object_link", world.object)
        check("toft_object_set", world.object, friends, value([ada]))
        elements = get("toft_object_list", world.object, friends)
        for name, arguments in (
            ("toft_object_set", (world.object, friends, value([ada, None]))),
            ("toft_list_append", (elements, values([ada, None]), 2)),
            ("toft_list_set", (elements, 0, value(None))),
        ):
            result = status_name(status(name, *arguments))
            self.assertEqual(result, "TOFT_ERROR_NULL_NOT_ALLOWED", name)
            self.assertEqual(self.contents(elements), [ada])
        check("toft_realm_cancel", world.realm)
        check("toft_list_release", elements)

    def test_objects_are_created_by_columns(self):
        """The layouts: test_columns.py."""
        world = self.world
        column = world.arguments("toft_realm_create_objects")[3]
        check("toft_realm_begin_write", world.realm, None)
        key, created = ctypes.c_int64(), ctypes.c_uint8()
        check(
            "toft_realm_create_objects",
            world.realm,
            world.person,
            E.TOFT_UPDATE_ERROR,
            ctypes.byref(column),
            1,
            1,
            ctypes.byref(key),
            ctypes.byref(created),
        )
        barbara = get("toft_realm_follow", world.realm, S.toft_link(key.value, world.person))
        self.assertEqual(get("toft_object_get", barbara, world.keys["name"]), "Barbara")
        self.assertEqual(
            (get("toft_object_get", barbara, world.keys["age"]), created.value), (0, 1)
        )
        found = ctypes.c_uint8()
        check(
            "toft_realm_find_objects",
            world.realm,
            world.person,
            ctypes.byref(column),
            1,
            ctypes.byref(found),
        )
        self.assertEqual(found.value, 1)
        check("toft_object_release", barbara)
        check("toft_realm_cancel", world.realm)

    def test_an_object_is_created_of_json_and_written_as_json(self):
        """All types: test_json.py."""
        check("toft_realm_begin_write", self.world.realm, None)
        made, link, created = ctypes.c_void_p(), S.toft_link(), ctypes.c_bool()
        check(
            "toft_realm_create_from_json",
            self.world.realm,
            self.world.person,
            E.TOFT_UPDATE_ERROR,
            text('{"name": "Barbara", "age": 38}'),
            ctypes.byref(made),
            ctypes.byref(link),
            ctypes.byref(created),
        )
        self.assertEqual(get("toft_object_link", made), Link(link.object_key, link.class_key))
        refused = status(
            "toft_realm_create_from_json_with_flags",
            *(self.world.realm, self.world.person, E.TOFT_UPDATE_ERROR, E.TOFT_JSON_REFUSE_UNKNOWN),
            *(text('{"name": "Bob", "nope": 1}'), None, None, None),
        )
        self.assertEqual(refused, E.TOFT_ERROR_NO_SUCH_PROPERTY)
        check(
            "toft_realm_create_from_json_with_flags",
            *(self.world.realm, self.world.person, E.TOFT_UPDATE_ERROR, E.TOFT_JSON_DEFAULT),
            *(text('{"name": "Bob", "nope": 1}'), None, None, None),
        )
        size = ctypes.c_size_t()
        buffer = ctypes.create_string_buffer(20)
        check("toft_object_to_json", made, 0, buffer, 20, ctypes.byref(size))
        self.assertGreater(size.value, 20)
        room = ctypes.create_string_buffer(size.value + 1)
        check("toft_object_to_json", made, 0, room, size.value + 1, ctypes.byref(size))
        self.assertEqual(room.raw[:19] + b"\0", buffer.raw)
        written = json.loads(room.value)
        self.assertEqual((written["name"], written["age"]), ("Barbara", 38))
        self.assertTrue(created.value)
        check("toft_object_release", made)
        check("toft_realm_cancel", self.world.realm)

    def test_several_values_are_set_at_once_or_not_at_all(self):
        keys = (ctypes.c_uint32 * 2)(self.world.keys["age"], self.world.keys["nickname"])
        read = (S.toft_value * 2)()
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_set_values", self.world.object, keys, values([53, "Countess"]), 2)
        wrong = status("toft_object_set_values", self.world.object, keys, values([54, 3]), 2)
        self.assertEqual(status_name(wrong), "TOFT_ERROR_TYPE_MISMATCH")
        check("toft_object_get_values", self.world.object, keys, 2, read)
        self.assertEqual([python(item) for item in read], [53, "Countess"])
        check("toft_realm_cancel", self.world.realm)

    def read(self, name, *arguments, keys=("name", "age", "boss"), found=False):
        """The values that a function reads of an object without a handle; None if it finds none."""
        keys = (ctypes.c_uint32 * len(keys))(*(self.world.keys[key] for key in keys))
        out, is_found = (S.toft_value * len(keys))(), ctypes.c_bool(True)
        for item in out:
            item.type = 77
        extra = (ctypes.byref(is_found),) if found else ()
        result = status(name, *arguments, keys, len(keys), out, *extra)
        if result != E.TOFT_OK or not is_found.value:
            self.assertEqual([item.type for item in out], [77] * len(keys), "untouched")
        if result != E.TOFT_OK:
            return status_name(result)
        return [python(item) for item in out] if is_found.value else None

    def test_values_are_read_without_a_handle_of_the_object(self):
        world, realm = self.world, self.world.realm
        ada = get("toft_object_link", world.object)
        people = get("toft_realm_objects", realm, world.person)
        by_age = get("toft_results_filter", people, text("TRUEPREDICATE SORT(age DESC)"), None, 0)
        snapshot = get("toft_results_snapshot", people)

        def by_key(name, **options):
            return self.read(
                "toft_realm_find_values", realm, world.person, value(name), found=True, **options
            )

        def by_link(link, **options):
            return self.read(
                "toft_realm_follow_values", realm, S.toft_link(*link), found=True, **options
            )

        def by_index(results, index, **options):
            return self.read("toft_results_object_values", results, index, **options)

        def everybody():
            return sorted(
                (by_index(people, index) for index in range(get("toft_results_count", people))),
                key=lambda row: row[0],
            )

        before = everybody()
        self.assertIn(["Ada", 52, None], before)
        for index, age in enumerate(sorted((row[1] for row in before), reverse=True)):
            self.assertEqual(by_index(by_age, index, keys=["age"]), [age])
        for row in before:
            self.assertEqual(by_key(row[0]), row)
            link = get(
                "toft_object_link",
                get("toft_realm_find_object", realm, world.person, value(row[0])),
            )
            self.assertEqual(by_link(link), row)
        self.assertEqual(by_key("Ada", keys=()), [], "it is there, and nothing was asked for")
        self.assertIsNone(by_key("Nobody"))
        self.assertIsNone(by_link((12345, world.person)))
        self.assertEqual(by_link((0, 999)), "TOFT_ERROR_NO_SUCH_CLASS")
        for wrong, error in (
            ("numbers", "TOFT_ERROR_TYPE_MISMATCH"),
            ("reports", "TOFT_ERROR_TYPE_MISMATCH"),
        ):
            for read in (
                lambda keys: by_key("Ada", keys=keys),
                lambda keys: by_link(ada, keys=keys),
                lambda keys: by_index(people, 0, keys=keys),
            ):
                self.assertEqual(read(["age", wrong]), error)
        self.assertEqual(by_index(people, len(before)), "TOFT_ERROR_INDEX_OUT_OF_RANGE")
        self.assertEqual(by_index(people, 2**64 - 1), "TOFT_ERROR_INDEX_OUT_OF_RANGE")

        check("toft_realm_begin_write", realm, None)
        self.assertEqual(everybody(), before)
        check("toft_object_set", world.object, world.keys["age"], value(53))
        self.assertEqual(by_key("Ada"), ["Ada", 53, None])
        self.assertEqual(by_link(ada), ["Ada", 53, None])
        check("toft_object_delete", world.object)
        self.assertIsNone(by_key("Ada"))
        self.assertIsNone(by_link(ada))
        self.assertEqual(len(everybody()), len(before) - 1)
        gone = [by_index(snapshot, index) for index in range(len(before))]
        self.assertEqual(gone.count("TOFT_ERROR_OBJECT_DELETED"), 1)
        self.assertIsNone(next(row for row in gone if row[0] == "Grace")[2], "a link to Ada")
        check("toft_realm_cancel", realm)
        self.assertEqual(everybody(), before)
        self.assertEqual(by_link(ada), ["Ada", 52, None])

        check("toft_realm_begin_write", realm, None)
        check("toft_object_set", world.object, world.keys["age"], value(54))
        check("toft_realm_commit", realm, None, None)
        self.assertEqual(by_key("Ada"), ["Ada", 54, None])
        frozen = get("toft_realm_freeze", realm)
        check("toft_realm_begin_write", realm, None)
        check("toft_realm_delete_all", realm, world.person)
        check("toft_realm_commit", realm, None, None)
        self.assertIsNone(by_key("Ada"))
        self.assertEqual(by_index(people, 0), "TOFT_ERROR_INDEX_OUT_OF_RANGE")
        self.assertEqual(
            self.read("toft_realm_follow_values", frozen, S.toft_link(*ada), found=True),
            ["Ada", 54, None],
        )
        for results in (people, by_age, snapshot):
            check("toft_results_release", results)
        check("toft_realm_release", frozen)

    def test_a_list_is_given_as_a_whole(self):
        numbers, age = self.world.keys["numbers"], self.world.keys["age"]
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_set", self.world.object, numbers, value([7, 8]))
        self.assertEqual(self.contents(self.world.list), [7, 8])
        check("toft_object_set", self.world.object, numbers, value(None))
        self.assertEqual(self.contents(self.world.list), [])
        check(
            "toft_object_set_values",
            self.world.object,
            (ctypes.c_uint32 * 2)(numbers, age),
            values([[], 53]),
            2,
        )
        self.assertEqual(self.contents(self.world.list), [])
        keys = (ctypes.c_uint32 * 3)(self.world.keys["name"], numbers, self.world.keys["friends"])
        made = ctypes.c_void_p()
        ada = get("toft_object_link", self.world.object)
        check(
            "toft_realm_create_object",
            self.world.realm,
            self.world.person,
            E.TOFT_UPDATE_ERROR,
            keys,
            values(["Zoe", [1], [ada, ada]]),
            3,
            ctypes.byref(made),
            None,
            None,
        )
        friends = get("toft_object_list", made, self.world.keys["friends"])
        self.assertEqual(self.contents(friends), [ada, ada])
        check("toft_list_release", friends)
        check("toft_object_release", made)
        check("toft_realm_cancel", self.world.realm)

    # --- Lists

    def test_lists_are_edited_as_a_python_list_would_be(self):
        elements, model = self.world.list, [1, 2, 3]
        check("toft_realm_begin_write", self.world.realm, None)
        for name, arguments, edit in (
            (
                "toft_list_insert",
                (1, values([7, 8]), 2),
                lambda: model.__setitem__(slice(1, 1), [7, 8]),
            ),
            ("toft_list_append", (values([9]), 1), lambda: model.append(9)),
            ("toft_list_set", (0, value(5)), lambda: model.__setitem__(0, 5)),
            ("toft_list_move", (0, 3), lambda: model.insert(3, model.pop(0))),
            ("toft_list_move", (5, 0), lambda: model.insert(0, model.pop(5))),
            (
                "toft_list_swap",
                (1, 2),
                lambda: model.__setitem__(slice(1, 3), [model[2], model[1]]),
            ),
            ("toft_list_erase", (2, 2), lambda: model.__delitem__(slice(2, 4))),
        ):
            check(name, elements, *arguments)
            edit()
            self.assertEqual(self.contents(elements), model, name)
        self.assertEqual(get("toft_list_find", elements, value(model[1])), 1)
        self.assertEqual(get("toft_list_find", elements, value(1000)), 2**64 - 1)
        for first in range(len(model) + 1):
            for count in range(len(model) - first + 1):
                found = get("toft_list_find_in", elements, value(model[1]), first, count)
                is_in = first <= 1 < first + count
                self.assertEqual(found, 1 if is_in else 2**64 - 1)
        self.assertEqual(get("toft_list_get", elements, 1), model[1])
        as_results = get("toft_list_results", elements)
        self.assertEqual(get("toft_results_count", as_results), len(model))
        self.assertEqual(get("toft_results_class", as_results), 0)
        self.assertEqual(get("toft_results_sum", as_results, 0), sum(model))
        check("toft_results_release", as_results)
        check("toft_list_clear", elements)
        self.assertEqual(get("toft_list_count", elements), 0)
        check("toft_realm_cancel", self.world.realm)
        self.assertEqual(self.contents(elements), [1, 2, 3])

    def test_a_list_and_what_was_made_of_it_know_their_object(self):
        world, key = self.world, ctypes.c_uint32()
        ada, elements = get("toft_object_link", world.object), get("toft_list_results", world.list)
        boss_of = get("toft_object_linking_objects", world.object, world.keys["reports"])
        owner = S.toft_link()

        def whose():
            check("toft_list_owner", world.list, ctypes.byref(owner), ctypes.byref(key))
            return Link(owner.object_key, owner.class_key), key.value

        def valid():
            results = (elements, boss_of, world.results)
            return [get("toft_list_is_valid", world.list)] + [
                get("toft_results_is_valid", each) for each in results
            ]

        self.assertEqual(whose(), (ada, world.keys["numbers"]))
        check("toft_list_owner", world.list, ctypes.byref(owner), None)
        self.assertEqual(valid(), [True] * 4)
        check("toft_realm_begin_write", world.realm, None)
        check("toft_object_delete", world.object)
        self.assertEqual(valid(), [False, False, False, True])
        self.assertEqual(whose(), (ada, world.keys["numbers"]))
        check("toft_realm_cancel", world.realm)
        self.assertEqual(valid(), [True] * 4)
        for results in (elements, boss_of):
            check("toft_results_release", results)

    # --- Sets and dictionaries

    def test_sets_are_changed_as_a_python_set_would_be(self):
        elements, model = self.world.set, {1, 2, 3}
        check("toft_realm_begin_write", self.world.realm, None)
        index, is_new = ctypes.c_uint64(), ctypes.c_bool()
        for each in (-5, 2, 7, 2**63 - 1, 7):
            out = ctypes.byref(index), ctypes.byref(is_new)
            check("toft_set_insert", elements, value(each), *out)
            self.assertEqual(is_new.value, each not in model)
            model.add(each)
            self.assertEqual(index.value, sorted(model).index(each))
        for each in (2, 2, -5):
            self.assertEqual(get("toft_set_erase", elements, value(each)), each in model)
            model.discard(each)
        check("toft_set_erase", elements, value(7), None)
        check("toft_set_insert", elements, value(7), None, None)
        read, count = (S.toft_value * 9)(), ctypes.c_size_t()
        check("toft_set_get_values", elements, 1, read, 9, ctypes.byref(count))
        self.assertEqual([python(each) for each in read[: count.value]], sorted(model)[1:])
        self.assertEqual(get("toft_set_count", elements), len(model))
        self.assertEqual(get("toft_set_find", elements, value(1000)), 2**64 - 1)
        as_results = get("toft_set_results", elements)
        self.assertEqual(get("toft_results_count", as_results), len(model))
        check("toft_results_release", as_results)
        check("toft_set_clear", elements)
        self.assertEqual(get("toft_set_count", elements), 0)
        check("toft_realm_cancel", self.world.realm)
        self.assertEqual(get("toft_set_count", elements), 3)

    def test_dictionaries_are_changed_as_a_python_dict_would_be(self):
        elements, model = self.world.dictionary, {"a": 1, "b": 2, "c": 3}
        check("toft_realm_begin_write", self.world.realm, None)
        for name, each in (("b", 20), ("ab", 4), ("", 5), ("世", 6)):
            is_new = get("toft_dictionary_set", elements, text(name), value(each))
            self.assertEqual(is_new, name not in model)
            model[name] = each
        for name in ("a", "nothing"):
            is_erased = get("toft_dictionary_erase", elements, text(name))
            self.assertEqual(is_erased, model.pop(name, None) is not None)
        names = sorted(model, key=str.encode)
        self.assertEqual(
            list(dictionary_contents(elements).items()), [(n, model[n]) for n in names]
        )
        found, result = ctypes.c_bool(), S.toft_value()
        for name in (*names, "nothing", "a.b", "$"):
            check(
                "toft_dictionary_get",
                elements,
                text(name),
                ctypes.byref(result),
                ctypes.byref(found),
            )
            self.assertEqual((python(result), found.value), (model.get(name), name in model))
            index = get("toft_dictionary_find", elements, text(name))
            self.assertEqual(index, names.index(name) if name in model else 2**64 - 1)
        for place, name in enumerate(names):
            for first, count in ((0, len(names)), (place, 1), (place + 1, len(names) - place - 1)):
                found = get(
                    "toft_dictionary_find_value", elements, value(model[name]), first, count
                )
                places = [at for at, other in enumerate(names) if model[other] == model[name]]
                places = [at for at in places if first <= at < first + count]
                self.assertEqual(found, places[0] if places else 2**64 - 1)
        self.assertEqual(get("toft_dictionary_count", elements), len(model))
        as_results = get("toft_dictionary_results", elements)
        self.assertEqual(get("toft_results_sum", as_results, 0), sum(model.values()))
        check("toft_results_release", as_results)
        check("toft_dictionary_clear", elements)
        self.assertEqual(dictionary_contents(elements), {})
        check("toft_realm_cancel", self.world.realm)
        self.assertEqual(dictionary_contents(elements), {"a": 1, "b": 2, "c": 3})

    def test_lists_and_dictionaries_are_within_one_another_in_mixed_properties(self):
        declared = [property_schema("any", E.TOFT_TYPE_MIXED)]
        realm = open_realm({"Thing": declared}, memory="nested")
        thing = get("toft_realm_find_class", realm, text("Thing"))
        key = get("toft_realm_find_property", realm, thing, text("any"))
        made = self.made(realm, thing)
        check("toft_realm_begin_write", realm, None)
        check("toft_object_set", made, key, value([{"a": [1], "b": {}}, [2]]))
        top = get("toft_object_list", made, key)
        entries = get("toft_list_get_dictionary", top, 0)
        lists = [
            get("toft_list_get_list", top, 1),
            get("toft_dictionary_get_list", entries, text("a")),
        ]
        inner = get("toft_dictionary_get_dictionary", entries, text("b"))
        for each in lists:
            check("toft_list_append", each, values(["x"]), 1)
        check("toft_dictionary_set", inner, text("c"), value(None), None)
        self.assertEqual([self.contents(each) for each in lists], [[2, "x"], [1, "x"]])
        self.assertEqual(dictionary_contents(inner), {"c": None})
        check("toft_realm_commit", realm, None, None)
        for each in (top, *lists):
            check("toft_list_release", each)
        for each in (entries, inner):
            check("toft_dictionary_release", each)
        check("toft_object_release", made)
        check("toft_realm_release", realm)

    def test_embedded_objects_are_created_in_their_owner_and_go_with_it(self):
        home = class_schema("Home", [property_schema("street", E.TOFT_TYPE_STRING)])
        home.flags = E.TOFT_CLASS_EMBEDDED
        link = E.TOFT_TYPE_LINK
        owner = class_schema(
            "Owner",
            [
                property_schema("home", link, E.TOFT_PROPERTY_NULLABLE, "Home"),
                property_schema("homes", link, E.TOFT_PROPERTY_LIST, "Home"),
                property_schema(
                    "named", link, E.TOFT_PROPERTY_DICTIONARY | E.TOFT_PROPERTY_NULLABLE, "Home"
                ),
            ],
        )
        schema = get("toft_schema_new", (S.toft_class_schema * 2)(home, owner), 2)
        realm = get(
            "toft_realm_open", ctypes.byref(configuration(schema=schema, memory="embedded"))
        )
        homes, owners = (get("toft_realm_find_class", realm, text(n)) for n in ("Home", "Owner"))
        info = sized(S.toft_class_info)
        check("toft_realm_class_info", realm, homes, ctypes.byref(info))
        self.assertEqual(info.flags, E.TOFT_CLASS_EMBEDDED)
        key = {
            name: get("toft_realm_find_property", realm, owners, text(name))
            for name in ("home", "homes", "named")
        }
        street = ctypes.c_uint32(get("toft_realm_find_property", realm, homes, text("street")))
        check("toft_realm_begin_write", realm, None)
        made, link_made = ctypes.c_void_p(), S.toft_link()
        check(
            "toft_realm_create_object",
            realm,
            owners,
            0,
            None,
            None,
            0,
            ctypes.byref(made),
            None,
            None,
        )
        words = value("Elm")
        given = (ctypes.byref(street), ctypes.byref(words), 1, None, ctypes.byref(link_made))

        def count():
            return get("toft_realm_object_count", realm, homes)

        for expected in (1, 1):  # the second takes the place of the first
            check("toft_object_set_embedded", made, key["home"], *given)
            self.assertEqual(count(), expected)
        elements = get("toft_object_list", made, key["homes"])
        check("toft_list_insert_embedded", elements, 0, *given)
        check("toft_list_set_embedded", elements, 0, *given)
        self.assertEqual(count(), 2)
        entries = get("toft_object_get_dictionary", made, key["named"])
        check("toft_dictionary_set_embedded", entries, text("a"), *given)
        self.assertEqual(count(), 3)
        result = status(
            "toft_realm_create_object", realm, homes, 0, None, None, 0, None, None, None
        )
        self.assertEqual(status_name(result), "TOFT_ERROR_EMBEDDED_OBJECT")
        check("toft_object_delete", made)
        self.assertEqual(count(), 0)
        check("toft_realm_commit", realm, None, None)
        for name, handle in (
            ("object", made),
            ("list", elements),
            ("dictionary", entries),
            ("schema", schema),
            ("realm", realm),
        ):
            getattr(LIBRARY, f"toft_{name}_release")(handle)

    def test_what_is_unique_is_seen_at_the_commit(self):
        texts = [text(each) for each in ("b", "a", "none")]
        names = (S.toft_string * 2)(*texts[:2])
        unique = sized(S.toft_unique, properties=names, property_count=2)
        kinds = (("a", 0), ("b", E.TOFT_PROPERTY_NULLABLE), ("c", E.TOFT_PROPERTY_UNIQUE))
        thing = class_schema("Thing", [property_schema(n, E.TOFT_TYPE_INT, f) for n, f in kinds])
        thing.uniques, thing.unique_count = (S.toft_unique * 1)(unique), 1
        schema = get("toft_schema_new", (S.toft_class_schema * 1)(thing), 1)
        realm = get("toft_realm_open", ctypes.byref(configuration(schema=schema, memory="unique")))
        things = get("toft_realm_find_class", realm, text("Thing"))
        self.assertEqual(get("toft_realm_class_info", realm, things).unique_count, 2)
        keys = [get("toft_realm_find_property", realm, things, text(n)) for n, _ in kinds]
        info = sized(S.toft_property_info)
        check("toft_realm_property_info", realm, things, keys[2], ctypes.byref(info))
        self.assertEqual(info.flags, E.TOFT_PROPERTY_UNIQUE)
        found, count = (ctypes.c_uint32 * 4)(), ctypes.c_size_t()
        for index, expected in ((0, [keys[2]]), (1, keys[:2])):
            out = (found, 4, ctypes.byref(count))
            check("toft_realm_class_unique", realm, things, index, *out)
            self.assertEqual(found[: count.value], expected)
        result = status("toft_realm_class_unique", realm, things, 2, found, 4, ctypes.byref(count))
        self.assertEqual(status_name(result), "TOFT_ERROR_INDEX_OUT_OF_RANGE")

        def create(*given):
            given = [value(each) for each in given]
            arrays = (ctypes.c_uint32 * 3)(*keys), (S.toft_value * 3)(*given), 3
            check("toft_realm_create_object", realm, things, 0, *arrays, None, None, None)

        check("toft_realm_begin_write", realm, None)
        for given in ((1, 1, 1), (1, 2, 2), (1, None, 3), (1, None, 4)):
            create(*given)
        check("toft_realm_commit", realm, None, None)
        for given, words in (((1, 2, 5), "a = 1 and b = 2"), ((9, 9, 4), "c = 4")):
            check("toft_realm_begin_write", realm, None)
            create(*given)
            result = status("toft_realm_commit", realm, None, None)
            self.assertEqual(status_name(result), "TOFT_ERROR_DUPLICATE_VALUE")
            self.assertIn(words, last_error()[1])
            self.assertFalse(get("toft_realm_is_writing", realm))
            self.assertEqual(get("toft_realm_object_count", realm, things), 4)
        check("toft_realm_release", realm)
        check("toft_schema_release", schema)
        names[0] = texts[2]
        with self.assertRaises(ToftError) as caught:
            get("toft_schema_new", (S.toft_class_schema * 1)(thing), 1)
        self.assertIn("which it does not have", caught.exception.detail)

    def test_links_take_their_targets_with_them_or_keep_them(self):
        link, linked = E.TOFT_TYPE_LINK, E.TOFT_PROPERTY_LIST
        cascade, deny = E.TOFT_PROPERTY_CASCADE, E.TOFT_PROPERTY_DENY
        order = [
            property_schema("items", link, linked | cascade, "Item"),
            property_schema("kept", link, linked | deny, "Item"),
        ]
        realm = open_realm({"Order": order, "Item": []}, memory="rules")
        orders, items = (get("toft_realm_find_class", realm, text(n)) for n in ("Order", "Item"))
        keys = [get("toft_realm_find_property", realm, orders, text(n)) for n in ("items", "kept")]
        for key, rule in zip(keys, (cascade, deny)):
            info = sized(S.toft_property_info)
            check("toft_realm_property_info", realm, orders, key, ctypes.byref(info))
            self.assertEqual(info.flags, linked | rule)

        def create(owner):
            made, link_made = ctypes.c_void_p(), S.toft_link()
            nothing = (None, None, 0, ctypes.byref(made), ctypes.byref(link_made), None)
            check("toft_realm_create_object", realm, owner, 0, *nothing)
            return made, value(Link(link_made.object_key, link_made.class_key)), link_made

        check("toft_realm_begin_write", realm, None)
        (one, _, one_link), (item, item_value, _) = create(orders), create(items)
        lists = [get("toft_object_list", one, key) for key in keys]
        check("toft_list_append", lists[0], item_value, 1)
        check("toft_list_append", lists[1], item_value, 1)
        self.assertEqual(
            status_name(status("toft_object_delete", item)), "TOFT_ERROR_DELETION_DENIED"
        )
        self.assertEqual(last_error()[3], one_link.object_key)
        self.assertEqual(
            status_name(status("toft_realm_delete_all", realm, items)),
            "TOFT_ERROR_DELETION_DENIED",
        )
        self.assertEqual(get("toft_realm_object_count", realm, items), 1)
        check("toft_object_delete", one)  # with the item, which only it denied
        self.assertEqual(get("toft_realm_object_count", realm, items), 0)
        create(orders), create(items)
        check("toft_realm_delete_all", realm, 2**32 - 1)
        self.assertEqual(get("toft_realm_object_count", realm, orders), 0)
        check("toft_realm_cancel", realm)
        for name, handle in (("object", one), ("object", item), *(("list", e) for e in lists)):
            getattr(LIBRARY, f"toft_{name}_release")(handle)
        check("toft_realm_release", realm)
        for kind, flags, code in (
            (link, linked | cascade | deny, "TOFT_ERROR_INVALID_ARGUMENT"),
            (E.TOFT_TYPE_INT, cascade, "TOFT_ERROR_INVALID_SCHEMA"),
        ):
            target = "Item" if kind == link else ""
            with self.assertRaises(ToftError) as caught:
                new_schema({"Order": [property_schema("x", kind, flags, target)], "Item": []})
            self.assertEqual(status_name(caught.exception.status), code)

    def test_an_object_without_a_key_gets_the_next_one_where_they_are_counted(self):
        counted = E.TOFT_PROPERTY_PRIMARY_KEY | E.TOFT_PROPERTY_AUTO_INCREMENT
        ticket = [property_schema("id", E.TOFT_TYPE_INT, counted)]
        realm = open_realm({"Ticket": ticket}, memory="counted")
        tickets = get("toft_realm_find_class", realm, text("Ticket"))
        key = ctypes.c_uint32(get("toft_realm_find_property", realm, tickets, text("id")))
        info = sized(S.toft_property_info)
        check("toft_realm_property_info", realm, tickets, key, ctypes.byref(info))
        self.assertEqual(info.flags, counted)

        def create(*given):
            keys, given = (ctypes.c_uint32 * 1)(key.value), (S.toft_value * 1)(*given)
            made, count = ctypes.c_void_p(), len([each for each in given if each.type])
            code = status(
                *("toft_realm_create_object", realm, tickets, 0, keys, given, count),
                *(ctypes.byref(made), None, None),
            )
            if code != E.TOFT_OK:
                return status_name(code)
            found = get("toft_object_get", made, key)
            check("toft_object_release", made)
            return found

        check("toft_realm_begin_write", realm, None)
        self.assertEqual([create(), create(), create(value(9)), create()], [1, 2, 9, 10])
        keys = (ctypes.c_int64 * 2)()
        check("toft_realm_create_objects", realm, tickets, 0, None, 0, 2, keys, None)
        self.assertEqual(get("toft_realm_object_count", realm, tickets), 6)
        self.assertEqual(create(value(2**63 - 1)), 2**63 - 1)
        self.assertEqual(create(), "TOFT_ERROR_OVERFLOW")
        check("toft_realm_commit", realm, None, None)
        check("toft_realm_release", realm)
        for flags, kind, words in (
            (E.TOFT_PROPERTY_AUTO_INCREMENT, E.TOFT_TYPE_INT, "is not the primary key"),
            (counted, E.TOFT_TYPE_STRING, "of type string"),
            (counted | E.TOFT_PROPERTY_NULLABLE, E.TOFT_TYPE_INT, "of type optional int"),
        ):
            with self.assertRaises(ToftError) as caught:
                new_schema({"Ticket": [property_schema("id", kind, flags)]})
            self.assertEqual(status_name(caught.exception.status), "TOFT_ERROR_INVALID_SCHEMA")
            self.assertIn(words, caught.exception.detail)

    def test_a_key_that_no_dictionary_takes_is_refused_and_says_why(self):
        check("toft_realm_begin_write", self.world.realm, None)
        for name, words in (("a.b", "contains a '.'"), ("$a", "begins with '$'")):
            for function, arguments in (
                ("toft_dictionary_set", (self.world.dictionary, text(name), value(1), None)),
                (
                    "toft_object_set",
                    (self.world.object, self.world.keys["scores"], value({"x": 1, name: 2})),
                ),
            ):
                with self.assertRaises(ToftError) as caught:
                    check(function, *arguments)
                self.assertEqual(caught.exception.status, E.TOFT_ERROR_INVALID_ARGUMENT)
                self.assertIn(words, caught.exception.message)
        self.assertEqual(dictionary_contents(self.world.dictionary), {"a": 1, "b": 2, "c": 3})
        check("toft_realm_cancel", self.world.realm)

    def test_sets_and_dictionaries_are_given_as_a_whole(self):
        world, keys = self.world, self.world.keys
        check("toft_realm_begin_write", world.realm, None)
        check("toft_object_set", world.object, keys["tags"], value([9, -1, 9, 4]))
        self.assertEqual([get("toft_set_get", world.set, index) for index in range(3)], [-1, 4, 9])
        as_set = value([5])
        as_set.type = E.TOFT_TYPE_SET
        check("toft_object_set", world.object, keys["tags"], as_set)
        self.assertEqual(get("toft_set_get", world.set, 0), 5)
        given = value({"z": 1, "y": 2})
        twice = (S.toft_entry * 3)(*given.keep, given.keep[0])
        twice[2].value = value(3)
        given.entries = S.toft_entries(ctypes.cast(twice, ctypes.POINTER(S.toft_entry)), 3)
        check("toft_object_set", world.object, keys["scores"], given)
        self.assertEqual(dictionary_contents(world.dictionary), {"y": 2, "z": 3})
        check("toft_object_set", world.object, keys["scores"], value({}))
        check("toft_object_set", world.object, keys["tags"], value(None))
        self.assertEqual(dictionary_contents(world.dictionary), {})
        self.assertEqual(get("toft_set_count", world.set), 0)
        for key, wrong in (
            ("tags", value({"a": 1})),
            ("tags", value([[1]])),
            ("tags", value(["text"])),
            ("tags", value([None])),
            ("tags", value(1)),
            ("scores", value([1])),
            ("scores", value({"a": [1]})),
            ("scores", value({"a": {"b": 1}})),
            ("scores", value({"a": "text"})),
            ("age", value({"a": 1})),
            ("numbers", value({"a": 1})),
        ):
            self.assertNotEqual(
                status("toft_object_set", world.object, keys[key], wrong), E.TOFT_OK
            )
        self.assertNotEqual(
            status("toft_object_list", world.object, keys["tags"], ctypes.byref(ctypes.c_void_p())),
            E.TOFT_OK,
        )
        check("toft_realm_cancel", world.realm)

    def test_a_property_is_only_one_kind_of_collection(self):
        both = E.TOFT_PROPERTY_SET | E.TOFT_PROPERTY_LIST
        with self.assertRaises(ToftError) as caught:
            new_schema({"Thing": [property_schema("both", E.TOFT_TYPE_INT, both)]})
        self.assertEqual(caught.exception.status, E.TOFT_ERROR_INVALID_ARGUMENT)
        flags = {
            name: get_info("toft_realm_property_info", self.world, self.world.keys[name]).flags
            for name in ("numbers", "tags", "scores")
        }
        self.assertEqual(
            flags,
            {
                "numbers": E.TOFT_PROPERTY_LIST,
                "tags": E.TOFT_PROPERTY_SET,
                "scores": E.TOFT_PROPERTY_DICTIONARY,
            },
        )

    def test_deleted_objects_leave_sets_and_become_null_in_dictionaries(self):
        classes = {
            "Node": [
                property_schema("peers", E.TOFT_TYPE_LINK, E.TOFT_PROPERTY_SET, "Node"),
                property_schema("named", E.TOFT_TYPE_LINK, E.TOFT_PROPERTY_DICTIONARY, "Node"),
            ]
        }
        realm = open_realm(classes, memory="nodes")
        node = get("toft_realm_find_class", realm, text("Node"))
        peers, named = (
            get("toft_realm_find_property", realm, node, text(each)) for each in ("peers", "named")
        )
        check("toft_realm_begin_write", realm, None)
        made = []
        for _ in range(3):
            out = ctypes.c_void_p()
            options = (E.TOFT_UPDATE_ERROR, None, None, 0, ctypes.byref(out), None, None)
            check("toft_realm_create_object", realm, node, *options)
            made.append(out)
        links = [get("toft_object_link", each) for each in made]
        check("toft_object_set", made[0], peers, value([links[2], links[1], links[2]]))
        check("toft_object_set", made[0], named, value({"x": links[1], "y": links[2], "z": None}))
        elements = get("toft_object_get_set", made[0], peers)
        entries = get("toft_object_get_dictionary", made[0], named)
        self.assertEqual(get("toft_set_count", elements), 2)
        check("toft_object_delete", made[1])
        self.assertEqual(get("toft_set_count", elements), 1)
        self.assertEqual(get("toft_set_get", elements, 0), links[2])
        self.assertEqual(dictionary_contents(entries), {"x": None, "y": links[2], "z": None})
        as_results = get("toft_dictionary_results", entries)
        self.assertEqual(get("toft_results_count", as_results), 1)
        check("toft_realm_commit", realm, None, None)
        report = sized(S.toft_check_report)
        check(
            "toft_realm_check",
            realm,
            ctypes.byref(report),
            None,
            0,
            ctypes.byref(ctypes.c_size_t()),
        )
        self.assertEqual(report.problem_count, 0)
        check("toft_realm_begin_write", realm, None)
        check("toft_object_delete", made[0])
        for handle, name in ((elements, "set"), (entries, "dictionary")):
            self.assertIs(get(f"toft_{name}_is_valid", handle), False)
            result = status(f"toft_{name}_count", handle, ctypes.byref(ctypes.c_uint64()))
            self.assertEqual(result, E.TOFT_ERROR_COLLECTION_INVALIDATED)
            owner = S.toft_link()
            check(f"toft_{name}_owner", handle, ctypes.byref(owner), None)
            self.assertEqual(owner.object_key, links[0].object_key)
        check("toft_realm_cancel", realm)
        check("toft_results_release", as_results)
        check("toft_set_release", elements)
        check("toft_dictionary_release", entries)
        for each in made:
            check("toft_object_release", each)
        check("toft_realm_release", realm)

    def test_observers_are_told_of_embedded_objects_and_of_their_end(self):
        home = class_schema("Home", [property_schema("floor", E.TOFT_TYPE_INT)])
        home.flags = E.TOFT_CLASS_EMBEDDED
        link = E.TOFT_TYPE_LINK
        owner = class_schema(
            "Owner", [property_schema("home", link, E.TOFT_PROPERTY_NULLABLE, "Home")]
        )
        schema = get("toft_schema_new", (S.toft_class_schema * 2)(home, owner), 2)
        realm = get(
            "toft_realm_open", ctypes.byref(configuration(schema=schema, memory="observed homes"))
        )
        homes, owners = (get("toft_realm_find_class", realm, text(n)) for n in ("Home", "Owner"))
        key = get("toft_realm_find_property", realm, owners, text("home"))
        floor = get("toft_realm_find_property", realm, homes, text("floor"))
        ann, elm, told = ctypes.c_void_p(), ctypes.c_void_p(), []
        check("toft_realm_begin_write", realm, None)
        check(
            "toft_realm_create_object",
            *(realm, owners, 0, None, None, 0, ctypes.byref(ann), None, None),
        )
        check("toft_object_set_embedded", ann, key, None, None, 0, ctypes.byref(elm), None)
        check("toft_realm_commit", realm, None, None)

        def note(user_data, changes):
            seen = changes.contents
            modified = list(seen.modifications[: seen.modification_count])
            told.append((user_data, seen.kind, modified))

        callback, all_owners = CHANGES_CALLBACK(note), get("toft_realm_objects", realm, owners)
        options = sized(S.toft_observe_options, flags=E.TOFT_OBSERVE_NO_INITIAL)
        tokens = [
            get("toft_results_observe", all_owners, options, callback, 1, None),
            get("toft_object_observe", ann, None, callback, 2, None),
            get("toft_object_observe", elm, None, callback, 3, None),
        ]
        deliver(realm, told, 0)
        check("toft_realm_begin_write", realm, None)
        check("toft_object_set", elm, floor, value(3))
        check("toft_realm_commit", realm, None, None)
        deliver(realm, told, 2)
        update, deleted = E.TOFT_CHANGE_UPDATE, E.TOFT_CHANGE_DELETED
        self.assertEqual(sorted(told), [(1, update, [0]), (3, update, [])])
        told.clear()
        check("toft_realm_begin_write", realm, None)
        check("toft_object_delete", ann)
        check("toft_realm_commit", realm, None, None)
        deliver(realm, told, 3)
        self.assertEqual(sorted(told), [(1, update, []), (2, deleted, []), (3, deleted, [])])
        for token in tokens:
            check("toft_token_release", token)
        for name, handle in (
            ("object", ann),
            ("object", elm),
            ("results", all_owners),
            ("schema", schema),
            ("realm", realm),
        ):
            getattr(LIBRARY, f"toft_{name}_release")(handle)

    def test_observers_of_sets_and_dictionaries_are_told_what_came_and_went(self):
        told = []

        def keys(strings, count):
            return [text_of(each) for each in strings[:count]] if count else []

        def note(user_data, changes):
            seen = changes.contents
            told.append(
                (
                    user_data,
                    seen.kind,
                    seen.deletions[: seen.deletion_count] if seen.deletion_count else [],
                    seen.insertions[: seen.insertion_count] if seen.insertion_count else [],
                    seen.modifications_after[: seen.modification_count]
                    if seen.modification_count
                    else [],
                    keys(seen.deleted_keys, seen.deleted_key_count),
                    keys(seen.inserted_keys, seen.inserted_key_count),
                    keys(seen.modified_keys, seen.modified_key_count),
                )
            )

        callback, world = CHANGES_CALLBACK(note), self.world
        flags = E.TOFT_OBSERVE_KEYS | E.TOFT_OBSERVE_NO_INITIAL
        options = sized(S.toft_observe_options, flags=flags)
        tokens = [
            get("toft_set_observe", world.set, options, callback, 1, None),
            get("toft_dictionary_observe", world.dictionary, options, callback, 2, None),
        ]
        check("toft_realm_dispatch", world.realm, None)
        check("toft_realm_begin_write", world.realm, None)
        check("toft_object_set", world.object, world.keys["tags"], value([0, 2, 3]))
        scores = value({"a": 1, "bb": 2, "c": 30})
        check("toft_object_set", world.object, world.keys["scores"], scores)
        check("toft_realm_commit", world.realm, None, None)
        deliver(world.realm, told, 2)
        update = E.TOFT_CHANGE_UPDATE
        self.assertEqual(
            sorted(told),
            [
                (1, update, [0], [0], [], [], [], []),
                (2, update, [1], [1], [0, 2], ["b"], ["bb"], ["a", "c"]),
            ],
        )
        told.clear()
        check("toft_realm_begin_write", world.realm, None)
        check("toft_set_insert", world.set, value(2), None, None)
        check("toft_dictionary_set", world.dictionary, text("c"), value(30), None)
        check("toft_realm_commit", world.realm, None, None)
        deliver(world.realm, told, 1)
        self.assertEqual(told, [(2, update, [], [], [2], [], [], ["c"])])
        for token in tokens:
            check("toft_token_release", token)

    def contents(self, elements):
        """A list read in pieces of two."""
        read, count, found = (S.toft_value * 2)(), ctypes.c_size_t(), []
        while True:
            check("toft_list_get_values", elements, len(found), read, 2, ctypes.byref(count))
            found += [python(item) for item in read[: count.value]]
            if count.value == 0:
                return found

    # --- Results

    def test_results_are_filtered_sorted_cut_and_looked_at(self):
        results, keys = self.world.results, self.world.keys
        self.assertEqual(get("toft_results_class", results), self.world.person)
        older = get(
            "toft_results_filter",
            results,
            text("age > $0 AND name != $1"),
            values([46, "Nobody"]),
            2,
        )
        self.assertEqual(self.names(older), ["Ada", "Grace", "Edsger"])
        among = get(
            "toft_results_filter", results, text("name IN $0"), values([["Ada", "Edsger"]]), 1
        )
        self.assertEqual(self.names(among), ["Ada", "Edsger"])
        by = text("age")  # a structure's copy of it does not keep its bytes
        criterion = S.toft_sort(by, 1, 0)
        by_age = get("toft_results_sort", older, ctypes.byref(criterion), 1)
        self.assertEqual(self.names(by_age), ["Edsger", "Ada", "Grace"])
        two = get("toft_results_limit", by_age, 2)
        self.assertEqual(self.names(two), ["Edsger", "Ada"])
        later = get("toft_results_offset", by_age, 1)
        self.assertEqual(self.names(later), ["Ada", "Grace"])
        none = get("toft_results_offset", by_age, 2**64 - 1)
        self.assertEqual(
            [get("toft_results_is_empty", each) for each in (by_age, later, none)],
            [False, False, True],
        )
        by_boss = get("toft_results_distinct", results, ctypes.byref(text("nickname")), 1)
        self.assertEqual(self.names(by_boss), ["Ada"])
        frozen = get("toft_results_snapshot", results)
        self.assertEqual(
            get("toft_results_get", results, 0), get("toft_object_link", self.world.object)
        )
        self.assertEqual(
            get("toft_results_find", by_age, value(get("toft_object_link", self.world.object))), 1
        )
        first = get("toft_results_object", by_age, 0)
        self.assertEqual(get("toft_object_get", first, keys["name"]), "Edsger")
        self.assertNotEqual(self.plan(by_age), "")
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_results_delete_all", two)
        self.assertEqual(get("toft_results_count", results), 1)
        self.assertEqual(get("toft_results_count", frozen), 3)
        self.assertIsNone(get("toft_results_get", frozen, 0))
        check("toft_realm_cancel", self.world.realm)
        check("toft_object_release", first)
        for made in (older, among, by_age, two, later, none, by_boss, frozen):
            check("toft_results_release", made)

    def plan(self, results):
        size = ctypes.c_size_t()
        check("toft_results_explain", results, None, 0, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(b"#" * (size.value + 1), size.value + 1)
        check("toft_results_explain", results, buffer, size.value + 1, ctypes.byref(size))
        self.assertEqual(buffer.raw[size.value :], b"\0")
        return buffer.raw[: size.value].decode()

    def names(self, results):
        rows, _ = self.column(results, "name", S.toft_string, capacity=10)
        return [text_of(row) for row in rows]

    def column(self, results, name, element, capacity, first=0):
        buffer, nulls, count = (
            (element * capacity)(),
            (ctypes.c_uint8 * capacity)(),
            ctypes.c_size_t(),
        )
        column = sized(
            S.toft_column,
            property_key=self.world.keys[name] if name else 0,
            element_size=ctypes.sizeof(element),
        )
        column.values, column.nulls = ctypes.addressof(buffer), nulls
        check(
            "toft_results_columns",
            results,
            first,
            ctypes.byref(column),
            1,
            capacity,
            ctypes.byref(count),
        )
        return list(buffer)[: count.value], list(nulls)[: count.value]

    def test_an_index_speeds_up_equality_membership_ranges_and_prefixes(self):
        classes = {
            "Book": [
                property_schema("id", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_PRIMARY_KEY),
                property_schema("title", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_INDEXED),
                property_schema("year", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_INDEXED),
                property_schema("pages", E.TOFT_TYPE_INT),
            ]
        }
        realm = open_realm(classes, memory="indexes")
        book = get("toft_realm_find_class", realm, text("Book"))
        books = get("toft_realm_objects", realm, book)
        for words, step in {
            "id == 5": "look up primary key Book.id, one value",
            "title == 't5'": "look up index Book.title, one value",
            "year IN {1, 2, 3}": "look up index Book.year, 3 values",
            "year > 5 AND pages > 3": "look up index Book.year, a range",
            "title BEGINSWITH 't5'": "look up index Book.title, a prefix",
            "title ==[c] 't5'": "scan 0 objects of Book",
            "title CONTAINS 't5'": "scan 0 objects of Book",
            "title != 't5'": "scan 0 objects of Book",
            "pages == 5": "scan 0 objects of Book",
        }.items():
            found = get("toft_results_filter", books, text(words), None, 0)
            buffer, size = ctypes.create_string_buffer(1000), ctypes.c_size_t()
            check("toft_results_explain", found, buffer, len(buffer), ctypes.byref(size))
            self.assertTrue(buffer.value.decode().startswith(step), (words, buffer.value))
            check("toft_results_release", found)
        check("toft_results_release", books)
        check("toft_realm_release", realm)

    def test_columns_are_read_in_pieces_with_their_nulls(self):
        results = self.world.results
        self.assertEqual(self.column(results, "age", ctypes.c_int64, 2), ([52, 47], [0, 0]))
        self.assertEqual(self.column(results, "age", ctypes.c_int64, 2, first=2), ([61], [0]))
        self.assertEqual(self.column(results, "age", ctypes.c_int64, 2, first=3), ([], []))
        ada = get("toft_object_link", self.world.object).object_key
        self.assertEqual(
            self.column(results, "boss", ctypes.c_int64, 3), ([0, ada, ada], [1, 0, 0])
        )
        self.assertEqual(self.column(results, "nickname", S.toft_string, 3)[1], [1, 1, 1])
        keys, _ = self.column(results, None, ctypes.c_int64, 3)
        self.assertEqual(
            keys, [get("toft_results_get", results, index).object_key for index in range(3)]
        )

    def test_columns_of_some_keys_are_read_in_their_order(self):
        every, _ = self.column(self.world.results, None, ctypes.c_int64, 3)
        keys = [every[2], every[0], 99, every[0], every[1]]
        nulls = [0, 0, 0, 1, 0]
        ages, ages_null = (ctypes.c_int64 * 5)(*[7] * 5), (ctypes.c_uint8 * 5)(*[7] * 5)
        column = sized(
            S.toft_column,
            property_key=self.world.keys["age"],
            element_size=8,
            values=ctypes.addressof(ages),
        )
        column.nulls = ctypes.cast(ages_null, type(column.nulls))
        given = (ctypes.c_int64 * 5)(*keys), (ctypes.c_uint8 * 5)(*nulls)
        realm, person = self.world.realm, self.world.person
        check("toft_realm_columns", realm, person, *given, 5, ctypes.byref(column), 1)
        self.assertEqual((list(ages), list(ages_null)), ([61, 52, 0, 0, 47], [0, 0, 1, 1, 0]))
        check("toft_realm_columns", realm, person, None, None, 0, ctypes.byref(column), 1)

    def test_a_table_of_arrow_goes_out_and_comes_in(self):
        realm, person = self.world.realm, self.world.person
        stream, paths = Stream(), (S.toft_string * 1)(text("name"))
        check("toft_results_arrow_stream", self.world.results, paths, 1, ctypes.byref(stream))
        self.assertEqual(Table(stream).columns, {"name": ["Ada", "Grace", "Edsger"]})
        given = Producer([texts("name", ["Barbara"]), texts("boss", ["Ada"])])
        address, rows = ctypes.byref(given.stream), ctypes.c_uint64()
        check("toft_realm_begin_write", realm, None)
        arguments = realm, person, E.TOFT_UPDATE_ERROR, address, None, None, 0
        check("toft_realm_create_from_arrow", *arguments, ctypes.byref(rows))
        check("toft_realm_cancel", realm)
        self.assertEqual((rows.value, given.is_released), (1, True))

    def test_aggregates_are_those_of_python(self):
        ages, age = [52, 47, 61], self.world.keys["age"]
        self.assertEqual(get("toft_results_minimum", self.world.results, age), min(ages))
        self.assertEqual(get("toft_results_maximum", self.world.results, age), max(ages))
        self.assertEqual(get("toft_results_sum", self.world.results, age), sum(ages))
        self.assertAlmostEqual(get("toft_results_average", self.world.results, age), sum(ages) / 3)
        nobody = get("toft_results_filter", self.world.results, text("age > 100"), None, 0)
        self.assertEqual(get("toft_results_sum", nobody, age), 0)
        for name in ("toft_results_minimum", "toft_results_maximum", "toft_results_average"):
            self.assertIsNone(get(name, nobody, age))
        check("toft_results_release", nobody)

    def test_aggregates_take_paths_over_links(self):
        everyone, asked = self.world.results, "toft_results_aggregate"
        least, most = E.TOFT_AGGREGATE_MINIMUM, E.TOFT_AGGREGATE_MAXIMUM
        total, mean = E.TOFT_AGGREGATE_SUM, E.TOFT_AGGREGATE_AVERAGE
        self.assertEqual(get(asked, everyone, total, text("age")), 52 + 47 + 61)
        self.assertEqual(get(asked, everyone, total, text("boss.age")), 52 + 52)
        self.assertEqual(get(asked, everyone, mean, text("boss.age")), 52.0)
        self.assertEqual(get(asked, everyone, least, text("boss.age")), 52)
        self.assertEqual(get(asked, everyone, total, text("boss.boss.age")), 0)
        self.assertIsNone(get(asked, everyone, most, text("boss.boss.age")))
        nobody = get("toft_results_filter", everyone, text("age > 100"), None, 0)
        self.assertEqual(get(asked, nobody, total, text("boss.age")), 0)
        self.assertIsNone(get(asked, nobody, mean, text("boss.age")))
        check("toft_results_release", nobody)
        one = "age > 50 SORT(age ASC) LIMIT(1)"
        first = get("toft_results_filter", everyone, text(one), None, 0)
        self.assertEqual(get(asked, first, total, text("age")), 52)
        check("toft_results_release", first)
        out = S.toft_value()
        for path, kind, code in (
            ("boss.name", total, E.TOFT_ERROR_UNSUPPORTED_AGGREGATE),
            ("name", most, E.TOFT_ERROR_UNSUPPORTED_AGGREGATE),
            ("boss.size", total, E.TOFT_ERROR_INVALID_QUERY),
            ("boss.", total, E.TOFT_ERROR_INVALID_QUERY),
            ("size", total, E.TOFT_ERROR_NO_SUCH_PROPERTY),
            ("", total, E.TOFT_ERROR_NO_SUCH_PROPERTY),
            ("age", 4, E.TOFT_ERROR_INVALID_ARGUMENT),
        ):
            with self.subTest(path):
                got = status(asked, everyone, kind, text(path), ctypes.byref(out))
                self.assertEqual(got, code)

    def test_groups_come_sorted_with_their_counts_and_what_was_asked_of_them(self):
        everyone = self.world.results

        def groups(results, paths, *asked):
            rows, width = [], len(paths) + 1 + len(asked)
            kept = [text(path) for path in paths]
            names = [text(path) for _, path in asked]
            parts = [S.toft_group_value(name, each, 0) for name, (each, _) in zip(names, asked)]

            def take(user_data, group):
                assert user_data == 7
                rows.append([python(group[at]) for at in range(width)])
                get("toft_results_count", everyone)  # the callback may call

            check(
                "toft_results_groups",
                results,
                (S.toft_string * len(kept))(*kept),
                len(kept),
                (S.toft_group_value * len(parts))(*parts) if parts else None,
                len(parts),
                GROUP_CALLBACK(take),
                7,
            )
            return rows

        least, most = E.TOFT_AGGREGATE_MINIMUM, E.TOFT_AGGREGATE_MAXIMUM
        total, mean = E.TOFT_AGGREGATE_SUM, E.TOFT_AGGREGATE_AVERAGE
        self.assertEqual(
            groups(everyone, ["boss.name"], (least, "age"), (most, "age"), (total, "age")),
            [[None, 1, 52, 52, 52], ["Ada", 2, 47, 61, 108]],
        )
        self.assertEqual(
            groups(everyone, ["boss", "name"], (mean, "age"), (total, "boss.age"))[1][1:],
            ["Edsger", 1, 61.0, 52],
        )
        self.assertEqual(groups(everyone, ["nickname"], (mean, "boss.age")), [[None, 3, 52.0]])
        self.assertEqual(
            groups(everyone, ["name"], (total, "boss.age"), (mean, "boss.age"))[0],
            ["Ada", 1, 0, None],
        )
        nobody = get("toft_results_filter", everyone, text("age > 100"), None, 0)
        self.assertEqual(groups(nobody, ["name"]), [])
        check("toft_results_release", nobody)
        last = get(
            "toft_results_filter", everyone, text("age > 50 SORT(age DESC) LIMIT(1)"), None, 0
        )
        self.assertEqual(groups(last, ["age"]), [[61, 1]])
        check("toft_results_release", last)
        for paths, asked, expected in (
            (["nobody"], [], "TOFT_ERROR_INVALID_QUERY"),
            (["numbers"], [], "TOFT_ERROR_INVALID_QUERY"),
            (["boss.friends.name"], [], "TOFT_ERROR_INVALID_QUERY"),
            (["name"], [(total, "name")], "TOFT_ERROR_UNSUPPORTED_AGGREGATE"),
            (["name"], [(4, "age")], "TOFT_ERROR_INVALID_ARGUMENT"),
        ):
            with self.assertRaises(ToftError) as raised:
                groups(everyone, paths, *asked)
            self.assertEqual(status_name(raised.exception.status), expected, paths)

    def test_decimals_are_added_up_in_decimal_and_compared_by_value(self):
        classes = {
            "Offer": [property_schema("price", E.TOFT_TYPE_DECIMAL, E.TOFT_PROPERTY_NULLABLE)]
        }
        realm = open_realm(classes, memory="offers")
        offer = get("toft_realm_find_class", realm, text("Offer"))
        price = get("toft_realm_find_property", realm, offer, text("price"))

        def number(coefficient, exponent):
            return Decimal(coefficient, exponent + 6176 << 49)

        nan, too_large = Decimal(0, 0x7C << 56), Decimal(2**64 - 1, (6176 << 49) + (1 << 49) - 1)
        prices = [number(150, -2), number(15, -1), number(1, 3), None, nan, too_large]
        check("toft_realm_begin_write", realm, None)
        for given in prices:
            made = ctypes.c_void_p()
            check(
                "toft_realm_create_object",
                realm,
                offer,
                E.TOFT_UPDATE_ERROR,
                (ctypes.c_uint32 * 1)(price),
                values([given]),
                1,
                ctypes.byref(made),
                None,
                None,
            )
            self.assertEqual(get("toft_object_get", made, price), given, "bit for bit")
            for wrong in ("1.5", 1.5, 1):
                result = status("toft_object_set", made, price, value(wrong))
                self.assertEqual(status_name(result), "TOFT_ERROR_TYPE_MISMATCH")
            check("toft_object_release", made)
        check("toft_realm_commit", realm, None, None)
        everything = get("toft_realm_objects", realm, offer)
        self.assertEqual(get("toft_results_sum", everything, price), number(100300, -2))
        self.assertEqual(get("toft_results_average", everything, price), number(25075, -2))
        self.assertEqual(get("toft_results_minimum", everything, price), too_large, "it is 0")
        self.assertEqual(get("toft_results_maximum", everything, price), number(1, 3))
        for query, count in (
            ("price == 1.5", 2),
            ("price == $0", 2),
            ("price == 0", 1),
            ("price IN {1000, 1.5}", 3),
            ("price < 1.5", 1),
            ("price == nan", 1),
            ("price == null", 1),
        ):
            found = get(
                "toft_results_filter", everything, text(query), values([number(15000, -4)]), 1
            )
            self.assertEqual(get("toft_results_count", found), count, query)
            check("toft_results_release", found)
        none = get("toft_results_filter", everything, text("price == 7"), None, 0)
        self.assertEqual(get("toft_results_sum", none, price), number(0, 0))
        self.assertIsNone(get("toft_results_average", none, price))
        check("toft_results_release", none)
        check("toft_results_release", everything)
        for flag in (E.TOFT_PROPERTY_PRIMARY_KEY, E.TOFT_PROPERTY_INDEXED):
            declared = class_schema("Offer", [property_schema("price", E.TOFT_TYPE_DECIMAL, flag)])
            out = ctypes.c_void_p()
            result = status("toft_schema_new", ctypes.byref(declared), 1, ctypes.byref(out))
            self.assertEqual(status_name(result), "TOFT_ERROR_INVALID_SCHEMA")
        check("toft_realm_release", realm)

    def test_a_sum_beyond_64_bits_is_an_error_and_not_a_wrong_number(self):
        results, age = self.world.results, self.world.keys["age"]

        def ages(*numbers):
            check("toft_realm_begin_write", self.world.realm, None)
            for index, number in enumerate(numbers):
                person = get("toft_results_object", results, index)
                check("toft_object_set", person, age, value(number))
                check("toft_object_release", person)
            numbers_of_ada = self.world.keys["numbers"]
            check("toft_object_set", self.world.object, numbers_of_ada, value(list(numbers)))
            check("toft_realm_commit", self.world.realm, None, None)

        elements = get("toft_list_results", self.world.list)
        for numbers in (
            (2**63 - 1, 2**63 - 1, -(2**63)),
            (2**63 - 2, 1, 0),
            (-(2**63), 2**63 - 1, -(2**63) + 2**63),
            (-(2**62), -(2**62), 0),
        ):
            ages(*numbers)
            for summed, key in ((results, age), (elements, 0)):
                self.assertEqual(get("toft_results_sum", summed, key), sum(numbers))
        for numbers in ((2**63 - 1, 1, 0), (2**63 - 1, 2**63 - 1, 0), (-(2**63), -1, 0)):
            ages(*numbers)
            for summed, key in ((results, age), (elements, 0)):
                out = S.toft_value()
                result = status("toft_results_sum", summed, key, ctypes.byref(out))
                self.assertEqual(status_name(result), "TOFT_ERROR_OVERFLOW")
                self.assertAlmostEqual(
                    get("toft_results_average", summed, key), sum(numbers) / 3, delta=2**20
                )
        check("toft_results_release", elements)

    def test_counters_add_up_and_never_wrap(self):
        ada, keys = self.world.object, self.world.keys
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_add", ada, keys["age"], 5)
        check("toft_object_add", ada, keys["age"], -7)
        self.assertEqual(get("toft_object_get", ada, keys["age"]), 50)
        for start, amount in ((2**63 - 1, 1), (-(2**63), -1), (-1, -(2**63))):
            check("toft_object_set", ada, keys["age"], value(start))
            result = status("toft_object_add", ada, keys["age"], amount)
            self.assertEqual(status_name(result), "TOFT_ERROR_OVERFLOW")
            self.assertEqual(get("toft_object_get", ada, keys["age"]), start)
            step = 1 if amount < 0 else -1
            check("toft_object_add", ada, keys["age"], amount + step)
            self.assertEqual(get("toft_object_get", ada, keys["age"]), start + amount + step)
        check("toft_realm_commit", self.world.realm, None, None)
        self.assertEqual(
            status_name(status("toft_object_add", ada, keys["age"], 1)),
            "TOFT_ERROR_NOT_IN_TRANSACTION",
        )

    def test_a_query_is_parsed_once_and_used_with_many_arguments(self):
        world, names = self.world, {"Ada": 52, "Grace": 47, "Edsger": 61}
        query = get("toft_query_new", text("age > $0 AND name BEGINSWITH $1"))
        size, room = ctypes.c_size_t(), ctypes.create_string_buffer(64)
        check("toft_query_text", query, room, 64, ctypes.byref(size))
        self.assertEqual(room.value, b"age > $0 AND name BEGINSWITH $1")
        for age in (0, 47, 60, 100):
            for start in ("", "A", "Ed"):
                given = values([age, start])
                expected = {n for n, a in names.items() if a > age and n.startswith(start)}
                found = get("toft_results_filter_prepared", world.results, query, given, 2)
                first = self.first(query, given, 2)
                self.assertEqual(
                    first, get("toft_results_get", found, 0).object_key if expected else None
                )
                room_for = (S.toft_value * 4)()
                count = ctypes.c_size_t()
                check("toft_results_get_values", found, 0, room_for, 4, ctypes.byref(count))
                self.assertEqual(count.value, len(expected))
                for element in room_for[: count.value]:
                    one = get("toft_realm_follow", world.realm, element.link)
                    self.assertIn(get("toft_object_get", one, world.keys["name"]), expected)
                    self.assertTrue(get("toft_object_matches", one, query, given, 2))
                    check("toft_object_release", one)
                self.assertEqual(
                    get("toft_object_matches", world.object, query, given, 2), "Ada" in expected
                )
                check("toft_results_release", found)
        check("toft_query_release", query)
        on_another_thread(lambda: check("toft_query_release", get("toft_query_new", text("a = 1"))))

    def first(self, query, given=None, count=0, class_key=None):
        """The key of the first object that a query gives, or None."""
        object_, found = S.toft_link(-7, 7), ctypes.c_bool(True)
        check(
            "toft_realm_find_first",
            self.world.realm,
            self.world.person if class_key is None else class_key,
            query,
            given,
            count,
            ctypes.byref(object_),
            ctypes.byref(found),
        )
        if not found.value:
            self.assertEqual((object_.object_key, object_.class_key), (-7, 7))
            return None
        self.assertEqual(object_.class_key, self.world.person)
        return object_.object_key

    def test_the_first_object_of_a_query_is_found_without_results(self):
        world = self.world
        ada = get("toft_object_link", world.object).object_key
        for asked in ("name == $0", "name =[c] $0", "$0 == name", "name == $0 SORT(age DESC)"):
            query = get("toft_query_new", text(asked))
            for _ in range(3):  # bound, then looked up
                self.assertEqual(self.first(query, values(["Ada"]), 1), ada)
                self.assertIsNone(self.first(query, values(["Nobody"]), 1))
                self.assertIsNone(self.first(query, values(["ada" * 100]), 1))
            check("toft_query_release", query)
        for asked in ("nickname == $0", "age == $0", "boss == $0", "name == $0"):
            query = get("toft_query_new", text(asked))
            for given in (None, 52, "52", "Ada", 52.0, ada, "x" * 200, "x" * 201):
                arguments = values([given])
                for _ in range(3):
                    out, found = S.toft_link(), ctypes.c_bool()
                    got = status(
                        "toft_realm_find_first",
                        world.realm,
                        world.person,
                        query,
                        arguments,
                        1,
                        ctypes.byref(out),
                        ctypes.byref(found),
                    )
                    results = ctypes.c_void_p()
                    wanted = status(
                        "toft_results_filter_prepared",
                        world.results,
                        query,
                        arguments,
                        1,
                        ctypes.byref(results),
                    )
                    with self.subTest(query=asked, value=given):
                        self.assertEqual(status_name(got), status_name(wanted))
                        if wanted == 0:
                            count = get("toft_results_count", results)
                            self.assertEqual(found.value, count > 0)
                            if count > 0:
                                self.assertEqual(
                                    out.object_key,
                                    get("toft_results_get", results, 0).object_key,
                                )
                            check("toft_results_release", results)
            check("toft_query_release", query)
        all_of_them = get("toft_query_new", text("TRUEPREDICATE SORT(age ASC)"))
        youngest = get("toft_results_filter", world.results, text("age == 47"), None, 0)
        self.assertEqual(self.first(all_of_them), get("toft_results_get", youngest, 0).object_key)
        check("toft_results_release", youngest)
        out, found = S.toft_link(), ctypes.c_bool()
        self.assertEqual(
            status_name(
                status(
                    "toft_realm_find_first",
                    world.realm,
                    9999,
                    all_of_them,
                    None,
                    0,
                    ctypes.byref(out),
                    ctypes.byref(found),
                )
            ),
            "TOFT_ERROR_NO_SUCH_CLASS",
        )
        check("toft_query_release", all_of_them)

    def test_all_objects_of_results_are_set_at_once(self):
        world, count = self.world, ctypes.c_uint64()
        check("toft_realm_begin_write", world.realm, None)
        old = get("toft_results_filter", world.results, text("age > 50"), None, 0)
        keys = (ctypes.c_uint32 * 2)(world.keys["age"], world.keys["nickname"])
        check("toft_results_set_values", old, keys, values([30, "Doc"]), 2, ctypes.byref(count))
        self.assertEqual(count.value, 2)
        self.assertEqual(get("toft_results_count", old), 0)
        doc = get("toft_results_filter", world.results, text("nickname = 'Doc'"), None, 0)
        self.assertEqual(get("toft_results_count", doc), 2)
        self.assertEqual(get("toft_results_sum", world.results, world.keys["age"]), 30 + 30 + 47)
        for wrong in ([1, 2], ["x", "y"], [None, None]):
            self.assertNotEqual(
                status("toft_results_set_values", doc, keys, values(wrong), 2, None), E.TOFT_OK
            )
        self.assertEqual(get("toft_results_sum", world.results, world.keys["age"]), 30 + 30 + 47)
        for results in (old, doc):
            check("toft_results_release", results)
        check("toft_realm_commit", world.realm, None, None)

    def test_an_amount_is_added_to_all_objects_of_results_or_to_none(self):
        world, count, age = self.world, ctypes.c_uint64(), self.world.keys["age"]
        check("toft_realm_begin_write", world.realm, None)
        old = get("toft_results_filter", world.results, text("age > 50"), None, 0)
        check("toft_results_add", old, age, -20, ctypes.byref(count))
        self.assertEqual((count.value, get("toft_results_count", old)), (2, 0))
        check("toft_results_add", old, age, 2**63 - 1, ctypes.byref(count))
        self.assertEqual(count.value, 0)
        ages = [32, 47, 41]
        self.assertEqual(self.column(world.results, "age", ctypes.c_int64, 3)[0], ages)
        # 47 is the most: only the one in the middle overflows, and nothing has changed.
        for amount, expected in (
            (2**63 - 1 - 46, E.TOFT_ERROR_OVERFLOW),
            (2**63 - 1, E.TOFT_ERROR_OVERFLOW),
            (2**63 - 1 - 47, E.TOFT_OK),
        ):
            self.assertEqual(status("toft_results_add", world.results, age, amount, None), expected)
            if expected == E.TOFT_OK:
                ages = [each + amount for each in ages]
            self.assertEqual(self.column(world.results, "age", ctypes.c_int64, 3)[0], ages)
        for key, expected in (
            ("name", E.TOFT_ERROR_PRIMARY_KEY_CHANGE),
            ("nickname", E.TOFT_ERROR_TYPE_MISMATCH),
            ("numbers", E.TOFT_ERROR_TYPE_MISMATCH),
            ("boss", E.TOFT_ERROR_TYPE_MISMATCH),
        ):
            self.assertEqual(
                status("toft_results_add", world.results, world.keys[key], 1, None), expected, key
            )
        numbers = get("toft_list_results", world.list)
        self.assertEqual(
            status("toft_results_add", numbers, age, 1, None), E.TOFT_ERROR_TYPE_MISMATCH
        )
        for results in (old, numbers):
            check("toft_results_release", results)
        check("toft_realm_commit", world.realm, None, None)

    def test_results_go_from_one_realm_to_another_and_back(self):
        world = self.world
        old = get("toft_results_filter", world.results, text("age > 50"), None, 0)
        numbers = get("toft_list_results", world.list)
        frozen = get("toft_realm_freeze", world.realm)
        then = get("toft_results_resolve", old, frozen)
        then_numbers = get("toft_results_resolve", numbers, frozen)
        check("toft_realm_begin_write", world.realm, None)
        check("toft_results_delete_all", world.results)
        check("toft_realm_commit", world.realm, None, None)
        self.assertEqual(on_another_thread(lambda: self.names(then)), ["Ada", "Edsger"])
        self.assertEqual(get("toft_results_sum", then_numbers, 0), 6)
        now = get("toft_results_resolve", then, world.realm)
        self.assertEqual(get("toft_results_count", now), 0)
        gone = get("toft_results_resolve", then_numbers, world.realm)
        self.assertEqual(
            status("toft_results_count", gone, ctypes.byref(ctypes.c_uint64())),
            E.TOFT_ERROR_COLLECTION_INVALIDATED,
        )
        elsewhere = open_realm(CLASSES, memory=f"{world.name}-2")
        for results in (old, then):
            self.assertEqual(
                status("toft_results_resolve", results, elsewhere, ctypes.byref(ctypes.c_void_p())),
                E.TOFT_ERROR_WRONG_REALM,
            )
        other = {"Other": [property_schema("id", E.TOFT_TYPE_INT)]}
        without = open_realm(other, memory=world.name)
        self.assertEqual(
            status("toft_results_resolve", old, without, ctypes.byref(ctypes.c_void_p())),
            E.TOFT_ERROR_NO_SUCH_CLASS,
        )
        for results in (old, numbers, then, then_numbers, now, gone):
            check("toft_results_release", results)
        for realm in (frozen, elsewhere, without):
            check("toft_realm_release", realm)

    def test_values_of_results_come_in_batches(self):
        numbers = get("toft_list_results", self.world.list)
        room, count = (S.toft_value * 4)(), ctypes.c_size_t()
        for first, capacity, expected in (
            (0, 4, [1, 2, 3]),
            (1, 1, [2]),
            (3, 4, []),
            (0, 0, []),
        ):
            check(
                "toft_results_get_values",
                numbers,
                first,
                room if capacity else None,
                capacity,
                ctypes.byref(count),
            )
            self.assertEqual([python(room[i]) for i in range(count.value)], expected)
        self.assertEqual(
            status("toft_results_get_values", numbers, 4, room, 4, ctypes.byref(count)),
            E.TOFT_ERROR_INDEX_OUT_OF_RANGE,
        )
        check("toft_results_release", numbers)

    def test_a_frozen_realm_is_read_by_many_threads_while_others_write(self):
        world = self.world
        frozen = get("toft_realm_freeze", world.realm)
        people = get("toft_realm_objects", frozen, world.person)
        ada = get("toft_realm_follow", frozen, world.link)
        listed = get("toft_object_list", ada, world.keys["numbers"])
        numbers = get("toft_list_results", listed)
        done, failures, rounds = threading.Event(), [], [0] * 4

        def read(index):
            try:
                while not done.is_set() or rounds[index] < 50:
                    old = get("toft_results_filter", people, text("age > 50"), None, 0)
                    assert get("toft_results_count", old) == 2
                    assert get("toft_results_sum", people, world.keys["age"]) == 52 + 47 + 61
                    assert get("toft_object_get", ada, world.keys["name"]) == "Ada"
                    assert get("toft_results_get", numbers, 2) == 3
                    info = get("toft_realm_class_info", frozen, world.person)
                    assert text_of(info.name) == "Person"
                    check("toft_results_release", old)
                    rounds[index] += 1
            except BaseException as failure:  # pylint: disable=broad-except
                failures.append(failure)

        threads = [threading.Thread(target=read, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for age in range(50):
            check("toft_realm_begin_write", world.realm, None)
            check("toft_object_set", world.object, world.keys["age"], value(age))
            check("toft_realm_commit", world.realm, None, None)
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        for name, arguments, expected in (
            ("toft_realm_begin_write", (frozen, None), "TOFT_ERROR_READ_ONLY"),
            ("toft_object_set", (ada, world.keys["age"], value(1)), "TOFT_ERROR_READ_ONLY"),
            ("toft_realm_close", (frozen,), "TOFT_ERROR_READ_ONLY"),
            ("toft_realm_refresh", (frozen, None), "TOFT_OK"),
        ):
            self.assertEqual(status_name(status(name, *arguments)), expected)
        pinned = get("toft_realm_info", world.realm).oldest_pinned_version
        on_another_thread(lambda: check("toft_realm_release", frozen))
        for kind, handle in (("results", people), ("results", numbers), ("list", listed)):
            check(f"toft_{kind}_release", handle)
        self.assertEqual(get("toft_object_get", ada, world.keys["age"]), 52)
        on_another_thread(lambda: check("toft_object_release", ada))
        for _ in range(2):
            check("toft_realm_begin_write", world.realm, None)
            check("toft_object_set", world.object, world.keys["age"], value(1))
            check("toft_realm_commit", world.realm, None, None)
        self.assertGreater(get("toft_realm_info", world.realm).oldest_pinned_version, pinned)

    def test_a_clone_is_a_handle_of_its_own(self):
        world = self.world
        for noun, handle in (
            ("realm", world.realm),
            ("object", world.object),
            ("list", world.list),
            ("set", world.set),
            ("dictionary", world.dictionary),
            ("results", world.results),
        ):
            clone = get(f"toft_{noun}_clone", handle)
            self.assertNotEqual(clone, handle)
            check(f"toft_{noun}_release", clone)
        clone = get("toft_object_clone", world.object)
        other = get("toft_object_clone", clone)
        check("toft_object_release", clone)
        self.assertEqual(get("toft_object_get", other, world.keys["age"]), 52)
        check("toft_object_release", other)

    # --- Observation

    def test_each_kind_of_observer_is_called_and_its_user_data_destroyed(self):
        calls, destroyed = [], []
        callback = CHANGES_CALLBACK(
            lambda user_data, changes: calls.append(
                (user_data, changes.contents.kind, changes.contents.version)
            )
        )
        destructor = DESTRUCTOR(destroyed.append)
        world = self.world
        tokens = [
            get(name, handle, None, callback, user_data, destructor)
            for user_data, (name, handle) in enumerate(
                (
                    ("toft_realm_observe", world.realm),
                    ("toft_object_observe", world.object),
                    ("toft_list_observe", world.list),
                    ("toft_results_observe", world.results),
                ),
                start=1,
            )
        ]
        self.assertGreaterEqual(get("toft_realm_descriptor", world.realm), 0)
        self.assertEqual(get("toft_realm_dispatch", world.realm), 2)
        self.assertEqual(
            sorted(call[:2] for call in calls),
            [(3, E.TOFT_CHANGE_INITIAL), (4, E.TOFT_CHANGE_INITIAL)],
        )
        calls.clear()
        other = open_realm(memory=world.name)
        check("toft_realm_begin_write", other, None)
        ada = get("toft_realm_find_object", other, world.person, value("Ada"))
        numbers = get("toft_object_list", ada, world.keys["numbers"])
        check("toft_list_append", numbers, values([4]), 1)
        version = get("toft_realm_commit", other, None)
        check("toft_realm_refresh", world.realm, None)
        self.assertEqual(
            sorted(calls), [(number, E.TOFT_CHANGE_UPDATE, version) for number in (1, 2, 3, 4)]
        )
        for token in tokens:
            check("toft_token_release", token)
        self.assertEqual(sorted(destroyed), [1, 2, 3, 4])
        check("toft_list_release", numbers)
        check("toft_object_release", ada)
        check("toft_realm_release", other)

    # --- Info and check

    def test_info_and_check_tell_about_a_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = str(pathlib.Path(directory) / "people.toft")
            realm = open_realm(CLASSES, path=path)
            info = get("toft_realm_info", realm)
            self.assertEqual(info.file_size, pathlib.Path(path).stat().st_size)
            self.assertEqual(
                (info.version, info.page_size), (get("toft_realm_version", realm), 4096)
            )
            self.assertLessEqual(info.oldest_pinned_version, info.latest_version)
            report, size = sized(S.toft_check_report), ctypes.c_size_t(99)
            check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
            self.assertEqual((report.problem_count, size.value), (0, 0))
            self.assertGreater(report.page_count, 2)
            check("toft_realm_close", realm)
            check("toft_realm_release", realm)

    def test_a_file_of_an_older_schema_version_is_migrated(self):
        with tempfile.TemporaryDirectory() as directory:
            self.path = str(pathlib.Path(directory) / "migrated.toft")
            self.fill_old()

            def fail(migration):
                self.rename(migration)
                return E.TOFT_ERROR_OVERFLOW

            self.assertEqual(self.migrate(fail)[0], "TOFT_ERROR_OVERFLOW")
            self.assertEqual(
                self.migrate(lambda _: status("toft_realm_close", None))[0],
                "TOFT_ERROR_INVALID_HANDLE",
            )
            self.assertEqual(self.migrate(lambda _: -77)[0], "TOFT_ERROR_INVALID_ARGUMENT")
            self.assertEqual(self.ages(), ["36"])
            # To open the file in the callback, or to write to it, would wait for ever.
            inner = []

            def open_again(migration):
                self.rename(migration)
                inner.append(self.migrate(lambda _: self.fail("called"))[0])
                for confinement in (E.TOFT_CONFINEMENT_THREAD, E.TOFT_CONFINEMENT_CALLER):
                    realm = open_realm(path=self.path, confinement=confinement)
                    inner.append(status_name(status("toft_realm_begin_write", realm, None)))
                    check("toft_realm_release", realm)
                return E.TOFT_ERROR_OVERFLOW

            self.assertEqual(self.migrate(open_again)[0], "TOFT_ERROR_OVERFLOW")
            self.assertEqual(inner, ["TOFT_ERROR_ALREADY_IN_TRANSACTION"] * 3)
            self.assertEqual(self.ages(), ["36"])

            def rename_to_nothing(migration):
                names = [text(name) for name in ("Person", "Human", "name", "fullname")]
                check("toft_migration_rename_class", migration, *names[:2])
                check("toft_migration_rename_property", migration, *names[1:])

            self.assertEqual(self.migrate(rename_to_nothing)[0], "TOFT_ERROR_INVALID_ARGUMENT")
            self.assertEqual(self.ages(), ["36"])
            result, kept = self.migrate(self.rename)
            self.assertEqual(result, "TOFT_OK")
            for function in ("toft_migration_old_realm", "toft_migration_new_realm"):
                self.assertEqual(
                    status(function, kept, ctypes.byref(ctypes.c_void_p())),
                    E.TOFT_ERROR_INVALID_HANDLE,
                )
            self.assertEqual(self.ages(), [36])

    def test_an_opening_is_run_dry(self):
        with tempfile.TemporaryDirectory() as directory:
            self.path = str(pathlib.Path(directory) / "old.toft")
            self.fill_old()
            other = {"Person": [property_schema("age", E.TOFT_TYPE_INT)]}
            self.assertEqual(self.dry_run(other), ("TOFT_ERROR_SCHEMA_MISMATCH", []))
            found, told = self.dry_run(schema_version=1, classes={"Dog": self.OLD["Dog"]})
            hidden = (2, "Person", "", "class 'Person' is hidden, its objects stay")
            self.assertEqual((found, told), ("TOFT_OK", [hidden]))
            # A new name without a migration.
            first = self.OLD["Person"][0]
            name = text_of(first.name)
            found, told = self.dry_run(
                {"Person": [property_schema("title", first.type), *self.OLD["Person"][1:]]}
            )
            self.assertEqual(found, "TOFT_OK")
            self.assertIn(
                (
                    6,
                    "Person",
                    name,
                    f"property 'Person.{name}' is hidden, its values stay. Did you rename it to "
                    "'title'? Rename it in a migration then",
                ),
                told,
            )
            migrate = MIGRATION_CALLBACK(lambda _, migration: self.rename(migration) or 0)
            found, told = self.dry_run(
                schema_version=2, migration=ctypes.cast(migrate, ctypes.c_void_p)
            )
            self.assertEqual(found, "TOFT_OK")
            self.assertEqual(
                told,
                [
                    (3, "Human", "", "class 'Human' has a new name, it was 'Person'"),
                    (
                        7,
                        "Human",
                        "full_name",
                        "property 'Human.full_name' has a new name, it was 'name'",
                    ),
                    (8, "Human", "age", "property 'Human.age' is int, was string"),
                    (2, "Dog", "", "class 'Dog' is deleted with its objects"),
                ],
            )
            self.assertEqual(self.ages(), ["36"])

    def dry_run(self, classes=None, **members):
        """The status of a dry run, and its report."""
        told = []

        def note(user_data, change):
            self.assertEqual(user_data, 7)
            self.assertEqual(status("toft_set_log", 0, None, None, None), INSIDE_CALLBACK)
            change = S.toft_schema_change.from_address(change)
            self.assertEqual(change.size, ctypes.sizeof(S.toft_schema_change))
            texts = map(text_of, (change.class_name, change.property_name, change.text))
            told.append((change.kind, *texts))

        schema = new_schema(self.NEW if classes is None else classes)
        given = configuration(path=self.path, schema=schema, **members)
        callback = SCHEMA_CHANGE_CALLBACK(note)
        found = status("toft_realm_open_dry_run", ctypes.byref(given), callback, 7)
        check("toft_schema_release", schema)
        return status_name(found), told

    def test_a_file_that_is_only_read_shows_what_it_lacks_as_empty(self):
        with tempfile.TemporaryDirectory() as directory:
            self.path = str(pathlib.Path(directory) / "old.toft")
            self.fill_old()
            person = [
                *self.OLD["Person"],
                property_schema("seen", E.TOFT_TYPE_INT),
                property_schema("cat", E.TOFT_TYPE_LINK, 0, "Cat"),
            ]
            classes = {**self.OLD, "Person": person}
            classes["Cat"] = [
                property_schema("name", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_PRIMARY_KEY)
            ]
            schema, realm = new_schema(classes), ctypes.c_void_p()
            given = configuration(path=self.path, schema=schema, mode=E.TOFT_MODE_READ_ONLY)
            check("toft_realm_open", ctypes.byref(given), ctypes.byref(realm))
            check("toft_schema_release", schema)
            cats, people = (
                get("toft_realm_find_class", realm, text(name)) for name in ("Cat", "Person")
            )
            self.assertEqual(get("toft_realm_object_count", realm, cats), 0)
            self.assertEqual(
                get("toft_realm_find_object", realm, cats, value("Tom")), ctypes.c_void_p().value
            )
            results = get("toft_realm_objects", realm, people)
            ada = get("toft_results_object", results, 0)
            for name, expected in (("seen", 0), ("cat", None)):
                key = get("toft_realm_find_property", realm, people, text(name))
                self.assertEqual(get("toft_object_get", ada, key), expected)
            check("toft_object_release", ada)
            check("toft_results_release", results)
            check("toft_realm_close", realm)
            check("toft_realm_release", realm)

    def test_objects_get_the_defaults_of_new_properties(self):
        with tempfile.TemporaryDirectory() as directory:
            self.path = str(pathlib.Path(directory) / "old.toft")
            self.fill_old()
            asked = []

            def give(user_data, owner, name, out):
                self.assertEqual(user_data, 7)
                self.assertEqual(status("toft_set_log", 0, None, None, None), INSIDE_CALLBACK)
                asked.append((text_of(owner), text_of(name)))
                if asked[-1][1] == "nothing":
                    return False
                given = value(self.given)
                self.kept = given
                ctypes.memmove(out, ctypes.byref(given), ctypes.sizeof(given))
                return True

            defaults = DEFAULT_CALLBACK(give)
            self.given = "x"
            for name, kind, given, expected in (
                ("first", E.TOFT_TYPE_INT, "text", "TOFT_ERROR_TYPE_MISMATCH"),
                ("first", E.TOFT_TYPE_INT, None, "TOFT_ERROR_NULL_NOT_ALLOWED"),
                ("first", E.TOFT_TYPE_INT, 7, "TOFT_OK"),
                ("second", E.TOFT_TYPE_STRING, "Grüße", "TOFT_OK"),
                ("nothing", E.TOFT_TYPE_INT, 7, "TOFT_OK"),
            ):
                self.given = given
                person = [*self.OLD["Person"], property_schema(name, kind)]
                schema, out = new_schema({"Person": person}), ctypes.c_void_p()
                options = configuration(path=self.path, schema=schema)
                options.defaults = ctypes.cast(defaults, ctypes.c_void_p)
                options.defaults_user_data = 7
                found = status("toft_realm_open", ctypes.byref(options), ctypes.byref(out))
                self.assertEqual(status_name(found), expected, name)
                if expected != "TOFT_OK":
                    self.assertIn("The default that was given for property", last_error()[1])
                check("toft_schema_release", schema)
                if expected == "TOFT_OK":
                    owner = get("toft_realm_find_class", out, text("Person"))
                    key = get("toft_realm_find_property", out, owner, text(name))
                    results = get("toft_realm_objects", out, owner)
                    ada = get("toft_results_object", results, 0)
                    self.assertEqual(
                        get("toft_object_get", ada, key), 0 if name == "nothing" else given
                    )
                    for what, handle in (("object", ada), ("results", results)):
                        check(f"toft_{what}_release", handle)
                check("toft_realm_release", out)
            names = ["first", "first", "first", "second", "nothing"]
            self.assertEqual(asked, [("Person", name) for name in names])

    def open_homes(self, is_embedded, version, flags=0):
        """The status of an opening with homes that are embedded or not, and the realm."""
        home = class_schema("Home", [property_schema("street", E.TOFT_TYPE_STRING)])
        home.flags = E.TOFT_CLASS_EMBEDDED if is_embedded else 0
        links = property_schema("homes", E.TOFT_TYPE_LINK, E.TOFT_PROPERTY_LIST, "Home")
        owner = class_schema("Owner", [links])
        schema = get("toft_schema_new", (S.toft_class_schema * 2)(home, owner), 2)
        realm = ctypes.c_void_p()
        given = configuration(path=self.path, schema=schema, schema_version=version, flags=flags)
        found = status("toft_realm_open", ctypes.byref(given), ctypes.byref(realm))
        check("toft_schema_release", schema)
        return status_name(found), realm

    def test_a_class_becomes_embedded_and_its_objects_are_handled(self):
        automatic = E.TOFT_OPEN_AUTOMATIC_BACKLINK_HANDLING
        with tempfile.TemporaryDirectory() as directory:
            self.path = str(pathlib.Path(directory) / "homes.toft")
            found, realm = self.open_homes(False, 1)
            self.assertEqual(found, "TOFT_OK")
            homes, owners = (
                get("toft_realm_find_class", realm, text(name)) for name in ("Home", "Owner")
            )
            check("toft_realm_begin_write", realm, None)
            for street in ("Elm", "Oak"):
                self.create(realm, "Home", {"street": street})
            for _ in range(2):
                self.create(realm, "Owner", {})
            results = get("toft_realm_objects", realm, owners)
            key = get("toft_realm_find_property", realm, owners, text("homes"))
            for index in range(2):
                owner = get("toft_results_object", results, index)
                elements = get("toft_object_list", owner, key)
                check("toft_list_append", elements, values([Link(0, homes)]), 1)
                check("toft_list_release", elements)
                check("toft_object_release", owner)
            check("toft_realm_commit", realm, None, None)
            check("toft_results_release", results)
            check("toft_realm_close", realm)
            check("toft_realm_release", realm)
            for version, flags, expected in (
                (1, 0, "open the file with a higher schema version"),
                (1, automatic, "open the file with a higher schema version"),
                (2, 0, "1 without an owner (object 1), 1 with several owners (object 0 in "),
            ):
                found, _ = self.open_homes(True, version, flags)
                self.assertEqual(found, "TOFT_ERROR_SCHEMA_MISMATCH")
                self.assertIn(expected, last_error()[2])
            # Each has its own now, which is deleted with it; and then they are free.
            for is_embedded, version, expected in ((True, 2, 2), (False, 3, 1)):
                found, realm = self.open_homes(is_embedded, version, automatic)
                self.assertEqual(found, "TOFT_OK")
                info = sized(S.toft_class_info)
                check("toft_realm_class_info", realm, homes, ctypes.byref(info))
                self.assertEqual(info.flags, E.TOFT_CLASS_EMBEDDED if is_embedded else 0)
                self.assertEqual(get("toft_realm_object_count", realm, homes), expected)
                results = get("toft_realm_objects", realm, owners)
                owner = get("toft_results_object", results, 0)
                check("toft_realm_begin_write", realm, None)
                check("toft_object_delete", owner)
                check("toft_realm_commit", realm, None, None)
                self.assertEqual(get("toft_realm_object_count", realm, homes), 1)
                report, size = sized(S.toft_check_report), ctypes.c_size_t(99)
                check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
                self.assertEqual(report.problem_count, 0)
                check("toft_object_release", owner)
                check("toft_results_release", results)
                check("toft_realm_close", realm)
                check("toft_realm_release", realm)

    def test_files_tell_their_version_and_are_deleted(self):
        with tempfile.TemporaryDirectory() as directory:
            self.path = str(pathlib.Path(directory) / "old.toft")
            path, version = text(self.path), ctypes.c_uint64(99)
            found = status("toft_file_schema_version", path, ctypes.byref(version))
            self.assertEqual(status_name(found), "TOFT_ERROR_FILE_NOT_FOUND")
            self.assertFalse(get("toft_file_delete", path))
            self.fill_old()
            self.assertEqual(get("toft_file_schema_version", path), 1)
            realm = open_realm(path=self.path)
            flag = E.TOFT_OPEN_DELETE_IF_MIGRATION_NEEDED
            for mode, expected in (
                (E.TOFT_MODE_EXISTING, "TOFT_ERROR_ALREADY_OPEN"),
                (E.TOFT_MODE_READ_ONLY, "TOFT_ERROR_INVALID_ARGUMENT"),
            ):
                self.assertEqual(self.reopened(mode, flag), expected)
            found = status("toft_file_delete", path, None)
            self.assertEqual(status_name(found), "TOFT_ERROR_ALREADY_OPEN")
            check("toft_realm_release", realm)
            self.assertEqual(self.reopened(E.TOFT_MODE_EXISTING, 0), "TOFT_ERROR_SCHEMA_MISMATCH")
            self.assertEqual(self.ages(), ["36"])
            self.assertEqual(self.reopened(E.TOFT_MODE_READ_WRITE, flag), "TOFT_OK")
            realm = open_realm(path=self.path)
            person = get("toft_realm_find_class", realm, text("Person"))
            self.assertEqual(get("toft_realm_object_count", realm, person), 0)
            check("toft_realm_release", realm)
            self.assertTrue(get("toft_file_delete", path))
            self.assertFalse(pathlib.Path(self.path).exists())

    def reopened(self, mode, flags):
        """The result of opening with a class whose type differs in the file."""
        classes = {"Person": [property_schema("age", E.TOFT_TYPE_INT)]}
        schema, out = new_schema(classes), ctypes.c_void_p()
        given = configuration(path=self.path, schema=schema, mode=mode)
        given.flags |= flags
        found = status("toft_realm_open", ctypes.byref(given), ctypes.byref(out))
        check("toft_realm_release", out)
        check("toft_schema_release", schema)
        return status_name(found)

    OLD = {
        "Person": [
            property_schema("name", E.TOFT_TYPE_STRING),
            property_schema("age", E.TOFT_TYPE_STRING),
        ],
        "Dog": [property_schema("name", E.TOFT_TYPE_STRING)],
    }
    NEW = {
        "Human": [
            property_schema("full_name", E.TOFT_TYPE_STRING),
            property_schema("age", E.TOFT_TYPE_INT),
        ],
    }

    def fill_old(self):
        """A person who is called Ada and is "36", and a dog."""
        realm = open_realm(self.OLD, path=self.path, schema_version=1)
        check("toft_realm_begin_write", realm, None)
        for name in self.OLD:
            self.create(realm, name, {"name": "Ada"} | ({"age": "36"} if name == "Person" else {}))
        check("toft_realm_commit", realm, None, None)
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)

    @staticmethod
    def create(realm, name, given):
        owner = get("toft_realm_find_class", realm, text(name))
        keys = [get("toft_realm_find_property", realm, owner, text(each)) for each in given]
        check(
            "toft_realm_create_object",
            realm,
            owner,
            E.TOFT_UPDATE_ERROR,
            (ctypes.c_uint32 * len(keys))(*keys),
            values(list(given.values())),
            len(keys),
            None,
            None,
            None,
        )

    def migrate(self, body):
        """The result of opening with a migration, and the migration."""
        kept = []

        def call(user_data, migration):
            kept.append(migration)
            self.assertEqual(user_data, 7)
            return body(migration) or 0

        callback, schema, out = MIGRATION_CALLBACK(call), new_schema(self.NEW), ctypes.c_void_p()
        given = configuration(path=self.path, schema=schema, schema_version=2)
        given.migration = ctypes.cast(callback, ctypes.c_void_p)
        given.migration_user_data = 7
        result = status_name(status("toft_realm_open", ctypes.byref(given), ctypes.byref(out)))
        check("toft_realm_release", out)
        check("toft_schema_release", schema)
        return result, kept[0] if kept else None

    def rename(self, migration):
        versions = ctypes.c_uint64(), ctypes.c_uint64()
        check("toft_migration_versions", migration, *map(ctypes.byref, versions))
        self.assertEqual([each.value for each in versions], [1, 2])
        check("toft_migration_rename_class", migration, text("Person"), text("Human"))
        check(
            "toft_migration_rename_property", migration, text("Human"), text("name"),
            text("full_name"),
        )  # fmt: skip
        for name, expected in (("Dog", True), ("Cat", False)):
            was_there = get("toft_migration_delete_data", migration, text(name))
            self.assertEqual(was_there, expected)
        old = get("toft_migration_old_realm", migration)
        new = get("toft_migration_new_realm", migration)
        self.assertEqual(status("toft_realm_commit", new, None, None), E.TOFT_ERROR_INSIDE_CALLBACK)
        self.assertEqual(status("toft_realm_close", new), E.TOFT_ERROR_INSIDE_CALLBACK)
        was = get("toft_realm_find_class", old, text("Person"))
        owner = get("toft_realm_find_class", new, text("Human"))
        self.assertEqual(was, owner)
        people = get("toft_realm_objects", old, was)
        before = get("toft_results_object", people, 0)
        after = get("toft_realm_follow", new, S.toft_link(*get("toft_object_link", before)))
        age = get("toft_realm_find_property", old, was, text("age"))
        number = int(get("toft_object_get", before, age))
        key = get("toft_realm_find_property", new, owner, text("age"))
        check("toft_object_set", after, key, value(number))
        for kind, handle in (
            ("object", after), ("object", before), ("results", people), ("realm", new),
            ("realm", old),
        ):  # fmt: skip
            check(f"toft_{kind}_release", handle)

    def ages(self):
        """The ages of the file's people, whatever their class is called."""
        realm = open_realm(path=self.path)
        found = []
        for name in ("Person", "Human"):
            owner = ctypes.c_uint32()
            if status("toft_realm_find_class", realm, text(name), ctypes.byref(owner)):
                continue
            key = get("toft_realm_find_property", realm, owner, text("age"))
            results = get("toft_realm_objects", realm, owner)
            one = get("toft_results_object", results, 0)
            found.append(get("toft_object_get", one, key))
            check("toft_object_release", one)
            check("toft_results_release", results)
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)
        return found

    def write(self, body):
        check("toft_realm_begin_write", self.world.realm, None)
        body()
        check("toft_realm_commit", self.world.realm, None, None)


class CoverageTest(unittest.TestCase):
    """Runs last, for the order is that of the names of classes in this module."""

    def test_no_function_of_the_header_was_left_out(self):
        check("toft_set_log", E.TOFT_LOG_OFF, None, None, None)  # what it does: test_log.py
        self.assertEqual([name for name in HEADER.functions if name not in succeeded], [])


def load_tests(loader, _, __):
    """The coverage is looked at when all others have run."""
    suite = unittest.TestSuite()
    suite.addTests(loader.loadTestsFromTestCase(FunctionTests))
    suite.addTests(loader.loadTestsFromTestCase(CoverageTest))
    return suite


if __name__ == "__main__":
    unittest.main()
