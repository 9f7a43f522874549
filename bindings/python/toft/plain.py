"""Objects as plain Python: dictionaries, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from datetime import date
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any
from uuid import UUID

from . import _values as values
from .conversions import OwnConversion
from .identifiers import ObjectId
from .rows import Live
from .schema import PropertySchema, primary_key_of, properties_of

if TYPE_CHECKING:
    from .objects import Object

_FLOATS = (values.FLOAT, values.DOUBLE)


def dictionary(instance: Object, depth: int, *, is_stored: bool = False) -> dict[str, Any]:
    """See `Object.to_dict`. `is_stored`: values of types of one's own are as they are stored, and
    numbers that JSON has not are texts.
    """
    return {
        each.name: _linked(_plain(instance, each, is_stored), each, depth, is_stored)
        for each in properties_of(type(instance)).values()
        if each.type != values.LINKING_OBJECTS
    }


def _plain(instance: Object, each: PropertySchema, is_stored: bool) -> Any:
    value = getattr(instance, each.name)
    own = each.conversion if isinstance(each.conversion, OwnConversion) else None
    if not is_stored or own is None and each.type not in _FLOATS:
        return value

    def stored(item: Any) -> Any:
        plain = item if own is None else own.stored(item)
        return str(plain) if isinstance(plain, float) and not isfinite(plain) else plain

    if each.container is dict:
        return {key: stored(item) for key, item in value.items()}
    return [*map(stored, value)] if each.container else stored(value)


def _linked(value: Any, each: PropertySchema, depth: int, is_stored: bool) -> Any:
    def linked(item: Object | None) -> Any:
        found = _linked_object(item, depth, is_stored)
        if found is None and item is not None and is_stored and each.type == values.LINK:
            return null_key_link(type(item))
        return found

    if each.type == values.MIXED:
        return _mixed(value, linked, _finite if is_stored else None)
    if each.container is dict:
        return {key: linked(item) if each.target else item for key, item in value.items()}
    if each.container is not None:
        return [*map(linked, value)] if each.target else list(value)
    return linked(value) if each.target else value


def _mixed(
    value: Any,
    function: Callable[[Object], Any],
    number: Callable[[float], Any] | None = None,
) -> Any:
    """A mixed value, or a collection of them, with a function called for each object in it, and
    one for each float.
    """
    if hasattr(type(value), "_toft_declared"):
        return function(value)
    if isinstance(value, Mapping):
        return {key: _mixed(item, function, number) for key, item in value.items()}
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (str, bytes, bytearray)):
        return [_mixed(item, function, number) for item in value]
    return number(value) if number is not None and isinstance(value, float) else value


def _finite(value: float) -> Any:
    """A mixed number as JSON has it, which has no NaN and no infinities."""
    return value if isfinite(value) else {"$double": str(value)}


class _Name:
    """An object as a value is shown."""

    def __init__(self, instance: Object) -> None:
        self._instance = instance

    def __repr__(self) -> str:
        return f"{type(self._instance).__name__} {name_of(self._instance)}"


def named(value: Any) -> Any:
    """A mixed value to be shown: with the names of objects, which may lead to each other."""
    return _mixed(value, _Name)


def _linked_object(linked: Object | None, depth: int, is_stored: bool) -> Any:
    if linked is None:
        return None
    rows = linked._rows
    is_part = rows.binding.is_embedded if isinstance(rows, Live) else linked._toft_is_embedded
    if is_part:
        return dictionary(linked, depth, is_stored=is_stored)
    if depth > 0:
        return dictionary(linked, depth - 1, is_stored=is_stored)
    return name_of(linked, is_stored=is_stored)


def null_key_link(cls: type[Object]) -> dict[str, Any]:
    """The link to the object of a class whose primary key is None, which alone means no link."""
    return {"$class": cls.__name__, "$link": None}


def name_of(instance: Object, *, is_stored: bool = False) -> Any:
    """The identity of an object in its class: the primary key, otherwise the key of the file."""
    properties = properties_of(type(instance))
    if primary_key := primary_key_of(properties):
        return _plain(instance, properties[primary_key], is_stored)
    return instance._rows.key(instance._row)


def json_text(plain: Any, indent: int | None) -> str:
    """Dictionaries of objects as JSON: dates as in ISO 8601, bytes in base 64, identifiers and
    decimals as text, the values of enumerations.
    """
    from json import dumps

    return dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False, default=_json_value)


def _json_value(value: Any) -> Any:
    if isinstance(value, date):  # datetime too
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        from base64 import b64encode

        return b64encode(value).decode()
    if isinstance(value, (UUID, ObjectId, Decimal)):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{value!r:.80} has no form in JSON")
