"""Finds and loads the shared library, and turns a failed status into an exception.

The library is looked for in this order:

1. the file that the environment variable TOFT_LIBRARY names (and nothing else, when it is set);
2. `libtoft.so` in this package's folder: a wheel carries it there;
3. in a source checkout: `build/`, CMake's folder, then SwiftPM's `.build/release/`;
4. the places that the system's loader searches.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

from . import _ffi
from .errors import Error, InvalidArgumentError, LibraryError, error_class

_NAME = "libtoft.so"
_FOR_SERVERS = (_ffi.toft_status.ERROR_WRONG_THREAD, _ffi.toft_status.ERROR_USED_AFTER_FORK)
_PACKAGE = os.path.dirname(os.path.realpath(__file__))


def candidates() -> list[str]:
    """The possible places of the library, the first that exists wins; a bare name is for the
    system's loader to find.
    """
    if named := os.environ.get("TOFT_LIBRARY"):
        return [named]
    found = [os.path.join(_PACKAGE, _NAME)]
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(_PACKAGE)))
    if os.path.exists(os.path.join(checkout, "include", "toft.h")):
        found += [os.path.join(checkout, each, _NAME) for each in ("build", ".build/release")]
    return [*found, f"{_NAME}.{_ffi.TOFT_ABI_VERSION}", _NAME]


@cache
def library() -> _ffi.Library:
    """The library, loaded at the first call. Any thread."""
    shared = _open(candidates())
    shared.toft_abi_version.restype = ctypes.c_uint32
    if (abi := shared.toft_abi_version()) != _ffi.TOFT_ABI_VERSION:
        raise LibraryError(
            f"{shared._name} has ABI version {abi}, but this package is made for "
            f"{_ffi.TOFT_ABI_VERSION}: install the two together."
        )
    try:
        return _ffi.Library(shared, _check)
    except AttributeError as error:
        raise LibraryError(f"{shared._name} is older than this package: {error}") from None


def _open(places: list[str]) -> ctypes.CDLL:
    failures = []
    for place in places:
        if "/" in place and len(places) > 1 and not os.path.exists(place):
            failures.append(f"{place}: not there")
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            failures.append(f"{place}: {error}")
    raise LibraryError(
        f"{_NAME} was not found. Build it with CMake, install the wheel, or set TOFT_LIBRARY to "
        f"its path.",
        detail="\n".join(failures),
    )


def _check(status: int, _function: Any, _arguments: Any) -> int:
    """Every function that returns a status passes here."""
    if status:
        raise last_error(status)
    return status


def last_error(status: int) -> Error:
    """The calling thread's last failure as an exception."""
    error = _ffi.toft_error()
    error.size = ctypes.sizeof(error)
    kind = error_class(status)
    if library().toft_last_error(ctypes.byref(error)) or error.code != status:
        return kind(f"The library failed with status {status} and left no message.", code=status)
    message = text_of(error.message).replace("TOFT_CONFINEMENT_CALLER", 'confinement="caller"')
    if status in _FOR_SERVERS:
        message += " toft.Database has realms for all threads, tasks and forked processes."
    return kind(message, detail=text_of(error.detail), number=error.number, code=status)


def text_of(string: _ffi.toft_string) -> str:
    """Copies a borrowed text."""
    return (
        ctypes.string_at(string.data or 0, string.size).decode("utf-8", "replace")
        if string.size
        else ""
    )


def borrowed(
    text: str | bytes, failure: type[Error] = InvalidArgumentError
) -> tuple[_ffi.toft_string, Any]:
    """A text to lend to a call: keep the second value until the call returns."""
    try:
        data = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError as error:
        raise failure(f"This text cannot be UTF-8: {error}") from None
    memory = ctypes.create_string_buffer(data, max(1, len(data)))
    return _ffi.toft_string(ctypes.addressof(memory), len(data)), memory


def encryption_key_of(key: Any) -> bytes | None:
    """A key as the library takes it. No message shows one."""
    if key is None:
        return None
    if isinstance(key, (bytes, bytearray, memoryview)):
        return bytes(key)
    raise TypeError(f"an encryption key is 64 bytes, not of type {type(key).__name__}")


class NeverCopied:
    """Belongs to an open database: an error says what can be copied or pickled instead."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "objects of an open database cannot be pickled or copied deeply: take the copy() "
            "of a collection, the to_dicts() or lists() of results"
        )


class Handle(NeverCopied):
    """Owns one handle of the library and releases it with the object's last reference, on whatever
    thread that happens.
    """

    __slots__ = ("_release", "address")

    def __init__(self, address: int | None, release: Any) -> None:
        self.address = address
        self._release = release

    def __del__(self) -> None:
        try:
            self._release(self.address)
        except Exception:  # the interpreter is ending: the system takes everything back
            pass


def version() -> str:
    """The version of the loaded library."""
    return ctypes.string_at(library().toft_version()).decode()


def handle_count() -> int:
    """How many handles are alive in this process: 0 once everything has been let go."""
    count = ctypes.c_uint64()
    library().toft_handle_count(ctypes.byref(count))
    return count.value
