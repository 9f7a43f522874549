"""Observation: changes as they come, to a callback or to an `async for`."""

from __future__ import annotations

import ctypes
import itertools
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ._ffi import toft_change_kind as ChangeKind
from ._ffi import (
    toft_changes,
    toft_changes_callback,
    toft_destructor,
    toft_observe_flags,
    toft_observe_options,
    toft_string,
    toft_value,
)
from ._lib import Handle, borrowed, last_error, library, text_of
from ._values import VALUE_SIZE, decode
from .errors import Error, InvalidArgumentError
from .records import Record

if TYPE_CHECKING:
    import asyncio

    from .rows import Binding, BoundProperty
    from .session import Session

Callback = Callable[["Changes"], object]
"""An observer's callback."""


class Changes(Record):
    """The changes between the last call of an observer and this one: the net effect of all commits
    between. Indices ascend.

    To follow in a copy: delete the `deletions` from the last to the first, insert the `insertions`
    from the first to the last, then read the `modifications_after` again. A move is a deletion and
    an insertion too.
    """

    kind: ChangeKind
    version: int
    """The realm's present version."""
    previous_version: int
    """Of the last call, 0 at the first."""
    deletions: tuple[int, ...] = ()
    """Indices before."""
    insertions: tuple[int, ...] = ()
    """Indices after."""
    modifications: tuple[int, ...] = ()
    """Indices before, of elements that are in both."""
    modifications_after: tuple[int, ...] = ()
    """The modified elements' indices afterwards."""
    moves: tuple[tuple[int, int], ...] = ()
    """Lists: elements moved within, from and to."""
    deleted_keys: tuple[str, ...] = ()
    """Dictionaries: the keys of `deletions`, ascending, as those of the next two."""
    inserted_keys: tuple[str, ...] = ()
    modified_keys: tuple[str, ...] = ()
    """Those whose value was set, or that link to what changed."""
    properties: tuple[str, ...] = ()
    """Objects: the properties that were set."""
    old_values: Mapping[str, Any] = MappingProxyType({})
    """Objects observed with `old_values`: the values at the last call of the properties that were
    set; None for collections.
    """
    error: Error | None = None
    """Why changes could not be worked out; the last call."""

    def __hash__(self) -> int:
        return hash((self.kind, self.version, self.deletions, self.insertions, self.modifications))

    @property
    def is_initial(self) -> bool:
        """The first call for results and collections:

        what is observed is there to be read, and nothing is listed.
        """
        return self.kind == ChangeKind.INITIAL

    @property
    def is_last(self) -> bool:
        """Whether nothing more will come: what is observed was deleted, or an error ended it."""
        return self.kind in (ChangeKind.DELETED, ChangeKind.ERROR)


class Options(Record):
    """The options of an observation: see `Results.observe` and `Object.observe`."""

    key_paths: list[str] | None = None
    old_values: bool = False
    initial: bool = True
    moves: bool = True
    keys: bool = False

    def lent(self) -> tuple[toft_observe_options, Any]:
        """As the library takes it: keep the second value until the call returns."""
        options = toft_observe_options()
        options.size = ctypes.sizeof(options)
        flags = toft_observe_flags
        options.flags = (
            (flags.OLD_VALUES if self.old_values else 0)
            | (0 if self.initial else flags.NO_INITIAL)
            | (0 if self.moves else flags.NO_MOVES)
            | (flags.KEYS if self.keys else 0)
        )
        if self.key_paths is None:
            return options, None
        kept = [borrowed(path) for path in self.key_paths]
        paths = (toft_string * max(1, len(kept)))(*(text for text, _ in kept))
        options.key_paths, options.key_path_count = ctypes.addressof(paths), len(kept)
        return options, (kept, paths)


