"""Opening databases."""

from __future__ import annotations

import ctypes
import os
import typing
import uuid
from _thread import _local
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from . import _values as values
from ._ffi import (
    toft_compact_callback,
    toft_compaction,
    toft_configuration,
    toft_confinement,
    toft_default_callback,
    toft_import_realm_options,
    toft_import_realm_report,
    toft_mode,
    toft_note_callback,
    toft_open_flags,
    toft_progress_callback,
    toft_salvage_callback,
    toft_salvage_class,
    toft_salvage_flags,
    toft_salvage_options,
    toft_salvage_property,
    toft_salvage_report,
    toft_schema_change,
    toft_schema_change_callback,
)
from ._ffi import toft_schema_change_kind as SchemaChangeKind
from ._lib import Handle, borrowed, encryption_key_of, library, text_of
from .arguments import require_function, whole_number
from .database import Realm, session_of
from .errors import Error, FileError, InvalidArgumentError
from .migration import Migration, callback_of, initializer_of
from .objects import Object, ObjectType
from .records import Record
from .schema import properties_of, schema_handle
from .transactions import wait_in_moments

if TYPE_CHECKING:
    import asyncio
    import threading

    from .session import Session

Mode = Literal["create", "existing", "read_only"]
Confinement = Literal["thread", "caller"]

_MODES = {
    "create": toft_mode.READ_WRITE,
    "existing": toft_mode.EXISTING,
    "read_only": toft_mode.READ_ONLY,
}
_CONFINEMENTS = {
    "thread": toft_confinement.THREAD,
    "caller": toft_confinement.CALLER,
}


