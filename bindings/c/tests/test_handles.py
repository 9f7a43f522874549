# Tests: HandleTable.swift
"""The life of handles:

released anywhere, in any order, any number of times, while others are used.
"""

import ctypes
import os
import random
import threading
import time
import unittest

from calls import (
    HEADER,
    LIBRARY,
    E,
    check,
    get,
    on_another_thread,
    open_realm,
    other_threads_release,
    status,
    text,
    value,
)
from world import CHANGES_CALLBACK, CLASSES, DESTRUCTOR, World


def eventually(condition):
    """Whether a condition holds soon:

    a thread of Python's is joined before the system's has quite ended.
    """
    deadline = time.monotonic() + 10
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


class HandleTests(unittest.TestCase):
    def setUp(self):
        self.before = get("toft_handle_count")

    def tearDown(self):
        self.assertEqual(get("toft_handle_count"), self.before, "handles were left over")

    def test_everything_can_be_released_in_any_order(self):
        seed = int(os.environ.get("TOFT_SEED", random.randrange(2**32)))
        generator = random.Random(seed)
        for _ in range(20):
            world = World()
            handles = [(kind, world.handle(kind)) for kind in HEADER.handles]
            handles += [(kind, world.another(kind)) for kind in HEADER.handles for _ in range(3)]
            generator.shuffle(handles)
            for kind, handle in handles:
                check(f"{kind}_release", handle)
            self.assertEqual(get("toft_handle_count"), self.before, f"seed {seed}")

    def test_an_object_outlives_the_handle_of_its_realm(self):
        world = World()
        check("toft_realm_release", world.realm)
        self.assertEqual(get("toft_object_get", world.object, world.keys["age"]), 52)
        self.assertEqual(get("toft_results_count", world.results), 3)
        world.close()

    def test_a_stale_handle_never_names_what_came_after_it(self):
        world = World()
        stale = [world.another("toft_object") for _ in range(50)]
        for handle in stale:
            check("toft_object_release", handle)
        fresh = [world.another("toft_object") for _ in range(50)]
        self.assertFalse(set(stale) & set(fresh))
        for handle in stale:
            self.assertEqual(
                status("toft_object_is_valid", handle, ctypes.byref(ctypes.c_bool())),
                E.TOFT_ERROR_INVALID_HANDLE,
            )
            check("toft_object_release", handle)
        for handle in fresh:
            self.assertTrue(get("toft_object_is_valid", handle))
            check("toft_object_release", handle)
        world.close()

    def test_a_hundred_thousand_handles_at_once_are_told_apart(self):
        world = World()
        handles = [get("toft_realm_objects", world.realm, world.person) for _ in range(100_000)]
        self.assertEqual(len(set(handles)), len(handles))
        for handle in handles[::1000]:
            self.assertEqual(get("toft_results_count", handle), 3)
        for handle in handles:
            LIBRARY.toft_results_release(handle)
        world.close()

    def test_other_threads_release_while_the_owner_works(self):
        world = World()
        with other_threads_release() as release:
            for _ in range(20_000):
                handle = world.another("toft_object")
                self.assertEqual(get("toft_object_get", handle, world.keys["age"]), 52)
                release(handle)
        world.close()

    def test_a_realm_can_be_released_after_its_thread_has_ended(self):
        world = on_another_thread(World)
        self.assertEqual(status("toft_realm_refresh", world.realm, None), E.TOFT_ERROR_WRONG_THREAD)
        world.close()
        self.assertTrue(
            eventually(lambda: self.objects_in(world.name) == 0),
            "the database in memory goes with its last realm",
        )

    def objects_in(self, name):
        realm = open_realm(CLASSES, memory=name)
        try:
            return get(
                "toft_realm_object_count",
                realm,
                get("toft_realm_find_class", realm, text("Person")),
            )
        finally:
            check("toft_realm_release", realm)

    def test_a_transaction_that_its_thread_left_open_is_cancelled_with_the_last_handle(self):
        def leave():
            world = World()
            check("toft_realm_begin_write", world.realm, None)
            return world

        left = on_another_thread(leave)
        waiting = open_realm(memory=left.name, timeout=0)
        self.assertEqual(status("toft_realm_begin_write", waiting, None), E.TOFT_ERROR_LOCK_TIMEOUT)
        left.close()
        self.assertTrue(
            eventually(lambda: status("toft_realm_begin_write", waiting, None) == E.TOFT_OK)
        )
        check("toft_realm_cancel", waiting)
        check("toft_realm_release", waiting)

    def test_threads_that_come_and_go_leave_nothing(self):
        def work():
            world = World()
            for _ in range(50):
                check("toft_object_release", world.another("toft_object"))
            world.close()

        for _ in range(5):
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def test_a_token_stops_on_whatever_thread_it_is_released(self):
        world, calls, destroyed = World(), [], []
        callback = CHANGES_CALLBACK(lambda user_data, changes: calls.append(user_data))
        destructor = DESTRUCTOR(
            lambda user_data: destroyed.append((user_data, threading.get_ident()))
        )
        token = get("toft_realm_observe", world.realm, None, callback, 7, destructor)
        released_by = on_another_thread(
            lambda: (check("toft_token_release", token), threading.get_ident())[1]
        )
        self.assertEqual(destroyed, [(7, released_by)])
        check("toft_realm_begin_write", world.realm, None)
        check("toft_object_set", world.object, world.keys["age"], value(1))
        check("toft_realm_commit", world.realm, None, None)
        check("toft_realm_dispatch", world.realm, None)
        self.assertEqual(calls, [])
        world.close()

    def test_a_failed_observation_leaves_the_user_data_to_the_caller(self):
        world, destroyed = World(), []
        destructor = DESTRUCTOR(destroyed.append)
        status(
            "toft_realm_observe",
            world.realm,
            None,
            CHANGES_CALLBACK(),
            7,
            destructor,
            ctypes.byref(ctypes.c_void_p()),
        )
        status(
            "toft_realm_observe",
            None,
            None,
            world.callback,
            7,
            destructor,
            ctypes.byref(ctypes.c_void_p()),
        )
        status("toft_realm_observe", world.realm, None, world.callback, 7, destructor, None)
        self.assertEqual(destroyed, [])
        world.close()

    def test_a_forked_child_opens_anew_and_what_it_inherits_is_an_error(self):
        world = World()
        process = os.fork()
        if process == 0:
            handle_error = (
                status("toft_realm_refresh", world.realm, None) == E.TOFT_ERROR_USED_AFTER_FORK
            )
            for kind in HEADER.handles:
                check(f"{kind}_release", world.handle(kind))
            own = World()
            works = get("toft_results_count", own.results) == 3
            own.close()
            # The parent's database in memory is not the child's.
            apart = self.objects_in(world.name) == 0
            os._exit(0 if handle_error and works and apart else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)
        self.assertEqual(get("toft_results_count", world.results), 3)
        world.close()


if __name__ == "__main__":
    unittest.main()
