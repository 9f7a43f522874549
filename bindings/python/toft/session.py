"""A realm beneath its public methods: the parts that the other modules work with.

Whatever comes from a realm (an object, results, a collection, an observation) holds its `Session`,
and reaches the parts through that. Each part is described here by a protocol and written in a
module of its own (`_position`, `_classes`, `_writing`, `_dispatching`). `database.Realm` has the
public methods, and nothing else: it is made anew if the program has dropped it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ._lib import NeverCopied

if TYPE_CHECKING:
    import asyncio

    from ._lib import Handle
    from ._values import Arguments
    from .binding import Bindings
    from .database import Realm
    from .objects import Object, ObjectType
    from .observe import Observation
    from .query import Cursor
    from .rows import Binding, BoundProperty, Single
    from .savepoints import Savepoint
    from .transactions import Durability, Turns


class Position(Protocol):
    """The version that the realm shows, and whether what was read before is still true."""

    path: str
    """The file; ":name" for a database without one."""
    handle: Handle
    """The library's realm."""
    is_open: bool
    is_frozen: bool
    is_confined: bool
    """Whether it belongs to the thread that opened it."""
    now: int
    """Counts the changes of what the realm shows: rows.py has the rule."""
    thread: Any
    """Equal to the numbers of the threads that may use the realm."""
    steady: set[object]
    """The reasons to keep the version: observations, `read`, no autorefresh."""
    cursors: set[weakref.ref[Cursor]]
    """The loops over results that are under way."""

    @property
    def address(self) -> int | None:
        """That of the library's realm."""

    def freshen(self) -> None:
        """Moves to the latest version, unless something wants the realm to stay: see `toft.open`.

        To be called before anything is read that begins a question.
        """

    def changing(self) -> None:
        """To be called before anything that writes or moves the realm."""

    def moved(self) -> None:
        """To be called after what may have moved the realm."""

    def keep(self, single: Single, handle: Handle) -> Handle:
        """Gives an object its handle, unless another thread has; returns the one that it has."""

    def close(self) -> None:
        """Closes the library's realm."""

    def forget(self) -> None:
        """Called once the library's realm has been closed."""


class Classes(Protocol):
    """The classes of the realm, and the making of what their properties hold."""

    bindings: Bindings

    def binding(self, cls: ObjectType | str) -> Binding:
        """The class in this realm, or a NoSuchClassError."""

    def binding_of_key(self, key: int) -> Binding:
        """The class with a key of the file, or a NoSuchClassError."""

    def owns(self, each: BoundProperty) -> bool:
        """Whether a property links to embedded objects."""

    def owning(self, binding: Binding) -> list[BoundProperty]:
        """The properties of a class that link to embedded objects."""

    def linked(self, object_key: int, class_key: int) -> Object:
        """The object that a link leads to."""

    def collection(self, owner: Single, each: BoundProperty) -> Any:
        """A list, a set or a dictionary, or the results of linking objects."""

    def nested(self, owner: Single, each: BoundProperty, kind: int) -> Any:
        """The list or dictionary that a mixed property holds."""


class Writing(Protocol):
    """Write transactions, and the values that calls lend to the library."""

    position: Position
    turns: Turns
    writer: asyncio.Task[Any] | None
    """The task of asyncio's that is in the write transaction."""
    interruptions: int
    """Counts the calls of `Realm.interrupt`."""
    savepoints: list[Savepoint]
    """Those that are open, the last one last."""

    @property
    def is_writing(self) -> bool:
        """Whether a write transaction of this realm is open."""

    def begin_in_moments(self, timeout: float | None) -> None:
        """Begins a write transaction, and waits for others as `Realm.begin_write` does."""

    def begin(self, wait: int) -> None:
        """Begins a write transaction; `wait`: for how many milliseconds at most. `began` is to
        follow.
        """

    def began(self) -> None:
        """Notes what task writes, and raises what the observers raised that were called."""

    def commit(self, durability: Durability) -> int:
        """Commits, and returns the version. `Dispatching.raise_held` is to follow."""

    def cancel(self) -> None:
        """Cancels: all is as it was at the beginning."""

    def timeout(self, given: float | None) -> float | None:
        """How many seconds to wait for other writers, None without a limit."""

    def writers_here(self) -> list[asyncio.Task[Any] | None]:
        """The tasks that are in a write transaction of this file on this thread; None outside of a
        task.
        """

    def interrupt(self) -> None:
        """Ends the wait, or the query, that is under way. Any thread."""

    def flush(self, timeout: float | None) -> None:
        """`Realm.flush`."""

    async def flush_elsewhere(self, timeout: float | None) -> None:
        """`Realm.flush` on a thread of asyncio's."""

    def savepoint(self) -> Savepoint:
        """A block that is done as a whole or not at all."""

    def arguments(self) -> Arguments:
        """Memory for the values of one call."""

    def asking(self) -> Arguments:
        """Arguments for a call that must not add the objects in them."""

    def add_led(self, session: Session, instance: Object) -> None:
        """Adds an object that values lead to."""

    def embeds(self, owner: Single, each: BoundProperty, value: Any) -> bool:
        """Writes a property that owns what it links to, unless the library can by itself."""


class Dispatching(Protocol):
    """Observations, and the calls of their callbacks."""

    observations: set[Observation]
    """Those with a callback, which run on although nothing else refers to them."""
    raised: list[BaseException]
    """By callbacks, until the library has returned."""

    def move(self, function: str, *arguments: Any) -> None:
        """Calls a function of the library that may call observers back, and raises what they
        raised.
        """

    def raise_held(self) -> None:
        """Raises what callbacks raised."""

    def dispatch(self) -> int:
        """`Realm.dispatch`."""

    def descriptor(self) -> int:
        """`Realm.fileno`."""

    def wait(self, session: Session, timeout: float | None) -> bool:
        """`Realm.wait`. `session`: that of which this is a part."""

    def attached(self) -> AbstractContextManager[None]:
        """A block in which asyncio's running loop dispatches the realm."""

    def stop_observations(self) -> None:
        """Ends those with a callback."""

    def forget(self) -> None:
        """Called once the library's realm has been closed."""


class Session(NeverCopied):
    """The four parts of a realm, and its face for programs."""

    __slots__ = (
        "__weakref__",
        "_face",
        "_make_face",
        "classes",
        "dispatching",
        "position",
        "writing",
    )

    classes: Classes
    """Set by whoever makes the session: the classes refer to it."""

    def __init__(
        self,
        position: Position,
        writing: Writing,
        dispatching: Dispatching,
        make_face: Callable[[Session], Realm],
    ) -> None:
        self.position = position
        self.writing = writing
        self.dispatching = dispatching
        self._make_face = make_face
        self._face: weakref.ref[Realm] | None = None

    @staticmethod
    def of(face: Realm) -> Session:
        """That of a realm, for what is made of realms."""
        return face._session

    @property
    def realm(self) -> Realm:
        """The realm of public methods. Whatever comes from it holds the session, not the realm."""
        found = None if self._face is None else self._face()
        if found is None:
            found = self._make_face(self)
            self._face = weakref.ref(found)
        return found

    def forget(self) -> None:
        """Called once the library's realm has been closed: everything got from it is a ClosedError
        from now on.
        """
        self.position.forget()
        self.dispatching.forget()
