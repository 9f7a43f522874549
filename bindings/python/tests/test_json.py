"""JSON and CSV have one set of rules, however they are read, and every character comes back."""

from __future__ import annotations

import io
import json
import math
import random
import struct
import sys
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import toft
from toft import _lib

UTC = timezone.utc
DIGITS = "12345678901234567890123456789012345"


class Any_(toft.Object):
    id: int = toft.field(primary_key=True)
    i: int | None
    f: toft.Float32 | None
    d: float | None
    n: Decimal | None
    m: toft.Mixed
    at: datetime | None
    b: bytes | None
    u: UUID | None
    o: toft.ObjectId | None
    t: str | None
    l: list[str]
    k: dict[str, str]
    class_: str | None = toft.field(default=None, name="class")


@pytest.fixture
def realm() -> Iterator[toft.Realm]:
    with toft.open_in_memory([Any_]) as realm:
        yield realm
        assert realm.check()


def read(realm: toft.Realm, how: str, name: str, text: str) -> Any:
    """A property's value of a text of JSON, or of a field."""
    with realm.write():
        realm.delete_all()
        if how == "csv":
            quoted = text.replace('"', '""')
            field = f'"{quoted}"' if any(mark in text for mark in '",') else text
            realm.read_csv(Any_, io.StringIO(f"id,{name}\n1,{field}\n"))
        elif how == "lines":
            realm.read_json_lines(Any_, io.StringIO(f'{{"id": 1, "{name}": {text}}}\n'))
        else:
            realm.from_json(Any_, f'{{"id": 1, "{name}": {text}}}')
        return getattr(realm.objects(Any_)[0], name)


def same(one: Any, other: Any) -> bool:
    """Also by type, sign and digits."""
    return type(one) is type(other) and repr(one) == repr(other)


TAKEN = [
    ("i", "2.0", 2),
    ("i", "9007199254740993.0", 2**53 + 1),
    ("i", "1e3", 1000),
    ("i", "0.5e1", 5),
    ("i", "-0", 0),
    ("i", f"-{2**63}", -(2**63)),
    ("i", "0e99999999999999999999999", 0),
    ("d", "18446744073709551615", 2.0**64),
    ("d", "1e-320", 1e-320),
    ("d", "-0", -0.0),
    ("d", "-0.0", -0.0),
    ("d", "7", 7.0),
    ("d", f"1{'0' * 300}", 1e300),
    ("f", "0.1", struct.unpack("f", struct.pack("f", 0.1))[0]),
    ("f", "3", 3.0),
    ("n", "1.50", Decimal("1.50")),
    ("n", "2e3", Decimal(2000)),
    ("n", DIGITS[:34], Decimal(DIGITS[:34])),
    ("n", f"{DIGITS[:34]}00", Decimal(f"{DIGITS[:34]}E+2")),
    ("n", "0.10", Decimal("0.10")),
    ("m", "18446744073709551615", Decimal(18446744073709551615)),
    ("m", "-18446744073709551615", Decimal(-18446744073709551615)),
    ("m", DIGITS[:34], Decimal(DIGITS[:34])),
    ("m", "9223372036854775807", 2**63 - 1),
    ("m", "9223372036854775808", Decimal(2**63)),
    ("m", "1e20", 1e20),
    ("m", "2.0", 2),
    ("m", "-0", -0.0),
    ("m", "2.5", 2.5),
]
REFUSED = [
    *(("i", text) for text in ("2.5", str(2**63), "1e400", "1e-400", "true", '"2"')),
    *(("d", text) for text in ("1e400", "-1e400", "1e-400", "true", f"1{'0' * 400}")),
    *(("f", text) for text in ("1e39", "1e-50", "1e400")),
    *(("n", text) for text in (DIGITS, "1e7000", "1e-7000", f"0.{DIGITS}", "true")),
    *(("m", text) for text in (DIGITS, f"[{DIGITS}]", f'{{"a": {DIGITS}}}', "1e400", "1e-400")),
    *((name, word) for name in "dm" for word in ("NaN", "Infinity", "-Infinity", "nan", "inf")),
    *((name, word) for name in "idm" for word in ("01", "+1", ".5", "5.", "0x10", "1_0", "--1")),
]