def open(
    path: str | os.PathLike[str],
    classes: Iterable[ObjectType] | ObjectType | None = None,
    *,
    mode: Mode = "create",
    write_timeout: float | None = None,
    mapped: bool = True,
    autorefresh: bool = True,
    confinement: Confinement = "thread",
    schema_version: int | None = None,
    migration: Callable[[Migration], object] | None = None,
    progress: Callable[[int, int], object] | None = None,
    seed: str | os.PathLike[str] | None = None,
    compact_on_open: Callable[[int, int], bool] | None = None,
    maximum_versions: int | None = None,
    delete_if_migration_needed: bool = False,
    encryption_key: bytes | None = None,
    initialize: Callable[[Realm], object] | None = None,
    minimum_version: int | None = None,
    automatic_backlink_handling: bool = False,
    exclusive: bool = False,
) -> Realm:
    """Opens a database file on this thread: `with toft.open("dogs.toft", [Dog, Person]) as realm:`.

    `classes`: the classes to store, one or several; new classes, properties and indexes are added
    to the file. None: the file's classes, as `realm.classes` returns them. `mode`: "create" the
    file when it is missing or empty, it must be "existing", or it is "read_only": classes that it
    lacks have no objects then, and properties that it lacks are 0, empty or None. `write_timeout`:
    seconds for which a write waits for other writers; None: without a limit, 0: not at all.
    `mapped`: False reads pages into memory of the process instead of mapping the file, so that a
    failing device or a file that others truncate is an exception and never the signal SIGBUS; it
    costs a copy of what is read.

    `autorefresh`: outside of write transactions the realm moves to the latest version whenever it
    is asked for objects or results are counted, summed or gone through, so that a program that runs
    for long sees what others commit and keeps no old version alive. It costs a microsecond each
    time. It does not move inside a loop over results, inside `with realm.read():`, while something
    is observed (then `dispatch`, `wait` and asyncio's loop move it), or when a property, a list or
    an index is read. False: it moves only with `refresh` and with write transactions.

    `schema_version`: counted by the program for its classes; a file that has seen a higher one is a
    SchemaVersionTooLowError, so that an old program leaves the files of a new one alone. None or 0:
    that of the file; without classes there is no other. `realm.info.schema_version` has it.

    `migration`: called if the file has classes and a lower version than `schema_version`, to
    rename, delete and copy: see `toft.Migration`. Without one, a property of another type is a
    SchemaMismatchError. An exception of it leaves the file as it was and is raised by this call.

    `automatic_backlink_handling`: if a migration makes a class embedded, its objects without an
    owner are deleted, and those with several are copied, for each further one. False: such objects
    are a SchemaMismatchError, and the migration must delete, copy or link them.

    `confinement`: with "thread", a use by another thread is a WrongThreadError. With "caller", any
    thread may use the realm, one at a time, and you see to that.

    `progress`: called with numbers of objects, done and in all, while an index is built that the
    file lacks, or objects get the defaults of new properties. An exception of it ends the opening,
    and the file is as it was; so does Ctrl-C.

    `seed`: a database, which need not be writable; a missing file is made a copy of it.
    `compact_on_open`: decides, if the file exists and no process has it open, whether to compact
    it: `lambda total, used: used < total / 2`, in bytes. An exception of it is raised by this call,
    and nothing is compacted. `maximum_versions`: the most versions that may exist when a write
    begins: the newest, and older ones that some process still reads, which let the file grow. With
    more, the write is a TooManyReadersError. `delete_if_migration_needed`: a file whose classes do
    not fit, which would be a SchemaMismatchError, is deleted and created anew; if it is open
    elsewhere it is an AlreadyOpenError.

    Objects that the file has already get the defaults of new properties, each by itself if there is
    a `default_factory`; links and collections stay empty.

    `encryption_key`: 64 bytes, which a missing file is encrypted with, and a file that was is read
    with: pages are then read as with `mapped=False`. Another key is a WrongKeyError, a missing one
    a KeyRequiredError, one for a plain file a NotEncryptedError. A seed has the same key.
    `os.urandom(64)` makes one; without the key the data is lost.

    `initialize`: called if the database is new, with a realm in a write transaction: its changes
    are committed together with the classes, once in the life of the database, whichever of several
    processes opens it first. `initialize=lambda realm: realm.add(Country("Norway"))`. An exception
    of it leaves the database without classes and is raised by this call; the next opening calls
    again. A copy of `seed` is not new.

    `minimum_version`: a version that the program has seen the file at (`realm.version`) and has
    kept elsewhere: an older file that somebody has put in its place is a VersionTooLowError, and is
    not written to; one that is missing is a FileNotFoundError. Only of an encrypted file can nobody
    without the key forge the version. A deferred commit's counts once the commit is durable
    (`realm.flush`). `toft.compact` and `toft.change_key` know no such limit: open the file before.

    `exclusive`: this process has the file for itself alone, so that it can be on any file system:
    one of FUSE (AppImages, NTFS sticks, the containers of users), of a network, of a virtual
    machine, on which processes can't share a database, and which is an UnsupportedError otherwise.
    If there are file locks, another process that has it open, or opens it, gets an
    IncompatibleProcessError; otherwise the program vouches for it. No lock file is made. With
    "read_only" nobody may write meanwhile. A file on a read-only mount can be read without it.
    """
    path = os.fspath(path)
    if path == ":memory:":
        raise InvalidArgumentError("A database in memory is opened by toft.open_in_memory().")
    return _open(
        path,
        "",
        classes,
        mode,
        write_timeout,
        mapped,
        autorefresh,
        confinement,
        schema_version,
        migration,
        progress,
        None if seed is None else os.fspath(seed),
        compact_on_open,
        maximum_versions,
        delete_if_migration_needed,
        encryption_key,
        initialize,
        minimum_version,
        automatic_backlink_handling,
        exclusive,
    )


def open_in_memory(
    classes: Iterable[ObjectType] | ObjectType | None = None,
    *,
    name: str | None = None,
    write_timeout: float | None = None,
    autorefresh: bool = True,
    confinement: Confinement = "thread",
    initialize: Callable[[Realm], object] | None = None,
) -> Realm:
    """Opens a database without a file. Realms of the same name in this process share it; it is gone
    with the last of them. Without a name it is this realm's alone. The rest: see `open`.
    """
    name = name or f"toft-{uuid.uuid4()}"
    return _open(
        "",
        name,
        classes,
        "create",
        write_timeout,
        True,
        autorefresh,
        confinement,
        None,
        None,
        None,
        initialize=initialize,
    )


