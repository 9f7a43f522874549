"""Files that objects are read from, line by line: JSON, and comma-separated values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _values as values
from .errors import Error, InvalidArgumentError
from .parsing import BLANKS, NOT_JSON, number_of_field, value_of
from .schema import no_property
from .tables import key_name, names_in_files

if TYPE_CHECKING:
    from .rows import Binding, BoundProperty

Row = tuple[int, Any]
"""The number of an object's line, and the object as JSON."""

_NUMBERS = (values.INT, values.FLOAT, values.DOUBLE)
_TRUTHS = {"1": True, "0": False, "true": True, "false": False}
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\Z)')


class Source:
    """A file, and places in it for errors."""

    def __init__(self, file: Iterable[str]) -> None:
        self._file = file
        name = getattr(file, "name", None)
        self._name = f" of {name!r}" if isinstance(name, str) else ""
        self._line = 0

    def place(self, line: int) -> str:
        """A line in words."""
        return f"Line {line}{self._name}"

    def locate(self, error: Error, line: int) -> None:
        """Says in an error which line it is about."""
        error.message = f"{self.place(line)}: {error.message}"

    def empty(self) -> InvalidArgumentError:
        """That there is not even a header."""
        return InvalidArgumentError(f"The file{self._name} is empty: it names no properties.")

    def total(self, count: Callable[[Source], int]) -> int:
        """Number of objects, for which the whole file is read; 0 if it can be read only once."""
        if iter(self._file) is not self._file:
            return count(Source(self._file))
        file: Any = self._file
        try:
            start = file.tell()
            file.seek(start)
        except (AttributeError, OSError):
            return 0
        found = count(self)
        file.seek(start)
        return found

    def texts(self) -> Iterator[str]:
        """The file's text, without a byte order mark."""
        self._line, texts = 0, iter(self._file)
        while True:
            try:
                text = next(texts)
            except StopIteration:
                return
            except UnicodeDecodeError as error:
                raise InvalidArgumentError(
                    f"{self.place(self._line + 1)}, or one behind it, is not {error.encoding}: "
                    "open the file with the encoding that it has."
                ) from error
            if not isinstance(text, str):
                raise InvalidArgumentError(f"Open the file{self._name} as text, not as bytes.")
            self._line += 1
            yield text.removeprefix("\ufeff") if self._line == 1 else text

    def lines(self) -> Iterator[tuple[int, str]]:
        """The texts that are not blank, with their numbers."""
        for number, text in enumerate(self.texts(), 1):
            if text.strip(BLANKS):
                yield number, text

    def records(self) -> Iterator[tuple[int, str]]:
        """The lines, with the numbers of their first ones if they continue within quotes."""
        waiting: list[str] = []
        is_inside, first = False, 1
        for number, text in enumerate(_split(self.texts()), 1):
            waiting.append(text)
            is_inside ^= text.count('"') % 2 == 1
            if not is_inside:
                yield first, "".join(waiting)
                waiting, first = [], number + 1
        if waiting:
            yield first, "".join(waiting)


def _split(texts: Iterator[str]) -> Iterator[str]:
    """Texts that each end at a line end."""
    rest = ""
    for text in texts:
        if text.find("\n") == len(text) - 1 and text:
            yield rest + text
            rest = ""
            continue
        *whole, rest = (rest + text).split("\n")
        for line in whole:
            yield line + "\n"
    if rest:
        yield rest


# ------------------------------------------------------------------------------------------- JSON


def count_lines(source: Source) -> int:
    """How many objects JSON lines have."""
    return sum(1 for _ in source.lines())


def rows_of_lines(source: Source) -> Iterator[Row]:
    """The JSON values of a file, one a line."""
    for number, line in source.lines():
        try:
            yield number, value_of(line)
        except Error as error:
            source.locate(error, number)
            raise


# ------------------------------------------------------------------------- Comma-separated values


