"""Realms: transactions, and everything that begins at a realm."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _values as values
from ._classes import Classes
from ._dispatching import Dispatching
from ._ffi import (
    TOFT_ALL_CLASSES,
    toft_check_report,
    toft_compaction_step,
    toft_database_info,
    toft_update_policy,
    toft_version_pin,
)
from ._lib import Handle, borrowed, encryption_key_of, library
from ._position import FrozenPosition, Position
from ._writing import Writing
from .adding import Adding
from .arguments import LinesToRead, Model, properties_given, whole_number
from .bulk import Rows, insert
from .collection import Collection
from .errors import (
    DeletionDeniedError,
    Error,
    FileError,
    InvalidArgumentError,
    ObjectDeletedError,
    TypeMismatchError,
    UsageError,
    WrongRealmError,
)
from .expressions import Expression, unique_names
from .objects import Object, ObjectType, find, live, live_object
from .observe import Callback, Observation
from .query import Results
from .records import Record
from .rows import Binding, Single
from .session import Session
from .transactions import Durability, Write, wait_in_moments

if TYPE_CHECKING:
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

    __slots__ = ("__weakref__", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session

    # ----------------------------------------------------------------------------------------------
    # Opening, closing

    @property
    def path(self) -> str:
        """The file; ":name" for a database without one."""
        return self._session.position.path

    @property
    def is_open(self) -> bool:
        """Whether the realm has not been closed."""
        return self._session.position.is_open

    def close(self) -> None:
        """Closes the realm now: an open write transaction is cancelled, its observations end, and
        everything got from it is a ClosedError. Closing twice does nothing.

        The last realm of the process that is closed makes every commit durable. It raises
        CommitOutcomeUnknownError when deferred transactions could not be made durable,
        PoisonedError when a sync of the file had failed before, and another FileError when all are
        durable but the next opening has to recover the file. The realm is closed all the same. A
        realm that is only dropped does the same and reports no failure.
        """
        if not self.is_open:
            return
        try:
            self._session.position.close()
        except UsageError:  # another thread's, or a forked child
            raise
        except Error:
            self._session.forget()
            raise
        self._session.forget()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the realm. If that fails, an exception that left the block becomes the context of
        the failure, as with Python's files.
        """
        self.close()

    def __repr__(self) -> str:
        return f"<Realm {self.path}{'' if self.is_open else ', closed'}>"

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

        A block inside another one (of the same task or, outside of tasks, of the same thread) is a
        savepoint: an exception that leaves it takes back what was done in it, and the transaction
        goes on if the exception is caught. Its changes are committed with those of the outer block,
        whose durability and timeout hold. `commit` and `cancel` end the whole transaction, wherever
        they are called.
        """
        return Write(self._session, durability, timeout)

    def begin_write(self, timeout: float | None = None) -> None:
        """Begins a write transaction:

        waits for other writers and moves to the latest version. `write` is the better way.
        `timeout`: how many seconds to wait, if not as long as the realm's `write_timeout` says.
        Signals are handled during the wait, so Ctrl-C ends it; so does `interrupt`.
        """
        self._session.writing.begin_in_moments(timeout)

    def interrupt(self) -> None:
        """Ends the wait for other writers (a write, `flush`) or the query that is under way in this
        realm, with an InterruptedError. Without one it does nothing. Any thread.
        """
        self._session.writing.interrupt()

    def commit(self, *, durability: Durability = "immediate") -> int:
        """Commits: when it returns, the transaction is on disk, or will be as the `durability`
        says: see `write`. Returns its version.

        It calls the observers of the realm. Their exceptions are raised once the transaction is
        committed.
        """
        version = self._session.writing.commit(durability)
        self._session.dispatching.raise_held()
        return version

    def flush(self, timeout: float | None = None) -> None:
        """Makes every commit so far durable, of any realm and any process, and returns then; at
        once when all are. Waits for other writers as `begin_write` does.
        """
        self._session.writing.flush(timeout)

    def cancel(self) -> None:
        """Cancels: all is as it was at the beginning, and objects made since are deleted."""
        self._session.writing.cancel()

    @property
    def is_writing(self) -> bool:
        """Whether a write transaction of this realm is open."""
        return self._session.writing.is_writing

    @property
    def version(self) -> int:
        """The realm's version. It grows with each commit of any process."""
        version = ctypes.c_uint64()
        library().toft_realm_version(self._session.position.address, ctypes.byref(version))
        return version.value

    def refresh(self) -> bool:
        """Moves to the latest version and calls the observers that are due.

        Returns whether it moved.
        """
        moved = ctypes.c_bool()
        self._session.dispatching.move("toft_realm_refresh", ctypes.byref(moved))
        return moved.value

    @contextmanager
    def read(self) -> Iterator[Realm]:
        """A block in which the realm stays at one version, unless it is moved (`refresh`, a write
        transaction): `with realm.read():`. It begins at the latest one.
        """
        position, block = self._session.position, object()
        position.freshen()
        position.steady.add(block)
        try:
            yield self
        finally:
            position.steady.discard(block)

    # ----------------------------------------------------------------------------------------------
    # Objects

    def add(self, instance: T, update: Update | None = None) -> T:
        """Adds an object to the database, and with it those that it links to and that are in no
        database yet. It is live from then on. `update`: what to do when its primary key exists: set
        "all" properties, or those that are "modified"; None: an error. All or nothing: when it
        fails, the objects that it has created are deleted, and existing ones are restored; an
        embedded object that was replaced is then a new one with the same values.
        """
        Adding(self._session, _policy(update)).add(instance)
        return instance

    @overload
    def create(
        self, cls: type[T], values: Mapping[str, Any] | Model | None = None, /, **properties: Any
    ) -> T: ...
    @overload
    def create(
        self,
        cls: ObjectType | str,
        values: Mapping[str, Any] | Model | None = None,
        /,
        **properties: Any,
    ) -> Any: ...
    def create(
        self, cls: Any, values: Mapping[str, Any] | Model | None = None, /, **properties: Any
    ) -> Any:
        """Creates an object:

        `realm.create(Dog, name="Rex", age=3)`. The properties can also come as a mapping, or as a
        model of pydantic, all of whose fields are properties.
        """
        given = properties_given(values, properties)
        return self._create(cls, toft_update_policy.ERROR, given)

    @overload
    def upsert(
        self,
        cls: type[T],
        values: Mapping[str, Any] | Model | None = None,
        /,
        *,
        update: Update = "all",
        by: str | Expression[Any] | Sequence[str | Expression[Any]] | None = None,
        **properties: Any,
    ) -> T: ...
    @overload
    def upsert(
        self,
        cls: ObjectType | str,
        values: Mapping[str, Any] | Model | None = None,
        /,
        *,
        update: Update = "all",
        by: str | Expression[Any] | Sequence[str | Expression[Any]] | None = None,
        **properties: Any,
    ) -> Any: ...
    def upsert(
        self,
        cls: Any,
        values: Mapping[str, Any] | Model | None = None,
        /,
        *,
        update: Update = "all",
        by: str | Expression[Any] | Sequence[str | Expression[Any]] | None = None,
        **properties: Any,
    ) -> Any:
        """Creates an object or, when its primary key exists, updates it:

        sets "all" of the properties given, or those that are "modified". All or nothing is set; an
        embedded object that was replaced when a later value failed is a new one with the same
        values.

        A model of pydantic gives the fields that it was given, so that a PATCH changes these alone.

        `by`: a unique property, or those that are unique together, by which the object is found in
        place of its primary key: `realm.upsert(User, by="email", email="a@b.c", name="Ann")`.
        Without a value there (None) it is a new object.
        """
        given, policy = properties_given(values, properties, updates=True), _policy(update)
        if by is None:
            return self._create(cls, policy, given)
        return self._upsert_by(self._binding(cls), by, policy, given)

    def _upsert_by(
        self,
        binding: Binding,
        by: str | Expression[Any] | Sequence[str | Expression[Any]],
        policy: int,
        given: Mapping[str, Any],
    ) -> Object:
        conditions = [
            Expression(binding.cls, (name,)) == given[name]
            for name in unique_names(binding.cls, by, given)
            if given[name] is not None
        ]
        names = [by] if isinstance(by, (str, Expression)) else by
        found = None
        if len(conditions) == len(names):
            found = self.objects(binding.cls).where(*conditions).first()
        if found is None:
            return self._create(binding.cls, toft_update_policy.ERROR, given)
        if (key := binding.primary_key) is None:
            Adding(self._session, policy).update(live(found).single(found), given)
            return found
        own = getattr(found, key)
        if given.get(key, own) != own:
            raise InvalidArgumentError(
                f"The {binding.cls.__name__} that is found has the {key} {own!r:.80}, not "
                f"{given[key]!r:.80}: leave it out, or change the other one first."
            )
        return self._create(binding.cls, policy, {**given, key: own})

    def insert_many(
        self,
        cls: ObjectType | str,
        rows: Rows | Mapping[str, Iterable[Any]] | Any,
        *,
        update: Update | None = None,
    ) -> int:
        """Creates an object from each row, all or nothing, and returns the number of rows.

        `rows`: any iterable of mappings, of objects or of models of pydantic; columns by name, as
        `results.columns()` returns; or a DataFrame of pandas or polars, whose missing values are
        None. A property that a row lacks gets its class's default. `update`: as in `add`; rows that
        update stay when a later one fails, so cancel the transaction then.
        """
        return insert(self._session, self._binding(cls), _policy(update), rows)

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

        return read_json(self._session, self._binding(cls), text, _policy(update), strict=strict)

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

        return read_lines(self._session, self._binding(cls), file, _policy(update), progress)

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

        return read_csv(self._session, self._binding(cls), file, _policy(update), progress)

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
        with self._session.writing.savepoint():
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
            self._same(results._session)
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
            self._session.position.changing()
            library().toft_realm_delete_all(self._session.position.address, key)

    @overload
    def object(self, cls: type[T], primary_key: Any) -> T | None: ...
    @overload
    def object(self, cls: ObjectType | str, primary_key: Any) -> Any: ...
    def object(self, cls: ObjectType | str, primary_key: Any) -> Any:
        """The object with this primary key, or None. In a class without one it is the object's own
        key, which columns and dictionaries have in its place.
        """
        self._session.position.freshen()
        return find(self._session, self._binding(cls), primary_key)

    @overload
    def objects(self, cls: type[T]) -> Results[T]: ...
    @overload
    def objects(self, cls: ObjectType | str) -> Results[Any]: ...
    def objects(self, cls: ObjectType | str) -> Results[Any]:
        """All objects of a class, in the order of their creation."""
        position, address, binding = self._session.position, ctypes.c_void_p(), self._binding(cls)
        position.freshen()
        library().toft_realm_objects(position.address, binding.key, ctypes.byref(address))
        return Results(
            self._session, Handle(address.value, library().toft_results_release), binding
        )

    def alias(self, cls: ObjectType | str, name: str, key_path: str | None) -> None:
        """Gives a key path a name in the queries on a class in this realm: after
        `realm.alias(Person, "chief", "boss.name")`, `where("chief == 'Ann'")` is possible. Nothing
        is stored; None removes the alias. A property of the same name comes first.
        """
        text, memory = borrowed(name)
        path, path_memory = borrowed(key_path or "")
        key = self._binding(cls).key
        library().toft_realm_set_alias(self._session.position.address, key, text, path)
        del memory, path_memory

    def freeze(self) -> Realm:
        """The realm as it is now, for ever and on any thread; in a write transaction, as it was
        before. Any number of threads may use the frozen realm, and what is got from it, at the same
        time. It never moves and can't be written or observed. It keeps its version from being
        reused until it is closed, as `with realm.freeze() as frozen:` does, or dropped, and so does
        each thing that was got from it. `resolve` takes objects and results from one to the other.
        """
        if self.is_frozen:
            return self
        address = ctypes.c_void_p()
        library().toft_realm_freeze(self._session.position.address, ctypes.byref(address))
        handle = Handle(address.value, library().toft_realm_release)
        position, classes = FrozenPosition(handle, self.path), list(self.classes.values())
        return _session_at(position, classes, self._session.writing.timeout(None)).realm

    @property
    def is_frozen(self) -> bool:
        """Whether it shows one version for ever."""
        return self._session.position.is_frozen

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
        if rows.position.path != self.path:
            raise WrongRealmError(f"The object belongs to another database: {rows.position.path}")
        self._session.position.freshen()
        binding = self._session.classes.binding_of_key(rows.binding.key)
        single = Single.following(binding, rows.key(instance._row))
        return live_object(binding.cls, single) if single else None

    def _resolve_results(self, results: Results[Any]) -> Results[Any]:
        position, made, binding = self._session.position, ctypes.c_void_p(), results._binding
        position.freshen()
        library().toft_results_resolve(
            results._handle.address, position.address, ctypes.byref(made)
        )
        handle = Handle(made.value, library().toft_results_release)
        here = binding and self._session.classes.binding_of_key(binding.key)
        return Results(self._session, handle, here, results._of)

    @property
    def classes(self) -> dict[str, type[Object]]:
        """The classes of this realm by name."""
        return self._session.classes.bindings.classes

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
        handle = self._session.position.handle
        return Observation(self._session, "toft_realm_observe", handle, callback)

    def fileno(self) -> int:
        """A descriptor that is readable while `dispatch` has something to do, for any event loop.

        It belongs to the realm.
        """
        return self._session.dispatching.descriptor()

    def dispatch(self) -> int:
        """Moves to what has been committed meanwhile and calls the observers that are due.

        Does not wait. Returns how many it called.
        """
        return self._session.dispatching.dispatch()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for a commit of any thread or process, moves to it and calls the observers that are
        due. Returns False when `timeout` seconds went by without one.
        """
        return self._session.dispatching.wait(self._session, timeout)

    def attached(self) -> AbstractContextManager[None]:
        """Lets asyncio's running loop dispatch this realm inside the block, so that callbacks are
        called too. `async for` does it itself.
        """
        return self._session.dispatching.attached()

    # ----------------------------------------------------------------------------------------------
    # Check and info

    @property
    def info(self) -> Info:
        """Facts about the database."""
        info = toft_database_info()
        info.size = ctypes.sizeof(info)
        library().toft_realm_info(self._session.position.address, ctypes.byref(info))
        return Info(*(getattr(info, name) for name in Info._fields))

    @property
    def pins(self) -> tuple[Pin, ...]:
        """The versions that are read, oldest first, each once for each process: what makes a file
        grow.
        """
        count, address = ctypes.c_size_t(), self._session.position.address
        library().toft_realm_pins(address, None, 0, ctypes.byref(count))
        room = (toft_version_pin * (count.value + 8))()
        library().toft_realm_pins(
            self._session.position.address, room, len(room), ctypes.byref(count)
        )
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
        step, writing = toft_compaction_step(), self._session.writing
        step.size = ctypes.sizeof(step)
        wait_in_moments(
            lambda _: self._session.dispatching.move(
                "toft_realm_compact_step", byte_count, ctypes.byref(step)
            ),
            writing.timeout(None),
            lambda: writing.interruptions,
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
            library().toft_realm_write_copy_with_key(
                self._session.position.address, given, key, len(key or b"")
            )
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
                self._session.position.address,
                ctypes.byref(report),
                memory,
                capacity,
                ctypes.byref(size),
            )
        lines = memory.raw[: size.value].decode("utf-8", "replace").splitlines()
        return CheckReport(
            tuple(lines) if report.problem_count else (), report.page_count, report.object_count
        )

    # ----------------------------------------------------------------------------------------------
    # Beneath

    def _own(self, instance: Object) -> Single:
        rows = live(instance)
        self._same(rows.session)
        return rows.single(instance)

    def _same(self, other: Session) -> None:
        if other is not self._session:
            raise WrongRealmError("This belongs to another realm.")

    def _create(self, cls: ObjectType | str, policy: int, given: Mapping[str, Any]) -> Object:
        binding = self._binding(cls)
        try:
            single = Adding(self._session, policy).create(binding, given)
        except Error as error:
            # The inner frames do not help a caller.
            raise error.with_traceback(None) from error.__cause__
        return live_object(binding.cls, single)

    def _binding(self, cls: ObjectType | str) -> Binding:
        return self._session.classes.binding(cls)


def session_of(
    handle: Handle,
    path: str,
    declared: list[type[Object]] | None,
    write_timeout: float | None,
    autorefresh: bool,
    is_confined: bool,
) -> Session:
    """The session of a realm of the library's. `declared`: None: the classes that the file has."""
    position = Position(handle, path, autorefresh, is_confined)
    return _session_at(position, declared, write_timeout)


def _session_at(
    position: Position, declared: list[type[Object]] | None, write_timeout: float | None
) -> Session:
    dispatching = Dispatching(position)
    writing = Writing(position, dispatching, write_timeout)
    session = Session(position, writing, dispatching, Realm)
    session.classes = Classes(session, declared)
    return session


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
