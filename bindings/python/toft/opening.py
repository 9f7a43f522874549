"""Opening databases."""

from __future__ import annotations

import ctypes
import os
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from ._ffi import (
    toft_compact_callback,
    toft_compaction,
    toft_configuration,
    toft_confinement,
    toft_mode,
    toft_open_flags,
    toft_progress_callback,
)
from ._lib import Handle, borrowed, library
from .database import Realm
from .errors import Error, FileError, InvalidArgumentError
from .migration import Migration, callback_of
from .objects import Object
from .schema import schema_handle
from .transactions import wait_in_moments

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
    classes: Iterable[type[Object]] | type[Object] | None = None,
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
) -> Realm:
    """Opens a database file on this thread: `with toft.open("dogs.toft", [Dog, Person]) as realm:`.

    `classes`: what is stored, one class or several; new classes, properties and indexes are added
    to the file. None: the classes that the file has, as `realm.classes` gives them. `mode`:
    "create" the file when it is missing, it must be "existing", or it is "read_only".
    `write_timeout`: how many seconds a write waits for other writers; None: as long as it takes, 0:
    not at all. `mapped`: False reads pages into memory of the process instead of mapping the file,
    so that a failing device or a file that others truncate is an exception and never the signal
    SIGBUS; it costs a copy of what is read.

    `autorefresh`: outside of write transactions the realm moves to the latest version whenever it
    is asked for objects or results are counted, summed or gone through, so that a program that runs
    for long sees what others commit and keeps no old version alive. It costs a microsecond each
    time. It does not move inside a loop over results, inside `with realm.read():`, while something
    is observed (then `dispatch`, `wait` and asyncio's loop move it), or when a property, a list or
    an index is read. False: it moves only with `refresh` and with write transactions.

    `schema_version`: counted by the program for its classes; a file that has seen a higher one is a
    SchemaVersionTooLowError, so that an old program leaves the files of a new one alone. None: that
    of the file. `realm.info.schema_version` tells it.

    `migration`: called where the file has classes and a lower version than `schema_version`, to
    rename, delete and copy: see `toft.Migration`. Without one, a property of another type is a
    SchemaMismatchError. What it raises leaves the file as it was and comes out of this call.

    `confinement`: with "thread", a use by another thread is a WrongThreadError. With "caller", any
    thread may use the realm, one at a time, and you see to that.

    `progress`: called with numbers of objects, done and in all, while an index is built that the
    file lacks. What it raises ends the opening, and the file is as it was; so does Ctrl-C.

    `seed`: a database, which need not be writable; a missing file is made a copy of it.
    `compact_on_open`: asked, where no process has the file open, whether it is to be compacted:
    `lambda total, used: used < total / 2`, in bytes. What it raises comes out of this call, and
    nothing is compacted. `maximum_versions`: how many versions there may be when a write begins:
    the newest, and older ones that some process still reads, which let the file grow. With more,
    the write is a TooManyReadersError.
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
    )


def open_in_memory(
    classes: Iterable[type[Object]] | type[Object] | None = None,
    *,
    name: str | None = None,
    write_timeout: float | None = None,
    autorefresh: bool = True,
    confinement: Confinement = "thread",
) -> Realm:
    """Opens a database without a file. Realms of the same name in this process share it; it is gone
    with the last of them. Without a name it is this realm's alone. The rest: see `open`.
    """
    name = name or f"toft-{uuid.uuid4()}"
    return _open(
        "", name, classes, "create", write_timeout, True, autorefresh, confinement, None, None, None
    )


def _open(
    path: str,
    name: str,
    classes: Iterable[type[Object]] | type[Object] | None,
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
) -> Realm:
    declared = _declared(classes)
    schema = None if declared is None else schema_handle(declared)
    configuration = toft_configuration()
    configuration.size = ctypes.sizeof(configuration)
    configuration.path, path_memory = borrowed(os.fsencode(path))
    configuration.in_memory_name, name_memory = borrowed(name)
    configuration.mode = _chosen("mode", mode, _MODES)
    configuration.confinement = _chosen("confinement", confinement, _CONFINEMENTS)
    configuration.schema = schema.address if schema else None
    configuration.flags = toft_open_flags.MAPPED if mapped else toft_open_flags.BUFFERED
    configuration.flags |= toft_open_flags.WRITE_TIMEOUT
    if not 0 <= (schema_version or 0) < 2**64:
        raise InvalidArgumentError(f"A schema version has 64 bits without a sign: {schema_version}")
    configuration.schema_version = schema_version or 0
    address = ctypes.c_void_p()
    stop = ctypes.c_uint32()
    raised: list[BaseException] = []

    def tell(_: int | None, done: int, total: int) -> None:
        try:
            if progress is not None:
                progress(done, total)
        except BaseException as error:  # also Ctrl-C, which Python sees to here
            raised.append(error)
            stop.value = 1

    told = toft_progress_callback(tell)
    configuration.progress = told
    configuration.interrupt = ctypes.addressof(stop)
    configuration.seed_path, seed_memory = borrowed(os.fsencode(seed or ""))
    if maximum_versions is not None and not 0 < maximum_versions < 2**64:
        raise InvalidArgumentError(f"At least one version is always there, not {maximum_versions}.")
    configuration.maximum_versions = maximum_versions or 0

    def ask(_: int | None, total: int, used: int) -> bool:
        try:
            return compact_on_open is not None and bool(compact_on_open(total, used))
        except BaseException as error:  # also Ctrl-C
            raised.append(error)
            stop.value = 1
            return False

    if compact_on_open is not None:
        asked = toft_compact_callback(ask)
        configuration.compact = asked
    is_confined = confinement == "thread"
    migrating: list[BaseException] = []
    if migration is not None:
        if declared is None or not schema_version:
            raise InvalidArgumentError(
                "A migration needs the classes and the schema_version that it leads to."
            )
        migrate = callback_of(migration, path or f":{name}", declared, is_confined, migrating)
        configuration.migration = migrate

    def attempt(wait: int) -> None:
        configuration.write_timeout = wait
        library().toft_realm_open(ctypes.byref(configuration), ctypes.byref(address))

    try:
        wait_in_moments(attempt, write_timeout)
    except Error as error:
        if migrating:
            raise migrating.pop() from None
        if raised:
            raise raised.pop().with_traceback(None) from None
        if isinstance(error, FileError):
            error.filename = path
        raise error.with_traceback(None) from None  # the inner frames tell a caller nothing
    handle = Handle(address.value, library().toft_realm_release)
    if raised:
        library().toft_realm_close(handle.address)
        raise raised.pop().with_traceback(None) from None
    return Realm(handle, path or f":{name}", declared, write_timeout, autorefresh, is_confined)


@dataclass(frozen=True)
class Compaction:
    """The sizes of a file that was compacted, in bytes."""

    size_before: int
    size_after: int


def compact(path: str | os.PathLike[str]) -> Compaction | None:
    """Gives the free space of a file back to the system, if no process has it open. None: some
    process has, and nothing was done.

    A crash loses nothing. The file may grow by what it holds meanwhile. It takes as long as reading
    and writing the file.
    """
    name = os.fspath(path)
    given, memory = borrowed(os.fsencode(name))
    compaction = toft_compaction()
    compaction.size = ctypes.sizeof(compaction)
    try:
        library().toft_compact(given, ctypes.byref(compaction))
    except FileError as error:
        error.filename = name
        raise
    del memory
    if not compaction.size_before:
        return None
    return Compaction(compaction.size_before, compaction.size_after)


def _chosen(what: str, choice: str, choices: dict[str, Any]) -> Any:
    if choice not in choices:
        raise InvalidArgumentError(f"A {what} is one of {', '.join(choices)}, not {choice!r}.")
    return choices[choice]


def _declared(classes: Iterable[type[Object]] | type[Object] | None) -> list[type[Object]] | None:
    if classes is None:
        return None
    declared = [classes] if isinstance(classes, type) else list(classes)
    for cls in declared:
        if not (
            isinstance(cls, type) and issubclass(cls, Object) and "_toft_is_base" not in vars(cls)
        ):
            raise InvalidArgumentError(
                f"Give the classes of the database, each a subclass of toft.Object, not {cls!r}."
            )
    return declared
