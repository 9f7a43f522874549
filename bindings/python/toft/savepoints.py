"""Savepoints: parts of a write transaction that are done as a whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._lib import library
from .errors import Error

if TYPE_CHECKING:
    from .objects import Object
    from .rows import Rows, Single
    from .session import Writing


class Savepoint:
    """A block of a write transaction. When it fails, everything is restored: the database, and the
    objects in no database that have become live meanwhile. Blocks are nested.
    """

    __slots__ = ("_live", "_writing")

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._live: list[tuple[Object, Rows, int]] = []
        """The objects that have become live, and their previous rows."""

    def __enter__(self) -> None:
        writing = self._writing
        writing.position.changing()
        library().toft_realm_begin_savepoint(writing.position.address)
        writing.savepoints.append(self)

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        writing = self._writing
        if self not in writing.savepoints:  # the transaction was ended in the block
            return
        del writing.savepoints[writing.savepoints.index(self) :]
        if kind is None:
            library().toft_realm_end_savepoint(writing.position.address, True)
            if writing.savepoints:
                writing.savepoints[-1]._live += self._live
            return
        try:
            writing.position.changing()
            library().toft_realm_end_savepoint(writing.position.address, False)
        except Error:  # the failure that led here is the one to report
            pass
        for instance, rows, row in reversed(self._live):
            instance._rows, instance._row = rows, row

    def add(self, instance: Object) -> None:
        """Notes an object that is about to become live."""
        self._live.append((instance, instance._rows, instance._row))


def become_live(instance: Object, single: Single) -> None:
    """Makes an object that was in no database the live one that was created of it."""
    if open_ones := single.session.writing.savepoints:
        open_ones[-1].add(instance)
    instance._rows, instance._row = single, 0
