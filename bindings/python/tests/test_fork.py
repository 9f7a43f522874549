"""Processes made by fork: a child opens its own realm, while the parent goes on."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from pathlib import Path

import pytest
import toft
from models import ALL, Dog, Everything, Person

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

_path: Path


def _write(number: int) -> tuple[int, int]:
    """A worker's task: a transaction, and a look at the newest version."""
    with toft.open(_path, ALL) as realm:
        with realm.write():
            realm.create(Everything, id=number)
        return os.getpid(), len(realm.objects(Everything))


def _keep_open(path: Path) -> None:
    """Prepares a worker that keeps its realm."""
    global _realm
    _realm = toft.open(path, ALL)


def _write_kept(number: int) -> int:
    with _realm.write():
        _realm.create(Everything, id=number)
    return os.getpid()


_realm: toft.Realm


def test_a_pool_of_forked_workers_writes_while_the_parent_writes(
    realm: toft.Realm, path: Path
) -> None:
    global _path
    _path = path
    with realm.write():
        realm.create(Dog, name="Rex")
    with multiprocessing.get_context("fork").Pool(4) as pool:
        tasks = pool.map_async(_write, range(100), chunksize=1)
        written = 0
        while not tasks.ready() or written < 20:
            with realm.write():
                realm.create(Dog, name=f"Dog {written}")
            written += 1
        results = tasks.get(60)
    assert len({process for process, _ in results}) > 1 and os.getpid() not in dict(results)
    realm.refresh()
    assert sorted(each.id for each in realm.objects(Everything)) == list(range(100))
    assert len(realm.objects(Dog)) == written + 1


def test_workers_keep_a_realm_of_their_own(realm: toft.Realm, path: Path) -> None:
    """As in a server that was loaded, and used the database, before it forked its workers."""
    with realm.write():
        realm.create(Dog, name="Rex")
    calls: list[int] = []
    observation = realm.objects(Everything).observe(lambda changes: calls.append(1))
    realm.dispatch()
    with multiprocessing.get_context("fork").Pool(3, _keep_open, (path,)) as pool:
        assert len(set(pool.map(_write_kept, range(60), chunksize=1))) > 1
        pool.close()
        pool.join()
    deadline = time.monotonic() + 20
    while len(realm.objects(Everything)) < 60 and time.monotonic() < deadline:
        realm.dispatch()
    assert len(realm.objects(Everything)) == 60 and len(calls) >= 2
    observation.stop()


def test_forks_while_other_threads_write(realm: toft.Realm, path: Path) -> None:
    stop = threading.Event()
    counts = [0, 0]

    def work(index: int) -> None:
        with toft.open(path, ALL) as own:
            while not stop.is_set():
                with own.write():
                    own.create(Person, name=f"{index}-{counts[index]}")
                counts[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(40):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    with toft.open(path, ALL) as own, own.write():
                        own.create(Everything, id=number)
                    status = 0
                finally:
                    os._exit(status)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    realm.refresh()
    assert len(realm.objects(Everything)) == 40
    assert len(realm.objects(Person)) == sum(counts)


def test_the_parents_write_transaction_stays_the_parents(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        realm.create(Dog, name="Rex")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with toft.open(path, ALL) as own:
                    try:
                        own.begin_write(timeout=0)
                    except toft.LockTimeoutError:
                        status = 0
                    assert len(own.objects(Dog)) == 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
    assert len(realm.objects(Dog)) == 1


def test_a_child_of_a_child(realm: toft.Realm, path: Path) -> None:
    def descend(depth: int) -> int:
        child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        status = 1
        try:
            with toft.open(path, ALL) as own:
                with own.write():
                    own.create(Everything, id=depth)
                status = descend(depth - 1) if depth else 0
        finally:
            os._exit(status)

    assert descend(3) == 0
    realm.refresh()
    assert sorted(each.id for each in realm.objects(Everything)) == [0, 1, 2, 3]


def test_a_child_that_ends_like_any_program(realm: toft.Realm, path: Path) -> None:
    """With all finalizers, of what it inherited too."""
    dogs = realm.objects(Dog)
    process = multiprocessing.get_context("fork").Process(target=_leave, args=(path, realm, dogs))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    with realm.write():
        realm.create(Dog, name="Rex")
    assert len(dogs) == 1


def _leave(path: Path, *inherited: object) -> None:
    del inherited
    own = toft.open(path, ALL)
    with own.write():
        own.create(Everything, id=1)
    sys.stdout.flush()
