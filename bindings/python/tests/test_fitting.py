"""What is said to fit surely is taken by the library, so that nothing is kept for its failure."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import toft
from toft import fitting


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Sample(toft.Object):
    key: str = toft.field(primary_key=True)
    flag: bool | None
    count: int
    ratio: toft.Float32
    score: float
    title: str = toft.field(default="", indexed=True)
    data: bytes
    born: datetime
    day: date
    price: Decimal
    uuid: UUID
    id: toft.ObjectId | None
    color: Color
    anything: toft.Mixed
    counts: list[int | None]
    titles: set[str]
    days: dict[str, date]
    mixed: dict[str, toft.Mixed]


MOMENT = datetime(2026, 11, 22, tzinfo=timezone.utc)
VALUES: list[Any] = [
    *(None, True, 0, -1, 2**63 - 1, -(2**63), 2**63, 10**400, 1.5, float("nan"), 1e300),
    *("", "a", "Grüße", "\0", "\ud800", "red", Color.BLUE, "x" * 64, "ü" * 64, "x" * 600),
    *(b"", b"\xff", bytearray(b"a"), memoryview(b"a"), b"x" * (1 << 24), "x" * (1 << 24)),
    *(MOMENT, MOMENT.replace(tzinfo=None), MOMENT.date(), datetime.min, datetime.max, date.min),
    datetime.max.replace(tzinfo=timezone.utc),
    datetime.min.replace(tzinfo=timezone.utc),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    *(Decimal(1), Decimal("NaN"), Decimal("sNaN"), Decimal("1e99999"), UUID(int=1)),
    *(toft.ObjectId(), object(), int, [], {}, set(), (), [1, None], ["a"], {"a"}, {"a", None}),
    *({"a": 1}, {"a": MOMENT.date()}, {"a": MOMENT}, {"a.b": MOMENT.date()}, {"$": None}),
    *({"": MOMENT.date()}, {"a$": "x", "\0": 1}, {1: "x"}, {"\ud800": 1}, {"a": [1]}),
]


def test_what_surely_fits_is_taken() -> None:
    surely = 0
    with toft.open_in_memory([Sample]) as realm, realm.write():
        for name, each in realm._binding(Sample).properties.items():
            for value in VALUES:
                if not fitting.fits(each, value):
                    continue
                if name == "key" and not fitting.primary_key_fits(value):
                    continue
                realm.upsert(Sample, {"key": "k", name: value})
                surely += 1
    assert surely > 60
