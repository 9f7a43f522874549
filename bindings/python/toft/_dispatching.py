"""Observations of a realm, the calls of their callbacks, and the loops that wait for them."""

from __future__ import annotations

import ctypes
import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._lib import library
from .errors import Error
from .observe import Changes, Observation
from .transactions import Deadline

if TYPE_CHECKING:
    import asyncio

    from .session import Position, Session

_LONGEST_POLL = 2**31 - 1
"""Milliseconds."""


class Dispatching:
    """See `session.Dispatching`."""

    def __init__(self, position: Position) -> None:
        self.observations: set[Observation] = set()
        self.raised: list[BaseException] = []
        self._position = position
        self._waiting: Observation | None = None
        """The observation of `wait`."""
        self._loops: dict[asyncio.AbstractEventLoop, int] = {}
        """The event loops that dispatch the realm, each with how many blocks want it to."""
        self._descriptor = -1

    def move(self, function: str, *arguments: Any) -> None:
        self._position.changing()
        getattr(library(), function)(self._position.address, *arguments)
        self._position.moved()
        self.raise_held()

    def raise_held(self) -> None:
        if self.raised:
            raised, self.raised = self.raised, []
            for error, next_error in zip(raised, raised[1:]):
                error.__context__ = next_error
            raise raised[0]

    def descriptor(self) -> int:
        descriptor = ctypes.c_int()
        library().toft_realm_descriptor(self._position.address, ctypes.byref(descriptor))
        return descriptor.value

    def dispatch(self) -> int:
        calls = ctypes.c_size_t()
        self.move("toft_realm_dispatch", ctypes.byref(calls))
        return calls.value

    def wait(self, session: Session, timeout: float | None) -> bool:
        if self._waiting is not None and self._waiting._is_over:
            # The refresh raises the reason of the end: the classes are others now, for example.
            self.move("toft_realm_refresh", ctypes.byref(ctypes.c_bool()))
        if self._waiting is None or self._waiting._is_over:
            self._waiting = Observation(
                session, "toft_realm_observe", self._position.handle, _nothing, steadies=False
            )
        deadline = Deadline(timeout)
        poll = select.poll()
        poll.register(self.descriptor(), select.POLLIN)
        while True:
            left = deadline.left
            is_ready = poll.poll(None if left is None else min(left * 1000, _LONGEST_POLL))
            if is_ready and self.dispatch():
                return True
            if left == 0:
                return False

    @contextmanager
    def attached(self) -> Iterator[None]:
        import asyncio

        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            self._start_reading(loop)
        self._loops[loop] += 1
        try:
            yield
        finally:
            if loop in self._loops:
                self._loops[loop] -= 1
                if self._loops[loop] == 0:
                    self._stop_reading(loop)

    def _start_reading(self, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = self.descriptor()
        loop.add_reader(self._descriptor, self._on_readable)
        self._loops[loop] = 0

    def _on_readable(self) -> None:
        try:
            self._position.changing()
            library().toft_realm_dispatch(self._position.address, None)
        except Error:  # it would fail again at once, for ever
            self._stop_all()
            raise
        self.raise_held()

    def _stop_reading(self, loop: asyncio.AbstractEventLoop) -> None:
        del self._loops[loop]
        if not loop.is_closed():
            loop.remove_reader(self._descriptor)

    def _stop_all(self) -> None:
        for loop in [*self._loops]:
            self._stop_reading(loop)

    def stop_observations(self) -> None:
        for observation in list(self.observations):
            observation.stop()

    def forget(self) -> None:
        self._stop_all()
        self.stop_observations()


def _nothing(_: Changes) -> None:
    """The observer of `wait`, which only wants the descriptor to become readable."""
