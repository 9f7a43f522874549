"""Mixed properties: values of every type, and lists and dictionaries within one another."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import toft
from test_observe import until

MOMENT = datetime(2026, 11, 22, 8, 30, 0, 5, tzinfo=timezone.utc)
SCALARS = [
    None,
    True,
    False,
    0,
    -(2**63),
    2**63 - 1,
    2.5,
    -0.0,
    float("inf"),
    "",
    "Grüße, 世界 \0 end",
    b"",
    b"\0\xff\x80",
    MOMENT,
    Decimal("1.50"),
    UUID(int=2**127 + 5),
    toft.ObjectId("507f1f77bcf86cd799439011"),
]


class Color(Enum):
    RED = "red"


class Dog(toft.Object):
    name: str = toft.field(primary_key=True)


class Part(toft.EmbeddedObject):
    name: str = ""


class Note(toft.Object):
    id: int = toft.field(primary_key=True)
    value: toft.Mixed = None
    other: Any
    third: object
    items: list[toft.Mixed]
    members: set[toft.Mixed]
    named: dict[str, toft.Mixed | None]
    parts: list[Part]


@pytest.fixture
def realm(path: Path) -> Iterator[toft.Realm]:
    with toft.open(path, [Note, Dog, Part]) as realm:
        yield realm
        if realm.is_open and realm.is_writing:
            realm.commit()


@pytest.fixture
def note(realm: toft.Realm) -> Note:
    realm.begin_write()
    return realm.create(Note, id=1)


def within(depth: int, innermost: Any = 0) -> Any:
    for _ in range(depth):
        innermost = [innermost]
    return innermost


# --------------------------------------------------------------------------------------- Values


def test_a_mixed_property_holds_a_value_of_every_type(note: Note) -> None:
    assert (note.value, note.other, note.third) == (None, None, None)
    for value in SCALARS:
        note.value = value
        assert (type(note.value), repr(note.value)) == (type(value), repr(value))
    note.value = date(2026, 11, 22)
    assert note.value == datetime(2026, 11, 22, tzinfo=timezone.utc)
    note.value = Color.RED
    assert note.value == "red"
    note.value = bytearray(b"x")
    assert note.value == b"x"


def test_it_holds_objects_of_every_class_but_embedded_ones(realm: toft.Realm, note: Note) -> None:
    rex = realm.create(Dog, name="Rex")
    for linked in (rex, note):
        note.value = linked
        assert note.value == linked and type(note.value) is type(linked)
    note.value = Dog(name="Fido")  # it is added
    assert realm.object(Dog, "Fido") == note.value
    with pytest.raises(toft.EmbeddedObjectError):
        note.value = Part(name="p")
    note.parts.append(Part(name="p"))
    with pytest.raises(toft.EmbeddedObjectError):
        note.value = note.parts[0]
    with pytest.raises(toft.EmbeddedObjectError):
        realm.add(Note(id=9, value=[Part()]))
    assert realm.object(Note, 9) is None


def test_what_it_cannot_hold_is_refused_and_changes_nothing(note: Note) -> None:
    note.value = 5
    for wrong in (object(), 1j, {1, 2}, [{3}], frozenset(), {1: 2}, datetime(2026, 1, 1)):
        with pytest.raises(toft.TypeMismatchError):
            note.value = wrong
    for wrong in (2**63, [2**64], {"a.b": 1}, {"x": {"$y": 1}}, "\ud800"):
        with pytest.raises(toft.InvalidArgumentError):
            note.value = wrong
    with pytest.raises(toft.ValueTooLongError):
        note.value = [b"x" * 9_000_000, b"x" * 9_000_000]
    assert note.value == 5


def test_it_is_no_key_but_may_have_an_index(path: Path) -> None:
    def named(name: str, **field: Any) -> type[toft.Object]:
        return type(toft.Object)(
            name,
            (toft.Object,),
            {"__annotations__": {"value": Any}, "value": toft.field(**field)},
        )

    with pytest.raises(toft.InvalidSchemaError):
        toft.open(path, [named("Wrong", primary_key=True)])
    contents = [*SCALARS, 1, 1.0, Decimal(1), 0.1, Decimal("0.1"), [1], {"a": 1}]
    answers = []
    # The file has no index, then one, then none.
    for indexed in (False, True, False):
        cls = named("Thing", indexed=indexed)
        with toft.open(path, [cls]) as realm:
            things = realm.objects(cls)
            if not answers:
                with realm.write():
                    for content in contents:
                        realm.add(cls(value=content))
            found = [
                [contents.index(each.value) for each in things.where(f"value {sign} $0", content)]
                for sign in ("==", "<", ">=")
                for content in contents[3:-2]
                if not isinstance(content, bool)
            ]
            answers.append(found)
            query = things.where("value == 1")
            assert len(query) == 3 and ("index Thing.value" in query.explain()) == indexed
            realm.check()
    assert answers[0] == answers[1] == answers[2]


def test_the_fields_of_a_class_say_that_they_are_mixed() -> None:
    kinds = {info.name: info.type for info in toft.fields(Note)}
    assert kinds["id"] is int
    assert all(kinds[name] is toft.Mixed for name in ("value", "other", "items", "named"))


def test_a_class_of_the_file_has_the_property_too(realm: toft.Realm, note: Note) -> None:
    note.value = [1, {"a": note}]
    note.named = {"x": [2]}
    realm.commit()
    with toft.open(realm.path) as other:
        found = other.objects("Note")[0]
        assert found.value[0] == 1 and found.value[1]["a"] == found
        assert found.named == {"x": [2]}
    with toft.open(realm.path, [Note, Part]) as other:  # without Dog
        assert other.object(Note, 1).value[1]["a"].id == 1


# ---------------------------------------------------------------------- Collections in a value


def test_lists_and_dictionaries_are_copied_in_and_read_live(note: Note) -> None:
    given = {"name": "Ada", "tags": [1, "two", {"deep": [3.0, None]}], "t": (1, 2)}
    note.value = given
    given["tags"].append(3)  # type: ignore[attr-defined]
    assert isinstance(note.value, toft.Dict)
    tags = note.value["tags"]
    assert isinstance(tags, toft.List) and tags == [1, "two", {"deep": [3.0, None]}]
    assert note.value["t"] == [1, 2]
    deep = tags[2]["deep"]
    deep.append([True])
    deep[0] = "changed"
    tags.insert(0, {})
    del tags[1]
    assert deep == ["changed", None, [True]], "it follows what it is"
    assert tags.copy() == [{}, "two", {"deep": ["changed", None, [True]]}]
    assert list(note.value) == ["name", "t", "tags"]
    note.value["name"] = {"first": "Ada"}
    note.value.update(name={"last": "Lovelace"}, t=None)
    assert note.value.pop("t") is None
    with pytest.raises(KeyError):
        del note.value["t"]
    assert note.value.copy() == {
        "name": {"last": "Lovelace"},
        "tags": [{}, "two", {"deep": ["changed", None, [True]]}],
    }
    assert type(note.value.copy()["tags"]) is list
    deep.clear()
    tags[2].clear()
    assert tags == [{}, "two", {}]


def test_a_nested_list_does_what_a_list_of_python_does(note: Note) -> None:
    note.value = [0]
    live, plain = note.value, [0]
    for each in (live, plain):
        each.extend([1, 2, 3, "x", 2])
        each.reverse()
        each[1:3] = [[7], {"a": 8}, 9]
        del each[-1]
        assert each.pop() == 1
        each += [None, 2.5]
        each.insert(-1, "last but one")
    assert live == plain
    assert [*live] == plain and live[::-1] == plain[::-1]
    assert live.index(9) == plain.index(9) and 9.0 in live and "no" not in live
    assert live.index([7]) == 1 and {"a": 8} in live
    live.move(0, 2)
    live.swap(0, 1)
    assert live[:3] == [{"a": 8}, [7], 2]
    with pytest.raises(toft.IndexOutOfRangeError):
        live[len(live)]


def test_changes_in_place_keep_what_is_there(note: Note) -> None:
    note.value = {"list": [[1]], "map": {}}
    top, numbers, inner = note.value, note.value["list"], note.value["list"][0]
    note.value["list"] += [2]
    note.value["list"][0] += [3]
    note.value["map"] |= {"x": 1}
    note.value |= {"y": 2}
    assert note.value.copy() == {"list": [[1, 3], 2], "map": {"x": 1}, "y": 2}
    assert top == note.value and numbers == [[1, 3], 2] and inner == [1, 3], "all are still valid"
    # Elements that were changed elsewhere are copied.
    numbers[1] = numbers[0]
    numbers += [4]
    note.other = numbers
    numbers.append(5)
    assert note.other == [[1, 3], [1, 3], 4]
    numbers.move(0, 2)
    moved = numbers[2]
    numbers[0] = moved
    assert numbers == [[1, 3], 4, [1, 3], 5]


def test_live_collections_are_copied_between_properties(note: Note, realm: toft.Realm) -> None:
    note.items = [1, [2]]
    note.named = {"a": {"b": 3}}
    note.value = note.items
    note.other = note.named
    note.third = [note.named, note.items[1]]
    note.items[1].append(4)
    assert (note.value, note.other, note.third) == (
        [1, [2]],
        {"a": {"b": 3}},
        [{"a": {"b": 3}}, [2]],
    )
    note.items = note.third
    assert note.items == [{"a": {"b": 3}}, [2]]
    copied = realm.create(Note, id=2, value=note.third, items=note.items)
    assert copied.value == note.third


def test_a_collection_that_was_replaced_is_invalid(note: Note, realm: toft.Realm) -> None:
    note.value = [[1], {"a": 2}]
    top, first, second = note.value, note.value[0], note.value[1]
    top[0] = [1]
    note.value.pop()
    for gone in (first, second):
        with pytest.raises(toft.CollectionInvalidatedError):
            len(gone)
    assert "invalid" in repr(first)
    note.value = [[1]]
    with pytest.raises(toft.CollectionInvalidatedError):
        top.append(1)
    realm.delete(note)


def test_an_update_that_fails_leaves_what_was_there(note: Note) -> None:
    note.named = {"a": [1, {"b": [2]}], "c": {"x": 1}, "d": 3}
    before = note.named.copy()
    with pytest.raises(toft.TypeMismatchError):
        note.named.update({"a": 5, "c": [6], "d": None, "new": [7], "e": object()})
    assert note.named == before and note.named["a"][1]["b"] == [2]
    with pytest.raises(toft.InvalidArgumentError):
        note.named |= {"a": [], "$": 1}
    assert note.named == before


def test_what_a_default_is_set_to_is_given_live(note: Note) -> None:
    note.value = {"a": 1}
    assert note.value.setdefault("a", 5) == 1 and note.value.setdefault("n") is None
    note.value.setdefault("tags", []).append("x")
    note.named.setdefault("deep", {}).setdefault("deeper", {})["y"] = 2
    assert note.value.copy() == {"a": 1, "n": None, "tags": ["x"]}
    assert note.named.copy() == {"deep": {"deeper": {"y": 2}}}
    note.value["list"] = [1, {"b": 2}, [3]]
    with pytest.raises(toft.TypeMismatchError):
        note.value["list"][::2] = [[7], object()]
    assert note.value["list"].copy() == [1, {"b": 2}, [3]]


def test_what_is_popped_stays(note: Note) -> None:
    note.items = [[1, [2]], {"k": [3]}, 4]
    assert [note.items.pop(0), note.items.pop(0), note.items.pop()] == [[1, [2]], {"k": [3]}, 4]
    note.named = {"a": [1], "b": {"x": [2]}, "c": 3, "d": [4]}
    assert note.named.pop("a") == [1] and note.named.pop("b", None) == {"x": [2]}
    assert note.named.popitem() == ("d", [4]) and note.named.pop("c") == 3
    assert note.named.pop("c", [5]) == [5]
    with pytest.raises(KeyError):
        note.named.pop("c")
    note.value = {"in": [[6]]}
    assert note.value["in"].pop() == [6] and note.value.pop("in") == []
    assert note.items == [] and note.named == {} and note.value == {}


def test_a_hundred_are_within_one_another_and_no_more(note: Note) -> None:
    for depth in (99, 100):
        note.value = within(depth)
        assert note.value == within(depth)
        note.items = [within(depth)]
        assert note.items == [within(depth)]
    itself: list[Any] = []
    itself.append(itself)
    for wrong in (within(101), within(102), within(150), itself):
        with pytest.raises(toft.ValueTooLongError):
            note.value = wrong
        with pytest.raises(toft.ValueTooLongError):
            note.items = [wrong]
    assert note.value == within(100)


def test_the_least_and_the_greatest_of_mixed_values_are_the_ends_of_their_order(
    realm: toft.Realm, note: Note
) -> None:
    notes = realm.objects(Note)
    assert notes.min("value") is None and notes.average("value") is None and notes.sum("value") == 0
    values = [5, "a text", float("nan"), 2.5, None, [9], {"k": 9}, False]
    for number, value in enumerate(values):
        realm.create(Note, id=100 + number, value=value)
    note.items = values
    for asked in (notes, notes.where("value != 0"), notes.sort("value")):
        assert asked.min("value") is False and asked.max("value") == "a text"
        assert asked.sum("value") == Decimal("7.5") and asked.average("value") == Decimal("3.75")
    assert notes.where("value < 10").max("value") == 5
    results = note.items.results
    assert results.min() is False and results.max() == "a text"
    assert results.sum() == Decimal("7.5") and results.average() == Decimal("3.75")
    for query in ("items.@max == 'a text'", "items.@min == false", "items.@sum == 7.5"):
        assert [each.id for each in notes.where(query)] == [note.id], query


def test_results_of_a_nested_collection_are_live(realm: toft.Realm, note: Note) -> None:
    note.value = {"list": [3, "a", 1.5, 3.0, None, [1]], "map": {"k": 2, "l": "b"}}
    nested, named = note.value["list"], note.value["map"]
    results, ordered = nested.results, nested.results.sort("self")
    assert [*results] == [3, "a", 1.5, 3.0, None, [1]] and [*named.results] == [2, "b"]
    assert [*ordered] == [None, 1.5, 3, 3.0, "a", [1]] and [*ordered.limit(2)] == [None, 1.5]
    assert [*results.distinct("self")] == [3, "a", 1.5, None, [1]]
    assert results.sum() == Decimal("7.5") and results.max() == "a" and named.results.sum() == 2
    copy = results.snapshot()
    nested.append(-1)
    del nested[1], named["k"]
    assert [*results] == [3, 1.5, 3.0, None, [1], -1] and [*ordered][:2] == [None, -1]
    assert [*named.results] == ["b"] and [*copy] == [3, "a", 1.5, 3.0, None, [1]]
    with pytest.raises(toft.TypeMismatchError):
        results.where("id == 1")
    note.value["list"] = 5
    for gone in (results, ordered):
        with pytest.raises(toft.CollectionInvalidatedError):
            len(gone)
    with pytest.raises(toft.CollectionInvalidatedError):
        nested.results
    assert len(copy) == 6 and len(named.results) == 1
    realm.commit()


def test_observers_of_nested_collections_are_told_what_changed(
    realm: toft.Realm, note: Note
) -> None:
    note.value = {"list": [1, 2, [3]], "map": {"a": 1, "b": [5]}}
    note.items = [0, [1, 2]]
    realm.commit()
    watched = note.value["list"], note.value["list"][2], note.value["map"], note.items[1]
    told: list[list[toft.Changes]] = [[] for _ in watched]
    observations = [each.observe(calls.append) for each, calls in zip(watched, told)]
    realm.dispatch()
    assert [len(calls) for calls in told] == [1] * 4
    with realm.write():
        note.value["list"].insert(0, "new")
        note.value["list"][2] = "two"
        note.value["list"][3].append(4)
        note.value["map"].update(c=1, b=None)
        del note.value["map"]["a"]
        note.items.insert(0, "first")
    until(realm, lambda: len(told[2]) == 2)
    assert [len(calls) for calls in told] == [2, 2, 2, 1]
    assert told[0][-1].insertions == (0,) and told[0][-1].deletions == ()
    assert told[0][-1].modifications == (1, 2) and told[0][-1].modifications_after == (2, 3)
    assert told[1][-1].insertions == (1,)
    assert told[2][-1].deleted_keys == ("a",) and told[2][-1].inserted_keys == ("c",)
    assert told[2][-1].modified_keys == ("b",)
    with realm.write():
        note.items[2].clear()
        note.value["list"][3] = "no list any more"
    until(realm, lambda: len(told[3]) == 2)
    assert told[3][-1].deletions == (0, 1) and told[3][-1].kind == toft.ChangeKind.UPDATE
    assert told[1][-1].kind == toft.ChangeKind.DELETED and told[1][-1].deletions == (0, 1)
    with realm.write():
        note.value = None
        realm.delete(note)
    until(realm, lambda: len(told[3]) == 3)
    assert [calls[-1].kind for calls in told] == [toft.ChangeKind.DELETED] * 4
    assert told[2][-1].deleted_keys == ("b", "c")
    for observation in observations:
        observation.stop()


def test_what_changes_within_is_a_change_of_the_property(realm: toft.Realm, note: Note) -> None:
    note.value = {"a": [1]}
    realm.commit()
    told: list[toft.Changes] = []
    observation = note.observe(told.append, old_values=True)
    realm.dispatch()
    with realm.write():
        note.value["a"].append(2)
    until(realm, lambda: len(told) > 0)
    assert told[-1].properties == ("value",)
    assert told[-1].old_values == {"value": {"a": [1]}}
    observation.stop()
    with pytest.raises(toft.NotInTransactionError):
        note.value["a"].append(3)
    assert note.value["a"] == [1, 2]


# ------------------------------------------------------------------- Properties that hold many


def test_collections_of_mixed_values(realm: toft.Realm, note: Note) -> None:
    note.items = [*SCALARS, [1, {"a": []}], note]
    assert note.items[:-2] == SCALARS and note.items[-2] == [1, {"a": []}]
    assert note.items[-1] == note
    note.items[-2][1]["a"].append("x")
    assert note.items[-2].copy() == [1, {"a": ["x"]}]
    note.named = {"a": [1], "b": note, "c": None}
    note.named["a"].append(2)
    note.named["d"] = {"x": {}}
    assert note.named == {"a": [1, 2], "b": note, "c": None, "d": {"x": {}}}
    assert note.named.copy()["d"] == {"x": {}}


def test_a_set_of_mixed_values_is_in_the_order_of_types(realm: toft.Realm, note: Note) -> None:
    ordered = [None, False, -5, 1.5, 2, Decimal("3"), "a", b"a", MOMENT]
    ordered += [toft.ObjectId(bytes(12)), UUID(int=7), note]
    for value in reversed(ordered):
        note.members.add(value)
    assert [*note.members] == ordered
    note.members.add(2.0)
    assert len(note.members) == len(ordered) and Decimal("2.00") in note.members
    assert 1 not in note.members and [1] not in note.members
    for wrong in ([], [1], {}):
        with pytest.raises(toft.TypeMismatchError):
            note.members.add(wrong)
    note.members.remove(2)
    assert 2 not in note.members


# ---------------------------------------------------------------------------------------- Links


def test_a_deleted_object_is_none_wherever_it_was(realm: toft.Realm, note: Note) -> None:
    rex = realm.create(Dog, name="Rex")
    note.value = {"a": [rex, {"b": rex}], "c": 1}
    note.other = rex
    note.items = [rex, [rex], 1]
    note.members = {rex, 1}
    note.named = {"x": rex, "y": [rex]}
    kept = note.value["a"]
    realm.delete(rex)
    assert note.value == {"a": [None, {"b": None}], "c": 1} and kept == [None, {"b": None}]
    assert note.other is None
    assert note.items == [None, [None], 1]
    assert [*note.members] == [1]
    assert note.named == {"x": None, "y": [None]}


# --------------------------------------------------------------- Drafts, plain values, queries


def test_drafts_hold_them_and_bring_the_objects_in_them(realm: toft.Realm) -> None:
    rex = Dog(name="Rex")
    draft = Note(id=5, value={"dogs": [rex, {"again": rex}], "n": 1}, items=[rex, [rex]])
    draft.other = [draft]  # a circle
    assert draft.value["dogs"][0] is rex and draft.items == [rex, [rex]]
    twin = copy.deepcopy(Note(id=6, value=[{"a": 1}]))
    assert pickle.loads(pickle.dumps(twin)).value == [{"a": 1}]
    with realm.write():
        realm.add(draft)
        realm.add(twin)
    assert rex.realm is realm and len(realm.objects(Dog)) == 1
    assert draft.value == {"dogs": [rex, {"again": rex}], "n": 1}
    assert draft.items == [rex, [rex]] and draft.other == [draft]
    with realm.write():
        realm.upsert(Note, id=5, value=[1])
        realm.upsert(Note, id=5, value=[1], update="modified")
    assert draft.value == [1]


def test_plain_values_and_json(realm: toft.Realm, note: Note) -> None:
    rex = realm.create(Dog, name="Rex")
    note.value = {"dog": rex, "when": MOMENT, "data": [b"\xff", Decimal("1.50"), UUID(int=1)]}
    note.items = [[rex], note]
    note.third = [rex]
    plain = note.to_dict()
    assert plain["value"]["dog"] == "Rex" and plain["items"] == [["Rex"], 1]
    assert note.to_dict(depth=1)["value"]["dog"] == {"name": "Rex"}
    text = note.to_json()
    assert json.loads(text)["value"] == {
        "dog": "Rex",
        "when": MOMENT.isoformat(),
        "data": ["/w==", "1.50", str(UUID(int=1))],
    }
    given = {"id": 7, "value": {"a": [1, 2.5, "x", None, True, {}]}, "items": [[1], {"b": "c"}]}
    [read] = realm.from_json(Note, json.dumps(given))
    assert read.value == given["value"] and read.items == given["items"]
    assert "Dog Rex" in repr(note) and len(repr(note)) < 1000
    assert "Dog Rex" in note._repr_html_()


def test_rows_of_results_read_them_one_by_one(realm: toft.Realm, note: Note) -> None:
    for number in range(2, 50):
        realm.create(Note, id=number, value=[number] if number % 2 else number)
    found = realm.objects(Note).sort("id")
    assert [each.value for each in found][1:5] == [2, [3], 4, [5]]
    assert "value" not in found.lists()
    with pytest.raises(toft.TypeMismatchError):
        found.lists("value")
    found.update(value={"all": [1]})
    assert {each.id for each in found if each.value == {"all": [1]}} == set(range(1, 50))
    realm.insert_many(Note, [{"id": 100, "value": [1, {"a": None}]}, {"id": 101, "value": "x"}])
    assert realm.object(Note, 100).value == [1, {"a": None}]


def test_results_of_values_are_whole(realm: toft.Realm, note: Note) -> None:
    note.items = [2, [1, {"a": 2}], "x", {"b": []}]
    assert [*note.items.results] == [2, [1, {"a": 2}], "x", {"b": []}]
    assert type(note.items.results[1]) is list


def test_frozen_realms_have_them_on_every_thread(realm: toft.Realm, note: Note) -> None:
    note.value = [1, {"a": [2]}]
    realm.commit()
    frozen = note.freeze()
    with realm.write():
        note.value = None
    assert frozen.value == [1, {"a": [2]}]
    assert frozen.value[1]["a"].copy() == [2]


class Holder(toft.Object):
    """Values of any type in each kind of property, also of an embedded object."""

    id: int = toft.field(primary_key=True)
    value: toft.Mixed
    items: list[toft.Mixed]
    members: set[toft.Mixed]
    named: dict[str, toft.Mixed]
    inner: Inner | None


class Inner(toft.EmbeddedObject):
    value: toft.Mixed


class _Model:
    """The content of the objects, as plain values; a link is a tuple of the class and the key."""

    def __init__(self, realm: toft.Realm, seed: int) -> None:
        self.realm, self.random = realm, random.Random(seed)
        self.rows: dict[int, dict[str, Any]] = {}
        self.dogs: set[str] = set()
        self.number = 0

    def scalar(self) -> Any:
        links = [("Holder", key) for key in self.rows] + [("Dog", name) for name in self.dogs]
        if links and self.random.random() < 0.5:
            return self.random.choice(links)
        return self.random.choice([None, True, 7, 2.5, "x" * self.random.randrange(40), b"\1"])

    def any(self, depth: int = 0) -> Any:
        kind = self.random.random()
        if depth == 4 or kind < 0.5:
            return self.scalar()
        count = self.random.randrange(4)
        if kind < 0.75:
            return [self.any(depth + 1) for _ in range(count)]
        return {self.random.choice("abcé"): self.any(depth + 1) for _ in range(count)}

    def live(self, plain: Any) -> Any:
        if isinstance(plain, tuple):
            return self.realm.object(*plain)
        if isinstance(plain, list):
            return [self.live(each) for each in plain]
        if isinstance(plain, dict):
            return {key: self.live(each) for key, each in plain.items()}
        return plain

    def plain(self, live: Any) -> Any:
        if isinstance(live, toft.Object):
            return ("Holder", live.id) if isinstance(live, Holder) else ("Dog", live.name)
        if isinstance(live, (toft.List, list)):
            return [self.plain(each) for each in live]
        if isinstance(live, (toft.Dict, dict)):
            return {key: self.plain(each) for key, each in live.items()}
        return live

    def without(self, plain: Any, gone: set[Any]) -> Any:
        if isinstance(plain, list):
            return [self.without(each, gone) for each in plain]
        if isinstance(plain, dict):
            return {key: self.without(each, gone) for key, each in plain.items()}
        return None if isinstance(plain, tuple) and plain in gone else plain

    def create(self) -> None:
        self.number += 1
        if self.random.random() < 0.3:
            self.realm.create(Dog, name=f"dog {self.number}")
            self.dogs.add(f"dog {self.number}")
            return
        row = {
            "value": self.any(),
            "items": [self.any() for _ in range(self.random.randrange(4))],
            "members": {each for each in (self.scalar() for _ in range(4)) if each is not True},
            "named": {key: self.any() for key in "xy"},
            "inner": self.any(),
        }
        given = {name: self.live(row[name]) for name in ("value", "items", "named")}
        members = [self.live(each) for each in row["members"]]
        inner = Inner(value=self.live(row["inner"]))
        self.realm.create(Holder, id=self.number, members=members, inner=inner, **given)
        self.rows[self.number] = row

    def edit(self) -> None:
        if not self.rows:
            return
        key = self.random.choice([*self.rows])
        row, holder = self.rows[key], self.realm.object(Holder, key)
        assert holder is not None
        name = self.random.choice(["value", "items", "named", "inner"])
        if name == "inner":
            row["inner"], plain = (value := self.any()), value
            holder.inner.value = self.live(plain)  # type: ignore[union-attr]
            return
        if name == "value" and (not isinstance(row[name], (list, dict)) or self.flips()):
            row[name] = self.any()
            holder.value = self.live(row[name])
            return
        plain, live = row[name], getattr(holder, name)
        while self.flips() and (inner := self.inner(plain)) is not None:
            plain, live = plain[inner], live[inner]
        value = self.any(2)
        if isinstance(plain, dict):
            at = self.random.choice("abxyé")
            if at in plain and self.flips():
                del plain[at], live[at]
            else:
                plain[at], live[at] = value, self.live(value)
        elif plain and self.random.random() < 0.3:
            at = self.random.randrange(len(plain))
            del plain[at], live[at]
        elif plain and self.flips():
            first, second = self.random.randrange(len(plain)), self.random.randrange(len(plain))
            plain.insert(second, plain.pop(first))
            live.move(first, second)
        else:
            at = self.random.randrange(len(plain) + 1)
            plain.insert(at, value)
            live.insert(at, self.live(value))

    def flips(self) -> bool:
        return self.random.random() < 0.5

    def inner(self, plain: Any) -> Any:
        """The place of a collection within another one."""
        pairs = plain.items() if isinstance(plain, dict) else enumerate(plain)
        places = [at for at, each in pairs if isinstance(each, (list, dict))]
        return self.random.choice(places) if places else None

    def delete(self) -> None:
        count = self.random.choice([1, 1, 3])
        keys = self.random.sample([*self.rows], min(count, len(self.rows)))
        dogs = self.random.sample(sorted(self.dogs), min(count, len(self.dogs)))
        if self.flips():
            self.realm.objects(Holder).where("id IN $0", keys).delete()
            self.realm.objects(Dog).where("name IN $0", dogs).delete()
        else:
            for key in keys:
                self.realm.delete(self.realm.object(Holder, key))
            for name in dogs:
                self.realm.delete(self.realm.object(Dog, name))
        gone: set[Any] = {("Holder", key) for key in keys} | {("Dog", name) for name in dogs}
        self.rows = {key: row for key, row in self.rows.items() if key not in keys}
        self.dogs -= set(dogs)
        for row in self.rows.values():
            row["members"] -= gone
            for name in ("value", "items", "named", "inner"):
                row[name] = self.without(row[name], gone)

    def compare(self) -> None:
        assert {each.name for each in self.realm.objects(Dog)} == self.dogs
        assert len(self.realm.objects(Holder)) == len(self.rows)
        for holder in self.realm.objects(Holder):
            row = self.rows[holder.id]
            for name in ("value", "items", "named"):
                assert self.plain(getattr(holder, name)) == row[name], name
            assert {self.plain(each) for each in holder.members} == row["members"]
            assert holder.inner is not None and self.plain(holder.inner.value) == row["inner"]


@pytest.mark.parametrize("seed", [random.randrange(2**32) for _ in range(4)])
def test_random_changes_of_values_and_links_leave_what_a_model_says(path: Path, seed: int) -> None:
    with toft.open(path, [Holder, Inner, Dog]) as realm:
        model = _Model(realm, seed)
        for _ in range(30):
            with realm.write():
                for _ in range(model.random.randrange(1, 12)):
                    step = model.random.random()
                    change = model.create if step < 0.3 else model.edit
                    (model.delete if step > 0.92 else change)()
            model.compare()
            report = realm.check()
            assert report, report.problems
