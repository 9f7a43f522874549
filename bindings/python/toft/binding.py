"""Binds classes to a realm: which keys the classes and properties of a file have."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._ffi import toft_class_flags, toft_class_info, toft_property_flags, toft_property_info
from ._lib import borrowed, library, text_of
from .errors import NoSuchClassError
from .objects import Object, class_of_stored
from .records import Record
from .rows import Binding, BoundProperty
from .schema import PropertySchema, primary_key_of, properties_of, stored_property

if TYPE_CHECKING:
    from .session import Session


class _Stored(Record):
    """A property as the file has it."""

    name: str
    key: int
    type: int
    flags: int
    target: int
    target_property: int


class Bindings(dict[Any, Binding]):
    """The classes of a realm by class, name and key: those declared, each bound when it is first
    asked for, so that opening costs nothing for classes that are not used; or a class made for each
    that the file has.
    """

    def __init__(self, session: Session, declared: list[type[Object]] | None) -> None:
        super().__init__()
        self._session = weakref.ref(session)
        self._declared = {cls.__name__: cls for cls in declared or ()}
        if declared is None:
            for binding in _stored_bindings(session):
                self._declared[binding.cls.__name__] = binding.cls
                self._add(binding)

    @property
    def classes(self) -> dict[str, type[Object]]:
        """All classes by name, bound or not."""
        return dict(self._declared)

    def __missing__(self, wanted: Any) -> Binding:
        session = self._session()
        name = wanted
        if isinstance(wanted, int) and session is not None:
            try:
                name = _class_info(session, wanted)[0]
            except NoSuchClassError:
                raise KeyError(wanted) from None
        elif isinstance(wanted, type):
            name = wanted.__name__
        cls = self._declared.get(name)
        if session is None or cls is None or (isinstance(wanted, type) and cls is not wanted):
            raise KeyError(wanted)
        key = _find_class(session, name)
        stored = {each.name: each for each in _properties(session, key)}
        is_embedded = _class_info(session, key)[1]
        return self._add(_binding(session, cls, key, properties_of(cls), stored, is_embedded))

    def find(self, wanted: Any) -> Binding | None:
        """The binding of a class, a name or a key, if the realm has that class."""
        try:
            return self[wanted]
        except KeyError:
            return None

    def bind(self, binding: Binding, cls: type[Object]) -> None:
        """Gives a binding a class of the same shape in place of the one so far."""
        binding.bind(cls)
        self._declared[cls.__name__] = cls
        self[cls] = binding

    def _add(self, binding: Binding) -> Binding:
        self[binding.key] = self[binding.cls] = self[binding.cls.__name__] = binding
        return binding


def _stored_bindings(session: Session) -> Iterator[Binding]:
    infos = {key: _class_info(session, key) for key in _class_keys(session)}
    names = {key: name for key, (name, _) in infos.items()}
    stored = {key: {each.name: each for each in _properties(session, key)} for key in names}
    for key, name in names.items():
        properties = {}
        for each in stored[key].values():
            inverse = {other.key: other.name for other in stored.get(each.target, {}).values()}
            target, origin = names.get(each.target, ""), inverse.get(each.target_property, "")
            made = stored_property(
                each.name, each.type, each.flags, target, origin, Object._toft_reserved
            )
            properties[made.name] = made
        is_embedded = infos[key][1]
        cls = class_of_stored(name, properties, is_embedded)
        yield _binding(session, cls, key, properties, stored[key], is_embedded)


def _binding(
    session: Session,
    cls: type[Object],
    key: int,
    properties: dict[str, PropertySchema],
    stored: dict[str, _Stored],
    is_embedded: bool,
) -> Binding:
    bound = []
    for declared in properties.values():
        each = stored[declared.stored_name]
        is_nullable = bool(each.flags & toft_property_flags.NULLABLE)
        bound.append(BoundProperty(declared, each.key, is_nullable, each.target))
    return Binding(session, cls, key, bound, primary_key_of(properties), is_embedded)


def _class_keys(session: Session) -> list[int]:
    count = ctypes.c_size_t()
    library().toft_realm_classes(session.position.address, None, 0, ctypes.byref(count))
    keys = (ctypes.c_uint32 * max(1, count.value))()
    library().toft_realm_classes(session.position.address, keys, count.value, ctypes.byref(count))
    return list(keys[: count.value])


def _find_class(session: Session, name: str) -> int:
    text, memory = borrowed(name)
    key = ctypes.c_uint32()
    library().toft_realm_find_class(session.position.address, text, ctypes.byref(key))
    return key.value


def _class_info(session: Session, key: int) -> tuple[str, bool]:
    """Name of a class, and whether it is embedded."""
    info = toft_class_info()
    info.size = ctypes.sizeof(info)
    library().toft_realm_class_info(session.position.address, key, ctypes.byref(info))
    return text_of(info.name), bool(info.flags & toft_class_flags.EMBEDDED)


def _properties(session: Session, class_key: int) -> Iterator[_Stored]:
    count, address = ctypes.c_size_t(), session.position.address
    library().toft_realm_properties(address, class_key, None, 0, ctypes.byref(count))
    keys = (ctypes.c_uint32 * max(1, count.value))()
    library().toft_realm_properties(address, class_key, keys, count.value, ctypes.byref(count))
    for key in keys[: count.value]:
        info = toft_property_info()
        info.size = ctypes.sizeof(info)
        library().toft_realm_property_info(address, class_key, key, ctypes.byref(info))
        yield _Stored(
            text_of(info.name), key, info.type, info.flags, info.target_class, info.target_property
        )
