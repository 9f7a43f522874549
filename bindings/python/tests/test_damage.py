"""A file that agrees with itself and is wrong all the same: what cannot be read is an error of
Toft's, and what can be read is there.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import toft
from damage import change
from models import Dog
from toft import columns


@pytest.fixture
def damaged(path: Path, tmp_path: Path) -> Path:
    """Texts and a key of a dictionary that are no UTF-8."""
    with toft.open(path, [Note]) as realm, realm.write():
        for number in range(3):
            text = f"{number} wrong text"
            realm.create(Note, id=number, text=text, texts=[text], named={f"{text}": text})
        realm.create(Note, id=3, text="right")
    (tmp_path / "damaged").touch()
    assert change(path, b"1 wrong", b"1 wr\xffng") > 0
    return path


class Note(toft.Object):
    id: int = toft.field(primary_key=True)
    text: str = ""
    texts: list[str]
    named: dict[str, str]


def test_a_text_that_is_no_utf_8_is_damage(damaged: Path) -> None:
    with toft.open(damaged, [Note]) as realm:
        notes = realm.objects(Note)
        wrong = realm.object(Note, 1)
        assert wrong is not None
        for read in (
            lambda: wrong.text,
            lambda: wrong.texts[:],
            lambda: wrong.texts[0],
            lambda: wrong.named.copy(),
            lambda: list(wrong.named),
            lambda: notes.lists("text"),
            lambda: notes.columns("text"),
            lambda: [note.text for note in notes],
            lambda: notes.to_dicts(),
        ):
            with pytest.raises(toft.CorruptError, match="UTF-8"):
                read()
        assert repr(wrong).startswith("<Note: ") and wrong.id == 1
        right = realm.object(Note, 3)
        assert right is not None and right.text == "right"


def test_an_element_without_a_key_is_what_the_library_says(
    realm: toft.Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with realm.write():
        rex, max_ = realm.create(Dog, name="Rex"), realm.create(Dog, name="Max")
        rex.friends = [max_, rex]
    listed = columns.Buffers.listed
    monkeypatch.setattr(
        columns.Buffers,
        "listed",
        lambda buffers, index, count: [None, *listed(buffers, index, count)[1:]],
    )
    assert [dog == max_ for dog in rex.friends] == [True, False]
    assert {rex.friends[:2][0], *rex.friends} == {rex, max_}


def test_a_file_of_a_later_format_is_refused(path: Path) -> None:
    with toft.open(path, [Note]) as realm, realm.write():
        realm.create(Note, id=1)
    content = bytearray(path.read_bytes())
    later = bytearray(content)
    for page in (0, 1):
        later[page * 4096 + 8] = 99
    path.write_bytes(later)
    with pytest.raises(toft.UnsupportedFormatError, match="99"):
        toft.open(path, [Note])
    assert path.read_bytes() == later
    path.write_bytes(content)
    with toft.open(path, [Note]) as realm:
        assert [note.id for note in realm.objects(Note)] == [1]
        assert realm.check()
