"""The remaining content of a damaged file is read into a new one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import toft

PEOPLE = 2_000
KEY = bytes(range(64))
OTHER = bytes(range(1, 65))


class Person(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str
    boss: Person | None
    friends: list[Person]


def made(folder: Path, key: bytes | None = None) -> Path:
    path = folder / "people.toft"
    with toft.open(path, [Person], encryption_key=key) as realm:
        with realm.write():
            people = [
                realm.create(Person, id=each, name=f"Person {each}") for each in range(PEOPLE)
            ]
            for each in range(1, PEOPLE):
                people[each].boss = people[each // 2]
                people[each].friends.append(people[each - 1])
    return path


def clusters(content: bytes) -> list[int]:
    """The beginnings of extents with objects."""
    return [
        start
        for start in range(8_192, len(content), 4_096)
        if content[start] == 10
        and int.from_bytes(content[start + 8 : start + 16], "little") * 4_096 == start
    ]


def test_a_sound_file_is_salvaged_whole(tmp_path: Path) -> None:
    path = made(tmp_path)
    before = path.read_bytes()
    told: list[toft.SalvagedClass] = []
    found = toft.salvage(path, tmp_path / "new.toft", found=told.append)
    assert found.is_complete and not found.is_schema_unverified and found.version > 0
    assert found.classes == (toft.SalvagedClass("Person", PEOPLE, 0, 0, 0, 0, 0, {}),)
    assert told == list(found.classes)
    assert path.read_bytes() == before
    with toft.open(tmp_path / "new.toft", [Person]) as realm:
        assert realm.check()
        people = realm.objects(Person)
        assert len(people) == PEOPLE
        last = realm.object(Person, PEOPLE - 1)
        assert last is not None and last.boss is not None
        assert (last.name, last.boss.id) == (f"Person {PEOPLE - 1}", (PEOPLE - 1) // 2)
        assert [each.id for each in last.friends] == [PEOPLE - 2]


def test_objects_in_a_damaged_page_are_lost_and_links_to_them_are_cut(tmp_path: Path) -> None:
    path = made(tmp_path)
    content = bytearray(path.read_bytes())
    for start in clusters(content)[::3]:
        content[start + 100] ^= 1
    path.write_bytes(content)
    found = toft.salvage(path, tmp_path / "new.toft", mapped=False)
    (people,) = found.classes
    assert not found.is_complete
    assert people.missing and people.objects + people.missing == PEOPLE
    assert people.cut_links > 0 and people.lost == {}
    with toft.open(tmp_path / "new.toft", [Person]) as realm:
        assert realm.check()
        for person in realm.objects(Person):
            assert person.name == f"Person {person.id}"
            assert person.boss is None or person.boss.id == person.id // 2


def test_an_encrypted_file_is_salvaged_with_its_key(tmp_path: Path) -> None:
    path, new = made(tmp_path, KEY), tmp_path / "new.toft"
    with pytest.raises(toft.KeyRequiredError) as caught:
        toft.salvage(path, new)
    assert caught.value.filename == str(path)
    with pytest.raises(toft.WrongKeyError):
        toft.salvage(path, new, encryption_key=OTHER)
    for size in (0, 63, 65):
        with pytest.raises(toft.InvalidArgumentError, match="64 bytes"):
            toft.salvage(path, new, encryption_key=KEY, new_key=b"k" * size)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    found = toft.salvage(path, new, encryption_key=KEY, new_key=OTHER)
    with toft.open(new, [Person], encryption_key=OTHER) as realm:
        assert realm.check()
        names = [person.name for person in realm.objects(Person).sort("id")]
    assert [each.objects for each in found.classes] == [len(names)]
    assert len(set(names)) == len(names) > PEOPLE // 2
    toft.salvage(new, tmp_path / "plain.toft", encryption_key=OTHER)
    with toft.open(tmp_path / "plain.toft", [Person]) as realm:
        assert len(realm.objects(Person)) == len(names)
    with pytest.raises(toft.NotEncryptedError):
        toft.salvage(tmp_path / "plain.toft", tmp_path / "more.toft", encryption_key=KEY)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_what_a_callback_raises_ends_the_salvage(tmp_path: Path, kind: type[BaseException]) -> None:
    path, new = made(tmp_path), tmp_path / "new.toft"
    told: list[int] = []

    def refuse(each: toft.SalvagedClass) -> None:
        told.append(each.objects)
        assert not new.exists()
        raise kind("no")

    with pytest.raises(kind, match="no"):
        toft.salvage(path, new, found=refuse)
    assert told == [PEOPLE]
    assert sorted(os.listdir(tmp_path)) == ["people.toft", "people.toft.lock"]


def test_wrong_paths_are_refused_and_named(tmp_path: Path) -> None:
    path, new = made(tmp_path), tmp_path / "new.toft"
    with pytest.raises(FileExistsError) as exists:
        toft.salvage(path, path)
    assert exists.value.filename == str(path)
    with pytest.raises(FileNotFoundError) as missing:
        toft.salvage(tmp_path / "none.toft", new)
    assert missing.value.filename == str(tmp_path / "none.toft")
    other = tmp_path / "other"
    other.write_bytes(b"SQLite format 3\0" + bytes(50_000))
    with pytest.raises(toft.errors.NotADatabaseError):
        toft.salvage(other, new)
    with toft.open(path, [Person]), pytest.raises(toft.errors.AlreadyOpenError):
        toft.salvage(path, new)
    assert not os.path.exists(new)


class Part(toft.EmbeddedObject):
    size: int = 0
    inner: Part | None


class Machine(toft.Object):
    id: int = toft.field(primary_key=True)
    main: Part | None
    parts: list[Part]
    named: dict[str, Part | None]


def test_embedded_objects_are_salvaged_wherever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "machines.toft"
    with toft.open(path, [Machine, Part]) as realm, realm.write():
        machine = realm.create(Machine, id=1, main={"size": 1, "inner": {"size": 2}})
        machine.parts = [Part(size=3), Part(size=4, inner=Part(size=5))]
        machine.named["a"] = Part(size=6)
        realm.create(Machine, id=2, parts=[Part(size=7)])
    report = toft.salvage(path, tmp_path / "new.toft")
    assert report.is_complete
    with toft.open(tmp_path / "new.toft", [Machine, Part]) as realm:
        machine = realm.objects(Machine).first()
        assert machine is not None and machine.main is not None and machine.main.inner is not None
        assert (machine.main.size, machine.main.inner.size) == (1, 2)
        assert [part.size for part in machine.parts] == [3, 4]
        assert machine.parts[1].inner is not None and machine.parts[1].inner.size == 5
        assert {name: part and part.size for name, part in machine.named.items()} == {"a": 6}
        assert [part.size for part in realm.objects(Machine)[1].parts] == [7]
        assert realm.check()


def test_a_file_that_its_process_left_unclosed_is_salvaged_whole(tmp_path: Path) -> None:
    path = tmp_path / "people.toft"
    program = f"""
import os, time, toft
class Person(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str
realm = toft.open({str(path)!r}, [Person])
for each in range(30):
    with realm.write():
        realm.create(Person, id=each, name="x" * 3000)
    if each % 10 == 9:
        realm.compact_step()
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    report = toft.salvage(path, tmp_path / "new.toft")
    assert [each.objects for each in report.classes if each.name == "Person"] == [30]
    assert report.is_complete
