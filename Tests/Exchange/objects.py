"""objects.py DATABASE FOLDER fill | write | read: objects of every type, and the files of a folder
that hold those of each class, as JSON lines and as comma-separated values.
"""

from __future__ import annotations

import math
import sys
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import toft


class Label(toft.EmbeddedObject):
    text: str = ""
    any: toft.Mixed
    to: Item | None


class Part(toft.Object):
    class_: str = toft.field(default="", name="class")
    next: Part | None
    any: toft.Mixed


class Item(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str | None
    weight: float = 0.0
    short: toft.Float32 = 0.0
    price: Decimal | None
    at: datetime | None
    day: date | None
    code: UUID | None
    mark: toft.ObjectId | None
    data: bytes = b""
    any: toft.Mixed
    kinds: set[toft.Mixed]
    words: list[str]
    ratios: dict[str, float]
    friend: Item | None
    friends: list[Item]
    label: Label | None
    labels: list[Label]


CLASSES = [Item, Label, Part]


def fill(realm: toft.Realm) -> None:
    """Makes objects that lead to each other, also to later ones."""
    old = datetime(1, 1, 1, microsecond=5, tzinfo=timezone.utc)
    mixed: list[Any] = [1, 2.0, 2.5, -0.0, 1e300, math.inf, True, None, "x", b"\xff", {}, []]
    mixed += [Decimal("3.0"), Decimal("NaN"), UUID(int=5), toft.ObjectId(bytes(12)), old]
    first = realm.create(
        Item,
        id=1,
        name='q",\r\n\t \u2028 \U0001f600',
        weight=math.nan,
        short=0.1,
        price=Decimal("1.50"),
        at=old,
        day=date(2024, 2, 29),
        code=UUID(int=7),
        mark=toft.ObjectId(bytes(range(12))),
        data=bytes(range(256)),
        any={"a": mixed, "b": {"c": [mixed]}},
        kinds={1, 2.5, "x", b"y", None},
        words=["", ",", '"', "\n"],
        ratios={"x": -0.0, "y": -math.inf},
        label=Label(text="a", any=b"q"),
        labels=[Label(text="1"), Label(text="2", any=1.0)],
    )
    second = realm.create(Item, id=2, any=[first], name="", friend=first)
    first.friend, first.friends = second, [second, first, second]
    part = realm.create(Part, class_="g", any=[second, 2.0])
    part.next = realm.create(Part, class_="h", next=part, any=b"z")
    assert first.label is not None
    first.label.to, first.labels[0].to = second, first


def main(database: str, folder: str, command: str) -> None:
    with toft.open(database, CLASSES) as realm:
        if command == "fill":
            with realm.write():
                fill(realm)
        for how in ("json_lines", "csv") if command in ("write", "read") else ():
            if command == "read":
                with realm.write():
                    realm.delete_all()
            for cls in (Item, Part):
                path = Path(folder) / f"{cls.__name__}.{how}"
                with path.open(command[0], encoding="utf-8", newline="") as file:
                    if command == "write":
                        getattr(realm.objects(cls), f"write_{how}")(file)
                        continue
                    with realm.write():
                        print(how, cls.__name__, getattr(realm, f"read_{how}")(cls, file))
        assert not realm.check().problems


if __name__ == "__main__":
    main(*sys.argv[1:])
