"""Write transactions of a realm, and the values that its calls lend to the library."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import (
    toft_commit_options,
    toft_update_policy,
    toft_write_flags,
    toft_write_options,
)
from ._lib import Handle, library
from .adding import Adding, is_new
from .savepoints import Savepoint
from .transactions import Durability, Turns, durability_code, running_task, wait_in_moments

if TYPE_CHECKING:
    import asyncio

    from .objects import Object
    from .rows import BoundProperty, Single
    from .session import Dispatching, Position, Session


class Writing:
    """See `session.Writing`."""

    def __init__(self, position: Position, dispatching: Dispatching, timeout: float | None) -> None:
        self.position = position
        self.turns = Turns()
        self.writer: asyncio.Task[Any] | None = None
        self.interruptions = 0
        self.savepoints: list[Savepoint] = []
        self.own_timeout = timeout
        """In seconds; None: no limit."""
        self._dispatching = dispatching
        self._spare_arguments: list[values.Arguments] = []
        _all.add(self)

    # Transactions

    @property
    def is_writing(self) -> bool:
        flag = ctypes.c_bool()
        library().toft_realm_is_writing(self.position.address, ctypes.byref(flag))
        return flag.value

    def begin_in_moments(self, timeout: float | None) -> None:
        wait_in_moments(self.begin, self.timeout(timeout), lambda: self.interruptions)
        self.began()

    def begin(self, wait: int) -> None:
        options = toft_write_options()
        options.size, options.flags = ctypes.sizeof(options), toft_write_flags.TIMEOUT
        options.timeout = wait
        self.position.changing()
        library().toft_realm_begin_write(self.position.address, ctypes.byref(options))
        self.position.moved()

    def began(self) -> None:
        self.writer = running_task()
        try:
            self._dispatching.raise_held()
        except BaseException:
            if self.position.is_open and self.is_writing:
                self.cancel()
            raise

    def commit(self, durability: Durability) -> int:
        version, options = ctypes.c_uint64(), toft_commit_options()
        options.size, options.durability = ctypes.sizeof(options), durability_code(durability)
        self.position.changing()
        self.writer = None
        try:
            library().toft_realm_commit(
                self.position.address, ctypes.byref(options), ctypes.byref(version)
            )
        finally:
            if self.savepoints and not self.is_writing:
                self.savepoints.clear()
        return version.value

    def cancel(self) -> None:
        self.position.changing()
        self.writer = None
        library().toft_realm_cancel(self.position.address)
        self.savepoints.clear()

    # Waiting

    def timeout(self, given: float | None) -> float | None:
        return self.own_timeout if given is None else given

    def writers_here(self) -> list[asyncio.Task[Any] | None]:
        here = self.position
        return [
            each.writer
            for each in list(_all)
            if each.position.path == here.path
            and each.position.thread == here.thread
            and each.position.is_open
            and each.is_writing
        ]

    def interrupt(self) -> None:
        self.interruptions += 1
        library().toft_realm_interrupt(self.position.address)

    def flush(self, timeout: float | None) -> None:
        self._flush(self.position, timeout)

    async def flush_elsewhere(self, timeout: float | None) -> None:
        """Through a frozen realm, which any thread may use."""
        import asyncio

        address = ctypes.c_void_p()
        library().toft_realm_freeze(self.position.address, ctypes.byref(address))
        frozen = Handle(address.value, library().toft_realm_release)
        await asyncio.get_running_loop().run_in_executor(None, self._flush, frozen, timeout)

    def _flush(self, of: Position | Handle, timeout: float | None) -> None:
        wait_in_moments(
            lambda _: library().toft_realm_flush(of.address),
            self.timeout(timeout),
            lambda: self.interruptions,
        )

    # Values

    def savepoint(self) -> Savepoint:
        return Savepoint(self)

    def arguments(self) -> values.Arguments:
        """Each call takes its own, so that nested calls and other threads do no harm."""
        try:
            return self._spare_arguments.pop()
        except IndexError:
            return values.Arguments(spares=self._spare_arguments)

    def asking(self) -> values.Arguments:
        arguments = self.arguments()
        arguments.asks = True
        return arguments

    def add_led(self, session: Session, instance: Object) -> None:
        Adding(session, toft_update_policy.ERROR).add(instance)

    def embeds(self, owner: Single, each: BoundProperty, value: Any) -> bool:
        is_empty = each.container is not None and not value
        if is_empty or not is_new(value) or not owner.session.classes.owns(each):
            return False
        Adding(owner.session, toft_update_policy.ERROR).embed(owner, each, value)
        return True


_all: weakref.WeakSet[Writing] = weakref.WeakSet()
