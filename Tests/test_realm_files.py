"""Realm's own files: what the reader finds in them, and what an import makes of them, is what Realm
says that they hold. `RealmFiles` has files of formats 5 to 24, plain, encrypted and written as
copies, each with its content as JSON:

- A table has `name`, `kind`, `key`, `primaryKey`, `columns`, `objects`; an object is its key, its
  values in the order of the columns, and its backlinks, which are not compared.
- A value is null, or a text that begins with its type: `i:-5`, `b:1`, the bits of `f:` and `d:`,
  `s:text`, `x:00ff`, `t:SECONDS,NANOSECONDS`, `n:-12345E-2`, `o:` and `u:`, `l:TABLE,KEY`. Of more
  than 200 bytes `s#` and `x#` have the length and the SHA-256.
- A dictionary is a row of keys and values. Collections in mixed values are `{"list": ...}` and
  `{"dict": ...}`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import realm_file_writer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bindings/python"))

import toft  # noqa: E402

TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
BUILT = Path(os.environ.get("TOFT_SWIFT_BUILD", ROOT / ".build/debug"))
FILES = sorted((ROOT / "Tests/RealmFiles").glob("*.realm"))
INTERRUPTED = "v9-interrupted-upgrade"
KEYS = {"v10-encrypted-ios": b"\1" * 64}
KEY = bytes((3 * index + 1) % 256 for index in range(64))
EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def key_of(file: Path) -> bytes | None:
    return KEYS.get(file.stem, KEY if "encrypted" in file.stem else None)


def expected(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(Path(f"{file}.json.gz").read_bytes()))
    return found


def dumped(file: Path, key: bytes | None) -> subprocess.CompletedProcess[str]:
    command = [str(BUILT / "RealmDump"), str(file), *([key.hex()] if key else [])]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def ordered(value: Any, column: dict[str, Any], format: int) -> Any:
    """Before format 24 a set, and before 23 a dictionary, comes in another order after Realm has
    upgraded it."""
    is_free = (column["collection"] == "set" and format < 24) or (
        column["collection"] == "dictionary" and format < 23
    )
    return sorted(value, key=repr) if is_free else value


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_reader_finds_what_realm_finds(file: Path) -> None:
    done = dumped(file, key_of(file))
    if file.stem == INTERRUPTED:
        assert done.returncode == 1 and "open it once with Realm" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    found, wanted = json.loads(done.stdout), expected(file)
    format = found["format"]
    assert found["schemaVersion"] == wanted["schemaVersion"]
    tables = [each for each in found["tables"] if format >= 10 or each["name"] != "pk"]
    assert [each["name"] for each in tables] == [each["name"] for each in wanted["tables"]]
    for table, other in zip(tables, wanted["tables"]):
        for member in ("kind", "key", "primaryKey"):
            assert table[member] == other[member], table["name"]
        for column, another in zip(table["columns"], other["columns"], strict=True):
            if format < 22 and column["name"] == table["primaryKey"]:
                column["index"] = another["index"]  # the upgrade gives it one
            assert column == another
        for mine, theirs in zip(table["objects"], other["objects"], strict=True):
            assert mine[0] == theirs[0]
            for column, value, true in zip(table["columns"], mine[1], theirs[1], strict=True):
                assert ordered(value, column, format) == ordered(true, column, format), column


# ------------------------------------------------------------------------------------ The import


class Imported:
    """An imported file beside what Realm says of the file that it came from."""

    def __init__(self, realm: toft.Realm, wanted: dict[str, Any]) -> None:
        self.realm = realm
        self.tables = {each["name"]: each for each in wanted["tables"]}
        self.rows = {
            each["name"]: {row[0]: row[1] for row in each["objects"]} for each in wanted["tables"]
        }
        self.compared = 0

    def compare(self) -> None:
        for name, table in self.tables.items():
            if not name.startswith("class_") or table["kind"] != "object":
                continue
            if name.startswith("class___"):
                continue
            objects = list(self.realm.objects(name.removeprefix("class_")))
            assert len(objects) == len(table["objects"]), name
            for mine, (_, values, *_) in zip(objects, table["objects"]):
                self.compare_object(mine, table, values)

    def compare_object(self, mine: Any, table: dict[str, Any], values: list[Any]) -> None:
        for column, true in zip(table["columns"], values, strict=True):
            if column["name"].startswith("!"):
                continue
            name = column["name"]
            value = getattr(mine, name if hasattr(type(mine), name) else f"{name}_")
            kind, nested = column["collection"], self.shown
            if kind == "dictionary":
                found = [[key, each] for key, each in value.items()]
                assert [key for key, _ in found] == sorted(
                    (each[0].removeprefix("s:") for each in true), key=str.encode
                )
                by_key = {each[0].removeprefix("s:"): each[1] for each in true}
                for key, each in found:
                    assert self.matches(each, by_key[key], column), (name, key)
            elif kind == "set":
                assert len(value) <= len(true)
                for each in value:
                    assert any(self.matches(each, other, column) for other in true), name
            elif kind == "list":
                assert len(value) == len(true), name
                for each, other in zip(value, true):
                    assert self.matches(each, other, column), name
            else:
                assert self.matches(value, true, column), (name, nested(value), true)

    def matches(self, value: Any, true: Any, column: dict[str, Any]) -> bool:
        self.compared += 1
        if isinstance(true, str) and true.startswith("l:"):
            name, key = true[2:].rsplit(",", 1)
            if value is None:
                return int(key) not in self.rows[name]
            table = self.tables[name]
            if table["kind"] == "embedded" or table["primaryKey"] is None:
                if table["kind"] == "embedded":
                    self.compare_object(value, table, self.rows[name][int(key)])
                return type(value).__name__ == name.removeprefix("class_")
            position = [each["name"] for each in table["columns"]].index(table["primaryKey"])
            mine = getattr(value, table["primaryKey"])
            return (
                self.shown(mine, table["columns"][position]) == self.rows[name][int(key)][position]
            )
        if isinstance(true, dict):
            if "list" in true:
                pairs = list(zip(value, true["list"], strict=True))
                return all(self.matches(each, other, column) for each, other in pairs)
            wanted = {each[0].removeprefix("s:"): each[1] for each in true["dict"]}
            return sorted(value) == sorted(wanted) and all(
                self.matches(value[key], other, column) for key, other in wanted.items()
            )
        if isinstance(true, str) and true.startswith("S:"):
            return isinstance(value, str) and "\ufffd" in value
        if isinstance(true, str) and true[:2] in ("f:", "d:", "n:", "t:"):
            return self.is_number(value, true)
        return self.shown(value, column) == true

    @staticmethod
    def is_number(value: Any, true: str) -> bool:
        text = true[2:]
        types = {"f": float, "d": float, "n": Decimal, "t": object}
        if not isinstance(value, types[true[0]]):
            return False
        if true[0] == "f":
            number = struct.unpack(">f", bytes.fromhex(text))[0]
            return bool(value == number or (value != value and number != number))
        if true[0] == "d":
            number = struct.unpack(">d", bytes.fromhex(text))[0]
            return bool(value == number or (value != value and number != number))
        if true[0] == "n":
            number = Decimal(text)
            return bool(value == number or (value.is_nan() and number.is_nan()))
        seconds, nanoseconds = map(int, text.split(","))
        if isinstance(value, datetime):
            since = value - EPOCH
            whole = since.days * 86_400 + since.seconds
            return whole * 10**6 + since.microseconds == (seconds * 10**9 + nanoseconds) // 1000
        return True  # a date beyond those of Python

    @staticmethod
    def shown(value: Any, column: dict[str, Any] | None = None) -> Any:
        match value:
            case None:
                return None
            case bool():
                return f"b:{int(value)}"
            case int():
                return f"i:{value}"
            case str():
                data = value.encode()
                long = f"s#{len(data)}:{hashlib.sha256(data).hexdigest()}"
                return long if len(data) > 200 else f"s:{value}"
            case bytes():
                long = f"x#{len(value)}:{hashlib.sha256(value).hexdigest()}"
                return long if len(value) > 200 else f"x:{value.hex()}"
            case toft.ObjectId():
                return f"o:{value}"
            case UUID():
                return f"u:{value}"
        return value


def imported(file: Path, folder: Path) -> tuple[dict[str, Any], Path]:
    made, command = folder / "made.toft", [TOFTDB, "import"]
    if key := key_of(file):
        (folder / "key").write_bytes(key)
        command += ["--source-key-file", str(folder / "key")]
    done = subprocess.run(
        [*command, "--json", str(made), str(file)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), made


READABLE = [file for file in FILES if file.stem != INTERRUPTED]


@pytest.mark.parametrize("file", READABLE, ids=lambda file: file.stem)
def test_an_import_has_every_object_with_its_values(file: Path, tmp_path: Path) -> None:
    report, made = imported(file, tmp_path)
    wanted = expected(file)
    with toft.open(made, mode="read_only") as realm:
        comparing = Imported(realm, wanted)
        comparing.compare()
        assert realm.info.schema_version == (wanted["schemaVersion"] or 0)
    counts = {each["name"]: each["objects"] for each in report["classes"]}
    for name, table in comparing.tables.items():
        if name.startswith("class_") and not name.startswith("class___"):
            if table["kind"] == "object":
                assert counts[name.removeprefix("class_")] == len(table["objects"])
    checked = subprocess.run([TOFTDB, "check", str(made)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_what_is_no_realm_file_or_has_another_key_is_refused_and_nothing_is_made(
    tmp_path: Path,
) -> None:
    made, other = tmp_path / "made.toft", tmp_path / "other.realm"
    other.write_bytes(b"no Realm file at all, though it is long enough for a header")
    encrypted = next(file for file in FILES if file.stem == "streaming-encrypted")
    plain = next(file for file in FILES if file.stem == "streaming")
    (tmp_path / "key").write_bytes(b"\7" * 64)
    key = ["--source-key-file", str(tmp_path / "key")]
    for file, options, says in (
        (other, [], "it is no Realm file"),
        (encrypted, [], "needs its key"),
        (encrypted, key, "the key does not fit"),
        (plain, key, "it is not encrypted, and a key was given"),
        (plain, ["--class", "Everything"], "has its own classes"),
        (tmp_path / "missing.realm", [], "missing.realm"),
    ):
        command = [TOFTDB, "import", str(made), str(file), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and says in done.stderr, (file, done.stderr)
        assert not made.exists()
    made.write_bytes(b"")
    done = subprocess.run(
        [TOFTDB, "import", str(made), str(plain)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1 and "already" in done.stderr


def test_python_imports_a_realm_file_and_tells_what_differs(tmp_path: Path) -> None:
    plain, encrypted = (
        next(file for file in FILES if file.stem == name) for name in ("streaming", "encrypted")
    )
    made, told = tmp_path / "made.toft", []
    with pytest.raises(toft.NotADatabaseError):
        toft.import_realm(encrypted, made)
    with pytest.raises(toft.WrongKeyError):
        toft.import_realm(encrypted, made, encryption_key=bytes(64))
    assert not made.exists()
    report = toft.import_realm(plain, made, progress=lambda *numbers: told.append(numbers))
    assert report.format == 24 and report.objects == 106
    assert any("full-text index" in note for note in report.notes)
    with pytest.raises(FileExistsError):
        toft.import_realm(plain, made)
    with toft.open(made, mode="read_only") as realm:
        comparing = Imported(realm, expected(plain))
        comparing.compare()
    other = tmp_path / "other.toft"
    report = toft.import_realm(encrypted, other, encryption_key=KEY, new_key=b"\5" * 64)
    with toft.open(other, mode="read_only", encryption_key=b"\5" * 64) as realm:
        assert len(realm.objects("Target")) == 29 and report.classes == 2


def test_opening_a_realm_file_names_the_import() -> None:
    with pytest.raises(toft.FileError, match="toftdb import"):
        toft.open(FILES[0], mode="read_only")


def test_a_cut_or_flipped_file_gives_an_error_or_values_and_never_ends_the_reader(
    tmp_path: Path,
) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    numbers = random.Random(seed)
    names = ("links", "mixed", "v9-all", "v22-collections")
    broken = tmp_path / "broken.realm"
    for name in names:
        original = next(file for file in FILES if file.stem == name).read_bytes()
        for _ in range(10):
            content = bytearray(original)
            for _ in range(numbers.randrange(1, 4)):
                content[numbers.randrange(24, len(content))] ^= 1 << numbers.randrange(8)
            if numbers.random() < 0.1:
                del content[numbers.randrange(len(content)) :]
            broken.write_bytes(content)
            done = dumped(broken, None)
            assert done.returncode in (0, 1), (name, done.returncode, done.stderr)
            if done.returncode == 1:
                assert done.stderr.startswith(("it ", "format ", "Realm was ")), done.stderr


# ------------------------------------------------------------------------ Files that no SDK makes

TEXT = ("street", realm_file_writer.STRING, 0, 0)


def person(*columns: tuple[str, int, int, int], objects: list[list[Any]]) -> dict[str, Any]:
    return {"name": "class_Person", "columns": columns, "objects": objects}


def brought(tables: list[dict[str, Any]], folder: Path) -> tuple[int, str, list[str], Path]:
    """The status of an import, its error, its notes, and the new file."""
    file, made = folder / "made.realm", folder / "made.toft"
    realm_file_writer.write(file, tables)
    made.unlink(missing_ok=True)
    done = subprocess.run(
        [TOFTDB, "import", "--json", str(made), str(file)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert made.exists() == (done.returncode == 0)
    notes = json.loads(done.stdout)["notes"] if done.returncode == 0 else []
    return done.returncode, done.stderr, notes, made


def test_embedded_objects_of_dictionaries_may_be_null_and_missing_ones_are_counted(
    tmp_path: Path,
) -> None:
    link = realm_file_writer.Link
    tables = [
        person(
            ("home", realm_file_writer.LINK, 16, 1),
            ("homes", realm_file_writer.LINK, 16 | realm_file_writer.DICTIONARY, 1),
            ("others", realm_file_writer.LINK, realm_file_writer.LIST, 1),
            objects=[
                [0, {"a": None, "b": link(1), "c": link(77)}, [99, 2, 98, 3]],
                [55, {}, []],
            ],
        ),
        {"name": "class_Address", "columns": [TEXT], "kind": 1,
         "objects": [["0th"], ["1st"], ["2nd"], ["3rd"], ["orphan"]]},
    ]  # fmt: skip
    status, error, notes, made = brought(tables, tmp_path)
    assert status == 0, error
    assert "4 links led to objects that are not there" in notes
    assert "1 embedded objects that nothing leads to were left out" in notes
    with toft.open(made, mode="read_only") as realm:
        first, second = realm.objects("Person")
        assert first.home.street == "0th" and second.home is None
        homes = {key: value and value.street for key, value in first.homes.items()}
        assert homes == {"a": None, "b": "1st", "c": None}
        assert [each.street for each in first.others] == ["2nd", "3rd"]
        assert len(second.homes) == len(second.others) == 0
    tables[0]["objects"][1][0] = 3  # it has an owner
    status, error, *_ = brought(tables, tmp_path)
    assert status == 1 and "has two owners" in error


def test_a_hundred_embedded_objects_may_lie_within_one_another(tmp_path: Path) -> None:
    for depth in (100, 101):
        chain = [[str(n), n + 1 if n + 1 < depth else None] for n in range(depth)]
        status, error, *_ = brought(
            [
                person(("home", realm_file_writer.LINK, 16, 1), objects=[[0]]),
                {"name": "class_Address", "columns": [TEXT, ("in", realm_file_writer.LINK, 16, 1)],
                 "kind": 1, "objects": chain},
            ],
            tmp_path,
        )  # fmt: skip
        assert status == (0 if depth == 100 else 1), error
    assert "100" in error


def test_names_and_keys_that_toft_refuses_stay_different(tmp_path: Path) -> None:
    plain = ("__v", realm_file_writer.INT, 0, 0)
    status, error, notes, made = brought(
        [
            {"name": "class___Thing", "columns": [plain], "objects": [[7]]},
            {"name": "class___12", "columns": [("__3", realm_file_writer.INT, 0, 0)],
             "objects": [[8]]},
            {"name": "class___Role", "columns": [plain], "objects": [[9]]},
            {"name": "class_Sent", "columns": [plain], "objects": [], "kind": 2},
            person(
                ("role", realm_file_writer.LINK, 16, 2),
                ("words", realm_file_writer.STRING, realm_file_writer.DICTIONARY, 0),
                objects=[[0, {"a%2Eb": "plain", "a.b": "dot", "$c": "dollar", "%": "percent"}],
                         [None, {"%2E": "same"}]],
            ),
        ],
        tmp_path,
    )  # fmt: skip
    assert status == 0, error
    assert "'__12' is named '__12_' now" in notes and "'__12.__3' is named '__3_' now" in notes
    assert "'Person.role' leads to a class that is left out" in notes
    assert any("'Sent' is asymmetric" in note for note in notes)
    with toft.open(made, mode="read_only") as realm:
        (thing,) = realm.objects("__Thing")
        assert getattr(thing, "__v") == 7
        assert getattr(realm.objects("__12_")[0], "__3_") == 8
        first, second = realm.objects("Person")
        assert dict(first.words) == {
            "a%252Eb": "plain", "a%2Eb": "dot", "%24c": "dollar", "%25": "percent",
        }  # fmt: skip
        assert dict(second.words) == {"%2E": "same"}


def test_two_tables_that_share_their_objects_are_damage(tmp_path: Path) -> None:
    column = ("a", realm_file_writer.INT, 0, 0)
    tables = [
        {"name": f"class_{name}", "columns": [column], "objects": [[1]], "shared": True}
        for name in "AB"
    ]
    status, error, *_ = brought(tables, tmp_path)
    assert status == 1 and "is met twice" in error