def _open(
    path: str,
    name: str,
    classes: Iterable[ObjectType] | ObjectType | None,
    mode: Mode,
    write_timeout: float | None,
    mapped: bool,
    autorefresh: bool,
    confinement: Confinement,
    schema_version: int | None,
    migration: Callable[[Migration], object] | None,
    progress: Callable[[int, int], object] | None,
    seed: str | None = None,
    compact_on_open: Callable[[int, int], bool] | None = None,
    maximum_versions: int | None = None,
    delete_if_migration_needed: bool = False,
    encryption_key: bytes | None = None,
    initialize: Callable[[Realm], object] | None = None,
    minimum_version: int | None = None,
    automatic_backlink_handling: bool = False,
    exclusive: bool = False,
) -> Realm:
    opening = _Opening(path, name, classes, mode, mapped, confinement, schema_version)
    opening.tell(progress)
    opening.ask(compact_on_open)
    opening.migrate(migration)
    opening.initialize(initialize)
    opening.decrypt(encryption_key)
    configuration = opening.configuration
    configuration.seed_path, opening.seed_memory = borrowed(os.fsencode(seed or ""))
    if maximum_versions is not None:
        maximum_versions = whole_number("maximum_versions", maximum_versions)
    if maximum_versions is not None and not 0 < maximum_versions < 2**64:
        raise InvalidArgumentError(
            f"At least one version is always there, not {values.shown(maximum_versions)}."
        )
    configuration.maximum_versions = maximum_versions or 0
    if minimum_version is not None:
        minimum_version = whole_number("minimum_version", minimum_version)
    if minimum_version is not None and not 0 < minimum_version < 2**64:
        raise InvalidArgumentError(
            f"The first version of a file is 1: {values.shown(minimum_version)} is not a version."
        )
    configuration.minimum_version = minimum_version or 0
    if delete_if_migration_needed:
        configuration.flags |= toft_open_flags.DELETE_IF_MIGRATION_NEEDED
    if automatic_backlink_handling:
        configuration.flags |= toft_open_flags.AUTOMATIC_BACKLINK_HANDLING
    if exclusive:
        configuration.flags |= toft_open_flags.EXCLUSIVE
    address = ctypes.c_void_p()
    failure = opening.attempt(
        lambda: library().toft_realm_open(ctypes.byref(configuration), ctypes.byref(address)),
        write_timeout,
    )
    if failure is not None:
        raise failure from None
    handle = Handle(address.value, library().toft_realm_release)
    if opening.raised:
        library().toft_realm_close(handle.address)
        raise opening.raised.pop().with_traceback(None) from None
    return session_of(
        handle, opening.shown, opening.declared, write_timeout, autorefresh, opening.is_confined
    ).realm


class _Opener(_local):
    """The thread that opens: for asyncio, with the word of a task that was cancelled."""

    is_cancelled: threading.Event | None = None

    def cancellations(self) -> int:
        return int(self.is_cancelled is not None and self.is_cancelled.is_set())


_opener = _Opener()


class _Ending:
    """How the callbacks of an opening end it. They hold this and not the opening, which holds them:
    what it borrows goes with it at once.
    """

    def __init__(self) -> None:
        self.raised: list[BaseException] = []
        self.stop = ctypes.c_uint32()

    def raise_later(self, error: BaseException) -> None:
        """Ends the opening with what a callback raised; also Ctrl-C, which Python sees to there."""
        self.raised.append(error)
        self.stop.value = 1


