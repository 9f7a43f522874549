"""Observation: changes as they come, to a callback or to an `async for`."""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._ffi import toft_change_kind as ChangeKind
from ._ffi import toft_changes, toft_changes_callback, toft_destructor
from ._lib import Handle, last_error, library
from .errors import Error, InvalidArgumentError

if TYPE_CHECKING:
    from .database import Realm

Callback = Callable[["Changes"], object]
"""What an observer is called with."""


@dataclass(frozen=True)
class Changes:
    """What changed between the last call of an observer and this one: the net effect of all commits
    between. Indices ascend.

    To follow in a copy: delete the `deletions` from the last to the first, insert the `insertions`
    from the first to the last, then read the `modifications_after` again. A move is a deletion and
    an insertion too.
    """

    kind: ChangeKind
    version: int
    """That the realm now stands at."""
    previous_version: int
    """Of the last call, 0 at the first."""
    deletions: tuple[int, ...] = ()
    """Indices before."""
    insertions: tuple[int, ...] = ()
    """Indices after."""
    modifications: tuple[int, ...] = ()
    """Indices before, of elements that are in both."""
    modifications_after: tuple[int, ...] = ()
    """The same elements' indices after."""
    moves: tuple[tuple[int, int], ...] = ()
    """Lists: elements moved within, from and to."""
    properties: tuple[str, ...] = ()
    """Objects: the properties that were set."""
    error: Error | None = None
    """Why changes could not be worked out; the last call."""

    @property
    def is_initial(self) -> bool:
        """The first call for results and lists:

        what is observed is there to be read, and nothing is listed.
        """
        return self.kind == ChangeKind.INITIAL

    @property
    def is_last(self) -> bool:
        """Whether nothing more will come: what is observed was deleted, or an error ended it."""
        return self.kind in (ChangeKind.DELETED, ChangeKind.ERROR)


class Observation:
    """A running observation. It runs until `stop()`, the end of its `with`, or the end of its
    realm.

    With a callback, the realm keeps it running. Without one it is for `async for`, and also ends
    when nothing refers to it any more.
    """

    __slots__ = (
        "_callback",
        "_failures",
        "_is_over",
        "_names",
        "_number",
        "_queue",
        "_realm",
        "_token",
        "_waiter",
        "__weakref__",
    )

    def __init__(
        self,
        realm: Realm,
        function: str,
        handle: Handle,
        callback: Callback | None,
        names: Mapping[int, str],
    ) -> None:
        if callback is not None and not callable(callback):
            raise InvalidArgumentError(f"A callback can be called: {callback!r:.80}")
        self._realm = realm
        self._callback = callback
        self._names = names
        self._queue: deque[Changes] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._is_over = False
        self._number = next(_numbers)
        self._token: Handle | None = None
        _running[self._number] = self
        address = ctypes.c_void_p()
        getattr(library(), function)(
            handle.address, None, _on_changes, self._number, _on_end, ctypes.byref(address)
        )
        self._token = Handle(address.value, library().toft_token_release)
        if callback is not None:
            realm._observations.add(self)

    def stop(self) -> None:
        """Ends the observation. Its callback is not called again."""
        self._is_over = True
        self._token = None
        self._realm._observations.discard(self)
        self._wake()

    def __enter__(self) -> Observation:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __aiter__(self) -> AsyncIterator[Changes]:
        if self._callback is not None:
            raise InvalidArgumentError(
                "An observation with a callback has nothing to go through: observe() without one."
            )
        return self._coming()

    async def _coming(self) -> AsyncIterator[Changes]:
        """Each change set as it comes. The event loop watches the realm's descriptor meanwhile."""
        with self._realm.attached():
            while True:
                while self._queue:
                    changes = self._queue.popleft()
                    if changes.error is not None:
                        raise changes.error
                    yield changes
                if self._is_over:
                    return
                self._waiter = asyncio.get_running_loop().create_future()
                try:
                    await self._waiter
                finally:
                    self._waiter = None

    def _deliver(self, changes: Changes) -> None:
        if self._is_over:
            return
        if self._callback is None:
            self._queue.append(changes)
            self._wake()
        if changes.is_last:
            self._is_over = True
            self._realm._observations.discard(self)
        if self._callback is not None:
            self._callback(changes)

    def _ended(self) -> None:
        """The library needs it no longer."""
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


_numbers = itertools.count(1)
_running: weakref.WeakValueDictionary[int, Observation] = weakref.WeakValueDictionary()


def _deliver(number: int, address: int) -> None:
    """What the library calls.

    It must not raise: the realm raises what a callback raised once the library has returned.
    """
    observation = _running.get(number)
    if observation is None:
        return
    realm = observation._realm
    realm._now += 1
    try:
        observation._deliver(_read(address, observation._names))
    except BaseException as error:
        realm._raised.append(error)


def _end(number: int) -> None:
    """What the library calls when it needs an observation no longer."""
    observation = _running.pop(number, None)
    if observation is not None:
        observation._ended()


_on_changes = toft_changes_callback(_deliver)  # these two live as long as the library
_on_end = toft_destructor(_end)


def _read(address: int, names: Mapping[int, str]) -> Changes:
    changes = toft_changes.from_address(address)
    moves = _array(ctypes.c_uint64, changes.moves, changes.move_count * 2)
    return Changes(
        kind=ChangeKind(changes.kind),
        version=changes.version,
        previous_version=changes.previous_version,
        deletions=_array(ctypes.c_uint64, changes.deletions, changes.deletion_count),
        insertions=_array(ctypes.c_uint64, changes.insertions, changes.insertion_count),
        modifications=_array(ctypes.c_uint64, changes.modifications, changes.modification_count),
        modifications_after=_array(
            ctypes.c_uint64, changes.modifications_after, changes.modification_count
        ),
        moves=tuple(zip(moves[::2], moves[1::2])),
        properties=tuple(
            names.get(key, "")
            for key in _array(ctypes.c_uint32, changes.properties, changes.property_count)
        ),
        error=last_error(changes.error) if changes.error else None,
    )


def _array(kind: Any, address: int | None, count: int) -> tuple[int, ...]:
    return tuple((kind * count).from_address(address)) if address and count else ()
