"""Realms whose last reference goes on another thread than their own."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path

import toft
from models import ALL, Dog


class _Circle:
    """Garbage that only the collector finds."""

    def __init__(self, kept: object) -> None:
        self.kept, self.itself = kept, self


def _sleeping(work: Callable[[], None]) -> Callable[[], None]:
    """Runs work on a thread that sleeps then; gives what wakes it."""
    ready, awake = threading.Event(), threading.Event()

    def run() -> None:
        work()
        ready.set()
        awake.wait(60)

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(60)

    def wake() -> None:
        awake.set()
        thread.join()

    return wake


def test_a_collector_on_another_thread_ends_a_write_transaction(
    realm: toft.Realm, path: Path
) -> None:
    def leave() -> None:
        other = toft.open(path, ALL)
        other.begin_write()
        other.create(Dog, name="Rex")
        _Circle(other)

    gc.collect()
    gc.disable()
    try:
        wake = _sleeping(leave)
        try:
            realm.begin_write(timeout=0)
            raise AssertionError("the garbage has the write lock")
        except toft.LockTimeoutError:
            pass
        gc.collect()
        realm.begin_write(timeout=0)
        realm.cancel()
        wake()
    finally:
        gc.enable()
    assert len(realm.objects(Dog)) == 0


def test_a_collector_on_another_thread_gives_a_version_up(realm: toft.Realm, path: Path) -> None:
    def pinned() -> int:
        for _ in range(2):
            with realm.write():
                realm.create(Dog, name="Rex")
        info = realm.info
        return info.latest_version - info.oldest_pinned_version

    def leave() -> None:
        _Circle(toft.open(path, ALL).objects(Dog))

    gc.collect()
    gc.disable()
    try:
        wake = _sleeping(leave)
        for _ in range(5):
            pinned()
        assert pinned() > 5
        gc.collect()
        assert pinned() <= 2
        wake()
    finally:
        gc.enable()