@pytest.mark.parametrize("how", ["from_json", "lines", "csv"])
def test_a_number_is_exact_in_its_property_or_refused_by_its_name(
    realm: toft.Realm, how: str
) -> None:
    for name, text, expected in TAKEN:
        found = read(realm, how, name, text)
        if name == "n" and how == "csv":
            assert found == expected, (name, text, found)
        else:
            assert same(found, expected), (name, text, found)
    for name, text in REFUSED:
        if how == "csv" and name in "id" and text in ("01", "+1", ".5", "5.", "nan", "inf", '"2"'):
            continue  # a field may be spelled so
        with pytest.raises(toft.Error) as raised:
            read(realm, how, name, text)
        is_syntax = "not JSON" in str(raised.value)
        assert is_syntax or f"Any_.{name}" in str(raised.value), (name, text, raised.value)


def test_a_field_of_a_table_may_spell_its_number_as_tables_do(realm: toft.Realm) -> None:
    for name, text, expected in [
        *(("i", "+5", 5), ("i", "007", 7), ("i", "2.", 2), ("i", "2.0", 2), ("i", "-0", 0)),
        *(("d", ".5", 0.5), ("d", "-.5e1", -5.0), ("d", "5.", 5.0), ("d", "+0001.5", 1.5)),
        *(("d", "-inf", -math.inf), ("d", "nan", math.nan), ("d", "-0", -0.0)),
        *(
            ("n", "+1.50", Decimal("1.50")),
            ("n", "1e2", Decimal("1e2")),
            ("n", "-.5", Decimal("-.5")),
        ),
    ]:
        assert same(read(realm, "csv", name, text), expected), (name, text)
    for name in ("i", "f", "d"):
        for text in (
            *("0x10", "0x1p-3", "snan", "-nan", "NaN", "nan(0x1)", "1_0", "1 ", " 1", "--1", "+-1"),
            *(".", "e5", "1e", "1e+", "1.e", "\u0661", "\uff11", "1\u0301", "[1]", "null", "true"),
        ):
            with pytest.raises(toft.Error, match=f"Line 2: Any_.{name}"):
                read(realm, "csv", name, text)


@pytest.mark.parametrize("how", ["from_json", "lines", "csv"])
def test_texts_of_other_types_have_one_form(realm: toft.Realm, how: str) -> None:
    def text_of(text: str) -> str:
        return text if how == "csv" else json.dumps(text)

    zero = datetime(2024, 1, 1, tzinfo=UTC)
    uuid = "00112233-4455-6677-8899-AABBccddeeff"
    for name, text, expected in [
        *(("at", text, zero) for text in (
            "2024-01-01 00:00:00+00", "2024-01-01T00:00Z", "20240101T000000Z", "2024-01-01",
            "2024-W01-1T05:30+05:30", "2024W01", "2024-01-01T00Z", "2023-12-31T23:59:59-00:00:01",
            "2024-01-01t00:00:00,000Z", "2024-01-01T00:00:00 Z", "T1704067200:0",
        )),
        ("at", "2024-12-29T00:00:00.25-0130", datetime(2024, 12, 29, 1, 30, 0, 250_000, UTC)),
        ("b", "AP8=", b"\0\xff"), ("b", "-_-_", b"\xfb\xff\xbf"),
        ("u", uuid, UUID(uuid)),
        ("o", "507f1f77bcf86cd799439011", toft.ObjectId("507f1f77bcf86cd799439011")),
        *(("n", text, Decimal(text)) for text in ("1.50", "1E+3", "NaN", "-Infinity", ".5", "5.")),
    ]:  # fmt: skip
        assert same(read(realm, how, name, text_of(text)), expected), (name, text)
    for name, texts in {
        "at": (
            "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", "2023-02-29", "2024-W53-1", "01.02.2024",
            "2024-01-01T24:00Z", "2024-01-01T00:60Z", "2024-1-1", "2024-01-01T00:00+24", "soon",
            "T5", "T1:-1", "2024-01-01T00:00:00Z ", " 2024-01-01", "\u0662024-01-01", "2024-W01-8",
        ),
        "b": ("AP8", "A===", "====", "A P8", "AP8=AP8=", "\u0661\u0661\u0661\u0661"),
        "u": (f"urn:uuid:{uuid}", f"{{{uuid}}}", uuid.replace("-", ""), f"{uuid} ", f"{uuid[1:]}g"),
        "o": ("507f1f77bcf86cd79943901", "507f1f77 bcf86cd79943901", "507f1f77bcf86cd79943901g"),
        "n": ("1_0", " 1", "1 ", "sNaN", "NaN1", "1e", "\u0661", "0x1", "", DIGITS, "1e7000"),
        "d": ("NaN", "Infinity", "-nan", "infinity", "1 "),
    }.items():  # fmt: skip
        for text in texts:
            if how == "csv" and not text:
                continue
            with pytest.raises(toft.Error, match=f"Any_.{name}"):
                read(realm, how, name, text_of(text))


