"""Objects from JSON."""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any
from uuid import UUID

from . import _values as values
from .adding import Adding, mapped
from .conversions import OwnConversion
from .errors import (
    InvalidArgumentError,
    NoSuchObjectError,
    TypeMismatchError,
    ValueTooLongError,
)
from .identifiers import ObjectId
from .objects import Object, live_object
from .plain import null_key_link
from .rows import Binding, BoundProperty
from .tables import Progress, key_name, watched

if TYPE_CHECKING:
    from .database import Realm


_FLOATS = (values.FLOAT, values.DOUBLE)
_TEXTS = (values.DATE, values.DATA, values.UUID, values.OBJECT_ID, values.DECIMAL, *_FLOATS)
_SECONDS = re.compile(r"T(-?\d{1,19}):(-?\d{1,9})")
"""How the library writes a date outside of the years 1583 to 9999: seconds and nanoseconds since
1970."""
_FRACTION = re.compile(r"\.(\d+)")
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def read_json(realm: Realm, binding: Binding, text: str | bytes, policy: int) -> list[Any]:
    """See `Realm.from_json`."""
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise InvalidArgumentError(f"This is not JSON: {error}") from None
    except RecursionError:
        raise ValueTooLongError("Too many arrays and objects are within one another.") from None
    return read_rows(realm, binding, plain if isinstance(plain, list) else [plain], policy)


def read_rows(
    realm: Realm, binding: Binding, rows: list[Any], policy: int, progress: Progress | None = None
) -> list[Any]:
    """Creates an object of each value that JSON has given, all or none."""
    return _Reader(realm, policy).read(binding, rows, progress)


