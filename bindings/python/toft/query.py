"""Results: live, lazy, chained; read by blocks underneath."""

from __future__ import annotations

import ctypes
import operator
import weakref
from _thread import get_ident
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from . import _values as values
from ._ffi import TOFT_NO_INDEX, toft_aggregate, toft_sort, toft_string
from ._lib import Handle, borrowed, library
from .arguments import LinesToWrite, depth_of, whole_number
from .arrow import ArrowTable
from .bulk import update
from .columns import read_arrays, read_frame, read_lists, read_polars
from .errors import (
    Error,
    IndexOutOfRangeError,
    InvalidArgumentError,
    InvalidQueryError,
    NoSuchPropertyError,
    NullNotAllowedError,
    TypeMismatchError,
    UnsupportedAggregateError,
    WrongRealmError,
)
from .expressions import Condition, Expression, Order, QueryText, joined, key_path, property_name
from .grouping import Groups
from .objects import Object, live_object
from .observe import Callback, Observation, Options
from .paths import Path, PathColumns
from .plain import dictionary, json_text
from .prepared import Query
from .rows import Binding, Block, BoundProperty, Single
from .schema import no_property

if TYPE_CHECKING:
    from .session import Session
    from .tables import Progress

T = TypeVar("T")
V = TypeVar("V")

_FIRST_BLOCK = 32
_LARGEST_BLOCK = 2048
_MOST_IN_MEMORY = 16 << 20  # characters and bytes of the values of a block, about


