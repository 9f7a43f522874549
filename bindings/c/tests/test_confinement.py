# Tests: HandleOwner.swift
"""Realms that are confined to the caller: used on any thread, by one at a time."""

import ctypes
import os
import random
import select
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
    other_threads_release,
    sized,
    status,
    status_name,
    text,
    text_of,
    value,
    values,
)
from world import CHANGES_CALLBACK, CLASSES, DESTRUCTOR

CALLER = E.TOFT_CONFINEMENT_CALLER


class ConfinementTests(unittest.TestCase):
    def setUp(self):
        self.before = get("toft_handle_count")
        self.realm = open_realm(CLASSES, memory="confined", confinement=CALLER)
        self.person = get("toft_realm_find_class", self.realm, text("Person"))
        self.name, self.age = (
            get("toft_realm_find_property", self.realm, self.person, text(name))
            for name in ("name", "age")
        )

    def tearDown(self):
        LIBRARY.toft_realm_release(self.realm)
        self.assertEqual(get("toft_handle_count"), self.before, "handles were left over")

    def create(self, name, age):
        keys, out = (ctypes.c_uint32 * 2)(self.name, self.age), ctypes.c_void_p()
        check(
            "toft_realm_create_object",
            self.realm,
            self.person,
            E.TOFT_UPDATE_ERROR,
            keys,
            values([name, age]),
            2,
            ctypes.byref(out),
            None,
            None,
        )
        return out.value

    def add(self, name, age):
        check("toft_realm_begin_write", self.realm, None)
        made = self.create(name, age)
        check("toft_realm_commit", self.realm, None, None)
        return made

    def test_a_transaction_goes_from_thread_to_thread(self):
        on_another_thread(lambda: check("toft_realm_begin_write", self.realm, None))
        made = on_another_thread(lambda: self.create("Ada", 52))
        on_another_thread(lambda: check("toft_object_set", made, self.age, value(53)))
        on_another_thread(lambda: check("toft_realm_commit", self.realm, None, None))
        self.assertEqual(get("toft_object_get", made, self.age), 53)
        people = on_another_thread(lambda: get("toft_realm_objects", self.realm, self.person))
        self.assertEqual(get("toft_results_count", people), 1)
        on_another_thread(lambda: check("toft_results_release", people))
        check("toft_object_release", made)
        check("toft_realm_begin_write", self.realm, None)
        on_another_thread(lambda: check("toft_realm_cancel", self.realm))

    def test_a_release_takes_effect_at_once_on_any_thread(self):
        check("toft_realm_begin_write", self.realm, None)
        on_another_thread(lambda: check("toft_realm_release", self.realm))
        other, count = open_realm(memory="confined", timeout=0), ctypes.c_size_t()
        check("toft_realm_classes", other, None, 0, ctypes.byref(count))
        self.assertEqual(count.value, 0, "the database is gone with its last realm")
        check("toft_realm_begin_write", other, None)
        check("toft_realm_release", other)

    def test_a_call_during_another_threads_call_is_an_error(self):
        """A callback keeps its call going as long as it likes."""
        made = self.add("Ada", 52)
        inside, results, destroyed = threading.Event(), [], []
        go_on = threading.Event()

        def slow(user_data, changes):
            inside.set()
            go_on.wait(10)
            results.append(get("toft_object_get", made, self.age))

        callback, destructor = CHANGES_CALLBACK(slow), DESTRUCTOR(destroyed.append)
        token = get("toft_object_observe", made, None, callback, 5, destructor)
        people = get("toft_realm_objects", self.realm, self.person)
        check("toft_realm_begin_write", self.realm, None)
        check("toft_object_set", made, self.age, value(53))
        check("toft_realm_commit", self.realm, None, None)
        descriptor = get("toft_realm_descriptor", self.realm)
        self.assertTrue(select.select([descriptor], [], [], 10)[0])
        caller = threading.Thread(target=lambda: check("toft_realm_dispatch", self.realm, None))
        caller.start()
        self.assertTrue(inside.wait(10))
        for name, arguments in (
            ("toft_realm_refresh", (self.realm, None)),
            ("toft_object_get", (made, self.age, ctypes.byref(S.toft_value()))),
            ("toft_results_count", (people, ctypes.byref(ctypes.c_uint64()))),
            ("toft_realm_close", (self.realm,)),
        ):
            self.assertEqual(status_name(status(name, *arguments)), "TOFT_ERROR_WRONG_THREAD", name)
        # Releases wait for the end of the call that is under way.
        check("toft_results_release", people)
        check("toft_token_release", token)
        go_on.set()
        caller.join()
        self.assertEqual((results, destroyed), ([53], [5]))
        self.assertEqual(get("toft_object_get", made, self.age), 53, "it goes on afterwards")
        check("toft_object_release", made)

    def test_the_last_error_of_the_realm_is_found_on_any_thread(self):
        on_another_thread(lambda: status("toft_realm_cancel", self.realm))
        error = sized(S.toft_error)
        check("toft_realm_last_error", self.realm, ctypes.byref(error))
        self.assertEqual(status_name(error.code), "TOFT_ERROR_NOT_IN_TRANSACTION")
        self.assertIn("cancel", text_of(error.message))

    def test_handles_are_released_by_many_threads_while_one_works(self):
        made = self.add("Ada", 52)
        link = S.toft_link(*get("toft_object_link", made))
        with other_threads_release() as release:
            for _ in range(20_000):
                handle = get("toft_realm_follow", self.realm, link)
                self.assertEqual(get("toft_object_get", handle, self.age), 52)
                release(handle)
        check("toft_object_release", made)

    def test_threads_that_do_not_take_turns_get_errors_and_no_crash(self):
        """Each call succeeds or is refused, and the file is in order afterwards."""
        seed = int(os.environ.get("TOFT_SEED", random.randrange(2**32)))
        print(f"seed {seed}", end=" ", flush=True)
        made = self.add("Ada", 0)
        link = S.toft_link(*get("toft_object_link", made))
        counts = {}

        def work(number):
            generator, found = random.Random(seed + number), ctypes.c_void_p()
            for _ in range(3_000):
                which = generator.randrange(5)
                if which == 0:
                    result = status("toft_realm_follow", self.realm, link, ctypes.byref(found))
                    if result == E.TOFT_OK:
                        LIBRARY.toft_object_release(found.value)
                elif which == 1:
                    out = S.toft_value()
                    result = status("toft_object_get", made, self.age, ctypes.byref(out))
                elif which == 2:
                    result = status("toft_realm_begin_write", self.realm, None)
                elif which == 3:
                    result = status("toft_object_set", made, self.age, value(number))
                else:
                    result = status("toft_realm_commit", self.realm, None, None)
                counts[status_name(result)] = counts.get(status_name(result), 0) + 1

        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertLessEqual(
            set(counts),
            {
                "TOFT_OK",
                "TOFT_ERROR_WRONG_THREAD",
                "TOFT_ERROR_ALREADY_IN_TRANSACTION",
                "TOFT_ERROR_NOT_IN_TRANSACTION",
            },
        )
        self.assertGreater(counts["TOFT_OK"], 100)
        if get("toft_realm_is_writing", self.realm):
            check("toft_realm_cancel", self.realm)
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", self.realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        check("toft_object_release", made)


if __name__ == "__main__":
    unittest.main()
