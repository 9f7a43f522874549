"""One database for the threads, the tasks and the forked processes of a server."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import toft
from models import ALL, Dog, Person
from toft import shared


@pytest.fixture
def db(path: Path) -> Iterator[toft.Database]:
    """A database of a file."""
    with toft.Database(path, ALL, write_timeout=30) as database:
        yield database


def add(db: toft.Database) -> None:
    """Counts one up, or begins to."""
    with db.write() as realm:
        dog = realm.objects(Dog).first() or realm.create(Dog, name="Rex", age=0)
        dog.age += 1


def age(db: toft.Database) -> int:
    """The count."""
    with db.read() as realm:
        dog = realm.objects(Dog).first()
        return dog.age if dog else 0


def test_nothing_is_opened_before_it_is_needed(path: Path) -> None:
    db = toft.Database(path, ALL)
    assert not path.exists() and db.path == str(path)
    with db.write() as realm:
        assert realm.is_writing and realm.path == str(path)
    assert path.exists()
    db.close()


def test_the_realm_of_a_thread_is_kept_from_block_to_block(db: toft.Database) -> None:
    with db.read() as first:
        with db.write() as inner:
            assert inner is first
    with db.read() as second:
        assert second is first and second.is_open


def test_a_block_within_a_block_is_a_savepoint(db: toft.Database) -> None:
    with db.write() as realm:
        realm.create(Dog, name="Rex")
        with pytest.raises(LookupError), db.write() as same:
            same.create(Dog, name="Max")
            raise LookupError
        with db.read() as reading:
            assert [dog.name for dog in reading.objects(Dog)] == ["Rex"]


def test_an_exception_cancels_and_the_next_block_begins_anew(db: toft.Database) -> None:
    with pytest.raises(ZeroDivisionError), db.write() as realm:
        realm.create(Dog, name="Rex")
        raise ZeroDivisionError
    with db.read() as realm:
        assert not realm.objects(Dog)


def test_a_block_reads_one_version_and_the_next_one_the_latest(db: toft.Database) -> None:
    with db.read() as realm:
        thread = threading.Thread(target=add, args=(db,))
        thread.start()
        thread.join()
        assert len(realm.objects(Dog)) == 0
    assert age(db) == 1


def test_a_loop_that_was_left_holds_no_later_block_up(db: toft.Database) -> None:
    add(db)
    with db.read() as realm:
        loop = iter(realm.objects(Dog))
        next(loop)
    thread = threading.Thread(target=add, args=(db,))
    thread.start()
    thread.join()
    assert age(db) == 2
    del loop


def test_an_observation_ends_with_its_block(db: toft.Database) -> None:
    heard = []
    with db.read() as realm:
        realm.observe(heard.append)
    add(db)
    assert age(db) == 1 and not heard


def test_threads_lose_no_update(db: toft.Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(add, db) for _ in range(200)]:
            done.result()
    assert age(db) == 200


def test_tasks_lose_no_update_and_see_nothing_that_is_not_committed(db: toft.Database) -> None:
    async def client() -> None:
        for _ in range(5):
            async with db.write() as realm:
                dog = realm.objects(Dog).first() or realm.create(Dog, name="Rex", age=0)
                before = dog.age
                await asyncio.sleep(0)
                dog.age = before + 1
                await asyncio.sleep(0)
            async with db.read() as realm:
                dog = realm.objects(Dog).first()
                assert dog is not None and dog.age > before
                await asyncio.sleep(0)
                assert not realm.is_writing

    async def program() -> None:
        await asyncio.gather(*(client() for _ in range(32)))

    asyncio.run(program())
    assert age(db) == 160


def test_a_task_has_one_realm_and_another_task_another(db: toft.Database) -> None:
    async def program() -> None:
        async def other() -> toft.Realm:
            async with db.read() as realm:
                await asyncio.sleep(0)
                return realm

        async with db.write() as realm:
            async with db.write() as same:
                assert same is realm is db.realm
            assert await asyncio.create_task(other()) is not realm

    asyncio.run(program())


def test_the_first_block_of_a_task_migrates_while_the_loop_goes_on(path: Path) -> None:
    class Cat(toft.Object):
        name: str

    with toft.open(path, [Cat]) as realm, realm.write():
        realm.create(Cat, name="Tom")
    threads = []

    def migrate(migration: toft.Migration) -> None:
        threads.append(threading.get_ident())

    async def program(db: toft.Database) -> None:
        async with db.read() as realm:
            assert len(realm.objects(Cat)) == 1

    with toft.Database(path, [Cat], schema_version=1, migration=migrate) as db:
        asyncio.run(program(db))
    assert len(threads) == 1 and threads[0] != threading.get_ident()


def test_a_forked_process_opens_the_file_itself(db: toft.Database) -> None:
    add(db)
    with db.read():
        child = os.fork()
        if child == 0:
            status = 1
            try:
                add(db)
                status = 0 if age(db) == 2 else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
    add(db)
    assert age(db) == 3


def test_realms_that_are_not_used_are_closed_and_pin_no_version(
    db: toft.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(db)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(age, db).result() == 1
        # The thread that closes them looks at each pool in this way.
        dropped = [realm for each in db._pools for realm in each.dropped()]
        assert len(dropped) == 2 and all(realm.is_open for realm in dropped)
        del dropped
        with toft.open(db.path, ALL) as realm:
            assert [pin.version for pin in realm.pins] == [realm.version]
        assert pool.submit(age, db).result() == 1


def test_the_thread_that_closes_realms_ends_when_all_are_closed(
    db: toft.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "_LONGEST_IDLE", 0.0)
    add(db)
    for thread in threading.enumerate():
        if thread.name == "toft-idle":
            thread.join(30)
            assert not thread.is_alive()
    assert not any(each._idle for each in db._pools)
    add(db)
    assert age(db) == 2


def test_objects_of_another_thread_are_an_error_that_names_the_remedy(db: toft.Database) -> None:
    add(db)
    with db.read() as realm, ThreadPoolExecutor(1) as pool:
        with pytest.raises(toft.WrongThreadError, match="toft.Database"):
            pool.submit(lambda: realm.objects(Dog)[0].age).result()


def test_a_realm_of_the_parent_is_an_error_that_names_the_remedy(path: Path) -> None:
    with toft.open(path, ALL) as realm:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                realm.objects(Dog)
            except toft.UsedAfterForkError as error:
                status = 0 if "toft.Database" in str(error) else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0


def test_a_closed_database_begins_no_block(path: Path) -> None:
    db = toft.Database(path, ALL)
    with db.write() as realm:
        realm.create(Dog, name="Rex")
        db.close()
        assert realm.is_open and "closed" in repr(db)
    assert not realm.is_open
    db.close()
    for block in (db.read(), db.write()):
        with pytest.raises(toft.ClosedError, match=str(path)), block:
            pass
    with toft.open(path, ALL) as realm:
        assert len(realm.objects(Dog)) == 1


def test_mistakes_are_told_at_once(db: toft.Database) -> None:
    with pytest.raises(TypeError, match="no option 'write_timout'"):
        toft.Database("x.toft", ALL, write_timout=3)
    with pytest.raises(TypeError, match="no option 'confinement'"):
        toft.Database("x.toft", ALL, confinement="caller")
    with pytest.raises(TypeError, match="no option 'seed'"):
        toft.Database.in_memory(ALL, seed="x")
    with pytest.raises(toft.InvalidArgumentError, match="durability"):
        db.write(durability="later")  # type: ignore[arg-type]
    with pytest.raises(toft.InvalidArgumentError, match="outside of a block"):
        db.realm
    block = db.write()
    with block, pytest.raises(toft.InvalidArgumentError, match="has begun already"):
        block.__enter__()
    with block:  # but one after the other
        pass


def test_a_writer_is_waited_for_as_long_as_the_option_says(path: Path) -> None:
    with toft.open(path, ALL) as realm, toft.Database(path, ALL, write_timeout=0) as db:
        with realm.write(), ThreadPoolExecutor(1) as pool:
            with pytest.raises(toft.LockTimeoutError):
                pool.submit(add, db).result()
        add(db)


# ---------------------------------------------------------------------------------------- In memory


def test_a_database_in_memory_lasts_from_block_to_block_and_is_its_own() -> None:
    with toft.Database.in_memory(ALL) as db, toft.Database.in_memory(ALL) as other:
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(add, db) for _ in range(40)]:
                done.result()
        assert (age(db), age(other)) == (40, 0)
        assert db.path.startswith(":")
    with pytest.raises(toft.ClosedError):
        age(db)


def test_a_forked_process_has_no_part_in_a_database_in_memory() -> None:
    with toft.Database.in_memory(ALL) as db:
        add(db)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                age(db)
            except toft.UsedAfterForkError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert age(db) == 1


# -------------------------------------------------------------------------------------- Rolled back


def test_everything_in_a_block_of_rolled_back_is_undone(db: toft.Database) -> None:
    add(db)
    with db.rolled_back() as same:
        assert same is db
        add(db)
        with pytest.raises(LookupError), db.write() as realm:
            realm.delete_all()
            raise LookupError
        assert age(db) == 2
        with db.read() as realm:
            assert db.realm is realm
        with toft.open(db.path, ALL) as outside:
            assert [dog.age for dog in outside.objects(Dog)] == [1]
    assert age(db) == 1


def test_rolled_back_holds_for_other_threads_and_for_tasks(db: toft.Database) -> None:
    async def client() -> None:
        async with db.write() as realm:
            dog = realm.objects(Dog).first() or realm.create(Dog, name="Rex", age=0)
            before = dog.age
            await asyncio.sleep(0)
            dog.age = before + 1

    async def program() -> None:
        await asyncio.gather(*(client() for _ in range(20)))

    with db.rolled_back():
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(add, db) for _ in range(20)]:
                done.result()
        asyncio.run(program())
        assert age(db) == 40
    assert age(db) == 0


def test_a_transaction_that_is_cancelled_in_rolled_back_commits_nothing_later(
    db: toft.Database,
) -> None:
    with db.rolled_back():
        add(db)
        with db.write() as realm:
            realm.cancel()
        add(db)
        assert age(db) == 1
    assert age(db) == 0


def test_rolled_back_is_not_nested_and_ends_with_the_test(db: toft.Database) -> None:
    with pytest.raises(KeyError), db.rolled_back():
        with pytest.raises(toft.InvalidArgumentError, match="rolled_back already"):
            with db.rolled_back():
                pass
        raise KeyError
    add(db)
    with db.read() as realm:
        assert len(realm.objects(Dog)) == 1 and not realm.objects(Person)
