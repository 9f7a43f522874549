"""Every failure of Toft as an exception: one tree, rooted at `Error`, in the groups of toft.h.

Exceptions that have a usual counterpart in Python (`IndexError` for an index, `TypeError` for a
value of the wrong type) are also of that type, so that ordinary `except` clauses work.
"""

from __future__ import annotations

import builtins
import errno
from typing import ClassVar

from ._ffi import toft_status as Status

__all__ = [
    "Error",
    # Named as in include/errors.tsv.
    "InvalidArgumentError",
    "InvalidHandleError",
    "WrongThreadError",
    "ClosedError",
    "UsedAfterForkError",
    "UnsupportedError",
    "InternalError",
    "WrongRealmError",
    "PermissionDeniedError",
    "IsDirectoryError",
    "NotADatabaseError",
    "UnsupportedFormatError",
    "CorruptError",
    "IncompatibleProcessError",
    "FileAccessError",
    "DiskFullError",
    "AddressSpaceExhaustedError",
    "FileTooLargeError",
    "AlreadyOpenError",
    "ConfigurationMismatchError",
    "FileReplacedError",
    "TooManyReadersError",
    "KeyRequiredError",
    "WrongKeyError",
    "NotEncryptedError",
    "VersionTooLowError",
    "NotInTransactionError",
    "AlreadyInTransactionError",
    "ReadOnlyError",
    "LockTimeoutError",
    "PoisonedError",
    "CommitOutcomeUnknownError",
    "InvalidSchemaError",
    "SchemaMismatchError",
    "SchemaVersionTooLowError",
    "NoSuchClassError",
    "NoSuchPropertyError",
    "ObjectDeletedError",
    "NoSuchObjectError",
    "DuplicatePrimaryKeyError",
    "MissingPrimaryKeyError",
    "PrimaryKeyChangeError",
    "TypeMismatchError",
    "NullNotAllowedError",
    "ValueTooLongError",
    "ReadOnlyPropertyError",
    "EmbeddedObjectError",
    "DeletionDeniedError",
    "DuplicateValueError",
    "IndexOutOfRangeError",
    "CollectionInvalidatedError",
    "QuerySyntaxError",
    "InvalidQueryError",
    "QueryTypeMismatchError",
    "InvalidQueryArgumentError",
    "UnsupportedAggregateError",
    "ObserveInTransactionError",
    "InsideCallbackError",
    "ObservationUnavailableError",
    # The groups, and one that is of the package alone.
    "UsageError",
    "FileError",
    "TransactionError",
    "SchemaError",
    "ObjectError",
    "CollectionError",
    "QueryError",
    "ObservationError",
    "LibraryError",
]


_CODES = frozenset(Status)


