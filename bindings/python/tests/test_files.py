"""Files of objects, read line by line: what they bring back, what they take, and what is wrong."""

from __future__ import annotations

import io
import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toft
from things import CLASSES, MIXED, Part, Thing, fill


@pytest.fixture
def things(path: Path) -> Iterator[toft.Realm]:
    with toft.open(path, CLASSES) as realm:
        yield realm
        assert not realm.check().problems


def written(realm: toft.Realm, how: str, cls: type[toft.Object]) -> str:
    file = io.StringIO(newline="")
    getattr(realm.objects(cls), f"write_{how}")(file)
    return file.getvalue()


def read(
    realm: toft.Realm, how: str, text: str, cls: type[toft.Object] = Thing, **options: Any
) -> int:
    count = getattr(realm, f"read_{how}")(cls, io.StringIO(text, newline=""), **options)
    assert isinstance(count, int)
    return count


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_values_of_every_type_are_read_back_as_they_were(things: toft.Realm, how: str) -> None:
    with things.write():
        first, second = fill(things)
        if how == "json_lines":  # a field of CSV can't say it
            nobody = things.create(Thing, id=None, any=2.0)
            second.friend, second.anys = nobody, [nobody]
    texts = {cls: written(things, how, cls) for cls in (Thing, Part)}
    with toft.open_in_memory(CLASSES) as copy:
        with copy.write():
            for cls, text in texts.items():
                assert read(copy, how, text, cls) == len(things.objects(cls))
        for cls, text in texts.items():
            assert written(copy, how, cls) == text
        again = copy.object(Thing, 1)
        assert again is not None and repr(again.any.copy()) == repr(MIXED)
        assert [type(each) for each in again.any["values"]] == [
            *(type(each) for each in MIXED["values"])
        ]
        assert not copy.check().problems


def test_types_of_mixed_values_stand_in_the_text() -> None:
    lines = [
        '{"id":1,"any":{"$float":0.5},"at":"1969-12-31T23:59:59.123456789Z"}',
        '{"id":2,"any":[{"$data":"_-8="},{"$date":"2026-11-22"},{"$double":"nan"}]}',
        '{"id":3,"any":{"$date":"T253402300800:1"},"at":"T-62135596801:-999999999"}',
        '{"id":4,"any":2.0,"count":2e0,"weight":3}',
        '{"id":5,"any":{"$class":"Thing","$link":6}}',
        '{"id":6,"any":{"a":{"$decimal":"1.50"},"b":99999999999999999999}}',
    ]
    with toft.open_in_memory(CLASSES) as realm:
        with realm.write():
            assert realm.read_json_lines(Thing, lines) == 6
        text = written(realm, "json_lines", Thing)
        for part in (
            '"any":{"$float":0.5}',
            '"at":"1969-12-31T23:59:59.123456789Z"',
            '"any":[{"$data":"/+8="},{"$date":"2026-11-22T00:00:00Z"},{"$double":"nan"}]',
            '"any":{"$date":"T253402300800:1"}',
            '"at":"T-62135596801:-999999999"',
            '"any":{"$class":"Thing","$link":6}',
            '"any":{"a":{"$decimal":"1.50"},"b":{"$decimal":"99999999999999999999"}}',
        ):
            assert part in text
        four, five, six = realm.objects(Thing)[3:6]
        assert (four.any, type(four.any), four.count, four.weight) == (2, int, 2, 3.0)
        assert five.any == six
        with realm.write():
            [seven] = realm.from_json(Thing, '{"id": 7, "any": [{"$data": "AA=="}, 2.0]}')
        assert seven.any == [b"\0", 2] and type(seven.any[1]) is int


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_properties_have_the_names_that_the_file_has_or_those_of_attributes(how: str) -> None:
    texts = {"json_lines": '{"class":"a"}\n{"class_":"b"}', "csv": "class\na\n"}
    with toft.open_in_memory(CLASSES) as realm:
        with realm.write():
            read(realm, how, texts[how], Part)
            if how == "csv":
                read(realm, how, "class_\nb\n", Part)
        assert [part.class_ for part in realm.objects(Part)] == ["a", "b"]
        assert '"class"' in written(realm, "json_lines", Part)
        assert written(realm, "csv", Part).startswith("_key,class,next,any\r\n")