def count_records(source: Source) -> int:
    """How many objects comma-separated values have."""
    records = source.records()
    for line, text in records:
        if _is_blank(text):
            continue
        is_one = len(_fields(source, line, text)) == 1
        return sum(1 for _, record in records if is_one or not _is_blank(record))
    return 0


def rows_of_csv(binding: Binding, source: Source) -> Iterator[Row]:
    """The objects of comma-separated values, as JSON would have them."""
    records = source.records()
    header = next(((line, text) for line, text in records if not _is_blank(text)), None)
    if header is None:
        raise source.empty()
    names = [name for name, _ in _fields(source, *header)]
    properties = _header(binding, source, header[0], names)
    for line, text in records:
        if len(names) > 1 and _is_blank(text):
            continue
        fields = _fields(source, line, text)
        if len(fields) != len(names):
            raise InvalidArgumentError(
                f"{source.place(line)}: there are {len(fields)} fields, and the first line names "
                f"{len(names)}. A field with a comma in it is written in quotes."
            )
        row = {}
        for name, each, (field, is_quoted) in zip(names, properties, fields):
            try:
                if each is None:
                    row[name] = _number(field)
                elif field or is_quoted or not each.container:
                    row[name] = _value(binding, each, field, is_quoted)
            except Error as error:
                source.locate(error, line)
                raise
        yield line, row


def _header(
    binding: Binding, source: Source, line: int, names: list[str]
) -> list[BoundProperty | None]:
    """The properties of the fields; None for the key of an object."""
    known, key = names_in_files(binding), key_name(binding.cls)
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgumentError(
                f"{source.place(line)}: two fields are named {name!r:.80}. Leave one of them out."
            )
        if name not in known and name != key:
            error = no_property(binding.cls, name)
            error.message += " The first line names properties, with commas between them."
            source.locate(error, line)
            raise error
    return [known.get(name) for name in names]


def _is_blank(record: str) -> bool:
    return not record.strip(BLANKS)


def _fields(source: Source, line: int, record: str) -> list[tuple[str, bool]]:
    """The contents of a record's fields, and whether they were quoted."""
    fields: list[tuple[str, bool]] = []
    position, end = 0, ","
    while end == ",":
        found = _FIELD.match(record, position)
        if found is None:
            line += record.count("\n", 0, position)
            raise InvalidArgumentError(
                f"{source.place(line)}: the quotes of field {len(fields) + 1} are odd. A field "
                "with quotes in it is written in quotes, and has each of its own twice."
            )
        quoted, plain, end = found.groups()
        fields.append((plain if quoted is None else quoted.replace('""', '"'), quoted is not None))
        position = found.end()
    return fields


def _value(binding: Binding, each: BoundProperty, field: str, is_quoted: bool) -> Any:
    """A field as JSON. A text that is not a value of its type stays a text, and is then refused."""
    kind = each.type
    if not field and not is_quoted:
        return "" if kind == values.STRING and not each.is_nullable else None
    if each.container is not None or kind == values.MIXED or binding.session.classes.owns(each):
        return _json(binding, each, field)
    if kind == values.LINK:
        target = binding.session.classes.binding_of_key(each.target)
        if target.primary_key is None:
            return _json(binding, each, field)
        kind = target.property(target.primary_key).type
    if kind in _NUMBERS:
        return _number(field)
    if kind == values.BOOL:
        return _TRUTHS.get(field.lower(), field)
    return field


def _number(field: str) -> Any:
    number = number_of_field(field)
    return field if number is None else number


def _json(binding: Binding, each: BoundProperty, field: str) -> Any:
    try:
        return value_of(field)
    except Error as error:
        reason = error.message
        if reason.startswith(NOT_JSON):
            reason = (
                f"{field!r:.80} is not JSON, as which a field has what is mixed, embedded or many "
                f"values: {reason.removeprefix(NOT_JSON)}"
            )
        error.message = f"{binding.cls.__name__}.{each.name}: {reason}"
        raise
