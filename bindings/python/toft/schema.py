"""Classes as schema:

annotations to properties, properties to what the library is given, and classes for what a file has.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import keyword
import re
import sys
import types
import typing
from collections.abc import (
    Callable,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
    Set,
)
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, Union, overload
from uuid import UUID

from . import _values as values
from ._ffi import (
    toft_class_flags,
    toft_class_schema,
    toft_property_flags,
    toft_property_schema,
    toft_string,
    toft_unique,
)
from ._lib import Handle, borrowed, library
from .conversions import Conversion, OwnConversion, StoredAs, conversion_of
from .errors import InvalidSchemaError, NoSuchPropertyError
from .identifiers import ObjectId
from .records import Record

if typing.TYPE_CHECKING:
    from inspect import Signature

    from .objects import Object, ObjectType
    from .query import Results

T = TypeVar("T", bound="Object")


class _Marker:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


_FLOAT32 = _Marker("32 bits")
MISSING = _Marker("no default")

Float32 = Annotated[float, _FLOAT32]
"""A float that is stored in 32 bits; `float` alone is stored in 64."""

Mixed = Any
"""A value of any type, also None, an object of any class that is not embedded, and lists and
dictionaries of such values, up to 100 within one another: `notes: toft.Mixed`. `Any` and `object`
say the same.

A list or a dictionary is copied when it is set, and read as a live `List` or `Dict`. It has no
`results` and no `observe` of its own: a change in it is a change of the property.
"""


DeleteRule = Literal["nullify", "cascade", "deny"]


class Field(Record):
    """A property's declaration by `field` or `linking_objects`, besides its type."""

    default: Any = MISSING
    default_factory: Callable[[], Any] | None = None
    primary_key: bool = False
    auto_increment: bool = False
    indexed: bool = False
    unique: tuple[str, ...] = ()
    delete_rule: DeleteRule = "nullify"
    linked_class: Any = None
    linked_property: str | None = None
    name: str | None = None


def field(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | None = None,
    primary_key: bool = False,
    auto_increment: bool = False,
    indexed: bool = False,
    unique: bool | str | tuple[str, ...] = False,
    delete_rule: DeleteRule = "nullify",
    name: str | None = None,
) -> Any:
    """Says of a property what its annotation cannot: `id: int = toft.field(primary_key=True)`.

    `auto_increment`: of an int that is the primary key. An object without a value gets the next one
    when it is added: 1 more than the greatest that an object of the class has had. Until then it is
    None; with `default=None` type checkers know that it may be left out.

    `unique`: no two objects have the same value when a transaction commits, except None:
    DuplicateValueError. With a text it is unique together with the other properties of the class
    that give the same text; with several texts, in several such groups.

    `delete_rule`: of a link or a collection of links. "cascade": what the object links to is
    deleted with it, whatever else links to that, however deep; circles end. "deny": an object
    cannot be deleted while another one links to it through this property, unless the same call
    deletes that one too: DeletionDeniedError.

    `name`: its name in the file, if that differs from the attribute's; queries and sorts use it
    too. An attribute that begins with an underscore is a property only with a field.
    """
    if default is not MISSING and default_factory is not None:
        raise ValueError("give either default or default_factory")
    if auto_increment:
        if default is None:
            default = MISSING
        if default is not MISSING or default_factory is not None:
            raise ValueError("give either a default or auto_increment")
    if delete_rule not in typing.get_args(DeleteRule):
        raise ValueError(f"delete_rule is 'nullify', 'cascade' or 'deny', not {delete_rule!r}")
    texts = unique if isinstance(unique, (tuple, list)) else ()
    if not isinstance(unique, (bool, str)) and (
        texts is not unique or not all(isinstance(each, str) for each in texts)
    ):
        raise TypeError(f"unique is a bool, a text or texts, not {unique!r:.80}")
    groups = (unique,) if isinstance(unique, str) else ("",) if unique is True else unique or ()
    return Field(
        default,
        default_factory,
        primary_key,
        auto_increment,
        indexed,
        groups,
        delete_rule,
        name=name,
    )