class _Opening:
    """A configuration with the memory that it borrows, and what its callbacks have raised."""

    def __init__(
        self,
        path: str,
        name: str,
        classes: Iterable[ObjectType] | ObjectType | None,
        mode: Mode,
        mapped: bool,
        confinement: Confinement,
        schema_version: int | None,
    ) -> None:
        self.shown = os.fsdecode(path) or f":{name}"
        self.declared = _declared(classes)
        self.is_confined = confinement == "thread"
        self._ending = _Ending()
        self.raised = self._ending.raised
        self._failed: list[BaseException] = []
        self._path = path
        self._schema = None if self.declared is None else schema_handle(self.declared)
        self.configuration = configuration = toft_configuration()
        configuration.size = ctypes.sizeof(configuration)
        configuration.path, self._path_memory = borrowed(os.fsencode(path))
        configuration.in_memory_name, self._name_memory = borrowed(name)
        configuration.mode = _chosen("mode", mode, _MODES)
        configuration.confinement = _chosen("confinement", confinement, _CONFINEMENTS)
        configuration.schema = self._schema.address if self._schema else None
        configuration.flags = toft_open_flags.MAPPED if mapped else toft_open_flags.BUFFERED
        configuration.flags |= toft_open_flags.WRITE_TIMEOUT
        if not isinstance(schema_version, int | None):
            raise InvalidArgumentError(f"A schema version is an int, not {schema_version!r:.80}.")
        if not 0 <= (schema_version or 0) < 2**64:
            raise InvalidArgumentError(
                f"A schema version has 64 bits without a sign: {values.shown(schema_version or 0)}"
            )
        configuration.schema_version = schema_version or 0
        configuration.interrupt = ctypes.addressof(self._ending.stop)
        self.seed_memory: Any = None
        self._give_defaults()

    def attempt(self, call: Callable[[], object], timeout: float | None) -> BaseException | None:
        """Calls the library until it does not have to wait any more. Returns the exception to
        raise: one of a callback comes first, and the inner frames do not help a caller.
        """

        def attempt(wait: int) -> None:
            self.configuration.write_timeout = wait
            call()

        try:
            wait_in_moments(attempt, timeout, _opener.cancellations)
        except Error as error:
            if self._failed:
                return self._failed.pop()
            if isinstance(error, FileError):
                error.filename = self._path
            return (self.raised.pop() if self.raised else error).with_traceback(None)
        return None

    def decrypt(self, key: bytes | None) -> None:
        address, size, self._key = _borrowed_key(key)
        self.configuration.encryption_key, self.configuration.encryption_key_size = address, size

    def tell(self, progress: Callable[[int, int], object] | None) -> None:
        require_function("progress", progress)
        ending = self._ending

        def tell(_: int | None, done: int, total: int) -> None:
            try:
                if progress is not None:
                    progress(done, total)
            except BaseException as error:
                ending.raise_later(error)

        self.configuration.progress = self._told = toft_progress_callback(tell)

    def ask(self, compact: Callable[[int, int], bool] | None) -> None:
        require_function("compact_on_open", compact)
        if compact is None:
            return
        ending = self._ending

        def ask(_: int | None, total: int, used: int) -> bool:
            try:
                return bool(compact(total, used))
            except BaseException as error:
                ending.raise_later(error)
                return False

        self.configuration.compact = self._asked = toft_compact_callback(ask)

    def migrate(self, migration: Callable[[Migration], object] | None) -> None:
        require_function("migration", migration)
        if migration is None:
            return
        if self.declared is None or not self.configuration.schema_version:
            raise InvalidArgumentError(
                "A migration needs the classes and the schema_version that it leads to."
            )
        self.configuration.migration = self._migrate = callback_of(
            migration, self.shown, self.declared, self.is_confined, self._failed
        )

    def initialize(self, initialize: Callable[[Realm], object] | None) -> None:
        require_function("initialize", initialize)
        if initialize is None:
            return
        if self.declared is None:
            raise InvalidArgumentError("A new database is filled with objects of given classes.")
        self.configuration.initialize = self._fill = initializer_of(
            initialize, self.shown, self.declared, self.is_confined, self._failed
        )

    def _give_defaults(self) -> None:
        """Gives objects that the file has the defaults of properties that are new to it."""
        defaults = {
            (cls.__name__, each.stored_name): each
            for cls in self.declared or ()
            for each in properties_of(cls).values()
            if each.must_be_given and each.container is None and each.type != values.LINK
        }
        if not defaults:
            return
        lent, ending = values.Arguments(1), self._ending

        def give(_: int | None, cls: Any, name: Any, out: int) -> bool:
            try:
                declared = defaults.get((text_of(cls), text_of(name)))
                if declared is None:
                    return False
                value = declared.default()
                if value is None and declared.field.default_factory is None:
                    return False  # nor does the class know one
                if value is not None and declared.conversion is not None:
                    value = declared.conversion.stored(value)
                lent.clear()
                lent.add(value, typing.cast("Session", None), declared.type)
                ctypes.memmove(out, lent.address, values.VALUE_SIZE)
                return True
            except BaseException as error:
                ending.raise_later(error)
                return False

        self.configuration.defaults = self._given = toft_default_callback(give)


