"""Objects as tables of HTML, which notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from . import _values as values
from .plain import name_of, named
from .schema import PropertySchema, properties_of

if TYPE_CHECKING:
    from .objects import Object

_ROWS_SHOWN = 10
_LENGTH_SHOWN = 80


def html_of_text(text: str) -> str:
    """The text that is shown instead of a table."""
    return f"<code>{escape(text)}</code>"


def html_of_object(instance: Object) -> str:
    """A table of its properties."""
    rows = (
        f"<tr><th>{escape(each.name)}</th>{_cell(instance, each)}</tr>" for each in _shown(instance)
    )
    return f"<table><caption>{escape(type(instance).__name__)}</caption>{''.join(rows)}</table>"


def html_of_objects(title: str, cls: type[Object], objects: Iterable[Object], count: int) -> str:
    """A table of the first of some objects, one a row."""
    shown = [each for each, _ in zip(objects, range(_ROWS_SHOWN)) if each is not None]
    properties = list(_of_class(cls))
    head = "".join(f"<th>{escape(each.name)}</th>" for each in properties)
    rows = "".join(
        f"<tr>{''.join(_cell(instance, each) for each in properties)}</tr>" for instance in shown
    )
    more = f", the first {len(shown)}" if count > len(shown) else ""
    return f"<table><caption>{escape(title)}{more}</caption><tr>{head}</tr>{rows}</table>"


def _shown(instance: Object) -> Iterator[PropertySchema]:
    return _of_class(type(instance))


def _of_class(cls: type[Object]) -> Iterator[PropertySchema]:
    return (each for each in properties_of(cls).values() if each.type != values.LINKING_OBJECTS)


def _cell(instance: Object, each: PropertySchema) -> str:
    value = getattr(instance, each.name)
    if each.container is not None:
        first = islice(value.items() if each.container is dict else value, _ROWS_SHOWN)
        items = [
            f"{item[0]}: {_words(item[1], each)}" if each.container is dict else _words(item, each)
            for item in first
        ]
        text = ", ".join(items) + (", …" if len(value) > len(items) else "")
    else:
        text = _words(value, each)
    if len(text) > _LENGTH_SHOWN:
        text = f"{text[: _LENGTH_SHOWN - 1]}…"
    return f"<td>{escape(text)}</td>"


def _words(value: Any, each: PropertySchema) -> str:
    if value is None:
        return ""
    if each.type == values.MIXED:
        return str(named(value))
    return f"{each.target} {name_of(value)}" if each.target else str(value)