class Error(Exception):
    """Anything that Toft reports. `str()` gives the message, and the detail on further lines."""

    _status: ClassVar[Status] = Status.ERROR_INTERNAL

    code: int
    """The status, as toft.h numbers it; compare with `toft.Status`."""
    message: str
    """One sentence: failure, place and remedy."""
    detail: str
    """Further lines, if there are any:

    the differences of a schema, a query with a caret below its mistake.
    """
    number: int
    """The number of the code: errno, a page, an index, the offset in a query; otherwise 0."""

    def __init__(
        self, message: str, *, detail: str = "", number: int = 0, code: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = self._status if code is None else Status(code) if code in _CODES else code
        self.message = message
        self.detail = detail
        self.number = number

    def __str__(self) -> str:
        return f"{self.message}\n{self.detail}" if self.detail else self.message


# ------------------------------------------------------------------------------------------- Groups


class UsageError(Error):
    """A call that could not have worked at any moment."""


class FileError(Error, OSError):
    """The file could not be opened, read or written. `errno` is the reason, if the system has a
    number for it, and `filename` the file that could not be opened.
    """

    def __init__(
        self, message: str, *, detail: str = "", number: int = 0, code: int | None = None
    ) -> None:
        super().__init__(message, detail=detail, number=number, code=code)
        self.errno = number if self.code == Status.ERROR_FILE_ACCESS else _ERRNOS.get(self.code)
        self.strerror = message


class TransactionError(Error):
    """A write transaction could not begin, go on or end."""


class SchemaError(Error):
    """The declared classes are not right, or do not fit the file."""


class ObjectError(Error):
    """An object could not be found, made or changed."""


class CollectionError(Error):
    """A collection or results could not answer."""


class QueryError(Error):
    """A query could not be understood or worked out."""


class ObservationError(Error):
    """An observation could not begin or go on."""


_ERRNOS: dict[int, int] = {
    Status.ERROR_FILE_NOT_FOUND: errno.ENOENT,
    Status.ERROR_PERMISSION_DENIED: errno.EACCES,
    Status.ERROR_IS_DIRECTORY: errno.EISDIR,
    Status.ERROR_DISK_FULL: errno.ENOSPC,
    Status.ERROR_FILE_TOO_LARGE: errno.EFBIG,
    Status.ERROR_ADDRESS_SPACE_EXHAUSTED: errno.ENOMEM,
    Status.ERROR_TOO_MANY_READERS: errno.EAGAIN,
    Status.ERROR_FILE_EXISTS: errno.EEXIST,
}

# -------------------------------------------------------------------------------------------- Codes
# Written by bindings/python/generate_errors.py from include/errors.tsv.


class InvalidArgumentError(UsageError, ValueError):
    """An argument that no call could accept: an unknown constant, text that is not UTF-8, null
    for a value.
    """

    _status = Status.ERROR_INVALID_ARGUMENT


class InvalidHandleError(UsageError):
    """A handle that is null, released, forged or of another kind. Swift and Python have no
    handles.
    """

    _status = Status.ERROR_INVALID_HANDLE


class WrongThreadError(UsageError, RuntimeError):
    """A realm, or something that belongs to one, was used on another thread or queue than its
    own.
    """

    _status = Status.ERROR_WRONG_THREAD


class ClosedError(UsageError, ValueError):
    """The realm has been closed or invalidated."""

    _status = Status.ERROR_CLOSED


class UsedAfterForkError(UsageError, RuntimeError):
    """The realm was opened by the parent process, before `fork`."""

    _status = Status.ERROR_USED_AFTER_FORK


class UnsupportedError(UsageError, NotImplementedError):
    """The file or the caller asks for something that this version does not have."""

    _status = Status.ERROR_UNSUPPORTED


class InternalError(UsageError, RuntimeError):
    """A mistake in Toft: please report it."""

    _status = Status.ERROR_INTERNAL


class WrongRealmError(UsageError, ValueError):
    """Two things of one call belong to different realms."""

    _status = Status.ERROR_WRONG_REALM


class InterruptedError(UsageError, builtins.InterruptedError):
    """Another thread ended a wait or a query."""

    _status = Status.ERROR_INTERRUPTED


class FileNotFoundError(FileError, builtins.FileNotFoundError):
    """There is no such file, and none may be made."""

    _status = Status.ERROR_FILE_NOT_FOUND


class PermissionDeniedError(FileError, PermissionError):
    """The file or its folder can't be used with the rights of this process."""

    _status = Status.ERROR_PERMISSION_DENIED


class IsDirectoryError(FileError, IsADirectoryError):
    """The path is that of a folder."""

    _status = Status.ERROR_IS_DIRECTORY


class NotADatabaseError(FileError):
    """The file is something else than a database of Toft; the message says what it looks like."""

    _status = Status.ERROR_NOT_A_DATABASE


class UnsupportedFormatError(FileError):
    """A Toft file of a version, or with a feature, that this version of the library does not
    have.
    """

    _status = Status.ERROR_UNSUPPORTED_FORMAT


class CorruptError(FileError):
    """Bytes of the file are damaged; the number is the page. It can be found at any moment."""

    _status = Status.ERROR_CORRUPT


class IncompatibleProcessError(FileError):
    """A process with another version of the library has the file open."""

    _status = Status.ERROR_INCOMPATIBLE_PROCESS


class FileAccessError(FileError):
    """A system call failed; the detail names it, and the number is its errno."""

    _status = Status.ERROR_FILE_ACCESS


class DiskFullError(FileError):
    """No space is left on the disk; nothing was changed."""

    _status = Status.ERROR_DISK_FULL


class AddressSpaceExhaustedError(FileError, MemoryError):
    """The process has no room left to map the file."""

    _status = Status.ERROR_ADDRESS_SPACE_EXHAUSTED


class FileTooLargeError(FileError):
    """The file would grow beyond what the file system or the format holds."""

    _status = Status.ERROR_FILE_TOO_LARGE


class AlreadyOpenError(FileError):
    """The file is open, so this can't be done to it."""

    _status = Status.ERROR_ALREADY_OPEN


class ConfigurationMismatchError(FileError):
    """The file is open in this process with another configuration or schema."""

    _status = Status.ERROR_CONFIGURATION_MISMATCH


class FileReplacedError(FileError):
    """Another file was put in the place of the open one."""

    _status = Status.ERROR_FILE_REPLACED


class TooManyReadersError(FileError):
    """Too many readers have the file open, or more versions are kept than the configuration
    allows; the number is then how many.
    """

    _status = Status.ERROR_TOO_MANY_READERS


class FileExistsError(FileError, builtins.FileExistsError):
    """The file that was to be made is there already; nothing was changed."""

    _status = Status.ERROR_FILE_EXISTS


class KeyRequiredError(FileError):
    """The file is encrypted, and no key was given."""

    _status = Status.ERROR_KEY_REQUIRED


class WrongKeyError(FileError):
    """The file is encrypted with another key."""

    _status = Status.ERROR_WRONG_KEY


class NotEncryptedError(FileError):
    """A key was given, and the file is not encrypted."""

    _status = Status.ERROR_NOT_ENCRYPTED


class VersionTooLowError(FileError):
    """The file has an older version than the configuration asks for; the number is that of the
    file.
    """

    _status = Status.ERROR_VERSION_TOO_LOW


class NotInTransactionError(TransactionError, RuntimeError):
    """A change outside of a write transaction."""

    _status = Status.ERROR_NOT_IN_TRANSACTION


class AlreadyInTransactionError(TransactionError, RuntimeError):
    """A write transaction was begun inside another."""

    _status = Status.ERROR_ALREADY_IN_TRANSACTION


class ReadOnlyError(TransactionError, PermissionError):
    """The realm, the file or the disk is read-only, or the object or collection to be changed is
    frozen.
    """

    _status = Status.ERROR_READ_ONLY


class LockTimeoutError(TransactionError, TimeoutError):
    """Another writer did not finish in time."""

    _status = Status.ERROR_LOCK_TIMEOUT


class PoisonedError(TransactionError):
    """A sync failed in some process: nothing is written until all have closed the file."""

    _status = Status.ERROR_POISONED


class CommitOutcomeUnknownError(TransactionError):
    """A sync failed in this commit: whether it is on disk is known when the file is opened
    again.
    """

    _status = Status.ERROR_COMMIT_OUTCOME_UNKNOWN


class InvalidSchemaError(SchemaError, TypeError):
    """The declared classes break rules; the detail lists every problem, one a line."""

    _status = Status.ERROR_INVALID_SCHEMA


class SchemaMismatchError(SchemaError):
    """The declared classes differ from the file's in a way that opening does not change; the
    detail lists every difference, one a line.
    """

    _status = Status.ERROR_SCHEMA_MISMATCH


class SchemaVersionTooLowError(SchemaError):
    """The file has a higher schema version than the configuration."""

    _status = Status.ERROR_SCHEMA_VERSION_TOO_LOW


class NoSuchClassError(SchemaError, KeyError):
    """The realm has no such class."""

    _status = Status.ERROR_NO_SUCH_CLASS


class NoSuchPropertyError(SchemaError, AttributeError, KeyError):
    """The class has no such property."""

    _status = Status.ERROR_NO_SUCH_PROPERTY


class ObjectDeletedError(ObjectError, ReferenceError):
    """The object has been deleted, or its realm invalidated."""

    _status = Status.ERROR_OBJECT_DELETED


class NoSuchObjectError(ObjectError, KeyError):
    """There is no such object."""

    _status = Status.ERROR_NO_SUCH_OBJECT


class DuplicatePrimaryKeyError(ObjectError, ValueError):
    """Another object of the class has this primary key."""

    _status = Status.ERROR_DUPLICATE_PRIMARY_KEY


class MissingPrimaryKeyError(ObjectError, ValueError):
    """A primary key is needed and none was given, or the class has none."""

    _status = Status.ERROR_MISSING_PRIMARY_KEY


class PrimaryKeyChangeError(ObjectError, AttributeError):
    """The primary key of an object never changes."""

    _status = Status.ERROR_PRIMARY_KEY_CHANGE


class TypeMismatchError(ObjectError, TypeError):
    """A value of another type than the property's, or a link to another class."""

    _status = Status.ERROR_TYPE_MISMATCH


class NullNotAllowedError(ObjectError, TypeError):
    """Null for a property that is not optional."""

    _status = Status.ERROR_NULL_NOT_ALLOWED


class ValueTooLongError(ObjectError, ValueError):
    """A string or data of more than 16 MiB - 1, or too long for a primary key."""

    _status = Status.ERROR_VALUE_TOO_LONG


class ReadOnlyPropertyError(ObjectError, AttributeError):
    """Linking objects only show what others link; they can't be set."""

    _status = Status.ERROR_READ_ONLY_PROPERTY


class OverflowError(ObjectError, builtins.OverflowError):
    """A sum of integers, or a counter, leaves the range of 64 bits."""

    _status = Status.ERROR_OVERFLOW


class EmbeddedObjectError(ObjectError, ValueError):
    """An embedded object was to be created without an owner, or to get a second one."""

    _status = Status.ERROR_EMBEDDED_OBJECT


class DeletionDeniedError(ObjectError, ValueError):
    """A property with the delete rule "deny" links to the object that was to be deleted; the
    number is the key of the object that links.
    """

    _status = Status.ERROR_DELETION_DENIED


class DuplicateValueError(ObjectError, ValueError):
    """Two objects have the same values of properties that are unique."""

    _status = Status.ERROR_DUPLICATE_VALUE


class IndexOutOfRangeError(CollectionError, IndexError):
    """There is no such index; the number is the index."""

    _status = Status.ERROR_INDEX_OUT_OF_RANGE


class CollectionInvalidatedError(CollectionError, ReferenceError):
    """The object that owned the collection, or the base of the results, has been deleted."""

    _status = Status.ERROR_COLLECTION_INVALIDATED


class QuerySyntaxError(QueryError, ValueError):
    """The text of a query does not follow the grammar; the detail shows the place with a caret,
    and the number is its offset in bytes.
    """

    _status = Status.ERROR_QUERY_SYNTAX


class InvalidQueryError(QueryError, ValueError):
    """The query is well-formed, but asks for something that does not exist."""

    _status = Status.ERROR_INVALID_QUERY


class QueryTypeMismatchError(QueryError, TypeError):
    """The query compares types that can't be compared."""

    _status = Status.ERROR_QUERY_TYPE_MISMATCH


class InvalidQueryArgumentError(QueryError, TypeError):
    """An argument of the query is missing or of the wrong type."""

    _status = Status.ERROR_INVALID_QUERY_ARGUMENT


class UnsupportedAggregateError(QueryError, TypeError):
    """The property has no such aggregate, like a sum of strings."""

    _status = Status.ERROR_UNSUPPORTED_AGGREGATE


class ObserveInTransactionError(ObservationError, RuntimeError):
    """An observer was added in a transaction that has already changed something."""

    _status = Status.ERROR_OBSERVE_IN_TRANSACTION


class InsideCallbackError(ObservationError, RuntimeError):
    """The call is not possible inside a notification callback."""

    _status = Status.ERROR_INSIDE_CALLBACK


class ObservationUnavailableError(ObservationError):
    """A frozen thing can't be observed, the thread has no run loop or queue, or the system had
    no thread or descriptor left.
    """

    _status = Status.ERROR_OBSERVATION_UNAVAILABLE


class LibraryError(Error, ImportError):
    """The shared library is missing, or of another ABI than this package."""

    _status = Status.ERROR_UNSUPPORTED


_GROUPS: dict[int, type[Error]] = {
    0: UsageError,
    1: FileError,
    2: TransactionError,
    3: SchemaError,
    4: ObjectError,
    5: CollectionError,
    6: QueryError,
    7: ObservationError,
}


def _leaves(root: type[Error]) -> dict[int, type[Error]]:
    return {
        kind._status: kind for group in root.__subclasses__() for kind in group.__subclasses__()
    }


_BY_STATUS = _leaves(Error)


def error_class(code: int) -> type[Error]:
    """The exception for a status; that of its group for a code newer than this package."""
    return _BY_STATUS.get(code) or _GROUPS.get(code // 100, Error)
