"""A dictionary property does what Python's own dictionary does."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import IntEnum
from pathlib import Path

import pytest
import toft
from test_observe import until
from toft.objects import ObjectType


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Dog(toft.Object):
    name: str = toft.field(primary_key=True)
    age: int = 0
    owners = toft.linking_objects("Page", "dogs")


class Page(toft.Object):
    id: int = toft.field(primary_key=True)
    scores: dict[str, int]
    texts: MutableMapping[str, str] = {"en": "hello"}
    maybe: toft.Dict[str, float | None]
    levels: dict[str, Level]
    days: dict[str, date]
    moments: dict[str, datetime]
    blobs: dict[str, bytes]
    prices: dict[str, Decimal]
    dogs: dict[str, Dog | None]


@pytest.fixture
def realm(path: Path) -> Iterator[toft.Realm]:
    with toft.open(path, [Page, Dog]) as realm:
        yield realm
        if realm.is_open and realm.is_writing:
            realm.cancel()


@pytest.fixture
def page(realm: toft.Realm) -> Page:
    realm.begin_write()
    return realm.create(Page, id=1, scores={"b": 2, "a": 1})


def test_a_dictionary_does_whatever_pythons_dictionary_does(realm: toft.Realm) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    model: dict[str, int] = {}
    with realm.write():
        scores = realm.create(Page, id=1).scores
        for _ in range(1500):
            key, number = f"k{chance.randint(0, 30):02}", chance.randint(0, 9)
            many = {f"k{chance.randint(0, 30):02}": chance.randint(0, 9) for _ in range(3)}
            steps = [
                lambda each: each.__setitem__(key, number),
                lambda each: each.__getitem__(key),
                lambda each: each.__delitem__(key),
                lambda each: each.get(key),
                lambda each: each.get(key, "none"),
                lambda each: each.setdefault(key, number),
                lambda each: each.pop(key),
                lambda each: each.pop(key, "none"),
                lambda each: each.update(many, z=number),
                lambda each: each.update([(key, number)]),
                lambda each: each.__ior__(many) and None,
                lambda each: each | many,
                lambda each: many | each,
                lambda each: key in each,
                lambda each: number in each.values(),
                lambda each: (key, number) in each.items(),
                lambda each: each.keys() & many.keys(),
                lambda each: len(each),
                lambda each: sorted(each),
                lambda each: sorted(each.items()),
                lambda each: sorted(each.values()),
                lambda each: each.clear() if number == 0 else None,
            ]
            step = chance.choice(steps)
            assert outcome(step, scores) == outcome(step, model), seed
            assert scores == model and list(scores.items()) == sorted(model.items()), seed
            assert list(reversed(scores)) == sorted(model, reverse=True), seed


def outcome(step, each):  # type: ignore[no-untyped-def]
    try:
        return step(each)
    except KeyError:
        return KeyError


def test_the_last_key_is_popped_and_an_empty_dictionary_has_none(page: Page) -> None:
    assert [page.scores.popitem(), page.scores.popitem()] == [("b", 2), ("a", 1)]
    with pytest.raises(KeyError):
        page.scores.popitem()
    assert repr(page.scores) == "{}" and not page.scores


def test_assigning_replaces_and_augmented_assignment_updates(page: Page) -> None:
    scores = page.scores
    page.scores |= {"c": 3}
    page.scores["a"] += 10
    assert scores == {"a": 11, "b": 2, "c": 3} and repr(scores) == "{'a': 11, 'b': 2, 'c': 3}"
    page.scores = page.scores
    assert len(scores) == 3
    page.scores = {"z": 1, "y": 2}
    assert list(scores) == ["y", "z"] and type(scores.copy()) is dict
    page.scores = scores.copy()
    assert scores == {"y": 2, "z": 1} and scores != {"y": 2} and scores != [("y", 2), ("z", 1)]


def test_values_of_each_type_come_back(page: Page) -> None:
    day, moment = date(2026, 1, 2), datetime(2026, 1, 2, 3, tzinfo=timezone.utc)
    page.maybe = {"a": 1, "b": None}
    page.levels = {"x": Level.HIGH, "y": 1}
    page.days, page.moments, page.blobs = {"d": day}, {"m": moment}, {"": b"", "ü": b"x" * 40_000}
    assert page.maybe == {"a": 1.0, "b": None} and page.maybe["b"] is None and "b" in page.maybe
    assert page.levels["x"] is Level.HIGH and [*page.levels.values()] == [Level.HIGH, Level.LOW]
    assert page.days == {"d": day} and page.moments == {"m": moment}
    assert page.blobs == {"": b"", "ü": b"x" * 40_000}
    page.prices = {"tea": Decimal("1.50"), "gift": 0}
    assert page.prices == {"gift": 0, "tea": Decimal("1.50")} and str(page.prices["tea"]) == "1.50"
    assert page.to_dict()["prices"]["tea"] == Decimal("1.5")
    page.levels["z"] = 2
    assert page.levels["z"] is Level.HIGH
    with pytest.raises(toft.TypeMismatchError):
        page.levels["z"] = 7
    with pytest.raises(toft.NullNotAllowedError):
        page.scores["a"] = None


def test_keys_are_texts_without_points_and_dollars(page: Page) -> None:
    for bad in ("a.b", "$a"):
        with pytest.raises(toft.InvalidArgumentError):
            page.scores[bad] = 1
        with pytest.raises(toft.InvalidArgumentError):
            page.scores = {"fine": 1, bad: 2}
        assert bad not in page.scores and page.scores.get(bad) is None
    for bad in (3, None, b"a", "\ud800"):
        kind = toft.InvalidArgumentError if bad == "\ud800" else toft.TypeMismatchError
        with pytest.raises(kind):
            page.scores[bad] = 1
        with pytest.raises(kind):
            page.scores = {bad: 1}
        assert bad not in page.scores
        with pytest.raises(KeyError):
            page.scores[bad]
        with pytest.raises(KeyError):
            del page.scores[bad]
    for wrong in ("ab", 5, None, ["a"], [("a", 1)], {"a"}):
        with pytest.raises(toft.TypeMismatchError, match="scores: A dictionary is due"):
            page.scores = wrong
    with pytest.raises(toft.TypeMismatchError):
        page.scores["c"] = {"a": 1}
    page.scores["a$b"] = 5
    assert page.scores == {"a": 1, "a$b": 5, "b": 2}


def test_an_update_sets_all_or_none(page: Page) -> None:
    with pytest.raises(toft.TypeMismatchError):
        page.scores.update({"c": 3, "a": 9, "d": "four"})
    assert page.scores == {"a": 1, "b": 2}


def test_a_dictionary_that_changes_ends_the_loop_over_it_and_other_writes_do_not(
    page: Page,
) -> None:
    realm = page.realm
    assert realm is not None
    page.scores = {f"{number:03}": number for number in range(500)}
    for key, number in page.scores.items():
        page.scores[key] = number + 1
        realm.create(Dog, name=key)
    assert list(page.scores.values()) == list(range(1, 501))
    with pytest.raises(RuntimeError, match="changed size"):
        for key in page.scores:
            del page.scores[key]
    for key in page.scores.copy():
        del page.scores[key]
    assert not page.scores


def test_a_dictionary_of_objects_can_be_asked(page: Page) -> None:
    realm = page.realm
    assert realm is not None
    page.dogs = {name: realm.create(Dog, name=name, age=len(name)) for name in ("abc", "b", "cd")}
    page.dogs["nobody"] = None
    page.dogs["again"] = page.dogs["b"]
    assert page.dogs["b"] == realm.object(Dog, "b") and page.dogs["nobody"] is None
    assert [dog.name for dog in page.dogs.where("age > 1").sort("age")] == ["cd", "abc"]
    assert page.dogs.results.sum("age") == 7  # that of "b" twice, of nobody not at all
    assert len(page.dogs["b"].owners) == 2
    realm.delete(page.dogs["b"])
    assert page.dogs["b"] is None and page.dogs["again"] is None and len(page.dogs) == 5
    realm.delete(page.dogs)
    assert set(page.dogs.values()) == {None} and realm.objects(Dog).count() == 0


def test_drafts_hold_dictionaries_of_python_and_bring_what_they_link_to(realm: toft.Realm) -> None:
    draft = Page(id=1, scores={"a": 1}, dogs={"x": Dog(name="x"), "none": None})
    assert draft.texts == {"en": "hello"} and type(draft.texts) is dict
    assert Page(id=2).texts is not draft.texts
    for twin in (copy.copy(draft), copy.deepcopy(draft), pickle.loads(pickle.dumps(draft))):
        twin.scores["z"] = 0
        assert draft.scores == {"a": 1} and twin.dogs["x"].name == "x"
    with realm.write():
        page = realm.add(draft)
        assert page is draft and isinstance(page.scores, toft.Dict)
        assert page.dogs == {"x": realm.object(Dog, "x"), "none": None}
        page.dogs["z"] = Dog(name="z")  # as a list, it adds an object that is in no database
        again = Page(id=1, scores={"b": 2}, dogs={"x": Dog(name="x"), "q": Dog(name="q")})
        realm.add(again, update="all")
        assert page.scores == {"b": 2} and list(page.dogs) == ["q", "x"]
    assert realm.objects(Dog).count() == 3
    changes: list[toft.Changes] = []
    with page.observe(changes.append):
        with realm.write():
            twins = {key: Dog(name=key) for key in page.dogs}
            realm.add(Page(id=1, scores={"b": 2}, dogs=twins), update="modified")
        realm.dispatch()
    assert not changes and list(page.dogs) == ["q", "x"]


def test_creating_in_bulk_and_updating(realm: toft.Realm) -> None:
    with realm.write():
        realm.insert_many(Page, [{"id": id, "scores": {"a": id}} for id in range(3)])
        assert realm.object(Page, 2).scores == {"a": 2}
        assert all(page.texts == {"en": "hello"} for page in realm.objects(Page))
        realm.upsert(Page, {"id": 2, "scores": {"b": 1}}, update="modified")
        assert realm.object(Page, 2).scores == {"b": 1}
        with pytest.raises(toft.TypeMismatchError):
            realm.create(Page, id=9, scores={"a": "one"})
        with pytest.raises(toft.TypeMismatchError, match="Row 1"):
            realm.insert_many(Page, [{"id": 10, "scores": {}}, {"id": 11, "scores": {"a": "x"}}])
        assert realm.objects(Page).update(scores={"same": 1}) == 3
        assert realm.objects(Page)[0].scores == {"same": 1}


def test_plain_forms_have_dictionaries_too(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(
            Page,
            id=1,
            scores={"b": 2, "a": 1},
            days={"d": date(2026, 1, 2)},
            levels={"l": Level.HIGH},
            blobs={"x": b"x"},
            dogs={"t": realm.create(Dog, name="t", age=2), "n": None},
        )
    plain = page.to_dict()
    assert plain["scores"] == {"a": 1, "b": 2} and plain["dogs"] == {"n": None, "t": "t"}
    assert page.to_dict(depth=1)["dogs"] == {"n": None, "t": {"name": "t", "age": 2}}
    assert json.loads(page.to_json())["blobs"] == {"x": "eA=="}
    assert "<td>a: 1, b: 2</td>" in page._repr_html_()
    assert "<td>n: , t: Dog t</td>" in page._repr_html_()
    assert "scores" not in repr(page)
    shallow, deep = page.to_json(), page.to_json(depth=1)
    for text in (shallow, deep):
        with realm.write():
            if text is deep:
                realm.delete_all()
            else:
                realm.delete(page)
            [page] = realm.from_json(Page, text)
            assert page.to_dict() == plain and page.levels["l"] is Level.HIGH
            assert page.dogs["t"].age == 2
    with realm.write():
        for wrong in ('"scores": [1]', '"dogs": ["t"]', '"dogs": 5'):
            with pytest.raises(toft.TypeMismatchError, match="A dictionary is due"):
                realm.from_json(Page, f'{{"id": 9, {wrong}}}')
        with pytest.raises(toft.NoSuchObjectError, match="dogs"):
            realm.from_json(Page, '{"id": 9, "dogs": {"a": "nobody"}}')
    assert "scores" not in realm.objects(Page).lists() and "dogs" not in realm.objects(Page).lists()


def test_an_observer_is_told_of_keys(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(Page, id=1, scores={"a": 1, "b": 2, "c": 3})
        page.dogs["rex"] = realm.create(Dog, name="Rex")
    seen: list[toft.Changes] = []
    deep: list[toft.Changes] = []
    with page.scores.observe(seen.append), page.dogs.observe(deep.append, initial=False):
        until(realm, lambda: len(seen) == 1)
        with realm.write():
            del page.scores["a"]
            page.scores.update(b=5, d=4)
            page.dogs["rex"].age = 5
        until(realm, lambda: len(seen) == 2 and len(deep) == 1)
        with realm.write():
            realm.delete(page)
        until(realm, lambda: seen[-1].is_last)
    assert seen[0].is_initial and not seen[0].inserted_keys
    assert (seen[1].deleted_keys, seen[1].deletions) == (("a",), (0,))
    assert (seen[1].inserted_keys, seen[1].insertions) == (("d",), (2,))
    assert (seen[1].modified_keys, seen[1].modifications) == (("b",), (1,))
    assert seen[1].modifications_after == (0,)
    assert deep[0].modified_keys == ("rex",)


def test_a_dictionary_is_of_its_object_its_thread_and_a_transaction(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(Page, id=1, scores={"a": 1})
        gone = realm.create(Page, id=2, scores={"a": 1}).scores
    with pytest.raises(toft.NotInTransactionError):
        page.scores["b"] = 1
    with pytest.raises(toft.NotInTransactionError):
        page.scores.clear()
    with ThreadPoolExecutor(1) as elsewhere, pytest.raises(toft.WrongThreadError):
        elsewhere.submit(page.scores.copy).result()
    with realm.write():
        realm.delete(realm.object(Page, 2))
        for step in (
            len,
            list,
            lambda each: each["a"],
            lambda each: each[5],
            lambda each: 5 in each,
            lambda each: each.pop(5),
            lambda each: each.update(x=1),
        ):
            with pytest.raises(toft.CollectionInvalidatedError):
                step(gone)
    assert repr(gone).startswith("<Dict: ")


def test_a_frozen_dictionary_stays_as_it_is(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(Page, id=1, scores={"a": 1})
    frozen = page.freeze()
    with realm.write():
        page.scores["a"] = 2
    assert frozen.scores == {"a": 1} and page.scores == {"a": 2}
    assert frozen.realm is not None
    frozen.realm.close()


def test_conditions_ask_dictionaries(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", age=3)
        realm.create(Page, id=1, scores={"a": 5, "it's": 1}, dogs={"best": rex, "none": None})
        realm.create(Page, id=2, scores={"a": 2, "c": 7})
        realm.create(Page, id=3, levels={"l": Level.HIGH})
    pages = realm.objects(Page)

    def ids(*conditions: toft.Condition) -> list[int]:
        return [page.id for page in pages.where(*conditions)]

    assert ids(Page.scores["a"] > 3) == [1] and ids(Page.scores["it's"] == 1) == [1]
    assert ids(Page.scores["c"] == None) == [1, 3]  # noqa: E711
    assert ids(Page.scores.contains("c")) == [2] and ids(Page.scores.any() == 5) == [1]
    assert ids(Page.scores.length() == 2) == [1, 2] and ids(Page.scores.all() > 1) == [2, 3]
    assert ids(Page.dogs["best"].age == 3) == [1] and ids(Page.dogs["best"] == rex) == [1]
    assert ids(Page.dogs.any(Dog.name == "Rex")) == [1] and ids(Page.dogs.any().age == 3) == [1]
    assert ids(Page.levels["l"] == Level.HIGH) == [3]
    assert ids(~Page.scores.contains("a") | (Page.scores["a"] < 3)) == [2, 3]
    assert [page.id for page in pages.where("scores['a'] > $0", 3)] == [1]
    assert [dog.name for dog in realm.objects(Dog).where(Dog.owners.any(Page.scores["a"] == 5))]
    by_score = pages.where(Page.scores.length() > 0).sort(Page.scores["it's"].desc())
    assert [page.id for page in by_score] == [1, 2]
    assert repr(Page.dogs["x y"].age) == "Page.dogs['x y'].age"
    with pytest.raises(toft.NoSuchPropertyError, match="only a dictionary has keys"):
        ids(Page.id["a"] == 1)
    with pytest.raises(TypeError, match="keys of a dictionary are texts"):
        Page.scores[0]


def test_a_file_says_what_is_a_dictionary_and_refuses_another_kind(path: Path) -> None:
    with toft.open(path, [Page, Dog]) as realm, realm.write():
        dogs = {"t": realm.create(Dog, name="t"), "n": None}
        realm.create(Page, id=1, scores={"b": 2, "a": 1}, dogs=dogs)
    with toft.open(path) as realm:
        [page] = realm.objects("Page")
        assert isinstance(page.scores, toft.Dict) and page.scores == {"a": 1, "b": 2}
        assert page.dogs["t"].name == "t" and page.dogs["n"] is None
        with realm.write():
            page.scores["c"] = 3

    class Other(toft.Object):
        id: int = toft.field(primary_key=True)
        scores: list[int]

    Other.__name__ = "Page"
    with pytest.raises(toft.SchemaMismatchError):
        toft.open(path, [Other])


def test_a_class_that_is_declared_again_takes_its_dictionaries_over(path: Path) -> None:
    first, second, other = map(declare, ("dict[str, int]", "toft.Dict[str, int]", "set[int]"))
    with toft.open(path, [first]) as realm:
        with realm.write():
            note = realm.create(first, scores={"a": 1})
            realm.add(second(scores={"b": 2}))
        assert [{**each.scores} for each in realm.objects(second)] == [{"a": 1}, {"b": 2}]
        assert note.scores == {"a": 1}
        with pytest.raises(toft.NoSuchClassError, match="other properties"):
            realm.objects(other)


def declare(kind: str) -> type[toft.Object]:
    annotations = {"scores": kind}
    namespace = {"__annotations__": annotations, "__module__": __name__}
    return ObjectType("Note", (toft.Object,), namespace)


@pytest.mark.no_library
def test_declarations_that_cannot_be_dictionaries_say_why() -> None:
    class Wrong(toft.Object):
        a: dict[str, list[int]]
        b: dict
        c: dict[str, int] | None
        d: dict[str, Wrong]
        e: dict[str, int] = [("a", 1)]  # type: ignore[assignment]
        f: dict[int, int]
        g: set[dict[str, int]]

    with pytest.raises(toft.InvalidSchemaError) as raised:
        Wrong()
    assert raised.value.detail.splitlines() == [
        "Wrong.a: a dictionary of lists cannot be stored",
        "Wrong.b: say what the dictionary holds: dict[str, int]",
        "Wrong.c: a dictionary is never None: it is empty",
        "Wrong.d: the value of a key is None when its object is deleted: "
        'say dict[str, "Wrong | None"]',
        "Wrong.e: its default is no dictionary: [('a', 1)]",
        "Wrong.f: the keys of a dictionary are texts: say dict[str, ...]",
        "Wrong.g: a set of dictionaries cannot be stored",
    ]
