"""Objects in files: JSON lines and comma-separated values, with progress."""

from __future__ import annotations

import io
from datetime import datetime, timezone
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


@pytest.fixture
def cats(path: Path) -> Any:
    with toft.open(path, [Cat, Basket]) as realm:
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
    with toft.open(tmp_path / "copy.toft", [Cat, Basket]) as copied:
        with copied.write():
            file = io.StringIO(text, newline="")
            read = getattr(copied, f"read_{how}")
            made = read(Cat, file, progress=lambda done, count: told.append((done, count)))
        assert [cat.id for cat in made] == ["7", "8"] and told == [(1, 2), (2, 2)]
        assert written(copied, how) == text
        assert copied.objects(Cat).to_dicts(2) == cats.objects(Cat).to_dicts(2)
        assert not copied.check().problems


def test_some_columns_are_chosen(cats: toft.Realm) -> None:
    assert written(cats, "csv", "id", "nickname", "friend", "tags") == (
        'id,nickname,friend,tags\r\n7,"",,"[""x,y"", ""é""]"\r\n8,,7,[]\r\n'
    )
    with pytest.raises(toft.NoSuchPropertyError):
        written(cats, "csv", "nope")


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
    with cats.write(), pytest.raises(toft.InvalidArgumentError, match="Line 3 is not JSON"):
        cats.read_json_lines(Cat, ['{"id": "1"}', "", "{"])
    assert len(cats.objects(Cat)) == 2
