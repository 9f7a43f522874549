"""Objects in files: JSON lines and comma-separated values, with progress."""

from __future__ import annotations

import io
import json
import math
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import toft


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Cat(toft.Object):
    id: str = toft.field(primary_key=True)
    name: str = ""
    nickname: str | None
    age: int = 0
    weight: float | None
    tame: bool = False
    born: datetime | None
    code: UUID | None
    price: Decimal = Decimal(0)
    data: bytes = b""
    mood: Mood = Mood.GOOD
    any: toft.Mixed
    tags: list[str]
    scores: dict[str, int]
    friend: Cat | None
    basket: Basket | None


class Basket(toft.EmbeddedObject):
    size: int = 0


class Ball(toft.Object):
    """Only its key in the file distinguishes it from others."""

    color: str = "red"
    maker: str | None
    day: date = date(2024, 2, 29)
    ratios: list[float]
    pair: Ball | None


@pytest.fixture
def cats(path: Path) -> Any:
    with toft.open(path, [Cat, Basket, Ball]) as realm:
        with realm.write():
            tom = realm.create(
                Cat,
                id="7",
                name='Tom, "the\r\ncat" ',
                nickname="",
                age=-3,
                weight=0.1,
                tame=True,
                born=datetime(2024, 2, 29, 12, tzinfo=timezone.utc),
                code=UUID(int=5),
                price=Decimal("1.50"),
                data=b"\0\xff",
                mood=Mood.BAD,
                any={"a": [1, None]},
                tags=["x,y", "é"],
                scores={"k": 1},
                basket=Basket(size=2),
            )
            realm.create(Cat, id="8", friend=tom)
        yield realm
        assert not realm.check().problems


def written(realm: toft.Realm, how: str, *names: str) -> str:
    file = io.StringIO(newline="")
    assert getattr(realm.objects(Cat).sort("id"), f"write_{how}")(file, *names) == 2
    return file.getvalue()


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_what_is_written_is_read_back(cats: toft.Realm, tmp_path: Path, how: str) -> None:
    text = written(cats, how)
    told: list[tuple[int, int]] = []
    with toft.open(tmp_path / "copy.toft", [Cat, Basket]) as copy:
        with copy.write():
            file = io.StringIO(text, newline="")
            read = getattr(copy, f"read_{how}")
            count = read(Cat, file, progress=lambda done, total: told.append((done, total)))
        assert count == 2 and told == [(1, 2), (2, 2)]
        assert [cat.id for cat in copy.objects(Cat)] == ["7", "8"]
        assert written(copy, how) == text
        assert copy.objects(Cat).to_dicts(2) == cats.objects(Cat).to_dicts(2)
        assert not copy.check().problems


def test_some_columns_are_chosen(cats: toft.Realm) -> None:
    assert written(cats, "csv", "id", "nickname", "friend", "tags") == (
        'id,nickname,friend,tags\r\n7,"",,"[""x,y"", ""é""]"\r\n8,,7,[]\r\n'
    )
    with pytest.raises(toft.NoSuchPropertyError):
        written(cats, "csv", "nope")


def copied(cats: toft.Realm, how: str, folder: Path) -> toft.Realm:
    """Another database, with what all balls and cats are written as."""
    realm = toft.open(folder / "other.toft", [Cat, Basket, Ball])
    with realm.write():
        for cls in (Cat, Ball):
            file = io.StringIO(newline="")
            count = getattr(cats.objects(cls), f"write_{how}")(file)
            file.seek(0)
            assert getattr(realm, f"read_{how}")(cls, file) == count == len(cats.objects(cls))
    return realm