@overload
def linking_objects(
    origin: type[T], property: str, *, init: Literal[False] = False
) -> Results[T]: ...
@overload
def linking_objects(origin: str, property: str, *, init: Literal[False] = False) -> Any: ...
def linking_objects(origin: Any, property: str, *, init: Literal[False] = False) -> Any:
    """The objects of class `origin` whose `property` links here:

    `dogs = toft.linking_objects("Dog", "owner")`. Live, read-only. `init`: by this type checkers
    know that the constructor does not take it.
    """
    if not isinstance(origin, (str, type)):
        raise TypeError(f"a class or its name is due, not {origin!r:.80}")
    return Field(linked_class=origin, linked_property=property)


class PropertySchema(Record):
    """A property of a class, as it is declared. `name` is that of the attribute."""

    name: str
    type: int
    is_optional: bool = False
    container: builtins.type | None = None
    """`list`, `set` or `dict` if the property has many values."""
    target: str = ""
    origin_property: str = ""
    field: Field = Field()
    conversion: Conversion | None = None

    @property
    def stored_name(self) -> str:
        """The name in the file."""
        return self.field.name or self.name

    @property
    def flags(self) -> int:
        """The property's flags in toft.h."""
        flags = toft_property_flags
        nullable = self.is_optional or (self.type == values.LINK and self.container in (None, dict))
        return (
            (flags.NULLABLE if nullable else 0)
            | (flags.PRIMARY_KEY if self.field.primary_key else 0)
            | (flags.AUTO_INCREMENT if self.field.auto_increment else 0)
            | (flags.INDEXED if self.field.indexed else 0)
            | _RULE_FLAGS[self.field.delete_rule]
            | _CONTAINER_FLAGS.get(self.container, 0)
        )

    def default(self) -> Any:
        """The value of an object that was made without one."""
        if self.field.default_factory is not None:
            return self.field.default_factory()
        if self.field.default is not MISSING:
            return self.held(self.field.default)
        if self.field.auto_increment:
            return None
        if self.container is not None or self.is_optional:
            return self.container() if self.container is not None else None
        return self.conversion.zero if self.conversion else _ZEROS.get(self.type)

    def held(self, value: Any) -> Any:
        """The form in which an object in no database keeps a value: many values have a container of
        their own.
        """
        return value if self.container is None else self.container(value)

    @property
    def has_default(self) -> bool:
        """Whether the class says a default, which the library does not know of."""
        return self.field.default is not MISSING or self.field.default_factory is not None

    @property
    def must_be_given(self) -> bool:
        """Whether the library's own default is not that of a new object."""
        field, is_empty = self.field, self.container is not None or self.is_optional
        if field.default_factory is not None:
            return field.default_factory is not self.container
        if field.default is MISSING:
            return self.conversion is not None and not is_empty
        if self.container is not None:
            return len(field.default) > 0
        if self.is_optional:
            return field.default is not None
        zero = _ZEROS.get(self.type)
        is_zero = type(field.default) is type(zero) and repr(field.default) == repr(zero)
        return self.conversion is not None or not is_zero

    @property
    def is_required(self) -> bool:
        """Whether a new object must be given it: nothing else says what it would be."""
        is_empty = self.is_optional or self.container is not None or self.type in _EMPTY
        if not is_empty and isinstance(self.conversion, OwnConversion):
            return self.conversion.zero is None and not self.has_default
        return not (is_empty or self.has_default or self.field.auto_increment)


_ZEROS: dict[int, Any] = {
    values.BOOL: False,
    values.INT: 0,
    values.FLOAT: 0.0,
    values.DOUBLE: 0.0,
    values.STRING: "",
    values.DATA: b"",
    values.DATE: values.EPOCH,
    values.LINKING_OBJECTS: (),
    values.UUID: UUID(int=0),
    values.OBJECT_ID: ObjectId(bytes(12)),
    values.DECIMAL: Decimal(0),
}

