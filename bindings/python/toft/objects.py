"""Objects: annotated classes as models, and live objects whose attributes are the database."""

from __future__ import annotations

import ctypes
from _thread import get_ident
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from copy import copy as copy_of
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast, overload

from . import _values as values
from ._ffi import toft_link
from ._lib import Handle, library
from .arguments import depth_of
from .errors import (
    EmbeddedObjectError,
    Error,
    InvalidArgumentError,
    NoSuchObjectError,
    TypeMismatchError,
    WrongRealmError,
)
from .expressions import Expression, bound_key_path, property_name, whole
from .observe import Callback, Observation, Options
from .plain import dictionary, json_text, named
from .rows import Binding, Draft, Live, Rows, Single
from .schema import (
    MISSING,
    Field,
    PropertySchema,
    field,
    is_property,
    linking_objects,
    no_property,
    own_annotations,
    properties_of,
    required_of,
    signature_of,
)

if TYPE_CHECKING:
    from inspect import Signature

    from typing_extensions import dataclass_transform

    from .database import Realm
    from .dicts import Dict
    from .lists import List
    from .query import Results
    from .session import Session
    from .sets import Set
else:  # what it tells is for type checkers

    def dataclass_transform(**_: Any) -> Any:
        return lambda cls: cls


Self = TypeVar("Self", bound="Object")
T = TypeVar("T")
E = TypeVar("E")


class Property(Generic[T]):
    """One property of a class: read from an object its value, read from the class an `Expression`.

    An annotation for type checkers: `age: toft.Property[int]` is stored as `age: int` is, and
    `Dog.age > 3` has a type.
    """

    __slots__ = ("__name__",)

    _toft_is_property: ClassVar[bool] = True  # by this schema.py knows the annotation

    def __init__(self, name: str) -> None:
        self.__name__ = name

    @overload
    def __get__(self: Property[List[E]], instance: None, owner: type) -> Expression[list[E]]: ...
    @overload
    def __get__(self: Property[Set[E]], instance: None, owner: type) -> Expression[list[E]]: ...
    @overload
    def __get__(self: Property[set[E]], instance: None, owner: type) -> Expression[list[E]]: ...
    @overload
    def __get__(
        self: Property[Dict[str, E]], instance: None, owner: type
    ) -> Expression[dict[str, E]]: ...
    @overload
    def __get__(self: Property[Results[E]], instance: None, owner: type) -> Expression[list[E]]: ...
    @overload
    def __get__(self, instance: None, owner: type) -> Expression[T]: ...
    @overload
    def __get__(
        self: Property[list[E]], instance: Object, owner: type | None = None
    ) -> List[E]: ...
    @overload
    def __get__(self: Property[set[E]], instance: Object, owner: type | None = None) -> Set[E]: ...
    @overload
    def __get__(
        self: Property[dict[str, E]], instance: Object, owner: type | None = None
    ) -> Dict[str, E]: ...
    @overload
    def __get__(self, instance: Object, owner: type | None = None) -> T: ...
    def __get__(self, instance: Object | None, owner: type | None = None) -> Any:
        if instance is None:
            return Expression(cast("type[Object]", owner), (self.__name__,))
        rows = instance._rows
        position = rows.position
        if (
            rows.now == position.now and position.thread == get_ident()
        ):  # rows.py tells when what is kept is true
            column = rows.columns.get(self.__name__)
            if column is not None:
                return column[instance._row]
        return rows.read(instance, self.__name__)

    def __set__(self, instance: Object, value: T) -> None:
        instance._rows.write(instance, self.__name__, value)

    def __delete__(self, instance: Object) -> None:
        raise AttributeError(f"a property cannot be deleted: set {self.__name__} to another value")

    def __repr__(self) -> str:
        return f"<property {self.__name__}>"


