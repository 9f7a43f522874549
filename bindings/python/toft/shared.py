"""A database for servers: realms for all threads, tasks and forked processes of a program."""

from __future__ import annotations

import math
import os
import threading
import time
import uuid
import weakref
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from . import opening
from .errors import ClosedError, InvalidArgumentError, LockTimeoutError, UsedAfterForkError
from .objects import ObjectType
from .session import Session
from .transactions import (
    Deadline,
    Durability,
    Turns,
    Write,
    durability_code,
    running_task,
    sleep_until,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from typing_extensions import Self

    from .database import Realm

_LONGEST_IDLE = 10.0
"""After so many seconds without use a realm is closed: it keeps its version from being reused."""


class Database:
    """A database for all threads, tasks and forked processes of a program:

        db = toft.Database("shop.toft", [Item, Order])

        with db.write() as realm:
            realm.create(Order, item=5)

    A block has a realm that no other thread or task uses meanwhile: `with` for threads, `async
    with` for tasks of asyncio. It is opened when it is first needed, kept for the next block of the
    same thread or event loop, and closed when it has not been used for ten seconds. A block within
    another one of the same thread or task has the same realm. A forked process, as gunicorn and
    Celery have them, opens the file itself.

    Objects and results belong to their block: what is to leave it leaves as values (`to_dict`) or
    frozen (`Realm.freeze`). Observations end with it: a program that observes opens a realm of its
    own.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        classes: Iterable[ObjectType] | ObjectType | None = None,
        **options: Any,
    ) -> None:
        """Nothing is opened yet. The options are those of `toft.open`, except `autorefresh` and
        `confinement`; `migration`, `initialize` and `progress` are called in the thread whose block
        is the first.
        """
        self._set(os.fspath(path), classes, options, opening.open.__kwdefaults__)

    def _set(
        self,
        path: str,
        classes: Iterable[ObjectType] | ObjectType | None,
        options: dict[str, Any],
        known: dict[str, Any] | None,
    ) -> None:
        for name in options:
            if name not in (known or ()) or name in ("autorefresh", "confinement"):
                raise TypeError(f"toft.Database has no option {name!r}")
        self._path = path
        self._classes = classes if classes is None or isinstance(classes, type) else [*classes]
        self._options = options
        self._is_open = True
        self._process = 0
        """The one that has opened the database before."""
        self._anchor: Realm | None = None
        """Keeps a database in memory."""
        self._local = threading.local()
        self._pools: weakref.WeakSet[_Pool] = weakref.WeakSet()
        """Those of all threads."""
        self._free = _Pool(self, "caller")
        self._rollback: _Rollback | None = None

    @classmethod
    def in_memory(
        cls, classes: Iterable[ObjectType] | ObjectType | None = None, **options: Any
    ) -> Self:
        """A database without a file, for tests: it is gone when it is closed or dropped. The
        options are those of `toft.open_in_memory`, except `autorefresh` and `confinement`. A forked
        process has no part in it: there a block is a UsedAfterForkError.
        """
        made = cls.__new__(cls)
        options.setdefault("name", f"toft-{uuid.uuid4()}")
        known = opening.open_in_memory.__kwdefaults__
        made._set(f":{options['name']}", classes, options, known)
        made._anchor = opening.open_in_memory(made._classes, confinement="caller", **options)
        made._process = os.getpid()
        return made

    @property
    def path(self) -> str:
        """The file; ":name" for a database without one."""
        return self._path

    def read(self) -> Block:
        """A block that reads one version, the latest at its beginning: `with db.read() as realm:`,
        `async with db.read() as realm:`. Within a block that writes, it reads what that has
        written.
        """
        return Block(self, None)

    def write(self, *, durability: Durability = "immediate", timeout: float | None = None) -> Block:
        """A block that is one write transaction: `with db.write() as realm:`, `async with
        db.write() as realm:`. It commits at its end, and cancels when an exception leaves it; see
        `Realm.write`. Within another one it is a savepoint.

        It waits for other writers, of any process, `timeout` seconds at most, or as long as the
        option `write_timeout` says. Tasks of one event loop write in the order of their calls.
        """
        durability_code(durability)  # a mistake is told before anything begins
        return Block(self, (durability, timeout))

    async def reading(self) -> AsyncIterator[Realm]:
        """A dependency of FastAPI: `realm: Annotated[toft.Realm, Depends(db.reading)]`, a block
        that lasts as long as the request. Endpoints may be `def` or `async def`: its realm may be
        used by any thread, one at a time.
        """
        async with Block(self, None, of_request=True) as realm:
            yield realm

    async def writing(self) -> AsyncIterator[Realm]:
        """`reading` for a write transaction. Say `Depends(db.writing, scope="function")`: then it
        is committed before the response is sent, and if that fails the response tells it.
        """
        async with Block(self, ("immediate", None), of_request=True) as realm:
            yield realm

    def init_app(self, app: Any) -> None:
        """For Flask: each request of `app` is a block that reads, and `realm` is its realm. A view
        that writes says `with db.write():`. Views that are `async def` say `async with` instead.
        """
        blocks = threading.local()

        def begin() -> None:
            block = self.read()
            block.__enter__()
            blocks.of_request = block

        def end(_: BaseException | None) -> None:
            block, blocks.of_request = getattr(blocks, "of_request", None), None
            if block is not None:
                block.__exit__(None, None, None)

        app.before_request(begin)
        app.teardown_request(end)

    @property
    def realm(self) -> Realm:
        """The realm of the block that this thread or task is in."""
        realm = self._source().realm(running_task())
        if realm is None:
            raise InvalidArgumentError(
                "There is no realm outside of a block: say `with db.read() as realm:`."
            )
        return realm

    @contextmanager
    def rolled_back(self) -> Iterator[Self]:
        """For tests: a block in which all blocks of this database, of all threads and tasks, are
        parts of one write transaction, which is cancelled at the end.

            @pytest.fixture
            def db():
                with shop.database.rolled_back() as db:
                    yield db

        Blocks come one after the other. Nothing is committed, so no observer is called and other
        processes see nothing; unique values are checked by a commit, and so they are not here.
        """
        if self._rollback is not None:
            raise InvalidArgumentError("The database is in a block of rolled_back already.")
        rollback = self._rollback = _Rollback(self._opened("caller"))
        try:
            yield self
        finally:
            self._rollback = None
            rollback.end()

    def close(self) -> None:
        """Closes the realms that are in no block, of all threads; the others close with their
        block. A block that begins later is a ClosedError. Closing twice does nothing.
        """
        is_here = self._process == os.getpid()
        mine = [self._source(), self._source(of_request=True)]
        self._is_open = False
        anchor, self._anchor = self._anchor, None
        for pool in [*self._pools, self._free]:
            for realm in pool.dropped():
                if pool in mine:
                    realm.close()
        if anchor is not None and is_here:
            anchor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Database {self._path}{'' if self._is_open else ', closed'}>"

    # ----------------------------------------------------------------------------------------------
    # Beneath

    def _source(self, of_request: bool = False) -> _Source:
        """The giver of realms to blocks of this thread."""
        if self._rollback is not None:
            return self._rollback
        process = os.getpid()
        if of_request:
            if self._free.process != process:
                self._free = _Pool(self, "caller")
            return self._free
        pool: _Pool | None = getattr(self._local, "pool", None)
        if pool is None or pool.process != process:
            pool = self._local.pool = _Pool(self, "thread")
            self._pools.add(pool)
        return pool

    def _opened(self, confinement: opening.Confinement) -> Realm:
        self._require_open()
        if self._anchor is not None:
            return opening.open_in_memory(self._classes, confinement=confinement, **self._options)
        realm = opening.open(self._path, self._classes, confinement=confinement, **self._options)
        self._process = os.getpid()
        return realm

    async def _open_first(self) -> None:
        """Opens the file for the first time while the event loop goes on: it may be migrated."""
        if self._process == os.getpid() or self._anchor is not None:
            return
        self._require_open()
        realm = await opening.open_async(
            self._path, self._classes, confinement="caller", **self._options
        )
        self._process = os.getpid()
        source = self._source(of_request=True)
        if isinstance(source, _Pool):
            source.give(realm)

    def _require_open(self) -> None:
        if not self._is_open:
            raise ClosedError(f"The database {self._path} has been closed.")
        if self._anchor is not None and self._process != os.getpid():
            raise UsedAfterForkError(
                "A database in memory belongs to the process that has made it: make another one "
                "here, or use a file."
            )

    def _has_written(self) -> None:
        """Called at the end of a block that writes: what keeps a database in memory keeps no
        earlier version of it.
        """
        with _lock:
            if self._anchor is not None and self._process == os.getpid():
                self._anchor.refresh()


class Block:
    """The result of `Database.read` and `Database.write`, for `with` or `async with`. Its value is
    a realm.
    """

    __slots__ = ("_database", "_inner", "_key", "_of_request", "_source", "_write")

    def __init__(
        self,
        database: Database,
        write: tuple[Durability, float | None] | None,
        of_request: bool = False,
    ) -> None:
        """`write`: durability and timeout; None for a block that reads."""
        self._database = database
        self._write = write
        self._of_request = of_request
        self._key: Any = None
        self._source: _Source | None = None
        self._inner: AbstractContextManager[Realm] | None = None

    def __enter__(self) -> Realm:
        source = self._chosen()
        self._begin(source, source.enter(self._key, self._deadline()))
        assert self._inner is not None
        try:
            return self._inner.__enter__()
        except BaseException:
            self._end()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._inner is not None
        try:
            self._inner.__exit__(kind, error, traceback)
        finally:
            self._end()

    async def __aenter__(self) -> Realm:
        await self._database._open_first()
        source = self._chosen()
        self._begin(source, await source.enter_in_task(self._key, self._deadline()))
        inner = self._inner
        assert inner is not None
        try:
            return await inner.__aenter__() if isinstance(inner, Write) else inner.__enter__()
        except BaseException:
            self._end()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        inner = self._inner
        assert inner is not None
        try:
            if isinstance(inner, Write):
                await inner.__aexit__(kind, error, traceback)
            else:
                inner.__exit__(kind, error, traceback)
        finally:
            self._end()

    def _chosen(self) -> _Source:
        if self._source is not None:
            raise InvalidArgumentError("This block has begun already: say db.write() for each.")
        self._database._require_open()
        source = self._database._source(self._of_request)
        # A request may have several dependencies, and each is a block of its own.
        is_apart = self._of_request and isinstance(source, _Pool)
        self._key = self if is_apart else running_task()
        return source

    def _deadline(self) -> Deadline:
        given = self._write[1] if self._write else None
        return Deadline(self._database._options.get("write_timeout") if given is None else given)

    def _begin(self, source: _Source, realm: Realm) -> None:
        self._source = source
        if self._write is None:
            self._inner = realm.read()
        else:
            self._inner = realm.write(durability=self._write[0], timeout=self._write[1])

    def _end(self) -> None:
        source, self._source, self._inner = self._source, None, None
        assert source is not None
        source.leave(self._key)
        if self._write is not None:
            self._database._has_written()


class _Source(Protocol):
    """Gives blocks their realms. `key`: the task that a block is in, None outside of tasks."""

    def enter(self, key: Any, deadline: Deadline) -> Realm:
        """The realm of a block that begins."""

    async def enter_in_task(self, key: Any, deadline: Deadline) -> Realm:
        """`enter`, which lets other tasks run while it waits."""

    def leave(self, key: Any) -> None:
        """To be called at the end of a block."""

    def realm(self, key: Any) -> Realm | None:
        """The realm of the block that is open."""


class _Pool:
    """The realms of one thread; or those that go from thread to thread, for requests."""

    def __init__(self, database: Database, confinement: opening.Confinement) -> None:
        self.process = os.getpid()
        self._database = weakref.ref(database)
        self._confinement = confinement
        self._used: dict[Any, tuple[Realm, int]] = {}
        """Those of open blocks, each with the number of its blocks."""
        self._idle: list[tuple[Realm, float]] = []
        """The others, and when they were used last, the last one last."""
        self._turns = Turns()

    def enter(self, key: Any, deadline: Deadline) -> Realm:
        realm, depth = self._used.get(key) or (self._taken(), 0)
        self._used[key] = realm, depth + 1
        return realm

    async def enter_in_task(self, key: Any, deadline: Deadline) -> Realm:
        return self.enter(key, deadline)

    def leave(self, key: Any) -> None:
        realm, depth = self._used.pop(key)
        if depth > 1:
            self._used[key] = realm, depth - 1
        else:
            self.give(realm)

    def realm(self, key: Any) -> Realm | None:
        return self._used[key][0] if key in self._used else None

    def _taken(self) -> Realm:
        while True:
            with _lock:
                if not self._idle:
                    break
                realm, _ = self._idle.pop()
            if realm.is_open:
                return realm
        database = self._database()
        assert database is not None  # the block holds it
        realm = database._opened(self._confinement)
        Session.of(realm).writing.turns = self._turns
        return realm

    def give(self, realm: Realm) -> None:
        """Keeps a realm for the next block."""
        database = self._database()
        if not realm.is_open or self.process != os.getpid():
            return
        session = Session.of(realm)
        session.dispatching.stop_observations()
        session.position.changing()  # a loop that was left does not hold the next block up
        if realm.is_writing:
            realm.cancel()
        if database is None or not database._is_open:
            realm.close()
            return
        with _lock:
            self._idle.append((realm, time.monotonic()))
            _sweep_later(self)

    def dropped(self, since: float = math.inf) -> list[Realm]:
        """The realms that are in no block and were used last before a time, which are no longer
        kept. Any thread: to drop one closes it.
        """
        with _lock:
            dropped = [realm for realm, used in self._idle if used < since]
            self._idle = [each for each in self._idle if each[1] >= since]
        return dropped


class _Rollback:
    """The one realm of all blocks of `Database.rolled_back`, in a write transaction."""

    def __init__(self, realm: Realm) -> None:
        self._realm = realm
        self._condition = threading.Condition()
        self._owner: object = None
        """The thread or task whose block it is."""
        self._depth = 0
        realm.begin_write()

    def _acquired(self, key: Any) -> bool:
        owner = threading.get_ident() if key is None else key
        if self._depth and self._owner != owner:
            return False
        if not self._realm.is_writing:  # a block has cancelled everything
            self._realm.begin_write()
        self._owner = owner
        self._depth += 1
        Session.of(self._realm).writing.writer = key
        return True

    def enter(self, key: Any, deadline: Deadline) -> Realm:
        with self._condition:
            if not self._condition.wait_for(lambda: self._acquired(key), deadline.left):
                raise _waited_too_long()
        return self._realm

    async def enter_in_task(self, key: Any, deadline: Deadline) -> Realm:
        def attempt() -> bool:
            with self._condition:
                return self._acquired(key)

        if not await sleep_until(attempt, deadline):
            raise _waited_too_long()
        return self._realm

    def leave(self, key: Any) -> None:
        with self._condition:
            self._depth -= 1
            self._condition.notify_all()

    def realm(self, key: Any) -> Realm | None:
        return self._realm if self._depth else None

    def end(self) -> None:
        """Cancels everything."""
        if self._realm.is_open and self._realm.is_writing:
            self._realm.cancel()
        self._realm.close()


def _waited_too_long() -> LockTimeoutError:
    return LockTimeoutError("Another block of the rolled back database did not end in time.")


# ------------------------------------------------------------------------- Realms that are not used

_lock = threading.Lock()
_with_idle: weakref.WeakSet[_Pool] = weakref.WeakSet()
_sweeping_process = 0


def _sweep_later(pool: _Pool) -> None:
    """Sees to it that the realms of a pool are closed in time. Called inside the lock."""
    global _sweeping_process
    _with_idle.add(pool)
    if _sweeping_process != os.getpid():
        _sweeping_process = os.getpid()
        threading.Thread(target=_sweep, name="toft-idle", daemon=True).start()


def _sweep() -> None:
    """The thread that closes realms that are not used. It ends when there are none."""
    global _sweeping_process
    while True:
        time.sleep(_LONGEST_IDLE / 2)
        since = time.monotonic() - _LONGEST_IDLE
        for pool in list(_with_idle):
            pool.dropped(since)
        with _lock:
            for pool in list(_with_idle):
                if not pool._idle:
                    _with_idle.discard(pool)
            if not _with_idle:
                _sweeping_process = 0
                return


def _after_fork() -> None:
    """In the child: another thread of the parent may have held the lock."""
    global _lock, _with_idle
    _lock, _with_idle = threading.Lock(), weakref.WeakSet()


os.register_at_fork(after_in_child=_after_fork)
