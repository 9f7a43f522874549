"""Models of pydantic are made of live objects, and serialize what these hold."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
import toft

pydantic = pytest.importorskip("pydantic")


class Page(toft.Object):
    id: int = toft.field(primary_key=True)
    data: toft.Mixed
    words: list[str]
    numbers: set[int]
    scores: dict[str, int]
    anys: list[toft.Mixed]
    named: dict[str, toft.Mixed]
    next: Page | None
    others: list[Page]


class Typed(pydantic.BaseModel):  # type: ignore[misc,name-defined]
    model_config = {"from_attributes": True}
    id: int
    data: Any
    words: list[str]
    numbers: set[int]
    scores: dict[str, int]
    anys: list[Any]
    named: dict[str, Any]
    next: Typed | None
    others: list[Typed]


class Untyped(pydantic.BaseModel):  # type: ignore[misc,name-defined]
    model_config = {"from_attributes": True}
    data: dict[str, Any]
    words: Any
    numbers: Any
    scores: Any
    anys: Any
    named: Any


def test_collections_and_nested_mixed_values_are_serialized_as_plain_python() -> None:
    values = {
        "data": {"a": [1, {"b": [2.5, None]}], "c": []},
        "words": ["x"],
        "numbers": {1, 2},
        "scores": {"k": 1},
        "anys": [[1], {"a": [2]}, "t"],
        "named": {"x": [1, [2]], "y": {}},
    }
    with toft.open_in_memory([Page]) as realm, realm.write():
        last = realm.create(Page, id=2, **values)
        page = realm.create(Page, id=1, next=last, others=[last], **values)
        inner = {"id": 2, **values, "next": None, "others": []}
        expected = {"id": 1, **values, "next": inner, "others": [inner]}
        for model, expected in ((Typed, expected), (Untyped, values)):
            made = model.model_validate(page)
            assert made.model_dump() == expected
            assert model.model_validate_json(made.model_dump_json()).model_dump() == (
                expected if model is Typed else {**expected, "numbers": [1, 2]}
            )
        adapter = pydantic.TypeAdapter(Any)
        for name in values:
            assert adapter.dump_python(getattr(page, name)) == values[name]
        dumped = adapter.dump_python({"deep": [page.data]})
        assert type(dumped["deep"][0]["a"][1]["b"]) is list


class Street(toft.EmbeddedObject):
    name: str
    number: int = 0


class Member(toft.Object):
    id: int = toft.field(primary_key=True)
    email: str | None = toft.field(unique=True)
    name: str = "?"
    joined: datetime = datetime(2024, 1, 1, tzinfo=timezone.utc)
    words: list[str]
    street: Street | None


class StreetIn(pydantic.BaseModel):  # type: ignore[misc,name-defined]
    name: str
    number: int = 7


class MemberIn(pydantic.BaseModel):  # type: ignore[misc,name-defined]
    id: int
    email: str | None = None
    name: str = "new"
    words: list[str] = []
    street: StreetIn | None = None


def test_objects_are_created_and_updated_from_models() -> None:
    with toft.open_in_memory([Member, Street]) as realm, realm.write():
        ann = realm.create(Member, MemberIn(id=1, email="a", street=StreetIn(name="Elm")))
        assert ann.street is not None
        assert (ann.name, ann.street.name, ann.street.number) == ("new", "Elm", 7)
        realm.upsert(Member, MemberIn(id=1, words=["x"]))  # a PATCH
        assert (ann.email, ann.name, [*ann.words]) == ("a", "new", ["x"])
        realm.upsert(Member, MemberIn(id=1, email="a", name="Ann"), by="email", words=["y"])
        assert (ann.name, [*ann.words]) == ("Ann", ["y"])
        models = [MemberIn(id=number, name=f"m{number}") for number in range(1, 5)]
        with pytest.raises(toft.DuplicatePrimaryKeyError):
            realm.insert_many(Member, models)
        assert realm.insert_many(Member, models, update="all") == 4
        assert [each.name for each in realm.objects(Member)] == ["m1", "m2", "m3", "m4"]
        assert [*ann.words] == ["y"] and ann.email == "a"


def test_a_model_that_does_not_fit_changes_nothing() -> None:
    class Other(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        id: int = 5
        nickname: str = "x"

    with toft.open_in_memory([Member, Street]) as realm, realm.write():
        for wrong in (Other(), {"id": 5, "nickname": "x"}):
            with pytest.raises(toft.NoSuchPropertyError, match="nickname"):
                realm.create(Member, wrong)
        with pytest.raises(toft.TypeMismatchError, match="as a mapping, not as"):
            realm.create(Member, Other)  # type: ignore[call-overload]
        with pytest.raises(toft.TypeMismatchError, match="Row 1|mapping"):
            realm.insert_many(Member, [MemberIn(id=1), 3])  # type: ignore[list-item]
        assert not realm.objects(Member)


def test_a_naive_datetime_of_a_model_is_refused_as_everywhere() -> None:
    class Joined(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        id: int
        joined: datetime

    naive = datetime(2024, 5, 1)
    with toft.open_in_memory([Member, Street]) as realm, realm.write():
        one = realm.create(Member, id=1)
        members = realm.objects(Member)
        for call in (
            lambda: realm.create(Member, Joined(id=2, joined=naive)),
            lambda: realm.insert_many(Member, [Joined(id=2, joined=naive)]),
            lambda: setattr(one, "joined", naive),
            lambda: members.update(joined=naive),
            lambda: members.where("joined > $0", naive),
            lambda: realm.add(Member(id=2, joined=naive)),
            lambda: realm.upsert(Member, id=1, joined=naive),
        ):
            with pytest.raises(toft.TypeMismatchError, match="has no time zone"):
                call()
        with pytest.raises(toft.Error, match="time zone"):
            realm.from_json(Member, '{"id": 2, "joined": "2024-05-01T00:00:00"}')
        assert len(members) == 1
