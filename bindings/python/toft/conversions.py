"""Types of Python that the file has not: enumerations, dates and types of the program's own, and as
what they are stored.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from copy import copy
from datetime import date, datetime, timezone
from enum import Enum
from typing import Any, Generic, TypeVar

from . import _values as values
from .errors import TypeMismatchError

P = TypeVar("P")
S = TypeVar("S")


class StoredAs(Generic[P, S]):
    """Says as what a type of the program's own is stored, in its annotation:

    `Length = Annotated[timedelta, toft.StoredAs(float, timedelta.total_seconds, to_length)]`

    A property is then of that type: `length: Length`, `Length | None`, `list[Length]`, `set`,
    `dict[str, Length]`. Comparisons of expressions take it (`Film.length > timedelta(hours=2)`);
    texts of queries, sorts, sums and averages use the stored form.

    `type`: bool, int, float, toft.Float32, str, bytes, datetime, Decimal, UUID or toft.ObjectId.
    `write` returns the stored form, `read` the value again; neither is called for None. Their
    exceptions become the cause of a TypeMismatchError that names class, property and value. `zero`:
    the value of an object that was created without one; by default the result of `read` for 0, "",
    b"" and the like. If `read` has none for that, a value must be given.
    """

    __slots__ = ("read", "type", "write", "zero")

    def __init__(
        self,
        type: builtins.type[S],
        write: Callable[[P], S],
        read: Callable[[S], P],
        *,
        zero: P | None = None,
    ) -> None:
        self.type = type
        self.write = write
        self.read = read
        self.zero = zero

    def __repr__(self) -> str:
        return f"StoredAs({getattr(self.type, '__name__', self.type)})"


class Conversion:
    """From a type of Python to one of the file, and back. None stays None."""

    type: int
    python_type: Any
    """The annotated type."""
    zero: Any
    """The value of an object that was created without one."""

    def stored(self, value: Any) -> Any:
        """The form that is written."""
        raise NotImplementedError

    def read(self, value: Any) -> Any:
        """The Python form of a stored value."""
        raise NotImplementedError


class _EnumConversion(Conversion):
    """The value of an enumeration's member: an int or a text."""

    def __init__(self, kind: type[Enum], type: int) -> None:
        self._kind = self.python_type = kind
        self.type = type
        self._stored_zero = "" if type == values.STRING else 0
        try:
            self.zero = kind(self._stored_zero)
        except ValueError:
            self.zero = next(iter(kind))

    def stored(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, (bool, float)):  # equal to an int, and none
            raise TypeMismatchError(f"{value!r} is no {self._kind.__name__}.")
        try:
            return self._kind(value).value
        except ValueError:
            members = ", ".join(map(str, self._kind))
            raise TypeMismatchError(
                f"{value!r:.80} is no {self._kind.__name__}: {members:.200}"
            ) from None

    def read(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self._kind(value)
        except ValueError:
            # The value of an object that was made before the class had this property.
            if value == self._stored_zero:
                return self.zero
            raise TypeMismatchError(
                f"The file holds {value!r:.80}, which is no {self._kind.__name__}."
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _EnumConversion) and [each.value for each in self._kind] == [
            each.value for each in other._kind
        ]

    def __hash__(self) -> int:
        return hash(self.type)


class _DateConversion(Conversion):
    """A day, stored as its midnight in UTC."""

    type = values.DATE
    python_type = date
    zero = values.EPOCH.date()

    def stored(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, datetime) or not isinstance(value, date):
            raise TypeMismatchError(f"A date is due, not {value!r:.80}: say value.date().")
        return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)

    def read(self, value: Any) -> Any:
        return None if value is None else value.date()


_DATE = _DateConversion()


class OwnConversion(Conversion):
    """The conversion of a `StoredAs`."""

    def __init__(self, python_type: Any, declared: StoredAs[Any, Any], type: int, zero: Any):
        self.python_type = python_type
        self.type = type
        self._declared = declared
        self._name = ""
        try:
            self.zero = declared.read(zero) if declared.zero is None else declared.zero
        except Exception:
            self.zero = None

    def named(self, name: str) -> OwnConversion:
        """The conversion for a property, which its errors name."""
        found = copy(self)
        found._name = name
        return found

    def stored(self, value: Any) -> Any:
        if value is None:
            return None
        kind = self.python_type
        if isinstance(kind, type) and not isinstance(value, kind):
            raise TypeMismatchError(f"{self._name}: {value!r:.80} is no {kind.__name__}.")
        try:
            return self._declared.write(value)
        except Exception as error:
            raise TypeMismatchError(
                f"{self._name}: {value!r:.80} cannot be stored: {error!r:.200}"
            ) from error

    def read(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self._declared.read(value)
        except Exception as error:
            raise TypeMismatchError(
                f"{self._name}: the file holds {value!r:.80}, which cannot be read: {error!r:.200}"
            ) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnConversion) and self._declared is other._declared

    def __hash__(self) -> int:
        return hash(self._declared)


def conversion_of(annotation: Any) -> Conversion | None:
    """That of an annotated type, if it needs one. Raises TypeError with what is wrong with it."""
    if annotation is date:
        return _DATE
    if not (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return None
    members = [member.value for member in annotation]
    if members and all(isinstance(value, str) for value in members):
        return _EnumConversion(annotation, values.STRING)
    if members and all(type(value) is int for value in members):
        return _EnumConversion(annotation, values.INT)
    raise TypeError(f"the members of {annotation.__name__} are not all texts or all ints")