def test_a_byte_order_mark_is_left_out(things: toft.Realm, tmp_path: Path) -> None:
    with things.write():
        assert read(things, "json_lines", '\ufeff{"id":1}\n') == 1
        assert read(things, "csv", "\ufeffid,name\n2,\ufeffx\n") == 1
        for name, how in (("a.jsonl", "json_lines"), ("a.csv", "csv")):
            file = tmp_path / name
            content = '{"id":3,"name":"x"}' if how == "json_lines" else "id,name\n4,x\n"
            file.write_bytes(b"\xef\xbb\xbf" + content.encode())
            with file.open(encoding="utf-8", newline="") as opened:
                told: list[tuple[int, int]] = []
                getattr(things, f"read_{how}")(Thing, opened, progress=lambda *_: told.append(_))
            assert told == [(1, 1)]
    assert [thing.id for thing in things.objects(Thing)] == [1, 2, 3, 4]


WRONG = [
    ("json_lines", '{"id":"x"}', toft.TypeMismatchError, ("Thing.id", "'x'", "an int")),
    ("json_lines", '{"id":1.5}', toft.TypeMismatchError, ("Thing.id", "1.5", "whole")),
    ("json_lines", f'{{"id":{2**63}}}', toft.InvalidArgumentError, ("Thing.id", "64 bits")),
    ("json_lines", '{"id":9,"zz":2}', toft.NoSuchPropertyError, ("'zz'", "Leave it out")),
    ("json_lines", "[1]", toft.TypeMismatchError, ("A Thing is a JSON object",)),
    ("json_lines", '{"id":9,"friend":77}', toft.NoSuchObjectError, ("Thing.friend", "Thing 77")),
    ("json_lines", '{"id":1}', toft.DuplicatePrimaryKeyError, ("Thing.id", 'update="all"')),
    ("json_lines", '{"name":"no key"}', toft.MissingPrimaryKeyError, ("'id'",)),
    ("json_lines", '{"id":9,"count":null}', toft.NullNotAllowedError, ("count",)),
    ("json_lines", '{"id":9,"data":"!!!"}', toft.TypeMismatchError, ("Thing.data", "base 64")),
    ("json_lines", '{"id":9,"at":"2020-01-01T00:00:00"}', toft.TypeMismatchError, ("time zone",)),
    ("json_lines", '{"id":9,"name":"\\ud800"}', toft.InvalidArgumentError, ("surrogate", "UTF-8")),
    ("json_lines", '{"id":9,"short":1e39}', toft.TypeMismatchError, ("Thing.short", "32 bits")),
    ("json_lines", '{"id":9,"weight":1e400}', toft.TypeMismatchError, ("weight", "the range")),
    ("json_lines", '{"id":9,"weight":1e-400}', toft.TypeMismatchError, ("weight", "the range")),
    ("json_lines", '{"id":9,"any":{"$date":"x"}}', toft.TypeMismatchError, ("Thing.any", "a date")),
    (
        "json_lines",
        '{"id":9,"any":[{"$class":"No","$link":1}]}',
        toft.NoSuchClassError,
        ("Thing.any", "No"),
    ),
    (
        "json_lines",
        '{"id":9,"any":[{"$class":"Thing","$link":77}]}',
        toft.NoSuchObjectError,
        ("Thing.any", "77"),
    ),
    ("json_lines", '{"id":9,"words":"x"}', toft.TypeMismatchError, ("words", "A list is due")),
    ("json_lines", '{"id":9,"label":{"to":77}}', toft.NoSuchObjectError, ("Label.to", "77")),
    ("json_lines", '{"id":9,"label":3}', toft.TypeMismatchError, ("Thing.label", "a Label")),
    ("json_lines", '{"id":9,"name":"a","name":"a"}', toft.InvalidArgumentError, ("'name' twice",)),
    ("json_lines", '{"id":9,"any":{"a":1,"a":2}}', toft.InvalidArgumentError, ("'a' twice",)),
    ("json_lines", "{bad}", toft.InvalidArgumentError, ("not JSON", "character 2")),
    ("csv", "id,count\n8,1\n9,abc\n", toft.TypeMismatchError, ("Thing.count", "'abc'")),
    ("csv", "id,weight\n8,1\n9,1e400\n", toft.TypeMismatchError, ("Thing.weight", "1e400")),
    ("csv", 'id,data\n8,""\n9,!!!\n', toft.TypeMismatchError, ("Thing.data", "base 64")),
    ("csv", "id,friend\n8,\n9,77\n", toft.NoSuchObjectError, ("Thing.friend", "Thing 77")),
    ("csv", "id\n8\n1\n", toft.DuplicatePrimaryKeyError, ("Thing.id", 'update="all"')),
    ("csv", "id,any\n8,1\n9,x\n", toft.InvalidArgumentError, ("Thing.any", "'x' is not JSON")),
    ("csv", 'id,name\n8,x\n9,"a"b\n', toft.InvalidArgumentError, ("quotes of field 2", "twice")),
    ("csv", "id,name\n8,x\n9\n", toft.InvalidArgumentError, ("1 fields", "names 2")),
    ("csv", "\n\nid,zz\n8,\n", toft.NoSuchPropertyError, ("'zz'", "first line")),
    ("csv", "\n\nid,id\n8,\n", toft.InvalidArgumentError, ("two fields", "'id'")),
]


