"""every_type.py DATABASE write | touch | print: see every_type.c, which does the same."""

from __future__ import annotations

import math
import struct
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import toft

LANGUAGE = "Python"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Every(toft.Object):
    writer: str = toft.field(primary_key=True)
    touched: int = 0
    precise: datetime | None
    bool: bool
    int: int
    float: toft.Float32
    double: float
    string: str
    data: bytes
    date: datetime = toft.field(indexed=True)
    decimal: Decimal
    uuid: UUID
    objectId: toft.ObjectId
    maybeBool: bool | None
    maybeInt: int | None
    maybeFloat: toft.Float32 | None
    maybeDouble: float | None
    maybeString: str | None = toft.field(default=None, indexed=True)
    maybeData: bytes | None
    maybeDate: datetime | None
    maybeDecimal: Decimal | None
    maybeUuid: UUID | None
    maybeObjectId: toft.ObjectId | None
    link: Every | None
    part: Part | None
    bools: list[bool]
    ints: list[int]
    floats: list[toft.Float32]
    doubles: list[float]
    strings: list[str]
    maybeStrings: list[str | None]
    datas: list[bytes]
    dates: list[datetime]
    decimals: list[Decimal]
    uuids: list[UUID]
    objectIds: list[toft.ObjectId]
    links: list[Every]
    parts: list[Part]
    intSet: set[int]
    doubleSet: set[float]
    stringSet: set[str]
    maybeIntSet: set[int | None]
    uuidSet: set[UUID]
    intMap: dict[str, int]
    doubleMap: dict[str, float]
    maybeStringMap: dict[str, str | None]
    dateMap: dict[str, datetime]
    linkMap: dict[str, Every | None]
    mixed: toft.Mixed = toft.field(default=None, indexed=True)
    mixeds: list[toft.Mixed]
    mixedSet: set[toft.Mixed]
    mixedMap: dict[str, toft.Mixed]
    linked = toft.linking_objects("Every", "link")


class Part(toft.EmbeddedObject):
    name: str
    owner: Every | None
    inner: Part | None
    inners: list[Part]