class _Reader:
    """Creates objects, and links them once all are there."""

    def __init__(self, realm: Realm, policy: int) -> None:
        self._realm = realm
        self._adding = Adding(realm, policy)
        self._links: list[tuple[Object, BoundProperty, Any]] = []
        # Of classes without primary key, by the keys of the classes and those in the text.
        self._named: dict[tuple[int, Any], Object] = {}
        self._key_names: dict[type[Object], str] = {}

    def read(self, binding: Binding, rows: list[Any], progress: Progress | None) -> list[Any]:
        made = []
        try:
            for row in watched(rows, len(rows), progress):
                made.append(self._object(binding, row))
            for instance, each, keys in self._links:
                found = self._mapped(each, keys, lambda key: self._found(each, key))
                setattr(instance, each.name, found)
        except BaseException:
            self._adding.take_back()
            raise
        return made

    def _object(self, binding: Binding, row: Any) -> Object:
        if not isinstance(row, Mapping):
            raise TypeMismatchError(f"A {binding.cls.__name__} is a JSON object, not {row!r:.80}")
        given: dict[str, Any] = {}
        links: list[tuple[BoundProperty, Any]] = []
        key_name = self._key_name(binding)
        for name, value in row.items():
            if name == key_name:
                continue
            each = binding.property(name)
            if value is not None and self._realm._owns(each):
                given[name] = self._embedded(each, value)
            elif each.type == values.LINK and value is not None:
                links.append((each, value))
            else:
                given[name] = self._value(each, value)
        instance = live_object(binding.cls, self._adding.create(binding, given))
        if binding.primary_key is None and isinstance(key := row.get(key_name), int):
            if (binding.key, key) in self._named:
                raise InvalidArgumentError(
                    f"Two objects of {binding.cls.__name__} have {key} as their {key_name!r}, by "
                    "which links find them."
                )
            self._named[binding.key, key] = instance
        for each, value in links:
            target = self._realm._binding_of_key(each.target)
            read = self._mapped(
                each,
                value,
                lambda item: self._object(target, item) if _is_object(target, item) else item,
            )
            self._links.append((instance, each, read))
        return instance

    def _key_name(self, binding: Binding) -> str:
        if binding.cls not in self._key_names:
            self._key_names[binding.cls] = key_name(binding.cls)
        return self._key_names[binding.cls]

    @staticmethod
    def _mapped(each: BoundProperty, value: Any, function: Callable[[Any], Any]) -> Any:
        """The one value of a property, or each of many, as a function gives it."""
        if each.container is None:
            return function(value)
        each.check_container(value)
        return mapped(value, function)

    def _embedded(self, each: BoundProperty, value: Any) -> Any:
        """What a property owns, as mappings of values."""
        target = self._realm._binding_of_key(each.target)

        def read(row: Any) -> dict[str, Any] | None:
            if row is None:
                return None
            if not isinstance(row, Mapping):
                raise TypeMismatchError(
                    f"{each.name}: a {target.cls.__name__} is a JSON object, not {row!r:.80}"
                )
            given = {}
            for name, inner in row.items():
                item = target.property(name)
                if inner is not None and self._realm._owns(item):
                    given[name] = self._embedded(item, inner)
                elif item.type == values.LINK and inner is not None:
                    given[name] = self._mapped(item, inner, lambda key: self._linked(item, key))
                else:
                    given[name] = self._value(item, inner)
            return given

        return self._mapped(each, value, read)

    def _linked(self, each: BoundProperty, key: Any) -> Object | None:
        """What an embedded object links to: an object inside, or one that is there already."""
        target = self._realm._binding_of_key(each.target)
        if _is_object(target, key):
            return self._object(target, key)
        return self._found(each, key)

    def _found(self, each: BoundProperty, key: Any) -> Object | None:
        if key is None or isinstance(key, Object):
            return key
        target = self._realm._binding_of_key(each.target)
        if target.primary_key is None:
            if isinstance(key, int) and (target.key, key) in self._named:
                return self._named[target.key, key]
            raise InvalidArgumentError(
                f"{each.name}: a {target.cls.__name__} has no primary key to be found by: write it "
                f"inside, as to_json(depth=1) does, or have {key!r:.80} as its "
                f"'{self._key_name(target)}'."
            )
        # A mapping, as no object stands there: the object whose primary key is None.
        named = None
        if not isinstance(key, Mapping):
            named = self._scalar(target.property(target.primary_key), key)
        if (found := self._realm.object(target.cls, named)) is None:
            raise NoSuchObjectError(f"{each.name}: there is no {target.cls.__name__} {key!r:.80}.")
        return found

    def _value(self, each: BoundProperty, value: Any) -> Any:
        return self._mapped(each, value, lambda item: self._scalar(each, item))

    def _scalar(self, each: BoundProperty, value: Any) -> Any:
        plain = self._stored(each, value)
        is_own = isinstance(each.conversion, OwnConversion)
        return each.conversion.read(plain) if each.conversion and is_own else plain

    @staticmethod
    def _stored(each: BoundProperty, value: Any) -> Any:
        if not isinstance(value, str) or each.type not in _TEXTS:
            return value
        try:
            if each.type == values.UUID:
                return UUID(value)
            if each.type == values.OBJECT_ID:
                return ObjectId(value)
            if each.type == values.DECIMAL:
                return Decimal(value)
            if each.type == values.DATA:
                return b64decode(value, validate=True)
            if each.type in _FLOATS:
                return _NOT_FINITE.get(value, value)
            moment = _moment(value)
            is_day = each.conversion is not None and each.conversion.python_type is date
            return moment.date() if is_day else moment
        except InvalidOperation:
            raise TypeMismatchError(f"{each.name}: {value!r:.80} is not a number.") from None
        except ValueError as error:
            raise TypeMismatchError(f"{each.name}: {value!r:.80}: {error}") from None


def _moment(text: str) -> datetime:
    """The point in time that a text says; what is finer than a microsecond is cut off."""
    if found := _SECONDS.fullmatch(text):
        try:
            return values.date_of(*map(int, found.groups()))
        except InvalidArgumentError:
            raise ValueError("datetime has the years 1 to 9999 only") from None
    # Older versions of Python read three or six digits only.
    text = _FRACTION.sub(lambda found: f".{found[1][:6]:0<6}", text, count=1)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _is_object(target: Binding, value: Any) -> bool:
    """Whether an object stands in the place of a link."""
    return isinstance(value, Mapping) and value != null_key_link(target.cls)
