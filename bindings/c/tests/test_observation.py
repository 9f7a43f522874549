# Tests: ChangeSets.swift
"""The notifications of observers, their threads and their times."""

import ctypes
import select
import threading
import unittest

from calls import (
    E,
    S,
    check,
    get,
    open_realm,
    python,
    sized,
    status,
    status_name,
    text,
    value,
    values,
)
from world import CHANGES_CALLBACK, DESTRUCTOR, World


class Seen:
    """An observer that records its notifications."""

    def __init__(self, name, handle, then=None, options=None):
        self.calls, self.threads, self.then, self.read = [], [], then, None
        self.callback = CHANGES_CALLBACK(self.take)
        self.token = get(name, handle, options, self.callback, None, None)

    def take(self, _, pointer):
        changes = pointer.contents
        assert changes.size == ctypes.sizeof(S.toft_changes)
        call = {"kind": changes.kind, "from": changes.previous_version, "to": changes.version}
        for what, count in (
            ("deletions", changes.deletion_count),
            ("insertions", changes.insertion_count),
            ("modifications", changes.modification_count),
            ("modifications_after", changes.modification_count),
            ("properties", changes.property_count),
        ):
            call[what] = getattr(changes, what)[:count]
        call["moves"] = [
            (getattr(move, "from"), move.to) for move in changes.moves[: changes.move_count]
        ]
        self.calls.append(call)
        if self.read:
            self.read(changes)
        self.threads.append(threading.get_ident())
        if self.then:
            self.then(call)

    def release(self):
        check("toft_token_release", self.token)


