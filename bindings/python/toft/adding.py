"""Putting objects into a database:

one by one from values, or a whole graph of objects that link to each other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from . import _values as values
from ._ffi import toft_link, toft_update_policy
from ._lib import Handle, borrowed, library
from .errors import (
    EmbeddedObjectError,
    Error,
    ObjectDeletedError,
    TypeMismatchError,
    WrongRealmError,
)
from .fitting import fits, key_fits, primary_key_fits
from .objects import Object, ownerless
from .rows import Binding, BoundProperty, Draft, Live, Rows, Single
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
        self._made: dict[int, Single] = {}
        self._new: set[Single] = set()
        """Objects of which nothing is put back: they are deleted when something fails."""
        self._may_fail: Callable[[], bool] = _never
        """Whether something may fail after the first change."""
        self._drafts: list[tuple[Object, Rows]] = []
        """What has become live, and what it was."""
        self._put_back: list[Callable[[], object]] = []
        """Each call puts a copy of what was replaced in its place again."""
        self._removals: dict[object, Callable[[], object]] = {}
        """By collection: each call removes what it has owned before, once nothing can fail."""

    def create(self, binding: Binding, given: Mapping[str, Any]) -> Single:
        """An object from values.

        Defaults that the class declares hold for an object that is new.
        """
        missing = [each for each in binding.defaults if each.name not in given]
        found = self.found(binding, given) if missing else None
        if missing and found is None:
            given = {**given, **{each.name: each.default() for each in missing}}
        embedded = {
            each: self._drafted(each, given[each.name])
            for each in self._realm._owning(binding)
            if is_new(given.get(each.name))
        }
        if not embedded:
            return self._create(binding, given, self._policy)
        names = {each.name for each in embedded}
        plain = {name: value for name, value in given.items() if name not in names}
        found = found if missing else self.found(binding, given)
        made: list[Single] = [] if found is None else [found]

        def set_plain() -> None:
            made[:] = [self._create(binding, plain, self._policy)]

        def create() -> None:
            if found is None:
                set_plain()
            for each, value in embedded.items():
                self._own(made[0], each, value)

        items = [item for value in embedded.values() for item in _items(value)]
        if found is None:
            self._put(items, create)
        else:
            self._put(items, create, set_plain, lambda: self._fit(binding, plain))
        return made[0]

    @property
    def created(self) -> list[Single]:
        """What it has created, but for embedded objects."""
        return self._created

    def add(self, root: Object) -> None:
        """An object and all that it leads to.

        They become live together, at the end, or none does.
        """
        if not isinstance(root, Object):
            raise TypeMismatchError(f"An object is due, not {root!r:.80}")
        if isinstance(root._rows, Live):
            if root._rows.realm is not self._realm:
                raise WrongRealmError(
                    f"This {type(root).__name__} belongs to another realm: say "
                    f"realm.resolve(object)."
                )
            if not root._rows.single(root).exists():
                raise ObjectDeletedError(
                    f"This {type(root).__name__} has been deleted: add a new one."
                )
            return
        if self._is_embedded(root):
            raise ownerless(type(root))
        self._put([root], lambda: None)

    def _put(
        self,
        roots: Iterable[Object | None],
        embed: Callable[[], None],
        finish: Callable[[], None] | None = None,
        finishes: Callable[[], bool] = lambda: True,
    ) -> None:
        """Some drafts and all that they lead to. `embed`: creates those of the drafts that are
        embedded, once all that is not is there. `finish`: what is to be done last, and `finishes`:
        whether it surely can be done.
        """
        roots = list(roots)
        drafts, before = self._reachable(roots), len(self._created)
        nones = sum(root is None for root in roots)
        is_one = len(drafts) + nones == 1 and finish is None
        self._may_fail = cache(lambda: not (is_one or finishes() and all(map(self._fits, drafts))))
        try:
            for draft in drafts:
                if not self._is_embedded(draft):
                    self._made[id(draft)] = self._add_alone(draft)
            embed()
            for draft in drafts:  # an owner comes before what it owns
                self._link(draft)
            if finish is not None:
                finish()
        except BaseException:
            self.take_back()
            raise
        finally:
            self._may_fail = _never
        for remove in self._removals.values():
            remove()
        self._removals.clear()
        self._put_back.clear()
        self._created[before:] = [  # from here on an embedded object stays or goes with its owner
            each for each in self._created[before:] if not each.binding.is_embedded
        ]
        for draft in drafts:
            self._drafts.append((draft, draft._rows))
            draft._rows = self._made[id(draft)]
            draft._row = 0

    def embed(self, owner: Single, each: BoundProperty, value: Any) -> None:
        """Sets a property to embedded objects in no database yet: a draft, a mapping, or a
        container of them.
        """
        value = self._drafted(each, value)
        self._put(_items(value), lambda: self._own(owner, each, value))

    def set_keys(self, collection: Any, items: Mapping[str, Any]) -> None:
        """Sets the values of keys to embedded objects in no database yet, or None."""
        drafts = self._drafted(collection._property, items)

        def set_all() -> None:
            for key, draft in drafts.items():
                self._set_key(collection, key, draft)

        self._put(drafts.values(), set_all, finishes=lambda: all(map(key_fits, drafts)))

    def set_element(self, collection: Any, index: int, item: Any) -> None:
        """Puts an embedded object in no database yet in the place of another one in a list."""
        draft = self._draft(collection._property, item)

        def replace() -> None:
            old = [detached(collection[index])] if self._may_fail() else []
            self._create_in("toft_list_set_embedded", collection, index, draft)
            self._put_back += [lambda: collection.insert(index, each) for each in old]

        self._put([draft], replace)

    def insert(self, collection: Any, index: int, items: Iterable[Any]) -> None:
        """Inserts embedded objects in no database yet into a list."""
        drafts = [self._draft(collection._property, item) for item in items]
        self._put(drafts, lambda: self._insert(collection, index, drafts))

    def _own(self, owner: Single, each: BoundProperty, value: Any) -> None:
        """Creates the drafts that a property is to own, and removes at the end what it has owned
        so far.
        """
        if each.container is None:
            with self._replacing([each], owner):
                function = "toft_object_set_embedded"
                self._create_embedded(function, owner.handle(), each.key, each, value)
            return
        collection = self._realm._collection(owner, each)
        if each.container is list:
            count = len(collection)
            self._insert(collection, count, value)
            self._removals[collection._place] = lambda: collection._erase(0, count)
            return
        others = [] if owner in self._new else [key for key in collection if key not in value]
        for key, draft in value.items():
            self._set_key(collection, key, draft, owner in self._new)
        self._removals[collection._place] = lambda: [*map(collection.__delitem__, others)]

    def _insert(self, collection: Any, index: int, drafts: Iterable[Object]) -> None:
        for place, draft in enumerate(drafts, index):
            self._create_in("toft_list_insert_embedded", collection, place, draft)

    def _set_key(
        self, collection: Any, key: str, draft: Object | None, is_new: bool = False
    ) -> None:
        """`is_new`: whether the dictionary goes with its object if something fails."""
        before = None if is_new else self._before(collection, key)
        if draft is None:
            collection[key] = None
        else:
            self._create_in("toft_dictionary_set_embedded", collection, key, draft)
        if before is not None:
            self._put_back.append(before)

    def _before(self, collection: Any, key: str) -> Callable[[], object] | None:
        """What makes a key what it is now, if something may fail."""
        if not self._may_fail():
            return None
        if key not in collection:
            return lambda: collection.pop(key, None)
        old = detached(collection[key])
        return lambda: collection.__setitem__(key, old)

    @contextmanager
    def _replacing(self, properties: Iterable[BoundProperty], owner: Single) -> Iterator[None]:
        """A block that sets properties of an object, in one call: if something fails later, they
        get what they had again.
        """
        if owner in self._new or not self._may_fail():
            yield
            return
        old = [(each, detached(owner.read(_NOBODY, each.name))) for each in properties]

        def put_back() -> None:
            for each, value in old:
                if owner.read(_NOBODY, each.name) != value:
                    owner.set(each.name, value)

        yield
        self._put_back.append(put_back)

    def _create_in(self, function: str, collection: Any, place: int | str, draft: Object) -> None:
        self._create_embedded(function, collection._handle, place, collection._property, draft)

    def _create_embedded(
        self, function: str, owner: Handle, place: int | str, each: BoundProperty, draft: Object
    ) -> None:
        """`place`: the key of the owner's property, the index in its list or the key of its
        dictionary.
        """
        binding = self._realm._binding_of_key(each.target)
        if self._realm._binding(type(draft)) is not binding:
            raise TypeMismatchError(
                f"{each.name}: a {binding.cls.__name__} is due, not a {type(draft).__name__}"
            )
        given = self._alone(binding, draft)
        keys, properties = binding.properties_named(tuple(given))
        address, link = ctypes.c_void_p(), toft_link()
        where, memory = (
            borrowed(values.key_bytes(place)) if isinstance(place, str) else (place, None)
        )
        with self._realm._arguments() as arguments:
            for item, value in zip(properties, given.values()):
                item.lend(value, arguments, self._realm)
            self._realm._changing()
            getattr(library(), function)(
                owner.address,
                where,
                keys,
                arguments.address,
                len(properties),
                ctypes.byref(address),
                ctypes.byref(link),
            )
        single = Single(
            binding, link.object_key, Handle(address.value, library().toft_object_release)
        )
        del memory  # lent until here
        self._made[id(draft)] = single
        self._created.append(single)
        self._new.add(single)

    def _drafted(self, each: BoundProperty, value: Any) -> Any:
        """What a property is to own, as drafts: a mapping becomes one."""
        if each.container is None:
            return self._draft(each, value)
        each.check_container(value)
        held = value if isinstance(value, (list, dict)) else each.container(value)
        may_be_none = each.container is dict
        return mapped(
            held, lambda item: None if item is None and may_be_none else self._draft(each, item)
        )

    def _draft(self, each: BoundProperty, item: Any) -> Object:
        cls = self._realm._binding_of_key(each.target).cls
        if isinstance(item, Mapping):
            return cls(**item)
        if _is_draft(item):
            return cast(Object, item)
        if isinstance(item, Object):
            raise EmbeddedObjectError(
                f"This {type(item).__name__} already has an owner: give a new one with the same "
                f"values, {type(item).__name__}(**item.to_dict())."
            )
        raise TypeMismatchError(f"{each.name}: a {cls.__name__} is due, not {item!r:.80}")

    def _reachable(self, roots: Iterable[Object | None]) -> list[Object]:
        """The drafts that some lead to over links, themselves first.

        A loop, not a recursion: a chain may be long.
        """
        found: list[Object] = []
        seen: set[int] = set()
        waiting: list[Object] = []

        def meet(draft: Object) -> None:
            if id(draft) not in seen:
                seen.add(id(draft))
                waiting.append(draft)
            elif self._is_embedded(draft):
                raise EmbeddedObjectError(
                    f"This {type(draft).__name__} is used twice: an embedded object has one owner. "
                    f"Give a copy: copy.deepcopy(object)."
                )

        for root in roots:
            if root is not None:
                meet(root)
        while waiting:
            draft = waiting.pop()
            found.append(draft)
            for each in self._realm._binding(type(draft)).linking:
                value = _held(draft, each)
                if is_new(value) and self._realm._owns(each):
                    value = self._drafted(each, value)
                    setattr(draft, each.name, value)
                for item in _items(value):
                    if _is_draft(item):
                        if each.type == values.MIXED and self._is_embedded(item):
                            raise ownerless(type(item))
                        meet(item)
        return found

    def _is_embedded(self, draft: Object) -> bool:
        return self._realm._binding(type(draft)).is_embedded

    def _alone(self, binding: Binding, draft: Object) -> dict[str, Any]:
        """The values of a draft without its links to other drafts, which may not be there yet."""
        given = {each.name: _held(draft, each) for each in binding.stored}
        for each in binding.linking:
            if _drafts_in(given[each.name]):
                del given[each.name]
        return given

    def _add_alone(self, draft: Object) -> Single:
        binding = self._realm._binding(type(draft))
        filled = self._alone(binding, draft)
        policy = (
            self._policy if binding.primary_key else toft_update_policy.ERROR
        )  # without a key it is always a new object
        updates = policy != toft_update_policy.ERROR and self._may_fail()
        if not updates or (found := self.found(binding, filled)) is None:
            return self._create(binding, filled, policy)
        with self._replacing(binding.properties_named(tuple(filled))[1], found):
            return self._create(binding, filled, policy)

    def _link(self, draft: Object) -> None:
        made = self._made
        single = made[id(draft)]
        for each in single.binding.linking:
            if _drafts_in(value := _held(draft, each)):
                if self._realm._owns(each):
                    self._own(single, each, value)
                    continue
                self._set(single, each, _filled(value, made))

    def _set(self, single: Single, each: BoundProperty, value: Any) -> None:
        if self._policy != MODIFIED or value != _owned(single.read(_NOBODY, each.name)):
            with self._replacing([each], single):
                single.set(each.name, value)

    def found(self, binding: Binding, given: Mapping[str, Any]) -> Single | None:
        """The object with the primary key that is given, if it is there to be updated."""
        key = given.get(binding.primary_key) if binding.primary_key else None
        if self._policy == toft_update_policy.ERROR or key is None:
            return None
        instance = self._realm.object(binding.cls, key)
        return None if instance is None else self._realm._own(instance)

    def _create(self, binding: Binding, given: Mapping[str, Any], policy: int) -> Single:
        counted = binding.counted
        if counted is not None and given.get(counted, 0) is None:
            given = {name: value for name, value in given.items() if name != counted}
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
            self._new.add(single)
        return single

    def _fits(self, draft: Object) -> bool:
        """Whether a draft surely can be created."""
        binding = self._realm._binding(type(draft))
        return self._fit(binding, {each.name: _held(draft, each) for each in binding.stored})

    def _fit(self, binding: Binding, given: Mapping[str, Any]) -> bool:
        """Whether values surely fit, links too: to drafts, and to objects that are there."""
        for name, value in given.items():
            each = binding.properties[name]
            if each.type == values.LINK:
                if value is not None and not self._leads(each, value):
                    return False
            elif not fits(each, value):
                return False
        key = given.get(binding.primary_key) if binding.primary_key else ""
        return key is not None and primary_key_fits(key)

    def _leads(self, each: BoundProperty, value: Any) -> bool:
        if type(value) is each.container and not value:
            return True
        if each.container is not None and not isinstance(value, each.container):
            return False
        if each.container is dict and not all(map(key_fits, value)):
            return False
        realm, target = self._realm, self._realm._binding_of_key(each.target)

        def leads(item: Any) -> bool:
            if item is None:
                return each.container in (None, dict)
            if not isinstance(item, Object) or realm._binding(type(item)) is not target:
                return False
            rows = item._rows
            if not isinstance(rows, Live):
                return True
            is_there = rows.realm is realm and rows.single(item).exists()
            return is_there and not target.is_embedded

        return all(map(leads, value.values() if each.container is dict else _items(value)))

    def take_back(self) -> None:
        """Deletes what was created, and puts back what it has replaced."""
        for draft, rows in self._drafts:
            draft._rows, draft._row = rows, 0
        for single in reversed(self._created):
            single.forget_rules()
        undo = [*self._put_back, *(single.delete for single in self._created)]
        self._put_back, self._created, self._removals, self._drafts = [], [], {}, []
        for step in reversed(undo):
            try:
                step()
            except Error:  # the failure that led here is the one to report
                pass


def _never() -> bool:
    return False


def is_new(value: Any) -> bool:
    """Whether an embedded object of this value, or of one of many, has yet to be created."""
    if isinstance(value, (list, tuple)):
        return any(is_new(item) for item in value)
    return isinstance(value, Mapping) or _is_draft(value)


_NOBODY: Any = None  # a Single needs no instance to read


def _is_draft(value: Any) -> bool:
    return isinstance(value, Object) and isinstance(value._rows, Draft)


def _held(draft: Object, each: BoundProperty) -> Any:
    """What a draft has of a property."""
    held = cast(Draft, draft._rows).values
    return held[each.name] if each.name in held else getattr(draft, each.name)


def _drafts_in(value: Any) -> bool:
    if value is None:
        return False
    return any(_is_draft(item) for item in _items(value))


_HELD = (dict, list, set, tuple)


def _items(value: Any) -> Iterable[Any]:
    """What a property of an object in no database holds: one value or many, and of mixed values
    all that is in them.
    """
    if not isinstance(value, _HELD):
        return (value,)
    if not value:
        return ()
    items = value.values() if isinstance(value, dict) else value
    if any(isinstance(item, _HELD) for item in items):
        return [inner for item in items for inner in _items(item)]
    return items


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """The value of a property, one or a container of many, with a function called for each."""
    if isinstance(value, Mapping):
        return {key: function(item) for key, item in value.items()}
    if isinstance(value, (list, set)):
        return type(value)(map(function, value))
    return function(value)


def detached(value: Any) -> Any:
    """A value that stays when its place in the database is lost: in place of live lists and
    dictionaries those of Python's own, in place of embedded objects drafts with the same values,
    however deep. A loop, not a recursion: embedded objects may be within many others.
    """
    waiting: list[tuple[Object, Object]] = []

    def copied(item: Any) -> Any:
        if not isinstance(item, Object):
            return item
        if isinstance(item._rows, Live) and item._rows.binding.is_embedded:
            draft = type(item).__new__(type(item))
            waiting.append((item, draft))
            return draft
        return item

    found = mapped(_owned(value), copied)
    while waiting:
        instance, draft = waiting.pop()
        for each in properties_of(type(instance)).values():
            if each.type != values.LINKING_OBJECTS:
                setattr(draft, each.name, mapped(_owned(getattr(instance, each.name)), copied))
    return found


def _owned(value: Any) -> Any:
    return value.copy() if hasattr(type(value), "_toft_container") else value


def _filled(value: Any, made: Mapping[int, Single]) -> Any:
    """A value with links in place of the drafts in it."""
    if isinstance(value, _HELD):
        items = list(value) if isinstance(value, tuple) else value
        return mapped(items, lambda item: _filled(item, made))
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
