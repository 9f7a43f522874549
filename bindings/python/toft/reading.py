"""Objects from JSON, and from files of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from sys import getrecursionlimit
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import TOFT_MAX_NESTED_COLLECTIONS, TOFT_MAX_VALUE_SIZE, toft_update_policy
from .adding import Adding, mapped
from .arguments import LinesToRead, lines_of, require_function
from .conversions import OwnConversion
from .errors import (
    DuplicatePrimaryKeyError,
    Error,
    InvalidArgumentError,
    NoSuchClassError,
    NoSuchObjectError,
    ReadOnlyPropertyError,
    TransactionError,
    TypeMismatchError,
    ValueTooLongError,
)
from .objects import Object, find, live_object
from .parsing import (
    Numeral,
    data_of,
    decimal_of,
    moment_of,
    not_finite_of,
    object_id_of,
    uuid_of,
    value_of,
)
from .plain import null_key_link
from .rows import Binding, BoundProperty, Single
from .schema import no_property
from .sources import (
    Row,
    Source,
    count_lines,
    count_records,
    rows_of_csv,
    rows_of_lines,
)
from .tables import Progress, key_name, names_in_files

if TYPE_CHECKING:
    from .session import Session

_TAGS = {
    "$double": values.DOUBLE,
    "$float": values.FLOAT,
    "$data": values.DATA,
    "$date": values.DATE,
    "$uuid": values.UUID,
    "$objectId": values.OBJECT_ID,
    "$decimal": values.DECIMAL,
}
"""The members that name the type of a mixed value that JSON lacks: `{"$data": "AP8="}`."""
_FORMS = {
    values.BOOL: "a bool: true or false",
    values.INT: "an int: it is whole and has 64 bits",
    values.FLOAT: 'a float: a number of 32 bits, "nan", "inf" or "-inf"',
    values.DOUBLE: 'a float: a number, "nan", "inf" or "-inf"',
    values.STRING: "a text",
    values.DATA: "bytes: they are a text in base 64",
    values.DATE: "a date: it is a text in ISO 8601 with a time zone, as 2026-11-22T08:30:00Z",
    values.UUID: "a UUID: it is a text of 8-4-4-4-12 hexadecimal digits",
    values.OBJECT_ID: "an object id: it is a text of 24 hexadecimal digits",
    values.DECIMAL: "a decimal: a number of at most 34 digits, or a text of one",
}
_FIRST_RETRY = 4096
"""How many links wait before those are filled in whose objects have come."""


def read_json(
    session: Session, binding: Binding, text: str | bytes, policy: int, *, strict: bool
) -> list[Any]:
    """See `Realm.from_json`."""
    plain = value_of(_text_of(text))
    reader = _Reader(session, policy, refuses_unknown=strict)
    with _telling_depth(), reader.all_or_none():
        made = [reader.add(binding, row) for row in (plain if isinstance(plain, list) else [plain])]
        reader.finish()
    return made


def _text_of(text: object) -> str:
    if isinstance(text, str):
        return text
    if not isinstance(text, (bytes, bytearray, memoryview)):
        raise TypeMismatchError(
            f"JSON is a text or its bytes, not {text!r:.80}: create(cls, values) makes an object "
            "of a dictionary, and insert_many of several."
        )
    try:
        return bytes(text).decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"This is not JSON: it is not UTF-8: {error}.") from None


def read_lines(
    session: Session, binding: Binding, file: LinesToRead, policy: int, progress: Progress | None
) -> int:
    """See `Realm.read_json_lines`."""
    require_function("progress", progress)
    with lines_of(file) as lines:
        source = Source(lines)
        total = source.total(count_lines) if progress else 0
        return _read(session, binding, source, rows_of_lines(source), policy, progress, total)


def read_csv(
    session: Session, binding: Binding, file: LinesToRead, policy: int, progress: Progress | None
) -> int:
    """See `Realm.read_csv`."""
    require_function("progress", progress)
    with lines_of(file) as lines:
        source = Source(lines)
        total = source.total(count_records) if progress else 0
        return _read(
            session, binding, source, rows_of_csv(binding, source), policy, progress, total
        )


def _read(
    session: Session,
    binding: Binding,
    source: Source,
    rows: Iterator[Row],
    policy: int,
    progress: Progress | None,
    total: int,
) -> int:
    """Creates an object of each row, all or nothing. Returns the number of rows."""
    reader, count = _Reader(session, policy, source), 0
    with _telling_depth(), reader.all_or_none():
        for line, row in rows:
            with reader.locating(line):
                reader.add(binding, row)
            count += 1
            if progress is not None:
                progress(count, total)
        reader.finish()
    return count


@contextmanager
def _telling_depth() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise ValueTooLongError(
            "More objects are within one another than Python's recursion limit of "
            f"{getrecursionlimit()} allows: sys.setrecursionlimit raises it."
        ) from None


class _NotThereYet(Exception):
    """A link leads to what is not there; what an error says of it."""


class _Waiting:
    """A property that leads to objects which are not there yet."""

    __slots__ = ("binding", "each", "key", "line", "value")

    def __init__(
        self, line: int, binding: Binding, key: int, each: BoundProperty, value: Any
    ) -> None:
        self.line = line
        self.binding = binding
        self.key = key
        self.each = each
        self.value = value


class _Reader:
    """Creates objects of JSON, one after the other, and keeps none.

    A link is made with its object if its target exists, and waits otherwise: it is tried again now
    and then, and at the end. It remembers the keys of created objects, as runs.
    """

    def __init__(
        self,
        session: Session,
        policy: int,
        source: Source | None = None,
        *,
        refuses_unknown: bool = True,
    ) -> None:
        """`source`: if it is a file, as `toftdb` writes it: properties have the names of the file
        there. `refuses_unknown`: whether a member that is not a property is an error; otherwise it
        is left out.
        """
        self._session = session
        self._policy = policy
        self._source = source
        self._refuses_unknown = refuses_unknown
        self._created = _Created()
        self._names: dict[int, tuple[str, dict[str, BoundProperty]]] = {}
        # Of classes without primary key: keys in the text, and those of the objects.
        self._named: dict[int, _NamedKeys] = {}
        self._waiting: list[_Waiting] = []
        self._retry_at = _FIRST_RETRY
        self._line = 0
        self._told: Error | None = None
        """The error that has its line already: one of an earlier line than the present one."""

    @contextmanager
    def all_or_none(self) -> Iterator[None]:
        """A block that leaves nothing of what it did when it fails."""
        if self._policy != toft_update_policy.ERROR:
            with self._session.writing.savepoint():
                yield
            return
        # Deleting created objects again takes less memory than a savepoint.
        try:
            yield
        except BaseException:
            self._created.take_back()
            raise

    @contextmanager
    def locating(self, line: int) -> Iterator[None]:
        """A block whose errors name the line that is read."""
        before, self._line = self._line, line
        try:
            yield
        except Error as error:
            is_told = error is self._told or isinstance(error, TransactionError)
            if self._source is not None and not is_told:
                self._source.locate(error, line)
                self._told = error
            raise error.with_traceback(None) from error.__cause__
        finally:
            self._line = before

    def add(self, binding: Binding, row: Any, *, is_inner: bool = False) -> Object:
        """Creates an object, with the objects in it. `is_inner`: whether it replaces a link."""
        if not isinstance(row, Mapping):
            raise TypeMismatchError(f"A {binding.cls.__name__} is a JSON object, not {row!r:.80}")
        later: list[tuple[tuple[Any, ...], Binding, BoundProperty, Any]] = []
        given = self._given(binding, row, (), later)
        single = self._create(binding, given, is_inner=is_inner)
        instance = live_object(binding.cls, single)
        if binding.primary_key is None:
            self._note(binding, row, single.key(0))
        for path, owner, each, value in later:
            place = _followed(instance, path)
            self._fill(owner, place._rows.key(place._row) or 0, each, value)
        if len(self._waiting) >= self._retry_at:
            self._retry()
            self._retry_at = max(_FIRST_RETRY, 2 * len(self._waiting))
        return instance

    def _create(self, binding: Binding, given: dict[str, Any], *, is_inner: bool) -> Single:
        # Without a key it is always a new object.
        is_new = is_inner and binding.primary_key is None
        adding = Adding(self._session, toft_update_policy.ERROR if is_new else self._policy)
        try:
            single = adding.create(binding, given)
        except DuplicatePrimaryKeyError as error:
            if self._policy == toft_update_policy.ERROR:
                error.message += (
                    f" {binding.cls.__name__}.{binding.primary_key} is its primary key: "
                    'update="all" changes the object that has it.'
                )
            raise
        for each in adding.created:
            self._created.add(each.binding, each.key(0))
        return single

    # Names

    def _names_of(self, binding: Binding) -> tuple[str, dict[str, BoundProperty]]:
        """The member with the keys of a class's objects, and its properties by their names in the
        text.
        """
        if (known := self._names.get(binding.key)) is None:
            if self._source is not None:
                known = key_name(binding.cls), names_in_files(binding)
            else:
                of_file = {each.stored_name: each for each in binding.properties.values()}
                known = key_name(binding.cls, *binding.properties), of_file | binding.properties
            self._names[binding.key] = known
        return known

    def _note(self, binding: Binding, row: Mapping[str, Any], key: int) -> None:
        """Remembers by what others link to an object without a primary key."""
        name = self._names_of(binding)[0]
        if type(named := row.get(name)) is int:
            known = self._named.setdefault(binding.key, _NamedKeys())
            if not known.add(named, key):
                raise InvalidArgumentError(
                    f"Two objects of {binding.cls.__name__} have {named} as their {name!r}, by "
                    "which links find them."
                )

    # Values

    def _given(
        self, binding: Binding, row: Mapping[str, Any], path: tuple[Any, ...], later: list[Any]
    ) -> dict[str, Any]:
        """The values of an object. `path`: leads to it from the object of the row. `later`: gets
        what leads to objects that are not there.
        """
        given: dict[str, Any] = {}
        seen: set[BoundProperty] = set()
        key, names = self._names_of(binding)
        has_two_names = len(names) > len(binding.properties)
        for name, value in row.items():
            each = names.get(name)
            if each is None or each.type == values.LINKING_OBJECTS:
                if name == key and not path or not self._refuses_unknown:
                    continue
                if each is not None:
                    raise ReadOnlyPropertyError(
                        f"{binding.cls.__name__}.{each.name} is computed: leave it out."
                    )
                error = no_property(binding.cls, name)
                error.message += " Leave it out, or declare it."
                raise error
            if has_two_names and each in seen:
                raise InvalidArgumentError(
                    f"The object has {binding.cls.__name__}.{each.name} twice, as {each.name!r} "
                    f"and as {each.stored_name!r}."
                )
            if has_two_names:
                seen.add(each)
            if value is None:
                given[each.name] = self._value(binding, each, value)
            elif each.type == values.LINK and self._session.classes.owns(each):
                given[each.name] = self._embedded(binding, each, value, path, later)
            elif each.type == values.LINK:
                try:
                    given[each.name] = self._linked(binding, each, value)
                except _NotThereYet:
                    later.append((path, binding, each, value))
            else:
                try:
                    given[each.name] = self._value(binding, each, value)
                except _NotThereYet:
                    later.append((path, binding, each, value))
        return given

    def _embedded(
        self,
        binding: Binding,
        each: BoundProperty,
        value: Any,
        path: tuple[Any, ...],
        later: list[Any],
    ) -> Any:
        """The objects that a property owns, as mappings of values."""
        target = self._session.classes.binding_of_key(each.target)

        def read(row: Any, place: Any) -> dict[str, Any] | None:
            if row is None:
                return None
            if not isinstance(row, Mapping):
                raise TypeMismatchError(
                    f"{binding.cls.__name__}.{each.name}: a {target.cls.__name__} is a JSON "
                    f"object, not {row!r:.80}"
                )
            return self._given(target, row, (*path, (each.name, place)), later)

        if each.container is None:
            return read(value, None)
        if value is None:
            return each.container()
        each.check_container(value)
        if isinstance(value, Mapping):
            return {key: read(item, key) for key, item in value.items()}
        return [read(item, place) for place, item in enumerate(value)]

    @staticmethod
    def _mapped(each: BoundProperty, value: Any, function: Callable[[Any], Any]) -> Any:
        """The one value of a property, or each of many, as a function gives it."""
        if each.container is None:
            return function(value)
        if value is None:
            return each.container()
        each.check_container(value)
        return mapped(value, function)

    def _value(self, binding: Binding, each: BoundProperty, value: Any) -> Any:
        return self._mapped(each, value, lambda item: self._scalar(binding, each, item))

    def _scalar(self, binding: Binding, each: BoundProperty, value: Any) -> Any:
        if value is None:
            return None
        if each.type == values.MIXED:
            return self._mixed(binding, each, value, 0)
        try:
            plain = self._parsed(each.type, value, is_whole=each.conversion is None)
        except ValueError as error:
            raise _mismatch(binding, each, value, error) from None
        if isinstance(plain, (str, bytes)) and len(plain) > TOFT_MAX_VALUE_SIZE:
            raise ValueTooLongError(
                f"{binding.cls.__name__}.{each.name}: {len(plain)} bytes are too many for one "
                f"value: at most {TOFT_MAX_VALUE_SIZE}."
            )
        conversion = each.conversion
        if conversion is None:
            return plain
        if isinstance(conversion, OwnConversion):
            return conversion.read(plain)
        if conversion.python_type is date:
            return plain.date()
        try:
            conversion.stored(plain)
        except Error as error:
            error.message = f"{binding.cls.__name__}.{each.name}: {error.message}"
            raise
        return plain

    def _parsed(self, kind: int, value: Any, *, is_whole: bool = True) -> Any:
        """A value of a type. Raises ValueError with the fault, or without, if it is not one.
        `is_whole`: whether dates of files may be of years that datetime has not.
        """
        given = type(value)
        if given is int and kind in _OF_INT:
            return _OF_INT[kind](value)
        if given is Numeral:
            return _of_numeral(value, kind)
        if kind == values.BOOL and given is bool:
            return value
        if given is not str:
            raise ValueError
        if kind == values.STRING:
            if not value.isascii():
                value.encode()
            return value
        if kind == values.DATE:
            return moment_of(value, of_any_year=is_whole and self._source is not None)
        if (parse := _PARSERS.get(kind)) is None:
            raise ValueError
        return parse(value)

    # Mixed values

    def _mixed(self, binding: Binding, each: BoundProperty, value: Any, depth: int) -> Any:
        """A mixed value; what JSON has no type for says its own, see `_TAGS`."""
        if depth > TOFT_MAX_NESTED_COLLECTIONS:
            return value  # which the library refuses
        if isinstance(value, list):
            return [self._mixed(binding, each, item, depth + 1) for item in value]
        if isinstance(value, Numeral):
            return _mixed_number(binding, each, value)
        if not isinstance(value, Mapping):
            return value
        if "$link" in value and isinstance(value.get("$class"), str):
            return self._of_class(binding, each, value["$class"], value["$link"])
        if len(value) == 1:
            [(tag, tagged)] = value.items()
            if (kind := _TAGS.get(tag)) is not None:
                return self._tagged(binding, each, kind, value, tagged)
        return {key: self._mixed(binding, each, item, depth + 1) for key, item in value.items()}

    def _tagged(
        self, binding: Binding, each: BoundProperty, kind: int, value: Any, tagged: Any
    ) -> Any:
        if tagged is None:
            return None
        try:
            found = self._parsed(kind, tagged)
        except ValueError as error:
            raise TypeMismatchError(
                f"{binding.cls.__name__}.{each.name}: {dict(value)!r:.80} is not {_FORMS[kind]}."
                f"{_reason(error)}"
            ) from None
        return values.ShortFloat(found) if kind == values.FLOAT else found

    def _of_class(self, binding: Binding, each: BoundProperty, name: str, key: Any) -> Object:
        try:
            target = self._session.classes.binding(name)
        except NoSuchClassError as error:
            error.message = f"{binding.cls.__name__}.{each.name}: {error.message}"
            raise
        return self._found(binding, each, target, key)

    # Links

    def _linked(self, binding: Binding, each: BoundProperty, value: Any) -> Any:
        """A property with objects in the place of the names of such."""
        target = self._session.classes.binding_of_key(each.target)

        def linked(item: Any) -> Object | None:
            if item is None or isinstance(item, Object):
                return item
            if _is_object(target, item):
                raise _NotThereYet  # it is created after the object that it stands in
            # In place of an object: the one whose primary key is None.
            return self._found(binding, each, target, None if isinstance(item, Mapping) else item)

        return self._mapped(each, value, linked)

    def _found(self, binding: Binding, each: BoundProperty, target: Binding, key: Any) -> Object:
        """The object that a link names."""
        where, cls = f"{binding.cls.__name__}.{each.name}", target.cls
        if target.primary_key is None:
            known = self._named.get(target.key)
            number = known.get(key) if known is not None and type(key) is int else None
            if number is not None and (single := Single.following(target, number)):
                return live_object(cls, single)
            raise _NotThereYet(
                f"{where}: a {cls.__name__} has no primary key to be found by: write it inside, as "
                f"to_json(depth=1) does, or have {key!r:.80} as its '{self._names_of(target)[0]}'."
            )
        named = self._scalar(target, target.property(target.primary_key), key)
        if (found := find(self._session, target, named)) is None:
            raise _NotThereYet(
                f"{where}: there is no {cls.__name__} {key!r:.80}. Add one, or take the link out."
            )
        return found

    def _fill(self, binding: Binding, key: int, each: BoundProperty, value: Any) -> None:
        """Links an object, and creates those in place of links; the rest waits."""
        if each.type == values.LINK:
            target = self._session.classes.binding_of_key(each.target)
            value = self._mapped(
                each,
                value,
                lambda item: (
                    self.add(target, item, is_inner=True) if _is_object(target, item) else item
                ),
            )
        waiting = _Waiting(self._line, binding, key, each, value)
        try:
            self._link(waiting)
        except _NotThereYet:
            self._waiting.append(waiting)

    def _link(self, waiting: _Waiting) -> None:
        binding, each = waiting.binding, waiting.each
        is_link = each.type == values.LINK
        found = (self._linked if is_link else self._value)(binding, each, waiting.value)
        # It may have been deleted with an owner that a later line has changed.
        if single := Single.following(binding, waiting.key):
            single.set(each.name, found)

    def _retry(self) -> None:
        """Fills in the links whose objects have come."""
        items, self._waiting = self._waiting, []
        for item in items:
            with self.locating(item.line):
                try:
                    self._link(item)
                except _NotThereYet:
                    self._waiting.append(item)

    def finish(self) -> None:
        """Fills in all links that wait."""
        for item in self._waiting:
            with self.locating(item.line):
                try:
                    self._link(item)
                except _NotThereYet as missing:
                    has_key = item.each.type == values.MIXED or (
                        self._session.classes.binding_of_key(item.each.target).primary_key
                        is not None
                    )
                    kind = NoSuchObjectError if has_key else InvalidArgumentError
                    raise kind(str(missing)) from None


class _Created:
    """Objects that were created. Keys mostly follow each other, so runs of them are remembered."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._last: dict[int, _Run] = {}

    def add(self, binding: Binding, key: int) -> None:
        last = self._last.get(binding.key)
        if last is not None and last.end == key:
            last.end += 1
            return
        self._last[binding.key] = run = _Run(binding, key)
        self._runs.append(run)

    def take_back(self) -> None:
        """Deletes them."""
        for single in self._singles(lambda binding: bool(binding.ruled)):
            single.forget_rules()
        for single in self._singles(lambda _: True):
            try:
                single.delete()
            except Error:  # the failure that led here is the one to report
                pass

    def _singles(self, wanted: Callable[[Binding], bool]) -> Iterator[Single]:
        for run in reversed(self._runs):
            if wanted(run.binding):
                for key in range(run.end - 1, run.first - 1, -1):
                    try:
                        if single := Single.following(run.binding, key):
                            yield single
                    except Error:
                        pass


