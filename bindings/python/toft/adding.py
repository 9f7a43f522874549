"""Putting objects into a database:

one by one from values, or a whole graph of objects that link to each other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from . import _values as values
from ._ffi import toft_link, toft_update_policy
from ._lib import Handle, borrowed, library
from .errors import EmbeddedObjectError, Error, TypeMismatchError, WrongRealmError
from .objects import Object, ownerless
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
        self._made: dict[int, Single] = {}
        self._may_fail = False
        """Whether something may fail after an embedded object has been replaced."""
        self._put_back: list[Callable[[], object]] = []
        """Each call puts a copy of an embedded object that was replaced in its place again."""
        self._removals: dict[object, Callable[[], object]] = {}
        """By collection: each call removes what it has owned before, once nothing can fail."""

    def create(self, binding: Binding, given: Mapping[str, Any]) -> Single:
        """An object from values.

        Defaults that the class declares hold for an object that is new.
        """
        missing = [each for each in binding.defaults if each.name not in given]
        if missing and self.found(binding, given) is None:
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
        found = self.found(binding, given)
        made: list[Single] = [] if found is None else [found]

        def set_plain() -> None:
            made[:] = [self._create(binding, plain, self._policy)]

        def create() -> None:
            if found is None:
                set_plain()
            for each, value in embedded.items():
                self._own(made[0], each, value)

        items = [item for value in embedded.values() for item in _items(value)]
        self._put(items, create, None if found is None else set_plain)
        return made[0]

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
        if root._toft_is_embedded:
            raise ownerless(type(root))
        self._put([root], lambda: None)

    def _put(
        self,
        roots: Iterable[Object | None],
        embed: Callable[[], None],
        finish: Callable[[], None] | None = None,
    ) -> None:
        """Some drafts and all that they lead to. `embed`: creates those of the drafts that are
        embedded, once all that is not is there. `finish`: what is to be done last.
        """
        roots = list(roots)
        drafts, before = self._reachable(roots), len(self._created)
        self._may_fail = len(drafts) + roots.count(None) > 1 or finish is not None
        try:
            for draft in drafts:
                if not draft._toft_is_embedded:
                    self._made[id(draft)] = self._add_alone(draft)
            embed()
            for draft in drafts:  # an owner comes before what it owns
                self._link(draft)
            if finish is not None:
                finish()
        except BaseException:
            self.take_back()
            raise
        for remove in self._removals.values():
            remove()
        self._removals.clear()
        self._put_back.clear()
        self._created[before:] = [  # from here on an embedded object stays or goes with its owner
            each for each in self._created[before:] if not each.binding.cls._toft_is_embedded
        ]
        for draft in drafts:
            draft._rows = self._made[id(draft)]
            draft._row = 0

    def embed(self, owner: Single, each: BoundProperty, value: Any) -> None:
        """Sets a property to embedded objects in no database yet: a draft, a mapping, or a
        container of them.
        """
        value = self._drafted(each, value)
        self._put(_items(value), lambda: self._own(owner, each, value))

    def set_key(self, collection: Any, key: str, item: Any) -> None:
        """Sets the value of a key to an embedded object in no database yet."""
        draft = self._draft(collection._property, item)
        self._put([draft], lambda: self._set_key(collection, key, draft))

    def set_element(self, collection: Any, index: int, item: Any) -> None:
        """Puts an embedded object in no database yet in the place of another one in a list."""
        draft = self._draft(collection._property, item)

        def replace() -> None:
            put_back = lambda old: collection.insert(index, old)
            with self._replacing(lambda: collection[index], put_back):
                self._create_in("toft_list_set_embedded", collection, index, draft)

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
            read = lambda: owner.read(_NOBODY, each.name)
            with self._replacing(read, lambda old: owner.set(each.name, old)):
                function = "toft_object_set_embedded"
                self._create_embedded(function, owner.handle(), each.key, each, value)
            return
        collection = self._realm._collection(owner, each)
        if each.container is list:
            count = len(collection)
            self._insert(collection, count, value)
            self._removals[collection._place] = lambda: collection._erase(0, count)
            return
        others = [key for key in collection if key not in value]
        for key, draft in value.items():
            self._set_key(collection, key, draft)
        self._removals[collection._place] = lambda: [*map(collection.__delitem__, others)]

    def _insert(self, collection: Any, index: int, drafts: Iterable[Object]) -> None:
        for place, draft in enumerate(drafts, index):
            self._create_in("toft_list_insert_embedded", collection, place, draft)

    def _set_key(self, collection: Any, key: str, draft: Object | None) -> None:
        is_there = key in collection

        def put_back(old: Any) -> None:
            if is_there:
                collection[key] = old
            else:
                collection.pop(key, None)

        with self._replacing(lambda: collection.get(key), put_back):
            if draft is None:
                collection[key] = None
            else:
                self._create_in("toft_dictionary_set_embedded", collection, key, draft)

    @contextmanager
    def _replacing(
        self, read: Callable[[], Any], put_back: Callable[[Any], object]
    ) -> Iterator[None]:
        """A block that replaces what `read` gives: if something fails later, `put_back` is called
        with a copy of it.
        """
        if not self._may_fail:
            yield
            return
        old = detached(read())
        yield
        self._put_back.append(lambda: put_back(old))

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
            elif draft._toft_is_embedded:
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
            for each in self._realm._binding(type(draft)).properties.values():
                if each.type not in (values.LINK, values.MIXED):
                    continue
                value = getattr(draft, each.name)
                if is_new(value) and self._realm._owns(each):
                    value = self._drafted(each, value)
                    setattr(draft, each.name, value)
                for item in _items(value):
                    if _is_draft(item):
                        if each.type == values.MIXED and item._toft_is_embedded:
                            raise ownerless(type(item))
                        meet(item)
        return found

    def _alone(self, binding: Binding, draft: Object) -> dict[str, Any]:
        """The values of a draft without its links to other drafts, which may not be there yet."""
        given = {
            each.name: getattr(draft, each.name)
            for each in binding.properties.values()
            if each.type != values.LINKING_OBJECTS
        }
        return {name: value for name, value in given.items() if not _drafts_in(value)}

    def _add_alone(self, draft: Object) -> Single:
        binding = self._realm._binding(type(draft))
        filled = self._alone(binding, draft)
        policy = (
            self._policy if binding.primary_key else toft_update_policy.ERROR
        )  # without a key it is always a new object
        return self._create(binding, filled, policy)

    def _link(self, draft: Object) -> None:
        made = self._made
        single = made[id(draft)]
        for each in single.binding.properties.values():
            may_link = each.type in (values.LINK, values.MIXED)
            if may_link and _drafts_in(value := getattr(draft, each.name)):
                if self._realm._owns(each):
                    self._own(single, each, value)
                    continue
                self._set(single, each, _filled(value, made))

    def _set(self, single: Single, each: BoundProperty, value: Any) -> None:
        if self._policy != MODIFIED or single.read(_NOBODY, each.name) != value:
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
        return single

    def take_back(self) -> None:
        """Deletes what was created, and puts back what it has replaced."""
        for single in reversed(self._created):
            single.forget_rules()
        undo = [*self._put_back, *(single.delete for single in self._created)]
        self._put_back, self._created, self._removals = [], [], {}
        for step in reversed(undo):
            try:
                step()
            except Error:  # the failure that led here is the one to report
                pass


def is_new(value: Any) -> bool:
    """Whether an embedded object of this value, or of one of many, has yet to be created."""
    if isinstance(value, (list, tuple)):
        return any(is_new(item) for item in value)
    return isinstance(value, Mapping) or _is_draft(value)


_NOBODY: Any = None  # a Single needs no instance to read


def _is_draft(value: Any) -> bool:
    return isinstance(value, Object) and isinstance(value._rows, Draft)


def _drafts_in(value: Any) -> bool:
    return any(_is_draft(item) for item in _items(value))


_HELD = (dict, list, set, tuple)


def _items(value: Any) -> Iterable[Any]:
    """What a property of an object in no database holds: one value or many, and of mixed values
    all that is in them.
    """
    if not isinstance(value, _HELD):
        return (value,)
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
        if isinstance(item, Object) and item._toft_is_embedded and not _is_draft(item):
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
