# Tests: HandleBoxes.swift
"""The last handle of a realm released on another thread than its own:

the realm ends there and then, or with the call that its thread is inside.
"""

import ctypes
import os
import random
import subprocess
import sys
import tempfile
import threading
import unittest

from calls import (
    LIBRARY,
    E,
    S,
    check,
    get,
    on_another_thread,
    open_realm,
    sized,
    status,
    status_name,
    text,
)
from preload import COMPILER, failing_calls
from test_durability import CLASSES, numbers, put
from world import CHANGES_CALLBACK, DESTRUCTOR

# A kernel without membarrier.
NO_BARRIER = r"""
static int fails(long number) {
    return number == SYS_membarrier ? (errno = ENOSYS, 1) : 0;
}
"""


class Sleeper:
    """A thread that opens a realm, does something with it, and makes no call any more until it is
    woken."""

    def __init__(self, path, work=lambda realm: None, after=lambda realm: None):
        self.awake, ready = threading.Event(), threading.Event()
        self.failure = None

        def run():
            try:
                self.realm = open_realm(path=path)
                self.result = work(self.realm)
                ready.set()
                self.awake.wait(60)
                after(self.realm)
            except BaseException as failure:  # pylint: disable=broad-except
                self.failure = failure
                ready.set()

        self.thread = threading.Thread(target=run)
        self.thread.start()
        ready.wait(60)
        if self.failure:
            raise self.failure

    def wake(self):
        self.awake.set()
        self.thread.join(60)
        assert not self.thread.is_alive()
        if self.failure:
            raise self.failure


def begin(realm):
    check("toft_realm_begin_write", realm, None)