class ObjectType(type):
    """Reads the annotations of a model class.

    Its objects get no `__dict__`: a mistyped name is an AttributeError, not lost data.
    """

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> ObjectType:
        namespace = dict(namespace)
        declared = _declared(namespace, own_annotations(namespace)) if bases else {}
        cls = super().__new__(
            mcs, name, bases, {"__slots__": (), **_without(namespace, declared)}, **options
        )
        if bases:
            if (
                not declared or "__annotations__" not in namespace
            ):  # Python 3.14 has annotations only once the class is there
                declared = _declared(namespace, own_annotations(namespace, cls))
            cls._install(declared)
        return cls

    def __setattr__(cls, name: str, value: Any) -> None:
        if name == "__dataclass_fields__":
            raise TypeError(
                f"{cls.__name__} has a constructor by itself, as a dataclass has: leave out "
                f"@dataclass"
            )
        super().__setattr__(name, value)

    @property
    def __signature__(cls) -> Signature:
        """That of the constructor, for `help` and editors."""
        return signature_of(cls)

    def _install(cls, declared: dict[str, tuple[Any, Any]]) -> None:
        type.__setattr__(cls, "_toft_declared", declared)
        for name in declared:
            type.__setattr__(cls, name, Property(name))


def _declared(namespace: dict[str, Any], annotations: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Annotation and default of each property of a class body."""
    found = {
        name: (annotation, namespace.get(name, MISSING))
        for name, annotation in annotations.items()
        if is_property(name, annotation, namespace.get(name, MISSING))
    }
    for name, value in namespace.items():
        if isinstance(value, Field) and name not in found:
            found[name] = (MISSING, value)
    return found


def _without(namespace: dict[str, Any], declared: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
    return {name: value for name, value in namespace.items() if name not in declared}


@dataclass_transform(
    kw_only_default=True, eq_default=False, field_specifiers=(field, linking_objects)
)
class Object(metaclass=ObjectType):
    """The base of all models.

        class Dog(toft.Object):
            name: str
            age: int = 0
            owner: "Person | None"

    `Dog(name="Rex")` is an object in no database, until `realm.add` takes it. From then on, like
    each object that a realm gives, it is live: its attributes are read from the database and, in a
    write transaction, written to it. It belongs to the thread of its realm.

    The constructor takes properties by name, as that of a dataclass with `kw_only`. One without a
    default must be given, unless it is optional, a link or a collection, which are then None or
    empty.

    Two live objects are equal when they are the same object of the same realm. One that is in no
    database equals only itself; adding it changes its hash.
    """

    __slots__ = ("__weakref__", "_row", "_rows")

    _rows: Rows
    _row: int
    _toft_declared: ClassVar[dict[str, tuple[Any, Any]]] = {}
    _toft_is_base: ClassVar[bool] = True
    _toft_is_embedded: ClassVar[bool] = False
    _toft_reserved: ClassVar[AbstractSet[str]] = frozenset()

    def __new__(cls: type[Self], *_: Any, **__: Any) -> Self:
        if "_toft_is_base" in vars(cls):
            raise InvalidArgumentError(
                f"Declare a class: class Dog(toft.{cls.__name__}): name: str"
            )
        instance = object.__new__(cls)
        instance._rows = Draft()
        instance._row = 0
        return instance

    def __init__(self, *positional: Any, **properties: Any) -> None:
        cls = type(self)
        known = properties_of(cls)
        if positional:
            first = next(iter(known), "name")
            raise TypeError(
                f"{cls.__name__} takes its properties by name: "
                f"{cls.__name__}({first}={positional[0]!r:.40})"
            )
        for name in properties:
            if name not in known:
                raise no_property(cls, name)
        if missing := [name for name in required_of(cls) if name not in properties]:
            raise TypeError(
                f"{cls.__name__}() must be given {', '.join(missing)}: there is no default"
            )
        for name, value in properties.items():
            setattr(self, name, value)

    @property
    def realm(self) -> Realm | None:
        """The realm that the object belongs to; None for one in no database."""
        session = self._rows.session
        return None if session is None else session.realm

    @property
    def is_valid(self) -> bool:
        """Whether the object can be used:

        it is in no database, or in one and not deleted, and its realm is open.
        """
        rows = self._rows
        if not isinstance(rows, Live):
            return True
        return rows.position.is_open and rows.single(self).exists()

    def observe(
        self,
        callback: Callback | None = None,
        *,
        key_paths: Iterable[str | Expression[Any]] | None = None,
        old_values: bool = False,
    ) -> Observation:
        """Tells when properties of this object are set, and when it is deleted.

        See `Realm.observe` and, for `key_paths`, `Results.observe`. `old_values`: whether to report
        the previous values of the properties, as `Changes.old_values`.
        """
        single = live(self).single(self)
        binding = single.binding
        paths = None if key_paths is None else [bound_key_path(binding, each) for each in key_paths]
        options = Options(paths, old_values=old_values)
        function = "toft_object_observe"
        return Observation(single.session, function, single.handle(), callback, options, binding)

    def increment(self, name: str | Expression[int], amount: int = 1) -> None:
        """Adds to an int property, also less than nothing: `page.increment(Page.visits)`. The
        database keeps the amount beside the result, and a result beyond 64 bits is an OverflowError
        that changes nothing. Needs a write transaction, unless the object is in no database.

        `page.visits += 1` reads and writes: in a write transaction that gives the same number, as
        nobody else can write in between.
        """
        name, amount, rows = property_name(type(self), name), whole(amount), self._rows
        if isinstance(rows, Live):
            rows.single(self).add(name, amount)
        else:
            setattr(self, name, getattr(self, name) + amount)

    def freeze(self: Self) -> Self:
        """An unchanging copy of the object's present state, for any thread: see `Realm.freeze`."""
        rows = live(self)
        if rows.position.is_frozen:
            return self
        if (found := rows.session.realm.freeze().resolve(self)) is None:
            raise NoSuchObjectError(
                f"This {type(self).__name__} is in no version yet: commit, then freeze it."
            )
        return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Object):
            return NotImplemented
        mine, theirs = self._rows, other._rows
        if not isinstance(mine, Live) or not isinstance(theirs, Live):
            return False
        return mine.binding is theirs.binding and mine.key(self._row) == theirs.key(other._row)

    def __hash__(self) -> int:
        rows = self._rows
        return (
            hash((id(rows.binding), rows.key(self._row)))
            if isinstance(rows, Live)
            else object.__hash__(self)
        )

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            shown = [
                f"{each.name}={_shown(self, each)}"
                for each in properties_of(type(self)).values()
                if _is_shown(each)
            ]
        except Error as error:
            return f"<{name}: {error.message}>"
        return f"{name}({', '.join(shown)})"

    def __copy__(self: Self) -> Self:
        """The live object once more; a copy of the values for one in no database."""
        copy = object.__new__(type(self))
        copy._rows, copy._row = self._rows, self._row
        if isinstance(self._rows, Draft):
            copy._rows = draft = Draft()
            draft.values = {
                name: copy_of(value) if isinstance(value, (list, set, dict)) else value
                for name, value in self._rows.values.items()
            }
        return copy

    def __deepcopy__(self: Self, memo: dict[int, Any]) -> Self:
        """A copy of an object in no database, and of those that it links to."""
        draft = self._draft()
        memo[id(self)] = copy = type(self).__new__(type(self))
        copy.__setstate__(deepcopy(draft.values, memo))
        return copy

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _new_draft, (type(self),), self._draft().values

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._draft().values.update(state)

    def _draft(self) -> Draft:
        if isinstance(self._rows, Draft):
            return self._rows
        raise TypeError(
            "an object of a database cannot be pickled or copied deeply: take its to_dict(), or "
            "send its primary key"
        )

    def to_dict(self, depth: int = 0) -> dict[str, Any]:
        """Its properties by name, computed ones excepted. Sets are lists in their order, as JSON
        has no sets. Linked objects are their primary keys (or keys of the file if their class has
        none) and, over up to `depth` links, dictionaries too.
        """
        return dictionary(self, depth_of(depth))

    def to_json(self, depth: int = 0, *, indent: int | None = None) -> str:
        """`to_dict` as JSON, with dates as in ISO 8601 and bytes in base 64. `Realm.from_json`
        reads it.
        """
        return json_text(dictionary(self, depth_of(depth), is_stored=True), indent)

    def _repr_html_(self) -> str:
        """For notebooks."""
        from .notebooks import html_of_object, html_of_text

        try:
            return html_of_object(self)
        except Error:  # deleted: its text says so
            return html_of_text(repr(self))

    @property
    def _toft_session(self) -> Session | None:
        """The session that the object belongs to; None for one in no database."""
        return self._rows.session

    def _toft_link(self, session: Session) -> tuple[int, int]:
        """Object and class key, for a value of this realm."""
        rows = live(self)
        if rows.session is not session:
            raise WrongRealmError(
                f"This {type(self).__name__} belongs to another realm: say realm.resolve(object)."
            )
        return rows.key(self._row), rows.binding.key


