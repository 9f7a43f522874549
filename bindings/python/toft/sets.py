"""Set properties: live, mutable sets."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, MutableSet
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeVar

from .collection import MISFITS, Elements
from .expressions import Expression
from .observe import Callback, Observation

T = TypeVar("T")
U = TypeVar("U")


class Set(Elements[T], MutableSet[T]):
    """A set property of a live object. Its order is ascending: numbers by size, texts by their
    bytes, objects by their age.

    Each change is written at once; changes need a write transaction.
    """

    __slots__ = ()

    _toft_container = set
    _getter = "toft_object_get_set"
    _prefix = "toft_set"

    # ----------------------------------------------------------------------------------------------
    # Reading

    def __iter__(self) -> Iterator[T]:
        """In the set's order. As with Python's sets, what adds or removes an element meanwhile
        ends the loop with a RuntimeError: go through a copy() then.
        """
        return self._while_same_size(len(self), self._reader())

    def copy(self) -> set[T]:
        """The elements as a set of Python's."""
        return set(self)

    @classmethod
    def _from_iterable(cls, it: Iterable[U]) -> set[U]:
        """What `&`, `|`, `-` and `^` give."""
        return set(it)

    def union(self, *others: Iterable[T]) -> set[T]:
        """All elements of this set and of others, as a set of Python's."""
        return self.copy().union(*others)

    def intersection(self, *others: Iterable[Any]) -> set[T]:
        """The elements that others have too, as a set of Python's."""
        return self.copy().intersection(*others)

    def difference(self, *others: Iterable[Any]) -> set[T]:
        """The elements that no other has, as a set of Python's."""
        return self.copy().difference(*others)

    def symmetric_difference(self, other: Iterable[T]) -> set[T]:
        """The elements that only one of the two has, as a set of Python's."""
        return self.copy().symmetric_difference(other)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether another has all elements of this set."""
        return self.copy().issubset(other)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether this set has all elements of another."""
        return all(value in self for value in other)

    if TYPE_CHECKING:

        def __and__(self, other: AbstractSet[Any]) -> set[T]: ...
        def __or__(self, other: AbstractSet[U]) -> set[T | U]: ...
        def __sub__(self, other: AbstractSet[Any]) -> set[T]: ...
        def __xor__(self, other: AbstractSet[U]) -> set[T | U]: ...

    # ----------------------------------------------------------------------------------------------
    # Changing

    def add(self, value: T) -> None:
        """Adds a value, unless the set has it."""
        self._insert(value)

    def discard(self, value: Any) -> None:
        """Removes a value, if the set has it; an object linked stays."""
        self._erase(value)

    def remove(self, value: Any) -> None:
        """Removes a value. Raises KeyError when it is not there."""
        if not self._erase(value):
            raise KeyError(value)

    def pop(self) -> T:
        """Removes the first element and gives it. Raises KeyError when there is none."""
        for value in self._read(0, 1):
            self._erase(value)
            return value
        raise KeyError("pop from an empty set")

    def update(self, *others: Iterable[T]) -> None:
        """Adds the values of others, all or none."""
        added: list[T] = []
        items = [value for other in others for value in other]
        with self._adding(items):
            try:
                for value in items:
                    if self._insert(value):
                        added.append(value)
            except BaseException:
                for value in added:
                    self._erase(value)
                raise

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Removes what not all others have."""
        self._erase_all(self.copy().difference(self.intersection(*others)))

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Removes what another has."""
        self._erase_all([value for other in others for value in other])

    def symmetric_difference_update(self, other: Iterable[T]) -> None:
        """Adds what only the other has, and removes what both have."""
        theirs = set(other)
        both = self.intersection(theirs)
        self.update(theirs - both)
        self._erase_all(both)

    # Python assigns what these give: a property takes its own set as it is.

    def __ior__(self, other: Iterable[T]) -> Set[T]:  # type: ignore[override, misc]
        self.update(other)
        return self

    def __iand__(self, other: Iterable[Any]) -> Set[T]:
        self.intersection_update(other)
        return self

    def __isub__(self, other: Iterable[Any]) -> Set[T]:
        self.difference_update(other)
        return self

    def __ixor__(self, other: Iterable[T]) -> Set[T]:  # type: ignore[override, misc]
        self.symmetric_difference_update(other)
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
        """Tells what changes in the set, down to the indices in its order. See
        `Results.observe`.
        """
        return self._observe(callback, key_paths, initial=initial)

    # ----------------------------------------------------------------------------------------------
    # Beneath

    def _shown(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}" if len(self) else "set()"

    def _insert(self, value: T) -> bool:
        inserted = ctypes.c_bool()
        with self._realm._arguments() as arguments:
            self._property.lend_element(value, arguments, self._realm)
            self._call("insert", arguments.address, None, ctypes.byref(inserted))
        return inserted.value

    def _erase(self, value: Any) -> bool:
        erased = ctypes.c_bool()
        try:
            with self._realm._asking() as arguments:
                self._property.lend_element(value, arguments, self._realm)
                self._call("erase", arguments.address, ctypes.byref(erased))
        except MISFITS:
            self._check_readable()
        return erased.value

    def _erase_all(self, items: Iterable[Any]) -> None:
        for value in items:
            self._erase(value)