class Observation:
    """A running observation. It runs until `stop()`, the end of its `with`, or the end of its
    realm.

    With a callback, the realm keeps it running. Without one it is for `async for`, one at a time,
    and also ends when nothing refers to it any more.
    """

    __slots__ = (
        "_binding",
        "_callback",
        "_failures",
        "_is_over",
        "_loop",
        "_number",
        "_queue",
        "_session",
        "_token",
        "_waiter",
        "__weakref__",
    )

    def __init__(
        self,
        session: Session,
        function: str,
        handle: Handle,
        callback: Callback | None,
        options: Options | None = None,
        binding: Binding | None = None,
        steadies: bool = True,
    ) -> None:
        """`steadies`: whether the realm moves only by dispatching while this runs."""
        self._session = session
        self._number = next(_numbers)
        if callback is not None:
            _require_function(callback)
        self._callback = callback
        self._binding = binding
        self._queue: deque[Changes] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._loop: Callable[[], Any] = lambda: None
        """The `async for` that goes through it, weakly: one that is left may end later."""
        self._is_over = False
        self._token: Handle | None = None
        _running[self._number] = self
        address = ctypes.c_void_p()
        lent, memory = (options or Options()).lent()
        on_changes, on_end = _callbacks()
        getattr(library(), function)(
            handle.address,
            ctypes.byref(lent) if options else None,
            on_changes,
            self._number,
            on_end,
            ctypes.byref(address),
        )
        self._token = Handle(address.value, library().toft_token_release)
        if steadies:
            session.position.steady.add(self._number)
        if callback is not None:
            session.dispatching.observations.add(self)

    def stop(self) -> None:
        """Ends the observation. Its callback is not called again."""
        self._token = None
        self._end()
        self._wake()

    def __enter__(self) -> Observation:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __aiter__(self) -> AsyncIterator[Changes]:
        if self._callback is not None:
            raise InvalidArgumentError(
                "An observation with a callback has nothing to iterate over: observe() without one."
            )
        loop = self._loop()
        if loop is not None and loop.ag_frame is not None:
            raise InvalidArgumentError(
                "Another `async for` iterates over this observation, and each change comes to one "
                "alone: observe() once for each."
            )
        loop = self._coming()
        self._loop = weakref.ref(loop)
        return loop

    async def _coming(self) -> AsyncIterator[Changes]:
        """Each change set as it comes. The event loop watches the realm's descriptor meanwhile."""
        from asyncio import get_running_loop

        with self._session.dispatching.attached():
            while True:
                while self._queue:
                    changes = self._queue.popleft()
                    if changes.error is not None:
                        raise changes.error
                    yield changes
                if self._is_over:
                    return
                self._waiter = get_running_loop().create_future()
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
            self._end()
        if self._callback is not None:
            self._callback(changes)

    def _ended(self) -> None:
        """The library needs it no longer."""
        self._end()
        self._wake()

    def _end(self) -> None:
        self._is_over = True
        self._session.dispatching.observations.discard(self)
        self._session.position.steady.discard(self._number)

    def __del__(self) -> None:
        self._end()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _require_function(callback: object) -> None:
    from inspect import iscoroutinefunction

    if not callable(callback):
        raise InvalidArgumentError(f"A callback can be called: {callback!r:.80}")
    if iscoroutinefunction(callback):
        raise InvalidArgumentError(
            "The result of a callback is not awaited: observe() without one, and iterate with "
            "`async for`."
        )


_numbers = itertools.count(1)
_running: weakref.WeakValueDictionary[int, Observation] = weakref.WeakValueDictionary()


def _deliver(number: int, address: int) -> None:
    """Called by the library.

    It must not raise: the realm raises what a callback raised once the library has returned.
    """
    observation = _running.get(number)
    if observation is None:
        return
    session, dispatching = observation._session, observation._session.dispatching
    session.position.now += 1
    # A write inside the callback raises only its own.
    raised, dispatching.raised = dispatching.raised, []
    try:
        observation._deliver(_read(address, session, observation._binding))
    except BaseException as error:
        raised.append(error)
    finally:
        dispatching.raised = raised


def _end(number: int) -> None:
    """Called by the library when it needs an observation no longer."""
    observation = _running.pop(number, None)
    if observation is not None:
        observation._ended()


@cache
def _callbacks() -> tuple[Any, Any]:
    """As the library calls them; they live as long as it."""
    return toft_changes_callback(_deliver), toft_destructor(_end)


def _read(address: int, session: Session, binding: Binding | None) -> Changes:
    changes = toft_changes.from_address(address)
    keys = _array(ctypes.c_uint32, changes.properties, changes.property_count)
    properties = [binding.named(key) for key in keys] if binding else []
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
        deleted_keys=_texts(changes.deleted_keys, changes.deleted_key_count),
        inserted_keys=_texts(changes.inserted_keys, changes.inserted_key_count),
        modified_keys=_texts(changes.modified_keys, changes.modified_key_count),
        properties=tuple(each.name for each in properties if each),
        old_values=_old_values(changes.old_values, session, properties),
        error=last_error(changes.error) if changes.error else None,
    )


def _old_values(
    address: int | None, session: Session, properties: list[BoundProperty | None]
) -> dict[str, Any]:
    if not address:
        return {}
    memory = (toft_value * len(properties)).from_address(address)
    old = [decode(memory, row * VALUE_SIZE, session) for row in range(len(properties))]
    return {each.name: each.converted([value])[0] for each, value in zip(properties, old) if each}


def _texts(address: int | None, count: int) -> tuple[str, ...]:
    return tuple(map(text_of, _array(toft_string, address, count)))


def _array(kind: Any, address: int | None, count: int) -> tuple[Any, ...]:
    return tuple((kind * count).from_address(address)) if address and count else ()
