"""The classes of a realm, and the making of what their properties hold."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._lib import Handle, library
from .binding import Bindings
from .collection import Collection
from .dicts import Dict
from .errors import NoSuchClassError
from .lists import List
from .objects import Object, ObjectType, live_object
from .query import Results
from .rows import Binding, BoundProperty, Single
from .schema import did_you_mean, shape_of
from .sets import Set

if TYPE_CHECKING:
    from .session import Session

_COLLECTIONS: dict[type, type[Collection[Any]]] = {list: List, set: Set, dict: Dict}


class Classes:
    """See `session.Classes`."""

    def __init__(self, session: Session, declared: list[type[Object]] | None) -> None:
        """`declared`: None for those that the file has."""
        self.bindings = Bindings(session, declared)

    def binding(self, cls: ObjectType | str) -> Binding:
        try:
            return self.bindings[cls]
        except (KeyError, TypeError):
            pass
        if not (isinstance(cls, type) and issubclass(cls, Object)):
            raise self._no_class(cls)
        if (known := self.bindings.find(cls.__name__)) is None:
            raise self._no_class(cls.__name__)
        if shape_of(cls) != shape_of(known.cls):
            raise NoSuchClassError(
                f"The class {cls.__name__} was declared again with other properties: open the file "
                f"again with it."
            )
        self.bindings.bind(known, cls)
        return known

    def _no_class(self, cls: Any) -> NoSuchClassError:
        hint = did_you_mean(cls, self.bindings.classes) if isinstance(cls, str) else ""
        return NoSuchClassError(f"The realm was opened without the class {cls!r:.80}.{hint}")

    def binding_of_key(self, key: int) -> Binding:
        try:
            return self.bindings[key]
        except KeyError:
            raise NoSuchClassError(
                f"The realm was opened without the class with the key {key}."
            ) from None

    def owns(self, each: BoundProperty) -> bool:
        return each.type == values.LINK and self.binding_of_key(each.target).is_embedded

    def owning(self, binding: Binding) -> list[BoundProperty]:
        if binding.owning is None:
            binding.owning = [each for each in binding.properties.values() if self.owns(each)]
        return binding.owning

    def linked(self, object_key: int, class_key: int) -> Object:
        try:
            binding = self.bindings[class_key]
        except KeyError:  # a mixed value leads to any class of the file
            binding = self.binding_of_key(class_key)
        return live_object(binding.cls, Single(binding, object_key))

    def collection(self, owner: Single, each: BoundProperty) -> Any:
        if each.container is not None:
            return _COLLECTIONS[each.container].of(owner, each)
        address = ctypes.c_void_p()
        library().toft_object_linking_objects(
            owner.handle().address, each.key, ctypes.byref(address)
        )
        binding = self.binding_of_key(each.target)
        handle = Handle(address.value, library().toft_results_release)
        return Results(owner.session, handle, binding)

    def nested(self, owner: Single, each: BoundProperty, kind: int) -> Any:
        return (List if kind == values.LIST else Dict).of(owner, each)
