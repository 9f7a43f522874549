"""Write transactions under asyncio, and waits that end when they should."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toft
from models import ALL, Dog, Person
from toft import _writing

Runner = Callable[..., Any]

HOLDER = """
import sys, time, toft
from models import *
with toft.open(sys.argv[1], ALL) as realm:
    with realm.write():
        realm.create(Dog, name="holder")
        print("holding", flush=True)
        sys.stdin.readline()
"""


def held(python: Runner) -> Any:
    """Another process that is in a write transaction until it gets a line."""
    process = python(HOLDER)
    assert process.stdout.readline() == "holding\n", process.stderr.read()
    return process


async def ticks(count: list[float]) -> None:
    """Returns the longest time for which the event loop did not run."""
    before = time.monotonic()
    while True:
        await asyncio.sleep(0.001)
        now = time.monotonic()
        count.append(now - before)
        before = now


def test_the_event_loop_runs_while_another_process_writes(
    realm: toft.Realm, python: Runner
) -> None:
    holder = held(python)

    async def program() -> list[float]:
        counted: list[float] = []
        ticking = asyncio.create_task(ticks(counted))

        async def release() -> None:
            await asyncio.sleep(0.5)
            print("go", file=holder.stdin, flush=True)

        releasing = asyncio.create_task(release())
        start = time.monotonic()
        async with realm.write() as writing:
            assert writing is realm
            waited = time.monotonic() - start
            realm.create(Dog, name="mine")
        ticking.cancel()
        await releasing
        assert 0.4 < waited < 5
        return counted

    counted = asyncio.run(program())
    assert len(counted) > 100 and max(counted) < 0.2
    assert [dog.name for dog in realm.objects(Dog)] == ["holder", "mine"]


def test_an_asynchronous_write_waits_for_the_disk_on_another_thread(
    realm: toft.Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    flush = _writing.wait_in_moments

    def slow(*arguments: Any) -> Any:
        threads.append(threading.get_ident())
        time.sleep(0.3)
        return flush(*arguments)

    async def program() -> int:
        ticks, is_done = 0, False

        async def write() -> None:
            nonlocal is_done
            async with realm.write():
                realm.create(Dog, name="Rex")
            assert realm.info.deferred_size == 0
            is_done = True

        writing = asyncio.create_task(write())
        while not is_done:
            await asyncio.sleep(0.01)
            ticks += 1
        await writing
        return ticks

    with realm.write():
        realm.create(Dog, name="first")
    monkeypatch.setattr(_writing, "wait_in_moments", slow)
    assert asyncio.run(program()) > 10
    assert len(threads) == 1 and threads[0] != threading.get_ident()
    assert len(realm.objects(Dog)) == 2 and realm.check()


def test_what_an_observer_of_the_realm_raises_comes_once_the_disk_has_written(
    realm: toft.Realm,
) -> None:
    def fail(changes: toft.Changes) -> None:
        raise ZeroDivisionError("in a callback")

    looked = asyncio.Event()

    async def failing() -> None:
        try:
            with pytest.raises(ZeroDivisionError):
                async with realm.write():
                    realm.create(Dog, name="mine")
            assert realm.info.deferred_size == 0
        finally:
            looked.set()

    async def another() -> None:
        async with realm.write():
            observation.stop()
            realm.create(Dog, name="another's")
            await looked.wait()  # its own commit is deferred at first

    async def program() -> None:
        await asyncio.gather(failing(), another())

    with realm.write():
        realm.create(Dog, name="first")
    observation = realm.observe(fail)
    asyncio.run(program())
    assert [dog.name for dog in realm.objects(Dog)] == ["first", "mine", "another's"]


def test_the_tasks_of_a_realm_write_one_after_the_other(realm: toft.Realm) -> None:
    async def count(times: int) -> None:
        for _ in range(times):
            async with realm.write(durability="deferred"):
                ada = realm.upsert(Person, name="Ada")
                age = ada.age
                await asyncio.sleep(0)
                ada.age = age + 1

    async def program() -> None:
        await asyncio.gather(*(count(10) for _ in range(5)))

    asyncio.run(program())
    asyncio.run(program())  # another event loop
    ada = realm.object(Person, "Ada")
    assert ada is not None and ada.age == 100


def test_tasks_with_realms_of_their_own_wait_for_each_other(path: Path) -> None:
    async def write(name: str) -> None:
        with toft.open(path, ALL) as realm:
            async with realm.write():
                realm.create(Dog, name=name)
                await asyncio.sleep(0.05)

    async def program() -> None:
        await asyncio.gather(*(write(str(number)) for number in range(4)))

    asyncio.run(program())
    with toft.open(path, ALL) as realm:
        assert len(realm.objects(Dog)) == 4


def test_an_asynchronous_write_cancels_when_an_exception_leaves_it(realm: toft.Realm) -> None:
    async def program() -> None:
        with pytest.raises(ZeroDivisionError):
            async with realm.write():
                realm.create(Dog, name=str(1 // 0))
        assert not realm.is_writing
        writing = asyncio.create_task(forever())
        await asyncio.sleep(0.01)
        assert realm.is_writing
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert not realm.is_writing
        async with realm.write():
            realm.create(Dog, name="Rex")

    async def forever() -> None:
        async with realm.write():
            realm.create(Dog, name="lost")
            await asyncio.sleep(60)

    asyncio.run(program())
    assert [dog.name for dog in realm.objects(Dog)] == ["Rex"]


def test_an_asynchronous_wait_can_be_cancelled_interrupted_and_limited(
    realm: toft.Realm, python: Runner
) -> None:
    holder = held(python)

    async def wait(timeout: float | None = None) -> None:
        async with realm.write(timeout=timeout):
            raise AssertionError("the other process is writing")

    async def program() -> None:
        start = time.monotonic()
        with pytest.raises(toft.LockTimeoutError):
            await wait(timeout=0.1)
        assert 0.1 <= time.monotonic() - start < 3
        with pytest.raises(toft.LockTimeoutError):
            await wait(timeout=0)
        waiting, behind = asyncio.create_task(wait()), asyncio.create_task(wait(timeout=0.1))
        await asyncio.sleep(0.05)
        with pytest.raises(toft.LockTimeoutError):
            await behind
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0.05)
        realm.interrupt()
        with pytest.raises(toft.InterruptedError):
            await waiting
        print("go", file=holder.stdin, flush=True)
        async with realm.write():
            realm.create(Dog, name="mine")

    asyncio.run(program())
    assert len(realm.objects(Dog)) == 2


def test_a_task_that_would_wait_for_itself_is_told(realm: toft.Realm, path: Path) -> None:
    async def program() -> None:
        async with realm.write():
            with toft.open(path, ALL) as other:
                with pytest.raises(toft.AlreadyInTransactionError):
                    async with other.write():
                        pass
            assert realm.is_writing

    asyncio.run(program())


def test_a_block_may_be_used_again(realm: toft.Realm) -> None:
    block = realm.write(durability="deferred")
    for name in ("Rex", "Max"):
        with block:
            realm.create(Dog, name=name)
    assert len(realm.objects(Dog)) == 2
    with pytest.raises(toft.InvalidArgumentError):
        realm.write(durability="soon")  # type: ignore[arg-type]


# A flush waits only while something is deferred, which the library ends after a second: in these
# tests nothing slow happens between the deferred write and the flush.


@pytest.mark.parametrize(
    "wait",
    ["with realm.write(): pass", "realm.flush()", "toft.open(sys.argv[1], [New])"],
)
def test_ctrl_c_ends_each_wait_for_other_writers(path: Path, python: Runner, wait: str) -> None:
    waiting = python(
        f"""
