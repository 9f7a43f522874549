"""Encrypted files: who can read them, in one process and in several."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import toft

KEY = bytes(range(64))
OTHER = bytes(range(1, 65))
SECRET = "the treasure lies under the old oak"


class Note(toft.Object):
    id: int = toft.field(primary_key=True)
    text: str = toft.field(indexed=True)
    pages: list[bytes]


def _fill(realm: toft.Realm, numbers: range) -> None:
    with realm.write():
        for number in numbers:
            pages = [SECRET.encode() * 40] * (number % 3)
            realm.create(Note, id=number, text=f"{SECRET} {number}", pages=pages)


def _content(realm: toft.Realm) -> list[tuple[int, str, int]]:
    assert realm.check()
    return [(note.id, note.text, len(note.pages)) for note in realm.objects(Note).sort("id")]


def test_a_key_is_bytes_of_any_kind_and_no_text_and_is_in_no_message(tmp_path: Path) -> None:
    path, copy = tmp_path / "notes.toft", tmp_path / "copy.toft"
    wrong: Any
    with toft.open(path, [Note], encryption_key=KEY) as realm:
        _fill(realm, range(3))
        realm.write_copy(copy, encryption_key=memoryview(KEY))  # type: ignore[arg-type]
    for wrong in ("k" * 64, list(KEY), 64):
        for use in (
            lambda: toft.open(path, [Note], encryption_key=wrong),
            lambda: toft.schema_version(path, encryption_key=wrong),
            lambda: toft.compact(path, encryption_key=wrong),
            lambda: toft.change_key(path, old_key=KEY, new_key=wrong),
            lambda: toft.change_key(path, old_key=wrong, new_key=KEY),
            lambda: toft.salvage(path, tmp_path / "new.toft", encryption_key=wrong),
            lambda: toft.dry_run(path, [Note], encryption_key=wrong),
        ):
            with pytest.raises(TypeError) as error:
                use()
            assert "an encryption key is 64 bytes" in str(error.value)
            assert "kkk" not in str(error.value)
    with toft.open(path, [Note], encryption_key=KEY) as realm, pytest.raises(TypeError):
        realm.write_copy(tmp_path / "text.toft", encryption_key="k" * 64)  # type: ignore[arg-type]
    for file in (path, copy):
        key: Any = bytearray(KEY)
        with toft.open(file, [Note], encryption_key=key) as realm:
            assert len(_content(realm)) == 3


def test_what_was_written_with_a_key_is_read_with_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    with toft.open(path, [Note], encryption_key=KEY) as realm:
        _fill(realm, range(200))
        held = _content(realm)
        # Also while this process has it open.
        with pytest.raises(toft.WrongKeyError):
            toft.open(path, [Note], encryption_key=OTHER)
        with pytest.raises(toft.KeyRequiredError) as caught:
            toft.open(path, [Note])
        assert caught.value.filename == str(path)
    for key, error in ((OTHER, toft.WrongKeyError), (None, toft.KeyRequiredError)):
        for mode in ("existing", "read_only"):
            with pytest.raises(error):
                toft.open(path, [Note], mode=mode, encryption_key=key)
    for mode in ("existing", "read_only"):
        realm = toft.open(path, [Note], mode=mode, encryption_key=KEY)  # type: ignore[arg-type]
        with realm:
            assert _content(realm) == held
    plain = tmp_path / "plain.toft"
    toft.open(plain, [Note]).close()
    with pytest.raises(toft.NotEncryptedError):
        toft.open(plain, [Note], encryption_key=KEY)


@pytest.mark.parametrize("size", [0, 1, 63, 65])
def test_a_key_has_64_bytes(tmp_path: Path, size: int) -> None:
    with pytest.raises(toft.InvalidArgumentError, match="exactly 64 bytes"):
        toft.open(tmp_path / "a.toft", [Note], encryption_key=b"k" * size)
    assert os.listdir(tmp_path) == []
    toft.open(tmp_path / "a.toft", [Note], encryption_key=b"k" * 64).close()


def test_a_damaged_file_is_another_error_than_a_wrong_key(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    with toft.open(path, [Note], encryption_key=KEY) as realm:
        _fill(realm, range(100))
    image = bytearray(path.read_bytes())
    for page in range(2, len(image) // 4096):
        image[page * 4096 + 17] ^= 1
    path.write_bytes(image)
    with pytest.raises(toft.CorruptError), toft.open(path, [Note], encryption_key=KEY) as realm:
        _content(realm)


def test_nothing_of_a_file_can_be_read_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    with toft.open(path, [Note], encryption_key=KEY) as realm:
        _fill(realm, range(300))
        realm.write_copy(tmp_path / "copy.toft", encryption_key=OTHER)
        for each in tmp_path.iterdir():
            for words in (SECRET.encode(), b"Note", KEY[:16], KEY[32:48], OTHER[32:]):
                assert words not in each.read_bytes(), each
        realm.write_copy(tmp_path / "plain.toft")
        assert SECRET.encode() in (tmp_path / "plain.toft").read_bytes()


def test_copies_are_encrypted_anew_or_not_at_all(tmp_path: Path) -> None:
    keys = {"plain": None, "one": KEY, "two": OTHER}
    for name, key in keys.items():
        with toft.open(tmp_path / name, [Note], encryption_key=key) as realm:
            _fill(realm, range(250))
            held = _content(realm)
            for other, other_key in keys.items():
                realm.write_copy(tmp_path / f"{name}-{other}", encryption_key=other_key)
        for other, other_key in keys.items():
            copy = tmp_path / f"{name}-{other}"
            with toft.open(copy, [Note], encryption_key=other_key) as realm:
                assert _content(realm) == held


def test_the_key_of_a_file_is_changed_when_nobody_has_it_open(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    with toft.open(path, [Note]) as realm:
        _fill(realm, range(200))
        held = _content(realm)
        with pytest.raises(toft.AlreadyOpenError):
            toft.change_key(path, new_key=KEY)
    path.chmod(0o640)
    old = None
    for new in (KEY, OTHER, None):
        toft.change_key(path, old_key=old, new_key=new)
        with toft.open(path, [Note], encryption_key=new) as realm:
            assert _content(realm) == held
        assert (SECRET.encode() in path.read_bytes()) == (new is None)
        assert path.stat().st_mode & 0o777 == 0o640
        old = new
    with pytest.raises(toft.NotEncryptedError):
        toft.change_key(path, old_key=KEY, new_key=OTHER)
    with pytest.raises(toft.InvalidArgumentError):
        toft.change_key(path, new_key=b"short")
    with pytest.raises(toft.errors.FileNotFoundError):
        toft.change_key(tmp_path / "none", new_key=KEY)
    assert sorted(os.listdir(tmp_path)) == ["notes.toft", "notes.toft.lock"]


def test_a_second_name_of_a_file_leads_to_what_it_held_before_its_key_was_changed(
    tmp_path: Path,
) -> None:
    path, second, third = (tmp_path / name for name in ("notes.toft", "second.toft", "third.toft"))
    with toft.open(path, [Note]) as realm:
        _fill(realm, range(10))
    second.hardlink_to(path)
    third.symlink_to(path)
    toft.compact(path)
    assert second.samefile(path)
    toft.change_key(path, new_key=KEY)
    assert not second.samefile(path) and third.samefile(path)
    assert SECRET.encode() in second.read_bytes() and SECRET.encode() not in path.read_bytes()


def test_an_older_file_in_the_place_of_the_newest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    with pytest.raises(FileNotFoundError):
        toft.open(path, [Note], encryption_key=KEY, minimum_version=1)
    images, versions = [], []
    for number in range(3):
        with toft.open(path, [Note], encryption_key=KEY) as realm:
            _fill(realm, range(number, number + 1))
            versions.append(realm.version)
            # Not closed yet: the read content is in the log.
            images.append(path.read_bytes())
        images.append(path.read_bytes())
        versions.append(versions[-1])
    for image, version in zip(images, versions, strict=True):
        if version == versions[-1]:
            continue
        path.write_bytes(image)
        for mode in ("read_only", "existing", "create", "existing"):
            with pytest.raises(toft.VersionTooLowError) as caught:
                toft.open(
                    path,
                    [Note],
                    mode=mode,  # type: ignore[arg-type]
                    encryption_key=KEY,
                    minimum_version=versions[-1],
                )
            assert caught.value.filename == str(path)
            assert version <= caught.value.number < versions[-1]
            assert path.read_bytes() == image
    path.write_bytes(images[-1])
    with toft.open(path, [Note], encryption_key=KEY, minimum_version=versions[-1]) as realm:
        assert len(_content(realm)) == 3
        seen = realm.version
    toft.compact(path, encryption_key=KEY)
    toft.change_key(path, old_key=KEY, new_key=OTHER)
    with toft.open(path, [Note], encryption_key=OTHER, minimum_version=seen) as realm:
        assert len(_content(realm)) == 3
    for wrong in (0, -1, 2**64):
        with pytest.raises(toft.InvalidArgumentError):
            toft.open(path, [Note], encryption_key=OTHER, minimum_version=wrong)


def test_an_encrypted_file_is_compacted_and_seeds_another(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    with toft.open(path, [Note], encryption_key=KEY) as realm:
        _fill(realm, range(3_000))
        with realm.write():
            for note in list(realm.objects(Note)):
                if note.id % 9:
                    realm.delete(note)
        held = _content(realm)
    with pytest.raises(toft.KeyRequiredError):
        toft.compact(path)
    sizes = toft.compact(path, encryption_key=KEY)
    assert sizes is not None and sizes.size_after < sizes.size_before
    with toft.open(tmp_path / "b.toft", [Note], seed=path, encryption_key=KEY) as realm:
        assert _content(realm) == held
    with toft.open(path, [Note], encryption_key=KEY) as realm:
        assert _content(realm) == held


WRITER = """
import sys, toft
sys.path.insert(0, {folder!r})
from test_encryption import KEY, SECRET, Note
with toft.open(sys.argv[1], [Note], encryption_key=KEY) as realm:
    for number in range(int(sys.argv[2]), int(sys.argv[3])):
        with realm.write():
            realm.create(Note, id=number, text=f"{{SECRET}} {{number}}")
        print(number, flush=True)
