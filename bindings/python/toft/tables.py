"""Objects in files: as JSON lines, and as comma-separated values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from . import _values as values
from .errors import InvalidArgumentError
from .plain import dictionary, json_text

if TYPE_CHECKING:
    from .query import Results
    from .rows import Binding, BoundProperty

Progress = Callable[[int, int], object]
"""Called with how many objects are done and how many there are. What it raises ends the call."""

_JSON = (values.BOOL, values.INT, values.FLOAT, values.DOUBLE, values.MIXED)
_QUOTED = re.compile(r'[",\r\n]|^ | $|^$')
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\Z)')


# ----------------------------------------------------------------------------------------- Writing


def write_lines(objects: Results[Any], file: TextIO, depth: int, progress: Progress | None) -> int:
    """See `Results.write_json_lines`."""
    for instance in watched(objects, len(objects), progress):
        file.write(json_text(dictionary(instance, depth, is_stored=True), None) + "\n")
    return len(objects)


def write_csv(
    objects: Results[Any], names: list[str], file: TextIO, progress: Progress | None
) -> int:
    """See `Results.write_csv`."""
    file.write(",".join(map(_quoted, names)) + "\r\n")
    for instance in watched(objects, len(objects), progress):
        plain = dictionary(instance, 0, is_stored=True)
        file.write(",".join(_cell(plain[name]) for name in names) + "\r\n")
    return len(objects)


def watched(things: Iterable[Any], count: int, progress: Progress | None) -> Iterator[Any]:
    """Things one after the other; `progress` is called when one is done."""
    for done, thing in enumerate(things, 1):
        yield thing
        if progress is not None:
            progress(done, count)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and type(value) is str:
        return _quoted(value)
    text = json_text(value, None)
    return _quoted(json.loads(text) if text.startswith('"') else text)


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if _QUOTED.search(text) else text


# ----------------------------------------------------------------------------------------- Reading


def lines_of(file: Iterable[str]) -> list[Any]:
    """The JSON values of a file, one a line."""
    found = []
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except ValueError as error:
                raise InvalidArgumentError(f"Line {number} is not JSON: {error}") from None
    return found


def rows_of_csv(binding: Binding, text: str) -> list[dict[str, Any]]:
    """The objects of comma-separated values, as JSON would have them."""
    records = _records(text.removeprefix("\ufeff"))
    _, header = next(records, (1, []))
    if not header:
        raise InvalidArgumentError("The file is empty: it names no properties.")
    properties = [binding.property(name) for name, _ in header]
    rows = []
    for line, record in records:
        if len(record) != len(properties):
            raise InvalidArgumentError(
                f"Line {line}: there are {len(record)} fields, and the first line names "
                f"{len(properties)}."
            )
        row = {}
        for each, (field, is_quoted) in zip(properties, record):
            if field or is_quoted or not (each.container or _is_zero(each)):
                row[each.name] = _value(binding, each, field, is_quoted, line)
        rows.append(row)
    return rows


def _is_zero(each: BoundProperty) -> bool:
    """Whether nothing between two commas is the empty text."""
    return each.type == values.STRING and not each.is_nullable


def _records(text: str) -> Iterator[tuple[int, list[tuple[str, bool]]]]:
    """The number of the first line of each record, and its fields: what they are, and whether they
    stood in quotes."""
    position, line, record = 0, 1, list[tuple[str, bool]]()
    first = line
    while position < len(text) or record:
        found = _FIELD.match(text, position)
        if found is None:
            raise InvalidArgumentError(
                f"Line {line}: the quotes of field {len(record) + 1} are odd."
            )
        quoted, plain, end = found.groups()
        record.append((plain if quoted is None else quoted.replace('""', '"'), quoted is not None))
        line += found[0].count("\n")
        position = found.end()
        if end != ",":
            if record != [("", False)]:
                yield first, record
            record, first = [], line


def _value(binding: Binding, each: BoundProperty, field: str, is_quoted: bool, line: int) -> Any:
    if not field and not is_quoted:
        return None
    kind = each.type
    if kind == values.LINK:
        target = binding.realm._binding_of_key(each.target)
        kind = target.property(target.primary_key).type if target.primary_key else values.MIXED
    if each.container is None and kind not in _JSON:
        return field
    try:
        return json.loads(field.lower() if kind == values.BOOL else field)
    except ValueError as error:
        raise InvalidArgumentError(
            f"Line {line}, {each.name}: {field!r:.80} is no value: {error}"
        ) from None