class SchemaChange(Record):
    """A change that an opening makes to the classes of a file: see `dry_run`."""

    kind: SchemaChangeKind
    class_name: str
    """Afterwards; of a class that is removed, before."""
    property_name: str
    """Afterwards, as the file calls it; "" for a change of a class."""
    text: str
    """The change in words: "property 'Person.age' is int, was string"."""

    def __str__(self) -> str:
        return self.text


def dry_run(
    path: str | os.PathLike[str],
    classes: Iterable[ObjectType] | ObjectType,
    *,
    schema_version: int | None = None,
    migration: Callable[[Migration], object] | None = None,
    progress: Callable[[int, int], object] | None = None,
    write_timeout: float | None = None,
    mapped: bool = True,
    encryption_key: bytes | None = None,
    automatic_backlink_handling: bool = False,
) -> list[SchemaChange]:
    """The changes that `open` would make to the classes of an existing file, and the classes and
    properties that the program would not see as `classes` lack them, with the exceptions that it
    would raise: everything is done, the migration too, in a transaction that is rolled back. If
    something new may be a renamed old one, the text asks "Did you rename it?".

    The file stays as it was, though it may have grown. It takes as long as the opening.
    `encryption_key`: that of an encrypted file. `automatic_backlink_handling`: as in `open`.
    """
    opening = _Opening(os.fspath(path), "", classes, "existing", mapped, "thread", schema_version)
    opening.tell(progress)
    opening.migrate(migration)
    opening.decrypt(encryption_key)
    if automatic_backlink_handling:
        opening.configuration.flags |= toft_open_flags.AUTOMATIC_BACKLINK_HANDLING
    changes: list[SchemaChange] = []

    def note(_: int | None, address: int) -> None:
        change = toft_schema_change.from_address(address)
        changes.append(
            SchemaChange(
                SchemaChangeKind(change.kind),
                text_of(change.class_name),
                text_of(change.property_name),
                text_of(change.text),
            )
        )

    noted = toft_schema_change_callback(note)
    failure = opening.attempt(
        lambda: library().toft_realm_open_dry_run(ctypes.byref(opening.configuration), noted, None),
        write_timeout,
    )
    if failure is not None or opening.raised:
        raise (failure or opening.raised.pop().with_traceback(None)) from None
    return changes


