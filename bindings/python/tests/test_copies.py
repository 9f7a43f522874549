"""Copies of an open database, compaction, sizes and the versions that are read."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
import toft


class Note(toft.Object):
    id: int = toft.field(primary_key=True, auto_increment=True)
    text: str
    pages: list[bytes]


def _fill(realm: toft.Realm, count: int) -> None:
    with realm.write():
        for number in range(count):
            realm.create(Note, text=f"note {number}", pages=[b"%d" % number * 900] * (number % 3))


def _thin(realm: toft.Realm) -> None:
    with realm.write():
        for note in list(realm.objects(Note)):
            if note.id % 5:
                realm.delete(note)


def _content(realm: toft.Realm) -> list[tuple[int, str, int]]:
    assert realm.check()
    return [(note.id, note.text, len(note.pages)) for note in realm.objects(Note).sort(Note.id)]


def test_a_copy_holds_the_version_and_goes_on_with_keys(tmp_path: Path) -> None:
    copy = tmp_path / "copy.toft"
    with toft.open(tmp_path / "a.toft", [Note], schema_version=3) as realm:
        _fill(realm, 400)
        _thin(realm)
        held = _content(realm)
        realm.write_copy(copy)
        with pytest.raises(toft.errors.FileExistsError) as caught:
            realm.write_copy(copy)
        assert caught.value.filename == str(copy)
        assert isinstance(caught.value, FileExistsError)
        with realm.write(), pytest.raises(toft.AlreadyInTransactionError):
            realm.write_copy(tmp_path / "other.toft")
        assert realm.info.file_size > copy.stat().st_size
    with toft.open(copy, [Note]) as realm:
        assert realm.info.schema_version == 3
        assert _content(realm) == held
        with realm.write():
            next_note = realm.create(Note, text="next")
        assert next_note.id == 401


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with toft.open(tmp_path / "a.toft", [Note]) as realm:
        _fill(realm, 20)
        with pytest.raises(toft.errors.FileNotFoundError):
            realm.write_copy(tmp_path / "none" / "copy.toft")
        with pytest.raises(toft.errors.FileExistsError):
            realm.write_copy(tmp_path)
        with pytest.raises(toft.InvalidArgumentError):
            realm.write_copy("")
        frozen = realm.freeze()
        frozen.write_copy(tmp_path / "frozen.toft")
    assert sorted(os.listdir(tmp_path)) == ["a.toft", "a.toft.lock", "frozen.toft"]


def test_a_copy_that_could_have_no_lock_file_is_not_made(tmp_path: Path) -> None:
    """The lock file's name is five bytes longer, and a name has 255 at most."""
    path, long = tmp_path / "a.toft", tmp_path / ("n" * 250)
    with toft.open(path, [Note]) as realm:
        _fill(realm, 20)
        with pytest.raises(toft.FileAccessError, match="too long"):
            realm.write_copy(f"{long}n")
        (tmp_path / "b.toft.lock").write_text("Dear diary")
        with pytest.raises(toft.IncompatibleProcessError):
            realm.write_copy(tmp_path / "b.toft")
        realm.write_copy(long)
        held = _content(realm)
    with pytest.raises(toft.FileAccessError, match="too long"):
        toft.salvage(path, f"{long}n")
    with toft.open(long, [Note]) as realm:
        assert _content(realm) == held
    names = ["a.toft", "a.toft.lock", "b.toft.lock", "n" * 250, f"{'n' * 250}.lock"]
    assert sorted(os.listdir(tmp_path)) == names


