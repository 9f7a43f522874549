"""The sources of an object's values.

An `Object` holds two things: some rows, and its row among them. There are three kinds of rows:

- `Draft`: one object that is in no database yet; its values are Python's.
- `Single`: one live object, read property by property.
- `Block`: a run of results, read column by column: the first touch of a property reads it for the
  whole run in one call.

`Single` and `Block` cache the values that they have read, but only for as long as they are
certainly valid. Each realm counts its own changes (`Position.now`): the count grows with every
write through this realm and whenever the realm may move to another version. Rows remember the count
they read at. A value is given from memory only while the two are equal and the realm's own thread
asks; otherwise it is read again. So a live object never shows anything that the library would not
say at that moment.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Mapping
from copy import copy
from itertools import count
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import toft_link
from ._lib import Handle, NeverCopied, library
from .columns import Buffers
from .conversions import OwnConversion
from .errors import (
    Error,
    InvalidArgumentError,
    ObjectDeletedError,
    ReadOnlyPropertyError,
    TypeMismatchError,
)
from .schema import CONTAINER_NAMES, PropertySchema, no_property, properties_of

if TYPE_CHECKING:
    from .objects import Object
    from .session import Position, Session


class BoundProperty:
    """A property of a class in one realm."""

    __slots__ = (
        "container",
        "conversion",
        "default",
        "is_nullable",
        "key",
        "makes_default",
        "must_be_given",
        "name",
        "stored_name",
        "target",
        "type",
    )

    def __init__(self, declared: PropertySchema, key: int, is_nullable: bool, target: int) -> None:
        self.name = declared.name
        self.stored_name = declared.stored_name
        self.key = key
        self.type = declared.type
        self.container = declared.container
        self.is_nullable = is_nullable
        self.target = target  # class key
        self.must_be_given = declared.must_be_given
        self.default = declared.default
        self.makes_default = declared.field.default_factory is not None
        """Whether each object gets a default of its own."""
        self.conversion = declared.conversion

    @property
    def is_plain(self) -> bool:
        """Whether it holds one value: no collection, not computed."""
        return self.container is None and self.type != values.LINKING_OBJECTS

    def of_key(self) -> BoundProperty:
        """One key of a dictionary: a property of one value."""
        one = copy(self)
        one.container, one.is_nullable = None, True
        return one

    def lend(self, value: Any, arguments: values.Arguments, session: Session) -> None:
        """Appends a value of this property to those lent to a call."""
        if self.container is None:
            self.lend_element(value, arguments, session)
            return
        self.check_container(value)
        stored = None if self.conversion is None else self.conversion.stored
        if self.container is dict:
            held = value if stored is None else {key: stored(value[key]) for key in value}
            arguments.add_dictionary(held, session, self.type)
        else:
            arguments.add_list(value if stored is None else map(stored, value), session, self.type)

    def check_container(self, value: Any) -> None:
        """Raises TypeMismatchError if a property of many values cannot take this."""
        if self.container is None:
            return
        is_mapping = isinstance(value, Mapping)
        is_one = isinstance(value, (str, bytes)) or not isinstance(value, Iterable)
        if is_one or is_mapping != (self.container is dict):
            raise TypeMismatchError(
                f"{self.name}: A {CONTAINER_NAMES[self.container]} is due, not {value!r:.80}"
            )

    def lend_element(self, value: Any, arguments: values.Arguments, session: Session) -> None:
        """Appends the one value, or one of many, that the property holds."""
        if self.conversion is not None:
            value = self.conversion.stored(value)
        arguments.add(value, session, self.type)

    def converted(self, column: list[Any]) -> list[Any]:
        """Stored values as Python has them."""
        return column if self.conversion is None else [*map(self.conversion.read, column)]


class Binding(NeverCopied):
    """A class in one realm."""

    def __init__(
        self,
        session: Session,
        cls: type[Object],
        key: int,
        properties: list[BoundProperty],
        primary_key: str | None,
        is_embedded: bool,
    ) -> None:
        self._session = weakref.ref(session)
        self.key = key
        self.is_embedded = is_embedded
        """As the realm has it: in a migration a class is embedded only once that is over."""
        self.names = {each.key: each.name for each in properties}
        self.primary_key = primary_key
        self._bind(cls, properties)

    @property
    def session(self) -> Session:
        """The realm, which has this binding: what has a binding holds the realm too.

        Not held, so that a realm that is dropped goes at once, not with the next collection of
        cycles.
        """
        session = self._session()
        assert session is not None
        return session

    def _bind(self, cls: type[Object], properties: list[BoundProperty]) -> None:
        self.cls = cls
        self.properties = {each.name: each for each in properties}
        self.defaults = [each for each in properties if each.must_be_given]
        counted = (each.name for each in properties_of(cls).values() if each.field.auto_increment)
        self.counted = next(counted, None)
        """The auto-incremented primary key, which the library gives a new object."""
        stored = properties_of(cls)
        self.ruled = [
            each for each in properties if stored[each.name].field.delete_rule != "nullify"
        ]
        """Links whose targets go with an object, or are kept by it."""
        self.stored = [each for each in properties if each.type != values.LINKING_OBJECTS]
        self.linking = [each for each in properties if each.type in (values.LINK, values.MIXED)]
        """Those that may lead to other objects."""
        self.owning: list[BoundProperty] | None = None  # known once all classes are bound
        self._named: dict[tuple[str, ...], tuple[Any, list[BoundProperty]]] = {}

    def bind(self, cls: type[Object]) -> None:
        """Takes a class of the same shape in place of the one so far: see `schema.shape_of`."""
        known = self.properties
        properties = [
            BoundProperty(each, known[name].key, known[name].is_nullable, known[name].target)
            for name, each in properties_of(cls).items()
        ]
        self._bind(cls, properties)

    def property(self, name: str) -> BoundProperty:
        """The property of that name."""
        try:
            return self.properties[name]
        except KeyError:
            raise no_property(self.cls, name) from None

    def stored_key(self, key: Any) -> Any:
        """A primary key as the file has it."""
        each = self.properties.get(self.primary_key or "")
        is_own = each is not None and isinstance(each.conversion, OwnConversion)
        return each.conversion.stored(key) if each and each.conversion and is_own else key

    def named(self, key: int) -> BoundProperty | None:
        """The property with this key, if the class has it."""
        return self.properties.get(self.names.get(key, ""))

    def properties_named(self, names: tuple[str, ...]) -> tuple[Any, list[BoundProperty]]:
        """The keys of some properties as the library takes them, and the properties."""
        if (known := self._named.get(names)) is None:
            properties = [self.property(name) for name in names]
            keys = (ctypes.c_uint32 * max(1, len(names)))(*(each.key for each in properties))
            known = self._named[names] = keys, properties
        return known


def counter_amount(each: BoundProperty, amount: int) -> int:
    """An amount to add to a property, which must be one that counts."""
    if each.conversion is not None:
        raise TypeMismatchError(f"{each.name} does not count: nothing can be added to it.")
    if not -(2**63) <= amount < 2**63:
        raise InvalidArgumentError(
            f"{values.shown(amount)} does not fit into the 64 bits of an integer."
        )
    return amount


class NoPosition:
    """Takes the place of a realm's position in a draft."""

    now = 0
    thread = 0


