"""Write transactions: blocks of ordinary and of asyncio's code, and the wait for other writers.

The library waits in the kernel, in which Python handles no signals. It therefore waits for a moment
at a time: between two moments Ctrl-C and `Realm.interrupt` end the wait. Under asyncio it does not
wait at all, and the event loop runs between two attempts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from ._ffi import toft_durability
from .arguments import seconds_of
from .errors import (
    AlreadyInTransactionError,
    ClosedError,
    InterruptedError,
    InvalidArgumentError,
    LockTimeoutError,
)

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

    from .database import Realm
    from .savepoints import Savepoint
    from .session import Session

Durability = Literal["immediate", "group", "deferred"]

_DURABILITIES = {
    "immediate": toft_durability.IMMEDIATE,
    "group": toft_durability.GROUP,
    "deferred": toft_durability.DEFERRED,
}
_MOMENT = 0.05
"""How many seconds the library waits before Python handles signals."""
_LONGEST = 1e9
"""Seconds that count as no limit."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.02
"""How many seconds the event loop runs between two attempts."""


def durability_code(durability: Durability) -> int:
    """The durability's code in toft.h."""
    try:
        return _DURABILITIES[durability]
    except (KeyError, TypeError):
        raise InvalidArgumentError(
            f"A durability is one of {', '.join(_DURABILITIES)}, not {durability!r}."
        ) from None


def milliseconds(seconds: float) -> int:
    """A timeout as toft.h has it."""
    return 0 if seconds <= 0 else min(max(1, round(seconds * 1000)), 2**31 - 1)


class Deadline:
    """The end of a wait; `timeout` in seconds, None: without a limit."""

    def __init__(self, timeout: float | None) -> None:
        self._end = None
        if timeout is not None:
            self._end = time.monotonic() + min(seconds_of(timeout), _LONGEST)

    @property
    def left(self) -> float | None:
        """Seconds until then, not less than 0."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def moment(self) -> float:
        """For how many seconds the library is to wait now."""
        left = self.left
        return _MOMENT if left is None else min(_MOMENT, left)

    @property
    def is_over(self) -> bool:
        """Whether it has come."""
        return self.left == 0


def wait_in_moments(
    attempt: Callable[[int], Any],
    timeout: float | None,
    interruptions: Callable[[], int] = lambda: 0,
) -> Any:
    """Calls what waits for other writers, with milliseconds, until it succeeds or time is over.
    `interruptions`: counts the calls of `Realm.interrupt`.
    """
    deadline, before = Deadline(timeout), interruptions()
    while True:
        try:
            return attempt(milliseconds(deadline.moment))
        except LockTimeoutError:
            if deadline.is_over:
                raise
        if interruptions() != before:
            raise InterruptedError("The wait for another writer was ended by another thread.")


def running_task() -> asyncio.Task[Any] | None:
    """Asyncio's task that runs this, if one does."""
    if "asyncio" not in sys.modules:
        return None
    from asyncio import current_task

    try:
        return current_task()
    except RuntimeError:
        return None


class Turns:
    """In what order the tasks of an event loop write: with one realm, or with several."""

    def __init__(self) -> None:
        self._last: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    def lock(self) -> asyncio.Lock:
        """That of the running loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._last is None or self._last[0] is not loop:
            self._last = loop, asyncio.Lock()
        return self._last[1]


async def sleep_until(attempt: Callable[[], bool], deadline: Deadline) -> bool:
    """Lets other tasks run until an attempt succeeds. Returns False if time was over before."""
    from asyncio import sleep

    pause = _SHORTEST_PAUSE
    while not attempt():
        if deadline.is_over:
            return False
        left = deadline.left
        await sleep(pause if left is None else min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    return True


class Write:
    """The result of `Realm.write`: a block that is one write transaction, for `with` or `async
    with`. Its value is the realm.
    """

    __slots__ = ("_durability", "_savepoint", "_session", "_timeout", "_turn")

    def __init__(self, session: Session, durability: Durability, timeout: float | None) -> None:
        durability_code(durability)  # a mistake is told before anything begins
        self._session = session
        self._durability = durability
        self._timeout = timeout
        self._turn: asyncio.Lock | None = None
        self._savepoint: Savepoint | None = None
        """Of a block within another one."""

    def __enter__(self) -> Realm:
        if not self._begin_within():
            self._session.writing.begin_in_moments(self._timeout)
        return self._session.realm

    def _begin_within(self) -> bool:
        """Begins a savepoint if this task, or this thread outside of tasks, is in a write
        transaction of the realm. Returns whether it did.
        """
        writing, task = self._session.writing, running_task()
        is_own = writing.writer is task
        if not self._session.position.is_confined and task is None:
            is_own = True  # the caller has taken the transaction to this thread
        if not is_own or not writing.is_writing:
            return False
        savepoint = writing.savepoint()
        savepoint.__enter__()
        self._savepoint = savepoint
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        writing, is_open = self._session.writing, self._session.position.is_open
        savepoint, self._savepoint = self._savepoint, None
        if savepoint is not None and is_open:
            savepoint.__exit__(kind)
        elif kind is not None:
            if savepoint is None and is_open and writing.is_writing:
                writing.cancel()
        elif not is_open:
            raise ClosedError(
                "The realm was closed inside its write transaction, which is cancelled."
            )
        elif savepoint is None and writing.is_writing:  # unless the block has ended it itself
            writing.commit(self._durability)
            self._session.dispatching.raise_held()

    async def __aenter__(self) -> Realm:
        import asyncio

        if self._begin_within():
            return self._session.realm
        writing = self._session.writing
        deadline = Deadline(writing.timeout(self._timeout))
        task = asyncio.current_task()
        turn = writing.turns.lock()
        try:
            await asyncio.wait_for(turn.acquire(), deadline.left)
        except (TimeoutError, asyncio.TimeoutError):
            raise LockTimeoutError(
                "Another task did not finish its write transaction in time."
            ) from None
        try:
            await self._begin(deadline, task)
        except BaseException:
            turn.release()
            raise
        self._turn = turn
        return self._session.realm

    async def _begin(self, deadline: Deadline, task: asyncio.Task[Any] | None) -> None:
        writing = self._session.writing
        interruptions = writing.interruptions

        def attempt() -> bool:
            if writing.interruptions != interruptions:
                raise InterruptedError("The wait for another writer was ended.")
            try:
                writing.begin(0)
            except LockTimeoutError:
                if deadline.is_over:
                    raise
                return False
            except AlreadyInTransactionError:  # of another task of this thread, or of this one
                if deadline.is_over or task in writing.writers_here():
                    raise
                return False
            return True

        await sleep_until(attempt, deadline)
        writing.began()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        turn, self._turn = self._turn, None
        durability, session, writing = self._durability, self._session, self._session.writing
        # The loop continues while the disk writes: on another thread, once the next one may begin.
        is_open = session.position.is_open
        is_whole = self._savepoint is None and kind is None and is_open and writing.is_writing
        waits = durability != "deferred" and is_whole
        try:
            if waits:
                writing.commit("deferred")
            else:
                self.__exit__(kind, error, traceback)
        finally:
            if turn is not None:
                turn.release()
        if waits:
            try:
                session.dispatching.raise_held()  # before another task calls what would raise it
            finally:
                await writing.flush_elsewhere(self._timeout)