def test_a_copy_is_of_one_version_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    with toft.open(path, [Note]) as realm:
        _fill(realm, 300)
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, toft\n"
            "with toft.open(sys.argv[1]) as realm:\n"
            "    notes = realm.classes['Note']\n"
            "    print('ready', flush=True)\n"
            "    for round in range(200):\n"
            "        with realm.write():\n"
            "            for note in realm.objects(notes):\n"
            "                note.text = f'round {round}'\n",
            str(path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    with toft.open(path, [Note]) as realm:
        for number in range(5):
            realm.refresh()
            realm.write_copy(tmp_path / f"copy{number}.toft")
    assert writer.wait(60) == 0
    for number in range(5):
        with toft.open(tmp_path / f"copy{number}.toft", [Note]) as copy:
            content = _content(copy)
            assert len(content) == 300
            rounds = {text for _, text, _ in content}
            assert len(rounds) == 1 or rounds == {f"note {number}" for number in range(300)}


def test_a_file_is_compacted_when_nobody_has_it_open(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    with toft.open(path, [Note]) as realm:
        _fill(realm, 2000)
        _thin(realm)
        held = _content(realm)
        assert toft.compact(path) is None
    before = path.stat().st_size
    sizes = toft.compact(path)
    assert sizes is not None
    assert sizes.size_before == before
    assert sizes.size_after == path.stat().st_size <= before
    with toft.open(path, [Note]) as realm:
        assert _content(realm) == held
    with pytest.raises(toft.errors.FileNotFoundError):
        toft.compact(tmp_path / "none.toft")


def test_another_process_that_has_it_open_keeps_a_file_from_being_compacted(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    with toft.open(path, [Note]) as realm:
        _fill(realm, 50)
    for mode in ("existing", "read_only"):
        other = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys, toft\n"
                "with toft.open(sys.argv[1], mode=sys.argv[2]) as realm:\n"
                "    print('ready', flush=True)\n"
                "    sys.stdin.read()\n"
                "    print(realm.check().problems)\n",
                str(path),
                mode,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        before = path.stat().st_size
        assert toft.compact(path) is None, mode
        assert path.stat().st_size == before
        assert other.communicate("")[0] == "()\n"


def test_an_opening_asks_whether_to_compact(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    asked: list[tuple[int, int]] = []

    def ask(total: int, used: int) -> bool:
        asked.append((total, used))
        return True

    with toft.open(path, [Note], compact_on_open=ask) as realm:
        _fill(realm, 500)
    assert not asked  # the file was made just then
    with (
        toft.open(path, [Note], compact_on_open=ask) as realm,
        toft.open(path, [Note], compact_on_open=ask),
    ):
        assert len(asked) == 1
        assert 0 < asked[0][1] <= asked[0][0]
        assert len(_content(realm)) == 500

    def fail(total: int, used: int) -> bool:
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        toft.open(path, [Note], compact_on_open=fail)
    with toft.open(path, [Note]) as realm:
        assert len(_content(realm)) == 500


def test_a_missing_file_is_made_a_copy_of_the_seed(tmp_path: Path) -> None:
    seed = tmp_path / "seed.toft"
    with toft.open(seed, [Note]) as realm:
        _fill(realm, 10)
    seed.chmod(0o400)
    for _ in range(2):
        with toft.open(tmp_path / "a.toft", [Note], seed=seed) as realm:
            assert len(_content(realm)) in (10, 11)
            with realm.write():
                realm.create(Note, text="more")
    with pytest.raises(toft.errors.FileNotFoundError):
        toft.open(tmp_path / "b.toft", [Note], seed=tmp_path / "none.toft")
    assert not (tmp_path / "b.toft").exists()


def test_old_versions_are_told_and_limited(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    with toft.open(path, [Note], maximum_versions=2) as realm:
        _fill(realm, 500)
        frozen = realm.freeze()
        old = frozen.version
        _thin(realm)
        realm.refresh()
        pins = [pin for pin in realm.pins if pin.version == old]
        assert [pin.process_id for pin in pins] == [os.getpid()]
        assert pins[0].held_size > 0
        age = pins[0].age
        assert age is not None and age >= 0
        time.sleep(0.01)
        later = next(pin.age for pin in realm.pins if pin.version == old)
        assert later is not None and age < later < age + 600
        info = realm.info
        assert info.held_size >= pins[0].held_size
        assert info.live_size + info.free_size + info.held_size + info.log_size == info.file_size
        second = realm.freeze()
        with realm.write():
            realm.create(Note, text="one more")
        with pytest.raises(toft.errors.TooManyReadersError) as caught:
            _fill(realm, 1)
        assert caught.value.number == 3
        assert len(second.objects(Note)) == 100
        assert len(frozen.objects(Note)) == 500
        del frozen, pins
        gc.collect()
        _fill(realm, 1)
        assert all(pin.version != old for pin in realm.pins)
    with pytest.raises(toft.InvalidArgumentError):
        toft.open(path, [Note], maximum_versions=0)


def test_a_file_is_compacted_in_steps_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    with toft.open(path, [Note]) as realm, toft.open(path, [Note]) as other:
        _fill(realm, 20_000)
        frozen = realm.freeze()
        with realm.write():
            realm.objects(Note).where("NOT text ENDSWITH '0'").delete()
        other.refresh()
        seen: list[toft.Changes] = []
        notes = other.objects(Note)
        watched = notes.observe(seen.append)
        other.dispatch()
        before = path.stat().st_size
        while (step := realm.compact_step(1 << 18)).has_more:
            assert step.moved <= (1 << 18) + (1 << 17)
            assert step.size_before >= step.size_after
        assert step.held > 0
        assert len(frozen.objects(Note)) == 20_000
        with pytest.raises(toft.errors.ReadOnlyError, match="frozen"):
            frozen.compact_step()
        del frozen
        gc.collect()
        other.refresh()
        while (step := realm.compact_step(1 << 18)).has_more:
            other.refresh()
        assert step.held == 0
        assert realm.compact_step(0).moved == 0
        assert path.stat().st_size < before / 2
        assert len(notes) == 2_000
        del seen[:1]
        assert not any(each.insertions or each.deletions or each.modifications for each in seen)
        watched.stop()
        with realm.write(), pytest.raises(toft.errors.AlreadyInTransactionError):
            realm.compact_step()
        assert not realm.check().problems
    with toft.open(path, mode="read_only") as reader:
        with pytest.raises(toft.errors.ReadOnlyError):
            reader.compact_step()


def test_a_process_that_only_reads_is_known_to_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    with toft.open(path, [Note]) as realm:
        _fill(realm, 3)
    with toft.open(path, mode="read_only") as reader:
        assert [(pin.process_id, pin.age) for pin in reader.pins] == [(os.getpid(), None)]
        with toft.open(path) as realm:
            ages = {pin.process_id: pin.age for pin in realm.pins}
        assert ages[None] is None and ages[os.getpid()] is not None


def test_a_step_of_a_compaction_shows_what_others_have_written(tmp_path: Path) -> None:
    path = tmp_path / "a.toft"
    with (
        toft.open(path, [Note]) as realm,
        toft.open(path, [Note], autorefresh=False) as other,
    ):
        _fill(realm, 300)
        other.refresh()
        notes = list(other.objects(Note))
        assert notes[7].text == "note 7"
        with realm.write():
            realm.objects(Note).update(text="new")
        assert {note.text for note in notes} != {"new"}
        other.compact_step()
        assert {note.text for note in notes} == {"new"}
        for wrong in (-1, 2**64):
            with pytest.raises(toft.InvalidArgumentError, match=str(wrong)):
                other.compact_step(wrong)

        def fail(changes: toft.Changes) -> None:
            raise KeyError(len(changes.modifications))

        watched = other.objects(Note).observe(fail)
        with pytest.raises(KeyError):
            other.dispatch()
        with realm.write():
            realm.objects(Note).update(text="newest")
        with pytest.raises(KeyError, match="300"):
            other.compact_step(2**64 - 1)
        watched.stop()
        assert not other.check().problems


class Blob(toft.Object):
    id: int = toft.field(primary_key=True)
    data: bytes


class Film(toft.Object):
    id: int = toft.field(primary_key=True)
    is_cut: bool
    frames: bytes


def _films_of_several_regions(path: Path) -> int:
    """A file of five regions, 126 MB each, half of whose content is deleted, object by object.

    Returns what is live.
    """
    random, noise = Random(1), Random(2).randbytes(1 << 20)
    number = 0
    with toft.open(path, [Film]) as realm:
        while os.path.getsize(path) < 600 << 20:
            films: list[dict[str, object]] = []
            size = 0
            while size < 64 << 20:
                frames = random.randrange(1 << 10, 1 << 15)
                start = random.randrange(len(noise) - frames)
                film = noise[start : start + frames]
                films.append({"id": number, "is_cut": number % 2 == 0, "frames": film})
                size += frames
                number += 1
            with realm.write(durability="deferred"):
                realm.insert_many(Film, films)
        for low in range(0, number, 5_000):
            with realm.write(durability="deferred"):
                cut = "id >= $0 AND id < $1 AND is_cut == true"
                realm.objects(Film).where(cut, low, low + 5_000).delete()
        return realm.info.live_size


def test_a_file_of_several_regions_gets_short_at_once(tmp_path: Path) -> None:
    """The bitmaps of free space lay at the end: the file was half as long again as before."""
    path = tmp_path / "films.toft"
    live = _films_of_several_regions(path)
    before = os.path.getsize(path)
    assert before > 1.8 * live
    sizes = toft.compact(path)
    assert sizes is not None
    assert sizes.size_after == os.path.getsize(path) < 1.1 * live
    with toft.open(path, [Film]) as realm:
        assert realm.check()
        assert all(film.id % 2 == 1 for film in realm.objects(Film))


def test_what_is_deleted_after_steps_of_a_compaction_is_given_back(tmp_path: Path) -> None:
    """The bitmaps stayed where the last step had put them, at the end of a long file."""
    path = tmp_path / "films.toft"
    live = _films_of_several_regions(path)
    with toft.open(path, [Film]) as realm:
        for _ in range(100):
            if not realm.compact_step(1 << 26).has_more:
                break
        else:
            pytest.fail("the steps do not end")
        assert os.path.getsize(path) < 1.2 * live
        with realm.write():
            realm.objects(Film).delete()
    assert os.path.getsize(path) < 4 << 20
    with toft.open(path, [Film]) as realm:
        assert realm.check()


def test_steps_of_a_compaction_come_to_an_end(tmp_path: Path) -> None:
    random = Random(5)
    with toft.open(tmp_path / "blobs.toft", [Blob]) as realm:
        with realm.write():
            for number in range(400):
                realm.create(Blob, id=number, data=random.randbytes(3_000))

        def change(numbers: list[int], sizes: tuple[int, ...]) -> None:
            with realm.write(durability="deferred"):
                for number in numbers:
                    blob = realm.object(Blob, number)
                    assert blob is not None
                    blob.data = random.randbytes(random.choice(sizes))

        for _ in range(6):
            for _ in range(random.randrange(1, 300)):
                change([random.randrange(400)], (100, 3_000, 9_000))
            change(random.sample(range(400), 60), (1,))
            steps = 1
            while realm.compact_step().has_more:
                steps += 1
                assert steps < 300
            change(random.sample(range(400), 60), (3_000,))
        assert realm.check()


def test_an_encrypted_copy_holds_long_values_that_took_each_others_pages(tmp_path: Path) -> None:
    with toft.open(tmp_path / "blobs.toft", [Blob]) as realm:
        for number in range(5):
            with realm.write():
                blob = realm.create(Blob, id=number, data=b"x" * 3_000)
                assert blob.data == b"x" * 3_000
                blob.data = b""
                blob.data = b"y" * 5_000
        key = os.urandom(64)
        realm.write_copy(tmp_path / "copy.toft", encryption_key=key)
    with toft.open(tmp_path / "copy.toft", [Blob], encryption_key=key) as copy:
        assert [blob.data for blob in copy.objects(Blob)] == [b"y" * 5_000] * 5
        assert copy.check()


def test_the_last_close_gives_back_what_a_cancelled_transaction_took(tmp_path: Path) -> None:
    path = tmp_path / "blobs.toft"
    with toft.open(path, [Blob]) as realm:
        with realm.write():
            realm.create(Blob, id=1, data=b"x")
    for _ in range(2):
        with toft.open(path, [Blob]) as realm:
            with pytest.raises(KeyError), realm.write():
                for number in range(2, 150):
                    realm.create(Blob, id=number, data=os.urandom(400_000))
                raise KeyError
            assert path.stat().st_size > 20_000_000
        assert path.stat().st_size < 2_000_000
    with toft.open(path, [Blob]) as realm:
        assert [blob.id for blob in realm.objects(Blob)] == [1]
        assert realm.check()


def test_a_read_only_realm_stays_whole_when_the_log_has_moved_and_its_writer_died(
    tmp_path: Path,
) -> None:
    path = tmp_path / "blobs.toft"
    program = f"""
import os, sys, toft
from random import Random
class Blob(toft.Object):
    id: int = toft.field(primary_key=True)
    data: bytes
random = Random(5)
realm = toft.open({str(path)!r}, [Blob])
with realm.write():
    for number in range(400):
        realm.create(Blob, id=number, data=random.randbytes(3000))
while realm.info.log_size < 500_000:
    with realm.write(durability="deferred"):
        size = random.choice([100, 9000])
        realm.object(Blob, random.randrange(400)).data = random.randbytes(size)
with realm.write():
    for number in random.sample(range(400), 60):
        realm.object(Blob, number).data = b"x"
before = realm.info.log_size
while realm.info.log_size >= before:
    print("step", flush=True)
    sys.stdin.readline()
    realm.compact_step()
with realm.write():
    realm.object(Blob, 1).data = b"y"
print("moved", flush=True)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdin is not None and writer.stdout is not None
    reader: toft.Realm | None = None
    while writer.stdout.readline() == "step\n":
        reader = reader or toft.open(path, mode="read_only", autorefresh=False)
        reader.refresh()
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert reader is not None and reader.check()
    writer.communicate("\n")
    assert reader.check()
    reader.write_copy(tmp_path / "copy.toft")
    reader.refresh()
    assert reader.check()
    reader.close()