_RULE_FLAGS: dict[DeleteRule, int] = {
    "nullify": 0,
    "cascade": toft_property_flags.CASCADE,
    "deny": toft_property_flags.DENY,
}

_CONTAINER_FLAGS: dict[type | None, int] = {
    list: toft_property_flags.LIST,
    set: toft_property_flags.SET,
    dict: toft_property_flags.DICTIONARY,
}

_CONTAINERS: dict[Any, type] = {
    list: list,
    MutableSequence: list,
    set: set,
    MutableSet: set,
    dict: dict,
    MutableMapping: dict,
}

CONTAINER_NAMES: dict[type, str] = {list: "list", set: "set", dict: "dictionary"}
_PLURALS: dict[type, str] = {list: "lists", set: "sets", dict: "dictionaries"}

_EMPTY = (values.LINK, values.LINKING_OBJECTS)

_SCALARS: dict[Any, int] = {
    bool: values.BOOL,
    int: values.INT,
    float: values.DOUBLE,
    str: values.STRING,
    bytes: values.DATA,
    datetime: values.DATE,
    UUID: values.UUID,
    ObjectId: values.OBJECT_ID,
    Decimal: values.DECIMAL,
}


# ------------------------------------------------------------------------------ Reading annotations


class _Unresolved:
    """Takes the place of a class that is not visible by its name.

    Only its name matters: classes are linked by name at open.
    """


class _Names(dict[str, Any]):
    """The names that an annotation's text may use."""

    def __init__(self, module: str) -> None:
        self._globals = vars(sys.modules[module]) if module in sys.modules else {}

    def __missing__(self, name: str) -> Any:
        if name in self._globals:
            return self._globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return type(name, (_Unresolved,), {})


class _Problem(Exception):
    """A fault of one property."""


def own_annotations(namespace: Mapping[str, Any], cls: type | None = None) -> dict[str, Any]:
    """The annotations of a class body, unevaluated if possible."""
    if sys.version_info >= (3, 14) and cls is not None:
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return dict(namespace.get("__annotations__", {}))


_CLASS_VARIABLE = re.compile(r"^(\w+\.)?ClassVar\b")


def is_property(name: str, annotation: Any, default: Any) -> bool:
    """Whether an annotated name of a class body is stored:

    all are but ClassVar and what begins with an underscore and has no `field`.
    """
    if (
        (name.startswith("_") and not isinstance(default, Field))
        or annotation is typing.ClassVar
        or typing.get_origin(annotation) is typing.ClassVar
    ):
        return False
    return not (isinstance(annotation, str) and _CLASS_VARIABLE.match(annotation.strip()))


def properties_of(cls: type[Object]) -> dict[str, PropertySchema]:
    """The properties of a class, those of its bases first.

    Raises InvalidSchemaError with every problem.
    """
    if (known := cls.__dict__.get("_toft_properties")) is None:
        known, problems = _read_properties(cls)
        if problems:
            raise InvalidSchemaError(
                f"The class {cls.__name__} cannot be stored.", detail="\n".join(problems)
            )
        type.__setattr__(cls, "_toft_properties", known)
    return typing.cast("dict[str, PropertySchema]", known)


class PropertyInfo(Record):
    """A property of a class, for programs that go through those of any class. See `fields`."""

    name: str
    """That of the attribute."""
    stored_name: str
    """The name in the file and in queries."""
    type: Any
    """Of the value or the elements, as an annotation says it: `int`, `toft.Float32`, an
    enumeration. None for links and linking objects: `target` is the class.
    """
    container: builtins.type | None
    """`list`, `set` or `dict` if the property has many values."""
    is_optional: bool
    """Whether the value, or an element, may be None."""
    is_primary_key: bool
    is_indexed: bool
    """A primary key is."""
    target: str
    """The class that is linked to or, for linking objects, links here; "" for others."""
    origin_property: str
    """Of linking objects, the property that links here; "" for others."""
    is_auto_incremented: bool = False
    delete_rule: DeleteRule = "nullify"
    """Of links, what deletions do along them."""


