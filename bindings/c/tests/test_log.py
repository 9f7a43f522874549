# Tests: Logging.swift
"""The library's messages to a program's log, on which thread and when."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from calls import E, check, get, last_error, open_realm, status, status_name, text, text_of
from preload import COMPILER, failing_calls
from test_durability import CLASSES, put
from test_faults import FAILING_DISK
from world import DESTRUCTOR, LOG_CALLBACK


class Log:
    """Messages up to a level, with the threads that they came on, until the log is closed."""

    def __init__(self, level, then=None):
        self.messages, self.threads, self.destroyed, self.then = [], [], [], then
        self.callback = LOG_CALLBACK(self.take)
        self.destructor = DESTRUCTOR(self.destroyed.append)
        check("toft_set_log", level, self.callback, 77, self.destructor)

    def take(self, user_data, level, message):
        self.messages.append((level, text_of(message)))
        self.threads.append(threading.get_ident())
        assert user_data == 77
        if self.then is not None:
            self.then(self)

    def close(self):
        check("toft_set_log", E.TOFT_LOG_OFF, None, None, None)
        assert self.destroyed == [77], self.destroyed

    def about(self, part):
        return [level for level, message in self.messages if part in message]


def run_child(work, path, *arguments, environment=os.environ, expected=0):
    """Runs a function of this module in a process of its own, and gives what it prints."""
    code = f"import sys, test_log; test_log.{work}(*sys.argv[1:])"
    child = subprocess.run(
        [sys.executable, "-c", code, path, *arguments],
        cwd=pathlib.Path(__file__).parent,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == expected, child
    return child.stdout


def leave_unclean(path):
    """Commits three notes and dies."""
    realm = open_realm(CLASSES, path=path)
    for number in range(3):
        put(realm, number)
    os.kill(os.getpid(), signal.SIGKILL)


def die_writing(path):
    check("toft_realm_begin_write", open_realm(CLASSES, path=path), None)
    os.kill(os.getpid(), signal.SIGKILL)


def fail(path, flag, how):
    """The disk fails, and then a release, or a flush, can't do what it has to do."""
    log = Log(E.TOFT_LOG_WARN)
    realm = open_realm(CLASSES, path=path)
    put(realm, 0)
    check("toft_realm_flush", realm)
    put(realm, 1)
    pathlib.Path(flag).touch()
    if how == "flush":
        assert status("toft_realm_flush", realm) == E.TOFT_ERROR_POISONED
    check("toft_realm_release", realm)
    print("\n".join(f"{level} {message}" for level, message in log.messages), flush=True)
    log.close()