import signal, sys, toft
from models import *
signal.signal(signal.SIGINT, signal.default_int_handler)
class New(toft.Object):
    name: str
realm = toft.open(sys.argv[1], ALL)
print("ready", flush=True)
sys.stdin.readline()
try:
    print("waiting", flush=True)
    {wait}
    print("did not wait")
except KeyboardInterrupt:
    print("interrupted")
"""
    )
    assert waiting.stdout.readline() == "ready\n", waiting.stderr.read()
    with toft.open(path, ALL) as realm:
        with realm.write():
            realm.create(Dog, name="Rex")
        with realm.write(durability="deferred"):
            realm.create(Dog, name="Max")
        realm.begin_write()
        print("go", file=waiting.stdin, flush=True)
        assert waiting.stdout.readline() == "waiting\n", waiting.stderr.read()
        time.sleep(0.3)
        waiting.send_signal(signal.SIGINT)
        out, err = waiting.communicate(timeout=20)
        assert out == "interrupted\n", err
        realm.commit()


def test_a_flush_and_an_opening_wait_as_long_as_they_are_told(path: Path, python: Runner) -> None:
    class New(toft.Object):
        name: str

    with toft.open(path, ALL) as realm:
        ready = "    print('ready', flush=True)\n    sys.stdin.readline()\n    with"
        holder = python(HOLDER.replace("    with", ready))
        assert holder.stdout.readline() == "ready\n", holder.stderr.read()
        with realm.write():
            realm.create(Dog, name="Rex")
        with realm.write(durability="deferred"):
            realm.create(Dog, name="Max")
        # After about a second a checkpoint makes the deferred commit durable.
        print("hold", file=holder.stdin, flush=True)
        assert holder.stdout.readline() == "holding\n", holder.stderr.read()
        start = time.monotonic()
        with pytest.raises(toft.LockTimeoutError):
            realm.flush(timeout=0.2)
        with pytest.raises(toft.LockTimeoutError):
            toft.open(path, [New], write_timeout=0.2)
        assert 0.4 <= time.monotonic() - start < 5
        print("go", file=holder.stdin, flush=True)
        realm.flush()
        with toft.open(path, [New], write_timeout=10):
            pass


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout")
def test_asyncio_timeouts_end_the_wait(realm: toft.Realm, python: Runner) -> None:
    holder = held(python)

    async def program() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1), realm.write():
                raise AssertionError("the other process is writing")

    asyncio.run(program())
    print("go", file=holder.stdin, flush=True)
    holder.wait()