@pytest.mark.parametrize(("how", "text", "kind", "words"), WRONG)
def test_an_error_tells_the_file_the_line_the_property_and_what_to_do(
    things: toft.Realm,
    tmp_path: Path,
    how: str,
    text: str,
    kind: type[toft.Error],
    words: tuple[str, ...],
) -> None:
    with things.write():
        things.create(Thing, id=1)
    file = tmp_path / "wrong.txt"
    before = '{"id":8,"label":{"text":"a"},"friends":[{"id":7}]}\n\n' if how == "json_lines" else ""
    file.write_text(f"{before}{text}\n", encoding="utf-8")
    with things.write(), file.open(newline="", encoding="utf-8") as opened:
        with pytest.raises(kind) as caught:
            getattr(things, f"read_{how}")(Thing, opened)
        assert type(caught.value) is kind
        assert caught.value.message.startswith(f"Line 3 of '{file}'"), caught.value.message
        for word in words:
            assert word in caught.value.message
        assert [thing.id for thing in things.objects(Thing)] == [1]


def test_a_file_of_another_encoding_is_told(things: toft.Realm, tmp_path: Path) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes("id,name\n1,é\n".encode("latin-1"))
    for how in ("csv", "json_lines"):
        with things.write(), file.open(newline="", encoding="utf-8") as opened:
            with pytest.raises(toft.InvalidArgumentError, match=r"Line 1 of '.*latin.csv'.*utf-8"):
                getattr(things, f"read_{how}")(Thing, opened)
        with things.write(), file.open("rb") as raw:
            with pytest.raises(toft.InvalidArgumentError, match="as text"):
                getattr(things, f"read_{how}")(Thing, raw)
    with things.write(), file.open(newline="", encoding="latin-1") as opened:
        assert things.read_csv(Thing, opened) == 1
    with pytest.raises(toft.errors.NotInTransactionError, match="^Can't"):
        read(things, "csv", "id\n5\n")


def test_links_lead_to_what_comes_later_also_from_embedded_objects(things: toft.Realm) -> None:
    count = 9_000
    lines = [
        f'{{"id":{n},"friend":{n + 1 if n < count else 1},"friends":[{count + 1 - n}],'
        f'"label":{{"to":{n}}},"labels":[{{}},{{"to":{count}}}],"kept":{{"a":{{"to":{n + 1}}}}}}}'
        for n in range(1, count)
    ]
    lines.append(f'{{"id":{count},"friend":1,"any":{{"$class":"Thing","$link":{count}}}}}')
    with things.write():
        assert things.read_json_lines(Thing, lines) == count
    for number in (1, 2, 4_000, 4_500, 4_501, count - 1):
        thing = things.object(Thing, number)
        assert thing is not None and thing.friend is not None and thing.label is not None
        assert thing.friend.id == number + 1 and thing.friends[0].id == count + 1 - number
        assert thing.label.to == thing and thing.kept["a"].to == thing.friend
        assert thing.labels[0].to is None and thing.labels[1].to.id == count
    last = things.object(Thing, count)
    assert last is not None and last.any == last


def test_a_link_that_can_not_be_made_is_told_with_its_own_line(things: toft.Realm) -> None:
    wrong = '{"id":1,"friends":[null,2]}'
    for count in (1, 10_000):  # links are tried again when some thousand wait
        lines = [wrong, '{"id":2}', *(f'{{"id":{n},"friend":0}}' for n in range(3, count))]
        lines += ['{"id":0}']
        with things.write(), pytest.raises(toft.NullNotAllowedError) as caught:
            things.read_json_lines(Thing, lines)
        assert caught.value.message.startswith("Line 1: ")
        assert caught.value.message.count("Line") == 1 and "friends" in caught.value.message
        assert len(things.objects(Thing)) == 0


def test_objects_without_primary_key_are_named_in_any_order(things: toft.Realm) -> None:
    numbers = [5, 6, 7, 20, 3, 21, 22, 8, 2**62, -4, 9]
    lines = [
        f'{{"_key":{number},"class":"{number}","next":{following}}}'
        for number, following in zip(numbers, [*numbers[1:], numbers[0]])
    ]
    with things.write():
        assert things.read_json_lines(Part, lines) == len(numbers)
        for part, following in zip(things.objects(Part), [*numbers[1:], numbers[0]]):
            assert part.next is not None and part.next.class_ == str(following)
        for number in numbers:
            again = [*lines, f'{{"_key":{number}}}']
            with pytest.raises(toft.InvalidArgumentError, match=f"Line 12: .*have {number} as"):
                things.read_json_lines(Part, again)
        with pytest.raises(toft.InvalidArgumentError, match=r"Line 2: Part.next: .*have 23 as"):
            things.read_json_lines(Part, ['{"_key":22}', '{"next":23}'])
    assert len(things.objects(Part)) == len(numbers)


