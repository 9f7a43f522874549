"""Results as streams of Arrow, and objects out of them, by Arrow's PyCapsule interface: any library
that speaks it reads results and writes objects, without a copy of its own in between.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, Any

from ._ffi import toft_string
from ._lib import Handle, borrowed, library

if TYPE_CHECKING:
    from .rows import Binding
    from .session import Session

_STREAM = b"arrow_array_stream"
_SCHEMA = b"arrow_schema"


class _Schema(ctypes.Structure):
    """Arrow's description of a column."""


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    """Arrow's stream of batches."""


_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetLastError = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", ctypes.c_void_p),
    ("get_last_error", _GetLastError),
    ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]

# Prototypes of their own: those of ctypes.pythonapi are everybody's.
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
#: For a capsule that is being destroyed, which nobody may refer to.
_pointer_of_dying = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

_DAYS_AS_TIMES = ("tss:UTC", "tsm:UTC", "tsu:UTC", "tsn:UTC")
"""Days as tables of results have them: their midnights in UTC."""

_lent: dict[int, Any] = {}
"""The structures in capsules, by their addresses."""


def _end_stream(capsule: int) -> None:
    _release(_lent.pop(_pointer_of_dying(capsule, _STREAM)))


def _end_schema(capsule: int) -> None:
    _release(_lent.pop(_pointer_of_dying(capsule, _SCHEMA)))


_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_destroy_stream = _Destructor(_end_stream)
_destroy_schema = _Destructor(_end_schema)


def _release(structure: Any) -> None:
    """Releases what no consumer has moved away."""
    if structure.release:
        structure.release(ctypes.byref(structure))


def _capsule(structure: Any, name: bytes, destructor: Any) -> Any:
    address = ctypes.addressof(structure)
    _lent[address] = structure
    return _new_capsule(address, name, ctypes.cast(destructor, ctypes.c_void_p))


def _open(results: Handle, paths: Iterable[str]) -> _Stream:
    kept = [borrowed(path) for path in paths]
    texts = (toft_string * max(1, len(kept)))(*(text for text, _ in kept))
    stream = _Stream()
    library().toft_results_arrow_stream(
        results.address, texts if kept else None, len(kept), ctypes.addressof(stream)
    )
    return stream


class ArrowTable:
    """Columns of results for libraries that read Arrow: `polars.DataFrame(table)`,
    `pyarrow.table(table)`, `duckdb.sql("FROM flights")`. See `Results.to_arrow`.
    """

    def __init__(self, session: Session, results: Handle, paths: list[str]) -> None:
        self._session = session
        self._results = results
        self._paths = paths

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with the stream. It has the types that the library chooses; a consumer that
        asks for others converts them.
        """
        self._session.position.freshen()
        return _capsule(_open(self._results, self._paths), _STREAM, _destroy_stream)

    def __arrow_c_schema__(self) -> object:
        """A capsule with the types of the columns."""
        self._session.position.freshen()
        stream, schema = _open(self._results, self._paths), _Schema()
        try:
            stream.get_schema(ctypes.byref(stream), ctypes.byref(schema))
        finally:
            _release(stream)
        return _capsule(schema, _SCHEMA, _destroy_schema)

    def __repr__(self) -> str:
        return f"<ArrowTable: {', '.join(self._paths) or 'all properties'}>"


# ------------------------------------------------------------------------------- Objects of streams


def is_stream(rows: object) -> bool:
    """Whether an object gives a stream of Arrow, and is no DataFrame of pandas: that does so only
    with a further library, and has columns of its own that are read.
    """
    return hasattr(rows, "__arrow_c_stream__") and not hasattr(rows, "isna")


class Incoming:
    """A stream of Arrow whose rows become objects."""

    def __init__(self, binding: Binding, rows: Any) -> None:
        self._binding = binding
        self._capsule = rows.__arrow_c_stream__()
        self._address = _pointer_of(self._capsule, _STREAM)
        self._formats = _formats(_Stream.from_address(self._address))
        self._missing = [
            each
            for each in binding.defaults
            if not {each.name, each.stored_name} & set(self._formats)
        ]

    @property
    def is_plain(self) -> bool:
        """Whether the library can read all of it: no function of Python has a say in a value, be it
        a default or the conversion of a type of the program's own.
        """
        if any(each.makes_default for each in self._missing):
            return False
        stored = {each.stored_name: each for each in self._binding.stored}
        for name, kind in self._formats.items():
            each, named = stored.get(name), self._binding.properties.get(name)
            if named is not None and named is not each:
                return False
            conversion = each and each.conversion
            is_day = conversion and conversion.python_type is date
            if conversion and not (is_day and (kind == "tdD" or kind in _DAYS_AS_TIMES)):
                return False
        return True

    def insert(self, session: Session, policy: int) -> int:
        """Creates or updates an object for each row, all or nothing. Returns their number."""
        count = ctypes.c_uint64()
        missing = self._missing
        with session.writing.arguments() as arguments:
            for each in missing:
                each.lend(each.default(), arguments, session)
            keys = (ctypes.c_uint32 * max(1, len(missing)))(*(each.key for each in missing))
            session.position.changing()
            library().toft_realm_create_from_arrow(
                session.position.address,
                self._binding.key,
                policy,
                self._address,
                keys,
                arguments.address,
                len(missing),
                ctypes.byref(count),
            )
        return count.value


def _formats(stream: _Stream) -> dict[str, str]:
    """The types of a stream's columns; none if it fails, as the library will say."""
    schema = _Schema()
    if not stream.release or not stream.get_schema or stream.get_schema(stream, schema):
        return {}
    try:
        children = [schema.children[index].contents for index in range(schema.n_children)]
        return {
            (child.name or b"").decode("utf-8", "replace"): (child.format or b"").decode()
            for child in children
        }
    finally:
        _release(schema)