async def open_async(
    path: str | os.PathLike[str],
    classes: Iterable[ObjectType] | ObjectType | None = None,
    *,
    migration: Callable[[Migration], object] | None = None,
    progress: Callable[[int, int], object] | None = None,
    compact_on_open: Callable[[int, int], bool] | None = None,
    **options: Any,
) -> Realm:
    """`open` for asyncio: what takes long or waits (a migration, indexes, defaults, compaction,
    other processes) happens on another thread, and other tasks run meanwhile. The realm then
    belongs to the thread of the loop.

    `migration`, `initialize`, `progress` and `compact_on_open` are called on that other thread. A
    cancelled task ends the opening while it waits for another writer, at the next progress, and
    after the migration; the file is then as it was. The options are those of `open`.
    """
    import asyncio
    from threading import Event

    require_function("migration", migration)
    require_function("progress", progress)
    is_cancelled = Event()
    declared = _declared(classes)

    def tell(done: int, total: int) -> None:
        check()
        if progress is not None:
            progress(done, total)

    def migrate(moving: Migration) -> None:
        if migration is not None:
            migration(moving)
        check()

    def check() -> None:
        if is_cancelled.is_set():
            raise asyncio.CancelledError

    def prepare() -> Realm:
        check()
        _opener.is_cancelled = is_cancelled
        try:
            return open(
                path,
                declared,
                migration=migration and migrate,
                progress=tell,
                compact_on_open=compact_on_open,
                **{**options, "confinement": "caller"},
            )
        finally:
            _opener.is_cancelled = None

    preparing = asyncio.get_running_loop().run_in_executor(None, prepare)
    try:
        prepared = await asyncio.shield(preparing)
    except asyncio.CancelledError:
        is_cancelled.set()
        preparing.add_done_callback(_close_prepared)
        raise
    with prepared:  # it keeps the file open until the loop's thread has it too
        options.pop("delete_if_migration_needed", None)
        return open(path, declared, **options)


def _close_prepared(preparing: asyncio.Future[Realm]) -> None:
    if not preparing.cancelled() and preparing.exception() is None:
        preparing.result().close()


def schema_version(path: str | os.PathLike[str], *, encryption_key: bytes | None = None) -> int:
    """The schema version of a file, which is only read and may be open elsewhere.
    `encryption_key`: that of an encrypted file.
    """
    version = ctypes.c_uint64()
    key = encryption_key_of(encryption_key)
    size = len(key or b"")
    _of_file(path, "toft_file_schema_version_with_key", key, size, ctypes.byref(version))
    return version.value


def delete_files(path: str | os.PathLike[str]) -> bool:
    """Deletes a database that nobody has open, in this process or another; else an
    AlreadyOpenError. Its lock file, which holds no data, stays. Returns whether there was a file.

    A damaged database is deleted too, and so is an empty file. Any other file is a
    NotADatabaseError, and stays; so does an encrypted database that has lost both of its first
    pages, which looks like another file.
    """
    was_there = ctypes.c_bool()
    _of_file(path, "toft_file_delete", ctypes.byref(was_there))
    return was_there.value


def _of_file(path: str | os.PathLike[str], function: str, *arguments: Any) -> None:
    name = os.fspath(path)
    given, memory = borrowed(os.fsencode(name))
    try:
        getattr(library(), function)(given, *arguments)
    except FileError as error:
        error.filename = name
        raise
    del memory


class Compaction(Record):
    """The sizes of a file that was compacted, in bytes."""

    size_before: int
    size_after: int


def compact(
    path: str | os.PathLike[str], *, encryption_key: bytes | None = None
) -> Compaction | None:
    """Returns the free space of a file to the system, if no process has it open. None: some process
    has, and nothing was done. `encryption_key`: that of an encrypted file.

    A crash loses nothing. The file may grow by what it holds meanwhile. It is done in the file
    itself, so all its names go on leading to it. It takes as long as reading and writing the file.
    """
    compaction = toft_compaction()
    compaction.size = ctypes.sizeof(compaction)
    key = encryption_key_of(encryption_key)
    size = len(key or b"")
    _of_file(path, "toft_compact_with_key", key, size, ctypes.byref(compaction))
    if not compaction.size_before:
        return None
    return Compaction(compaction.size_before, compaction.size_after)


def change_key(
    path: str | os.PathLike[str],
    *,
    old_key: bytes | None = None,
    new_key: bytes | None = None,
) -> None:
    """Encrypts a file with another key; None means no key, so that files are encrypted and
    decrypted. An AlreadyOpenError, if some process has it open, and nothing was done.

    The file's content is written to a new one, which replaces it: a crash leaves one or the other.
    It takes as long as reading and writing the file.

    A hard link to the file by another name still leads to the old content, under the old key or in
    plain text: remove it.
    """
    old, new = encryption_key_of(old_key), encryption_key_of(new_key)
    _of_file(path, "toft_change_key", old, len(old or b""), new, len(new or b""))


