"""Putting objects into a database:

one by one from values, or a whole graph of objects that link to each other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._ffi import toft_link, toft_update_policy
from ._lib import Handle, library
from .errors import Error, WrongRealmError
from .objects import Object
from .rows import Binding, BoundProperty, Draft, Live, Single
from .schema import properties_of

if TYPE_CHECKING:
    from .database import Realm

MODIFIED = toft_update_policy.MODIFIED


class Adding:
    """One call of `add`, `create` or `upsert`.

    What it has created it takes back when it fails half-way.
    """

    def __init__(self, realm: Realm, policy: int) -> None:
        self._realm = realm
        self._policy = policy
        self._created: list[Single] = []

    def create(self, binding: Binding, given: Mapping[str, Any]) -> Single:
        """An object from values.

        Defaults that the class declares hold for an object that is new.
        """
        missing = [each for each in binding.defaults if each.name not in given]
        if missing and not self.exists(binding, given):
            given = {**given, **{each.name: each.default() for each in missing}}
        return self._create(binding, given, self._policy)

    def add(self, root: Object) -> None:
        """An object and all that it leads to.

        They become live together, at the end, or none does.
        """
        if isinstance(root._rows, Live):
            if root._rows.realm is not self._realm:
                raise WrongRealmError(
                    f"This {type(root).__name__} belongs to another realm: say "
                    f"realm.resolve(object)."
                )
            return
        drafts = _reachable(root)
        made: dict[int, Single] = {}
        try:
            for draft in drafts:
                made[id(draft)] = self._add_alone(draft)
            for draft in drafts:
                self._link(draft, made)
        except BaseException:
            self.take_back()
            raise
        for draft in drafts:
            draft._rows = made[id(draft)]
            draft._row = 0

    def _add_alone(self, draft: Object) -> Single:
        """A draft without its links to other drafts, which may not be there yet."""
        binding = self._realm._binding(type(draft))
        given = {
            each.name: getattr(draft, each.name)
            for each in binding.properties.values()
            if each.type != values.LINKING_OBJECTS
        }
        filled = {name: value for name, value in given.items() if not _drafts_in(value)}
        policy = (
            self._policy if binding.primary_key else toft_update_policy.ERROR
        )  # without a key it is always a new object
        return self._create(binding, filled, policy)

    def _link(self, draft: Object, made: Mapping[int, Single]) -> None:
        single = made[id(draft)]
        for each in single.binding.properties.values():
            if each.type == values.LINK and _drafts_in(value := getattr(draft, each.name)):
                self._set(single, each, mapped(value, lambda item: _added(item, made)))

    def _set(self, single: Single, each: BoundProperty, value: Any) -> None:
        if self._policy != MODIFIED or single.read(_NOBODY, each.name) != value:
            single.set(each.name, value)

    def exists(self, binding: Binding, given: Mapping[str, Any]) -> bool:
        """Whether an object with the primary key that is given is there to be updated."""
        key = given.get(binding.primary_key) if binding.primary_key else None
        return (
            self._policy != toft_update_policy.ERROR
            and key is not None
            and self._realm.object(binding.cls, key) is not None
        )

    def _create(self, binding: Binding, given: Mapping[str, Any], policy: int) -> Single:
        keys, properties = binding.properties_named(tuple(given))
        address, link, is_new = ctypes.c_void_p(), toft_link(), ctypes.c_bool()
        with self._realm._arguments() as arguments:
            for each, value in zip(properties, given.values()):
                each.lend(value, arguments, self._realm)
            self._realm._changing()
            library().toft_realm_create_object(
                self._realm._address,
                binding.key,
                policy,
                keys,
                arguments.address,
                len(properties),
                ctypes.byref(address),
                ctypes.byref(link),
                ctypes.byref(is_new),
            )
        single = Single(
            binding, link.object_key, Handle(address.value, library().toft_object_release)
        )
        if is_new.value:
            self._created.append(single)
        return single

    def take_back(self) -> None:
        """Deletes what was created."""
        for single in reversed(self._created):
            try:
                self._realm._changing()
                library().toft_object_delete(single.handle().address)
            except Error:  # the failure that led here is the one to report
                pass


_NOBODY: Any = None  # a Single needs no instance to read


def _is_draft(value: Any) -> bool:
    return isinstance(value, Object) and isinstance(value._rows, Draft)


def _drafts_in(value: Any) -> bool:
    return any(_is_draft(item) for item in _items(value))


def _items(value: Any) -> Iterable[Any]:
    """What a property of an object in no database holds: one value or many."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, (list, set)) else (value,)


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """The value of a property, one or a container of many, with a function called for each."""
    if isinstance(value, Mapping):
        return {key: function(item) for key, item in value.items()}
    if isinstance(value, (list, set)):
        return type(value)(map(function, value))
    return function(value)


def _added(value: Any, made: Mapping[int, Single]) -> Any:
    return _Link(made[id(value)]) if _is_draft(value) else value


class _Link:
    """An object that is added but not live yet, as a value."""

    def __init__(self, single: Single) -> None:
        self._single = single

    def _toft_link(self, realm: Realm) -> tuple[int, int]:
        return self._single.key(0), self._single.binding.key

    def __eq__(self, other: object | None) -> bool:
        if isinstance(other, _Link):
            return other._single.key(0) == self._single.key(0)
        return (
            isinstance(other, Object)
            and isinstance(other._rows, Live)
            and other._rows.key(other._row) == self._single.key(0)
        )

    def __hash__(self) -> int:
        """That of the live object, for sets."""
        return hash((id(self._single.binding), self._single.key(0)))


def _reachable(root: Object) -> list[Object]:
    """The drafts that one leads to over links, itself first.

    A loop, not a recursion: a chain may be long.
    """
    found, seen, waiting = [], {id(root)}, [root]
    while waiting:
        draft = waiting.pop()
        found.append(draft)
        for name, declared in properties_of(type(draft)).items():
            if declared.type != values.LINK:
                continue
            value = getattr(draft, name)
            for item in _items(value):
                if _is_draft(item) and id(item) not in seen:
                    seen.add(id(item))
                    waiting.append(item)
    return found