@pytest.mark.parametrize("how", ["json_lines", "csv"])
@pytest.mark.parametrize("any_value", ["text", "12", "null", "", 12, 1.5, None, ["a"], {"b": "c"}])
def test_mixed_values_are_read_back_as_what_they_are(
    cats: toft.Realm, tmp_path: Path, how: str, any_value: Any
) -> None:
    with cats.write():
        cats.object(Cat, "8").any = any_value
    with copied(cats, how, tmp_path) as other:
        assert other.object(Cat, "8").to_dict() == cats.object(Cat, "8").to_dict()


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_numbers_that_json_has_not_are_texts(cats: toft.Realm, tmp_path: Path, how: str) -> None:
    with cats.write():
        cats.object(Cat, "8").weight = -math.inf
        cats.create(Ball, ratios=[math.nan, 1.0, math.inf])
    assert json.loads(cats.objects(Ball)[0].to_json())["ratios"] == ["nan", 1.0, "inf"]
    with copied(cats, how, tmp_path) as other:
        assert other.object(Cat, "8").weight == -math.inf
        [first, *rest] = other.objects(Ball)[0].ratios
        assert math.isnan(first) and rest == [1.0, math.inf]


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_objects_without_primary_key_link_by_their_names(
    cats: toft.Realm, tmp_path: Path, how: str
) -> None:
    with cats.write():
        first = cats.create(Ball, color="green")
        first.pair = cats.create(Ball, color="blue", pair=first)
    with copied(cats, how, tmp_path) as other:
        for ball in other.objects(Ball):
            assert ball.pair is not None and ball.pair != ball and ball.pair.pair == ball
        with other.write(), pytest.raises(toft.InvalidArgumentError, match="4711 as its '_key'"):
            other.from_json(Ball, '{"pair": 4711}')
        with other.write():
            lines = ['{"_key": 1, "day": "2023-01-31T00:00:00Z"}', '{"pair": 1}']
            assert other.read_json_lines(Ball, lines) == 2
            day, pair = other.objects(Ball)[-2:]
        assert day.day == date(2023, 1, 31) and pair.pair == day and len(other.objects(Ball)) == 4


class Odd(toft.Object):
    """Has what a file calls an object without primary key by."""

    number: int = toft.field(default=0, name="_key")
    next: Odd | None


class Member(toft.Object):
    id: int | None = toft.field(primary_key=True)
    boss: Member | None
    team: list[Member]


def text_of(realm: toft.Realm, how: str, cls: type[toft.Object]) -> str:
    file = io.StringIO(newline="")
    getattr(realm.objects(cls), f"write_{how}")(file)
    return file.getvalue()


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_a_property_may_have_the_name_that_objects_are_called_by(how: str) -> None:
    with toft.open_in_memory([Odd]) as realm, toft.open_in_memory([Odd]) as other:
        with realm.write():
            first = realm.create(Odd, number=1)
            first.next = realm.create(Odd, number=0, next=first)
        text = text_of(realm, how, Odd)
        assert "__key" in text
        with other.write():
            getattr(other, f"read_{how}")(Odd, io.StringIO(text, newline=""))
        one, zero = other.objects(Odd)
        assert (one.number, zero.number) == (1, 0)
        assert (one.next, zero.next) == (zero, one)
        with other.write(), pytest.raises(toft.InvalidArgumentError, match="1 as their '__key'"):
            other.from_json(Odd, '[{"__key": 1}, {"__key": 1}]')
        with other.write(), pytest.raises(toft.InvalidArgumentError, match="named 'next'"):
            other.read_csv(Odd, ["next,next\n1,2\n"])
        assert len(other.objects(Odd)) == 2


def test_a_link_to_the_object_without_a_number_is_not_lost() -> None:
    with toft.open_in_memory([Member]) as realm, toft.open_in_memory([Member]) as other:
        with realm.write():
            nobody = realm.create(Member, id=None)
            realm.create(Member, id=5, boss=nobody, team=[nobody])
            realm.create(Member, id=6)
        text = text_of(realm, "json_lines", Member)
        with other.write():
            other.read_json_lines(Member, io.StringIO(text))
        nobody, five, six = other.objects(Member)
        assert nobody.id is None and five.boss == nobody and list(five.team) == [nobody]
        assert six.boss is None and text_of(other, "json_lines", Member) == text
        with pytest.raises(toft.MissingPrimaryKeyError, match=r"Member\.boss"):
            text_of(realm, "csv", Member)