class SalvagedClass(Record):
    """The result of a salvage for one class."""

    name: str
    #: Objects in the new file.
    objects: int
    #: Objects of the version that was read which were not found; None: their number is unknown.
    missing: int | None
    #: Objects of an older version: they may have been changed or deleted since.
    older: int
    #: Objects that no checksum covers any more: they agree with themselves.
    unverified: int
    #: Objects that were left out: without a primary key or with that of another one, with unique
    #: values of another one, or embedded and without an owner.
    dropped: int
    #: Links to lost objects: they are None now, or were removed from their list.
    cut_links: int
    #: For each property that has lost values, the number of objects with None or the default
    # instead.
    lost: dict[str, int]


class Salvage(Record):
    """The parts of a damaged file that a salvage has read."""

    #: The newest version that could be read.
    version: int
    #: Whether nothing is missing, and nothing was found damaged.
    is_complete: bool
    #: Whether nothing led to the schema any more: it was found by looking at every page.
    is_schema_unverified: bool
    #: In the order of the file's schema.
    classes: tuple[SalvagedClass, ...]


def salvage(
    path: str | os.PathLike[str],
    new_path: str | os.PathLike[str],
    *,
    encryption_key: bytes | None = None,
    new_key: bytes | None = None,
    found: Callable[[SalvagedClass], object] | None = None,
    mapped: bool = True,
) -> Salvage:
    """Reads what a damaged file still holds into a new one.

    The damaged file is not written to, and no lock file is made beside it. The new file has been
    read back and checked, and is durable, when this returns; after an error, or a crash, there is
    no such file. FileExistsError: there is something at `new_path`. It takes as long as reading the
    file.

    `encryption_key`: that of the damaged file, None for a plain one; `new_key`: that of the new
    file, in the same way. `found`: called with each class before the new file has its name. An
    exception of it is raised by this call, and there is no new file. `mapped`: see `open`; False
    for a device that fails.
    """
    classes: list[SalvagedClass] = []
    raised: list[BaseException] = []

    def tell(_: int | None, address: int) -> bool:
        try:
            classes.append(_salvaged(toft_salvage_class.from_address(address)))
            if found is not None:
                found(classes[-1])
        except BaseException as error:  # also Ctrl-C
            raised.append(error)
        return not raised

    options, report = toft_salvage_options(), toft_salvage_report()
    options.found = toft_salvage_callback(tell)
    options.flags = toft_open_flags.MAPPED if mapped else toft_open_flags.BUFFERED
    function = library().toft_salvage
    _read_into(function, path, new_path, encryption_key, new_key, options, report, raised)
    return Salvage(
        report.version,
        bool(report.flags & toft_salvage_flags.COMPLETE),
        bool(report.flags & toft_salvage_flags.SCHEMA_UNVERIFIED),
        tuple(classes),
    )


class RealmImport(Record):
    """The result of an import of a Realm file."""

    #: The file format of the Realm file, 2 to 24; 0: it was empty.
    format: int
    #: The new file has it too; 0 if no program had set one.
    schema_version: int
    classes: int
    objects: int
    #: The differences from the Realm file, a sentence each: names that Toft does not accept,
    #: indexes without a counterpart, dangling links, texts that are not UTF-8.
    notes: tuple[str, ...]