class _Run:
    """Objects of a class with keys from `first` up to `end`."""

    __slots__ = ("binding", "end", "first")

    def __init__(self, binding: Binding, first: int) -> None:
        self.binding = binding
        self.first = first
        self.end = first + 1


class _NamedKeys:
    """Keys of objects by the numbers that a file has for them.

    As a file is written, both ascend: what does so evenly is one run, whatever its length.
    """

    def __init__(self) -> None:
        self._others: dict[int, int] = {}
        self._runs: list[tuple[int, int, int]] = []  # first number, its key, count; ascending

    def add(self, number: int, key: int) -> bool:
        """False if the number is known."""
        end = 0
        if self._runs:
            first, first_key, count = self._runs[-1]
            end = first + count
            if number == end and key == first_key + count:
                if number in self._others:
                    return False
                self._runs[-1] = first, first_key, count + 1
                return True
        if self.get(number) is not None:
            return False
        if not self._runs or number >= end:
            self._runs.append((number, key, 1))
        else:
            self._others[number] = key
        return True

    def get(self, number: int) -> int | None:
        """The key of an object, if the number is known."""
        low, high = 0, len(self._runs)
        while low < high:
            middle = (low + high) // 2
            if self._runs[middle][0] <= number:
                low = middle + 1
            else:
                high = middle
        if low:
            first, key, count = self._runs[low - 1]
            if number < first + count:
                return key + number - first
        return self._others.get(number)