class ReleaseTests(unittest.TestCase):
    def setUp(self):
        self.before = get("toft_handle_count")
        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.directory.name, "notes.toft")
        self.realm = open_realm(CLASSES, path=self.path, timeout=0)

    def tearDown(self):
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_refresh", self.realm, None)
        check("toft_realm_check", self.realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        check("toft_realm_close", self.realm)
        check("toft_realm_release", self.realm)
        self.assertEqual(get("toft_handle_count"), self.before, "handles were left over")
        self.directory.cleanup()

    def other_process_writes(self):
        """Whether another process gets the write lock at once."""
        program = (
            "import sys; from calls import *\n"
            "realm = open_realm(path=sys.argv[1], timeout=0)\n"
            "print(status_name(status('toft_realm_begin_write', realm, None)))"
        )
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        run = subprocess.run(
            [sys.executable, "-c", program, self.path],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=True,
        )
        return run.stdout.strip() == "TOFT_OK"

    def pinned(self):
        """How far the oldest version that somebody reads is behind the newest."""
        put(self.realm, random.getrandbits(62))
        put(self.realm, random.getrandbits(62))
        info = get("toft_realm_info", self.realm)
        return info.latest_version - info.oldest_pinned_version

    def test_a_write_transaction_is_rolled_back_while_its_thread_sleeps(self):
        sleeper = Sleeper(self.path, begin)
        self.assertFalse(self.other_process_writes())
        check("toft_realm_release", sleeper.realm)
        self.assertTrue(self.other_process_writes())
        begin(self.realm)
        check("toft_realm_cancel", self.realm)
        sleeper.wake()

    def test_the_version_of_a_sleeping_thread_is_given_up(self):
        sleeper = Sleeper(self.path)
        for _ in range(5):
            put(self.realm, random.getrandbits(62))
        self.assertGreater(self.pinned(), 5)
        check("toft_realm_release", sleeper.realm)
        self.assertLessEqual(self.pinned(), 2)
        sleeper.wake()

    def test_the_last_handle_may_be_any_handle_and_come_from_any_of_several_threads(self):
        def use(realm):
            note = get("toft_realm_find_class", realm, text("Note"))
            handles = [("toft_realm", realm)]
            handles += [("toft_results", get("toft_realm_objects", realm, note)) for _ in range(9)]
            begin(realm)
            return handles

        for _ in range(20):
            sleeper = Sleeper(self.path, use)
            random.shuffle(sleeper.result)
            self.assertEqual(
                status("toft_realm_begin_write", self.realm, None), E.TOFT_ERROR_LOCK_TIMEOUT
            )
            releasers = [
                threading.Thread(
                    target=lambda part: [check(f"{kind}_release", handle) for kind, handle in part],
                    args=(sleeper.result[index::3],),
                )
                for index in range(3)
            ]
            for releaser in releasers:
                releaser.start()
            for releaser in releasers:
                releaser.join()
            begin(self.realm)
            check("toft_realm_cancel", self.realm)
            sleeper.wake()

    def test_the_last_release_on_the_own_thread_ends_what_others_released_before(self):
        mine = open_realm(path=self.path)
        note = get("toft_realm_find_class", mine, text("Note"))
        notes = get("toft_realm_objects", mine, note)
        begin(mine)
        on_another_thread(lambda: check("toft_results_release", notes))
        check("toft_realm_release", mine)
        begin(self.realm)
        check("toft_realm_cancel", self.realm)

    def test_observers_end_with_the_last_handle_on_the_thread_that_releases_it(self):
        destroyed = []
        destructor = DESTRUCTOR(lambda _: destroyed.append(threading.get_ident()))
        callback = CHANGES_CALLBACK(lambda *_: None)

        def observe(realm):
            return get("toft_realm_observe", realm, None, callback, 1, destructor)

        sleeper = Sleeper(self.path, observe)
        check("toft_realm_release", sleeper.realm)
        self.assertEqual(destroyed, [threading.get_ident()])
        check("toft_token_release", sleeper.result)
        sleeper.wake()

    def test_a_call_that_is_under_way_goes_on_and_its_end_ends_the_realm(self):
        inside, released, results = threading.Event(), threading.Event(), []

        def slow(_, changes):
            inside.set()
            released.wait(60)
            results.append(changes.contents.version)

        callback = CHANGES_CALLBACK(slow)

        def observe(realm):
            return get("toft_realm_observe", realm, None, callback, None, None)

        def commit(realm):
            put(realm, random.getrandbits(62))
            results.append(status("toft_realm_refresh", realm, None))

        sleeper = Sleeper(self.path, observe, commit)
        sleeper.awake.set()
        self.assertTrue(inside.wait(60))
        check("toft_realm_release", sleeper.realm)
        self.assertGreater(self.pinned(), 1, "the callback still reads")
        released.set()
        sleeper.wake()
        self.assertEqual(status_name(results[1]), "TOFT_ERROR_INVALID_HANDLE")
        self.assertLessEqual(self.pinned(), 2)
        check("toft_token_release", sleeper.result)

    def test_a_call_with_another_realm_does_not_hold_the_end_up(self):
        """The thread waits for the write lock of another file, without end."""
        other = os.path.join(self.directory.name, "other.toft")
        holder = open_realm(CLASSES, path=other)
        begin(holder)
        entered = threading.Event()

        def work(realm):
            begin(realm)
            return open_realm(path=other)

        outcome = []

        def wait(_):
            entered.set()
            outcome.append(status("toft_realm_begin_write", sleeper.result, None))
            check("toft_realm_release", sleeper.result)

        sleeper = Sleeper(self.path, work, wait)
        sleeper.awake.set()
        self.assertTrue(entered.wait(60))
        threading.Event().wait(0.1)
        check("toft_realm_release", sleeper.realm)
        self.assertTrue(self.other_process_writes())
        check("toft_realm_interrupt", sleeper.result)
        sleeper.wake()
        self.assertEqual(status_name(outcome[0]), "TOFT_ERROR_INTERRUPTED")
        check("toft_realm_release", holder)

    def test_releases_race_with_calls(self):
        """The owner calls until its handle is gone; another thread releases the last one."""
        version = ctypes.c_uint64()

        def until_gone(realm):
            found = E.TOFT_OK
            while found == E.TOFT_OK:
                LIBRARY.toft_realm_refresh(realm, None)
                found = LIBRARY.toft_realm_version(realm, ctypes.byref(version))
            assert found == E.TOFT_ERROR_INVALID_HANDLE, status_name(found)

        for _ in range(300):
            sleeper = Sleeper(self.path, lambda realm: None, until_gone)
            sleeper.awake.set()
            for _ in range(random.randrange(300)):
                LIBRARY.toft_abi_version()
            check("toft_realm_release", sleeper.realm)
            sleeper.wake()
        self.assertLessEqual(self.pinned(), 2)
        self.assertEqual(len(numbers(self.realm)), 2)

    @unittest.skipUnless(COMPILER, "no C compiler")
    @unittest.skipIf("TOFT_TEST_NO_BARRIER" in os.environ, "this is that test")
    def test_all_this_holds_on_a_kernel_without_membarrier(self):
        environment = failing_calls(self.directory.name, NO_BARRIER)
        run = subprocess.run(
            [sys.executable, "-m", "unittest", "test_releases"],
            capture_output=True,
            text=True,
            timeout=300,
            env=environment | {"TOFT_TEST_NO_BARRIER": "1"},
            check=False,
        )
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