class Rows:
    """The base of all three kinds: see the head of this file."""

    __slots__ = ("columns", "now", "position")

    session: Session | None
    position: Position | NoPosition
    now: int
    columns: dict[str, list[Any]]

    def key(self, row: int) -> int | None:
        """The object key of a row; None in no database."""
        return None

    def read(self, instance: Object, name: str) -> Any:
        """The value of a property that is not in memory, or no longer true."""
        raise NotImplementedError

    def write(self, instance: Object, name: str, value: Any) -> None:
        """Sets a property."""
        raise NotImplementedError


class Draft(Rows):
    """An object that is in no database yet."""

    __slots__ = ("values",)

    session = None
    _nowhere = NoPosition()

    def __init__(self) -> None:
        self.position = Draft._nowhere
        self.now = -1
        self.columns = {}
        self.values: dict[str, Any] = {}

    def read(self, instance: Object, name: str) -> Any:
        if name not in self.values:
            declared = properties_of(type(instance))[name]
            self.values[name] = declared.held(declared.default())
        return self.values[name]

    def write(self, instance: Object, name: str, value: Any) -> None:
        declared = properties_of(type(instance))[name]
        if declared.type == values.LINKING_OBJECTS:
            raise ReadOnlyPropertyError(
                f"{type(instance).__name__}.{name} is computed and cannot be set."
            )
        self.values[name] = declared.held(value)


class Live(Rows):
    """Rows that are in a database."""

    __slots__ = ("binding", "session")

    session: Session
    position: Position
    binding: Binding

    def key(self, row: int) -> int:
        """The object key of a row."""
        raise NotImplementedError

    def single(self, instance: Object) -> Single:
        """The rows that read and write just this object."""
        raise NotImplementedError

    def write(self, instance: Object, name: str, value: Any) -> None:
        self.single(instance).set(name, value)