def fields(cls: ObjectType) -> tuple[PropertyInfo, ...]:
    """The properties of a class in the order of declaration, those of its bases first.

    Also of a class that only the file knows: `toft.fields(realm.classes["Dog"])`. Raises
    InvalidSchemaError if the class can't be stored.
    """
    if not hasattr(cls, "_toft_declared"):
        raise TypeError(f"a subclass of toft.Object is due, not {cls!r:.80}")
    return tuple(_info(each) for each in properties_of(typing.cast("type[Object]", cls)).values())


def _info(declared: PropertySchema) -> PropertyInfo:
    key = declared.field.primary_key
    return PropertyInfo(
        declared.name,
        declared.stored_name,
        declared.conversion.python_type if declared.conversion else _python_type(declared),
        declared.container,
        declared.is_optional,
        key,
        key or declared.field.indexed,
        declared.target,
        declared.origin_property,
        declared.field.auto_increment,
        declared.field.delete_rule,
    )


def _python_type(declared: PropertySchema) -> Any:
    if declared.target:
        return None
    if declared.type == values.FLOAT:
        return Float32
    if declared.type == values.MIXED:
        return Mixed
    return next(known for known, type in _SCALARS.items() if type == declared.type)


def signature_of(cls: type) -> Signature:
    """The signature of a class's constructor."""
    from inspect import Parameter, Signature

    parameters = []
    for each in properties_of(cls).values():
        if each.type != values.LINKING_OBJECTS:
            default = Parameter.empty if each.is_required else each.default()
            annotation = _annotation_of(cls, each.name, Parameter.empty)
            kind = Parameter.KEYWORD_ONLY
            parameters.append(Parameter(each.name, kind, default=default, annotation=annotation))
    return Signature(parameters)


def _annotation_of(cls: type, name: str, default: Any) -> Any:
    declared = (base.__dict__.get("_toft_declared", {}).get(name) for base in cls.__mro__)
    found = next((each[0] for each in declared if each), MISSING)
    return default if found is MISSING else found


def no_property(cls: type[Object], name: str) -> NoSuchPropertyError:
    """That a class has no property of a name, and which it may be that was meant."""
    hint = did_you_mean(name, properties_of(cls))
    return NoSuchPropertyError(f"The class {cls.__name__} has no property {name!r}.{hint}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence with the known name that is closest to an unknown one; "" if all differ much."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), 1)
    return f" Did you mean {close[0]!r}?" if close else ""


def shape_of(cls: type[Object]) -> dict[str, tuple[Any, ...]]:
    """The parts in which two classes of one name agree if they are interchangeable."""
    return {
        name: (each.stored_name, each.type, each.flags, each.target, each.origin_property)
        for name, each in properties_of(cls).items()
    }


def required_of(cls: type[Object]) -> tuple[str, ...]:
    """The properties that a new object must be given."""
    if (known := cls.__dict__.get("_toft_required")) is None:
        known = tuple(each.name for each in properties_of(cls).values() if each.is_required)
        type.__setattr__(cls, "_toft_required", known)
    return typing.cast("tuple[str, ...]", known)


def attribute_name(stored_name: str, reserved: Set[str]) -> str:
    """The attribute for a property that no program declared.

    A name that Python or `Object` uses gets an underscore at its end: `class_`, `realm_`.
    `reserved`: the names that `Object` uses.
    """
    is_taken = keyword.iskeyword(stored_name) or stored_name in reserved
    return f"{stored_name}_" if is_taken else stored_name


