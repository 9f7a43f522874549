"""The classes that most tests use."""

from __future__ import annotations

from datetime import datetime

import toft


class Person(toft.Object):
    name: str = toft.field(primary_key=True)
    age: int = 0
    dogs = toft.linking_objects("Dog", "owner")


class Dog(toft.Object):
    name: str
    age: int = 0
    owner: Person | None
    tags: list[str]
    friends: list[Dog]


class Everything(toft.Object):
    id: int = toft.field(primary_key=True)
    flag: bool
    count: int = toft.field(indexed=True)
    ratio: toft.Float32
    score: float
    title: str
    picture: bytes
    born: datetime
    maybe_flag: bool | None
    maybe_count: int | None
    maybe_ratio: toft.Float32 | None
    maybe_score: float | None
    maybe_title: str | None
    maybe_picture: bytes | None
    maybe_born: datetime | None
    other: Everything | None
    flags: list[bool]
    counts: list[int]
    ratios: list[toft.Float32]
    scores: list[float]
    titles: list[str]
    pictures: list[bytes]
    dates: list[datetime]
    maybe_counts: list[int | None]
    others: list[Everything]


ALL = [Person, Dog, Everything]