def test_what_is_wrong_with_a_date_is_told(realm: toft.Realm) -> None:
    for text, told in {
        "2024-01-01T00:00:00": "It has no time zone: put Z for UTC",
        "2024-13-01T00:00:00Z": "Its month is 13, which is none of 1 to 12",
        "2023-02-29": "Its day is 29, which is none of 1 to 28",
        "01.02.2024": "YYYY-MM-DDThh:mm:ss",
    }.items():
        with pytest.raises(toft.TypeMismatchError, match=told):
            read(realm, "lines", "at", json.dumps(text))


@pytest.mark.parametrize("how", ["from_json", "lines"])
def test_what_others_call_no_json_is_refused_and_says_why(realm: toft.Realm, how: str) -> None:
    def given(text: Any) -> None:
        with realm.write():
            realm.delete_all()
            if how == "lines":
                realm.read_json_lines(Any_, io.StringIO(text))
            else:
                realm.from_json(Any_, text)

    deep = 398
    for text, told in [
        ('{"id": 1, "t": "a", "t": "b"}', "'t' twice"),
        ('{"id": 1, "m": {"a": {"b": 1, "b": 1}}}', "'b' twice"),
        ('{"id": 1, "k": {"a": "1", "a": "1"}}', "'a' twice"),
        ('{"id": 1, "class_": "1", "class": "2"}', "twice, as 'class_' and as 'class'"),
        ('{"id": 1, "class": null, "class_": null}', "twice"),
        ('{"id": 1} \u00a0', "Extra data"),
        ("\u00a0", "Expecting value"),
        ('{"id": 1, "t": "a\tb"}', "control character"),
        ('{"id": 1, "t": "\\x41"}', "escape"),
        ("{'id': 1}", "Expecting property name"),
        ('{"id": 1,}', "JSON"),
        ('{"id": 1, "m": ' + "[" * (deep + 2) + "]" * (deep + 2) + "}", "More than 400"),
        ('{"id": 1, "m": "' + "[" * 500 + '", "l": ["' + "]" * 500 + '\\"', "JSON"),
    ]:
        if how == "lines" and text == "\u00a0":
            text += "\n"
        with pytest.raises(toft.Error, match=told):
            given(text)
    for half in (
        "\\ud800",
        "\\udc00",
        "\\ud800x",
        "\\ud800\\ud800",
        "\\udc00\\ud800",
        "\\uDBFF\\n",
    ):
        for text in (
            f'{{"id": 1, "t": "{half}"}}', f'{{"id": 1, "m": ["{half}"]}}',
            f'{{"id": 1, "k": {{"{half}": ""}}}}', f'{{"id": 1, "{half}": 1}}',
        ):  # fmt: skip
            with pytest.raises(toft.InvalidArgumentError, match="surrogate"):
                given(text)
    with pytest.raises(toft.InvalidArgumentError, match="surrogate"):
        given('{"id": 1, "t": "\ud800"}')
    # These are not surrogates.
    for text in ("\\\\ud800", "\\ud83d\\ude00", "[[[[", "\\u005cud800"):
        given(f'{{"id": 1, "t": "{text}"}}')
    given("\ufeff \n" * (how == "lines") + '\ufeff{"id": 1}')
    given('{"id": 1, "t": "' + "[{" * 500 + '"}')
    if how == "from_json":
        given('\ufeff{"id": 1}'.encode())
        with pytest.raises(toft.InvalidArgumentError, match="not UTF-8"):
            given(b'{"id": 1, "t": "\xff"}')
        with pytest.raises(toft.InvalidArgumentError, match="not UTF-8"):
            given('{"id": 1, "t": "\ud800"}'.encode("utf-8", "surrogatepass"))
        with pytest.raises(toft.TypeMismatchError, match=r"create\(cls, values\)"):
            given({"id": 1})