def _read_properties(cls: type[Object]) -> tuple[dict[str, PropertySchema], list[str]]:
    found: dict[str, PropertySchema] = {}
    problems = []
    for base in reversed(cls.__mro__):
        for name, (annotation, default) in base.__dict__.get("_toft_declared", {}).items():
            if name in cls._toft_reserved:
                problems.append(
                    f"{cls.__name__}.{name}: toft.Object uses this name: say {name}_: ... = "
                    f'toft.field(name="{name}")'
                )
                continue
            try:
                read = _property(name, annotation, default, _Names(base.__module__))
                if isinstance(read.conversion, OwnConversion):
                    named = read.conversion.named(f"{cls.__name__}.{name}")
                    read = read.replaced(conversion=named)
                found[name] = read
            except _Problem as problem:
                problems.append(f"{cls.__name__}.{name}: {problem}")
    return found, problems


def _property(name: str, annotation: Any, default: Any, names: _Names) -> PropertySchema:
    declared = default if isinstance(default, Field) else Field(default=default)
    if declared.linked_property is not None:
        target = declared.linked_class
        text = target if isinstance(target, str) else target.__name__
        return PropertySchema(
            name,
            values.LINKING_OBJECTS,
            target=text,
            origin_property=declared.linked_property,
            field=declared,
        )
    if annotation is MISSING:
        raise _Problem(f"say its type: {name}: int = toft.field(...)")
    meaning = _meaning(_evaluated(annotation, names), names)
    if declared.auto_increment and meaning.conversion is not None:
        raise _Problem("only an int can be auto-incremented")
    if isinstance(declared.default, (list, dict, set)) and meaning.container is None:
        raise _Problem("objects would share this default: say toft.field(default_factory=...)")
    if declared.default is not MISSING:
        _check_default(declared.default, meaning.container)
    return meaning.replaced(name=name, field=declared)


def _evaluated(annotation: Any, names: _Names) -> Any:
    while isinstance(annotation, (str, typing.ForwardRef)):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        try:
            annotation = eval(text, {}, names)
        except Exception as error:
            raise _Problem(f"its annotation {text!r} means nothing: {error}") from None
    return annotation