class Single(Live):
    """One live object."""

    __slots__ = ("_handle", "_key")

    def __init__(self, binding: Binding, key: int, handle: Handle | None = None) -> None:
        self.binding = binding
        self.session = session = binding.session
        self.position = session.position
        self.now = -1
        self.columns = {}
        self._key = key
        self._handle = handle

    def key(self, row: int) -> int:
        return self._key

    def single(self, instance: Object) -> Single:
        return self

    @staticmethod
    def following(binding: Binding, key: int) -> Single | None:
        """The object with this key, or None when it has been deleted."""
        handle = _follow(binding, key)
        return Single(binding, key, handle) if handle else None

    @staticmethod
    def deleted(binding: Binding, key: int | None) -> Single:
        """An object that has been deleted, with its key or, if that is not known any more, one that
        no object has.
        """
        return Single(binding, -next(_deleted) if key is None else key)

    def exists(self) -> bool:
        """Whether the object is there now."""
        return _follow(self.binding, self._key) is not None

    def handle(self) -> Handle:
        """The library's handle of the object, made when it is first needed."""
        if self._handle is None:
            if (made := _follow(self.binding, self._key)) is None:
                raise ObjectDeletedError(f"This {self.binding.cls.__name__} has been deleted.")
            return self.position.keep(self, made)
        return self._handle

    def read(self, instance: Object, name: str) -> Any:
        each = self.binding.property(name)
        if not each.is_plain:
            return self.session.classes.collection(self, each)
        if self.now != self.position.now:
            self.columns, self.now = {}, self.position.now
        memory = ctypes.create_string_buffer(values.VALUE_SIZE)
        library().toft_object_get(self.handle().address, each.key, memory)
        [value] = column = each.converted([values.decode(memory, 0, self.session)])
        if isinstance(value, values.Nested):
            return self.session.classes.nested(self, each, value.kind)
        self.columns[name] = column
        return value

    def place(self, each: BoundProperty) -> tuple[Binding, int, int]:
        """A value that no other property of any object has."""
        return self.binding, self._key, each.key

    def set(self, name: str, value: Any) -> None:
        """Writes one property."""
        each = self.binding.property(name)
        with self.session.writing.arguments() as arguments:
            if each.container is not None and getattr(value, "_place", None) == self.place(each):
                return  # what `dog.tags += ["x"]` does at its end
            if each.type == values.MIXED and in_place(value, self.place(each)):
                return
            if each.type == values.LINK and self.session.writing.embeds(self, each, value):
                return
            each.lend(value, arguments, self.session)
            address = self.handle().address
            self.position.changing()
            library().toft_object_set(address, each.key, arguments.address)

    def delete(self) -> None:
        """Deletes the object."""
        address = self.handle().address
        self.position.changing()
        library().toft_object_delete(address)

    def forget_rules(self) -> None:
        """Empties the links with a delete rule: what they lead to stays when the object goes."""
        for each in self.binding.ruled:
            try:
                self.set(each.name, None if each.container is None else each.container())
            except Error:  # the object may be gone
                pass

    def add(self, name: str, amount: int) -> None:
        """Adds to one property."""
        each = self.binding.property(name)
        amount, address = counter_amount(each, amount), self.handle().address
        self.position.changing()
        library().toft_object_add(address, each.key, amount)


def in_place(value: Any, place: object) -> bool:
    """Whether a mixed value is the list or dictionary that is there already, changed by `+=` or
    `|=` just now: Python assigns what these give.
    """
    settled = getattr(value, "_settled", None)
    return settled is not None and settled == (place, value._session.position.now)


_deleted = count(1)


def _follow(binding: Binding, key: int) -> Handle | None:
    address = ctypes.c_void_p()
    library().toft_realm_follow(
        binding.session.position.address, toft_link(key, binding.key), ctypes.byref(address)
    )
    return Handle(address.value, library().toft_object_release) if address.value else None


class Block(Live):
    """A run of results."""

    __slots__ = ("_results", "first", "keys", "size")

    def __init__(self, binding: Binding, results: Handle, first: int, capacity: int) -> None:
        self.size = 0  # about how many characters or bytes of its values are in memory
        self.binding = binding
        self.session = session = binding.session
        self.position = session.position
        self.now = self.position.now
        self.columns = {}
        self._results = results
        self.first = first
        buffers = Buffers([(0, values.INT)], capacity)
        self.keys = buffers.listed(
            0, buffers.read(results.address, first)
        )  # None: deleted since the snapshot was made

    def key(self, row: int) -> int:
        return int(self.keys[row])

    def single(self, instance: Object) -> Single:
        """From here on the object goes its own way, unless threads share it."""
        alone = Single(self.binding, self.keys[instance._row])
        if not self.position.is_frozen:
            instance._rows = alone
            instance._row = 0
        return alone

    def read(self, instance: Object, name: str) -> Any:
        each = self.binding.property(name)
        if self.now != self.position.now or not each.is_plain or each.type == values.MIXED:
            return self.single(instance).read(instance, name)
        try:
            column = self._column(each)
        except (
            InvalidArgumentError
        ):  # a value that Python cannot hold: only its own object shall suffer
            return self.single(instance).read(instance, name)
        self.columns[name] = column
        return column[instance._row]

    def _column(self, each: BoundProperty) -> list[Any]:
        buffers = Buffers([(each.key, each.type)], len(self.keys))
        column = buffers.listed(0, buffers.read(self._results.address, self.first))
        if each.type == values.LINK:
            linked, target = self.session.classes.linked, each.target
            return [None if key is None else linked(key, target) for key in column]
        if each.type in (values.STRING, values.DATA):
            first = [len(value or "") for value in column[:8]]
            self.size += sum(first) * len(column) // max(len(first), 1)
        return each.converted(column)
