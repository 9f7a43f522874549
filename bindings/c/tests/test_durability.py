# Tests: Transactions.swift
"""Deferred commits: every process sees them at once, and no kill of a process loses them."""

import ctypes
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from calls import (
    E,
    S,
    check,
    get,
    on_another_thread,
    open_realm,
    property_schema,
    sized,
    text,
    values,
)

CLASSES = {"Note": [property_schema("number", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_PRIMARY_KEY)]}


def numbers(realm):
    """The notes that a realm sees, after moving to the latest version."""
    check("toft_realm_refresh", realm, None)
    note = get("toft_realm_find_class", realm, text("Note"))
    notes = get("toft_realm_objects", realm, note)
    key = get("toft_realm_find_property", realm, note, text("number"))
    found = []
    for index in range(get("toft_results_count", notes)):
        element = get("toft_results_object", notes, index)
        found.append(get("toft_object_get", element, key))
        check("toft_object_release", element)
    check("toft_results_release", notes)
    return found


def put(realm, number):
    """Commits one more note, deferred."""
    note = get("toft_realm_find_class", realm, text("Note"))
    keys = (ctypes.c_uint32 * 1)(get("toft_realm_find_property", realm, note, text("number")))
    check("toft_realm_begin_write", realm, None)
    check(
        "toft_realm_create_object",
        realm,
        note,
        E.TOFT_UPDATE_ERROR,
        keys,
        values([number]),
        1,
        None,
        None,
        None,
    )
    options = sized(S.toft_commit_options, durability=E.TOFT_DURABILITY_DEFERRED)
    check("toft_realm_commit", realm, ctypes.byref(options), None)


def write(path):
    """The other process: a commit for each line on its standard input."""
    realm = open_realm(CLASSES, path=path)
    for line in sys.stdin:
        put(realm, int(line))
        print("committed", flush=True)


class DurabilityTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = f"{directory.name}/notes.toft"

    def start(self):
        command = [
            sys.executable,
            "-c",
            "import sys, test_durability; test_durability.write(sys.argv[1])",
            self.path,
        ]
        writer = subprocess.Popen(
            command,
            cwd=pathlib.Path(__file__).parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(lambda: (writer.kill(), writer.communicate()))
        return writer

    def order(self, writer, number):
        print(number, file=writer.stdin, flush=True)
        self.assertEqual(writer.stdout.readline(), "committed\n")

    def kill(self, writer):
        writer.kill()
        self.assertEqual(writer.wait(), -signal.SIGKILL)

    def end(self, realm):
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        check("toft_realm_release", realm)

    def test_another_process_sees_a_deferred_commit_at_once_and_a_kill_takes_nothing_back(
        self,
    ):
        realm, writer = open_realm(CLASSES, path=self.path), self.start()
        for number in range(5):
            self.order(writer, number)
            self.assertEqual(numbers(realm), list(range(number + 1)))
        self.kill(writer)
        self.assertEqual(numbers(realm), list(range(5)))
        put(realm, 5)
        check("toft_realm_flush", realm)
        self.assertEqual(get("toft_realm_info", realm).deferred_size, 0)
        self.end(realm)

    def test_a_frozen_realm_makes_commits_durable_on_any_thread(self):
        realm = open_realm(CLASSES, path=self.path)
        frozen = get("toft_realm_freeze", realm)
        for number in range(3):
            put(realm, number)
        self.assertGreater(get("toft_realm_info", realm).deferred_size, 0)
        on_another_thread(lambda: check("toft_realm_flush", frozen))
        self.assertEqual(get("toft_realm_info", realm).deferred_size, 0)
        check("toft_realm_release", frozen)
        self.end(realm)

    def test_a_process_that_is_killed_alone_leaves_its_deferred_commits(self):
        writer = self.start()
        for number in range(5):
            self.order(writer, number)
        self.kill(writer)
        reader = open_realm(path=self.path, mode=E.TOFT_MODE_READ_ONLY)
        self.assertEqual(numbers(reader), list(range(5)), "for who may only read")
        check("toft_realm_release", reader)
        realm = open_realm(CLASSES, path=self.path)
        self.assertEqual(numbers(realm), list(range(5)))
        self.end(realm)


if __name__ == "__main__":
    unittest.main()