@pytest.mark.parametrize("how", ["from_json", "lines"])
def test_objects_within_one_another_are_bounded_by_an_error(how: str) -> None:
    class Node(toft.Object):
        id: int = toft.field(primary_key=True)
        next: Node | None

    def read(depth: int) -> None:
        text = "null"
        for id in range(depth):
            text = f'{{"id": {id}, "next": {text}}}'
        if how == "lines":
            realm.read_json_lines(Node, [text])
        else:
            realm.from_json(Node, text)

    with toft.open_in_memory([Node]) as realm, realm.write():
        read(100)
        realm.delete_all()
        for depth in (390, 401):
            with pytest.raises(toft.ValueTooLongError, match="within one another"):
                read(depth)
            assert not realm.objects(Node)


def test_what_is_not_finite_in_a_mixed_value_comes_back_from_json_that_all_read(
    realm: toft.Realm,
) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    with realm.write():
        one = realm.create(Any_, id=1, d=math.inf, m=[math.nan, {"a": -math.inf}, 1.5])
        text = one.to_json()
        json.loads(text, parse_constant=refuse)
        [again] = realm.from_json(Any_, text, update="all")
        assert repr(again.m.copy()) == "[nan, {'a': -inf}, 1.5]" and again.d == math.inf


ASSIGNED = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) not in ("Cn", "Cs") or code % 997 == 0 and code >> 11 != 27
]


@pytest.mark.parametrize("how", ["to_json", "escaped", "lines", "csv"])
def test_every_character_comes_back(realm: toft.Realm, how: str) -> None:
    size = 8192
    texts = ["".join(ASSIGNED[at : at + size]) for at in range(0, len(ASSIGNED), size)]
    edges = [
        f"{mark}a{mark}" for mark in ["\ufeff", '"', "\u0301", ",", "\u2028", *map(chr, range(33))]
    ]
    texts += [*edges, '"\u0301', '\u0301"', ""]

    def key(text: str) -> str:
        return "k" + text.replace(".", "").replace("\0", "")

    with realm.write():
        for id, text in enumerate(texts):
            k = {key(text): text}
            realm.create(Any_, id=id, t=text, l=[text], k=k, m=[text, {key(text): text}])
    found, file = realm.objects(Any_), io.StringIO(newline="")
    with toft.open_in_memory([Any_]) as copy, copy.write():
        if how == "to_json":
            copy.from_json(Any_, found.to_json())
        elif how == "escaped":
            copy.from_json(Any_, json.dumps([{**each.to_dict()} for each in found]))
        elif how == "lines":
            found.write_json_lines(file)
            file.seek(0)
            copy.read_json_lines(Any_, file)
        else:
            found.write_csv(file)
            file.seek(0)
            copy.read_csv(Any_, file)
        assert copy.objects(Any_).to_dicts() == found.to_dicts()
        assert [each.t for each in copy.objects(Any_)] == texts


class Same(toft.Object):
    i: int | None
    f: toft.Float32 | None
    d: float | None
    n: Decimal | None
    m: toft.Mixed
    at: datetime | None
    b: bytes | None
    u: UUID | None
    o: toft.ObjectId | None
    t: str | None
    q: bool | None


def by_the_library(realm: toft.Realm, text: str) -> None:
    """Creates an object as C and Swift do of JSON."""
    address, key = realm._session.position.address, realm._session.classes.binding(Same).key
    given, memory = _lib.borrowed(text)
    _lib.library().toft_realm_create_from_json(address, key, 0, given, None, None, None)
    del memory


def number(chance: random.Random) -> str:
    digits = "".join(chance.choices("0123456789", k=chance.choice([1, 2, 5, 18, 19, 20, 34, 36])))
    whole = chance.choices(["", "-", "+"], [9, 9, 1])[0]
    whole += digits if chance.random() < 0.1 else digits.lstrip("0") or "0"
    if chance.random() < 0.4:
        whole += "." + "".join(chance.choices("0005", k=chance.choice([0, 1, 1, 3, 20])))
    if chance.random() < 0.4:
        exponents = [0, 1, 5, 18, 19, 34, 39, 45, 308, 309, 330, 6100, 7000, 10**19]
        whole += chance.choice("eE") + chance.choice(["", "+", "-"])
        whole += str(chance.choice(exponents))
    return whole


