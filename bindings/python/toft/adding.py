"""Putting objects into a database:

one by one from values, or a whole graph of objects that link to each other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
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
from .objects import Object, find, ownerless
from .rows import Binding, BoundProperty, Draft, Live, Single
from .savepoints import become_live
from .schema import properties_of

if TYPE_CHECKING:
    from .session import Session

MODIFIED = toft_update_policy.MODIFIED


class Adding:
    """One call of `add`, `create` or `upsert`. An operation of several steps is done as a whole:
    see `savepoints.Savepoint`.
    """

    def __init__(self, session: Session, policy: int) -> None:
        self._session = session
        self._policy = policy
        self._made: dict[int, Single] = {}
        self.created: list[Single] = []
        """The objects that it has created, except embedded ones."""

    def create(self, binding: Binding, given: Mapping[str, Any]) -> Single:
        """An object from values.

        Defaults that the class declares hold for an object that is new.
        """
        missing = [each for each in binding.defaults if each.name not in given]
        if missing and not self._updates(binding, given):
            given = {**given, **{each.name: each.default() for each in missing}}
        embedded = {
            each: self._drafted(each, given[each.name])
            for each in self._session.classes.owning(binding)
            if is_new(given.get(each.name))
        }
        if not embedded:
            return self._create(binding, given, self._policy)
        names = {each.name for each in embedded}
        plain = {name: value for name, value in given.items() if name not in names}
        with self._session.writing.savepoint():
            single = self._create(binding, plain, self._policy)

            def own() -> None:
                for each, value in embedded.items():
                    self._own(single, each, value)

            self._put([item for value in embedded.values() for item in _items(value)], own)
        return single

    def add(self, root: Object) -> None:
        """An object and all that it leads to.

        They become live together, at the end, or stay as they were.
        """
        if not isinstance(root, Object):
            raise TypeMismatchError(f"An object is due, not {root!r:.80}")
        if isinstance(root._rows, Live):
            if root._rows.session is not self._session:
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
        self._put([root], lambda: None, is_one_step=True)

    def _put(
        self,
        roots: Iterable[Object | None],
        embed: Callable[[], None],
        *,
        is_one_step: bool = False,
    ) -> None:
        """Some drafts and all that they lead to. `embed`: creates the embedded ones among the
        drafts, once all others exist. `is_one_step`: whether one call of the library does it if no
        link leads further.
        """
        drafts = self._reachable(list(roots))
        if is_one_step and len(drafts) <= 1 and not any(map(self._leads_on, drafts)):
            self._put_all(drafts, embed)
            return
        with self._session.writing.savepoint():
            self._put_all(drafts, embed)

    def _put_all(self, drafts: list[Object], embed: Callable[[], None]) -> None:
        for draft in drafts:
            if not self._is_embedded(draft):
                self._made[id(draft)] = self._add_alone(draft)
        embed()
        for draft in drafts:  # an owner comes before what it owns
            self._link(draft)
        for draft in drafts:
            become_live(draft, self._made[id(draft)])

    def _leads_on(self, draft: Object) -> bool:
        linking = self._session.classes.binding(type(draft)).linking
        return any(_drafts_in(_held(draft, each)) for each in linking)

    def embed(self, owner: Single, each: BoundProperty, value: Any) -> None:
        """Sets a property to embedded objects in no database yet: a draft, a mapping, or a
        container of them.
        """
        value = self._drafted(each, value)
        is_one_step = each.container is None
        self._put(_items(value), lambda: self._own(owner, each, value), is_one_step=is_one_step)

    def update(self, single: Single, given: Mapping[str, Any]) -> None:
        """Sets properties of an object as the policy says, all or nothing."""
        with self._session.writing.savepoint():
            for name, value in given.items():
                self._set(single, single.binding.property(name), value)

    def set_key(self, collection: Any, key: str, item: Any) -> None:
        """Sets the value of a key to an embedded object in no database yet."""
        draft = self._draft(collection._property, item)
        function = "toft_dictionary_set_embedded"
        self._put(
            [draft], lambda: self._create_in(function, collection, key, draft), is_one_step=True
        )

    def set_element(self, collection: Any, index: int, item: Any) -> None:
        """Puts an embedded object in no database yet in the place of another one in a list."""
        draft = self._draft(collection._property, item)
        function = "toft_list_set_embedded"
        self._put(
            [draft], lambda: self._create_in(function, collection, index, draft), is_one_step=True
        )

    def insert(self, collection: Any, index: int, items: Iterable[Any]) -> None:
        """Inserts embedded objects in no database yet into a list."""
        drafts = [self._draft(collection._property, item) for item in items]
        self._put(drafts, lambda: self._insert(collection, index, drafts), is_one_step=True)

    def _own(self, owner: Single, each: BoundProperty, value: Any) -> None:
        """Creates the drafts that a property is to own, then removes what it has owned so far."""
        if each.container is None:
            function = "toft_object_set_embedded"
            self._create_embedded(function, owner.handle(), each.key, each, value)
            return
        collection = self._session.classes.collection(owner, each)
        if each.container is list:
            count = len(collection)
            self._insert(collection, count, value)
            collection._erase(0, count)
            return
        others = [key for key in collection if key not in value]
        for key, draft in value.items():
            if draft is None:
                collection[key] = None
            else:
                self._create_in("toft_dictionary_set_embedded", collection, key, draft)
        for key in others:
            del collection[key]

    def _insert(self, collection: Any, index: int, drafts: Iterable[Object]) -> None:
        for place, draft in enumerate(drafts, index):
            self._create_in("toft_list_insert_embedded", collection, place, draft)

    def _create_in(self, function: str, collection: Any, place: int | str, draft: Object) -> None:
        self._create_embedded(function, collection._handle, place, collection._property, draft)

    def _create_embedded(
        self, function: str, owner: Handle, place: int | str, each: BoundProperty, draft: Object
    ) -> None:
        """`place`: the key of the owner's property, the index in its list or the key of its
        dictionary.
        """
        binding = self._session.classes.binding_of_key(each.target)
        if self._session.classes.binding(type(draft)) is not binding:
            raise TypeMismatchError(
                f"{each.name}: a {binding.cls.__name__} is due, not a {type(draft).__name__}"
            )
        given = self._alone(binding, draft)
        keys, properties = binding.properties_named(tuple(given))
        address, link = ctypes.c_void_p(), toft_link()
        where, memory = (
            borrowed(values.key_bytes(place)) if isinstance(place, str) else (place, None)
        )
        with self._session.writing.arguments() as arguments:
            for item, value in zip(properties, given.values()):
                item.lend(value, arguments, self._session)
            self._session.position.changing()
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

    def _drafted(self, each: BoundProperty, value: Any) -> Any:
        """The objects that a property is to own, as drafts: a mapping becomes one."""
        if each.container is None:
            return self._draft(each, value)
        each.check_container(value)
        held = value if isinstance(value, (list, dict)) else each.container(value)
        may_be_none = each.container is dict
        return mapped(
            held, lambda item: None if item is None and may_be_none else self._draft(each, item)
        )

    def _draft(self, each: BoundProperty, item: Any) -> Object:
        cls = self._session.classes.binding_of_key(each.target).cls
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
            for each in self._session.classes.binding(type(draft)).linking:
                value = _held(draft, each)
                if is_new(value) and self._session.classes.owns(each):
                    value = self._drafted(each, value)
                    setattr(draft, each.name, value)
                for item in _items(value):
                    if _is_draft(item):
                        if self._is_embedded(item) and not self._session.classes.owns(each):
                            raise self._misplaced(each, item)
                        meet(item)
        return found

    def _misplaced(self, each: BoundProperty, draft: Object) -> Error:
        """The error for an embedded object in a property that does not own its targets."""
        if each.type == values.MIXED:
            return ownerless(type(draft))
        due = self._session.classes.binding_of_key(each.target).cls.__name__
        return TypeMismatchError(f"{each.name}: a {due} is due, not a {type(draft).__name__}")

    def _is_embedded(self, draft: Object) -> bool:
        return self._session.classes.binding(type(draft)).is_embedded

    def _alone(self, binding: Binding, draft: Object) -> dict[str, Any]:
        """The values of a draft without its links to other drafts, which may not be there yet."""
        given = {each.name: _held(draft, each) for each in binding.stored}
        for each in binding.linking:
            if _drafts_in(given[each.name]):
                del given[each.name]
        return given

    def _add_alone(self, draft: Object) -> Single:
        binding = self._session.classes.binding(type(draft))
        policy = (
            self._policy if binding.primary_key else toft_update_policy.ERROR
        )  # without a key it is always a new object
        return self._create(binding, self._alone(binding, draft), policy)

    def _link(self, draft: Object) -> None:
        made = self._made
        single = made[id(draft)]
        for each in single.binding.linking:
            if _drafts_in(value := _held(draft, each)):
                if self._session.classes.owns(each):
                    self._own(single, each, value)
                    continue
                self._set(single, each, _filled(value, made))

    def _set(self, single: Single, each: BoundProperty, value: Any) -> None:
        if self._policy != MODIFIED or self._differs(single, each, value):
            single.set(each.name, value)

    @staticmethod
    def _differs(single: Single, each: BoundProperty, value: Any) -> bool:
        try:
            return bool(value != _owned(single.read(_NOBODY, each.name)))
        except Error:  # it holds what Python cannot
            return True

    def _updates(self, binding: Binding, given: Mapping[str, Any]) -> bool:
        """Whether there is an object with the primary key that is given, to be updated."""
        key = given.get(binding.primary_key) if binding.primary_key else None
        if self._policy == toft_update_policy.ERROR or key is None:
            return False
        return find(self._session, binding, key) is not None

    def _create(self, binding: Binding, given: Mapping[str, Any], policy: int) -> Single:
        counted = binding.counted
        if counted is not None and given.get(counted, 0) is None:
            given = {name: value for name, value in given.items() if name != counted}
        keys, properties = binding.properties_named(tuple(given))
        address, link, is_new = ctypes.c_void_p(), toft_link(), ctypes.c_bool()
        with self._session.writing.arguments() as arguments:
            for each, value in zip(properties, given.values()):
                each.lend(value, arguments, self._session)
            self._session.position.changing()
            library().toft_realm_create_object(
                self._session.position.address,
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
            self.created.append(single)
        return single


def is_new(value: Any) -> bool:
    """Whether an embedded object of this value, or of one of many, has yet to be created."""
    if isinstance(value, (list, tuple)):
        return any(is_new(item) for item in value)
    return isinstance(value, Mapping) or _is_draft(value)


_NOBODY: Any = None  # a Single needs no instance to read


def _is_draft(value: Any) -> bool:
    return isinstance(value, Object) and isinstance(value._rows, Draft)


def _held(draft: Object, each: BoundProperty) -> Any:
    """A draft's value of a property."""
    held = cast(Draft, draft._rows).values
    return held[each.name] if each.name in held else getattr(draft, each.name)


def _drafts_in(value: Any) -> bool:
    if value is None:
        return False
    return any(_is_draft(item) for item in _items(value))


_HELD = (dict, list, set, tuple)


def _items(value: Any) -> Iterable[Any]:
    """The values in a property of an object in no database: one value or many, and of mixed values
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

    def _toft_link(self, session: Session) -> tuple[int, int]:
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
