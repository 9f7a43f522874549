"""Files of objects go between the terminal, Python and Swift: each reads what the others write."""

import csv
import io
import json
import os
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
BUILT = Path(os.environ.get("TOFT_SWIFT_BUILD", ROOT / ".build/debug"))
PYTHON = ROOT / "bindings/python"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PYTHON), str(PYTHON / "tests")])}
NAMES = ("Thing", "Part")
FORMS = {"json_lines": [], "csv": ["--csv"]}


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, timeout=120, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.decode()


def in_python(database: Path, folder: Path, command: str) -> str:
    folder.mkdir(exist_ok=True)
    return run(sys.executable, ROOT / "Tests/Exchange/objects.py", database, folder, command)


def in_swift(database: Path, folder: Path, command: str) -> str:
    folder.mkdir(exist_ok=True)
    return run(BUILT / "ExchangeSwift", database, folder, command)


def exported(database: Path, folder: Path) -> dict[str, str]:
    """The terminal's output, which is also written to the folder."""
    folder.mkdir(exist_ok=True)
    found = {}
    for how, options in FORMS.items():
        for name in NAMES:
            text = run(TOFTDB, "export", database, name, *options)
            (folder / f"{name}.{how}").write_bytes(text.encode())
            found[f"{name}.{how}"] = text
    return found


def test_objects_go_from_python_to_the_terminal_and_back_as_they_are(tmp_path: Path) -> None:
    source, schema = tmp_path / "source.toft", tmp_path / "schema.json"
    in_python(source, tmp_path, "fill")
    schema.write_text(run(TOFTDB, "schema", source, "--json"))
    in_python(source, tmp_path / "python", "write")
    expected = exported(source, tmp_path / "terminal")
    for name in NAMES:  # JSON is the same to the byte
        file = f"{name}.json_lines"
        assert (tmp_path / "python" / file).read_bytes().decode() == expected[file]
    for how, options in FORMS.items():
        database = tmp_path / f"{how}.toft"
        for name in NAMES:
            file = tmp_path / "python" / f"{name}.{how}"
            file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
            arguments = ["--class", name, "--schema", schema, *options]
            run(TOFTDB, "import", database, file, *arguments)
        assert exported(database, tmp_path / "again") == expected
    copy = tmp_path / "copy.toft"
    counts = in_python(copy, tmp_path / "terminal", "read").splitlines()
    assert counts == [f"{how} {name} 2" for how in FORMS for name in NAMES]
    again = exported(copy, tmp_path / "last")
    things = {file: text for file, text in expected.items() if file.startswith("Thing")}
    assert things.items() <= again.items()


def test_swift_writes_what_the_terminal_does_and_reads_what_each_has_written(
    tmp_path: Path,
) -> None:
    source, copy = tmp_path / "source.toft", tmp_path / "copy.toft"
    in_python(source, tmp_path, "fill")
    in_python(source, tmp_path / "python", "write")
    expected = exported(source, tmp_path / "terminal")
    counts = [f"{how} {name} 2" for how in FORMS for name in NAMES]
    assert in_swift(source, tmp_path / "swift", "write").splitlines() == counts
    for file, text in expected.items():
        assert (tmp_path / "swift" / file).read_bytes().decode() == text
    things = {file: text for file, text in expected.items() if file.startswith("Thing")}
    for writer in ("terminal", "python", "swift"):
        assert in_swift(copy, tmp_path / writer, "read").splitlines() == counts
        assert things.items() <= exported(copy, tmp_path / "again").items()
    assert in_python(copy, tmp_path / "swift", "read").splitlines() == counts
    assert things.items() <= exported(copy, tmp_path / "again").items()


def assigned() -> list[str]:
    """Every character of Unicode that is assigned, and the ends of what is for private use."""
    kept = {0xE000, 0xF8FF, 0xF0000, 0xFFFFD, 0x100000, 0x10FFFD}
    return [
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) not in ("Cn", "Co", "Cs") or code in kept
    ]


def beside_what_means_something(character: str) -> str:
    """A character before and behind everything that CSV and JSON give a meaning, and with marks."""
    parts = ('"', ",", "\n", "\r\n", "\r", "\\", '"\u0301', '\u0600"', '\u0301"', "\u200d,\u200d")
    return character + character.join(parts) + character


def strange(chance: random.Random) -> str:
    """A text of what joins with its neighbours to one letter, and of what parts texts."""
    letters = [*'",\n\r\\ \t\0a0', "\r\n", '""', "\u0301", "\u0600", "\u200d", "\ufeff", "\ufe0f"]
    letters += [
        "\u1100",
        "\u1161",
        "\U0001f1e6",
        "\U0001f469",
        "\u0e33",
        "\u0903",
        "\u2028",
        "\x85",
    ]
    return "".join(chance.choices(letters, k=chance.randrange(12)))


def test_every_character_comes_back_byte_for_byte_whoever_reads_and_writes(tmp_path: Path) -> None:
    seed = int(os.environ.get("TOFT_SEED", random.randrange(2**32)))
    print("seed", seed)
    chance = random.Random(seed)
    characters = assigned()
    assert len(characters) > 100_000
    texts = [
        "".join(map(beside_what_means_something, characters[first : first + 500]))
        for first in range(0, len(characters), 500)
    ]
    texts += [strange(chance) for _ in range(500)]
    # Texts without quotes are alone in a field; the first of a file is behind its header.
    texts += [*map(chr, range(0x250)), *chance.sample(characters, 500), "\ufeff", "\ufeffa", ""]
    source, schema = tmp_path / "source.toft", tmp_path / "schema.json"
    in_python(source, tmp_path / "empty", "write")
    schema.write_text(run(TOFTDB, "schema", source, "--json"))
    given = tmp_path / "given.jsonl"
    with given.open("w", encoding="utf-8", newline="") as file:
        for number, text in enumerate(texts):
            file.write(
                json.dumps({"id": number, "name": text}, ensure_ascii=number % 2 == 0) + "\n"
            )
    run(TOFTDB, "import", source, given, "--class", "Thing")

    def names(lines: str) -> list[str]:
        return [json.loads(line)["name"] for line in lines.removesuffix("\n").split("\n")]

    def fields(table: str) -> list[str]:
        csv.field_size_limit(1 << 24)
        return [row["name"] for row in csv.DictReader(io.StringIO(table, newline=""))]

    expected = exported(source, tmp_path / "terminal")
    assert names(expected["Thing.json_lines"]) == texts
    assert fields(expected["Thing.csv"]) == texts
    in_python(source, tmp_path / "python", "write")
    in_swift(source, tmp_path / "swift", "write")
    for writer in ("python", "swift"):
        written = (tmp_path / writer / "Thing.json_lines").read_bytes()
        assert written == expected["Thing.json_lines"].encode(), writer
        table = (tmp_path / writer / "Thing.csv").read_bytes().decode()
        assert fields(table) == texts, writer
    copy = tmp_path / "copy.toft"
    for writer, reader in (("terminal", in_python), ("python", in_swift)):
        reader(copy, tmp_path / writer, "read")
        assert run(TOFTDB, "export", copy, "Thing") == expected["Thing.json_lines"], writer
    again = tmp_path / "again.toft"
    table = tmp_path / "swift" / "Thing.csv"
    run(TOFTDB, "import", again, table, "--csv", "--class", "Thing", "--schema", schema)
    assert run(TOFTDB, "export", again, "Thing") == expected["Thing.json_lines"]
    run(TOFTDB, "check", again)
