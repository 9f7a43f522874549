"""Types of Python that the file has not: enumerations and dates, and as what they are stored."""

from __future__ import annotations

from datetime import date, datetime, timezone
from enum import Enum
from typing import Any

from . import _values as values
from .errors import TypeMismatchError


class Conversion:
    """From a type of Python to one of the file, and back. None stays None."""

    type: int
    python_type: Any
    """The annotated type."""
    zero: Any
    """What an object has that was made without a value."""

    def stored(self, value: Any) -> Any:
        """What is written."""
        raise NotImplementedError

    def read(self, value: Any) -> Any:
        """What a stored value is in Python."""
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
            # What an object has that was made before the class had this property.
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