class ObservationTests(unittest.TestCase):
    def setUp(self):
        self.world = World()
        check("toft_token_release", self.world.token)
        self.other = open_realm(memory=self.world.name)
        self.descriptor = get("toft_realm_descriptor", self.world.realm)
        self.observers = []

    def tearDown(self):
        for observer in self.observers:
            observer.release()
        check("toft_realm_release", self.other)
        self.world.close()

    def observe(self, name, handle, then=None, **options):
        options = ctypes.byref(sized(S.toft_observe_options, **options)) if options else None
        self.observers.append(Seen(name, handle, then, options))
        return self.observers[-1]

    def is_readable(self, seconds):
        return bool(select.select([self.descriptor], [], [], seconds)[0])

    def dispatch(self):
        """Waits until there is something to do, and does it."""
        self.assertTrue(self.is_readable(10), "nothing came")
        return get("toft_realm_dispatch", self.world.realm)

    def edit(self, *edits):
        """Changes Ada by another realm; gives the version."""
        check("toft_realm_begin_write", self.other, None)
        ada = get("toft_realm_find_object", self.other, self.world.person, value("Ada"))
        for name, new in edits:
            check("toft_object_set", ada, self.world.keys[name], value(new))
        check("toft_object_release", ada)
        return get("toft_realm_commit", self.other, None)

    def add(self, *names):
        keys = (ctypes.c_uint32 * 2)(self.world.keys["name"], self.world.keys["age"])
        check("toft_realm_begin_write", self.other, None)
        for age, name in enumerate(names):
            check(
                "toft_realm_create_object",
                self.other,
                self.world.person,
                E.TOFT_UPDATE_ERROR,
                keys,
                values([name, age]),
                2,
                None,
                None,
                None,
            )
        return get("toft_realm_commit", self.other, None)

    def sorted_by_name(self):
        name = text("name")
        criterion = S.toft_sort(name, 0, 0)
        results = get("toft_results_sort", self.world.results, ctypes.byref(criterion), 1)
        self.addCleanup(lambda: check("toft_results_release", results))
        return results

    def test_results_tell_indices_before_and_after(self):
        seen = self.observe("toft_results_observe", self.sorted_by_name())
        self.assertEqual(self.dispatch(), 1)
        self.assertEqual(
            (seen.calls[0]["kind"], seen.calls[0]["insertions"]), (E.TOFT_CHANGE_INITIAL, [])
        )
        version = self.add("Barbara", "Zoe")
        self.dispatch()
        self.assertEqual(seen.calls[1]["insertions"], [1, 4])
        self.assertEqual(
            (seen.calls[1]["to"], seen.calls[1]["kind"]), (version, E.TOFT_CHANGE_UPDATE)
        )
        self.edit(("age", 53))
        self.dispatch()
        self.assertEqual(
            (seen.calls[2]["modifications"], seen.calls[2]["modifications_after"]),
            ([0, 2, 3], [0, 2, 3]),
            "Ada and those whose boss she is",
        )
        check("toft_realm_begin_write", self.other, None)
        for name in ("Ada", "Barbara"):
            person = get("toft_realm_find_object", self.other, self.world.person, value(name))
            check("toft_object_delete", person)
            check("toft_object_release", person)
        check("toft_realm_commit", self.other, None, None)
        self.dispatch()
        self.assertEqual(seen.calls[3]["deletions"], [0, 1])
        self.assertEqual(
            set(seen.threads), {threading.get_ident()}, "calls come on the thread of the realm"
        )
        self.assertFalse(self.is_readable(0), "nothing is left to do")

    def test_a_list_tells_its_edits_and_its_end(self):
        seen = self.observe("toft_list_observe", self.world.list)
        self.dispatch()
        check("toft_realm_begin_write", self.other, None)
        ada = get("toft_realm_find_object", self.other, self.world.person, value("Ada"))
        numbers = get("toft_object_list", ada, self.world.keys["numbers"])
        check("toft_list_insert", numbers, 1, values([9]), 1)
        check("toft_list_set", numbers, 0, value(8))
        check("toft_realm_commit", self.other, None, None)
        self.dispatch()
        self.assertEqual((seen.calls[1]["insertions"], seen.calls[1]["modifications"]), ([1], [0]))
        check("toft_realm_begin_write", self.other, None)
        check("toft_list_move", numbers, 0, 3)
        check("toft_realm_commit", self.other, None, None)
        self.dispatch()
        self.assertEqual(seen.calls[2]["moves"], [(0, 3)])
        self.assertEqual((seen.calls[2]["deletions"], seen.calls[2]["insertions"]), ([0], [3]))
        check("toft_realm_begin_write", self.other, None)
        check("toft_object_delete", ada)
        check("toft_realm_commit", self.other, None, None)
        self.dispatch()
        self.assertEqual(seen.calls[3]["kind"], E.TOFT_CHANGE_DELETED)
        for name, handle in (("toft_list_release", numbers), ("toft_object_release", ada)):
            check(name, handle)

    def test_an_object_tells_its_properties_also_when_set_to_the_same_and_its_end(self):
        seen = self.observe("toft_object_observe", self.world.object)
        self.assertFalse(self.is_readable(0.1), "objects have no first call")
        self.edit(("age", 52), ("nickname", "Countess"))
        self.dispatch()
        self.assertEqual(
            sorted(seen.calls[0]["properties"]),
            sorted([self.world.keys["age"], self.world.keys["nickname"]]),
        )
        check("toft_realm_begin_write", self.other, None)
        check("toft_realm_delete_all", self.other, self.world.person)
        check("toft_realm_commit", self.other, None, None)
        self.dispatch()
        self.assertEqual(
            [call["kind"] for call in seen.calls], [E.TOFT_CHANGE_UPDATE, E.TOFT_CHANGE_DELETED]
        )

    def test_a_realm_tells_every_commit_its_own_at_once(self):
        seen = self.observe("toft_realm_observe", self.world.realm)
        version = self.edit(("age", 1))
        self.dispatch()
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_set", self.world.object, self.world.keys["age"], value(2))
        own = get("toft_realm_commit", self.world.realm, None)
        self.assertEqual([call["to"] for call in seen.calls], [version, own])

    def test_several_commits_come_as_one_call_and_none_without_a_change(self):
        seen = self.observe("toft_results_observe", self.sorted_by_name())
        self.dispatch()
        for name in ("Barbara", "Dennis"):
            self.add(name)
        self.edit(("age", 1))
        check("toft_realm_refresh", self.world.realm, None)
        self.assertEqual(len(seen.calls), 2)
        self.assertEqual(
            (seen.calls[1]["insertions"], seen.calls[1]["modifications"]), ([1, 2], [0, 1, 2])
        )
        check("toft_realm_refresh", self.world.realm, None)
        check("toft_realm_dispatch", self.world.realm, None)
        self.assertEqual(len(seen.calls), 2)

    def test_a_write_transaction_begins_with_what_is_due(self):
        seen = self.observe("toft_results_observe", self.world.results)
        self.dispatch()
        self.add("Barbara")
        check("toft_realm_begin_write", self.world.realm, None)
        self.assertEqual(seen.calls[-1]["insertions"], [3])
        check("toft_realm_cancel", self.world.realm)

    def test_an_observer_may_release_itself_and_others_and_read_and_write(self):
        def then(_):
            self.assertEqual(get("toft_results_count", self.world.results), 4)
            self.assertEqual(
                status_name(status("toft_realm_dispatch", self.world.realm, None)),
                "TOFT_ERROR_INSIDE_CALLBACK",
            )
            check("toft_realm_begin_write", self.world.realm, None)
            check("toft_object_set", self.world.object, self.world.keys["age"], value(99))
            check("toft_realm_commit", self.world.realm, None, None)
            for observer in self.observers:
                observer.release()

        first = self.observe("toft_results_observe", self.world.results)
        second = self.observe("toft_object_observe", self.world.object)
        self.dispatch()
        first.then = then
        self.add("Barbara")
        self.dispatch()
        self.assertEqual(len(first.calls), 2)
        self.assertEqual(get("toft_object_get", self.world.object, self.world.keys["age"]), 99)
        self.add("Dennis")
        check("toft_realm_refresh", self.world.realm, None)
        self.assertEqual((len(first.calls), len(second.calls)), (2, 0))

    def test_an_observer_may_close_its_realm(self):
        world, closed = World(), []

        def close(_, __):
            closed.append(status("toft_realm_close", world.realm))

        callback = CHANGES_CALLBACK(close)
        token = get("toft_results_observe", world.results, None, callback, None, None)
        status("toft_realm_dispatch", world.realm, None)
        self.assertEqual(len(closed), 1)
        self.assertIn(status_name(closed[0]), ("TOFT_OK", "TOFT_ERROR_INSIDE_CALLBACK"))
        check("toft_token_release", token)
        world.close()

    def test_user_data_is_destroyed_once_when_the_realm_closes(self):
        world, destroyed = World(), []
        destructor = DESTRUCTOR(destroyed.append)
        tokens = [
            get("toft_results_observe", world.results, None, world.callback, number, destructor)
            for number in (1, 2)
        ]
        check("toft_realm_close", world.realm)
        self.assertEqual(sorted(destroyed), [1, 2])
        for token in tokens:
            check("toft_token_release", token)
        self.assertEqual(sorted(destroyed), [1, 2])
        world.close()

    def test_what_was_changed_in_the_open_transaction_cannot_be_observed(self):
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_set", self.world.object, self.world.keys["age"], value(3))
        result = status(
            "toft_results_observe",
            self.world.results,
            None,
            self.world.callback,
            None,
            None,
            ctypes.byref(ctypes.c_void_p()),
        )
        self.assertEqual(status_name(result), "TOFT_ERROR_OBSERVE_IN_TRANSACTION")
        check("toft_realm_cancel", self.world.realm)

    # --- Options

    def test_key_paths_say_what_counts_as_a_modification(self):
        kept = []

        def paths(*names):
            kept.extend(text(name) for name in names)
            array = (S.toft_string * max(1, len(names)))(*kept[len(kept) - len(names) :])
            return {"key_paths": array, "key_path_count": len(names)}

        subjects = (("toft_results_observe", self.world.results),)
        for name, handle in subjects:
            everything = self.observe(name, handle)
            ages = self.observe(name, handle, **paths("age"))
            bosses = self.observe(name, handle, **paths("boss.nickname"))
            rows = self.observe(name, handle, **paths())
        observer = self.observe("toft_object_observe", self.world.object, **paths("age"))
        self.dispatch()
        for each in self.observers:
            each.calls.clear()
        self.edit(("nickname", "Countess"))
        self.dispatch()
        self.assertEqual(
            [len(each.calls) for each in (everything, ages, bosses, rows, observer)],
            [1, 0, 1, 0, 0],
        )
        self.assertEqual(bosses.calls[0]["modifications"], [1, 2], "those whose boss Ada is")
        self.edit(("age", 53))
        self.dispatch()
        self.assertEqual(
            [len(each.calls) for each in (everything, ages, bosses, rows, observer)],
            [2, 1, 1, 0, 1],
        )
        self.assertEqual(observer.calls[0]["properties"], [self.world.keys["age"]])
        self.add("Barbara")
        self.dispatch()
        self.assertEqual(rows.calls[0]["insertions"], [3])

    def test_key_paths_that_do_not_exist_are_errors(self):
        out = ctypes.c_void_p()
        height = text("height")
        array = (S.toft_string * 1)(height)
        options = sized(S.toft_observe_options, key_paths=array, key_path_count=1)
        for name, handle, expected in (
            ("toft_results_observe", self.world.results, "NO_SUCH_PROPERTY"),
            ("toft_object_observe", self.world.object, "NO_SUCH_PROPERTY"),
            ("toft_realm_observe", self.world.realm, "INVALID_ARGUMENT"),
        ):
            result = status(
                name, handle, ctypes.byref(options), self.callback(), None, None, ctypes.byref(out)
            )
            self.assertEqual(status_name(result), f"TOFT_ERROR_{expected}", name)
        self.assertIsNone(out.value)

    def callback(self):
        self.kept = CHANGES_CALLBACK(lambda user_data, changes: None)
        return self.kept

    def test_old_values_are_told_to_those_who_ask(self):
        told = []

        def then(changes):
            values = changes.old_values[: changes.property_count] if changes.old_values else None
            told.append(values and [python(each) for each in values])

        for flags in (E.TOFT_OBSERVE_DEFAULT, E.TOFT_OBSERVE_OLD_VALUES):
            observer = self.observe("toft_object_observe", self.world.object, flags=flags)
            observer.read = then
        self.edit(("age", 53), ("nickname", "Countess"))
        self.dispatch()
        self.assertEqual(told, [None, [52, None]])
        self.edit(("nickname", "Lady"))
        self.dispatch()
        self.assertEqual(told[2:], [None, ["Countess"]])

    def test_ranges_are_told_instead_of_indices(self):
        told = []

        def then(changes):
            told.append(
                [
                    [(each.first, each.count) for each in ranges[:count]]
                    for ranges, count in (
                        (changes.deleted_ranges, changes.deleted_range_count),
                        (changes.inserted_ranges, changes.inserted_range_count),
                        (changes.modified_ranges, changes.modified_range_count),
                    )
                ]
            )

        observer = self.observe(
            "toft_results_observe",
            self.world.results,
            flags=E.TOFT_OBSERVE_RANGES | E.TOFT_OBSERVE_NO_INITIAL,
        )
        observer.read = then
        self.add(*(f"Person {number}" for number in range(1000)))
        self.dispatch()
        self.assertEqual(told, [[[], [(3, 1000)], []]])
        self.assertEqual(observer.calls[0]["insertions"], [], "not told twice")

    def test_the_first_call_can_be_left_out(self):
        plain = self.observe("toft_results_observe", self.world.results)
        silent = self.observe(
            "toft_results_observe", self.world.results, flags=E.TOFT_OBSERVE_NO_INITIAL
        )
        self.dispatch()
        self.assertEqual([len(plain.calls), len(silent.calls)], [1, 0])
        self.add("Barbara")
        self.dispatch()
        self.assertEqual([call["kind"] for call in silent.calls], [E.TOFT_CHANGE_UPDATE])

    def test_moves_can_be_left_out(self):
        plain = self.observe("toft_list_observe", self.world.list)
        silent = self.observe("toft_list_observe", self.world.list, flags=E.TOFT_OBSERVE_NO_MOVES)
        self.dispatch()
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_list_move", self.world.list, 0, 2)
        check("toft_realm_commit", self.world.realm, None, None)
        self.dispatch()
        self.assertEqual([each.calls[-1]["moves"] for each in (plain, silent)], [[(0, 2)], []])
        for each in (plain, silent):
            self.assertEqual(
                (each.calls[-1]["deletions"], each.calls[-1]["insertions"]), ([0], [2])
            )

    def test_observers_that_a_commit_names_are_not_told_of_it(self):
        told = self.observe("toft_results_observe", self.world.results)
        skipped = self.observe("toft_results_observe", self.world.results)
        self.dispatch()
        tokens = (ctypes.c_void_p * 1)(skipped.token)
        options = sized(S.toft_commit_options, without_notifying_count=1)
        options.without_notifying = ctypes.cast(tokens, ctypes.POINTER(ctypes.c_void_p))
        check("toft_realm_begin_write", self.world.realm, None)
        check("toft_object_set", self.world.object, self.world.keys["age"], value(53))
        check("toft_realm_commit", self.world.realm, ctypes.byref(options), None)
        self.dispatch()
        self.assertEqual([len(told.calls), len(skipped.calls)], [2, 1])
        check("toft_realm_begin_write", self.other, None)
        for wrong, expected in ((skipped.token, "WRONG_REALM"), (self.other, "INVALID_HANDLE")):
            tokens[0] = wrong
            result = status("toft_realm_commit", self.other, ctypes.byref(options), None)
            self.assertEqual(status_name(result), f"TOFT_ERROR_{expected}")
            self.assertTrue(get("toft_realm_is_writing", self.other))
        check("toft_realm_cancel", self.other)


if __name__ == "__main__":
    unittest.main()
