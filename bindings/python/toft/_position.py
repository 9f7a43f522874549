"""The version that a realm shows: how it moves, and whether what was read before is still true."""

from __future__ import annotations

import ctypes
import os
import weakref
from _thread import allocate_lock, get_ident
from typing import TYPE_CHECKING, Any

from ._lib import Handle, library
from .errors import ClosedError

if TYPE_CHECKING:
    from .query import Cursor
    from .rows import Single


class Position:
    """That of a live realm: see `session.Position`."""

    is_frozen = False

    def __init__(self, handle: Handle, path: str, autorefresh: bool, is_confined: bool) -> None:
        self.handle = handle
        self.path = path
        self.is_open = True
        self.is_confined = is_confined
        self.now = 0
        self.thread: Any = get_ident() if is_confined else _AnyThread()
        self.steady: set[object] = set() if autorefresh else {"opened so"}
        self.cursors: set[weakref.ref[Cursor]] = set()
        self._moved = ctypes.c_bool()
        self._moved_reference = ctypes.byref(self._moved)
        self.address = handle.address
        _positions.add(self)

    def freshen(self) -> None:
        if self.steady or self.cursors:
            return
        library().toft_realm_refresh(self.address, self._moved_reference)
        if self._moved.value:
            self.now += 1

    def changing(self) -> None:
        if self.cursors:
            cursors = [reference() for reference in self.cursors]
            self.cursors.clear()
            for cursor in cursors:
                if cursor is not None:
                    cursor.hold()
        self.now += 1

    def moved(self) -> None:
        self.now += 1

    def keep(self, single: Single, handle: Handle) -> Handle:
        single._handle = handle
        return handle

    def close(self) -> None:
        library().toft_realm_close(self.address)

    def forget(self) -> None:
        self.is_open = False
        self.now += 1


class FrozenPosition(Position):
    """That of the realm of `Realm.freeze`. Threads share it, so nothing here counts changes: there
    are none.
    """

    is_frozen = True

    def __init__(self, handle: Handle, path: str) -> None:
        self._keeping = allocate_lock()
        super().__init__(handle, path, autorefresh=False, is_confined=False)

    @property
    def address(self) -> int | None:
        if self._address is None:
            raise ClosedError("The frozen realm has been closed.")
        return self._address

    @address.setter
    def address(self, address: int | None) -> None:
        self._address = address

    def close(self) -> None:
        """Releases the pin of the version. Objects and results of the realm have their own."""
        self.handle = Handle(None, self.handle._release)
        self.address = None

    def freshen(self) -> None:
        pass

    def changing(self) -> None:
        pass

    def moved(self) -> None:
        pass

    def keep(self, single: Single, handle: Handle) -> Handle:
        with self._keeping:
            if single._handle is None:
                single._handle = handle
            return single._handle

    def forget(self) -> None:
        self.is_open = False


class _AnyThread:
    """Equal to the number of every thread: of a realm that is not confined to one."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


_positions: weakref.WeakSet[Position] = weakref.WeakSet()


def _after_fork() -> None:
    """In the child, nothing that was read before may be given from memory:

    the library must be asked, and refuses.
    """
    for position in list(_positions):
        position.now += 1


os.register_at_fork(after_in_child=_after_fork)
