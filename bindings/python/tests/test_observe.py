"""Observation: by callback, by asyncio, and of what other threads and processes commit."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import toft
from models import ALL, Dog, Person

Runner = Callable[..., object]


def elsewhere(path: Path, change: Callable[[toft.Realm], object]) -> None:
    """Commits a change on another thread."""
    failures = []

    def work() -> None:
        try:
            with toft.open(path, ALL) as realm, realm.write():
                change(realm)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failures, failures


def until(realm: toft.Realm, done: Callable[[], bool]) -> None:
    """Waits for changes until they have done something."""
    for _ in range(50):
        if done():
            return
        realm.wait(1)
    raise AssertionError("it never came")


def test_a_callback_is_told_the_indices(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        for age in (1, 3, 5):
            realm.create(Dog, name=f"Dog {age}", age=age)
    seen: list[toft.Changes] = []
    dogs = realm.objects(Dog).where("age > 2").sort("age")
    dogs.observe(seen.append)
    assert seen == []
    until(realm, lambda: len(seen) == 1)
    assert seen[0].is_initial and seen[0].previous_version == 0

    def change(other: toft.Realm) -> None:
        dogs = other.objects(Dog)
        dogs[0].age = 4  # comes
        dogs[1].age = 0  # goes
        dogs[2].name = "changed"

    elsewhere(path, change)
    until(realm, lambda: len(seen) == 2)
    assert (
        seen[1].deletions,
        seen[1].insertions,
        seen[1].modifications,
        seen[1].modifications_after,
    ) == ((0,), (0,), (1,), (1,))
    assert seen[1].version > seen[1].previous_version >= seen[0].version
    assert [dog.age for dog in dogs] == [4, 5]


def test_an_own_commit_is_told_too(realm: toft.Realm) -> None:
    seen: list[toft.Changes] = []
    realm.objects(Dog).observe(seen.append)
    until(realm, lambda: len(seen) == 1)
    with realm.write():
        realm.create(Dog, name="Rex")
    until(realm, lambda: len(seen) == 2)
    assert seen[1].insertions == (0,)


def test_an_object_tells_its_properties_and_its_end(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex")
    seen: list[toft.Changes] = []
    observation = rex.observe(seen.append)
    elsewhere(
        path,
        lambda other: [
            setattr(other.objects(Dog)[0], "age", 3),
            other.objects(Dog)[0].tags.append("x"),
        ],
    )
    until(realm, lambda: len(seen) == 1)
    assert set(seen[0].properties) == {"age", "tags"} and rex.age == 3
    elsewhere(path, lambda other: other.delete_all(Dog))
    until(realm, lambda: len(seen) == 2)
    assert seen[1].kind == toft.ChangeKind.DELETED and seen[1].is_last
    observation.stop()


def test_a_list_tells_moves(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", tags=["a", "b", "c"])
    seen: list[toft.Changes] = []
    tags = rex.tags
    tags.observe(seen.append)
    until(realm, lambda: len(seen) == 1)

    def change(other: toft.Realm) -> None:
        tags = other.objects(Dog)[0].tags
        assert isinstance(tags, toft.List)
        tags.move(0, 2)
        tags.insert(0, "new")

    elsewhere(path, change)
    until(realm, lambda: len(seen) == 2)
    assert tags == ["new", "b", "c", "a"]
    assert seen[1].moves == ((0, 3),) and 0 in seen[1].insertions


def test_a_realm_tells_of_each_commit(realm: toft.Realm, path: Path) -> None:
    seen: list[toft.Changes] = []
    realm.observe(seen.append)
    elsewhere(path, lambda other: other.create(Person, name="Ada"))
    until(realm, lambda: len(seen) >= 1)
    assert seen[-1].version == realm.version


def test_a_copy_that_follows_the_indices_stays_right(realm: toft.Realm, path: Path) -> None:
    dogs = realm.objects(Dog).where("age < 50").sort("age", "name")
    copy: list[tuple[str, int]] = []

    def follow(changes: toft.Changes) -> None:
        if changes.is_initial:
            copy[:] = [(dog.name, dog.age) for dog in dogs]
            return
        for index in reversed(changes.deletions):
            del copy[index]
        for index in changes.insertions:
            copy.insert(index, (dogs[index].name, dogs[index].age))
        for index in changes.modifications_after:
            copy[index] = (dogs[index].name, dogs[index].age)

    dogs.observe(follow)
    import random

    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)

    def change(other: toft.Realm) -> None:
        for _ in range(chance.randint(1, 8)):
            all_dogs = other.objects(Dog)
            if len(all_dogs) < 5 or chance.random() < 0.4:
                other.create(Dog, name=str(chance.random()), age=chance.randint(0, 99))
            elif chance.random() < 0.5:
                other.delete(all_dogs[chance.randrange(len(all_dogs))])
            else:
                all_dogs[chance.randrange(len(all_dogs))].age = chance.randint(0, 99)

    for _ in range(25):
        elsewhere(path, change)
        realm.wait(10)
        realm.refresh()
        assert copy == [(dog.name, dog.age) for dog in dogs], seed


def test_stopping_ends_it(realm: toft.Realm, path: Path) -> None:
    seen: list[toft.Changes] = []
    with realm.objects(Dog).observe(seen.append):
        until(realm, lambda: len(seen) == 1)
    elsewhere(path, lambda other: other.create(Dog, name="Rex"))
    realm.wait(5)
    realm.refresh()
    assert len(seen) == 1 and len(realm.objects(Dog)) == 1


def test_the_realm_keeps_callbacks_running(realm: toft.Realm, path: Path) -> None:
    seen: list[toft.Changes] = []
    realm.objects(Dog).observe(seen.append)
    gc.collect()
    elsewhere(path, lambda other: other.create(Dog, name="Rex"))
    until(
        realm,
        lambda: (
            sum(len(changes.insertions) for changes in seen) == 1 or any(c.is_initial for c in seen)
        ),
    )


def test_what_a_callback_raises_comes_out_of_the_call_that_called_it(
    realm: toft.Realm, path: Path
) -> None:
    def fail(changes: toft.Changes) -> None:
        if not changes.is_initial:
            raise ZeroDivisionError("in a callback")

    seen: list[toft.Changes] = []
    realm.objects(Dog).observe(fail)
    realm.objects(Dog).observe(seen.append)
    until(realm, lambda: len(seen) == 1)
    elsewhere(path, lambda other: other.create(Dog, name="Rex"))
    with pytest.raises(ZeroDivisionError):
        while not realm.wait(10):
            pass
    assert len(seen) == 2
    elsewhere(path, lambda other: other.create(Dog, name="Max"))
    with pytest.raises(ZeroDivisionError):
        realm.begin_write()
    assert not realm.is_writing


def test_what_an_observer_of_the_realm_raises_comes_out_of_the_commit_that_called_it(
    realm: toft.Realm,
) -> None:
    def fail(changes: toft.Changes) -> None:
        raise ZeroDivisionError("in a callback")

    observation = realm.observe(fail)
    with pytest.raises(ZeroDivisionError), realm.write():
        realm.create(Dog, name="Rex")
    assert not realm.is_writing and len(realm.objects(Dog)) == 1
    realm.begin_write()
    realm.create(Dog, name="Max")
    with pytest.raises(ZeroDivisionError):
        realm.commit()
    observation.stop()
    with realm.write():
        realm.create(Dog, name="Tim")
    assert [dog.name for dog in realm.objects(Dog)] == ["Rex", "Max", "Tim"]


def test_a_callback_writes_whatever_another_one_raised_before_it(realm: toft.Realm) -> None:
    def fail(changes: toft.Changes) -> None:
        if not realm.objects(Person):
            raise ZeroDivisionError("in a callback")

    def answer(changes: toft.Changes) -> None:
        if not realm.objects(Person):
            with realm.write():
                realm.create(Person, name="Ada")

    realm.observe(fail)
    realm.observe(answer)
    with pytest.raises(ZeroDivisionError), realm.write():
        realm.create(Dog, name="Rex")
    assert len(realm.objects(Person)) == 1
    realm.refresh()


def test_a_callback_may_write_and_may_stop_itself(realm: toft.Realm, path: Path) -> None:
    calls = []

    def answer(changes: toft.Changes) -> None:
        calls.append(changes)
        if changes.insertions:
            observation.stop()
            with realm.write():
                realm.create(Person, name="Ada")

    observation = realm.objects(Dog).observe(answer)
    until(realm, lambda: len(calls) == 1)
    elsewhere(path, lambda other: other.create(Dog, name="Rex"))
    until(realm, lambda: len(realm.objects(Person)) == 1)
    realm.wait(0.2)
    assert len(calls) == 2


def test_waiting_ends_in_time(realm: toft.Realm) -> None:
    while realm.wait(0.3):
        pass
    assert realm.wait(0.05) is False
    assert realm.wait(0) is False


def test_a_wait_may_be_longer_than_any_clock_counts(realm: toft.Realm, path: Path) -> None:
    realm.wait(0)
    for timeout in (30 * 86400, float("inf"), 10**400):
        elsewhere(path, lambda other: other.create(Dog, name="Rex"))
        assert realm.wait(timeout) is True
        with realm.write(timeout=timeout):
            pass


def test_observing_in_a_transaction_that_changed_something_is_refused(realm: toft.Realm) -> None:
    with realm.write():
        realm.create(Dog, name="Rex")
        with pytest.raises(toft.ObserveInTransactionError):
            realm.objects(Dog).observe(print)
    with pytest.raises(ValueError):
        realm.observe(3)  # type: ignore[arg-type]


def test_asyncio_gets_what_another_thread_commits(realm: toft.Realm, path: Path) -> None:
    async def program() -> list[toft.Changes]:
        seen = []
        observation = realm.objects(Dog).sort("name").observe()
        async for changes in observation:
            seen.append(changes)
            if changes.is_initial:
                await asyncio.to_thread(
                    elsewhere, path, lambda other: other.create(Dog, name="Rex")
                )
            elif len(seen) == 2:
                await asyncio.to_thread(
                    elsewhere, path, lambda other: other.create(Dog, name="Ann")
                )
            else:
                observation.stop()
        return seen

    seen = asyncio.run(asyncio.wait_for(program(), 30))
    assert [changes.insertions for changes in seen] == [(), (0,), (0,)]
    assert [dog.name for dog in realm.objects(Dog).sort("name")] == ["Ann", "Rex"]


def test_many_tasks_observe_one_realm(realm: toft.Realm, path: Path) -> None:
    async def first(observation: toft.Observation) -> toft.Changes:
        async for changes in observation:
            if not changes.is_initial:
                return changes
        raise AssertionError

    async def program() -> list[toft.Changes]:
        tasks = [
            asyncio.create_task(first(realm.objects(Dog).observe())),
            asyncio.create_task(first(realm.objects(Dog).where("age > 2").observe())),
            asyncio.create_task(first(realm.observe())),
        ]
        await asyncio.sleep(0.2)
        await asyncio.to_thread(elsewhere, path, lambda other: other.create(Dog, name="Rex", age=3))
        return await asyncio.gather(*tasks)

    assert [changes.insertions for changes in asyncio.run(asyncio.wait_for(program(), 30))] == [
        (0,),
        (0,),
        (),
    ]


def test_one_loop_at_a_time_goes_through_an_observation(realm: toft.Realm) -> None:
    async def first(observation: toft.Observation) -> toft.ChangeKind:
        async for changes in observation:
            return changes.kind
        raise AssertionError

    async def whole(observation: toft.Observation) -> list[toft.ChangeKind]:
        return [changes.kind async for changes in observation]

    async def program() -> None:
        observation = realm.objects(Dog).observe()
        waiting = asyncio.create_task(whole(observation))
        await asyncio.sleep(0.05)
        with pytest.raises(toft.InvalidArgumentError, match="Another `async for`"):
            await whole(observation)
        observation.stop()
        assert await waiting == [toft.ChangeKind.INITIAL]

        observation = realm.objects(Dog).observe()
        async for _ in observation:
            with pytest.raises(toft.InvalidArgumentError):
                await first(observation)
            break
        for name in ("Rex", "Max"):  # a loop that was left is over
            async with realm.write():
                realm.create(Dog, name=name)
            assert await first(observation) == toft.ChangeKind.UPDATE
        async with realm.write(), contextlib.aclosing(aiter(observation)) as loop:
            realm.create(Dog, name="Tim")
        assert await first(observation) == toft.ChangeKind.UPDATE and loop is not None
        observation.stop()
        assert await whole(observation) == []

    asyncio.run(asyncio.wait_for(program(), 30))


def test_closing_the_realm_ends_an_async_loop(realm: toft.Realm) -> None:
    async def program() -> int:
        count = 0
        async for _ in realm.objects(Dog).observe():
            count += 1
            asyncio.get_running_loop().call_later(0.05, realm.close)
        return count

    assert asyncio.run(asyncio.wait_for(program(), 30)) == 1


def test_the_end_of_an_object_ends_its_async_loop(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex")

    async def program() -> list[toft.ChangeKind]:
        asyncio.get_running_loop().call_later(
            0.1, elsewhere, path, lambda other: other.delete_all(Dog)
        )
        return [changes.kind async for changes in rex.observe()]

    assert asyncio.run(asyncio.wait_for(program(), 30)) == [toft.ChangeKind.DELETED]


def test_callbacks_are_called_by_asyncio_while_attached(realm: toft.Realm, path: Path) -> None:
    async def program() -> None:
        came = asyncio.Event()
        realm.objects(Dog).observe(lambda changes: changes.insertions and came.set())
        with realm.attached():
            await asyncio.sleep(0.1)
            await asyncio.to_thread(elsewhere, path, lambda other: other.create(Dog, name="Rex"))
            await asyncio.wait_for(came.wait(), 10)

    asyncio.run(program())


def test_each_event_loop_is_told_though_another_one_stands_still(
    realm: toft.Realm, path: Path
) -> None:
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    observations = realm.objects(Dog).observe(), realm.objects(Dog).observe()

    async def begin(changes: AsyncIterator[toft.Changes]) -> bool:
        return (await anext(changes)).is_initial

    async def go_on(changes: AsyncIterator[toft.Changes]) -> tuple[int, ...]:
        coming = asyncio.ensure_future(anext(changes))
        await asyncio.to_thread(elsewhere, path, lambda other: other.create(Dog, name="Rex"))
        return (await asyncio.wait_for(coming, 10)).insertions

    stopped, running = map(aiter, observations)
    assert first.run_until_complete(begin(stopped))
    assert second.run_until_complete(begin(running))
    assert second.run_until_complete(go_on(running)) == (0,)
    assert first.run_until_complete(go_on(stopped)) == (0,)
    for loop, changes in ((first, stopped), (second, running)):
        loop.run_until_complete(changes.aclose())  # type: ignore[attr-defined]
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    assert not realm._session.dispatching._loops


def test_a_callback_that_nobody_would_await_is_refused(realm: toft.Realm) -> None:
    async def told(_: toft.Changes) -> None:
        raise AssertionError

    for observe in (realm.observe, realm.objects(Dog).observe):
        with pytest.raises(toft.InvalidArgumentError, match="async for"):
            observe(told)


def test_key_paths_say_what_counts_as_a_change(realm: toft.Realm) -> None:
    with realm.write():
        ada = realm.create(Person, name="Ada")
        rex = realm.create(Dog, name="Rex", age=1, owner=ada, friends=[Dog(name="Max")])
    seen: dict[str, list[toft.Changes]] = {"age": [], "owner": [], "none": [], "object": []}
    dogs = realm.objects(Dog)
    dogs.observe(seen["age"].append, key_paths=[Dog.age], initial=False)
    dogs.observe(seen["owner"].append, key_paths=["owner.age"], initial=False)
    rex.friends.observe(seen["none"].append, key_paths=[], initial=False)
    rex.observe(seen["object"].append, key_paths=[Dog.name, Dog.owner.age])

    def counts() -> dict[str, int]:
        realm.wait(5)
        return {name: len(changes) for name, changes in seen.items()}

    with realm.write():
        rex.age = 2
    assert counts() == {"age": 1, "owner": 0, "none": 0, "object": 0}
    with realm.write():
        ada.age = 3
    assert counts()["owner"] == 1
    assert len(seen["age"]) == 1
    with realm.write():
        rex.friends[0].age = 9
        rex.name = "Tim"
    assert counts()["object"] >= 1 and seen["none"] == []
    with pytest.raises(toft.NoSuchPropertyError):
        dogs.observe(key_paths=["nope"])


def test_an_object_tells_what_its_properties_were(realm: toft.Realm) -> None:
    with realm.write():
        ada, ben = realm.create(Person, name="Ada"), realm.create(Person, name="Ben")
        rex = realm.create(Dog, name="Rex", age=1, owner=ada, tags=["a"])
    seen: list[toft.Changes] = []
    rex.observe(seen.append, old_values=True)
    with realm.write():
        rex.age, rex.owner, rex.tags = 2, ben, ["b"]
    realm.wait(5)
    [changes] = seen
    assert set(changes.properties) == {"age", "owner", "tags"}
    assert changes.old_values == {"age": 1, "owner": ada, "tags": None}
    with realm.write():
        rex.age = 3
    realm.wait(5)
    assert seen[-1].old_values == {"age": 2}


def test_a_list_may_be_told_of_without_moves(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", tags=["a", "b", "c"])
    with_moves: list[toft.Changes] = []
    without: list[toft.Changes] = []
    rex.tags.observe(with_moves.append, initial=False)
    rex.tags.observe(without.append, initial=False, moves=False)
    with realm.write():
        rex.tags.move(0, 2)
    realm.wait(5)
    assert with_moves[0].moves == ((0, 2),) and without[0].moves == ()
    assert without[0].deletions == (0,) and without[0].insertions == (2,)


def test_what_a_callback_raises_cancels_the_write_that_called_it(
    realm: toft.Realm, path: Path
) -> None:
    def fail(changes: toft.Changes) -> None:
        if not changes.is_initial:
            raise toft.LockTimeoutError(f"not the library's: {hash(changes) is not None}")

    realm.objects(Dog).observe(fail)
    assert realm.wait(30)
    elsewhere(path, lambda other: other.create(Dog, name="Rex"))
    with pytest.raises(toft.LockTimeoutError, match="not the library's: True"), realm.write():
        raise AssertionError("the block did not begin")
    assert not realm.is_writing
    with realm.write():
        realm.create(Dog, name="Max")