def test_dates_of_all_years_that_python_has_are_read(cats: toft.Realm) -> None:
    days = [
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=timezone.utc)),
        ("T-62135596800:0", datetime(1, 1, 1, tzinfo=timezone.utc)),
        ("T-12212553601:0", datetime(1582, 12, 31, 23, 59, 59, tzinfo=timezone.utc)),
        ("T-12212553600:-500000000", datetime(1582, 12, 31, 23, 59, 59, 500000, timezone.utc)),
        (
            "1969-12-31T23:59:59.999999999Z",
            toft.Timestamp.of(datetime(1969, 12, 31, 23, 59, 59, 999999, timezone.utc), 999),
        ),
        ("2026-11-22T08:30:00.5Z", datetime(2026, 11, 22, 8, 30, 0, 500000, timezone.utc)),
        (
            "T253402300799:999999999",
            toft.Timestamp.of(datetime.max.replace(tzinfo=timezone.utc), 999),
        ),
    ]
    with cats.write():
        lines = [
            json.dumps({"id": f"d{place}", "born": text}) for place, (text, _) in enumerate(days)
        ]
        assert cats.read_json_lines(Cat, lines) == len(days)
        found = cats.objects(Cat).where("id BEGINSWITH 'd'").sort("id")
        assert [cat.born for cat in found] == [moment for _, moment in days]
        [ball] = cats.from_json(Ball, '{"day": "T-62135596800:0"}')
        assert ball.day == date(1, 1, 1)
        for wrong in ("T-62135596801:0", "T253402300800:0", f"T{2**63 - 1}:0"):
            with pytest.raises(toft.TypeMismatchError, match="born.* years 1 to 9999"):
                cats.from_json(Cat, json.dumps({"id": "e", "born": wrong}))
        for wrong in ("T", "T5", "T5:", "T5:1:2", "T5:1234567890", "0000-01-01T00:00:00Z"):
            with pytest.raises(toft.TypeMismatchError, match="born"):
                cats.from_json(Cat, json.dumps({"id": "e", "born": wrong}))


def test_what_is_empty_is_null_or_an_empty_text(cats: toft.Realm) -> None:
    def read(text: str) -> list[Any]:
        count = cats.read_csv(Ball, io.StringIO(text, newline=""))
        return cats.objects(Ball)[-count:]

    with cats.write():
        [ball, other] = read('\ufeffcolor,maker\r\n\r\n,\n\nblue,""\r\n\r\n')
        assert (ball.color, ball.maker, other.color, other.maker) == ("", None, "blue", "")
        makers = [each.maker for each in read('maker\r\n\r\nx\r\n""\r\n')]
        assert makers == [None, "x", ""]
        file = io.StringIO(newline="")
        assert cats.objects(Ball).write_csv(file, "maker") == 5
        assert [each.maker for each in read(file.getvalue())] == [None, "", *makers]
        truths = ["1", "0", "TRUE", "False"]
        text = "id,tame\n" + "".join(f"{place},{word}\n" for place, word in enumerate(truths))
        assert cats.read_csv(Cat, io.StringIO(text)) == 4
        assert [cat.tame for cat in cats.objects(Cat)[-4:]] == [True, False, True, False]


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_progress_is_told_and_ends_the_call(cats: toft.Realm, how: str) -> None:
    class Enough(Exception):
        pass

    def end(done: int, count: int) -> None:
        if done == 2:
            raise Enough

    text = written(cats, how)
    with pytest.raises(Enough):
        getattr(cats.objects(Cat), f"write_{how}")(io.StringIO(), progress=end)
    with cats.write():
        cats.delete(cats.objects(Cat))
        with pytest.raises(Enough):
            getattr(cats, f"read_{how}")(Cat, io.StringIO(text, newline=""), progress=end)
    assert len(cats.objects(Cat)) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("id,nope\n1,2", "nope"),
        ("id,age\n1", "Line 2: there are 1 fields"),
        ('id,name\n1,"\n\n"\n2,"x"y', "Line 5"),
        ('id,name\n1,"x', "odd"),
        ("id,age\n1,much", "age: 'much'"),
        ("id,age\n1,1.5", "age"),
        ("id,born\n1,soon", "born"),
        ("id,friend\n1,99", "99"),
        ("id,tags\n1,x", "tags"),
    ],
)
def test_wrong_values_create_nothing(cats: toft.Realm, text: str, words: str) -> None:
    with cats.write(), pytest.raises(toft.Error, match=words):
        cats.read_csv(Cat, io.StringIO(text))
    assert len(cats.objects(Cat)) == 2
    deep = "[" * 100_000
    with cats.write(), pytest.raises(toft.ValueTooLongError, match="Line 1: More than 400"):
        cats.read_json_lines(Cat, [deep])
    with cats.write(), pytest.raises(toft.InvalidArgumentError, match="Line 3: This is not JSON"):
        cats.read_json_lines(Cat, ['{"id": "1"}', "", "{"])
    assert len(cats.objects(Cat)) == 2
