"""Objects in files: as JSON lines, and as comma-separated values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from . import _values as values
from .errors import InvalidArgumentError, MissingPrimaryKeyError, ValueTooLongError
from .plain import dictionary, json_text, name_of
from .schema import primary_key_of, properties_of

if TYPE_CHECKING:
    from .objects import Object
    from .query import Results
    from .rows import Binding, BoundProperty

Progress = Callable[[int, int], object]
"""Called with how many objects are done and how many there are. What it raises ends the call."""

KEY = "_key"
"""What a file calls an object without primary key by: see `key_name`."""

_FLOATS = (values.FLOAT, values.DOUBLE)
_JSON = (values.BOOL, values.INT, *_FLOATS, values.MIXED)
_BLANK = [("", False)]
_TRUTHS = {"1": True, "0": False, "true": True, "false": False}
_QUOTED = re.compile(r'[",\r\n]|^ | $|^$')
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\Z)')


# ----------------------------------------------------------------------------------------- Writing


def write_lines(objects: Results[Any], file: TextIO, depth: int, progress: Progress | None) -> int:
    """See `Results.write_json_lines`."""
    count = 0
    for count, instance in enumerate(watched(objects, len(objects), progress), 1):
        file.write(json_text(_named(instance, depth), None) + "\n")
    return count


def write_csv(
    objects: Results[Any],
    binding: Binding,
    names: list[str],
    file: TextIO,
    progress: Progress | None,
) -> int:
    """See `Results.write_csv`. `names`: of properties; all if there is none."""
    stored = [e.name for e in binding.properties.values() if e.type != values.LINKING_OBJECTS]
    names = names or [key_name(binding.cls)] * (binding.primary_key is None) + stored
    mixed = {e.name for e in binding.properties.values() if e.type == values.MIXED}
    links = [e.name for e in binding.properties.values() if e.type == values.LINK]
    links = [e for e in links if e in names and not binding.realm._owns(binding.property(e))]
    file.write(",".join(map(_quoted, names)) + "\r\n")
    count = 0
    for count, instance in enumerate(watched(objects, len(objects), progress), 1):
        plain = _named(instance, 0)
        for name in links:
            if isinstance(plain[name], dict) and binding.property(name).container is None:
                raise MissingPrimaryKeyError(
                    f"{binding.cls.__name__}.{name} links to an object whose primary key is None, "
                    "which a field can't say: write JSON lines."
                )
        file.write(",".join(_cell(plain[name], name in mixed) for name in names) + "\r\n")
    return count


def _named(instance: Any, depth: int) -> dict[str, Any]:
    """The object as it is stored; without primary key it has a name, by which others link to it."""
    plain = dictionary(instance, depth, is_stored=True)
    if primary_key_of(properties_of(type(instance))) is None:
        return {key_name(type(instance)): name_of(instance), **plain}
    return plain


def key_name(cls: type[Object]) -> str:
    """What a file calls an object of a class without primary key by: `_key`, with one `_` more
    where a property has the name, and so on."""
    properties = properties_of(cls)
    taken = {*properties, *(each.stored_name for each in properties.values())}
    name = KEY
    while name in taken:
        name = f"_{name}"
    return name


def watched(things: Iterable[Any], count: int, progress: Progress | None) -> Iterator[Any]:
    """Things one after the other; `progress` is called when one is done."""
    for done, thing in enumerate(things, 1):
        yield thing
        if progress is not None:
            progress(done, count)


def _cell(value: Any, is_mixed: bool) -> str:
    if value is None:
        return ""
    if type(value) is str and not is_mixed:
        return _quoted(value)
    text = json_text(value, None)
    return _quoted(json.loads(text) if text.startswith('"') and not is_mixed else text)


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
            except RecursionError:
                raise ValueTooLongError(
                    f"Line {number}: too many arrays and objects are within one another."
                ) from None
    return found


def rows_of_csv(binding: Binding, text: str) -> list[dict[str, Any]]:
    """The objects of comma-separated values, as JSON would have them."""
    records = _records(text.removeprefix("\ufeff"))
    header = next((record for _, record in records if record != _BLANK), None)
    if header is None:
        raise InvalidArgumentError("The file is empty: it names no properties.")
    key = key_name(binding.cls)
    for name, _ in header:
        if sum(name == other for other, _ in header) > 1:
            raise InvalidArgumentError(f"Two fields are named {name!r:.80}.")
    properties = [None if name == key else binding.property(name) for name, _ in header]
    rows = []
    for line, record in records:
        if record == _BLANK and len(properties) > 1:
            continue
        if len(record) != len(properties):
            raise InvalidArgumentError(
                f"Line {line}: there are {len(record)} fields, and the first line names "
                f"{len(properties)}."
            )
        row = {}
        for each, (field, is_quoted) in zip(properties, record):
            if each is None:
                row[key] = _json(line, key, field)
            elif field or is_quoted or not each.container:
                row[each.name] = _value(binding, each, field, is_quoted, line)
        rows.append(row)
    return rows


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
            yield first, record
            record, first = [], line


def _value(binding: Binding, each: BoundProperty, field: str, is_quoted: bool, line: int) -> Any:
    kind = each.type
    if not field and not is_quoted:
        return "" if kind == values.STRING and not each.is_nullable else None
    if kind == values.LINK:
        target = binding.realm._binding_of_key(each.target)
        kind = target.property(target.primary_key).type if target.primary_key else values.MIXED
    if each.container is None:
        if kind not in _JSON or kind in _FLOATS and field in ("nan", "inf", "-inf"):
            return field
        if kind == values.BOOL and field.lower() in _TRUTHS:
            return _TRUTHS[field.lower()]
    return _json(line, each.name, field)


def _json(line: int, name: str, field: str) -> Any:
    try:
        return json.loads(field)
    except RecursionError:
        raise ValueTooLongError(
            f"Line {line}, {name}: too many arrays and objects are within one another."
        ) from None
    except ValueError as error:
        raise InvalidArgumentError(
            f"Line {line}, {name}: {field!r:.80} is no value: {error}"
        ) from None