class EmbeddedObject(Object):
    """The base of models whose objects live inside others.

        class Address(toft.EmbeddedObject):
            street: str

        class Person(toft.Object):
            address: Address | None
            earlier: list[Address]

    Each has exactly one owner: `person.address = Address(street="Elm St")` creates it in the
    database. It is deleted with its owner, when the property is set to something else (None too),
    and when it is removed from the list. One that has an owner cannot get another: give a new one
    with the same values, `Address(**person.address.to_dict())`. There is no primary key.
    """

    __slots__ = ()

    _toft_is_base: ClassVar[bool] = True
    _toft_is_embedded: ClassVar[bool] = True


# The names that no property can have.
type.__setattr__(
    Object, "_toft_reserved", frozenset(name for base in Object.__mro__ for name in vars(base))
)


def ownerless(cls: type[Object]) -> EmbeddedObjectError:
    """The error for an embedded object without an owner."""
    return EmbeddedObjectError(
        f"{cls.__name__} is embedded: its objects are created in a property or a list of their "
        f"owner, by setting it."
    )


def _new_draft(cls: type[Self]) -> Self:
    """The instance that pickle makes before it reads the values: it may be linked to already."""
    return cls.__new__(cls)


def live(instance: Object) -> Live:
    """The rows of an object that is in a database."""
    if not isinstance(instance, Object):
        raise TypeMismatchError(f"An object is due, not {instance!r:.80}")
    if isinstance(instance._rows, Live):
        return instance._rows
    raise InvalidArgumentError(
        f"This {type(instance).__name__} is in no database: say realm.add(object) first."
    )