class LogTests(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = os.path.join(self.directory.name, "notes.toft")

    def log(self, level, then=None):
        log = Log(level, then)
        self.addCleanup(check, "toft_set_log", E.TOFT_LOG_OFF, None, None, None)
        return log

    def open_and_close(self):
        realm = open_realm(CLASSES, path=self.path)
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)

    def test_opening_tells_whether_the_file_was_recovered(self):
        self.open_and_close()
        log = self.log(E.TOFT_LOG_DETAIL)
        self.open_and_close()
        self.assertEqual(log.about(f"Opened '{self.path}' at version"), [E.TOFT_LOG_DETAIL])
        run_child("leave_unclean", self.path, expected=-signal.SIGKILL)
        self.assertEqual(log.about("Recovered"), [])
        self.open_and_close()
        self.assertEqual(log.about("Recovered"), [E.TOFT_LOG_INFO])
        self.assertRegex(log.messages[-1][1], r"not closed cleanly: [1-3] commits .* in \d+ ms\.")
        self.assertEqual(set(log.threads), {threading.get_ident()})
        log.close()

    def test_a_writer_that_died_is_told(self):
        realm = open_realm(CLASSES, path=self.path)
        log = self.log(E.TOFT_LOG_WARN)
        run_child("die_writing", self.path, expected=-signal.SIGKILL)
        put(realm, 1)
        self.assertEqual(log.about("died in a write transaction"), [E.TOFT_LOG_WARN])
        self.assertEqual(len(log.messages), 1)
        put(realm, 2)
        self.assertEqual(len(log.messages), 1)
        log.close()
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_a_failing_disk_is_told_also_when_nobody_asks(self):
        environment = failing_calls(self.directory.name, FAILING_DISK)
        flag = pathlib.Path(self.directory.name, "fails")
        environment["TOFT_TEST_FAULT"] = str(flag)
        told = run_child("fail", self.path, flag, "flush", environment=environment)
        self.assertIn("2 A sync failed", told)
        self.assertIn("2 TOFT_ERROR_POISONED", told)
        flag.unlink()
        told = run_child("fail", f"{self.path}2", flag, "release", environment=environment)
        self.assertRegex(told, "3 '.*notes.toft2' was released and not closed well")

    def test_each_level_holds_those_before_it(self):
        levels = ("OFF", "FATAL", "ERROR", "WARN", "INFO", "DETAIL", "DEBUG", "TRACE")
        self.open_and_close()
        for number, name in enumerate(levels):
            self.assertEqual(getattr(E, f"TOFT_LOG_{name}"), number)
            log = self.log(number)
            status("toft_realm_refresh", None, None)
            self.open_and_close()
            expected = [E.TOFT_LOG_WARN] * (number >= E.TOFT_LOG_WARN)
            self.assertEqual(log.about("TOFT_ERROR_INVALID_HANDLE"), expected, name)
            expected = [E.TOFT_LOG_DETAIL] * (number >= E.TOFT_LOG_DETAIL)
            self.assertEqual(log.about("Opened"), expected, name)
            if number:
                log.close()

    def test_a_callback_calls_nothing_but_releases(self):
        realm = open_realm(CLASSES, path=self.path)
        spare = [get("toft_realm_clone", realm) for _ in range(2)]
        seen = []

        def then(log):
            seen.append(status_name(status("toft_realm_refresh", realm, None)))
            out = ctypes.c_void_p()
            seen.append(status_name(status("toft_realm_open", None, ctypes.byref(out))))
            seen.append(status_name(status("toft_set_log", E.TOFT_LOG_OFF, None, None, None)))
            seen.append(status_name(last_error()[0]))
            check("toft_realm_release", spare.pop())

        log = self.log(E.TOFT_LOG_WARN, then)
        before = get("toft_handle_count")
        for count in (1, 2):
            result = status("toft_realm_version", realm, None)
            self.assertEqual(result, E.TOFT_ERROR_INVALID_ARGUMENT)
            self.assertEqual(len(log.messages), count, "what comes up in a callback is dropped")
        self.assertEqual(seen, ["TOFT_ERROR_INSIDE_CALLBACK"] * 8)
        log.then = None
        self.assertEqual(get("toft_handle_count"), before - 2)
        put(realm, 1)
        log.close()
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)

    def test_a_message_comes_on_the_thread_of_its_call(self):
        log = self.log(E.TOFT_LOG_WARN)
        threads = [
            threading.Thread(target=lambda: status("toft_realm_refresh", None, None))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(log.messages), 8)
        self.assertNotIn(threading.get_ident(), log.threads)
        log.close()

    def test_the_next_log_takes_the_place_of_the_first(self):
        first = self.log(E.TOFT_LOG_WARN)
        second = self.log(E.TOFT_LOG_WARN)
        self.assertEqual(first.destroyed, [77])
        status("toft_query_new", text("a ="), ctypes.byref(ctypes.c_void_p()))
        self.assertEqual(second.messages, [], "a wrong query is no misuse")
        status("toft_realm_refresh", None, None)
        self.assertEqual((len(first.messages), len(second.messages)), (0, 1))
        for level in (8, 2**32 - 1):
            self.assertEqual(
                status("toft_set_log", level, first.callback, None, None),
                E.TOFT_ERROR_INVALID_ARGUMENT,
            )
        second.close()

    def test_a_forked_child_starts_without(self):
        log = self.log(E.TOFT_LOG_WARN)
        process = os.fork()
        if process == 0:
            status("toft_realm_refresh", None, None)
            again = Log(E.TOFT_LOG_WARN)
            status("toft_realm_refresh", None, None)
            os._exit(10 * len(log.messages) + len(again.messages))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 1)
        log.close()


if __name__ == "__main__":
    unittest.main()