def printed(value: Any, kind: Any) -> str:
    """A value; `kind`: the type that its property has."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        is_single = kind is toft.Float32
        return ("f" if is_single else "d") + struct.pack(">f" if is_single else ">d", value).hex()
    if isinstance(value, str):
        return "s" + value.encode().hex()
    if isinstance(value, bytes):
        return "x" + value.hex()
    if isinstance(value, datetime):
        microseconds = (value - EPOCH) // timedelta(microseconds=1)
        sign = -1 if microseconds < 0 else 1
        seconds, rest = divmod(abs(microseconds), 1_000_000)
        return f"t{sign * seconds}:{sign * rest * 1000}"
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        if exponent == "n":
            return "Dnan"
        minus = "-" if sign else ""
        if exponent == "F":
            return f"D{minus}inf"
        return f"D{minus}{''.join(map(str, digits))}e{exponent}"
    if isinstance(value, UUID):
        return "u" + value.bytes.hex()
    if isinstance(value, toft.ObjectId):
        return "o" + str(value)
    if isinstance(value, toft.Dict):
        entries = (f"{key.encode().hex()}:{printed(value[key], kind)};" for key in value)
        return f"[{''.join(entries)}]"
    if isinstance(value, (toft.List, toft.Set, toft.Results)):
        return f"[{''.join(printed(each, kind) + ';' for each in value)}]"
    if isinstance(value, Part):
        return "{" + printed_object(value, ",") + "}"
    return "l" + value.writer.encode().hex()


def printed_property(object: toft.Object, info: toft.PropertyInfo) -> str:
    return printed(getattr(object, info.name), info.type)


def printed_object(object: toft.Object, end: str) -> str:
    return "".join(
        f"{info.name}={printed_property(object, info)}{end}"
        for info in toft.fields(type(object))
        if info.name != "precise"
    )


def uuid(first: int, step: int) -> UUID:
    return UUID(bytes=bytes((first + index * step) % 256 for index in range(16)))


def object_id(first: int, step: int) -> toft.ObjectId:
    return toft.ObjectId(bytes((first + index * step) % 256 for index in range(12)))


def parts(owner: Every) -> list[Part]:
    return [Part(name="first"), Part(name="outside", owner=owner)]


def write_objects(realm: toft.Realm) -> None:
    word = "a\0é€🐴\u200d\uffffe\u0301"
    data = b"\0\xff\x80\n"
    one = realm.create(
        Every,
        writer=f"{LANGUAGE}/1",
        bool=True,
        int=-(2**63),
        float=-0.1,
        double=5e-324,
        string=word,
        data=data,
        date=EPOCH - timedelta(seconds=2177452801, microseconds=515625),
        decimal=Decimal("-1.50"),
        uuid=uuid(255, 255),
        objectId=object_id(250, 1),
        maybeBool=False,
        maybeInt=0,
        maybeFloat=math.nan,
        maybeDouble=math.nan,
        maybeString="",
        maybeData=b"",
        maybeDate=EPOCH,
        maybeDecimal=Decimal("nan"),
        maybeUuid=UUID(int=0),
        maybeObjectId=toft.ObjectId(bytes(12)),
        bools=[True, False, True],
        ints=[2**63 - 1, -1, -1],
        floats=[math.inf, -0.0],
        doubles=[-math.inf, -0.0, math.nan, 0.1],
        strings=[word, "", "\0", ""],
        maybeStrings=[None, "", word],
        datas=[b"", data],
        dates=[
            EPOCH - timedelta(seconds=1, microseconds=515625),
            EPOCH + timedelta(seconds=253402300799, microseconds=984375),
        ],
        decimals=[Decimal("1.50"), Decimal("-inf"), Decimal("9" * 34 + "e6111")],
        uuids=[uuid(0, 17), uuid(0, 17)],
        objectIds=[object_id(1, 20)],
        intSet={3, -(2**63), -3},
        doubleSet={1.5, math.nan, -math.inf},
        stringSet={word, "", "B", "a"},
        maybeIntSet={0, None},
        uuidSet={uuid(128, 1), uuid(0, 1)},
        intMap={"b": -7, "": 2**63 - 1},
        doubleMap={word: math.inf},
        maybeStringMap={"full": word, "null": None, "empty": ""},
        dateMap={"then": datetime(1, 1, 1, tzinfo=timezone.utc)},
    )
    two = realm.create(Every, writer=f"{LANGUAGE}/2", date=EPOCH)
    one.link = two.link = one
    one.links = [two, one, two]
    one.linkMap = {"one": one, "none": None}
    one.mixed = {"list": [1, 2.5, [None, True, {}]], "text": word, "one": one}
    two.mixed = Decimal("2.50")
    one.mixeds = [None, False, -(2**63), math.nan, word, data, EPOCH, one.decimal]
    one.mixeds += [uuid(0, 17), object_id(1, 20), two, [], {"": [two]}]
    one.mixedSet = {two, "a", b"a", 2, 2.5, None, EPOCH, Decimal(-1), True}
    one.mixedMap = {"one": one, "none": None, "list": [{"k": -0.0}]}
    one.part = Part(name="outside", owner=one)
    inside = Part(name="inside", inners=[Part(name="first"), Part(name="")])
    one.part.inner = inside
    one.parts = parts(one)


def main(path: str, command: str) -> None:
    with toft.open(path, [Every, Part]) as realm:
        objects = realm.objects(Every).sort("writer")
        if command == "write":
            with realm.write():
                write_objects(realm)
        elif command == "touch":
            with realm.write():
                for object in objects:
                    object.touched += 1
        elif command == "print":
            print("".join(printed_object(object, "\n") for object in objects), end="")


main(sys.argv[1], sys.argv[2])
