"""Models of pydantic are made of live objects, and serialize what these hold."""

from __future__ import annotations

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
