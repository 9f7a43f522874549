"""Handles are released by garbage collection:

in any order, on any thread, and when the interpreter ends.
"""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toft
from models import ALL, Dog, Person


def test_things_outlive_the_realm_that_nobody_holds(path: Path) -> None:
    def rex() -> Dog:
        realm = toft.open(path, ALL)
        with realm.write():
            return realm.create(Dog, name="Rex", tags=["a"])

    kept = rex()
    gc.collect()
    assert kept.name == "Rex" and kept.tags == ["a"]


def test_handles_go_in_any_order(path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(30):
        realm: Any = toft.open(path, ALL)
        with realm.write():
            rex = realm.create(Dog, name="Rex", owner=Person(name=str(chance.random())), tags=["a"])
        dogs = realm.objects(Dog)
        things = [
            realm,
            rex,
            rex.tags,
            rex.owner,
            rex.owner.dogs,
            dogs,
            dogs.where("age == 0"),
            dogs.sort("name"),
            dogs.snapshot(),
            iter(dogs),
            dogs.observe(lambda _: None),
            dogs.observe(),
            rex.observe(),
            rex.tags.observe(print),
            realm.observe(print),
            next(iter(dogs)),
        ]
        next(things[9])
        del realm, rex, dogs
        chance.shuffle(things)
        while things:
            things.pop()
    gc.collect()


def test_what_nobody_holds_goes_without_the_collection_of_cycles(path: Path) -> None:
    before = toft.handle_count()
    gc.disable()
    try:
        realm: Any = toft.open(path, ALL)
        with realm.write():
            realm.add(Dog(name="Rex", owner=Person(name="Ann"), tags=["a"]))
            realm.create(Dog, name="Bo", owner=Person(name="Bo"))
        pinned = realm.freeze()
        frozen: Any = [pinned, pinned.objects(Dog)[0], pinned.objects(Dog).where("age == 0")]
        del pinned
        with realm.write():
            realm.objects(Dog)[0].age = 5
        assert len(realm.pins) > 1
        frozen.clear()
        assert len(realm.pins) == 1, "the version that the frozen realm was of is still kept"
        del realm
        assert toft.handle_count() == before
        toft.delete_files(path)
    finally:
        gc.enable()


def test_a_realm_in_a_circle_is_collected(path: Path) -> None:
    before = toft.handle_count()

    def make() -> None:
        realm = toft.open(path, ALL)
        dogs = realm.objects(Dog)
        dogs.observe(
            lambda _: len(dogs)
        )  # the realm holds the observation, which holds the results, which hold the realm
        realm.dispatch()

    make()
    gc.collect()
    assert toft.handle_count() <= before


def test_handles_are_released_on_other_threads(realm: toft.Realm) -> None:
    with realm.write():
        for number in range(100):
            realm.create(Dog, name=str(number))
    before = toft.handle_count()
    for _ in range(20):
        kept: list[Any] = [dog.tags for dog in realm.objects(Dog)] + [
            realm.objects(Dog).where("age == 0") for _ in range(20)
        ]
        thread = threading.Thread(target=kept.clear)
        thread.start()
        [dog.name for dog in realm.objects(Dog)]
        thread.join()
    gc.collect()
    assert toft.handle_count() <= before


def test_nothing_is_printed_when_the_interpreter_ends_with_everything_open(
    python: Callable[..., Any],
) -> None:
    source = """
import sys, toft
from models import *
realm = toft.open(sys.argv[1], ALL)
with realm.write():
    rex = realm.create(Dog, name="Rex", tags=["a"])
dogs, tags = realm.objects(Dog), rex.tags
observation = dogs.observe(print)
loop = iter(dogs)
next(loop)
class Late:
    def __del__(self):
        print(len(dogs), tags)
late = Late()
sys.modules["kept"] = [realm, rex, dogs, observation, loop, late]
"""
    for _ in range(3):
        process = python(source)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, ""), err


def test_a_thread_that_ends_leaves_its_realm_to_the_collector(path: Path) -> None:
    kept: list[Any] = []

    def work() -> None:
        realm = toft.open(path, ALL)
        kept.append(realm.objects(Dog))
        realm.objects(Dog).observe(print)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    kept.clear()
    gc.collect()


def test_memory_that_was_lent_is_lent_again(realm: toft.Realm) -> None:
    def use() -> None:
        rex.age += 1
        rex.friends = [Dog(name="Max")]
        assert rex in realm.objects(Dog).where("age > $0", 0) and "x" not in rex.tags
        for wrong in ("old", 2**64):
            with pytest.raises((TypeError, ValueError)):
                rex.age = wrong  # type: ignore[assignment]
        with pytest.raises(TypeError):
            rex.friends = [Dog(name="Tim"), 5]  # type: ignore[list-item]

    with realm.write():
        rex = realm.create(Dog, name="Rex")
        use()
        spare = {*map(id, realm._session.writing._spare_arguments)}
        for _ in range(10):
            use()
        assert {*map(id, realm._session.writing._spare_arguments)} == spare