def find(session: Session, binding: Binding, primary_key: Any) -> Object | None:
    """The object of a class with a primary key, or with its own key in a class without one."""
    if binding.primary_key is None and type(primary_key) is int:
        is_key = -(2**63) <= primary_key < 2**63
        single = Single.following(binding, primary_key) if is_key else None
        return None if single is None else live_object(binding.cls, single)
    address, link = ctypes.c_void_p(), toft_link()
    with session.writing.asking() as arguments:
        arguments.add(binding.stored_key(primary_key), session)
        library().toft_realm_find_object(
            session.position.address, binding.key, arguments.address, ctypes.byref(address)
        )
    if not address.value:
        return None
    handle = Handle(address.value, library().toft_object_release)
    library().toft_object_link(handle.address, ctypes.byref(link))
    return live_object(binding.cls, Single(binding, link.object_key, handle))


def live_object(cls: type[Self], rows: Rows, row: int = 0) -> Self:
    """An object of these rows."""
    instance = object.__new__(cls)
    instance._rows = rows
    instance._row = row
    return instance


def class_of_stored(
    name: str, properties: dict[str, PropertySchema], is_embedded: bool = False
) -> type[Object]:
    """A class for what a file has and no program declared."""
    base = EmbeddedObject if is_embedded else Object
    cls = cast(
        "type[Object]",
        ObjectType(name, (base,), {"__doc__": f"The class {name}, as the file has it."}),
    )
    cls._install({each: (MISSING, MISSING) for each in properties})
    type.__setattr__(cls, "_toft_properties", properties)
    return cls


def _is_shown(declared: PropertySchema) -> bool:
    return declared.container is None and not declared.target


def _shown(instance: Object, declared: PropertySchema) -> str:
    value = getattr(instance, declared.name)
    text = repr(named(value) if declared.type == values.MIXED else value)
    return text if len(text) <= 80 else f"{text[:77]}..."
