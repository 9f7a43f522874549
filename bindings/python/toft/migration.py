"""Migrations: from the classes that a file has to those that a program declares."""

from __future__ import annotations

import builtins
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from ._ffi import toft_initialize_callback, toft_migration_callback
from ._ffi import toft_status as Status
from ._lib import Handle, borrowed, library
from .binding import Bindings
from .database import Realm, session_of
from .errors import ClosedError, InvalidArgumentError, NoSuchClassError
from .objects import Object, ObjectType, live, live_object
from .rows import Single
from .session import Session


class Migration:
    """The argument of the `migration` of `toft.open`: the database as it was and as it is to be,
    until the call returns.
    """

    def __init__(self, address: int, path: str, declared: list[type[Object]], confined: bool):
        self._address: int | None = address
        self._path = path
        self._declared = declared
        self._is_confined = confined
        self._old: Session | None = None
        self._new: Session | None = None
        self._enumerations = 0  # that are under way
        versions = ctypes.c_uint64(), ctypes.c_uint64()
        library().toft_migration_versions(address, *map(ctypes.byref, versions))
        self.old_version, self.new_version = (version.value for version in versions)

    @property
    def old(self) -> Realm:
        """The database as it was, with the classes of the file. It can't be changed."""
        return self._old_session().realm

    @property
    def new(self) -> Realm:
        """The database as it is to be, in a write transaction. Properties of another type are new
        ones; a primary key that changes is an ordinary property until the end of the migration. A
        class that is to be embedded is not yet: `new.create(Address)` makes an object of it.
        """
        return self._new_session().realm

    def enumerate(self, cls: ObjectType | str) -> Iterator[tuple[Any, Any]]:
        """Each object of a class, as it was and as it is to be: `for old, new in
        migration.enumerate(Dog):`. Objects that were deleted meanwhile are left out. `new` is None
        for a class that is not declared any more, `old` for one that is new.
        """
        name = cls if isinstance(cls, str) else cls.__name__
        old = self._old_session()
        binding = self._new_session().classes.bindings.find(name)
        was = old.classes.bindings.find(binding.key if binding else name)
        if was is None:
            if binding is None:
                raise NoSuchClassError(f"Neither the file nor the migration has a class {name!r}.")
            for after in list(self.new.objects(binding.cls)):
                yield None, after
            return
        self._enumerations += 1
        try:
            for index, before in builtins.enumerate(self.old.objects(was.cls)):
                if index % 64 == 0:
                    # Releases the memory of the reads of an encrypted file.
                    library().toft_realm_refresh(old.position.address, None)
                if binding is None:
                    yield before, None
                    continue
                rows = live(before)
                single = Single.following(binding, rows.key(before._row))
                if single is not None:
                    yield before, live_object(binding.cls, single)
        finally:
            self._enumerations -= 1

    def rename_class(self, old: str, new: ObjectType | str) -> None:
        """Gives a class of the file its new name, at last one that is declared: its objects and the
        links to them stay. To be called before `new` is used. An InvalidArgumentError says why it
        can't be.
        """
        names = borrowed(old), borrowed(_name(new))
        library().toft_migration_rename_class(self._open(), names[0][0], names[1][0])

    def rename_property(self, cls: ObjectType | str, old: str, new: str) -> None:
        """Gives a property of the file its new name: its values stay. To be called before objects
        are taken from `new`, and not inside a loop over `enumerate`. A name that the class lacks is
        a temporary one, to be renamed again: if it is left at the end, the opening is an error. An
        InvalidArgumentError gives the reason if it can't be renamed.
        """
        if self._enumerations:
            raise InvalidArgumentError(
                f"Cannot rename property '{_name(cls)}.{old}' to '{new}' inside a loop over "
                "enumerate: rename it once, before or after."
            )
        names = borrowed(_name(cls)), borrowed(old), borrowed(new)
        library().toft_migration_rename_property(self._open(), *(name for name, _ in names))
        self._again()

    def delete_data(self, cls: ObjectType | str) -> bool:
        """Deletes all objects of a class, and the class itself if it is not declared any more.
        Returns whether the file has it.
        """
        name, memory = borrowed(_name(cls))
        was_there = ctypes.c_bool()
        library().toft_migration_delete_data(self._open(), name, ctypes.byref(was_there))
        self._again()
        return was_there.value

    def _old_session(self) -> Session:
        if self._old is None:
            self._old = self._session("toft_migration_old_realm", None, False)
        return self._old

    def _new_session(self) -> Session:
        if self._new is None:
            self._new = self._session("toft_migration_new_realm", self._declared, self._is_confined)
        return self._new

    def _session(
        self, function: str, classes: list[type[Object]] | None, confined: bool
    ) -> Session:
        address = ctypes.c_void_p()
        getattr(library(), function)(self._open(), ctypes.byref(address))
        handle = Handle(address.value, library().toft_realm_release)
        return session_of(handle, self._path, classes, None, False, confined)

    def _again(self) -> None:
        """Properties have other keys now."""
        if self._new is not None:
            self._new.position.changing()
            self._new.classes.bindings = Bindings(self._new, self._declared)

    def _open(self) -> int:
        if self._address is None:
            raise ClosedError("The migration is over.")
        return self._address

    def _end(self) -> None:
        self._address = None
        for session in (self._old, self._new):
            if session is not None and session.position.is_open:
                session.forget()


def _name(cls: ObjectType | str) -> str:
    return cls if isinstance(cls, str) else cls.__name__


def callback_of(
    migrate: Callable[[Migration], object],
    path: str,
    declared: list[type[Object]],
    confined: bool,
    raised: list[BaseException],
) -> Any:
    """Called by the library. An exception of `migrate` goes to `raised` and ends the opening."""

    def run(address: int) -> None:
        migration = Migration(address, path, declared, confined)
        try:
            migrate(migration)
        finally:
            migration._end()

    return toft_migration_callback(lambda _, address: _status_of(run, address, raised))


def initializer_of(
    initialize: Callable[[Realm], object],
    path: str,
    declared: list[type[Object]],
    confined: bool,
    raised: list[BaseException],
) -> Any:
    """Called by the library for a new database, in the same way."""

    def run(address: int) -> None:
        own = ctypes.c_void_p()  # so that a late use is a ClosedError
        library().toft_realm_clone(address, ctypes.byref(own))
        handle = Handle(own.value, library().toft_realm_release)
        session = session_of(handle, path, declared, None, False, confined)
        try:
            initialize(session.realm)
        finally:
            if session.position.is_open:
                session.forget()

    return toft_initialize_callback(lambda _, address: _status_of(run, address, raised))


def _status_of(run: Callable[[int], None], address: int, raised: list[BaseException]) -> Status:
    try:
        run(address)
    except BaseException as error:  # also Ctrl-C
        raised.append(error)
        return Status.ERROR_INTERRUPTED
    return Status.OK
