"""A set property does what Python's own set does."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Iterator, MutableSet
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from uuid import UUID

import pytest
import toft
from test_observe import until
from toft.objects import ObjectType


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Tag(toft.Object):
    name: str = toft.field(primary_key=True)
    weight: int = 0
    pages = toft.linking_objects("Page", "tags")


class Page(toft.Object):
    id: int = toft.field(primary_key=True)
    words: set[str]
    numbers: MutableSet[int] = {3, 1}
    ratios: set[float]
    maybe: toft.Set[int | None]
    moods: set[Mood]
    days: set[date]
    moments: set[datetime]
    blobs: set[bytes]
    uuids: set[UUID]
    ids: set[toft.ObjectId]
    prices: set[Decimal]
    tags: set[Tag]
    next: Page | None


@pytest.fixture
def realm(path: Path) -> Iterator[toft.Realm]:
    with toft.open(path, [Page, Tag]) as realm:
        yield realm
        if realm.is_open and realm.is_writing:
            realm.cancel()


@pytest.fixture
def page(realm: toft.Realm) -> Page:
    realm.begin_write()
    return realm.create(Page, id=1, words={"b", "a"})


def test_a_set_does_whatever_pythons_set_does(realm: toft.Realm) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    model: set[int] = set()
    with realm.write():
        numbers = realm.create(Page, id=1, numbers=[]).numbers
        for _ in range(1500):
            one = chance.randint(0, 40)
            many = {chance.randint(0, 40) for _ in range(chance.randint(0, 8))}
            steps = [
                lambda each: each.add(one),
                lambda each: each.discard(one),
                lambda each: each.remove(one),
                lambda each: each.update(many, [one]),
                lambda each: each.intersection_update(many, range(30)),
                lambda each: each.difference_update(many),
                lambda each: each.symmetric_difference_update(many),
                lambda each: each.__ior__(many) and None,
                lambda each: each.__iand__(many) and None,
                lambda each: each.__isub__(many) and None,
                lambda each: each.__ixor__(many) and None,
                lambda each: each | many,
                lambda each: each & many,
                lambda each: each - many,
                lambda each: many - each,
                lambda each: each ^ many,
                lambda each: each.union(many, [99]),
                lambda each: each.intersection(many),
                lambda each: each.difference(many),
                lambda each: each.symmetric_difference(many),
                lambda each: each <= many,
                lambda each: each < many,
                lambda each: each >= many,
                lambda each: each.issubset(many),
                lambda each: each.issuperset(many),
                lambda each: each.isdisjoint(many),
                lambda each: one in each,
                lambda each: len(each),
                lambda each: sorted(each),
                lambda each: each.clear() if one == 0 else None,
            ]
            step = chance.choice(steps)
            assert outcome(step, numbers) == outcome(step, model), seed
            assert numbers == model and list(numbers) == sorted(model), seed


def outcome(step, each):  # type: ignore[no-untyped-def]
    try:
        return step(each)
    except KeyError:
        return KeyError


def test_pop_takes_the_first_and_an_empty_set_has_none(page: Page) -> None:
    assert [page.words.pop(), page.words.pop()] == ["a", "b"]
    with pytest.raises(KeyError):
        page.words.pop()
    assert repr(page.words) == "set()" and not page.words


def test_assigning_replaces_and_augmented_assignment_adds(page: Page) -> None:
    words = page.words
    page.words |= {"c"}
    page.words -= {"a"}
    page.words ^= {"b", "d"}
    page.words &= {"c", "d", "e"}
    assert words == {"c", "d"} and repr(words) == "{'c', 'd'}"
    page.words = page.words
    assert words == {"c", "d"}
    page.words = (word.upper() for word in list(words))
    assert words == {"C", "D"} and words.copy() == {"C", "D"} and type(words.copy()) is set
    page.words = ["x", "x", "w"]
    assert list(words) == ["w", "x"]
    assert words != {"x"} and words != "xw" and words != ["w", "x"]


def test_elements_of_each_type_come_back_in_order(page: Page) -> None:
    day, moment = date(2026, 1, 2), datetime(2026, 1, 2, 3, tzinfo=timezone.utc)
    page.ratios = {2.5, -1, 0.0, -0.0}
    page.maybe = {2, None, 1}
    page.moods = [Mood.GOOD, Mood.BAD, "good"]
    page.days, page.moments, page.blobs, page.uuids = {day}, {moment}, {b"b", b""}, {UUID(int=7)}
    assert list(page.ratios) == [-1.0, 0.0, 2.5]
    assert list(page.maybe) == [None, 1, 2] and None in page.maybe
    assert list(page.moods) == [Mood.BAD, Mood.GOOD] and Mood.BAD in page.moods
    assert (page.days, page.moments, page.uuids) == ({day}, {moment}, {UUID(int=7)})
    assert list(page.blobs) == [b"", b"b"]
    page.ids, page.prices = {toft.ObjectId(bytes(12))}, [Decimal("10"), Decimal("9.5"), 2]
    assert page.ids == {toft.ObjectId(bytes(12))}
    assert list(page.prices) == [2, Decimal("9.5"), 10] and Decimal("9.50") in page.prices
    with pytest.raises(toft.TypeMismatchError):
        page.moods.add("sad")
    with pytest.raises(toft.NullNotAllowedError):
        page.words.add(None)


def test_what_cannot_be_in_a_set_is_not_in_it(page: Page) -> None:
    assert 3 not in page.words and None not in page.words and object() not in page.words
    page.words.discard(3)
    with pytest.raises(KeyError):
        page.words.remove(None)
    draft = Tag(name="draft")
    page.tags.discard(draft)
    assert draft not in page.tags and draft.realm is None
    for wrong in ("ab", 5, None, {"a": 1}):
        with pytest.raises(toft.TypeMismatchError, match="words: A set is due"):
            page.words = wrong
    with pytest.raises(toft.TypeMismatchError):
        page.words.add(["a"])
    assert page.words == {"a", "b"}


def test_an_update_adds_all_or_none(page: Page) -> None:
    with pytest.raises(toft.TypeMismatchError):
        page.words.update(["c", "a"], ["d", 5])
    assert page.words == {"a", "b"}


def test_a_set_that_changes_ends_the_loop_over_it_and_other_writes_do_not(page: Page) -> None:
    realm = page.realm
    assert realm is not None
    page.numbers = range(500)
    for number in page.numbers:
        realm.create(Tag, name=f"{number}")
    assert realm.objects(Tag).count() == 500
    with pytest.raises(RuntimeError, match="changed size"):
        for number in page.numbers:
            page.numbers.discard(number)
    for number in page.numbers.copy():
        page.numbers.discard(number)
    assert not page.numbers


def test_a_set_of_objects_can_be_asked(page: Page) -> None:
    realm = page.realm
    assert realm is not None
    page.tags = [realm.create(Tag, name=name, weight=len(name)) for name in ("abc", "b", "cd")]
    abc, b, cd = page.tags
    page.tags |= {b, cd}
    assert len(page.tags) == 3 and b in page.tags and page.tags == {abc, b, cd}
    assert [tag.name for tag in page.tags.where("weight > 1").sort("weight")] == ["cd", "abc"]
    assert page.tags.results.sum("weight") == 6 and [*b.pages] == [page]
    realm.delete(b)
    assert page.tags == {abc, cd}
    realm.delete(page.tags)
    assert not page.tags and realm.objects(Tag).count() == 0


def test_drafts_hold_sets_of_python_and_bring_what_they_link_to(realm: toft.Realm) -> None:
    draft = Page(id=1, words=["a", "a"], tags={Tag(name="x"), Tag(name="y")})
    assert draft.words == {"a"} and draft.numbers == {1, 3} and type(draft.numbers) is set
    assert Page(id=2).numbers is not draft.numbers
    for twin in (copy.copy(draft), copy.deepcopy(draft), pickle.loads(pickle.dumps(draft))):
        twin.words.add("z")
        assert draft.words == {"a"} and {tag.name for tag in twin.tags} == {"x", "y"}
    with realm.write():
        page = realm.add(draft)
        assert page is draft and isinstance(page.words, toft.Set)
        assert sorted(tag.name for tag in page.tags) == ["x", "y"]
        page.tags.add(Tag(name="z"))  # as a list, it adds an object that is in no database
        again = Page(id=1, words=["b"], tags=[Tag(name="x"), Tag(name="q")])
        realm.add(again, update="all")
        assert page.words == {"b"} and {tag.name for tag in page.tags} == {"x", "q"}
    assert realm.objects(Tag).count() == 4
    before = page.tags.copy()
    changes: list[toft.Changes] = []
    with page.observe(changes.append):
        with realm.write():
            realm.add(Page(id=1, words={"b"}, tags=set(map(twin_of, before))), update="modified")
        realm.dispatch()
    assert page.tags == before and not changes


def twin_of(tag: Tag) -> Tag:
    return Tag(name=tag.name, weight=tag.weight)


def test_creating_in_bulk_and_updating(realm: toft.Realm) -> None:
    with realm.write():
        rows = [{"id": id, "words": {f"w{id}", "all"}} for id in range(3)]
        realm.insert_many(Page, rows)
        assert [*realm.object(Page, 2).words] == ["all", "w2"]
        assert all(page.numbers == {1, 3} for page in realm.objects(Page))
        realm.upsert(Page, {"id": 2, "words": ["new"]}, update="modified")
        assert realm.object(Page, 2).words == {"new"} and realm.object(Page, 2).numbers == {1, 3}
        with pytest.raises(toft.TypeMismatchError):
            realm.create(Page, id=9, words={1})
        assert realm.objects(Page).update(words={"same"}) == 3
        assert [*realm.objects(Page)[0].words] == ["same"]


def test_plain_forms_have_lists_in_the_order_of_the_set(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(
            Page,
            id=1,
            words={"b", "a"},
            days={date(2026, 1, 2)},
            moods={Mood.GOOD},
            blobs={b"x"},
            tags=[realm.create(Tag, name="t", weight=2)],
        )
    plain = page.to_dict()
    assert plain["words"] == ["a", "b"] and plain["tags"] == ["t"]
    assert page.to_dict(depth=1)["tags"] == [{"name": "t", "weight": 2}]
    assert json.loads(page.to_json())["blobs"] == ["eA=="]
    assert "<td>a, b</td>" in page._repr_html_() and "<td>Tag t</td>" in page._repr_html_()
    assert "words" not in repr(page)
    shallow, deep = page.to_json(), page.to_json(depth=1)
    for text in (shallow, deep):
        with realm.write():
            if text is deep:
                realm.delete_all()
            else:
                realm.delete(page)
            [page] = realm.from_json(Page, text)
            assert page.to_dict() == plain and [*page.moods] == [Mood.GOOD]
            assert [tag.weight for tag in page.tags] == [2]
    with realm.write():
        for wrong in ('{"id": 9, "words": "a"}', '{"id": 9, "tags": 5}', '{"id": 9, "tags": {}}'):
            with pytest.raises(toft.TypeMismatchError, match="A set is due"):
                realm.from_json(Page, wrong)
    assert "words" not in realm.objects(Page).lists() and "tags" not in realm.objects(Page).lists()


def test_an_observer_is_told_of_elements_that_came_and_went(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(Page, id=1, words={"b", "d"}, tags=[realm.create(Tag, name="t")])
    seen: list[toft.Changes] = []
    deep: list[toft.Changes] = []
    with page.words.observe(seen.append), page.tags.observe(deep.append, initial=False):
        until(realm, lambda: len(seen) == 1)
        with realm.write():
            page.words ^= {"a", "b"}
            page.tags.results[0].weight = 5
        until(realm, lambda: len(seen) == 2 and len(deep) == 1)
        with realm.write():
            realm.delete(page)
        until(realm, lambda: seen[-1].is_last)
    assert seen[0].is_initial and seen[1].deletions == (0,) and seen[1].insertions == (0,)
    assert deep[0].modifications == (0,)


def test_a_set_is_of_its_object_its_thread_and_a_transaction(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(Page, id=1, words={"a"})
        gone = realm.create(Page, id=2, words={"a"}).words
    with pytest.raises(toft.NotInTransactionError):
        page.words.add("b")
    with pytest.raises(toft.NotInTransactionError):
        page.words.clear()
    with ThreadPoolExecutor(1) as elsewhere, pytest.raises(toft.WrongThreadError):
        elsewhere.submit(page.words.copy).result()
    with realm.write():
        realm.delete(realm.object(Page, 2))
        for step in (len, list, lambda s: 5 in s, lambda s: s.add("x"), lambda s: s.discard(5)):
            with pytest.raises(toft.CollectionInvalidatedError):
                step(gone)
    assert repr(gone).startswith("<Set: ")


def test_a_frozen_set_stays_as_it_is(realm: toft.Realm) -> None:
    with realm.write():
        page = realm.create(Page, id=1, words={"a"})
    frozen = page.freeze()
    with realm.write():
        page.words.add("b")
    assert frozen.words == {"a"} and page.words == {"a", "b"}
    assert frozen.realm is not None
    frozen.realm.close()


def test_conditions_ask_sets(realm: toft.Realm) -> None:
    with realm.write():
        tag = realm.create(Tag, name="t", weight=3)
        realm.create(Page, id=1, words={"a", "b"}, tags=[tag])
        realm.create(Page, id=2, words={"b"}, moods=[Mood.BAD])
        realm.create(Page, id=3)
    pages = realm.objects(Page)

    def ids(*conditions: toft.Condition) -> list[int]:
        return [page.id for page in pages.where(*conditions)]

    assert ids(Page.words.contains("b")) == [1, 2]
    assert ids(Page.words.any() == "a") == [1] and ids(Page.words.all() == "b") == [2, 3]
    assert ids(Page.words.length() == 0) == [3] and ids(Page.moods.contains(Mood.BAD)) == [2]
    assert ids(Page.tags.any(Tag.weight > 2)) == [1] and ids(Page.tags.any().name == "t") == [1]
    assert ids(Page.tags.contains(tag)) == [1]
    assert [tag.name for tag in realm.objects(Tag).where(Tag.pages.any(Page.id == 1))] == ["t"]


def test_a_file_says_what_is_a_set_and_refuses_another_kind(path: Path) -> None:
    with toft.open(path, [Page, Tag]) as realm, realm.write():
        realm.create(Page, id=1, words={"b", "a"}, tags=[realm.create(Tag, name="t")])
    with toft.open(path) as realm:
        [page] = realm.objects("Page")
        assert isinstance(page.words, toft.Set) and [*page.words] == ["a", "b"]
        assert [tag.name for tag in page.tags] == ["t"]
        with realm.write():
            page.words.add("c")

    class Other(toft.Object):
        id: int = toft.field(primary_key=True)
        words: list[str]

    Other.__name__ = "Page"
    with pytest.raises(toft.SchemaMismatchError):
        toft.open(path, [Other])


def test_a_class_that_is_declared_again_takes_its_sets_over(path: Path) -> None:
    first, second, other = (declare(kind) for kind in ("set[str]", "toft.Set[str]", "list[str]"))
    with toft.open(path, [first]) as realm:
        with realm.write():
            note = realm.create(first, words={"a"})
            realm.add(second(words={"b"}))
        assert [[*each.words] for each in realm.objects(second)] == [["a"], ["b"]]
        assert note.words == {"a"}
        with pytest.raises(toft.NoSuchClassError, match="other properties"):
            realm.objects(other)


def declare(kind: str) -> type[toft.Object]:
    annotations = {"words": kind}
    namespace = {"__annotations__": annotations, "__module__": __name__}
    return ObjectType("Note", (toft.Object,), namespace)


@pytest.mark.no_library
def test_declarations_that_cannot_be_sets_say_why() -> None:
    class Wrong(toft.Object):
        a: set[list[int]]
        b: set
        c: set[int] | None
        d: set[Wrong | None]
        e: set[str] = "abc"  # type: ignore[assignment]
        f: list[set[int]]
        g: int = {1}  # type: ignore[assignment]

    with pytest.raises(toft.InvalidSchemaError) as raised:
        Wrong()
    assert raised.value.detail.splitlines() == [
        "Wrong.a: a set of lists cannot be stored",
        "Wrong.b: say what the set holds: set[str]",
        "Wrong.c: a set is never None: it is empty",
        "Wrong.d: a set of links has no None in it: say set[Wrong]",
        "Wrong.e: its default is no set: 'abc'",
        "Wrong.f: a list of sets cannot be stored",
        "Wrong.g: objects would share this default: say toft.field(default_factory=...)",
    ]