class Chain(toft.Object):
    id: int = toft.field(primary_key=True)
    owned: Chain | None = toft.field(delete_rule="cascade")
    needed: Chain | None = toft.field(delete_rule="deny")


def test_what_was_created_goes_and_what_was_there_stays() -> None:
    lines = [
        '{"id":1,"needed":2,"owned":100}',
        '{"id":2,"needed":{"id":3},"owned":1}',
        '{"id":4,"owned":{"id":5,"needed":1}}',
        '{"id":"wrong"}',
    ]
    with toft.open_in_memory([Chain]) as realm:
        with realm.write():
            realm.create(Chain, id=100)
        with realm.write(), pytest.raises(toft.TypeMismatchError, match="^Line 4: Chain.id"):
            realm.read_json_lines(Chain, lines)
        assert [each.id for each in realm.objects(Chain)] == [100]
        with realm.write():
            assert realm.read_json_lines(Chain, lines[:3]) == 3
            with pytest.raises(toft.TypeMismatchError):
                realm.read_json_lines(Chain, ['{"id":1,"owned":null}', *lines[3:]], update="all")
        assert {each.id for each in realm.objects(Chain)} == {1, 2, 3, 4, 5, 100}
        assert not realm.check().problems


@pytest.mark.parametrize("how", ["json_lines", "csv"])
def test_progress_knows_how_many_there_are_where_a_file_can_be_read_twice(
    things: toft.Realm, tmp_path: Path, how: str
) -> None:
    lines = {
        "json_lines": ['{"id":1}\n', "\n", '{"id":2}\n', ' \n{"id":3}'],
        "csv": ["\n", "id,name\n", '1,"a\n', '\n"\n', "\n", "2,b\n", "3,c"],
    }[how]
    if how == "json_lines":
        lines[3:] = [" \n", '{"id":3}']
    text = "".join(lines)
    file = tmp_path / "objects.txt"
    file.write_text(text)

    def told(given: Any) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        with things.write():
            things.delete_all(Thing)
            getattr(things, f"read_{how}")(Thing, given, progress=lambda *_: found.append(_))
            assert [thing.id for thing in things.objects(Thing)] == [1, 2, 3]
        return found

    known, unknown = [(1, 3), (2, 3), (3, 3)], [(1, 0), (2, 0), (3, 0)]
    assert told(lines) == told(io.StringIO(text, newline="")) == known
    with file.open(newline="") as opened:
        assert told(opened) == known
    behind = io.StringIO("first line\n" + text, newline="")
    behind.readline()
    assert told(behind) == known
    assert told(line for line in lines) == unknown


class Null(io.StringIO):
    def write(self, text: str) -> int:
        return len(text)


def lines_of(how: str, count: int) -> Iterator[str]:
    if how == "csv":
        yield "id,name\n"
        yield from (f'{n},"person, {n}"\n' for n in range(count))
    elif how == "links":
        yield from (
            f'{{"id":{n},"friend":{min(n + 1, count - 1)},"label":{{"text":"a","to":{n}}}}}\n'
            for n in range(count)
        )
    elif how == "parts":
        yield from (f'{{"_key":{n},"class":"a","next":{max(0, n - 1)}}}\n' for n in range(count))
    else:
        yield from (f'{{"id":{n},"name":"person {n}"}}\n' for n in range(count))


def peak(work: Callable[[], object]) -> int:
    """The most bytes of Python objects that there were at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("how", ["json_lines", "csv", "links", "parts"])
def test_memory_does_not_grow_with_the_file(how: str) -> None:
    cls = Part if how == "parts" else Thing

    def reading(count: int) -> int:
        with toft.open_in_memory(CLASSES) as realm, realm.write():
            function = realm.read_csv if how == "csv" else realm.read_json_lines
            return peak(lambda: function(cls, lines_of(how, count)))

    reading(100)
    small, large = reading(5_000), reading(10_000)
    assert large < small + 200_000, (small, large)


def test_memory_does_not_grow_with_what_is_written() -> None:
    with toft.open_in_memory(CLASSES) as realm:
        with realm.write():
            realm.insert_many(Thing, [{"id": n} for n in range(10_000)])
        results = realm.objects(Thing)
        writes = [results.write_json_lines, results.write_csv]
        for write, progress in itertools.product(writes, [None, lambda *_: None]):
            assert peak(lambda: write(Null(), progress=progress)) < 1_000_000
