"""Objects as dictionaries, JSON, copies, tables of notebooks and DataFrames."""

from __future__ import annotations

import copy
import json
import math
import pickle
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import toft
from models import Dog, Everything, Person

NOON = datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=timezone.utc)


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Node(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str = ""
    at: datetime = NOON
    day: date = date(2024, 2, 29)
    mood: Mood = Mood.GOOD
    data: bytes = b""
    score: float | None
    count: int | None
    flag: bool | None
    next: Node | None
    others: list[Node]
    tags: list[str]
    days: list[date]
    pictures: list[bytes]
    back = toft.linking_objects("Node", "next")


class Kennel(toft.Object):
    id: int = toft.field(primary_key=True)
    dogs: list[Dog]


@pytest.fixture
def nodes(path: Path) -> Any:
    with toft.open(path, [Node]) as realm:
        with realm.write():
            last = realm.create(Node, id=3, name="<c>", mood=Mood.BAD, data=b"\0\xff", count=2**62)
            two = realm.create(Node, id=2, next=last, tags=["x", "é"], pictures=[b"p"], flag=True)
            realm.create(Node, id=1, next=two, others=[last, two], days=[date(1, 1, 1)], score=0.5)
        yield realm


def test_an_object_becomes_a_dictionary(nodes: toft.Realm) -> None:
    two = nodes.object(Node, 2)
    assert two is not None
    plain = two.to_dict()
    assert plain["next"] == 3 and plain["tags"] == ["x", "é"] and plain["mood"] is Mood.GOOD
    assert "back" not in plain and type(plain["tags"]) is list
    one = nodes.object(Node, 1)
    assert one is not None
    deep = one.to_dict(depth=1)
    assert deep["next"] == plain and [each["id"] for each in deep["others"]] == [3, 2]
    assert one.to_dict(depth=2)["next"]["next"]["name"] == "<c>"
    assert [each["id"] for each in nodes.objects(Node).sort("id").to_dicts()] == [1, 2, 3]
    assert Node(id=7, next=Node(id=8)).to_dict()["next"] == 8


def test_objects_without_a_primary_key_are_named_by_their_key(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", friends=[Dog(name="Max")])
    [key] = rex.to_dict()["friends"]
    assert isinstance(key, int) and rex.friends[0].to_dict()["friends"] == []
    assert Dog(name="Rex", friends=[Dog(name="Max")]).to_dict()["friends"] == [None]


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_json_is_read_back_as_it_was_written(nodes: toft.Realm, tmp_path: Path, depth: int) -> None:
    text = nodes.objects(Node).sort("id").to_json(depth)
    assert json.loads(text)[1]["pictures"] == ["cA=="]
    with toft.open(tmp_path / "copy.toft", [Node]) as copied:
        with copied.write():
            update: Any = "modified" if depth else None  # the same object inside several
            assert [each.id for each in copied.from_json(Node, text, update=update)] == [1, 2, 3]
        assert copied.objects(Node).sort("id").to_dicts(3) == nodes.objects(Node).sort(
            "id"
        ).to_dicts(3)
        with copied.write():
            [one] = copied.from_json(Node, '{"id": 1, "name": "new"}', update="all")
        assert one.name == "new" and one.score == 0.5


def test_what_json_lacks_has_its_default_but_a_primary_key_must_be_there(nodes: toft.Realm) -> None:
    with nodes.write():
        [node] = nodes.from_json(Node, '{"id": 9}')
        with pytest.raises(toft.MissingPrimaryKeyError):
            nodes.from_json(Node, '{"name": "x"}')
    assert (node.name, node.at, node.count, node.tags) == ("", NOON, None, [])
    assert len(nodes.objects(Node)) == 4


WRONG = {
    "no JSON": ("{", toft.InvalidArgumentError, "not JSON"),
    "no object": ("[3]", toft.TypeMismatchError, "JSON object"),
    "missing target": ('{"id": 9, "next": 77}', toft.NoSuchObjectError, "Node 77"),
    "date": ('{"id": 9, "at": "soon"}', toft.TypeMismatchError, "at: 'soon'"),
    "bytes": ('{"id": 9, "data": "*"}', toft.TypeMismatchError, "data"),
    "member": ('{"id": 9, "mood": "odd"}', toft.TypeMismatchError, "Mood"),
    "null": ('{"id": 9, "name": null}', toft.NullNotAllowedError, "name"),
    "fraction": ('{"id": 9, "count": 2.5}', toft.TypeMismatchError, "count"),
    "deep": ("[" * 100_000, toft.ValueTooLongError, "within one another"),
    "two names": ('{"id": 9, "next": 1, "next": 2}', toft.InvalidArgumentError, "'next' twice"),
    "a lone surrogate": ('{"id": 9, "name": "\\ud800"}', toft.InvalidArgumentError, "UTF-8"),
    "second": ('[{"id": 9}, {"id": 10, "name": 3}]', toft.TypeMismatchError, "name"),
}


@pytest.mark.parametrize(("text", "kind", "words"), WRONG.values(), ids=WRONG)
def test_wrong_json_creates_nothing(
    nodes: toft.Realm, text: str, kind: type[Exception], words: str
) -> None:
    with nodes.write(), pytest.raises(kind, match=words):
        nodes.from_json(Node, text)
    assert len(nodes.objects(Node)) == 3


def test_members_that_are_no_properties_are_left_out_unless_the_call_is_strict(
    realm: toft.Realm,
) -> None:
    text = json.dumps(
        {"name": "Rex", "nope": 1, "owner": {"name": "Ann", "more": {"x": 1}, "dogs": []}}
    )
    with realm.write():
        [rex] = realm.from_json(Dog, text)
        assert rex.owner is not None and rex.owner.name == "Ann" and len(rex.owner.dogs) == 1
        for wrong, kind in (
            ('{"name": "Max", "nope": 1}', toft.NoSuchPropertyError),
            ('{"name": "Max", "owner": {"name": "Bob", "more": 1}}', toft.NoSuchPropertyError),
            ('{"name": "Max", "owner": {"name": "Bob", "dogs": []}}', toft.ReadOnlyPropertyError),
        ):
            with pytest.raises(kind):
                realm.from_json(Dog, wrong, strict=True)
        with pytest.raises(toft.NoSuchPropertyError):
            realm.read_json_lines(Dog, ['{"name": "Max", "nope": 1}\n'])
    assert len(realm.objects(Dog)) == len(realm.objects(Person)) == 1


def test_objects_inside_without_a_primary_key_are_new_ones_in_an_update_too(path: Path) -> None:
    text = '{"id": 1, "dogs": [{"name": "Rex", "friends": [{"name": "Max"}]}, {"name": "Rex"}]}'
    with toft.open(path, [Kennel, Dog, Person]) as realm, realm.write():
        for _ in range(2):
            [kennel] = realm.from_json(Kennel, text, update="all")
            assert [each.name for each in kennel.dogs] == ["Rex", "Rex"]
            assert [each.name for each in kennel.dogs[0].friends] == ["Max"]
        assert len(realm.objects(Dog)) == 6 and len(realm.objects(Kennel)) == 1
        with pytest.raises(toft.MissingPrimaryKeyError):
            realm.from_json(Dog, '{"name": "Max"}', update="all")


def test_minus_0_is_0_and_ints_keep_all_64_bits(nodes: toft.Realm) -> None:
    with nodes.write():
        for text, count in (("-0", 0), (f"{2**53 + 1}", 2**53 + 1), (f"-{2**63}", -(2**63))):
            [node] = nodes.from_json(Node, f'{{"id": 9, "count": {text}}}', update="all")
            assert node.count == count
    assert nodes.check()


class Signed(toft.Object):
    id: int = toft.field(primary_key=True)
    score: float
    short: toft.Float32
    price: Decimal
    any: toft.Mixed
    scores: list[float]


@pytest.mark.parametrize("zero", ["-0", "-0.0", "-0e0", "-0.0E5"])
def test_minus_0_of_a_float_keeps_its_sign(path: Path, zero: str) -> None:
    members = ("score", "short", "any")
    text = f'{{"id": -0, {", ".join(f"{each!r}: {zero}" for each in members)}, "scores": [{zero}]}}'
    text = text.replace("'", '"')
    with toft.open(path, [Signed]) as realm, realm.write():
        table = ["id,score,short,any,scores\n", f"0,{zero},{zero},{zero},[{zero}]\n"]
        for read in (
            lambda: realm.from_json(Signed, text),
            lambda: realm.from_json(Signed, text.encode()),
            lambda: realm.from_json(Signed, written),
            lambda: realm.read_json_lines(Signed, [text]),
            lambda: realm.read_csv(Signed, table),
        ):
            read()
            written = realm.objects(Signed).to_json()
            found = realm.object(Signed, 0)
            assert found is not None
            for value in (found.score, found.short, found.any, found.scores[0]):
                assert value == 0 and math.copysign(1, value) == -1
            realm.delete_all()
        [decimal] = realm.from_json(Signed, '{"id": 1, "price": -0}')
        assert decimal.price == 0


def test_a_link_without_primary_key_must_be_inside(realm: toft.Realm) -> None:
    with realm.write():
        [rex] = realm.from_json(Dog, '{"name": "Rex", "friends": [{"name": "Max"}]}')
        assert [dog.name for dog in rex.friends] == ["Max"]
        with pytest.raises(toft.InvalidArgumentError, match="depth=1"):
            realm.from_json(Dog, '{"name": "Tim", "friends": [1]}')
    assert len(realm.objects(Dog)) == 2


def test_an_object_in_no_database_can_be_copied_and_pickled(realm: toft.Realm) -> None:
    ada = Person(name="Ada")
    rex = Dog(name="Rex", owner=ada, tags=["x"])
    rex.friends = [rex, Dog(name="Max")]
    for other in (copy.deepcopy(rex), pickle.loads(pickle.dumps(rex))):
        assert type(other) is Dog and other is not rex
        assert (other.name, other.tags, other.age) == ("Rex", ["x"], 0)
        assert other.owner is not ada and other.owner.name == "Ada"
        assert other.friends[0] is other and other.friends[1].name == "Max"
        other.tags.append("y")
        assert rex.tags == ["x"]
    shallow = copy.copy(rex)
    assert shallow.owner is ada and shallow.tags is not rex.tags
    with realm.write():
        realm.add(rex)
    for do in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="to_dict"):
            do(rex)


def test_notebooks_show_tables(nodes: toft.Realm, realm: toft.Realm) -> None:
    found = nodes.objects(Node).sort("id")
    table = found._repr_html_()
    assert table.count("<tr>") == 4 and "Results of Node: 3" in table
    assert "&lt;c&gt;" in table and "<c>" not in table
    assert "<td>Node 3</td>" in table and "<td>x, é</td>" in table
    assert found[2]._repr_html_().count("<tr>") == 14
    assert Node(id=5)._repr_html_()
    with realm.write():
        realm.insert_many(Dog, [{"name": str(n), "tags": ["t"] * 99} for n in range(50)])
    dogs = realm.objects(Dog)
    assert "Results of Dog: 50, the first 10" in dogs._repr_html_()
    assert dogs._repr_html_().count("<tr>") == 11
    assert dogs.head()._repr_html_().count("<tr>") == 6 and len(dogs.head(7)) == 7
    dog = dogs[0]
    assert dog.tags.results._repr_html_() == "<code>&lt;Results of values: 99&gt;</code>"
    with realm.write():
        realm.delete(dog)
    assert "deleted" in dog._repr_html_()
    realm.close()
    assert "<code>" in dogs._repr_html_()


def test_a_data_frame_keeps_optional_integers_and_zones(nodes: toft.Realm) -> None:
    pandas = pytest.importorskip("pandas")
    found = nodes.objects(Node).sort("id")
    frame = found.to_pandas()
    assert frame["count"].dtype == "Int64" and frame["count"].tolist() == [
        pandas.NA,
        pandas.NA,
        2**62,
    ]
    assert frame["flag"].dtype == "boolean" and frame["next"].dtype == "Int64"
    assert str(frame["at"].dtype).endswith("UTC]") and frame["at"][0] == NOON
    assert frame["score"].isna().tolist() == [False, True, True]
    assert frame["mood"].tolist() == [Mood.GOOD, Mood.GOOD, Mood.BAD]
    assert frame["name"].tolist() == ["", "", "<c>"] and frame["data"][2] == b"\0\xff"
    assert list(found.to_pandas("id", Node.name).columns) == ["id", "name"]
    assert len(found.where("FALSEPREDICATE").to_pandas()) == 0
    before = found.lists()
    with nodes.write():
        found.delete()
        plain = frame.drop(columns=["next"])
        assert nodes.insert_many(Node, plain) == 3
        arrays = found.columns()
        del arrays["next"]
        found.delete()
        assert nodes.insert_many(Node, arrays) == 3
    assert {**found.lists(), "next": None} == {**before, "next": None}


def test_an_empty_date_column_of_a_data_frame(realm: toft.Realm) -> None:
    pytest.importorskip("pandas")
    with realm.write():
        realm.create(Everything, id=1)
        realm.create(Everything, id=2, maybe_born=NOON, maybe_ratio=0.5)
    frame = realm.objects(Everything).to_pandas("maybe_born", "maybe_ratio", "flag")
    assert frame["maybe_born"].isna().tolist() == [True, False]
    assert frame["maybe_born"][1] == NOON and frame["flag"].dtype == bool
