"""Realms: transactions, and everything that begins at a realm."""

from __future__ import annotations

import ctypes
import os
import select
import weakref
from _thread import allocate_lock, get_ident
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _values as values
from ._ffi import (
    TOFT_ALL_CLASSES,
    toft_check_report,
    toft_commit_options,
    toft_compaction_step,
    toft_database_info,
    toft_link,
    toft_update_policy,
    toft_version_pin,
    toft_write_flags,
    toft_write_options,
)
from ._lib import Handle, borrowed, encryption_key_of, library
from .adding import Adding, is_new
from .arguments import LinesToRead, properties_given, whole_number
from .binding import Bindings
from .bulk import Rows, insert
from .collection import Collection
from .dicts import Dict
from .errors import (
    ClosedError,
    DeletionDeniedError,
    Error,
    FileError,
    InvalidArgumentError,
    NoSuchClassError,
    ObjectDeletedError,
    TypeMismatchError,
    UsageError,
    WrongRealmError,
)
from .lists import List
from .objects import Object, ObjectType, live, live_object
from .observe import Callback, Changes, Observation
from .query import Cursor, Results
from .records import Record
from .rows import Binding, BoundProperty, Single
from .savepoints import Savepoint
from .schema import did_you_mean, shape_of
from .sets import Set
from .transactions import (
    Deadline,
    Durability,
    Write,
    durability_code,
    running_task,
    wait_in_moments,
)

if TYPE_CHECKING:
    import asyncio

    from typing_extensions import Self

    from .tables import Progress

T = TypeVar("T", bound=Object)
E = TypeVar("E")
Update = Literal["all", "modified"]

_POLICIES = {
    None: toft_update_policy.ERROR,
    "all": toft_update_policy.ALL,
    "modified": toft_update_policy.MODIFIED,
}


_LONGEST_POLL = 2**31 - 1
"""Milliseconds."""

_COLLECTIONS: dict[type, type[Collection[Any]]] = {list: List, set: Set, dict: Dict}


class Info(Record):
    """Facts about an open database; sizes in bytes."""

    version: int
    latest_version: int
    oldest_pinned_version: int
    file_size: int
    free_size: int
    page_size: int
    format_version: int
    log_size: int
    checkpoint_version: int
    deferred_size: int
    schema_version: int
    live_size: int
    held_size: int


class Pin(Record):
    """A version that a process reads: what it needs is not reused.

    `process_id`: None for another process that has the file open for reading only. `held_size`:
    bytes that this version needs and the latest one does not. `age`: seconds since the process
    began to read it, to a millisecond; None for any process that has the file open for reading
    only, even this one.
    """

    version: int
    process_id: int | None
    held_size: int
    age: float | None


class CompactionStep(Record):
    """The result of a step of a compaction beside others, in bytes.

    `moved`: from the end of the file to free space before it. `size_before`, `size_after`: of the
    file. `held`: what only earlier versions need, which some process reads; no step gives it back
    before they are gone: see `Realm.pins`. `has_more`: whether another step would do something.
    """

    moved: int
    size_before: int
    size_after: int
    held: int
    has_more: bool


class CheckReport(Record):
    """The result of a check. It is true when all is well."""

    problems: tuple[str, ...]
    pages: int
    objects: int

    def __bool__(self) -> bool:
        return not self.problems


