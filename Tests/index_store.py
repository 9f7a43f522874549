"""The index store of a debug build: the declarations that each source defines and names."""

import ctypes
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / ".build/debug/index/store"
BUILD = "run `swift build --build-tests` first"


class IndexStoreError(Exception):
    """Says why the index store cannot be read, and what to do."""


@dataclass(frozen=True)
class Symbol:
    """A declaration, by the identity that the compiler gives it."""

    identity: str
    name: str
    is_extension: bool


@dataclass
class SourceIndex:
    """The symbols that a source file defines, and those that it names: the first line of each."""

    defined: set[Symbol] = field(default_factory=set)
    named: dict[Symbol, int] = field(default_factory=dict)


class _Text(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("length", ctypes.c_size_t))

    def __str__(self) -> str:
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


_POINTER = ctypes.c_void_p
_UNIT_FOUND = ctypes.CFUNCTYPE(ctypes.c_bool, _POINTER, _Text)
_FOUND = ctypes.CFUNCTYPE(ctypes.c_bool, _POINTER, _POINTER)
# indexstore/indexstore.h of the toolchain, as far as it is called.
_FUNCTIONS = {
    "store_create": (_POINTER, [ctypes.c_char_p, _POINTER]),
    "store_units_apply_f": (ctypes.c_bool, [_POINTER, ctypes.c_uint, _POINTER, _UNIT_FOUND]),
    "unit_reader_create": (_POINTER, [_POINTER, ctypes.c_char_p, _POINTER]),
    "unit_reader_dispose": (None, [_POINTER]),
    "unit_reader_get_main_file": (_Text, [_POINTER]),
    "unit_reader_get_modification_time": (None, [_POINTER, _POINTER, _POINTER]),
    "unit_reader_dependencies_apply_f": (ctypes.c_bool, [_POINTER, _POINTER, _FOUND]),
    "unit_dependency_get_kind": (ctypes.c_int, [_POINTER]),
    "unit_dependency_get_filepath": (_Text, [_POINTER]),
    "unit_dependency_get_name": (_Text, [_POINTER]),
    "record_reader_create": (_POINTER, [_POINTER, ctypes.c_char_p, _POINTER]),
    "record_reader_dispose": (None, [_POINTER]),
    "record_reader_occurrences_apply_f": (ctypes.c_bool, [_POINTER, _POINTER, _FOUND]),
    "occurrence_get_symbol": (_POINTER, [_POINTER]),
    "occurrence_get_roles": (ctypes.c_uint64, [_POINTER]),
    "occurrence_get_line_col": (None, [_POINTER, _POINTER, _POINTER]),
    "symbol_get_usr": (_Text, [_POINTER]),
    "symbol_get_name": (_Text, [_POINTER]),
    "symbol_get_kind": (ctypes.c_int, [_POINTER]),
}
_RECORD = 2  # a unit's dependency that holds the occurrences of a file
_DEFINITION, _REFERENCE = 1 << 1, 1 << 2
_EXTENSION = 9


def _library() -> ctypes.CDLL:
    compiler = shutil.which("swift", path=None) or "/opt/swift/usr/bin/swift"
    path = Path(compiler).resolve().parents[1] / "lib/libIndexStore.so"
    if not path.exists():
        raise IndexStoreError(f"the Swift toolchain at {compiler} has no {path}")
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, "indexstore_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class IndexStore:
    """Reads the index of the files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = _library()
        if not STORE.exists():
            raise IndexStoreError(f"there is no index store at {STORE}: {BUILD}")
        self.store = self._create("store_create", str(STORE))

    def sources(self) -> dict[Path, SourceIndex]:
        """The index of each source file; fails for one that is not as the last build saw it."""
        newest: dict[Path, tuple[int, list[str]]] = {}
        for unit in self._units():
            main, time, records = unit
            if main not in newest or newest[main][0] < time:
                newest[main] = (time, records)
        paths = sorted(self.folder.rglob("*.swift"))
        for path in paths:
            if path not in newest or newest[path][0] < path.stat().st_mtime_ns:
                raise IndexStoreError(f"{path} is newer than its index: {BUILD}")
        return {path: self._occurrences(newest[path][1]) for path in paths}

    def _call(self, name: str, *arguments: object) -> object:
        return getattr(self.library, "indexstore_" + name)(*arguments)

    def _create(self, name: str, *arguments: object) -> object:
        error = _POINTER()
        encoded = [a.encode() if isinstance(a, str) else a for a in arguments]
        if not (created := self._call(name, *encoded, ctypes.byref(error))):
            raise IndexStoreError(f"{name} of {arguments[-1]} failed: {BUILD}")
        return created

    def _apply(self, name: str, reader: object, body: Callable[[object], None]) -> None:
        self._call(name, reader, None, _FOUND(lambda _, found: body(found) is None))

    def _units(self) -> Iterator[tuple[Path, int, list[str]]]:
        """Source file, time of its compilation in nanoseconds, and names of its records."""
        names: list[str] = []
        note = _UNIT_FOUND(lambda _, name: names.append(str(name)) is None)
        self._call("store_units_apply_f", self.store, 0, None, note)
        for name in names:
            reader = self._create("unit_reader_create", self.store, name)
            main = str(self._call("unit_reader_get_main_file", reader))
            if main.startswith(f"{self.folder}/"):
                seconds, nanoseconds = ctypes.c_int64(), ctypes.c_int64()
                times = ctypes.byref(seconds), ctypes.byref(nanoseconds)
                self._call("unit_reader_get_modification_time", reader, *times)
                time = seconds.value * 1_000_000_000 + nanoseconds.value
                yield Path(main), time, self._records(reader, main)
            self._call("unit_reader_dispose", reader)

    def _records(self, reader: object, main: str) -> list[str]:
        names: list[str] = []

        def note(dependency: object) -> None:
            if self._call("unit_dependency_get_kind", dependency) == _RECORD:
                if str(self._call("unit_dependency_get_filepath", dependency)) == main:
                    names.append(str(self._call("unit_dependency_get_name", dependency)))

        self._apply("unit_reader_dependencies_apply_f", reader, note)
        return names

    def _occurrences(self, records: list[str]) -> SourceIndex:
        index = SourceIndex()
        line, column = ctypes.c_uint(), ctypes.c_uint()
        position = ctypes.byref(line), ctypes.byref(column)
        for record in records:
            symbols: dict[object, Symbol] = {}

            def note(occurrence: object, symbols: dict[object, Symbol] = symbols) -> None:
                address = self._call("occurrence_get_symbol", occurrence)
                symbol = symbols.get(address) or symbols.setdefault(address, self._symbol(address))
                roles = self._call("occurrence_get_roles", occurrence)
                if roles & _DEFINITION:
                    index.defined.add(symbol)
                if roles & _REFERENCE:
                    self._call("occurrence_get_line_col", occurrence, *position)
                    index.named[symbol] = min(index.named.get(symbol, line.value), line.value)

            reader = self._create("record_reader_create", self.store, record)
            self._apply("record_reader_occurrences_apply_f", reader, note)
            self._call("record_reader_dispose", reader)
        return index

    def _symbol(self, address: object) -> Symbol:
        kind = self._call("symbol_get_kind", address)
        return Symbol(
            str(self._call("symbol_get_usr", address)),
            str(self._call("symbol_get_name", address)),
            kind == _EXTENSION,
        )