def import_realm(
    path: str | os.PathLike[str],
    new_path: str | os.PathLike[str],
    *,
    encryption_key: bytes | None = None,
    new_key: bytes | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> RealmImport:
    """Reads one of Realm's own files into a new file, without realm-core.

    The new file has all classes, objects, links, embedded objects, lists, sets, dictionaries, mixed
    values, primary keys, indexes and the schema version; it is durable when this returns. After an
    error, or a crash, there is no such file. The Realm file is not written to, and no program may
    write it meanwhile. FileExistsError: there is something at `new_path`.
    NotADatabaseError: `path` is no Realm file, or an encrypted one and no key was given. It
    takes as long as reading the one and writing the other file.

    `encryption_key`: that of the Realm file, None for a plain one; `new_key`: that of the new file,
    in the same way. `progress`: called with the number of finished objects and of all. An exception
    of it is raised by this call, and there is no new file.
    """
    raised: list[BaseException] = []
    notes: list[str] = []
    stop = ctypes.c_uint32()

    def tell(_: int | None, done: int, total: int) -> None:
        try:
            if progress is not None and not raised:
                progress(done, total)
        except BaseException as error:  # also Ctrl-C
            raised.append(error)
            stop.value = 1

    options, report = toft_import_realm_options(), toft_import_realm_report()
    options.progress = toft_progress_callback(tell)
    options.note = toft_note_callback(lambda _, note: notes.append(text_of(note)))
    options.interrupt = ctypes.addressof(stop)
    function = library().toft_import_realm
    _read_into(function, path, new_path, encryption_key, new_key, options, report, raised)
    return RealmImport(
        report.format, report.schema_version, report.class_count, report.object_count, tuple(notes)
    )


def _read_into(
    function: Callable[..., object],
    path: str | os.PathLike[str],
    new_path: str | os.PathLike[str],
    key: bytes | None,
    new_key: bytes | None,
    options: toft_salvage_options | toft_import_realm_options,
    report: toft_salvage_report | toft_import_realm_report,
    raised: list[BaseException],
) -> None:
    """Calls a function that reads one file into another, with the paths and keys in `options`. An
    error names its file; `raised`, by callbacks, comes before an error of the call.
    """
    name, new_name = os.fspath(path), os.fspath(new_path)
    options.size, report.size = ctypes.sizeof(options), ctypes.sizeof(report)
    options.path, memory = borrowed(os.fsencode(name))
    options.new_path, new_memory = borrowed(os.fsencode(new_name))
    options.key, options.key_size, key_memory = _borrowed_key(key)
    options.new_key, options.new_key_size, new_key_memory = _borrowed_key(new_key)
    try:
        function(ctypes.byref(options), ctypes.byref(report))
    except Error as error:
        if raised:
            raise raised.pop().with_traceback(None) from None
        if isinstance(error, FileError):
            error.filename = new_name if isinstance(error, FileExistsError) else name
        raise
    del memory, new_memory, key_memory, new_key_memory


def _salvaged(found: toft_salvage_class) -> SalvagedClass:
    properties = ctypes.cast(found.properties or 0, ctypes.POINTER(toft_salvage_property))
    return SalvagedClass(
        text_of(found.name),
        found.object_count,
        None if found.missing_count < 0 else found.missing_count,
        found.older_count,
        found.unverified_count,
        found.dropped_count,
        found.cut_link_count,
        {text_of(each.name): each.lost_count for each in properties[: found.property_count]},
    )


def _borrowed_key(key: bytes | None) -> tuple[int | None, int, Any]:
    """A key to lend to a call, its size, and what is to be kept until the call returns."""
    given = encryption_key_of(key)
    if given is None:
        return None, 0, None
    memory = ctypes.create_string_buffer(given, max(1, len(given)))
    return ctypes.addressof(memory), len(given), memory


def _chosen(what: str, choice: str, choices: dict[str, Any]) -> Any:
    if not isinstance(choice, str) or choice not in choices:
        raise InvalidArgumentError(f"A {what} is one of {', '.join(choices)}, not {choice!r}.")
    return choices[choice]


def _declared(classes: Iterable[ObjectType] | ObjectType | None) -> list[type[Object]] | None:
    if classes is None:
        return None
    declared: list[type[Object]] = []
    for cls in [classes] if isinstance(classes, type) else classes:
        if not (
            isinstance(cls, type) and issubclass(cls, Object) and "_toft_is_base" not in vars(cls)
        ):
            raise InvalidArgumentError(
                f"Give the classes of the database, each a subclass of toft.Object, not {cls!r}."
            )
        declared.append(cls)
    return declared
