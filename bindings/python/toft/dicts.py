"""Dictionary properties: live, mutable mappings of texts."""

from __future__ import annotations

import ctypes
from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    ValuesView,
)
from typing import Any, Generic, TypeVar, cast, overload

from . import _values as values
from ._ffi import TOFT_NO_INDEX, toft_string, toft_update_policy
from ._lib import borrowed, library
from .adding import Adding, detached, is_new
from .collection import MISFITS, Collection, owned
from .expressions import Expression
from .lists import List
from .observe import Callback, Observation
from .rows import in_place

K = TypeVar("K", bound=str)
T = TypeVar("T")
U = TypeVar("U")
_NOTHING: Any = object()


class Dict(Collection[T], MutableMapping[K, T], Generic[K, T]):
    """A dictionary property of a live object. Its order is that of the keys' bytes in UTF-8.

    Each change is written at once; changes need a write transaction. A key has no "." in it and
    does not begin with "$". The value of a key is None once the object that it links to is deleted.
    """

    __slots__ = ()

    _toft_container = dict
    _getter = "toft_object_get_dictionary"
    _prefix = "toft_dictionary"
    _finder = "toft_dictionary_find_value"

    # ----------------------------------------------------------------------------------------------
    # Reading

    def __getitem__(self, key: K) -> T:
        text, memory = _borrowed(key)
        value = ctypes.create_string_buffer(values.VALUE_SIZE)
        found = ctypes.c_bool()
        if text is not None:
            library().toft_dictionary_get(self._handle.address, text, value, ctypes.byref(found))
        if not found.value:
            len(self)  # a dictionary that cannot be read is a failure, whatever the key
            raise KeyError(key)
        [item] = self._property.converted([values.decode(value, 0, self._session)])
        return cast(T, self._opened(item, text, key))

    def __contains__(self, key: object) -> bool:
        return self._index(key) is not None

    def __iter__(self) -> Iterator[K]:
        """The keys in their order. As with Python's dictionaries, what adds or removes a key
        meanwhile ends the loop with a RuntimeError: go through a copy() then.
        """
        return (key for key, _ in self._pairs())

    def __reversed__(self) -> Iterator[K]:
        return reversed(list(self))

    def items(self) -> ItemsView[K, T]:
        """Keys and values in the order of the keys, live."""
        return _Items(self)

    def values(self) -> ValuesView[T]:
        """The values in the order of the keys, live."""
        return _Values(self)

    def copy(self) -> dict[K, T]:
        """Keys and values as a dictionary of Python's; so are lists and dictionaries within mixed
        values.
        """
        return {key: owned(value) for key, value in self._pairs()}

    def __eq__(self, other: object) -> bool:
        """Whether another mapping has the same keys, with the same values to the database: NaN is
        the same as NaN, and true is not 1.
        """
        if not isinstance(other, Mapping):
            return NotImplemented
        return len(self) == len(other) and all(
            key in other and self._holds_at(index, mine, other[key])
            for index, (key, mine) in enumerate(self._pairs())
        )

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Mapping[K, T]) -> dict[K, T]:
        return {**self, **other} if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[K, T]) -> dict[K, T]:
        return {**other, **self} if isinstance(other, Mapping) else NotImplemented

    # ----------------------------------------------------------------------------------------------
    # Changing

    def __setitem__(self, key: K, value: T) -> None:
        if is_new(value) and self._session.classes.owns(self._property):
            Adding(self._session, toft_update_policy.ERROR).set_key(self, key, value)
            return
        if in_place(value, self._place_of(key)):
            return
        text, memory = borrowed(values.key_bytes(key))
        with self._session.writing.arguments() as arguments:
            self._property.lend_element(value, arguments, self._session)
            self._call("set", text, arguments.address, None)

    def __delitem__(self, key: K) -> None:
        text, memory = _borrowed(key)
        erased = ctypes.c_bool()
        if text is not None:
            self._call("erase", text, ctypes.byref(erased))
        if not erased.value:
            len(self)
            raise KeyError(key)

    @overload
    def pop(self, key: K, /) -> T: ...
    @overload
    def pop(self, key: K, /, default: T) -> T: ...
    @overload
    def pop(self, key: K, /, default: U) -> T | U: ...
    def pop(self, key: Any, /, default: Any = _NOTHING) -> Any:
        """Removes a key and gives its value; when it is not there the default, else raises
        KeyError. A list or a dictionary within a mixed value, and an embedded object, are no longer
        there then: a copy of it is given, in no database.
        """
        try:
            value = detached(self[key])
        except KeyError:
            if default is _NOTHING:
                raise
            return default
        del self[key]
        return value

    def popitem(self) -> tuple[K, T]:
        """Removes the last key and gives it with its value, as `pop` does. Raises KeyError for an
        empty dictionary.
        """
        for key, value in self._read(max(0, len(self) - 1), 1):
            value = detached(value)
            del self[key]
            return key, value
        raise KeyError("popitem(): dictionary is empty")

    @overload
    def setdefault(self: Dict[K, U | None], key: K, default: None = None, /) -> U | None: ...
    @overload
    def setdefault(self, key: K, default: T, /) -> T: ...
    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """The value of a key; if it is not there, it is set to `default` first. A list, a
        dictionary or an embedded object is given as it is stored: live.
        """
        try:
            return self[key]
        except KeyError:
            self[key] = default
            return self[key]

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Sets the values of keys, all or nothing."""
        with self._session.writing.savepoint():
            for key, value in {**dict(other), **more}.items():
                self[key] = value

    def __ior__(self, other: Any) -> Dict[K, T]:  # type: ignore[misc]
        """Python assigns what this gives: a property takes its own dictionary as it is."""
        self.update(other)
        self._settle()
        return self

    # ----------------------------------------------------------------------------------------------
    # Observing

    def observe(
        self,
        callback: Callback | None = None,
        *,
        key_paths: Iterable[str | Expression[Any]] | None = None,
        initial: bool = True,
    ) -> Observation:
        """Tells what changes in the dictionary: `Changes.deleted_keys`, `inserted_keys` and
        `modified_keys`, and their indices in the order of the keys. See `Results.observe`.
        """
        return self._observe(callback, key_paths, initial=initial, keys=True)

    # ----------------------------------------------------------------------------------------------
    # Beneath

    def _shown(self) -> str:
        return repr(self.copy())

    def _index(self, key: object) -> int | None:
        """The index of a key in the order of the keys."""
        text, memory = _borrowed(key)
        if text is None:
            len(self)
            return None
        index = ctypes.c_uint64()
        library().toft_dictionary_find(self._handle.address, text, ctypes.byref(index))
        return None if index.value == TOFT_NO_INDEX else index.value

    def _pairs(self) -> Iterator[tuple[K, T]]:
        return self._while_same_size(len(self), self._read)

    def _read(self, first: int, capacity: int) -> list[tuple[K, T]]:
        """Up to `capacity` keys from `first` on with their values; empty beyond the end."""
        if first > len(self):
            return []
        memory = ctypes.create_string_buffer(values.ENTRY_SIZE * capacity)
        count = ctypes.c_size_t()
        library().toft_dictionary_get_entries(
            self._handle.address, first, memory, capacity, ctypes.byref(count)
        )
        pairs = [
            values.decode_entry(memory, row * values.ENTRY_SIZE, self._session)
            for row in range(count.value)
        ]
        found = self._property.converted([value for _, value in pairs])
        if self._property.type == values.MIXED:
            found = [self._at(key, value) for (key, _), value in zip(pairs, found)]
        return [(cast(K, key), value) for (key, _), value in zip(pairs, found)]

    def _at(self, key: str, value: Any) -> Any:
        text, memory = borrowed(values.key_bytes(key))
        return self._opened(value, text, key)


Collection._nested_kinds[values.LIST] = "list", List
Collection._nested_kinds[values.DICTIONARY] = "dictionary", Dict


class _Items(ItemsView[K, T]):
    _mapping: Dict[K, T]

    def __iter__(self) -> Iterator[tuple[K, T]]:
        return self._mapping._pairs()

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, tuple) or len(item) != 2:
            return False
        index = self._mapping._index(item[0])
        return index is not None and self._mapping._find_among(item[1], index, 1) is not None


class _Values(ValuesView[T]):
    _mapping: Dict[Any, T]

    def __iter__(self) -> Iterator[T]:
        return (value for _, value in self._mapping._pairs())

    def __contains__(self, value: object) -> bool:
        return self._mapping._find_among(value, 0, len(self._mapping)) is not None


def _borrowed(key: object) -> tuple[toft_string | None, Any]:
    """A key to find: keep the second value until the call returns. None for a value that cannot be
    a key.
    """
    try:
        return borrowed(values.key_bytes(key))
    except MISFITS:
        return None, None
