"""Set properties: live, mutable sets."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, MutableSet
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeVar

from ._lib import library
from ._values import VALUE_SIZE
from .collection import MISFITS, PLAIN_TYPES, Elements
from .expressions import Expression
from .observe import Callback, Observation

T = TypeVar("T")
U = TypeVar("U")

_MANY = 8
"""To read all elements costs less than to ask for one eighth of them."""


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
        """The type of the results of `&`, `|`, `-` and `^`."""
        return set(it)

    def union(self, *others: Iterable[T]) -> set[T]:
        """All elements of this set and of others, as a set of Python's."""
        return self.copy().union(*others)

    def intersection(self, *others: Iterable[Any]) -> set[T]:
        """The elements that others have too, as a set of Python's."""
        kept = self._shared(others)
        return {value for index, value in enumerate(self) if index in kept}

    def difference(self, *others: Iterable[Any]) -> set[T]:
        """The elements that no other has, as a set of Python's."""
        gone = self._met(others)
        return {value for index, value in enumerate(self) if index not in gone}

    def symmetric_difference(self, other: Iterable[T]) -> set[T]:
        """The elements that only one of the two has, as a set of Python's."""
        both, theirs = self._compared(other)
        return {value for index, value in enumerate(self) if index not in both}.union(theirs)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether another has all elements of this set."""
        return len(self._compared(other)[0]) == len(self)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether this set has all elements of another."""
        return all(value in self for value in other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        both, theirs = self._compared(other)
        return not theirs and len(both) == len(self)

    __hash__ = None  # type: ignore[assignment]

    def __le__(self, other: Any) -> bool:
        return self.issubset(other) if isinstance(other, AbstractSet) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        both, theirs = self._compared(other)
        return len(both) == len(self) and bool(theirs)

    def __ge__(self, other: Any) -> bool:
        return self.issuperset(other) if isinstance(other, AbstractSet) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        both, theirs = self._compared(other)
        return not theirs and len(both) < len(self)

    def __and__(self, other: Any) -> set[T]:
        return self.intersection(other) if isinstance(other, AbstractSet) else NotImplemented

    __rand__ = __and__

    def __sub__(self, other: Any) -> set[T]:
        return self.difference(other) if isinstance(other, AbstractSet) else NotImplemented

    def __xor__(self, other: Any) -> set[Any]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return self.symmetric_difference(other)

    __rxor__ = __xor__

    if TYPE_CHECKING:

        def __or__(self, other: AbstractSet[U]) -> set[T | U]: ...

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
        """Removes the first element and gives it. Raises KeyError for an empty set."""
        for value in self._read(0, 1):
            self._erase_at([0])
            return value
        raise KeyError("pop from an empty set")

    def update(self, *others: Iterable[T]) -> None:
        """Adds the values of others, all or nothing."""
        items = [value for other in others for value in other]
        with self._session.writing.savepoint():
            for value in items:
                self._insert(value)

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Removes what not all others have."""
        kept = self._shared(others)
        self._erase_at(index for index in range(len(self)) if index not in kept)

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Removes what another has."""
        self._erase_at(self._met(others))

    def symmetric_difference_update(self, other: Iterable[T]) -> None:
        """Adds what only the other has, and removes what both have."""
        both, theirs = self._compared(other)
        with self._session.writing.savepoint():
            self._erase_at(both)
            for value in theirs:
                self._insert(value)

    # Python assigns the results of these: a property accepts its own set unchanged.

    def __ior__(self, other: Iterable[T]) -> Set[T]:  # type: ignore[override, misc]
        self.update(other)
        return self

    def __iand__(self, other: Iterable[Any]) -> Set[T]:  # type: ignore[misc]
        self.intersection_update(other)
        return self

    def __isub__(self, other: Iterable[Any]) -> Set[T]:  # type: ignore[misc]
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
        with self._session.writing.arguments() as arguments:
            self._property.lend_element(value, arguments, self._session)
            self._call("insert", arguments.address, None, ctypes.byref(inserted))
        return inserted.value

    def _erase(self, value: Any) -> bool:
        erased = ctypes.c_bool()
        try:
            with self._session.writing.asking() as arguments:
                self._property.lend_element(value, arguments, self._session)
                self._call("erase", arguments.address, ctypes.byref(erased))
        except MISFITS:
            self._check_readable()
        return erased.value

    def _erase_at(self, indices: Iterable[int]) -> None:
        """Removes the elements with some indices."""
        value = ctypes.create_string_buffer(VALUE_SIZE)
        for index in sorted(indices, reverse=True):
            library().toft_set_get(self._handle.address, index, value)
            self._call("erase", value, None)

    # The database says which values are the same: NaN is the same as NaN, and true is not 1.

    def _compared(self, other: Iterable[Any]) -> tuple[set[int], list[Any]]:
        """The indices of the elements that another has too, and what it has besides."""
        both: set[int] = set()
        theirs: list[Any] = []
        items = [*other]
        kind = PLAIN_TYPES.get(self._property.type) if self._property.conversion is None else None
        knows = kind is not None and len(items) * _MANY >= len(self)
        mine: dict[Any, int] = {}
        if knows:
            mine = {value: index for index, value in enumerate(self)}
        for value in items:
            index = mine.get(value) if knows and type(value) is kind else self._find(value)
            if index is None:
                theirs.append(value)
            else:
                both.add(index)
        return both, theirs

    def _shared(self, others: Iterable[Iterable[Any]]) -> set[int]:
        """The indices of the elements that all others have."""
        return {*range(len(self))}.intersection(*(self._compared(other)[0] for other in others))

    def _met(self, others: Iterable[Iterable[Any]]) -> set[int]:
        """The indices of the elements that one of the others has."""
        return set().union(*(self._compared(other)[0] for other in others))
