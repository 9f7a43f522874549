# Tests: Realms.swift
"""Waits, queries and openings that another thread ends."""

import array
import contextlib
import ctypes
import itertools
import os
import signal
import tempfile
import threading
import time
import unittest
import unittest.mock

from calls import (
    E,
    S,
    check,
    configuration,
    get,
    new_schema,
    open_realm,
    property_schema,
    sized,
    status,
    status_name,
    text,
    values,
)

COUNT = 60_000
#: Calls that may end before another thread gets a turn to interrupt them.
ATTEMPTS = 200
CLASSES = {
    "Word": [
        property_schema("number", E.TOFT_TYPE_INT),
        property_schema("text", E.TOFT_TYPE_STRING),
    ],
}
#: A query that takes long for each object and finds every other one.
PATTERNS = [f"text LIKE '*{'a*' * number}b*'" for number in range(1, 31)]
SLOW = f"{' AND '.join(PATTERNS)} AND number == 0 SORT(text DESC, number ASC)"
_names = itertools.count()
PROGRESS_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)


@contextlib.contextmanager
def interrupting(realm):
    """Another thread interrupts a realm all the time."""
    ended = threading.Event()

    def run():
        while not ended.wait(0.001):
            check("toft_realm_interrupt", realm)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class QueryTests(unittest.TestCase):
    def setUp(self):
        self.realm = open_realm(CLASSES, memory=f"interrupt-{next(_names)}")
        word = get("toft_realm_find_class", self.realm, text("Word"))
        self.keys = {
            name: get("toft_realm_find_property", self.realm, word, text(name))
            for name in ("number", "text")
        }
        numbers = array.array("q", (number % 2 for number in range(COUNT)))
        # All different, as one that repeats is tested once for many objects; the greatest first.
        data = b"".join(b"a" * 40 + b"b%05d" % (COUNT - number) for number in range(COUNT))
        offsets = array.array("q", range(0, len(data) + 1, 46))
        memory = ctypes.create_string_buffer(data, len(data))
        columns = (S.toft_input_column * 2)(
            sized(
                S.toft_input_column,
                property_key=self.keys["number"],
                element_size=8,
                values=numbers.buffer_info()[0],
            ),
            sized(
                S.toft_input_column,
                property_key=self.keys["text"],
                element_size=1,
                values=ctypes.addressof(memory),
                offsets=offsets.buffer_info()[0],
                offset_size=8,
                values_size=len(data),
            ),
        )
        check("toft_realm_begin_write", self.realm, None)
        check(
            "toft_realm_create_objects",
            self.realm,
            word,
            E.TOFT_UPDATE_ERROR,
            columns,
            2,
            COUNT,
            None,
            None,
        )
        check("toft_realm_commit", self.realm, None, None)
        self.words = get("toft_realm_objects", self.realm, word)
        self.results = [self.words]
        self.slow = self.query()

    def tearDown(self):
        for results in self.results:
            check("toft_results_release", results)
        check("toft_realm_release", self.realm)

    def query(self, orderings=""):
        """Results that nothing has been asked of."""
        query = text(SLOW + orderings)
        self.results.append(get("toft_results_filter", self.words, query, None, 0))
        return self.results[-1]

    def interrupted(self, call):
        """Results with an interrupted call.

        On a busy machine it may end before the other thread gets a turn: others are asked then.
        """
        for _ in range(ATTEMPTS):
            results = self.query()
            result = status_name(call(results))
            if result != "TOFT_OK":
                self.assertEqual(result, "TOFT_ERROR_INTERRUPTED")
                return results
        self.fail("never interrupted")

    def count(self, results):
        out = ctypes.c_uint64(77)
        result = status("toft_results_count", results, ctypes.byref(out))
        return status_name(result), out.value

    def test_a_query_is_ended_and_can_be_asked_again(self):
        count, out = ctypes.c_uint64(77), S.toft_value()

        def aggregate(name):
            return lambda results: status(
                f"toft_results_{name}", results, self.keys["number"], ctypes.byref(out)
            )

        calls = [
            lambda results: status("toft_results_count", results, ctypes.byref(count)),
            lambda results: status("toft_results_get", results, 0, ctypes.byref(out)),
            *map(aggregate, ("sum", "average", "minimum")),
        ]
        with interrupting(self.realm):
            ended = [self.interrupted(call) for call in calls]
        for results in ended:
            self.assertEqual(self.count(results), ("TOFT_OK", COUNT // 2))
            self.assertEqual(get("toft_results_get", results, 1).object_key, 2)

    def test_an_interrupted_call_leaves_what_it_would_have_written(self):
        count = ctypes.c_uint64()

        def ask(results):
            count.value = 77
            return status("toft_results_count", results, ctypes.byref(count))

        with interrupting(self.realm):
            self.interrupted(ask)
        self.assertEqual(count.value, 77)

    def test_what_was_found_before_is_not_given_for_what_is_there_now(self):
        # Results with a limit are evaluated again, while others follow the deletions.
        slow = self.query(f" LIMIT({COUNT})")
        self.assertEqual(get("toft_results_get", slow, 0).object_key, 0)
        check("toft_realm_begin_write", self.realm, None)
        for deleted in range(1, ATTEMPTS):
            first = get("toft_results_object", slow, 0)
            check("toft_object_delete", first)
            check("toft_object_release", first)
            with interrupting(self.realm):
                result, count = self.count(slow)
            if result != "TOFT_OK":
                break
            self.assertEqual(count, COUNT // 2 - deleted, "it was faster than the other thread")
        self.assertEqual(result, "TOFT_ERROR_INTERRUPTED")
        self.assertEqual(get("toft_results_get", slow, 0).object_key, 2 * deleted)
        self.assertEqual(self.count(slow), ("TOFT_OK", COUNT // 2 - deleted))
        check("toft_realm_commit", self.realm, None, None)

    def test_a_query_of_another_realm_goes_on(self):
        other = open_realm(memory=f"interrupt-{next(_names)}")
        with interrupting(other):
            self.assertEqual(self.count(self.slow), ("TOFT_OK", COUNT // 2))
        check("toft_realm_release", other)

    def test_a_check_is_ended_and_can_be_made_again(self):
        def found():
            report, size = sized(S.toft_check_report, problem_count=77), ctypes.c_size_t()
            out = ctypes.byref(report), None, 0, ctypes.byref(size)
            return status_name(status("toft_realm_check", self.realm, *out)), report.problem_count

        with interrupting(self.realm):
            results = set()
            for _ in range(ATTEMPTS):
                results.add(found())
                if ("TOFT_ERROR_INTERRUPTED", 77) in results:
                    break
        self.assertLessEqual(results, {("TOFT_ERROR_INTERRUPTED", 77), ("TOFT_OK", 0)})
        self.assertIn(("TOFT_ERROR_INTERRUPTED", 77), results)
        self.assertEqual(found(), ("TOFT_OK", 0))

    def test_an_interrupt_between_two_calls_does_nothing(self):
        check("toft_realm_interrupt", self.realm)
        self.assertEqual(self.count(self.slow), ("TOFT_OK", COUNT // 2))
        keys = (ctypes.c_uint32 * 1)(self.keys["number"])
        check("toft_realm_begin_write", self.realm, None)
        check("toft_realm_interrupt", self.realm)
        check("toft_results_set_values", self.words, keys, values([0]), 1, None)
        check("toft_realm_cancel", self.realm)


class OpeningTests(unittest.TestCase):
    def test_the_building_of_an_index_tells_how_far_it_is_and_can_be_ended(self):
        self.fill(20_000)
        told, refused = [], []

        def tell(user_data, done, total):
            told.append((user_data, done, total))
            refused.append(status("toft_realm_open", None, None))
            self.word.value = done > stop

        progress = PROGRESS_CALLBACK(tell)
        indexed = {
            "Word": [
                property_schema("number", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_INDEXED),
                property_schema("text", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_INDEXED),
            ],
        }
        for stop in (0, 15_000, 25_000):
            told.clear()
            self.word.value = 0
            self.assertEqual(self.open(indexed, progress=progress)[0], "TOFT_ERROR_INTERRUPTED")
            self.assertEqual([each[1] > stop for each in told], [False] * (len(told) - 1) + [True])
        self.assertEqual(self.indexed(), [False, False])
        told.clear()
        stop, self.word.value = 99_999, 0
        self.assertEqual(self.open(indexed, progress=progress)[0], "TOFT_OK")
        self.assertEqual(self.indexed(), [True, True])
        self.assertEqual({each[::2] for each in told}, {(7, 40_000)})
        done = [each[1] for each in told]
        self.assertEqual((done, done[-1]), (sorted(done), 40_000))
        self.assertEqual(set(refused), {E.TOFT_ERROR_INSIDE_CALLBACK})
        told.clear()
        self.assertEqual(self.open(indexed, progress=progress)[0], "TOFT_OK")
        self.assertEqual(told, [], "there is nothing to build")

    def fill(self, count):
        realm = open_realm(CLASSES, path=self.path)
        word = get("toft_realm_find_class", realm, text("Word"))
        number = get("toft_realm_find_property", realm, word, text("number"))
        numbers = array.array("q", range(count))
        column = sized(
            S.toft_input_column,
            property_key=number,
            element_size=8,
            values=numbers.buffer_info()[0],
        )
        check("toft_realm_begin_write", realm, None)
        options = (E.TOFT_UPDATE_ERROR, column, 1, count, None, None)
        check("toft_realm_create_objects", realm, word, *options)
        check("toft_realm_commit", realm, None, None)
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)

    def indexed(self):
        """Whether the two properties are indexed in the file."""
        realm = open_realm(None, path=self.path)
        word = get("toft_realm_find_class", realm, text("Word"))
        found = []
        for name in ("number", "text"):
            key = get("toft_realm_find_property", realm, word, text(name))
            flags = get("toft_realm_property_info", realm, word, key).flags
            found.append(flags & E.TOFT_PROPERTY_INDEXED != 0)
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)
        return found

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "words.toft")
        self.word = ctypes.c_uint32()

    def open(self, classes, timeout=None, progress=None):
        """The status of an opening, and how many seconds it took."""
        schema = new_schema(classes)
        given = configuration(path=self.path, timeout=timeout, schema=schema)
        given.interrupt = ctypes.pointer(self.word)
        if progress is not None:
            given.progress = ctypes.cast(progress, ctypes.c_void_p)
            given.progress_user_data = 7
        out, start = ctypes.c_void_p(), time.monotonic()
        result = status("toft_realm_open", ctypes.byref(given), ctypes.byref(out))
        check("toft_realm_release", out)
        check("toft_schema_release", schema)
        return status_name(result), time.monotonic() - start

    def later(self, seconds):
        def set_word():
            self.word.value = 1

        timer = threading.Timer(seconds, set_word)
        timer.start()
        self.addCleanup(timer.join)

    def test_an_opening_that_waits_for_a_writer_is_ended(self):
        ready, done = threading.Event(), threading.Event()

        def write():
            realm = open_realm(CLASSES, path=self.path)
            check("toft_realm_begin_write", realm, None)
            ready.set()
            done.wait(60)
            check("toft_realm_cancel", realm)
            check("toft_realm_release", realm)

        writer = threading.Thread(target=write)
        writer.start()
        ready.wait(60)
        more = {**CLASSES, "More": [property_schema("number", E.TOFT_TYPE_INT)]}
        self.assertEqual(self.open(more, timeout=100)[0], "TOFT_ERROR_LOCK_TIMEOUT")
        for timeout in (None, 30_000):
            self.word.value = 0
            self.later(0.2)
            result, seconds = self.open(more, timeout)
            self.assertEqual(result, "TOFT_ERROR_INTERRUPTED")
            self.assertLess(seconds, 5)
            self.assertGreater(seconds, 0.15)
        self.assertEqual(self.open(CLASSES), ("TOFT_OK", unittest.mock.ANY), "nothing to wait for")
        self.word.value = 0
        done.set()
        writer.join()
        self.assertEqual(self.open(more)[0], "TOFT_OK")

    def test_an_opening_that_waits_for_another_process_is_ended(self):
        check("toft_realm_release", open_realm(CLASSES, path=self.path))
        read, write = os.pipe()
        process = os.fork()
        if process == 0:  # opens, and is stopped while it does
            for _ in range(10_000):
                os.write(write, b"x")
                realm = open_realm(CLASSES, path=self.path)
                check("toft_realm_close", realm)
                check("toft_realm_release", realm)
            os._exit(0)
        ended = None
        for _ in range(300):
            os.read(read, 1)
            os.kill(process, signal.SIGSTOP)
            self.word.value = 0
            self.later(0.05)
            ended = self.open(CLASSES)
            os.kill(process, signal.SIGCONT)
            if ended[0] != "TOFT_OK":
                break
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(read)
        os.close(write)
        self.assertEqual(ended[0], "TOFT_ERROR_INTERRUPTED", "was it ever stopped in the middle?")
        self.assertLess(ended[1], 5)
        self.word.value = 0
        self.assertEqual(self.open(CLASSES)[0], "TOFT_OK")


if __name__ == "__main__":
    unittest.main()