class Results(Collection[T], Generic[T]):
    """Objects (or the values of a list) that match a query, always as they are now.

    Creating results costs nothing, and so does chaining: each of `where`, `sort`, `distinct` and
    `limit` returns new results, which are evaluated when they are first read. A loop yields the
    results of its beginning, whatever it changes meanwhile. An object that it deletes in advance is
    yielded, too: its `is_valid` is False, and reading it is an ObjectDeletedError.
    """

    __slots__ = ("_binding", "_block", "_handle", "_of", "_session", "__weakref__")

    def __init__(
        self,
        session: Session,
        handle: Handle,
        binding: Binding | None,
        of: BoundProperty | None = None,
    ) -> None:
        """`binding`: the class of the objects, None for results of values, which are those `of` a
        collection.
        """
        self._session = session
        self._handle = handle
        self._binding = binding
        self._of = of
        self._block: Block | None = None  # the last that was read for an index

    # ----------------------------------------------------------------------------------------------
    # Chaining

    @overload
    def where(self, query: Condition, *more: Condition) -> Results[T]: ...
    @overload
    def where(self, query: str | Query, *arguments: Any) -> Results[T]: ...
    def where(self, query: str | Query | Condition, *arguments: Any) -> Results[T]:
        """Those that match, by conditions or by a text of the query language:

        The syntax of a text: Sources/Toft/Toft.docc/QueryLanguage.md.

        `where((Dog.age > 3) & Dog.name.startswith("R"))`, `where(Dog.age > 3, Dog.age < 9)` (both),
        `where("age > $0 AND name BEGINSWITH $1", 3, "R")`. A list is an argument too: `where("age
        IN $0", [1, 2])`. A `toft.Query` is such a text that has been parsed.
        """
        if not isinstance(query, (str, Query)):
            written = QueryText(self._objects_only())
            query = " AND ".join(_condition(each)._write(written) for each in (query, *arguments))
            arguments = tuple(written.arguments)
        given: Any
        if isinstance(query, Query):
            function, given = "toft_results_filter_prepared", query._handle.address
        else:
            function = "toft_results_filter"
            given, memory = _text(query)
        with self._session.writing.asking() as lent:
            for argument in arguments:
                lent.add(argument, self._session)
            return self._made(function, given, lent.address, lent.count)

    def sort(self, *keys: str | Expression[Any] | Order) -> Results[T]:
        """Sorted, the first key being the most significant: `sort(Dog.owner.name, Dog.age.desc())`,
        or by key paths, with a minus sign for descending order: `sort("owner.name", "-age")`.
        """
        kept = [(*_text(path), is_descending) for path, is_descending in map(self._order, keys)]
        criteria = (toft_sort * max(1, len(kept)))(
            *(toft_sort(text, is_descending, 0) for text, _, is_descending in kept)
        )
        return self._made("toft_results_sort", ctypes.byref(criteria), len(kept))

    def distinct(self, *keys: str | Expression[Any]) -> Results[T]:
        """The first for each combination of values at key paths or expressions."""
        kept = [_text(self._order(key)[0]) for key in keys]
        texts = (toft_string * max(1, len(kept)))(*(text for text, _ in kept))
        return self._made("toft_results_distinct", ctypes.byref(texts), len(kept))

    def limit(self, count: int) -> Results[T]:
        """The first `count`."""
        count = whole_number("A limit", count)
        if count < 0:
            raise InvalidArgumentError(f"A limit is not negative: {values.shown(count)}")
        return self._made("toft_results_limit", values.whole(count))

    def offset(self, count: int) -> Results[T]:
        """All but the first `count`: `sort("name").offset(20).limit(10)` is a third page of ten."""
        count = whole_number("An offset", count)
        if count < 0:
            raise InvalidArgumentError(f"An offset is not negative: {values.shown(count)}")
        return self._made("toft_results_offset", values.whole(count))

    def head(self, count: int = 5) -> Results[T]:
        """The first few, for a look at them."""
        return self.limit(count)

    def snapshot(self) -> Results[T]:
        """The present results as a fixed list, though each object stays live."""
        return self._made("toft_results_snapshot")

    def freeze(self) -> Results[T]:
        """An unchanging copy of the present results, for any thread: see `Realm.freeze`."""
        session = self._session
        return self if session.position.is_frozen else session.realm.freeze().resolve(self)

    # ----------------------------------------------------------------------------------------------
    # Reading

    def __len__(self) -> int:
        self._session.position.freshen()
        return self._count()

    def _count(self) -> int:
        count = ctypes.c_uint64()
        library().toft_results_count(self._handle.address, ctypes.byref(count))
        return count.value

    def count(self) -> int:
        """How many there are."""
        return len(self)

    def __bool__(self) -> bool:
        self._session.position.freshen()
        is_empty = ctypes.c_bool()
        library().toft_results_is_empty(self._handle.address, ctypes.byref(is_empty))
        return not is_empty.value

    @property
    def is_valid(self) -> bool:
        """Whether what they were made from, a list or an object that is linked to, exists."""
        self._session.position.freshen()
        is_valid = ctypes.c_bool()
        library().toft_results_is_valid(self._handle.address, ctypes.byref(is_valid))
        return is_valid.value

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self._slice(range(*index.indices(self._count())))
        index = _position(index)
        position = index + self._count() if index < 0 else index
        if position < 0 or position >= TOFT_NO_INDEX:
            raise IndexOutOfRangeError(
                f"The results have no index {values.shown(index)}.", number=index
            )
        return self._at(position)

    def first(self) -> T | None:
        """The first, or None."""
        return self._at(0) if self else None

    def last(self) -> T | None:
        """The last, or None."""
        return self[-1] if len(self) else None

    def __iter__(self) -> Iterator[T]:
        self._session.position.freshen()
        cursor = Cursor(self._session, self._handle)
        return self._objects(cursor, self._binding) if self._binding else self._values(cursor)

    def _living(self) -> Iterator[T]:
        """The objects, but those of a snapshot that have been deleted."""
        self._session.position.freshen()
        cursor = Cursor(self._session, self._handle)
        return self._objects(cursor, self._objects_only(), are_living=True)

    def __reversed__(self) -> Iterator[T]:
        return reversed(self[:])

    def __contains__(self, value: object) -> bool:
        return self._found(value) is not None

    def index(self, value: T) -> int:
        """The index of an object or value. Raises ValueError when it is not there."""
        if (found := self._found(value)) is None:
            raise ValueError(f"{value!r} is not in the results")
        return found

    def _found(self, value: object) -> int | None:
        try:
            return self._find(value)
        except (TypeMismatchError, NullNotAllowedError, WrongRealmError, InvalidArgumentError):
            # An element of another type cannot be in it; but results that cannot be read are a
            # failure.
            len(self)
            return None

    def __repr__(self) -> str:
        kind = self._binding.cls.__name__ if self._binding else "values"
        try:
            return f"<Results of {kind}: {len(self)}>"
        except Error as error:
            return f"<Results of {kind}: {error.message}>"

    def _repr_html_(self) -> str:
        """For notebooks: a table of the first."""
        from .notebooks import html_of_objects, html_of_text

        try:
            if self._binding is not None:
                found = cast("Iterator[Object]", self._living())
                return html_of_objects(repr(self)[1:-1], self._binding.cls, found, len(self))
        except Error:  # its text says why they cannot be read
            pass
        return html_of_text(repr(self))

    def to_dicts(self, depth: int = 0) -> list[dict[str, Any]]:
        """`Object.to_dict` of each."""
        self._objects_only()
        depth = depth_of(depth)
        return [dictionary(cast("Object", each), depth) for each in self._living()]

    def to_json(self, depth: int = 0, *, indent: int | None = None) -> str:
        """A JSON array of `Object.to_json` of each."""
        self._objects_only()
        depth = depth_of(depth)
        plain = [dictionary(cast("Object", each), depth, is_stored=True) for each in self._living()]
        return json_text(plain, indent)

    def write_json_lines(
        self, file: LinesToWrite, depth: int = 0, *, progress: Progress | None = None
    ) -> int:
        """Writes each as a JSON object, one a line, as `toftdb export` does, and returns their
        number: `Realm.read_json_lines` and `toftdb import` read it. Properties have the names that
        the file of the database has for them. Links are primary keys; objects without one have
        their keys as `_key` (`__key` if a property has that name), and a link to an object whose
        primary key is None is `{"$class": "Person", "$link": null}`. Types that JSON lacks are
        named in mixed values: `{"$data": "AP8="}`, `$date`, `$decimal`, `$uuid`, `$objectId`,
        `$float`, `$double` (2.0, as 2 is an int), `{"$class": "Person", "$link": 7}`.

        `file`: one that is open as text, or the path of one, which is written from its beginning.
        Over up to `depth` links (at most 100) objects are written in place of links, each once in a
        line. `progress` is called with the number of finished objects and of all; an exception of
        it ends the call.
        """
        self._objects_only()
        from .tables import write_lines

        return write_lines(self, file, depth, progress)

    def write_csv(
        self, file: LinesToWrite, *names: str | Expression[Any], progress: Progress | None = None
    ) -> int:
        """Writes comma-separated values, the names of properties first (all by default): nothing
        for None, `""` for an empty text, JSON for collections, embedded objects and mixed values. A
        file that you open yourself is opened with `newline=""`. See `write_json_lines`.
        """
        binding = self._objects_only()
        named = [property_name(binding.cls, name) for name in names]
        for name in named:
            if binding.property(name).type == values.LINKING_OBJECTS:
                raise no_property(binding.cls, name)
        from .tables import write_csv

        return write_csv(self, binding, named, file, progress)

    def to_arrow(self, *paths: str | Expression[Any]) -> ArrowTable:
        """Columns for any library that reads Arrow: `polars.DataFrame(flights.to_arrow("id",
        "plane.manufacturer"))`, `pyarrow.table(...)`, `duckdb.sql("FROM table")`. `paths`:
        properties, also behind to-one links; by default all that are stored. Links are primary
        keys, or `_key` where there is none, collections are lists and maps, embedded objects
        structs. Batches of 65,536 rows are read as the library asks for them, so results of any
        size pass through little memory.

        The table shows the results of this call, on any thread, and pins their version as long as
        it lives; within a write transaction those of each reading. A library takes results
        themselves, too, with all their properties, if it asks on their thread: DuckDB does not
        always.
        """
        self._objects_only()
        names = [self._path(path)[0] for path in paths]
        shown = self if self._session.writing.is_writing else self.freeze()
        return ArrowTable(shown._session, shown._handle, names)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """`to_arrow` by Arrow's PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The types of `to_arrow`."""
        return self.to_arrow().__arrow_c_schema__()

    def to_pandas(self, *names: str | Expression[Any]) -> Any:
        """`columns` as a DataFrame of pandas, which must be installed: optional integers and
        booleans as `Int64` and `boolean`, dates in UTC, None for missing text.
        """
        return read_frame(*self._columns(names))

    def to_polars(self, *names: str | Expression[Any]) -> Any:
        """`columns` as a DataFrame of polars, which must be installed: texts as String, bytes as
        Binary, dates as Datetime in UTC, days as Date, identifiers as their texts, enumerations as
        their values, decimals as Decimal if it can represent them all.
        """
        return read_polars(*self._columns(names))

    def columns(self, *names: str | Expression[Any]) -> dict[str, Any]:
        """Properties of all objects at once, by name (by default, all with one value): NumPy arrays
        if NumPy is installed, otherwise lists. Names may lead over to-one links, as in
        `columns("id", "owner.name", Dog.owner.age)`; a null link gives None.

        A link is the primary key of its target; in a class without one it is the target's own key,
        by which `Realm.object` finds it. Arrays: bool, int64, float32 and float64;
        `datetime64[us]`; object for text and bytes. Those of optional properties and links, and
        those of a snapshot with deleted objects, are masked arrays. Lists have None for null.
        `to_pandas` and `to_polars` give the types that these have for texts and for dates with a
        time zone.
        """
        try:
            import numpy  # noqa: F401
        except ImportError:
            return self.lists(*names)
        return read_arrays(*self._columns(names))

    def lists(self, *names: str | Expression[Any]) -> dict[str, list[Any]]:
        """`columns` as lists of Python's values, even if NumPy is installed."""
        pieces, properties = self._columns(names)
        columns = read_lists(pieces, properties)
        return {each.name: each.converted(columns[each.name]) for each in properties}

    # ----------------------------------------------------------------------------------------------
    # Aggregates

    @overload
    def min(self, name: Expression[V]) -> V | None: ...
    @overload
    def min(self, name: str | None = None) -> Any: ...
    def min(self, name: str | Expression[Any] | None = None) -> Any:
        """The least value of a property (of the values themselves, for results of values), None
        without a value. Nulls and NaN do not count. The property may be at the end of to-one links,
        as in all aggregates: `people.min("boss.age")`. Of `Any` values it is the one that sorts
        first, lists and dictionaries left out.
        """
        return self._converted(name, self._aggregate(toft_aggregate.MINIMUM, name))

    @overload
    def max(self, name: Expression[V]) -> V | None: ...
    @overload
    def max(self, name: str | None = None) -> Any: ...
    def max(self, name: str | Expression[Any] | None = None) -> Any:
        """The greatest value, None without a value. Of `Any` values it is the one that sorts last,
        lists and dictionaries left out: a text, if there are texts and numbers.
        """
        return self._converted(name, self._aggregate(toft_aggregate.MAXIMUM, name))

    def sum(self, name: str | Expression[Any] | None = None) -> Any:
        """The sum, 0 when there is no value; of `Any` values that of the numbers, a `Decimal`."""
        return self._aggregate(toft_aggregate.SUM, name)

    def average(self, name: str | Expression[Any] | None = None) -> Any:
        """The mean, None without a value."""
        return self._aggregate(toft_aggregate.AVERAGE, name)

    @overload
    def group_by(self, key: str | Expression[Any], /) -> Groups: ...
    @overload
    def group_by(self, *keys: str | Expression[Any]) -> Groups: ...
    def group_by(self, *keys: str | Expression[Any]) -> Groups:
        """Groups of objects with equal values: `group_by("shop").sum("amount")` is a dictionary
        from shops to sums, sorted by shops. Also `count`, `average`, `min`, `max`. Keys and what is
        added up may be paths over to-one links: `group_by("seller.name")`.
        """
        if not keys:
            raise InvalidArgumentError("Name a property: group_by('shop').")
        return Groups(self, keys)

    # -------------------------------------------------------------------------------------------
    # Changing all of them

    def update(self, **properties: Any) -> int:
        """Sets properties of all objects to the same values, all or nothing:
        `results.update(age=3)`. `update(visits=Page.visits + 1)` adds: see `Object.increment`. The
        objects are those of the moment of the call. Needs a write transaction. Returns their
        number.
        """
        return update(self._session, self._objects_only(), self.snapshot()._handle, properties)

    def delete(self) -> int:
        """Deletes all objects. Needs a write transaction. Returns how many there were."""
        count = len(self)
        self._session.position.changing()
        library().toft_results_delete_all(self._handle.address)
        return count

    # -------------------------------------------------------------------------------------------
    # Asking and observing

    def explain(self) -> str:
        """Runs the query and describes the run: the plan as text, the reads, the time."""
        return self._text("toft_results_explain")

    @property
    def query(self) -> str:
        """The conditions and orderings of the objects, as the text of one query with the values of
        its arguments: `realm.objects(Dog).where("age > $0", 3).query` is "age > 3". `where` with it
        finds the same results again.
        """
        return self._text("toft_results_query")

    def _text(self, function: str) -> str:
        size = ctypes.c_size_t()
        read = getattr(library(), function)
        room = 256
        while True:
            memory = ctypes.create_string_buffer(room)
            read(self._handle.address, memory, room, ctypes.byref(size))
            if size.value < room:
                return memory.raw[: size.value].decode()
            room = size.value + 64

    def observe(
        self,
        callback: Callback | None = None,
        *,
        key_paths: Iterable[str | Expression[Any]] | None = None,
        initial: bool = True,
    ) -> Observation:
        """Tells which come, go and change, down to the indices. See `Realm.observe`.

        `key_paths`: the paths whose changes count as a change of an object, such as `[Dog.age,
        "owner.name"]`; an empty list: only insertions and deletions; None: everything that it
        reaches over up to three links. `initial`: whether the first call comes before any change.
        """
        paths = self._key_paths(key_paths)
        options = Options(paths, initial=initial)
        return Observation(self._session, "toft_results_observe", self._handle, callback, options)

    def _key_paths(self, keys: Iterable[str | Expression[Any]] | None) -> list[str] | None:
        return None if keys is None else [self._order(key)[0] for key in keys]

    # ----------------------------------------------------------------------------------------------
    # Beneath

    def _made(self, function: str, *arguments: Any) -> Results[T]:
        address = ctypes.c_void_p()
        getattr(library(), function)(self._handle.address, *arguments, ctypes.byref(address))
        handle = Handle(address.value, library().toft_results_release)
        return Results(self._session, handle, self._binding, self._of)

    def _at(self, position: int) -> T:
        if self._binding is not None:
            return cast(T, self._object_at(self._binding, position))
        memory = ctypes.create_string_buffer(values.VALUE_SIZE)
        library().toft_results_get(self._handle.address, position, memory)
        return cast(T, self._element(values.decode(memory, 0, self._session)))

    def _element(self, value: Any) -> Any:
        """One of the values, as Python has it."""
        return value if self._of is None else self._of.converted([value])[0]

    def _object_at(self, binding: Binding, position: int) -> Any:
        """One object.

        Those that are asked for one after the other are read by blocks, as in a loop.
        """
        block = self._block
        end = block.first + len(block.keys) if block else 0
        if (
            block is None
            or block.now != self._session.position.now
            or self._session.position.thread != get_ident()
            or not block.first <= position < end
        ):
            block = Block(
                binding, self._handle, position, _FIRST_BLOCK if block and position == end else 1
            )
            if not block.keys:
                raise IndexOutOfRangeError(
                    f"The results have no index {position}: there are {self._count()}.",
                    number=position,
                )
            self._block = block
        return _object_in(block, position)

    def _find(self, value: object) -> int | None:
        self._session.position.freshen()
        found = ctypes.c_uint64()
        with self._session.writing.asking() as arguments:
            if self._of is None:
                arguments.add(value, self._session)
            else:
                self._of.lend_element(value, arguments, self._session)
            library().toft_results_find(
                self._handle.address, arguments.address, ctypes.byref(found)
            )
        return None if found.value == TOFT_NO_INDEX else found.value

    def _slice(self, span: range) -> list[T]:
        if not self._binding:
            return [self._at(position) for position in span]
        found: list[T] = []
        low, high = (min(span[0], span[-1]), max(span[0], span[-1]) + 1) if span else (0, 0)
        wanted = span if span.step > 0 else span[::-1]
        while low < high:
            block = Block(self._binding, self._handle, low, min(high - low, _LARGEST_BLOCK))
            inside = wanted[_steps(wanted, low) : _steps(wanted, low + len(block.keys))]
            found += [cast(T, _object_in(block, position)) for position in inside]
            if not block.keys:
                break
            low += len(block.keys)
        return found if span.step > 0 else found[::-1]

    @staticmethod
    def _objects(cursor: Cursor, binding: Binding, *, are_living: bool = False) -> Iterator[Any]:
        position, cls, new = binding.session.position, binding.cls, object.__new__
        while block := cursor.block(binding):
            now = block.now
            for row, key in enumerate(block.keys):
                if key is not None and position.now == now:
                    instance = new(cls)
                    instance._rows = block
                    instance._row = row
                    yield instance
                    continue
                # The block is no longer true: one by one, then.
                single = None if key is None else Single.following(binding, key)
                if single is not None:
                    yield live_object(cls, single)
                elif not are_living:
                    yield live_object(cls, Single.deleted(binding, key))

    def _values(self, cursor: Cursor) -> Iterator[T]:
        remaining = self._count()
        while cursor.position < remaining:
            memory = ctypes.create_string_buffer(values.VALUE_SIZE)
            library().toft_results_get(cursor.results().address, cursor.position, memory)
            cursor.position += 1
            yield self._element(values.decode(memory, 0, self._session))

    def _order(self, key: str | Expression[Any] | Order) -> tuple[str, bool]:
        """The key path of a criterion, and whether it descends."""
        if isinstance(key, str):
            return key.removeprefix("-"), key.startswith("-")
        expression = key.expression if isinstance(key, Order) else key
        names, _ = key_path(self._objects_only(), expression)
        return joined(names), isinstance(key, Order) and key.is_descending

    def _path(self, key: str | Expression[Any]) -> tuple[str, BoundProperty | None]:
        """The key path with the names in the file, and the property at its end: None if only the
        library knows that, behind an alias or a key of a dictionary.
        """
        binding = self._objects_only()
        if not isinstance(key, str):
            names, last = key_path(binding, key)
            return joined(names), last
        first, *more = key.split(".")
        try:
            names, last = key_path(binding, Expression(binding.cls, (first, *more)))
        except NoSuchPropertyError:
            try:
                self.distinct(key)
            except InvalidQueryError:
                pass
            else:
                return key, None
            raise
        return ".".join(names), last

    def _converted(self, name: str | Expression[Any] | None, value: Any) -> Any:
        if name is None:
            return self._element(value)
        last = self._path(name)[1]
        return last.converted([value])[0] if last else value

    def _aggregate(self, aggregate: int, name: str | Expression[Any] | None) -> Any:
        path = "self"
        if name is not None:
            path, last = self._path(name)
            if last and not last.is_plain:
                raise UnsupportedAggregateError(
                    f"{path} has no such aggregate: it holds more than one value."
                )
        elif self._binding:
            raise UnsupportedAggregateError("Say which property: results.sum('age').")
        memory = ctypes.create_string_buffer(values.VALUE_SIZE)
        self._session.position.freshen()
        text, kept = borrowed(path)
        library().toft_results_aggregate(self._handle.address, aggregate, text, memory)
        del kept
        return values.decode(memory, 0, self._session)

    def _columns(
        self, names: tuple[str | Expression[Any], ...]
    ) -> tuple[PathColumns, list[BoundProperty]]:
        """Columns to be read, and a property for each that says what it holds."""
        binding = self._objects_only()
        paths = [Path.of(binding, each) for each in names] or Path.all_of(binding)
        pieces = PathColumns(self._session, self._handle.address, len(self), paths)
        return pieces, [each.last for each in paths]

    def _objects_only(self) -> Binding:
        if self._binding is None:
            raise TypeMismatchError("These results are values, which have no properties.")
        return self._binding


