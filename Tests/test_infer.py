# Tests: SchemaGuess.swift
"""A file of comma-separated values, or of JSON lines, is imported without a schema: `toftdb import
--infer` guesses the class. TOFTDB names the program.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))


def run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [TOFTDB, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def guessed(folder: Path, text: str, *options: object, name: str = "data.csv") -> dict[str, str]:
    """The types that are guessed, as words; the file is checked."""
    file, database = folder / name, folder / "new.toft"
    file.write_text(text)
    database.unlink(missing_ok=True)
    outcome = json.loads(run("import", database, file, "--infer", "--json", *options).stdout)
    run("check", database)
    [owner] = outcome["schema"]["classes"]
    return {each["name"]: words(each) for each in owner["properties"]}


def words(each: dict) -> str:
    marks = [mark for mark in ("primaryKey", "optional", "list") if each.get(mark)]
    return " ".join([*marks, each["type"]])


def column(folder: Path, *fields: str) -> str:
    """The type that is guessed for a column of such fields."""
    rows = "".join(f"{number},{field}\n" for number, field in enumerate(fields))
    return guessed(folder, "n,x\n" + rows)["x"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["true", "False"], "bool"),
        (["0", "1"], "int"),
        (["1", "-2"], "int"),
        (["9223372036854775807", "-9223372036854775808"], "int"),
        (["9223372036854775808", "1"], "decimal128"),
        (["9223372036854775808.5", "9007199254740993"], "decimal128"),
        (["1", "2.5"], "double"),
        (["1e3", "-0.5"], "double"),
        (["1e999", "1"], "decimal128"),
        (["007", "1"], "string"),
        (["+5", "1"], "string"),
        (["1.5", "x"], "string"),
        (["2024-02-29", "2024-02-29T12:30:00Z"], "date"),
        (["2024-02-30", "2024-02-29"], "string"),
        (["2024-02-29T12:30:00", "2024-02-29"], "string"),
        (["123e4567-e89b-12d3-a456-426614174000"], "uuid"),
        (["1", ""], "optional int"),
        (['""', "x"], "string"),
        (["", ""], "optional string"),
        (["true", "1"], "string"),
    ],
)
def test_the_narrowest_type_that_holds_all_is_guessed(
    tmp_path: Path, fields: list[str], expected: str
) -> None:
    assert column(tmp_path, *fields) == expected


def test_what_was_guessed_holds_what_the_file_has(tmp_path: Path) -> None:
    text = 'id;name;born\n1;"Ada; Countess";1815-12-10\n2;;1906-12-09\n'
    types = guessed(
        tmp_path, text, "--primary-key", "id", "--delimiter", ";", name="the people.csv"
    )
    assert types == {"id": "primaryKey int", "name": "optional string", "born": "date"}
    rows = run("export", tmp_path / "new.toft", "ThePeople").stdout.splitlines()
    assert [json.loads(row) for row in rows] == [
        {"id": 1, "name": "Ada; Countess", "born": "1815-12-10T00:00:00Z"},
        {"id": 2, "name": None, "born": "1906-12-09T00:00:00Z"},
    ]


def test_the_schema_is_printed_and_can_be_imported_with(tmp_path: Path) -> None:
    table = tmp_path / "dogs.csv"
    table.write_text("name,age\nRex,3\n")
    told = run("import", tmp_path / "a.toft", table, "--infer", "--class", "Dog").stdout
    printed, outcome = told.strip().split("\n")
    assert outcome.startswith("1 created")
    schema = tmp_path / "schema.json"
    schema.write_text(printed)
    run("import", tmp_path / "b.toft", table, "--schema", schema)
    exports = [run("export", tmp_path / name, "Dog").stdout for name in ("a.toft", "b.toft")]
    assert exports[0] == exports[1]


def test_lines_of_json_are_guessed_too(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "n": 1, "tags": ["x"], "odd": 1, "deep": {"x": 1}, "many": [1, "a"]},
        {"id": "b", "n": 1.5, "tags": [], "odd": "1", "at": "2024-02-29T12:30:00Z", "many": []},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    assert guessed(tmp_path, text, "--primary-key", "id", name="things.jsonl") == {
        "id": "primaryKey string",
        "n": "double",
        "tags": "list string",
        "odd": "mixed",
        "deep": "mixed",
        "many": "mixed",
        "at": "optional date",
    }


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("", [], "is empty"),
        ("id,name\n", [], "no object"),
        ("id,id\n1,2\n", [], "Two fields are named 'id'"),
        ("id,name\n1\n", [], "Line 2 of"),
        ("id,name\n1,\n", ["--primary-key", "nmae"], "Did you mean 'name'?"),
        ("id,name\n1,\n", ["--primary-key", "name"], "string that may be null"),
        ("id,x\n1,1.5\n", ["--primary-key", "x"], "it is double"),
        ("id\n1\n1\n", ["--primary-key", "id"], "Line 3 of"),
        ("id\n1\n", ["--delimiter", ";;"], "--delimiter is one ASCII character"),
        ("id\n1\n", ["--schema", "none.json"], "say one"),
    ],
)
def test_files_that_give_no_class_make_nothing(
    tmp_path: Path, text: str, options: list[str], told: str
) -> None:
    table, database = tmp_path / "data.csv", tmp_path / "new.toft"
    table.write_text(text)
    refused = run("import", database, table, "--infer", *options, status=1)
    assert told in refused.stderr
    if database.exists():
        assert not json.loads(run("schema", database, "--json").stdout)["classes"]


def test_a_primary_key_without_a_guess_and_a_name_of_no_class_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "1.csv"
    table.write_text("id\n1\n")
    database = tmp_path / "new.toft"
    assert "--class" in run("import", database, table, "--infer", status=1).stderr
    options = ("--primary-key", "id", "--class", "A")
    assert "--infer" in run("import", database, table, *options, status=1).stderr