"""


def _writer(path: Path, first: int, end: int) -> subprocess.Popen[str]:
    script = WRITER.format(folder=str(Path(__file__).parent))
    return subprocess.Popen(
        [sys.executable, "-c", script, str(path), str(first), str(end)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_several_processes_share_an_encrypted_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    with toft.open(path, [Note], encryption_key=KEY) as realm:
        writers = [_writer(path, start, start + 150) for start in (0, 1000, 2000)]
        seen = 0
        while any(writer.poll() is None for writer in writers):
            realm.refresh()
            notes = realm.objects(Note)
            assert len(notes) >= seen
            seen = len(notes)
            assert all(note.text.startswith(SECRET) for note in notes[max(0, seen - 20) : seen])
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.close()
            assert writer.wait() == 0
        realm.refresh()
        assert len(realm.objects(Note)) == 450
        assert realm.check()


def test_a_killed_process_loses_nothing_of_an_encrypted_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.toft"
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    done = 0
    for _ in range(6):
        writer = _writer(path, done, done + 10_000)
        assert writer.stdout is not None
        last = done - 1
        for _ in range(chance.randrange(1, 60)):
            last = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().split("\n")
        writer.wait()
        writer.stdout.close()
        last = max([last, *(int(line) for line in rest[:-1] if line)])
        # Also a copy of the file as the kill left it.
        shutil.copy(path, tmp_path / "left.toft")
        for each in (path, tmp_path / "left.toft"):
            with toft.open(each, [Note], encryption_key=KEY) as realm:
                found = _content(realm)
                assert [number for number, *_ in found] == list(range(len(found)))
                assert last + 1 <= len(found) <= last + 2, seed
        done = len(found)