def _meaning(annotation: Any, names: _Names) -> PropertySchema:
    """The meaning of an annotation, of a property that has no name yet."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if hasattr(origin, "_toft_is_property"):
        return _meaning(_evaluated(arguments[0], names), names)
    container = _CONTAINERS.get(origin) or getattr(origin, "_toft_container", None)
    if container is not None:
        return _of_container(container, arguments, names)
    if origin is Annotated and not any(isinstance(each, (StoredAs, _Marker)) for each in arguments):
        return _meaning(_evaluated(arguments[0], names), names)
    if origin in (Union, types.UnionType):
        return _of_union([_evaluated(argument, names) for argument in arguments], names)
    return _scalar(annotation)


def _of_container(container: type, arguments: Sequence[Any], names: _Names) -> PropertySchema:
    name = CONTAINER_NAMES[container]
    *keys, value = (_evaluated(argument, names) for argument in arguments)
    if container is dict and keys != [str]:
        raise _Problem("the keys of a dictionary are texts: say dict[str, ...]")
    element = _meaning(value, names)
    if element.container is not None:
        raise _Problem(f"a {name} of {_PLURALS[element.container]} cannot be stored")
    if element.type == values.LINK and element.is_optional != (container is dict):
        if element.is_optional:
            said = f"{container.__name__}[{element.target}]"
            raise _Problem(f"a {name} of links has no None in it: say {said}")
        raise _Problem(
            f"the value of a key is None when its object is deleted: "
            f'say dict[str, "{element.target} | None"]'
        )
    return element.replaced(container=container)


def _check_default(default: Any, container: type | None) -> None:
    is_right = (
        isinstance(default, Mapping)
        if container is dict
        else isinstance(default, Iterable) and not isinstance(default, (str, bytes, Mapping))
    )
    if container is not None and not is_right:
        raise _Problem(f"its default is no {CONTAINER_NAMES[container]}: {default!r:.80}")


def _of_union(members: Sequence[Any], names: _Names) -> PropertySchema:
    others = [member for member in members if member not in (None, type(None))]
    if len(others) != 1 or len(others) == len(members):
        raise _Problem("a property has one type, or one type and None")
    meaning = _meaning(others[0], names)
    if meaning.container is not None:
        raise _Problem(f"a {CONTAINER_NAMES[meaning.container]} is never None: it is empty")
    return meaning.replaced(is_optional=True)


def _scalar(annotation: Any) -> PropertySchema:
    if typing.get_origin(annotation) is Annotated:
        base, *extras = typing.get_args(annotation)
        if declared := [each for each in extras if isinstance(each, StoredAs)]:
            return _own(base, declared[-1])
        return PropertySchema("", values.FLOAT) if _FLOAT32 in extras else _scalar(base)
    if annotation is Any or annotation is object:
        return PropertySchema("", values.MIXED, is_optional=True)
    if annotation in _SCALARS:
        return PropertySchema("", _SCALARS[annotation])
    try:
        conversion = conversion_of(annotation)
    except TypeError as problem:
        raise _Problem(str(problem)) from None
    if conversion is not None:
        return PropertySchema("", conversion.type, conversion=conversion)
    if isinstance(annotation, type) and (
        issubclass(annotation, _Unresolved) or hasattr(annotation, "_toft_declared")
    ):
        return PropertySchema("", values.LINK, target=annotation.__name__)
    if annotation in (list, MutableSequence, Sequence):
        raise _Problem("say what the list holds: list[str]")
    if annotation in (set, MutableSet):
        raise _Problem("say what the set holds: set[str]")
    if annotation in (dict, MutableMapping, Mapping):
        raise _Problem("say what the dictionary holds: dict[str, int]")
    raise _Problem(
        f"{getattr(annotation, '__name__', annotation)} cannot be stored: a property is bool, "
        f"int, float, toft.Float32, str, bytes, datetime, date, Decimal, UUID, toft.ObjectId, an "
        f"Enum, a class, toft.Mixed, or a list, a set or a dictionary of one of these"
    )


def _own(python_type: Any, declared: StoredAs[Any, Any]) -> PropertySchema:
    stored = _scalar(declared.type)
    if stored.conversion or stored.target or stored.type == values.MIXED:
        raise _Problem(
            "StoredAs takes bool, int, float, toft.Float32, str, bytes, datetime, Decimal, UUID or "
            "toft.ObjectId"
        )
    conversion = OwnConversion(python_type, declared, stored.type, _ZEROS[stored.type])
    return PropertySchema("", stored.type, conversion=conversion)


# ---------------------------------------------------------------------------- To the library's form


def schema_handle(classes: Iterable[type[Object]]) -> Handle:
    """Validates classes with the library.

    Raises InvalidSchemaError with the problems of all classes.
    """
    rows, _ = _class_rows(tuple(classes))
    handle = ctypes.c_void_p()
    library().toft_schema_new(ctypes.byref(rows), len(rows), ctypes.byref(handle))
    return Handle(handle.value, library().toft_schema_release)


@functools.lru_cache(maxsize=4)
def _class_rows(classes: tuple[type[Object], ...]) -> tuple[Any, list[Any]]:
    """Classes as the library takes them, and the memory that they borrow. A program opens its files
    with the same classes again and again.
    """
    read = [(cls, *_read_properties(cls)) for cls in classes]
    problems = [problem for _, _, found in read for problem in found]
    for cls, properties, _ in read:
        problems += [_plain_link(cls, each) for each in properties.values() if _is_plain_link(each)]
    if problems:
        raise InvalidSchemaError(
            f"The schema is not valid: {problems[0]}", detail="\n".join(problems)
        )
    kept: list[Any] = []
    rows = (toft_class_schema * len(read))()
    stored_names = {
        (cls.__name__, each.name): each.stored_name
        for cls, properties, _ in read
        for each in properties.values()
    }
    for row, (cls, properties, _) in zip(rows, read):
        row.flags = toft_class_flags.EMBEDDED if cls._toft_is_embedded else 0
        _fill_class(row, cls.__name__, list(properties.values()), stored_names, kept)
    return rows, kept


def _is_plain_link(declared: PropertySchema) -> bool:
    is_link = declared.type == values.LINK and declared.container is None
    return is_link and not declared.is_optional


def _plain_link(cls: type, declared: PropertySchema) -> str:
    return (
        f"{cls.__name__}.{declared.name}: a link is None when its object is deleted: "
        f'say "{declared.target} | None"'
    )


def _fill_class(
    row: toft_class_schema,
    name: str,
    properties: list[PropertySchema],
    stored_names: Mapping[tuple[str, str], str],
    kept: list[Any],
) -> None:
    memory = (toft_property_schema * max(1, len(properties)))()
    kept.append(memory)
    row.size = ctypes.sizeof(toft_class_schema)
    groups = uniques(properties)
    found = (toft_unique * max(1, len(groups)))()
    kept.append(found)
    for unique, names in zip(found, groups):
        texts = (toft_string * len(names))(*(_lent(each.stored_name, kept) for each in names))
        kept.append(texts)
        unique.size = ctypes.sizeof(toft_unique)
        unique.properties = ctypes.addressof(texts)
        unique.property_count = len(names)
    row.uniques = ctypes.addressof(found)
    row.unique_count = len(groups)
    row.name = _lent(name, kept)
    row.properties = ctypes.addressof(memory)
    row.property_count = len(properties)
    for item, declared in zip(memory, properties):
        item.size = ctypes.sizeof(toft_property_schema)
        item.name = _lent(declared.stored_name, kept)
        item.type = declared.type
        item.flags = declared.flags
        item.target_class = _lent(declared.target, kept)
        origin = (declared.target, declared.origin_property)
        item.target_property = _lent(stored_names.get(origin, declared.origin_property), kept)


def uniques(properties: Iterable[PropertySchema]) -> list[list[PropertySchema]]:
    """The properties that are unique, each alone or with others."""
    groups: dict[str | tuple[str], list[PropertySchema]] = {}
    for each in properties:
        for group in each.field.unique:
            groups.setdefault(group or (each.name,), []).append(each)
    return [*groups.values()]


def _lent(text: str, kept: list[Any]) -> Any:
    string, memory = borrowed(text)
    kept.append(memory)
    return string


def stored_property(
    name: str, kind: int, flags: int, target: str, origin_property: str, reserved: Set[str]
) -> PropertySchema:
    """A property as the file has it, for classes that no program declared.

    `reserved`: see `attribute_name`.
    """
    known = toft_property_flags
    return PropertySchema(
        attribute_name(name, reserved),
        kind,
        is_optional=bool(flags & known.NULLABLE),
        container=next((kind for kind, flag in _CONTAINER_FLAGS.items() if flags & flag), None),
        target=target,
        origin_property=origin_property,
        field=Field(
            primary_key=bool(flags & known.PRIMARY_KEY),
            auto_increment=bool(flags & known.AUTO_INCREMENT),
            indexed=bool(flags & known.INDEXED),
            delete_rule=next(
                (rule for rule, flag in _RULE_FLAGS.items() if flags & flag), "nullify"
            ),
            name=name,
        ),
    )


def primary_key_of(properties: Mapping[str, PropertySchema]) -> str | None:
    """The name of the primary key, if the class has one."""
    return next((each.name for each in properties.values() if each.field.primary_key), None)
