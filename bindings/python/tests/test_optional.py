"""Properties that were required and are declared optional: opening makes them so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toft
from toft.objects import ObjectType

Runner = Callable[..., Any]

DECLARE = """
from toft.objects import ObjectType
import toft

def declare(optional):
    end = " | None" if optional else ""
    return ObjectType("Cat", (toft.Object,), {
        "__annotations__": {
            "id": "int" + end, "name": "str" + end, "lives": "int" + end,
            "weight": "float" + end, "tags": f"list[str{end}]",
        },
        "id": toft.field(primary_key=True), "lives": toft.field(indexed=True),
    })
"""

OLD_APP = (
    DECLARE
    + """
import sys
Cat = declare(False)
with toft.open(sys.argv[1], [Cat]) as realm:
    cat = realm.object(Cat, 7)
    print(cat.name, cat.lives, flush=True)
    sys.stdin.readline()
    realm.refresh()
    print(cat.name, cat.lives, len(realm.objects(Cat).where("lives == NULL")), flush=True)
    with realm.write():
        try:
            realm.objects(Cat)[0].lives = None
            print("set", flush=True)
        except toft.NullNotAllowedError:
            print("refused", flush=True)
        realm.create(Cat, id=1000)
    print(realm.object(Cat, 1000).lives, flush=True)
    sys.stdin.readline()
"""
)


def declare(optional: bool) -> type[toft.Object]:
    names: dict[str, Any] = {}
    exec(DECLARE, names)  # the other process has the same source
    made = names["declare"](optional)
    assert isinstance(made, ObjectType)
    return made


def fill(path: Path, count: int) -> None:
    cat = declare(False)
    with toft.open(path, [cat]) as realm, realm.write():
        for number in range(count):
            realm.create(
                cat, id=number, name=f"cat {number}", lives=number % 9, weight=0.5, tags=["a"]
            )


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000])
def test_every_value_stays_and_none_can_be_stored(path: Path, count: int) -> None:
    fill(path, count)
    cat = declare(True)
    with toft.open(path, [cat]) as realm:
        cats: Any = realm.objects(cat)
        assert [each.name for each in cats] == [f"cat {number}" for number in range(count)]
        assert [each.lives for each in cats] == [number % 9 for number in range(count)]
        with realm.write():
            realm.create(cat, id=None, name="nobody", tags=[None, "b"])
            for each in cats.where("lives == 3").snapshot():
                each.lives = each.weight = each.name = None
                each.tags.append(None)
        nobody: Any = cats.where("id == NULL").first()
        assert (nobody.lives, nobody.weight, list(nobody.tags)) == (None, None, [None, "b"])
        assert len(cats.where("lives == NULL")) == 1 + len(range(3, count, 9))
        for number in range(0, count, 7):
            assert realm.object(cat, number).id == number


def test_another_process_with_the_old_class_goes_on(path: Path, python: Runner) -> None:
    fill(path, 300)
    process = python(OLD_APP)
    assert process.stdout.readline() == "cat 7 7\n"
    cat = declare(True)
    with toft.open(path, [cat]) as realm:
        with realm.write():
            seven: Any = realm.object(cat, 7)
            seven.name = seven.lives = None
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "None None 1\n"
        assert process.stdout.readline() == "refused\n"
        assert process.stdout.readline() == "0\n"
        realm.refresh()
        late: Any = realm.object(cat, 1000)
        assert (late.lives, late.name) == (0, "")
        process.stdin.write("end\n")
        process.stdin.flush()
        assert process.wait() == 0, process.stderr.read()
        assert realm.check()


def test_the_way_back_is_refused_with_what_to_do(path: Path) -> None:
    fill(path, 1)
    with toft.open(path, [declare(True)]):
        pass
    with pytest.raises(toft.SchemaMismatchError) as raised:
        toft.open(path, [declare(False)])
    assert "'Cat.lives' is optional int in the file and int in the declared" in raised.value.detail
    assert "Declare it optional, or add a required property" in raised.value.detail


def test_a_file_that_is_opened_read_only_says_what_to_do(path: Path) -> None:
    fill(path, 1)
    with pytest.raises(toft.SchemaMismatchError, match="what the file has") as raised:
        toft.open(path, [declare(True)], mode="read_only")
    assert "Open the file once for writing with this schema" in raised.value.detail
