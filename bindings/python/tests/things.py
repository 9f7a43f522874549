"""Objects of every type that lead to each other, for the tests of files of objects."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import toft

OLD = datetime(1, 1, 1, microsecond=5, tzinfo=timezone.utc)


class Label(toft.EmbeddedObject):
    text: str = ""
    any: toft.Mixed
    to: Thing | None


class Part(toft.Object):
    """Only its key in the file distinguishes it from others."""

    class_: str = toft.field(default="", name="class")
    next: Part | None
    any: toft.Mixed


class Thing(toft.Object):
    id: int | None = toft.field(primary_key=True)
    name: str | None
    count: int = 0
    weight: float = 0.0
    short: toft.Float32 = 0.0
    price: Decimal | None
    at: datetime | None
    day: date | None
    code: UUID | None
    mark: toft.ObjectId | None
    data: bytes = b""
    any: toft.Mixed
    anys: list[toft.Mixed]
    kinds: set[toft.Mixed]
    notes: dict[str, toft.Mixed]
    words: list[str]
    numbers: set[int]
    ratios: dict[str, float]
    friend: Thing | None
    friends: list[Thing]
    named: dict[str, Thing | None]
    label: Label | None
    labels: list[Label]
    kept: dict[str, Label | None]


CLASSES = [Thing, Label, Part]
MIXED: dict[str, Any] = {
    "deep": {"a": [{"b": [b""]}]},
    "more": [Decimal("3.0"), Decimal("NaN"), UUID(int=5), toft.ObjectId(bytes(12)), OLD, {}, []],
    "values": [1, 2.0, 2.5, -0.0, 1e300, math.inf, True, None, "x", b"\xff", 2**53 + 1],
}


def fill(realm: toft.Realm) -> tuple[Thing, Thing]:
    """Makes two parts and two things, which it returns; some lead to later ones."""
    first = realm.create(
        Thing,
        id=1,
        name='q",\r\n\t\0\u2028 \U0001f600',
        count=-(2**63),
        weight=math.nan,
        short=0.1,
        price=Decimal("1.50"),
        at=OLD,
        day=date(2024, 2, 29),
        code=UUID(int=7),
        mark=toft.ObjectId(bytes(range(12))),
        data=bytes(range(256)),
        any=MIXED,
        kinds={1, 2.5, "x", b"y", None, Decimal("1E+3")},
        notes={"": 1.0, "a b": b"\xff"},
        words=["", ",", '"', "\n"],
        numbers={2**63 - 1, -(2**63)},
        ratios={"x": -0.0, "y": -math.inf},
        label=Label(text="a", any=b"q"),
        labels=[Label(text="1"), Label(text="2", any=1.0)],
        kept={"k": Label(), "n": None},
    )
    second = realm.create(
        Thing, id=2, name="", any=first, anys=[first, [first, {"z": first}]], friend=first
    )
    first.friend, first.friends = second, [second, first, second]
    first.named = {"a": first, "b": None}
    part = realm.create(Part, class_="g", any=[second, 2.0])
    part.next = realm.create(Part, class_="h", next=part, any=part)
    assert first.label is not None
    first.label.to, first.labels[0].to = second, first
    return first, second
