"""Which values surely fit where they are written.

A change of many values is all or none. What it replaces has to be kept for that, unless nothing can
fail, and to ask here costs less than to keep it. So the answer "yes" is sure, short of a failing
disk; "no" only says that the library has to be asked.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from . import _values as values
from .conversions import OwnConversion
from .errors import Error
from .identifiers import ObjectId

if TYPE_CHECKING:
    from .rows import BoundProperty

_LONGEST_KEY = 64
"""Characters of a primary key, of which the library takes some more."""
_LONGEST = 1 << 20
"""Characters or bytes of any value, of which the library takes more."""

_TYPES: dict[int, type] = {
    values.BOOL: bool,
    values.INT: int,
    values.FLOAT: float,
    values.DOUBLE: float,
    values.STRING: str,
    values.DATA: bytes,
    values.DATE: datetime,
    values.UUID: UUID,
    values.OBJECT_ID: ObjectId,
    values.DECIMAL: Decimal,
}
_SCALARS = (bool, int, float, str, bytes)
_HELD: dict[type, tuple[type, ...]] = {
    list: (list, tuple),
    set: (set, frozenset),
    dict: (dict,),
}


def primary_key_fits(value: Any) -> bool:
    """Whether a value that fits surely is short enough for a primary key."""
    return not isinstance(value, (str, bytes)) or len(value) <= _LONGEST_KEY


def fits(each: BoundProperty, value: Any) -> bool:
    """Whether a value surely fits a property."""
    if each.container is None:
        return _one_fits(each, value)
    if type(value) not in _HELD[each.container]:
        return False
    if each.container is dict and not all(map(key_fits, value)):
        return False
    items = value.values() if each.container is dict else value
    return all(_one_fits(each, item) for item in items)


def key_fits(key: object) -> bool:
    """Whether this surely is a key of a dictionary."""
    if type(key) is not str or "." in key or key.startswith("$"):
        return False
    return len(key) <= _LONGEST and _is_text(key)


def _one_fits(each: BoundProperty, value: Any) -> bool:
    if value is None:
        return each.is_nullable
    if each.conversion is not None:
        if isinstance(each.conversion, OwnConversion):
            return False
        try:
            value = each.conversion.stored(value)
        except Error:
            return False
    kind = type(value)
    if each.type == values.MIXED:
        if kind not in _SCALARS:
            return False
    elif kind is not _TYPES.get(each.type):
        return False
    if kind is int:
        return bool(-(2**63) <= value < 2**63)
    if kind is str:
        return len(value) <= _LONGEST and _is_text(value)
    if kind is bytes:
        return len(value) <= _LONGEST
    return kind is not datetime or value.tzinfo is values.UTC


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