class Realm:
    """One thread's view of a database. Made by `toft.open`."""

    def __init__(
        self,
        handle: Handle,
        path: str,
        declared: list[type[Object]] | None,
        write_timeout: float | None,
        autorefresh: bool,
        is_confined: bool,
    ) -> None:
        self._handle = handle
        self._write_timeout = write_timeout
        self._interruptions = 0
        self._address = handle.address
        self._now = 0  # rows.py tells what it counts
        self._thread: Any = get_ident() if is_confined else _AnyThread()
        # The reasons to keep the realm's version: observations, `read`, no autorefresh.
        self._steady: set[object] = set() if autorefresh else {"opened so"}
        self._moved = ctypes.c_bool()
        self._moved_reference = ctypes.byref(self._moved)
        self._writer: asyncio.Task[Any] | None = None
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        self._path = path
        self._is_open = True
        self._cursors: set[weakref.ref[Cursor]] = set()
        self._observations: set[Observation] = set()
        self._raised: list[BaseException] = []
        self._spare_arguments: list[values.Arguments] = []
        self._loops: dict[asyncio.AbstractEventLoop, int] = {}
        """The event loops that dispatch it, each with how many blocks want it to."""
        self._descriptor = -1
        self._own_observation: Observation | None = None
        self._savepoints: list[Savepoint] = []
        """Those that are open, the last one last."""
        self._bindings = Bindings(self, declared)
        _realms.add(self)

    # ----------------------------------------------------------------------------------------------
    # Opening, closing

    @property
    def path(self) -> str:
        """The file; ":name" for a database without one."""
        return self._path

    @property
    def is_open(self) -> bool:
        """Whether the realm has not been closed."""
        return self._is_open

    def close(self) -> None:
        """Closes the realm now: an open write transaction is cancelled, its observations end, and
        everything got from it is a ClosedError. Closing twice does nothing.

        The last realm of the process that is closed makes every commit durable. It raises
        CommitOutcomeUnknownError when deferred transactions could not be made durable,
        PoisonedError when a sync of the file had failed before, and another FileError when all are
        durable but the next opening has to recover the file. The realm is closed all the same. A
        realm that is only dropped does the same and reports no failure.
        """
        if not self._is_open:
            return
        try:
            library().toft_realm_close(self._address)
        except UsageError:  # another thread's, or a forked child
            raise
        except Error:
            self._forget()
            raise
        self._forget()

    def _forget(self) -> None:
        self._is_open = False
        self._now += 1
        for loop in [*self._loops]:
            self._stop_reading(loop)
        for observation in list(self._observations):
            observation.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the realm. If that fails, an exception that left the block becomes the context of
        the failure, as with Python's files.
        """
        self.close()

    def __repr__(self) -> str:
        return f"<Realm {self._path}{'' if self._is_open else ', closed'}>"

    # ----------------------------------------------------------------------------------------------
    # Transactions

    def write(self, *, durability: Durability = "immediate", timeout: float | None = None) -> Write:
        """A write transaction: `with realm.write():` commits at the end of the block, and cancels
        when an exception leaves it. `timeout`: see `begin_write`.

        `async with realm.write():` lets asyncio's other tasks run while it waits for other writers,
        in this and in other processes; tasks that share the realm come one after the other. The
        transaction is the realm's: a task that runs while the block awaits sees what is not
        committed yet. The end of the block awaits the disk, on another thread: until then others
        see a commit that a crash of the machine may take back. Large transactions, and the first in
        a file since it was closed, do not await.

        `durability`: when it is there again after the machine stops (power, kernel). Every process
        sees it at the end of the block, and no crash or kill of a process loses it, whichever is
        chosen. "immediate": at the end of the block, for a durable write. "group": the same, and
        transactions of several threads share that write: more of them in a second, while one may
        take longer. "deferred": later, with the next transaction that is not deferred, with
        `flush`, about a second after the last one, when much waits (16 MiB), or when the file is
        closed; until then a crash of the machine may take back the last transactions, never one
        while a later one stays. That costs no durable write. Large transactions, and the first in a
        file since it was closed, are durable at the end of the block.

        The end of the block calls the observers of the realm. Their exceptions are raised once the
        transaction is committed, and as durable as it is to be.
        """
        return Write(self, durability, timeout)

    def begin_write(self, timeout: float | None = None) -> None:
        """Begins a write transaction:

        waits for other writers and moves to the latest version. `write` is the better way.
        `timeout`: how many seconds to wait, if not as long as the realm's `write_timeout` says.
        Signals are handled during the wait, so Ctrl-C ends it; so does `interrupt`.
        """
        wait_in_moments(self._begin, self._timeout(timeout), lambda: self._interruptions)
        self._began()

    def _begin(self, wait: int) -> None:
        """Begins a write transaction; `wait`: for how many milliseconds at most. `_began` is to
        follow.
        """
        options = toft_write_options()
        options.size, options.flags = ctypes.sizeof(options), toft_write_flags.TIMEOUT
        options.timeout = wait
        self._changing()
        library().toft_realm_begin_write(self._address, ctypes.byref(options))
        self._now += 1

    def _began(self) -> None:
        """Notes what task writes, and raises what the observers raised that were called."""
        self._writer = running_task()
        try:
            self._raise()
        except BaseException:
            if self._is_open and self.is_writing:
                self.cancel()
            raise

    def _timeout(self, timeout: float | None) -> float | None:
        return self._write_timeout if timeout is None else timeout

    def _turns(self) -> asyncio.Lock:
        """In what order the tasks of an event loop write."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._turn is None or self._turn[0] is not loop:
            self._turn = loop, asyncio.Lock()
        return self._turn[1]

    def _writers_here(self) -> list[asyncio.Task[Any] | None]:
        """The tasks that are in a write transaction of this file on this thread; None outside of a
        task.
        """
        return [
            each._writer
            for each in list(_realms)
            if each._path == self._path
            and each._thread == self._thread
            and each.is_open
            and each.is_writing
        ]

    def interrupt(self) -> None:
        """Ends the wait for other writers (a write, `flush`) or the query that is under way in this
        realm, with an InterruptedError. Without one it does nothing. Any thread.
        """
        self._interruptions += 1
        library().toft_realm_interrupt(self._address)

    def commit(self, *, durability: Durability = "immediate") -> int:
        """Commits: when it returns, the transaction is on disk, or will be as the `durability`
        says: see `write`. Returns its version.

        It calls the observers of the realm. Their exceptions are raised once the transaction is
        committed.
        """
        version = self._commit(durability)
        self._raise()
        return version

    def _commit(self, durability: Durability) -> int:
        """Commits. `_raise` is to follow."""
        version, options = ctypes.c_uint64(), toft_commit_options()
        options.size, options.durability = ctypes.sizeof(options), durability_code(durability)
        self._changing()
        self._writer = None
        library().toft_realm_commit(self._address, ctypes.byref(options), ctypes.byref(version))
        return version.value

    def flush(self, timeout: float | None = None) -> None:
        """Makes every commit so far durable, of any realm and any process, and returns then; at
        once when all are. Waits for other writers as `begin_write` does.
        """
        wait_in_moments(
            lambda _: library().toft_realm_flush(self._address),
            self._timeout(timeout),
            lambda: self._interruptions,
        )

    async def _flush_elsewhere(self, timeout: float | None) -> None:
        """`flush` on a thread of asyncio's, through a frozen realm, which any thread may use."""
        import asyncio

        address = ctypes.c_void_p()
        library().toft_realm_freeze(self._address, ctypes.byref(address))
        frozen = Handle(address.value, library().toft_realm_release)

        def flush() -> None:
            wait_in_moments(
                lambda _: library().toft_realm_flush(frozen.address),
                self._timeout(timeout),
                lambda: self._interruptions,
            )

        await asyncio.get_running_loop().run_in_executor(None, flush)

    def cancel(self) -> None:
        """Cancels: all is as it was at the beginning, and objects made since are deleted."""
        self._changing()
        self._writer = None
        library().toft_realm_cancel(self._address)

    @property
    def is_writing(self) -> bool:
        """Whether a write transaction of this realm is open."""
        flag = ctypes.c_bool()
        library().toft_realm_is_writing(self._address, ctypes.byref(flag))
        return flag.value

    @property
    def version(self) -> int:
        """The realm's version. It grows with each commit of any process."""
        version = ctypes.c_uint64()
        library().toft_realm_version(self._address, ctypes.byref(version))
        return version.value

    def refresh(self) -> bool:
        """Moves to the latest version and calls the observers that are due.

        Returns whether it moved.
        """
        moved = ctypes.c_bool()
        self._move("toft_realm_refresh", ctypes.byref(moved))
        return moved.value

    @contextmanager
    def read(self) -> Iterator[Realm]:
        """A block in which the realm stays at one version, unless it is moved (`refresh`, a write
        transaction): `with realm.read():`. It begins at the latest one.
        """
        self._freshen()
        block = object()
        self._steady.add(block)
        try:
            yield self
        finally:
            self._steady.discard(block)

    def _freshen(self) -> None:
        """Moves to the latest version, unless something wants the realm to stay: see `toft.open`.

        To be called before anything is read that begins a question.
        """
        if self._steady or self._cursors:
            return
        library().toft_realm_refresh(self._address, self._moved_reference)
        if self._moved.value:
            self._now += 1

    # ----------------------------------------------------------------------------------------------
    # Objects

    def add(self, instance: T, update: Update | None = None) -> T:
        """Adds an object to the database, and with it those that it links to and that are in no
        database yet. It is live from then on. `update`: what to do when its primary key exists: set
        "all" properties, or those that are "modified"; None: an error. All or nothing: when it
        fails, the objects that it has created are deleted, and existing ones are restored; an
        embedded object that was replaced is then a new one with the same values.
        """
        Adding(self, _policy(update)).add(instance)
        return instance

    @overload
    def create(
        self, cls: type[T], values: Mapping[str, Any] | None = None, /, **properties: Any
    ) -> T: ...
    @overload
    def create(
        self, cls: ObjectType | str, values: Mapping[str, Any] | None = None, /, **properties: Any
    ) -> Any: ...
    def create(
        self, cls: Any, values: Mapping[str, Any] | None = None, /, **properties: Any
    ) -> Any:
        """Creates an object:

        `realm.create(Dog, name="Rex", age=3)`. The properties can also come as a mapping.
        """
        given = properties_given(values, properties)
        return self._create(cls, toft_update_policy.ERROR, given)

    @overload
    def upsert(
        self,
        cls: type[T],
        values: Mapping[str, Any] | None = None,
        /,
        *,
        update: Update = "all",
        **properties: Any,
    ) -> T: ...
    @overload
    def upsert(
        self,
        cls: ObjectType | str,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        update: Update = "all",
        **properties: Any,
    ) -> Any: ...
    def upsert(
        self,
        cls: Any,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        update: Update = "all",
        **properties: Any,
    ) -> Any:
        """Creates an object or, when its primary key exists, updates it:

        sets "all" of the properties given, or those that are "modified". All or nothing is set; an
        embedded object that was replaced when a later value failed is a new one with the same
        values.
        """
        return self._create(cls, _policy(update), properties_given(values, properties))

    def insert_many(
        self,
        cls: ObjectType | str,
        rows: Rows | Mapping[str, Iterable[Any]] | Any,
        *,
        update: Update | None = None,
    ) -> int:
        """Creates an object from each row, all or nothing, and returns the number of rows.

        `rows`: any iterable of mappings or of objects; columns by name, as `results.columns()`
        returns; or a DataFrame of pandas or polars, whose missing values are None. A property that
        a row lacks gets its class's default. `update`: as in `add`; rows that update stay when a
        later one fails, so cancel the transaction then.
        """
        return insert(self, self._binding(cls), _policy(update), rows)

    @overload
    def from_json(
        self, cls: type[T], text: str | bytes, *, update: Update | None = None, strict: bool = False
    ) -> list[T]: ...
    @overload
    def from_json(
        self,
        cls: ObjectType | str,
        text: str | bytes,
        *,
        update: Update | None = None,
        strict: bool = False,
    ) -> list[Any]: ...
    def from_json(
        self,
        cls: ObjectType | str,
        text: str | bytes,
        *,
        update: Update | None = None,
        strict: bool = False,
    ) -> list[Any]:
        """Creates the object, or the array of objects, of a JSON text, all or nothing: the output
        of `to_json`. Links are objects inside or primary keys, also of later objects in the text.
        `update`: as in `add`; objects inside without a primary key are new ones always. Members
        that are no properties are left out, as Realm does; `strict`: they are a
        NoSuchPropertyError.

        The text is JSON as other programs have it, in UTF-8: without NaN and Infinity, and without
        two members of one name. A number that its property can't represent exactly is an error,
        which names the property; only floats are rounded, to the nearest. In a mixed property a
        whole number beyond 64 bits is a Decimal.
        """
        from .reading import read_json

        return read_json(self, self._binding(cls), text, _policy(update), strict=strict)

    def read_json_lines(
        self,
        cls: ObjectType | str,
        file: LinesToRead,
        *,
        update: Update | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Creates an object of each line of a file, all or nothing, and returns their number: the
        output of `Results.write_json_lines` and `toftdb export`. Properties have the names that the
        file of the database has for them, or those of attributes. Objects without primary key have
        numbers as `_key` (`__key` if a property has that name), by which the lines link to them. A
        byte order mark is left out. An error names the line, the property and the remedy. `file`:
        one that is open as text, the path of one, or anything that gives lines.

        The file is read line by line, and may be of any length. Memory keeps the links to objects
        of later lines, and the numbers by which objects without primary key are linked to, unless
        they ascend as they do when such a file is written.

        `progress` is called with how many lines are done and how many there are, for which the
        file is read twice; 0 if that is impossible, as for a pipe or a generator. An exception of
        it ends the call, and nothing has been created.
        """
        from .reading import read_lines

        return read_lines(self, self._binding(cls), file, _policy(update), progress)

    def read_csv(
        self,
        cls: ObjectType | str,
        file: LinesToRead,
        *,
        update: Update | None = None,
        progress: Progress | None = None,
    ) -> int:
        """`read_json_lines` for comma-separated values, which `Results.write_csv` writes. A file
        that you open yourself is opened with `newline=""`. Empty lines are left out, except with
        one column.
        """
        from .reading import read_csv

        return read_csv(self, self._binding(cls), file, _policy(update), progress)

    def delete(self, *things: Object | Results[Any] | Collection[Any] | Iterable[Object]) -> None:
        """Deletes objects, or all objects of results, of a list, a set or a dictionary, or of any
        iterable, as they are when it is called. One that is given twice is deleted once, and so is
        one that another one owns, as embedded objects are. If a link with the delete rule "deny"
        keeps an object, and both are given, the linking object is deleted first. All or nothing.
        """
        found = list(_deletable(things))
        if len(found) == 1:
            self._deletion(found[0], is_alone=True)()
            return
        with self._savepoint():
            self._delete_all([self._deletion(thing, is_alone=False) for thing in found])

    @staticmethod
    def _delete_all(waiting: list[Callable[[], object]]) -> None:
        """Deletes things, those that are denied after the others."""
        while waiting:
            denied, waiting = waiting, []
            failure: Error | None = None
            for delete in denied:
                try:
                    delete()
                except ObjectDeletedError:
                    pass
                except DeletionDeniedError as error:
                    failure = failure or error
                    waiting.append(delete)
            if failure is not None and len(waiting) == len(denied):
                raise failure

    def _deletion(self, thing: Any, *, is_alone: bool) -> Callable[[], object]:
        """The deletion of a thing; if it is not alone, without regard to earlier ones."""
        if isinstance(thing, (Results, Collection)):
            results = thing.results if isinstance(thing, Collection) else thing
            self._same(results._realm)
            return (results if is_alone else results.snapshot()).delete
        single = self._own(thing)
        if not is_alone and not single.exists():
            raise ObjectDeletedError(f"This {type(thing).__name__} has been deleted.")
        return single.delete

    def delete_all(self, *classes: ObjectType | str) -> None:
        """Deletes all objects of classes, one class after the other; of all classes together
        without arguments.
        """
        for key in [self._binding(cls).key for cls in classes] or [TOFT_ALL_CLASSES]:
            self._changing()
            library().toft_realm_delete_all(self._address, key)

    @overload
    def object(self, cls: type[T], primary_key: Any) -> T | None: ...
    @overload
    def object(self, cls: ObjectType | str, primary_key: Any) -> Any: ...
    def object(self, cls: ObjectType | str, primary_key: Any) -> Any:
        """The object with this primary key, or None. In a class without one it is the object's own
        key, which columns and dictionaries have in its place.
        """
        self._freshen()
        binding = self._binding(cls)
        if binding.primary_key is None and type(primary_key) is int:
            is_key = -(2**63) <= primary_key < 2**63
            found = Single.following(binding, primary_key) if is_key else None
            return found and live_object(binding.cls, found)
        address = ctypes.c_void_p()
        with self._asking() as arguments:
            arguments.add(binding.stored_key(primary_key), self)
            library().toft_realm_find_object(
                self._address, binding.key, arguments.address, ctypes.byref(address)
            )
        return self._from_handle(binding, address.value) if address.value else None

    @overload
    def objects(self, cls: type[T]) -> Results[T]: ...
    @overload
    def objects(self, cls: ObjectType | str) -> Results[Any]: ...
    def objects(self, cls: ObjectType | str) -> Results[Any]:
        """All objects of a class, in the order of their creation."""
        self._freshen()
        address, binding = ctypes.c_void_p(), self._binding(cls)
        library().toft_realm_objects(self._address, binding.key, ctypes.byref(address))
        return Results(self, Handle(address.value, library().toft_results_release), binding)

    def alias(self, cls: ObjectType | str, name: str, key_path: str | None) -> None:
        """Gives a key path a name in the queries on a class in this realm: after
        `realm.alias(Person, "chief", "boss.name")`, `where("chief == 'Ann'")` is possible. Nothing
        is stored; None removes the alias. A property of the same name comes first.
        """
        text, memory = borrowed(name)
        path, path_memory = borrowed(key_path or "")
        key = self._binding(cls).key
        library().toft_realm_set_alias(self._address, key, text, path)
        del memory, path_memory

    def freeze(self) -> Realm:
        """The realm as it is now, for ever and on any thread; in a write transaction, as it was
        before. Any number of threads may use the frozen realm, and what is got from it, at the same
        time. It never moves and can't be written or observed. It keeps its version from being
        reused until it is closed, as `with realm.freeze() as frozen:` does, or dropped, and so does
        each thing that was got from it. `resolve` takes objects and results from one to the other.
        """
        address = ctypes.c_void_p()
        library().toft_realm_freeze(self._address, ctypes.byref(address))
        return _FrozenRealm(Handle(address.value, library().toft_realm_release), self)

    @property
    def is_frozen(self) -> bool:
        """Whether it shows one version for ever."""
        return False

    @overload
    def resolve(self, instance: T) -> T | None: ...
    @overload
    def resolve(self, instance: Results[E]) -> Results[E]: ...
    def resolve(self, instance: Any) -> Any:
        """This realm's view of an object of another realm of the same database, such as another
        thread's or a frozen one; None if it does not exist here. Or this realm's view of results
        that this thread may use.
        """
        if isinstance(instance, Results):
            return self._resolve_results(instance)
        rows = live(instance)
        if rows.realm._path != self._path:
            raise WrongRealmError(f"The object belongs to another database: {rows.realm._path}")
        self._freshen()
        binding = self._binding_of_key(rows.binding.key)
        single = Single.following(binding, rows.key(instance._row))
        return live_object(binding.cls, single) if single else None

    def _resolve_results(self, results: Results[Any]) -> Results[Any]:
        self._freshen()
        made, binding = ctypes.c_void_p(), results._binding
        library().toft_results_resolve(results._handle.address, self._address, ctypes.byref(made))
        handle = Handle(made.value, library().toft_results_release)
        here = binding and self._binding_of_key(binding.key)
        return Results(self, handle, here, results._of)

    @property
    def classes(self) -> dict[str, type[Object]]:
        """The classes of this realm by name."""
        return self._bindings.classes

    # ----------------------------------------------------------------------------------------------
    # Observation

    def observe(self, callback: Callback | None = None) -> Observation:
        """Tells of each commit, of any process, its own too.

        Like the `observe` of results, lists and objects it takes a callback, which `wait`,
        `dispatch`, `refresh` and `write` call on this thread. Without one it returns the changes
        for `async for changes in realm.observe():`, under asyncio, without a thread.

        This callback is called by the realm's own commits too. An exception of a callback is raised
        by the call that called it: by `wait`, `dispatch` and `refresh`; by the beginning of a write
        transaction, which is then cancelled; by a commit, which has then been done.
        """
        return Observation(self, "toft_realm_observe", self._handle, callback)

    def fileno(self) -> int:
        """A descriptor that is readable while `dispatch` has something to do, for any event loop.

        It belongs to the realm.
        """
        descriptor = ctypes.c_int()
        library().toft_realm_descriptor(self._address, ctypes.byref(descriptor))
        return descriptor.value

    def dispatch(self) -> int:
        """Moves to what has been committed meanwhile and calls the observers that are due.

        Does not wait. Returns how many it called.
        """
        calls = ctypes.c_size_t()
        self._move("toft_realm_dispatch", ctypes.byref(calls))
        return calls.value

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for a commit of any thread or process, moves to it and calls the observers that are
        due. Returns False when `timeout` seconds went by without one.
        """
        if self._own_observation is not None and self._own_observation._is_over:
            self.refresh()  # what has ended it is told: the classes are others now, for example
        if self._own_observation is None or self._own_observation._is_over:
            self._own_observation = Observation(
                self, "toft_realm_observe", self._handle, _nothing, steadies=False
            )
        deadline = Deadline(timeout)
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        while True:
            left = deadline.left
            is_ready = poll.poll(None if left is None else min(left * 1000, _LONGEST_POLL))
            if is_ready and self.dispatch():
                return True
            if left == 0:
                return False

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Lets asyncio's running loop dispatch this realm inside the block, so that callbacks are
        called too. `async for` does it itself.
        """
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

    # ----------------------------------------------------------------------------------------------
    # Check and info

    @property
    def info(self) -> Info:
        """Facts about the database."""
        info = toft_database_info()
        info.size = ctypes.sizeof(info)
        library().toft_realm_info(self._address, ctypes.byref(info))
        return Info(*(getattr(info, name) for name in Info._fields))

    @property
    def pins(self) -> tuple[Pin, ...]:
        """The versions that are read, oldest first, each once for each process: what makes a file
        grow.
        """
        count = ctypes.c_size_t()
        library().toft_realm_pins(self._address, None, 0, ctypes.byref(count))
        room = (toft_version_pin * (count.value + 8))()
        library().toft_realm_pins(self._address, room, len(room), ctypes.byref(count))
        return tuple(
            Pin(
                each.version,
                each.process_id or None,
                each.held_size,
                None if each.age < 0 else each.age / 1000,
            )
            for each in room[: min(count.value, len(room))]
        )

    def compact_step(self, byte_count: int = 1 << 20) -> CompactionStep:
        """Gives the free space of the file back to the system in small steps, while others use it:
        `while realm.compact_step().has_more: pass` does all.

        A step moves at most `byte_count` bytes, but at least 256 KiB and one extent, from the end
        of the file to free space before them, and cuts off the pages that the step before has
        emptied, unless somebody still reads a version that needs them; 0: it only cuts off. If
        nobody reads an earlier version, new entries of an index move to their places first, if it
        has gained a sixteenth. It is a write transaction that changes no object: it waits for other
        writers
        as `begin_write` does and holds them up, readers and observers it leaves alone, and a crash
        loses nothing. The realm goes to the latest version before and after it. A frozen realm
        raises `ReadOnlyError`.
        """
        byte_count = whole_number("A number of bytes", byte_count)
        if not 0 <= byte_count < 2**64:
            raise InvalidArgumentError(
                f"A step moves 0 to 2**64 - 1 bytes, not {values.shown(byte_count)}."
            )
        step = toft_compaction_step()
        step.size = ctypes.sizeof(step)
        wait_in_moments(
            lambda _: self._move("toft_realm_compact_step", byte_count, ctypes.byref(step)),
            self._timeout(None),
            lambda: self._interruptions,
        )
        return CompactionStep(
            step.moved_size, step.size_before, step.size_after, step.held_size, bool(step.has_more)
        )

    def write_copy(
        self, path: str | os.PathLike[str], *, encryption_key: bytes | None = None
    ) -> None:
        """Writes the realm's version to a new file, without free space, while others write:
        `refresh` moves to the newest one before.

        The copy has been read back and checked, and is durable, when this returns; after an error,
        or a crash, there is no such file. FileExistsError: there is something at `path`. In a write
        transaction it is an AlreadyInTransactionError. It takes as long as reading the file.

        `encryption_key`: of the copy, 64 bytes; None: it is plain, whether the realm is encrypted
        or not.
        """
        name = os.fspath(path)
        given, memory = borrowed(os.fsencode(name))
        key = encryption_key_of(encryption_key)
        try:
            library().toft_realm_write_copy_with_key(self._address, given, key, len(key or b""))
        except FileError as error:
            error.filename = name
            raise
        del memory

    def check(self) -> CheckReport:
        """Reads and checks everything in the realm's version.

        Damage that it finds is reported, not raised.
        """
        report, size = toft_check_report(), ctypes.c_size_t()
        report.size = ctypes.sizeof(report)
        size.value = 1 << 16
        capacity = 0
        while size.value >= capacity:  # it was too short for all problems and the 0 behind them
            capacity = size.value + 1
            memory = ctypes.create_string_buffer(capacity)
            library().toft_realm_check(
                self._address, ctypes.byref(report), memory, capacity, ctypes.byref(size)
            )
        lines = memory.raw[: size.value].decode("utf-8", "replace").splitlines()
        return CheckReport(
            tuple(lines) if report.problem_count else (), report.page_count, report.object_count
        )

    # ----------------------------------------------------------------------------------------------
    # Beneath

    def _arguments(self) -> values.Arguments:
        """Memory for the values of one call.

        Each call takes its own, so that nested calls and other threads do no harm.
        """
        try:
            return self._spare_arguments.pop()
        except IndexError:
            return values.Arguments(spares=self._spare_arguments)

    def _savepoint(self) -> Savepoint:
        """A block that is done as a whole or not at all."""
        return Savepoint(self)

    def _add_led(self, instance: Object) -> None:
        """Adds an object that values lead to."""
        Adding(self, toft_update_policy.ERROR).add(instance)

    def _asking(self) -> values.Arguments:
        """Arguments for a call that must not add the objects in them."""
        arguments = self._arguments()
        arguments.asks = True
        return arguments

    def _changing(self) -> None:
        """To be called before anything that writes or moves the realm."""
        if self._cursors:
            cursors = [reference() for reference in self._cursors]
            self._cursors.clear()
            for cursor in cursors:
                if cursor is not None:
                    cursor.hold()
        self._now += 1

    def _move(self, function: str, *arguments: Any) -> None:
        """Calls what may call observers back, and raises what they raised."""
        self._changing()
        getattr(library(), function)(self._address, *arguments)
        self._now += 1
        self._raise()

    def _raise(self) -> None:
        if self._raised:
            raised, self._raised = self._raised, []
            for error, next_error in zip(raised, raised[1:]):
                error.__context__ = next_error
            raise raised[0]

    def _own(self, instance: Object) -> Single:
        rows = live(instance)
        self._same(rows.realm)
        return rows.single(instance)

    def _same(self, other: Realm) -> None:
        if other is not self:
            raise WrongRealmError("This belongs to another realm.")

    def _from_handle(self, binding: Binding, address: int) -> Object:
        handle = Handle(address, library().toft_object_release)
        link = toft_link()
        library().toft_object_link(address, ctypes.byref(link))
        return live_object(binding.cls, Single(binding, link.object_key, handle))

    def _keep(self, single: Single, handle: Handle) -> Handle:
        """Gives an object its handle, unless another thread has; returns the one that it has."""
        single._handle = handle
        return handle

    def _linked(self, object_key: int, class_key: int) -> Object:
        try:
            binding = self._bindings[class_key]
        except KeyError:  # a mixed value leads to any class of the file
            binding = self._binding_of_key(class_key)
        return live_object(binding.cls, Single(binding, object_key))

    def _collection(self, owner: Single, each: BoundProperty) -> Any:
        """A list, a set or a dictionary, or the results of linking objects."""
        if each.container is not None:
            return _COLLECTIONS[each.container].of(self, owner, each)
        address = ctypes.c_void_p()
        library().toft_object_linking_objects(
            owner.handle().address, each.key, ctypes.byref(address)
        )
        binding = self._binding_of_key(each.target)
        return Results(self, Handle(address.value, library().toft_results_release), binding)

    def _nested(self, owner: Single, each: BoundProperty, kind: int) -> Any:
        """The list or dictionary that a mixed property holds."""
        return (List if kind == values.LIST else Dict).of(self, owner, each)

    def _embeds(self, owner: Single, each: BoundProperty, value: Any) -> bool:
        """Writes a property that owns what it links to, unless the library can by itself."""
        is_empty = each.container is not None and not value
        if is_empty or not is_new(value) or not self._owns(each):
            return False
        Adding(self, toft_update_policy.ERROR).embed(owner, each, value)
        return True

    def _owns(self, each: BoundProperty) -> bool:
        """Whether a property links to embedded objects."""
        return each.type == values.LINK and self._binding_of_key(each.target).is_embedded

    def _owning(self, binding: Binding) -> list[BoundProperty]:
        """The properties of a class that link to embedded objects."""
        if binding.owning is None:
            binding.owning = [each for each in binding.properties.values() if self._owns(each)]
        return binding.owning

    def _create(self, cls: ObjectType | str, policy: int, given: Mapping[str, Any]) -> Object:
        binding = self._binding(cls)
        try:
            single = Adding(self, policy).create(binding, given)
        except Error as error:
            # The inner frames do not help a caller.
            raise error.with_traceback(None) from error.__cause__
        return live_object(binding.cls, single)

    # The work of asyncio's loop for `attached`.

    def _start_reading(self, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = self.fileno()
        loop.add_reader(self._descriptor, self._on_readable)
        self._loops[loop] = 0

    def _on_readable(self) -> None:
        try:
            self._changing()
            library().toft_realm_dispatch(self._address, None)
        except Error:  # it would fail again at once, for ever
            for loop in [*self._loops]:
                self._stop_reading(loop)
            raise
        self._raise()

    def _stop_reading(self, loop: asyncio.AbstractEventLoop) -> None:
        del self._loops[loop]
        if not loop.is_closed():
            loop.remove_reader(self._descriptor)

    # Classes

    def _binding(self, cls: ObjectType | str) -> Binding:
        try:
            return self._bindings[cls]
        except (KeyError, TypeError):
            pass
        if not (isinstance(cls, type) and issubclass(cls, Object)):
            raise self._no_class(cls)
        if (known := self._bindings.find(cls.__name__)) is None:
            raise self._no_class(cls.__name__)
        if shape_of(cls) != shape_of(known.cls):
            raise NoSuchClassError(
                f"The class {cls.__name__} was declared again with other properties: open the file "
                f"again with it."
            )
        self._bindings.bind(known, cls)
        return known

    def _no_class(self, cls: Any) -> NoSuchClassError:
        hint = did_you_mean(cls, self.classes) if isinstance(cls, str) else ""
        return NoSuchClassError(f"The realm was opened without the class {cls!r:.80}.{hint}")

    def _binding_of_key(self, key: int) -> Binding:
        try:
            return self._bindings[key]
        except KeyError:
            raise NoSuchClassError(
                f"The realm was opened without the class with the key {key}."
            ) from None


class _FrozenRealm(Realm):
    """The realm of `Realm.freeze`. Threads share it, so nothing here counts changes or follows
    loops: there are no changes.
    """

    def __init__(self, handle: Handle, live: Realm) -> None:
        self._keeping = allocate_lock()
        classes = list(live.classes.values())
        super().__init__(handle, live.path, classes, live._write_timeout, False, False)

    @property
    def is_frozen(self) -> bool:
        return True

    def freeze(self) -> Realm:
        return self

    def close(self) -> None:
        """Releases the realm's pin of its version. Objects got from it can still be read, and pin
        the version too.
        """
        self._is_open = False
        self._handle = Handle(None, self._handle._release)
        self._address = None

    @property
    def _address(self) -> int | None:
        if self._given_address is None:
            raise ClosedError("The frozen realm has been closed.")
        return self._given_address

    @_address.setter
    def _address(self, address: int | None) -> None:
        self._given_address = address

    def _keep(self, single: Single, handle: Handle) -> Handle:
        with self._keeping:
            if single._handle is None:
                single._handle = handle
            return single._handle

    def _freshen(self) -> None:
        pass

    def _changing(self) -> None:
        pass

    def _move(self, function: str, *arguments: Any) -> None:
        getattr(library(), function)(self._address, *arguments)


def _deletable(things: Iterable[Any]) -> Iterator[Object | Results[Any] | Collection[Any]]:
    """The things of `Realm.delete`, out of the iterables that they may be in."""
    for thing in things:
        if isinstance(thing, (Object, Results, Collection)):
            yield thing
        elif isinstance(thing, Iterable) and not isinstance(thing, (str, bytes)):
            yield from _deletable(list(thing))
        else:
            raise TypeMismatchError(f"Objects are due to be deleted, not {thing!r:.80}")


def _policy(update: Update | None) -> int:
    try:
        return _POLICIES[update]
    except (KeyError, TypeError):
        raise InvalidArgumentError(f'update is "all" or "modified", not {update!r}.') from None


class _AnyThread:
    """Equal to the number of every thread: of a realm that is not confined to one."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def _nothing(_: Changes) -> None:
    """The observer of `wait`, which only wants the descriptor to become readable."""


_realms: weakref.WeakSet[Realm] = weakref.WeakSet()


def _after_fork() -> None:
    """In the child, nothing that was read before may be given from memory:

    the library must be asked, and refuses.
    """
    for realm in list(_realms):
        realm._now += 1


os.register_at_fork(after_in_child=_after_fork)
