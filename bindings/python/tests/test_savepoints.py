"""A write within a write is a savepoint: what fails in it is taken back, and the rest goes on."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
import toft
from models import ALL, Dog, Person


def names(realm: toft.Realm) -> list[str]:
    """The names of the dogs, as they are stored."""
    return [dog.name for dog in realm.objects(Dog).sort("name")]


def test_an_exception_takes_back_the_inner_block_alone(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", age=3)
        with pytest.raises(ZeroDivisionError), realm.write():
            rex.age = 4
            realm.create(Dog, name="Max")
            raise ZeroDivisionError
        assert (rex.age, names(realm)) == (3, ["Rex"])
        with realm.write() as same:
            assert same is realm
            rex.age = 5
    assert (rex.age, names(realm), realm.is_writing) == (5, ["Rex"], False)


def test_nothing_is_committed_before_the_outer_block_is(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        with realm.write():
            realm.create(Dog, name="Rex")
        with toft.open(path, ALL) as other:
            assert names(other) == []
    with pytest.raises(KeyError), realm.write():
        with realm.write():
            realm.create(Dog, name="Max")
        raise KeyError
    assert names(realm) == ["Rex"]


def test_an_object_that_became_live_in_a_block_that_fails_is_in_no_database_again(
    realm: toft.Realm,
) -> None:
    rex = Dog(name="Rex")
    with realm.write():
        with pytest.raises(LookupError), realm.write():
            with realm.write():
                realm.add(rex)
            raise LookupError
        assert rex.realm is None
        realm.add(rex)
    assert names(realm) == ["Rex"]


def test_deleted_objects_are_the_same_ones_again(realm: toft.Realm) -> None:
    with realm.write():
        ada = realm.create(Person, name="Ada")
        rex = realm.create(Dog, name="Rex", owner=ada)
        with pytest.raises(LookupError), realm.write():
            realm.delete(rex, ada)
            assert not rex.is_valid
            raise LookupError
        assert rex.is_valid and rex.owner == ada


def test_cancel_and_commit_end_the_whole_transaction(realm: toft.Realm) -> None:
    with realm.write():
        realm.create(Dog, name="Rex")
        with realm.write():
            realm.create(Dog, name="Max")
            realm.cancel()
        assert not realm.is_writing
    assert names(realm) == []
    with realm.write():
        with pytest.raises(LookupError), realm.write():
            realm.create(Dog, name="Max")
            realm.commit()
            raise LookupError
    assert names(realm) == ["Max"]
    with pytest.raises(toft.ClosedError), realm.write(), realm.write():
        realm.close()


def test_begin_write_is_no_savepoint(realm: toft.Realm) -> None:
    with realm.write():
        with pytest.raises(toft.AlreadyInTransactionError):
            realm.begin_write()
        with realm.write():
            realm.create(Dog, name="Rex")
    realm.begin_write()
    with pytest.raises(LookupError), realm.write():
        realm.create(Dog, name="Max")
        raise LookupError
    realm.commit()
    assert names(realm) == ["Rex"]


def test_a_savepoint_belongs_to_its_task(realm: toft.Realm) -> None:
    async def program() -> None:
        async def other() -> None:
            with pytest.raises(toft.AlreadyInTransactionError), realm.write():
                pass
            async with realm.write():
                realm.create(Dog, name="later")

        async with realm.write():
            realm.create(Dog, name="Rex")
            with pytest.raises(LookupError):
                async with realm.write():
                    realm.create(Dog, name="Max")
                    raise LookupError
            async with realm.write():
                waiting = asyncio.create_task(other())
                await asyncio.sleep(0)
            assert names(realm) == ["Rex"]
        await waiting

    asyncio.run(program())
    assert names(realm) == ["Rex", "later"]


def test_observers_hear_of_what_stays(realm: toft.Realm) -> None:
    heard: list[tuple[int, ...]] = []
    with realm.objects(Dog).observe(lambda changes: heard.append(changes.insertions)):
        realm.dispatch()
        with realm.write():
            with pytest.raises(LookupError), realm.write():
                realm.create(Dog, name="Max")
                raise LookupError
            with realm.write():
                realm.create(Dog, name="Rex")
        realm.wait(10)
    assert heard == [(), (0,)]


@pytest.mark.parametrize("seed", range(5))
def test_any_nesting_leaves_what_a_list_would_hold(realm: toft.Realm, seed: int) -> None:
    print("seed", seed)
    chance, number = random.Random(seed), 0

    def block(held: list[str], depth: int) -> list[str]:
        """Does some steps to the database and to a list. Returns what the list holds afterwards."""
        nonlocal number
        for _ in range(chance.randrange(6)):
            step = chance.random()
            if step < 0.5:
                number += 1
                realm.create(Dog, name=f"{number:03}")
                held = [*held, f"{number:03}"]
            elif step < 0.6 and held:
                gone = chance.choice(held)
                realm.objects(Dog).where(Dog.name == gone).delete()
                held = [name for name in held if name != gone]
            elif depth < 6:
                try:
                    with realm.write():
                        inner = block(held, depth + 1)
                        if chance.random() < 0.5:
                            raise LookupError
                    held = inner
                except LookupError:
                    pass
            assert names(realm) == sorted(held)
        return held

    with realm.write():
        expected: list[str] = []
        for _ in range(20):
            expected = block(expected, 0)
    assert names(realm) == sorted(expected)