class Cursor:
    """A loop's place in results: the next position to read.

    While nothing changes it reads the results themselves. Just before the first change, the realm
    calls `hold`: from then on it reads a snapshot of the previous results.
    """

    __slots__ = (
        "_capacity",
        "_failure",
        "_is_done",
        "_last",
        "_session",
        "_results",
        "position",
        "__weakref__",
    )

    def __init__(self, session: Session, results: Handle) -> None:
        self._session = session
        self._results = results
        self._capacity = _FIRST_BLOCK
        self._is_done = False
        self._failure: Error | None = None
        self._last: Block | None = None
        self.position = 0
        session.position.cursors.add(weakref.ref(self, session.position.cursors.discard))

    def hold(self) -> None:
        """Called once, before something changes."""
        address = ctypes.c_void_p()
        try:
            library().toft_results_snapshot(self._results.address, ctypes.byref(address))
            self._results = Handle(address.value, library().toft_results_release)
        except (
            Error
        ) as error:  # it is the loop's failure, not that of whoever is about to change something
            self._failure = error

    def results(self) -> Handle:
        """The results to read from now."""
        if self._failure is not None:
            raise self._failure
        return self._results

    def block(self, binding: Binding) -> Block | None:
        """The next run; None at the end. Blocks grow with the loop, unless values are long."""
        if self._is_done:
            return None
        size = self._last.size if self._last else 0
        if size > _MOST_IN_MEMORY:
            self._capacity = max(self._capacity // 16, 1)
        elif self._last and size * 4 <= _MOST_IN_MEMORY:
            self._capacity = min(self._capacity * 4, _LARGEST_BLOCK)
        block = Block(binding, self.results(), self.position, self._capacity)
        self._last = block
        self._is_done = len(block.keys) < self._capacity
        self.position += len(block.keys)
        return block if block.keys else None


def _object_in(block: Block, position: int) -> Any:
    """The object at a position of a block's results; None if it was deleted from a snapshot."""
    row = position - block.first
    return None if block.keys[row] is None else live_object(block.binding.cls, block, row)


def _steps(span: range, position: int) -> int:
    """The index in `span` of its first member at or after a position."""
    return max(0, min(len(span), -(-(position - span.start) // span.step)))


def _position(index: Any) -> int:
    try:
        return operator.index(index)
    except TypeError:
        raise TypeError(
            f"results are indexed by position, not by {index!r:.80}: realm.object(cls, key) finds "
            f"by primary key, results.where(...) by any property"
        ) from None


def _condition(value: object) -> Condition:
    if isinstance(value, Condition):
        return value
    hint = " It comes from comparing an object's value: compare the class's, as in Dog.age > 3."
    raise TypeError(
        f"where() takes conditions or a text, not {value!r:.80}."
        f"{hint if isinstance(value, bool) else ''}"
    )


def _text(text: str) -> tuple[toft_string, Any]:
    if not isinstance(text, str):
        raise TypeError(f"a text is due, not {text!r:.80}")
    return borrowed(text, InvalidQueryError)