def _followed(instance: Any, path: tuple[Any, ...]) -> Any:
    """The embedded object that a path leads to."""
    for name, place in path:
        instance = getattr(instance, name)
        if place is not None:
            instance = instance[place]
    return instance


def _mismatch(
    binding: Binding, each: BoundProperty, value: Any, error: ValueError
) -> TypeMismatchError | InvalidArgumentError:
    name = f"{binding.cls.__name__}.{each.name}"
    if each.type == values.STRING and isinstance(error, UnicodeEncodeError):
        return InvalidArgumentError(f"{name}: this text cannot be UTF-8: {error}")
    if each.type == values.INT and isinstance(value, Numeral) and value.is_whole:
        return InvalidArgumentError(
            f"{name}: {value!r:.80} does not fit into the 64 bits of an integer."
        )
    return TypeMismatchError(f"{name}: {value!r:.80} is not {_FORMS[each.type]}.{_reason(error)}")


def _reason(error: ValueError) -> str:
    """A further fault, as a sentence."""
    text = str(error)
    return f" {text[:1].upper()}{text[1:].removesuffix('.')}." if text else ""


def _of_numeral(number: Numeral, kind: int) -> Any:
    if kind == values.INT and number.is_zero:
        return 0  # -0
    if kind == values.DOUBLE:
        return number.double
    if kind == values.FLOAT:
        return number.single
    if kind == values.DECIMAL:
        return number.decimal
    raise ValueError


def _mixed_number(binding: Binding, each: BoundProperty, number: Numeral) -> Any:
    try:
        return number.mixed
    except ValueError:
        what = (
            "Whole numbers of mixed values have at most 34 digits: write it as a text."
            if number.is_whole
            else 'It is beyond the range of a float: write it as {"$decimal": "..."}.'
        )
        raise TypeMismatchError(
            f"{binding.cls.__name__}.{each.name} can't be {number!r:.80}. {what}"
        ) from None


_OF_INT: dict[int, Callable[[int], Any]] = {
    values.INT: int,
    values.FLOAT: float,
    values.DOUBLE: float,
    values.DECIMAL: Decimal,
}
_PARSERS: dict[int, Callable[[str], Any]] = {
    values.FLOAT: not_finite_of,
    values.DOUBLE: not_finite_of,
    values.DATA: data_of,
    values.UUID: uuid_of,
    values.OBJECT_ID: object_id_of,
    values.DECIMAL: decimal_of,
}


def _is_object(target: Binding, value: Any) -> bool:
    """Whether an object is in place of a link."""
    return isinstance(value, Mapping) and value != null_key_link(target.cls)