def moment(chance: random.Random) -> str:
    year = chance.choice(["0002", "1582", "1970", "2024", "2023", "9998"])
    part = chance.choice(["-", "-", ""])
    month = chance.choice(["01", "02", "11", "12", "13", "00"])
    day = chance.choice(["29", "31", "01"])
    weeks = [f"W{week}{part}{day}" for week in ("01", "52", "53", "54") for day in "178"]
    text = year + part + (f"{month}{part}{day}" if chance.random() < 0.8 else chance.choice(weeks))
    if chance.random() < 0.8:
        mark = chance.choice([":", ":", ""])
        steps = chance.choices(["00", "08", "23", "59", "60"], k=chance.choice([1, 2, 3]))
        text += chance.choice("TTT t") + mark.join(steps)
        text += chance.choice(["", "", ".5", ",25", ".123456789", ".1234567891", "."])
        zones = ["Z", "Z", "z", "+00", "+0530", "-05:30", "+23:59:59", "+24", " Z", "", "-0"]
        text += chance.choice(zones)
    if chance.random() < 0.1:
        odd = ["T1:5", "T-1:-5", "T1:-5", "T0:-999999999", "T1:1000000000", "T:", "T1"]
        text = chance.choice(odd)
        text += chance.choice(["", " ", "0"])
    return f'"{text}"'


def anything(chance: random.Random) -> str:
    texts = [
        '"nan"', '"inf"', '"-inf"', '"NaN"', '"Infinity"', "NaN", "true", "null", '"1.50"', '"1e5"',
        '"AP8="', '"AP8"', '"-_-_"', '"===="', '"00112233-4455-6677-8899-aabbccddeeff"', '"sNaN"',
        '"507f1f77bcf86cd799439011"', '"a\\u0301\\ud83d\\ude00"', '"\\ud83d"', "[1, [2.5]]", "{}",
        '{"a": 1, "a": 1}', '{"$date": "2024-01-01"}', '{"$double": 2}', '{"$float": 0.1}', '"+1"',
        '{"$decimal": "1e400"}', '{"$data": "AA=="}', '{"$double": "nan"}', '{"a": {"$uuid": 1}}',
    ]  # fmt: skip
    if chance.random() < 0.3:
        return f'"{number(chance)}"'
    return chance.choice(texts)


@pytest.mark.parametrize("seed", range(3))
def test_random_values_become_what_the_library_makes_of_them(seed: int) -> None:
    chance = random.Random(seed)
    readers: dict[str, Callable[[toft.Realm, str], object]] = {
        "library": by_the_library,
        "from_json": lambda realm, text: realm.from_json(Same, text),
        "lines": lambda realm, text: realm.read_json_lines(Same, [text]),
    }
    with toft.open_in_memory([Same]) as realm, realm.write():
        for _ in range(1500):
            kinds = [(number, [*"ifdnm"]), (moment, ["at"]), (anything, [*"ifdnmbuotq"])]
            make, names = chance.choice(kinds)
            name = chance.choice(names)
            text = f'{{"{name}": {make(chance)}}}'
            found: dict[str, str] = {}
            for reader, read in readers.items():
                try:
                    read(realm, text)
                except toft.Error:
                    found[reader] = "refused"
                else:
                    file = io.StringIO()
                    realm.objects(Same).write_json_lines(file)
                    found[reader] = file.getvalue().partition(",")[2]
                    realm.delete_all()
            assert len({*found.values()}) == 1, (seed, text, found)


def test_null_is_an_empty_list_set_or_dictionary() -> None:
    class Bag(toft.Object):
        id: int = toft.field(primary_key=True)
        items: list[int]
        names: set[str]
        sizes: dict[str, int]

    text = '{"id": %d, "items": null, "names": null, "sizes": null}'
    with toft.open_in_memory([Bag]) as realm, realm.write():
        realm.create(Bag, id=1, items=[1], names={"a"}, sizes={"a": 1})
        realm.from_json(Bag, text % 1, update="all")
        assert realm.read_json_lines(Bag, io.StringIO(text % 2 + "\n")) == 1
        for bag in realm.objects(Bag):
            assert not bag.items and not bag.names and not bag.sizes
