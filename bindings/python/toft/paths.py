"""Columns behind links: `plane.manufacturer` of many flights, each plane read once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from . import _values as values
from .columns import LAYOUTS, READ_AT_ONCE, Buffers, Pieces, listed
from .errors import TypeMismatchError
from .expressions import Expression, key_path

if TYPE_CHECKING:
    from .rows import Binding, BoundProperty
    from .session import Session

Memory = tuple[bytearray, bytearray]
"""Elements of a column as the library writes them, and a byte for each, 1 if it is null."""


class Path:
    """A column: a property, and the to-one links before it."""

    __slots__ = ("last", "links")

    def __init__(self, links: list[BoundProperty], last: BoundProperty) -> None:
        self.links = links
        self.last = last

    @staticmethod
    def of(binding: Binding, name: str | Expression[Any]) -> Path:
        """The path of a name with dots, or of an expression. A link at its end is the primary key
        of its target, or the target's own key if there is none.
        """
        expression = (
            Expression(binding.cls, tuple(name.split("."))) if isinstance(name, str) else name
        )
        if isinstance(name, str) and "." not in name:
            steps = [binding.property(name)]
        else:
            key_path(binding, expression)
            steps = _steps(binding, expression._names)
        return Path._ending(binding, steps, ".".join(each.name for each in steps))

    @staticmethod
    def all_of(binding: Binding) -> list[Path]:
        """Every property with one value that has a column."""
        every = binding.properties.values()
        plain = [each for each in every if each.is_plain and each.type in LAYOUTS]
        return [Path._ending(binding, [each], each.name) for each in plain]

    @staticmethod
    def _ending(binding: Binding, steps: list[BoundProperty], name: str) -> Path:
        for each in steps[:-1]:
            if each.type != values.LINK or not each.is_plain:
                raise TypeMismatchError(f"{name}: {each.name} holds more than one value.")
        last = steps[-1]
        if last.type == values.MIXED and last.is_plain:
            raise TypeMismatchError(f"{name} has no column: its values have many types.")
        if not last.is_plain or last.type not in LAYOUTS:
            raise TypeMismatchError(f"{name} has no column: it holds more than one value.")
        if last.type == values.LINK:
            target = binding.session.classes.binding_of_key(last.target)
            if target.primary_key is not None:
                steps = [*steps, target.property(target.primary_key)]
        last = copy(steps[-1])
        last.name = name
        last.is_nullable = last.is_nullable or len(steps) > 1
        return Path(steps[:-1], last)


def _steps(binding: Binding, names: Iterable[str]) -> list[BoundProperty]:
    steps: list[BoundProperty] = []
    for name in names:
        if steps and not steps[-1].target:
            raise TypeMismatchError(
                f"{steps[-1].name} has no column: it holds more than one value."
            )
        if steps:
            binding = binding.session.classes.binding_of_key(steps[-1].target)
        steps.append(binding.property(name))
    return steps


class PathColumns(Pieces):
    """The columns that paths name, of some results."""

    def __init__(
        self, session: Session, results: int | None, count: int, paths: list[Path]
    ) -> None:
        self.count = count
        self._results = results
        self._types = [each.last.type for each in paths]
        self._root = _Level(session)
        for slot, each in enumerate(paths):
            self._root.add(slot, each.links, each.last)

    def read(self) -> Iterator[tuple[_Piece, int]]:
        buffers = self._root.buffers(min(max(self.count, 1), READ_AT_ONCE))
        first = 0
        while first < self.count and (rows := buffers.read(self._results, first)):
            found: dict[int, Memory] = {}
            self._root.collect(buffers, rows, found)
            yield _Piece(self._types, found), rows
            first += rows


class _Piece:
    """Some rows of all columns, as `Buffers` has them."""

    def __init__(self, types: list[int], found: dict[int, Memory]) -> None:
        self.types = types
        self.values = [found[slot][0] for slot in range(len(types))]
        self.nulls = [found[slot][1] for slot in range(len(types))]

    def listed(self, index: int, count: int) -> list[Any]:
        """The elements of a column as Python values, None for null."""
        return listed(self.types[index], self.values[index], self.nulls[index], count)


class _Level:
    """The columns of one class: of the results themselves, or of the targets of a link."""

    def __init__(self, session: Session, class_key: int = 0) -> None:
        self._session = session
        self._class_key = class_key
        self._columns: list[tuple[int, BoundProperty]] = []
        self._links: list[tuple[BoundProperty, _Level]] = []

    def add(self, slot: int, links: Sequence[BoundProperty], last: BoundProperty) -> None:
        """Adds a column, which `collect` then gives by its slot."""
        if not links:
            self._columns.append((slot, last))
            return
        first, *rest = links
        for link, level in self._links:
            if link.key == first.key:
                return level.add(slot, rest, last)
        level = _Level(self._session, first.target)
        self._links.append((first, level))
        level.add(slot, rest, last)

    def buffers(self, capacity: int) -> Buffers:
        """Memory for the columns and, behind them, for the keys of links."""
        every = [each for _, each in self._columns] + [link for link, _ in self._links]
        return Buffers([(each.key, each.type) for each in every], capacity)

    def collect(self, buffers: Buffers, rows: int, found: dict[int, Memory]) -> None:
        """Notes the columns of buffers that have been filled, and reads those behind links."""
        for index, (slot, each) in enumerate(self._columns):
            size = LAYOUTS[each.type].size
            found[slot] = buffers.values[index][: size * rows], buffers.nulls[index][:rows]
        for index, (_, level) in enumerate(self._links, len(self._columns)):
            keys = array("q")
            keys.frombytes(buffers.values[index][: 8 * rows])
            level._collect_targets(keys, buffers.nulls[index][:rows], found)

    def _collect_targets(
        self, keys: array[int], nulls: bytearray, found: dict[int, Memory]
    ) -> None:
        """Each target once, in the order of the keys; then the value of each row."""
        wanted = sorted({key for key, null in zip(keys, nulls) if not null})
        buffers = self.buffers(max(1, len(wanted)))
        buffers.read_objects(self._session.position.address, self._class_key, array("q", wanted))
        inner: dict[int, Memory] = {}
        self.collect(buffers, len(wanted), inner)
        places = {key: place for place, key in enumerate(wanted)}
        nowhere = len(wanted)
        picks = [nowhere if null else places[key] for key, null in zip(keys, nulls)]
        sizes = {slot: LAYOUTS[each.type].size for slot, each in self._every()}
        for slot, (memory, absent) in inner.items():
            size = sizes[slot]
            elements = [memory[size * place : size * (place + 1)] for place in range(nowhere)]
            elements.append(bytearray(size))
            marks = absent + b"\1"
            found[slot] = (
                bytearray().join(map(elements.__getitem__, picks)),
                bytearray(map(marks.__getitem__, picks)),
            )

    def _every(self) -> Iterator[tuple[int, BoundProperty]]:
        """All columns, those behind further links too."""
        yield from self._columns
        for _, level in self._links:
            yield from level._every()
