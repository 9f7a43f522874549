# Tests: Check.swift, ToftCLI/Copies.swift, Demo.swift, DemoWatchers.swift, Dump.swift,
# Export.swift, FileArgument.swift, Import.swift, Import+Realm.swift, Info.swift, Input.swift,
# LineFile.swift, Output.swift, PackageCatalog.swift, PackageSource.swift, Pages.swift,
# Plan.swift, ToftCLI/Query.swift, SalvageCommand.swift, SchemaCommand.swift, SchemaFile.swift,
# ToftDB.swift, Watch.swift, WithoutTrait.swift
"""The terminal:

what `toftdb` says, to people and to programs, and how it ends. TOFTDB names the program.
"""

import csv
import io
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
SAMPLE = ROOT / "Tests/packages.jsonl"
SCHEMA = {
    "classes": [
        {
            "name": "Package",
            "properties": [
                {"name": "name", "type": "string", "primaryKey": True},
                {"name": "section", "type": "string", "indexed": True},
                {"name": "size", "type": "int"},
                {"name": "homepage", "type": "string", "optional": True},
                {"name": "essential", "type": "bool"},
                {"name": "tags", "type": "string", "list": True},
                {"name": "depends", "type": "link", "list": True, "target": "Package"},
            ],
        }
    ]
}


def run(*arguments: object, status: int = 0, **options: object) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [TOFTDB, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def loaded(folder: Path) -> Path:
    schema = folder / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    database = folder / "packages.toft"
    # The sample's packages depend on others that are not in it, and have members of no property.
    run("import", database, SAMPLE, "--schema", schema, "--ignore-missing", "--ignore-unknown")
    return database


def sample() -> list[dict]:
    return [json.loads(line) for line in SAMPLE.read_text().splitlines()]


def test_what_is_imported_is_answered_and_exported(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    packages = {item["name"]: item for item in sample()}
    large = sum(item["size"] > 100_000 for item in packages.values())
    assert json.loads(
        run("query", database, "Package", "size > 100000", "--count", "--json").stdout
    ) == {"count": large}
    exported = [json.loads(line) for line in run("export", database, "Package").stdout.splitlines()]
    assert len(exported) == len(packages)
    for item in exported:
        source = packages[item["name"]]
        assert (item["section"], item["size"], item["tags"]) == (
            source["section"],
            source["size"],
            source["tags"],
        )
        assert item["depends"] == [name for name in source["depends"] if name in packages]
    report = json.loads(run("check", database, "--json").stdout)
    assert report["problems"] == []


def test_counted_keys_are_shown_moved_and_given_out(tmp_path: Path) -> None:
    key = {"name": "id", "type": "int", "primaryKey": True, "autoIncrement": True}
    text = {"name": "text", "type": "string"}
    dump = tmp_path / "tickets.jsonl"
    schema = {"toft": 1, "classes": [{"name": "Ticket", "properties": [key, text]}]}
    rows = [{"_class": "Ticket", "_key": 0, "id": 7}, {"_class": "Ticket", "_key": 1}]
    dump.write_text("".join(json.dumps(line) + "\n" for line in [schema, *rows]))
    database, copy = tmp_path / "tickets.toft", tmp_path / "copy.toft"
    run("load", database, dump)
    assert "int, primary key, auto-increment" in run("schema", database).stdout
    dumped = run("dump", database).stdout
    assert [json.loads(line).get("id") for line in dumped.splitlines()[1:]] == [7, 8]
    assert json.loads(dumped.splitlines()[0])["classes"][0]["properties"][0] == key
    run("load", copy, "-", input=dumped)
    assert run("dump", copy).stdout == dumped
    assert json.loads(dumped.splitlines()[0])["counters"] == {"Ticket": 8}
    # The keys of deleted objects are not used again.
    first, *lines = dumped.splitlines()
    schema["counters"] = {"Ticket": 41}
    dump.write_text("".join(line + "\n" for line in [json.dumps(schema), *lines]))
    moved, again = tmp_path / "moved.toft", tmp_path / "again.toft"
    run("load", moved, dump)
    dumped = run("dump", moved).stdout
    assert json.loads(dumped.splitlines()[0])["counters"] == {"Ticket": 41}
    run("load", again, "-", input=dumped)
    ticket = tmp_path / "ticket.jsonl"
    ticket.write_text('{"text": "new"}\n')
    run("import", again, ticket, "--class", "Ticket")
    assert json.loads(run("dump", again).stdout.splitlines()[-1])["id"] == 42
    assert json.loads(run("check", again, "--json").stdout)["problems"] == []
    key["type"] = "string"
    dump.write_text(json.dumps(schema) + "\n")
    refused = run("load", tmp_path / "other.toft", dump, status=1)
    assert "can't be auto-incremented" in refused.stderr


def test_unique_constraints_are_shown_moved_and_kept(tmp_path: Path) -> None:
    properties = [{"name": name, "type": "int"} for name in "ab"]
    schema = {
        "toft": 1,
        "classes": [{"name": "Pair", "unique": [["a", "b"]], "properties": properties}],
    }
    rows = [{"_class": "Pair", "_key": key, "a": key // 2, "b": key % 2} for key in range(4)]
    dump, database = tmp_path / "pairs.jsonl", tmp_path / "pairs.toft"
    dump.write_text("".join(json.dumps(line) + "\n" for line in [schema, *rows]))
    run("load", database, dump)
    assert "unique: a, b" in run("schema", database).stdout
    assert json.loads(run("schema", database, "--json").stdout)["classes"] == schema["classes"]
    assert run("check", database).returncode == 0
    rows[3]["b"] = 0
    dump.write_text("".join(json.dumps(line) + "\n" for line in [schema, *rows]))
    refused = run("load", tmp_path / "other.toft", dump, status=1)
    assert "have a = 1 and b = 0, which is unique" in refused.stderr


def test_delete_rules_are_shown_and_moved(tmp_path: Path) -> None:
    link = {"name": "next", "type": "link", "deleteRule": "cascade", "target": "Item"}
    keeps = {"name": "kept", "type": "link", "deleteRule": "deny", "target": "Item"}
    schema = {"toft": 1, "classes": [{"name": "Item", "properties": [link, keeps]}]}
    dump, database = tmp_path / "items.jsonl", tmp_path / "items.toft"
    dump.write_text(json.dumps(schema) + "\n")
    run("load", database, dump)
    shown = run("schema", database).stdout
    assert "link to 'Item', cascade" in shown and "link to 'Item', deny" in shown
    printed = json.loads(run("schema", database, "--json").stdout)
    assert printed["classes"] == schema["classes"]
    link["deleteRule"] = "vanish"
    dump.write_text(json.dumps(schema) + "\n")
    refused = run("load", tmp_path / "other.toft", dump, status=1)
    assert "unknown delete rule 'vanish'" in refused.stderr


def test_a_schema_that_is_printed_can_be_imported_with(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    schema = tmp_path / "again.json"
    schema.write_text(run("schema", database, "--json").stdout)
    lines = tmp_path / "lines.jsonl"
    lines.write_text(run("export", database, "Package").stdout)
    again = tmp_path / "again.toft"
    outcome = json.loads(run("import", again, lines, "--schema", schema, "--json").stdout)
    assert outcome["created"] == len(sample()) and outcome["missingTargets"] == 0
    assert run("export", again, "Package").stdout == lines.read_text()


CIRCLE = {
    "classes": [
        {
            "name": "A",
            "properties": [
                {"name": "b", "type": "link", "target": "B"},
                {"name": "others", "type": "link", "list": True, "target": "A"},
                {"name": "when", "type": "date", "optional": True},
                {"name": "number", "type": "double"},
                {"name": "small", "type": "float"},
                {"name": "bytes", "type": "data"},
                {"name": "words", "type": "string", "list": True},
            ],
        },
        {
            "name": "B",
            "properties": [
                {"name": "id", "type": "int", "primaryKey": True},
                {"name": "a", "type": "link", "target": "A"},
            ],
        },
    ]
}
DATES = [
    "2026-11-22T08:30:00.000000001Z",
    "1969-12-31T23:59:59.999999999Z",
    "1969-12-31T23:59:58Z",
    "9999-12-31T23:59:59.999999999Z",
    "1583-01-01T00:00:00Z",
    "T-12212553601:0",
    "T253402300800:5",
    "T-9223372036854775808:-999999999",
    "T9223372036854775807:999999999",
    None,
]


def test_a_whole_database_is_dumped_and_loaded_with_every_link(tmp_path: Path) -> None:
    lines = [json.dumps({"toft": 1} | CIRCLE)]
    for key, date in enumerate(DATES):
        lines.append(
            json.dumps(
                {
                    "_class": "A",
                    "_key": 100 - key,  # in another order than the objects will have
                    "b": 7,
                    "others": [100 - key, 100, 100],
                    "when": date,
                    "number": ["nan", "inf", "-inf", 0.1, -0.0][key % 5],
                    "small": [0.10000000149011612, "inf", 1e38][key % 3],
                    "bytes": "AP8=",
                    "words": ["", "two\n\u0000", "\u00e9\U0001f600"],
                }
            )
        )
    lines.append(json.dumps({"_class": "B", "_key": 7, "id": -5, "a": 92}))
    dump = tmp_path / "first.jsonl"
    dump.write_text("\n".join(lines) + "\n")
    first, second = tmp_path / "first.toft", tmp_path / "second.toft"
    assert run("load", first, dump).stdout == "11 objects, 41 links\n"
    printed = run("dump", first).stdout
    (tmp_path / "second.jsonl").write_text(printed)
    run("load", second, tmp_path / "second.jsonl")
    assert run("dump", second).stdout == printed

    objects = [json.loads(line) for line in printed.splitlines()[1:]]
    of_a = [item for item in objects if item["_class"] == "A"]
    (of_b,) = [item for item in objects if item["_class"] == "B"]
    assert [item["when"] for item in of_a] == DATES
    assert {item["b"] for item in of_a} == {of_b["_key"]}
    assert of_b["a"] == of_a[8]["_key"]
    for item in of_a:
        assert item["others"] == [item["_key"], of_a[0]["_key"], of_a[0]["_key"]]
    assert [item["number"] for item in of_a[:4]] == ["nan", "inf", "-inf", 0.1]
    assert str(of_a[4]["number"]) == "-0.0"
    assert of_a[0]["small"] == 0.10000000149011612
    assert of_a[0]["words"] == ["", "two\n\0", "\u00e9\U0001f600"]
    assert json.loads(run("check", second, "--json").stdout)["problems"] == []
    # A file that has objects is refused; and a failure leaves nothing behind.
    assert "already" in run("load", second, dump, status=1).stderr
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join(lines[:-1]) + "\n")
    third = tmp_path / "third.toft"
    assert "Line 2" in run("load", third, broken, status=1).stderr
    assert "no class 'A'" in run("query", third, "A", "--count", status=1).stderr
    run("load", third, dump)


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def write_lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def lines_of(*arguments: object) -> list[dict]:
    return [json.loads(line) for line in run(*arguments).stdout.splitlines()]


def test_properties_may_have_the_names_that_a_dump_gives_the_class_and_the_key(
    tmp_path: Path,
) -> None:
    properties = [
        {"name": "_key", "type": "int"},
        {"name": "_class", "type": "string"},
        {"name": "next", "type": "link", "target": "Odd"},
    ]
    schema = {
        "toft": 1,
        "classes": [
            {"name": "Odd", "properties": properties},
            {"name": "Plain", "properties": [{"name": "next", "type": "link", "target": "Odd"}]},
        ],
    }
    odd = [
        {"__class": "Odd", "__key": 0, "_key": 1, "_class": "Plain", "next": 1},
        {"__class": "Odd", "__key": 1, "_key": 0, "_class": "Odd", "next": 0},
    ]
    plain = {"__class": "Plain", "_key": 0, "next": 1}
    dump = write_lines(tmp_path / "dump.jsonl", [schema, *odd, plain])
    database, copy = tmp_path / "a.toft", tmp_path / "b.toft"
    run("load", database, dump)
    assert lines_of("dump", database) == [schema, *odd, plain]
    run("load", copy, "-", input=run("dump", database).stdout)
    assert run("dump", copy).stdout == run("dump", database).stdout
    (tmp_path / "schema.json").write_text(json.dumps({"classes": schema["classes"][:1]}))
    for number, options in enumerate(([], ["--csv"])):
        table = tmp_path / f"odd{number}"
        table.write_text(run("export", database, "Odd", *options).stdout)
        again = tmp_path / f"again{number}.toft"
        run("import", again, table, "--schema", tmp_path / "schema.json", *options)
        found = lines_of("export", again, "Odd")
        assert found == [{k: v for k, v in row.items() if k != "__class"} for row in odd]
    # The earlier form, and forms that are ambiguous.
    for wrong, told in (
        ({"_class": "Odd", "_key": 5, "next": None}, "as '__class'"),
        ('{"__class":"Odd","__key":5,"__key":6}', "'__key' twice"),
        ('{"__class":"Odd","__class":"Plain"}', "'__class' twice"),
        ('{"__class":"Odd","_key":5,"_key":6}', "'_key' twice"),
        (odd[0], "Two objects of 'Odd' have 0 as '__key'"),
    ):
        line = wrong if isinstance(wrong, str) else json.dumps(wrong)
        given = dump.read_text() + line + "\n"
        refused = run("load", tmp_path / "wrong.toft", "-", input=given, status=1)
        assert "Line 5" in refused.stderr and told in refused.stderr


def test_names_of_other_bytes_are_other_names_however_they_look(tmp_path: Path) -> None:
    properties = [
        {"name": "id", "type": "int", "primaryKey": True, "autoIncrement": True},
        {"name": COMPOSED, "type": "int"},
        {"name": DECOMPOSED, "type": "mixed"},
    ]
    schema = {
        "toft": 1,
        "counters": {COMPOSED: 70, DECOMPOSED: 8},
        "classes": [
            {"name": COMPOSED, "properties": properties},
            {"name": DECOMPOSED, "properties": properties},
        ],
    }
    rows = [
        {"_class": name, "_key": 0, "id": number, COMPOSED: number, DECOMPOSED: f"{number}"}
        for name, number in ((COMPOSED, 3), (DECOMPOSED, 4))
    ]
    dump = write_lines(tmp_path / "dump.jsonl", [schema, *rows])
    database = tmp_path / "a.toft"
    run("load", database, dump)
    assert lines_of("dump", database) == [schema, *rows]
    (tmp_path / "schema.json").write_text(json.dumps({"classes": schema["classes"]}))
    for name, row in ((COMPOSED, rows[0]), (DECOMPOSED, rows[1])):
        expected = {k: v for k, v in row.items() if not k.startswith("_")}
        assert lines_of("export", database, name) == [expected]
        assert lines_of("query", database, name, "--json") == [expected]
        for options in ([], ["--csv"]):
            table, again = tmp_path / "table", tmp_path / f"{len(options)}{len(name)}.toft"
            table.write_text(run("export", database, name, *options).stdout)
            schema_file = ["--schema", tmp_path / "schema.json"]
            run("import", again, table, "--class", name, *schema_file, *options)
            assert lines_of("export", again, name) == [expected]
    table.write_text("id,id\n1,2\n")
    refused = run("import", database, table, "--class", COMPOSED, "--csv", status=1)
    assert "Two fields are named 'id'" in refused.stderr


def test_a_name_may_begin_with_a_mark_that_joins_what_stands_before_it(tmp_path: Path) -> None:
    mark, dashed = "\u0301x", "a-\u0301b"
    properties = [
        {"name": "id", "type": "int", "primaryKey": True},
        {"name": mark, "type": "int"},
        {"name": dashed, "type": "int"},
        {"name": DECOMPOSED, "type": "string"},
        {"name": "next", "type": "link", "target": "Odd"},
    ]
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"classes": [{"name": "Odd", "properties": properties}]}))
    rows = [{"id": n, mark: n % 3, dashed: n, DECOMPOSED: "", "next": 4 - n} for n in range(5)]
    lines, database = write_lines(tmp_path / "a.jsonl", rows), tmp_path / "a.toft"
    run("import", database, lines, "--schema", schema)
    found = lines_of("query", database, "Odd", f"next.{mark} >= 1 SORT(next.{mark} ASC)", "--json")
    assert [row["id"] for row in found] == [0, 3, 2]
    assert lines_of("query", database, "Odd", f"{dashed} == 2", "--json") == [rows[2]]
    shown = run("schema", database).stdout.splitlines()
    assert [line.split()[0] for line in shown[1:]] == [each["name"] for each in properties]
    for number, options in enumerate(([], ["--csv"])):
        table, again = tmp_path / f"table{number}", tmp_path / f"again{number}.toft"
        table.write_text(run("export", database, "Odd", *options).stdout)
        run("import", again, table, "--schema", schema, *options)
        assert lines_of("export", again, "Odd") == rows


def test_a_link_to_the_object_without_a_number_is_not_lost(tmp_path: Path) -> None:
    link = {"type": "link", "target": "Person"}
    properties = [
        {"name": "id", "type": "int", "optional": True, "primaryKey": True},
        {"name": "boss", **link},
        {"name": "team", "list": True, **link},
    ]
    schema = {"toft": 1, "classes": [{"name": "Person", "properties": properties}]}
    rows = [
        {"_class": "Person", "_key": 0, "id": None, "boss": 0, "team": [1, 0]},
        {"_class": "Person", "_key": 1, "id": 5, "boss": 0, "team": []},
        {"_class": "Person", "_key": 2, "id": 6, "boss": None, "team": [0]},
    ]
    dump = write_lines(tmp_path / "dump.jsonl", [schema, *rows])
    database, again = tmp_path / "a.toft", tmp_path / "b.toft"
    run("load", database, dump)
    exported = run("export", database, "Person").stdout
    nobody = {"$class": "Person", "$link": None}
    assert [json.loads(line)["boss"] for line in exported.splitlines()] == [nobody, nobody, None]
    (tmp_path / "schema.json").write_text(json.dumps({"classes": schema["classes"]}))
    given = ["--schema", tmp_path / "schema.json"]
    run("import", again, "-", *given, input=exported)
    assert run("dump", again).stdout == run("dump", database).stdout
    run("import", again, "-", "--update", "modified", input=exported)
    assert run("dump", again).stdout == run("dump", database).stdout
    # A field of a table has room for a number only.
    refused = run("export", database, "Person", "--csv", status=1)
    assert "Person.boss" in refused.stderr and "toftdb dump" in refused.stderr
    missing = json.dumps({"id": 9, "boss": nobody}) + "\n"
    refused = run("import", tmp_path / "c.toft", "-", *given, input=missing, status=1)
    assert "Line 1" in refused.stderr and "Person.boss" in refused.stderr


HIDER = """
import sys, toft
class Secret(toft.Object):
    text: str
class Note(toft.Object):
    any: toft.Mixed = None
    all: list[toft.Mixed]
    some: set[toft.Mixed]
    named: dict[str, toft.Mixed]
with toft.open(sys.argv[1], [Secret, Note]) as realm, realm.write():
    secret, note = realm.create(Secret, text="x"), realm.create(Note)
    inner = {"it": secret, "list": [secret, note]}
    realm.create(Note, any=secret, all=[1, secret, note], some={1, secret, note}, named=inner)
toft.open(sys.argv[1], [Note], schema_version=2, migration=lambda migration: None).close()
"""


def test_a_dump_has_classes_that_an_opening_has_hidden(tmp_path: Path) -> None:
    database, copy = tmp_path / "notes.toft", tmp_path / "copy.toft"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}
    subprocess.run(
        [sys.executable, "-c", HIDER, str(database)], check=True, timeout=60, env=environment
    )
    # No program declares Secret any more: links to its objects are null for those who name no
    # classes, and a dump has them.
    (shown,) = map(json.loads, run("export", database, "Note").stdout.splitlines()[1:])
    assert (shown["any"], shown["all"][:2]) == (None, [1, None])
    dumped = run("dump", database).stdout
    schema, secret, _, note = map(json.loads, dumped.splitlines())
    assert [each["name"] for each in schema["classes"]] == ["Secret", "Note"]
    assert (secret["_class"], secret["text"]) == ("Secret", "x")
    link, other = {"$class": "Secret", "$link": 0}, {"$class": "Note", "$link": 0}
    assert (note["any"], note["all"]) == (link, [1, link, other])
    assert sorted(map(str, note["some"])) == sorted(map(str, [1, link, other]))
    assert note["named"] == {"it": link, "list": [link, other]}
    run("load", copy, "-", input=dumped)
    assert run("dump", copy).stdout == dumped
    for file in (database, copy):
        assert json.loads(run("check", file, "--json").stdout)["problems"] == []


def test_the_whole_sample_is_the_same_after_a_dump_and_a_load(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    dump = tmp_path / "dump.jsonl"
    dump.write_text(run("dump", database).stdout)
    again = tmp_path / "again.toft"
    run("load", again, dump)
    assert run("export", again, "Package").stdout == run("export", database, "Package").stdout
    assert json.loads(run("check", again, "--json").stdout)["problems"] == []


def test_identifiers_are_texts_of_their_digits(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    properties = [
        {"name": "id", "type": "objectId", "primaryKey": True},
        {"name": "code", "type": "uuid", "indexed": True},
        {"name": "codes", "type": "uuid", "list": True},
        {"name": "next", "type": "link", "target": "Parcel"},
    ]
    schema.write_text(json.dumps({"classes": [{"name": "Parcel", "properties": properties}]}))
    rows = tmp_path / "rows.jsonl"
    first = {
        "id": "00000000000000000000000a",
        "code": "00112233-4455-6677-8899-aabbccddeeff",
        "codes": ["ffffffff-ffff-ffff-ffff-ffffffffffff"],
        "next": "0123456789abcdef01234567",
    }
    second = {
        "id": "0123456789abcdef01234567",
        "code": "00000000-0000-0000-0000-000000000000",
        "codes": [],
        "next": None,
    }
    rows.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    database, copy = tmp_path / "parcels.toft", tmp_path / "copy.toft"
    run("import", database, rows, "--schema", schema)
    assert [json.loads(line) for line in run("export", database, "Parcel").stdout.splitlines()] == [
        first,
        second,
    ]
    found = run("query", database, "Parcel", f"code == uuid({first['code']})").stdout
    assert first["id"] in found and second["id"] not in found.replace(first["next"], "")
    linked = f"next.id == oid({second['id']})"
    counted = run("query", database, "Parcel", linked, "--count", "--json").stdout
    assert json.loads(counted) == {"count": 1}
    dump = tmp_path / "dump.jsonl"
    dump.write_text(run("dump", database).stdout)
    run("load", copy, dump)
    assert run("dump", copy).stdout == dump.read_text()
    rows.write_text(json.dumps(first | {"code": "00112233"}) + "\n")
    wrong = run("import", tmp_path / "wrong.toft", rows, "--schema", schema, status=1)
    assert "uuid" in wrong.stderr and "8-4-4-4-12" in wrong.stderr


def test_decimals_are_texts_that_keep_their_digits(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    properties = [
        {"name": "price", "type": "decimal128"},
        {"name": "discount", "type": "decimal128", "optional": True},
        {"name": "prices", "type": "decimal128", "list": True},
    ]
    schema.write_text(json.dumps({"classes": [{"name": "Offer", "properties": properties}]}))
    rows = [
        {"price": "1.50", "discount": None, "prices": ["1E+3", "-0", "NaN", "-Infinity"]},
        {"price": "9.999999999999999999999999999999999E+6144", "discount": "0.00", "prices": []},
    ]
    given = tmp_path / "rows.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in [*rows, rows[0] | {"price": 7}]))
    database, copy = tmp_path / "offers.toft", tmp_path / "copy.toft"
    run("import", database, given, "--schema", schema)
    exported = [json.loads(line) for line in run("export", database, "Offer").stdout.splitlines()]
    assert [{name: row[name] for name in rows[0]} for row in exported] == [
        *rows,
        rows[0] | {"price": "7"},
    ]
    found = run("query", database, "Offer", "price == 1.5 OR price > 1e6000", "--count", "--json")
    assert json.loads(found.stdout) == {"count": 2}
    assert "1.50" in run("query", database, "Offer", "price BETWEEN {1, 2}").stdout
    dump = tmp_path / "dump.jsonl"
    dump.write_text(run("dump", database).stdout)
    run("load", copy, dump)
    assert run("dump", copy).stdout == dump.read_text()
    run("check", copy)
    for wrong in ("1,5", "", True):
        given.write_text(json.dumps(rows[0] | {"price": wrong}) + "\n")
        refused = run("import", tmp_path / "wrong.toft", given, "--schema", schema, status=1)
        assert "a number of at most 34 digits" in refused.stderr


def test_unknown_members_and_missing_targets_fail_unless_they_are_to_be_left_out(
    tmp_path: Path,
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    database = tmp_path / "database.toft"
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"name": "a", "depends": ["b", "c"]}\n{"name": "b", "nope": 1}\n')
    arguments = ("import", database, lines, "--schema", schema, "--json")
    unknown = run(*arguments, status=1).stderr
    assert "Line 2" in unknown and "'nope'" in unknown and "--ignore-unknown" in unknown
    missing = run(*arguments, "--ignore-unknown", status=1).stderr
    assert "Line 1" in missing and "'c'" in missing and "--ignore-missing" in missing
    assert "no class 'Package'" in run("query", database, "Package", "--count", status=1).stderr
    outcome = json.loads(run(*arguments, "--ignore-unknown", "--ignore-missing").stdout)
    assert (outcome["created"], outcome["links"]) == (2, 1)
    assert (outcome["missingTargets"], outcome["ignoredMembers"]) == (1, ["nope"])


def test_the_plan_and_the_facts_are_told(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    assert (
        "primary key Package.name"
        in run("query", database, "Package", "name == 'bash'", "--explain").stdout
    )
    assert "Package" in run("schema", database).stdout
    facts = json.loads(run("info", database, "--json").stdout)
    assert (facts["format"], facts["deferredBytes"], facts["checkpointVersion"]) == (
        8,
        0,
        facts["version"],
    )
    assert "nothing waits for a checkpoint" in run("info", database).stdout


WRITER = """
import sys, toft
class Note(toft.Object):
    text: str
with toft.open(sys.argv[1], [Note]) as realm:
    for line in sys.stdin:
        if line == "flush\\n":
            realm.flush()
        else:
            with realm.write(durability="deferred"):
                realm.create(Note, text=line)
        print("done", flush=True)
"""


def test_what_another_process_has_deferred_is_told_until_it_is_durable(tmp_path: Path) -> None:
    database = tmp_path / "notes.toft"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(database)], text=True, env=environment, **pipes
    )

    def order(line: str) -> dict:
        print(line, file=writer.stdin, flush=True)
        assert writer.stdout.readline() == "done\n"
        return json.loads(run("info", database, "--json").stdout)

    # Deferred commits become durable within a second: more often than not the terminal is quicker.
    facts = [order(f"note {number}") for number in range(5)]
    assert max(each["deferredBytes"] for each in facts) > 0
    assert [each["version"] for each in facts] == sorted({each["version"] for each in facts}), (
        "each commit is seen at once"
    )
    assert order("flush")["deferredBytes"] == 0
    writer.kill()
    writer.communicate()
    after = json.loads(run("info", database, "--json").stdout)
    assert (after["version"], after["deferredBytes"]) == (facts[-1]["version"], 0)
    assert json.loads(run("check", database, "--json").stdout)["problems"] == []


READING = (
    ["info"],
    ["check"],
    ["pages"],
    ["schema"],
    ["dump"],
    ["query", "Package", "size >= 0 LIMIT(1)"],
    ["export", "Package"],
    ["export", "Package", "--csv"],
    ["plan", "--schema"],
)


def reading(command: list[str], database: Path) -> list[object]:
    """The arguments of a command that only reads."""
    name, *others = command
    schema = [database.parent / "schema.json"] if name == "plan" else []
    return [TOFTDB, name, database, *others, *schema]


def shell(command: list[object], redirected: str, **options: object) -> tuple[int, str, str]:
    """Status and output of a command with its descriptors redirected: ">&-" closes one."""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirected}', "sh", *map(str, command)],
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_what_can_not_be_printed_is_a_failure(tmp_path: Path, command: list[str]) -> None:
    given = reading(command, loaded(tmp_path))
    status, printed, _ = shell(given, "")
    assert (status, bool(printed)) == (0, True)
    for redirected, told in ((">/dev/full", "No space left"), (">&-", "Bad file descriptor")):
        status, _, complaint = shell(given, redirected)
        assert status == 1 and told in complaint
        assert complaint.startswith("toftdb: Can't write standard output")
        assert shell(given, f"{redirected} 2>&-")[0] == 1
    # A command that does not need its input or has nothing to complain of succeeds without.
    assert shell(given, "<&- 2>&-") == (0, printed, "")
    assert shell(given, "2>/dev/full") == (0, printed, "")
    # Complaints that can't be printed end with the same status.
    missing = [*given[:2], tmp_path / "nope.toft", *given[3:]]
    for redirected in ("2>&-", "2>/dev/full", "<&- >&- 2>&-"):
        assert shell(missing, redirected)[0] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_help_and_input_that_are_not_there_are_failures(tmp_path: Path) -> None:
    assert shell([TOFTDB, "--help"], ">/dev/full")[0] == 1
    assert shell([TOFTDB, "nope"], "2>/dev/full")[0] == 64
    database = loaded(tmp_path)
    before = run("dump", database).stdout
    status, _, complaint = shell([TOFTDB, "import", database, "-"], "<&-")
    assert status == 1 and "Can't read '-'" in complaint
    assert run("dump", database).stdout == before
    # The files that the program opens do not replace its output.
    dump = tmp_path / "dump.jsonl"
    dump.write_text(before)
    for number, redirected in enumerate((">&-", "2>&-", "<&- >&- 2>&-")):
        new = tmp_path / f"{number}.toft"
        status, _, _ = shell([TOFTDB, "load", new, dump], redirected)
        assert status == (0 if redirected == "2>&-" else 1)
        assert run("dump", new).stdout == before


@pytest.mark.parametrize("is_ignored", [False, True])
def test_who_reads_only_the_first_line_ends_a_dump_quietly(
    tmp_path: Path, is_ignored: bool
) -> None:
    schema = {
        "toft": 1,
        "classes": [{"name": "A", "properties": [{"name": "s", "type": "string"}]}],
    }
    rows = [{"_class": "A", "_key": key, "s": "x" * 1_000} for key in range(1_000)]
    dump = write_lines(tmp_path / "dump.jsonl", [schema, *rows])
    database = tmp_path / "a.toft"
    run("load", database, dump)
    ignored = 'trap "" PIPE; ' if is_ignored else ""
    printing = subprocess.Popen(
        ["sh", "-c", f'{ignored}exec "$@"', "sh", TOFTDB, "dump", str(database)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert printing.stdout.readline() == dump.read_text().splitlines(keepends=True)[0].replace(
        " ", ""
    )
    printing.stdout.close()
    assert printing.stderr.read() == ""
    assert printing.wait(timeout=60) == (1 if is_ignored else -signal.SIGPIPE)
    printing.stderr.close()


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None,
    reason="root may write everything, and there is no setpriv to become somebody else",
)
@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.parametrize("has_lock", [False, True])
def test_what_nobody_may_write_can_be_read(command: list[str], has_lock: bool) -> None:
    # Others must get there, which the folders of pytest do not let them.
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as scratch:
        folder = Path(name)
        Path(scratch).chmod(0o777)
        database = loaded(folder)
        given = reading(command, database)
        expected = shell(given, "")
        lock = folder / "packages.toft.lock"
        if not has_lock:
            lock.unlink()
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        before = {path: path.stat() for path in folder.iterdir()}
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        program = [*other, *given] if os.geteuid() == 0 else given
        environment = {**os.environ, "TMPDIR": scratch}
        assert shell(program, "", cwd="/", env=environment) == expected and expected[0] == 0
        after = {path: path.stat() for path in folder.iterdir()}
        assert {path: (each.st_mtime_ns, each.st_size) for path, each in after.items()} == {
            path: (each.st_mtime_ns, each.st_size) for path, each in before.items()
        }
        assert not list(Path(scratch).iterdir())
        folder.chmod(0o755)


def test_mistakes_are_told_and_end_with_a_status(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    assert "^" in run("query", database, "Package", "size >> 3", status=1).stderr
    lacking = run("query", database, "Package", "name == $0", status=1).stderr
    assert "as in a terminal, write the value itself: name == 'Rex'" in lacking
    replaced = run("query", database, "Package", "name == bash", status=1).stderr
    assert "a shell puts its own name in the place of $0" in replaced
    assert "Nothing" in run("query", database, "Nothing", status=1).stderr
    assert run("info", tmp_path / "missing.toft", status=1).stderr
    assert "SQLite" in run("check", sqlite(tmp_path), status=1).stderr
    run("query", status=64)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"name": "a", "size": 1}\n{"name": "b", "size": "large"}\n')
    assert "Line 2" in run("import", database, bad, status=1).stderr
    damaged = tmp_path / "damaged.toft"
    content = bytearray(database.read_bytes())
    for page in range(2, len(content) // 4096):
        content[page * 4096 + 100] ^= 0xFF
    damaged.write_bytes(content)
    run("check", damaged, status=2)


def test_a_command_says_what_to_do_in_its_own_words(tmp_path: Path) -> None:
    database, lines = loaded(tmp_path), tmp_path / "lines.jsonl"
    lines.write_text('{"name": "bash"}\n')
    for command in (["query"], ["watch"], ["export"], ["import", lines, "--class"]):
        name, *others = command
        refused = run(name, database, *others, "Nothing", status=1).stderr
        assert "The classes are: Package." in refused, refused
    refused = run("import", database, lines, status=1).stderr
    assert "Line 1" in refused and "--update all, or modified" in refused
    refused = run("load", tmp_path / "new.toft", lines, status=1).stderr
    assert "it has no 'classes'" in refused and "`toftdb import` reads" in refused
    for name, flag in (("query", "--limit"), ("watch", "--changes")):
        for given in ([flag, "-1"], [f"{flag}=-1"]):
            assert f"{flag} is -1" in run(name, database, "Package", *given, status=64).stderr
    assert run("pins", database).stdout == f"nobody reads '{database}'\n"
    assert run("pins", database, "--json").stdout == ""
    explained = run("query", database, "Package", "size > 5", "--explain", "--json").stdout
    assert "Package" in json.loads(explained)["explanation"]
    dumped, copy = run("dump", database).stdout, tmp_path / "copy.toft"
    outcome = json.loads(run("load", copy, "-", "--json", input=dumped).stdout)
    assert outcome["objects"] == len(sample()) and outcome["links"] > 0
    key = tmp_path / "key"
    key.write_bytes(bytes(64))
    encrypted = run("change-key", copy, "--new-key-file", key, "--json").stdout
    assert json.loads(encrypted) == {"encrypted": True}
    # A path or a reason in the message is not repeated.
    assert len(run("info", tmp_path / "none.toft", status=1).stderr.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_file_that_is_mounted_by_itself_is_not_replaced_and_says_why(tmp_path: Path) -> None:
    database, place, key = loaded(tmp_path), tmp_path / "place.toft", tmp_path / "key"
    key.write_bytes(bytes(64))
    place.touch()
    mount = 'mount --bind "$1" "$2" && exec "$0" change-key "$2" --new-key-file "$3"'
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", mount, TOFTDB, database, place, key],
        capture_output=True,
        text=True,
    )
    if "mount" in done.stderr.split(":")[0] or "unshare" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 1 and "busy" in done.stderr, done.stderr
    assert run("check", database).returncode == 0


def test_damage_of_any_size_is_told_in_words_with_status_2(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    content = database.read_bytes()
    assert run("check", database).stdout.rstrip().endswith(" of earlier versions: sound")
    new = tmp_path / "new.toft"
    metas, root = bytes(8192) + content[8192:], bytearray(content)
    root[json.loads(run("pages", database, "--json").stdout)["root"]["page"] * 4096 + 40] ^= 0xFF
    leaves = bytearray(content)
    for page in range(2, len(content) // 4096):
        leaves[page * 4096 + 100] ^= 0xFF
    for damaged in (metas, root, leaves, content[:-8192], content[:8192]):
        file = tmp_path / "damaged.toft"
        file.write_bytes(damaged)
        told = run("check", file, status=2)
        assert told.stdout.startswith("problem: ") and "toftdb salvage" in told.stdout
        assert told.stderr == ""
        found = json.loads(run("check", file, "--json", status=2).stdout)
        assert found["problems"] and set(found) == {
            *("version", "pages", "usedPages", "freePages", "waitingPages", "trees", "problems")
        }
        others = run("pages", file, status=2).stdout
        others += run("pages", file, "--json", status=2).stdout
        new.unlink(missing_ok=True)
        done = subprocess.run([TOFTDB, "salvage", file, new], capture_output=True, text=True)
        assert done.returncode in (0, 1, 2)
        # Swift's form of values: `corrupt(page: 3, reason: "...")`.
        for text in (told.stdout, *found["problems"], others, done.stdout, done.stderr):
            assert "reason:" not in text and "(page:" not in text, text


def sqlite(folder: Path) -> Path:
    path = folder / "other.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(8192))
    return path


def test_the_demo_lets_three_programs_watch_one_file(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}
    text = run("demo", SAMPLE, "--database", tmp_path / "demo.toft", env=environment).stdout
    assert "swift |   + [1] name=beta" in text
    assert "sound" in text
    assert "python| version" in text


def test_the_demo_ends_when_a_watcher_does(tmp_path: Path) -> None:
    (tmp_path / "toft.py").write_text("")  # It can be imported, and has nothing.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    told = run("demo", SAMPLE, env=environment, status=1).stderr
    assert "The python watcher ended early." in told


def test_the_pages_of_a_file_are_shown_also_where_it_will_not_open(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    dump = json.loads(run("pages", database, "--json").stdout)
    assert dump["problems"] == []
    newest = max(meta["version"] for meta in dump["metas"] if "version" in meta)
    # The meta of a clean close has a version of its own, above that of the root it names.
    assert newest - 1 <= dump["root"]["version"] <= newest
    used = {use["type"]: use["pages"] for use in dump["use"]}
    assert used["cluster"] > 0 and used["orderedLeaf"] > 0 and used["root"] >= 1
    assert {"table", "ordered"} <= {tree["kind"] for tree in dump["trees"]}
    assert "closed cleanly" in run("pages", database).stdout

    content = bytearray(database.read_bytes())
    content[0:8192] = bytes(8192)
    broken = tmp_path / "broken.toft"
    broken.write_bytes(content)
    run("check", broken, status=2)
    dump = json.loads(run("pages", broken, "--json", status=2).stdout)
    assert dump["problems"] == ["neither meta page is valid"]
    assert dump["rootsFound"][0]["page"] > 1
    assert {use["type"]: use["pages"] for use in dump["use"]} == used
    run("pages", tmp_path / "missing.toft", status=1)


def test_the_pages_of_damaged_files_are_shown_without_a_crash(tmp_path: Path) -> None:
    whole = loaded(tmp_path).read_bytes()
    damaged = tmp_path / "damaged.toft"
    seed = int(os.environ.get("TOFT_SEED", random.randrange(2**32)))
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(int(os.environ.get("TOFT_DAMAGED_FILES", 150))):
        content = bytearray(whole)
        for _ in range(chance.choice([1, 3, 30])):
            page = chance.choice([0, 1, 2, 3, chance.randrange(len(content) // 4096)])
            at = page * 4096 + chance.randrange(chance.choice([64, 4096]))
            for offset in range(at, min(at + chance.choice([1, 8, 64]), len(content))):
                content[offset] = chance.choice([0, 255, chance.randrange(256)])
        if chance.random() < 0.2:
            del content[chance.randrange(len(content)) :]
        damaged.write_bytes(content)
        done = subprocess.run(
            [TOFTDB, "pages", damaged, "--json"], capture_output=True, text=True, timeout=60
        )
        assert done.returncode in (0, 2), (done.returncode, done.stdout, done.stderr)
        json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")
def test_a_device_that_refuses_to_read_is_an_error_where_pages_are_not_mapped(
    tmp_path: Path,
) -> None:
    database = loaded(tmp_path)
    query = ["query", str(database), "Package", "size > 100000", "--count", "--buffered"]
    refused = 0
    for first in range(1, 60):
        inject = f"inject=pread64:error=EIO:when={first}+"
        done = subprocess.run(
            ["strace", "-f", "-o", "/dev/null", "-e", "trace=pread64", "-e", inject, TOFTDB]
            + query,
            capture_output=True,
            text=True,
            timeout=120,
        )
        if done.returncode == 127:  # the first reads are those of the dynamic loader
            continue
        assert done.returncode in (0, 1), (first, done.returncode, done.stdout, done.stderr)
        if done.returncode == 1:
            refused += 1
            assert "error 5" in done.stderr
    assert refused > 5


COLLECTIONS = {
    "classes": [
        {
            "name": "Page",
            "properties": [
                {"name": "id", "type": "int", "primaryKey": True},
                {"name": "words", "type": "string", "set": True},
                {"name": "moments", "type": "date", "set": True, "optional": True},
                {"name": "scores", "type": "int", "dictionary": True},
                {"name": "ratios", "type": "double", "dictionary": True, "optional": True},
                {"name": "friends", "type": "link", "set": True, "target": "Page"},
                {"name": "named", "type": "link", "dictionary": True, "target": "Page"},
            ],
        }
    ]
}
PAGES = [
    {
        "id": 1,
        "words": ["a", "\u00e9"],
        "moments": [None, "2026-11-22T08:30:00Z"],
        "scores": {"": -1, "a b": 2, "z": 9223372036854775807},
        "ratios": {"one": 1.5, "nan": "nan", "none": None},
        "friends": [1, 3],
        "named": {"me": 1, "next": 3, "nobody": None},
    },
    {
        "id": 3,
        "words": [],
        "moments": [],
        "scores": {},
        "ratios": {},
        "friends": [],
        "named": {"first": 1},
    },
]


def pages(folder: Path, rows: list[dict]) -> tuple[Path, Path]:
    """Files with a schema that has sets and dictionaries, and with rows for it."""
    schema, lines = folder / "schema.json", folder / "lines.jsonl"
    schema.write_text(json.dumps(COLLECTIONS))
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return schema, lines


def test_sets_and_dictionaries_are_arrays_and_objects(tmp_path: Path) -> None:
    shuffled = [dict(PAGES[0], words=["\u00e9", "a", "a"], friends=[3, 1, 3]), PAGES[1]]
    schema, lines = pages(tmp_path, shuffled)
    database = tmp_path / "pages.toft"
    outcome = json.loads(run("import", database, lines, "--schema", schema, "--json").stdout)
    assert (outcome["created"], outcome["links"]) == (2, 6)  # one is told of twice
    exported = run("export", database, "Page").stdout
    assert [json.loads(line) for line in exported.splitlines()] == PAGES

    shown = json.loads(run("schema", database, "--json").stdout)["classes"]
    assert shown == COLLECTIONS["classes"]
    text = run("schema", database).stdout
    assert "set of string" in text and "dictionary of optional double" in text

    again = tmp_path / "again.toft"
    (tmp_path / "again.json").write_text(json.dumps({"classes": shown}))
    lines.write_text(exported)
    run("import", again, lines, "--schema", tmp_path / "again.json")
    assert run("export", again, "Page").stdout == exported
    emptied = {"id": 1, "words": None, "scores": None, "named": {"me": None}, "ratios": {"x": 2}}
    lines.write_text(json.dumps(emptied) + "\n")
    run("import", again, lines, "--update", "all")
    first = json.loads(run("export", again, "Page").stdout.splitlines()[0])
    assert first == PAGES[0] | {"words": [], "scores": {}, "named": {"me": None}} | {
        "ratios": {"x": 2.0}
    }

    dump, copy = tmp_path / "dump.jsonl", tmp_path / "copy.toft"
    dump.write_text(run("dump", database).stdout)
    assert run("load", copy, dump).stdout == "2 objects, 5 links\n"
    assert run("dump", copy).stdout == dump.read_text()
    assert run("export", copy, "Page").stdout == exported
    for file in (database, again, copy):
        assert json.loads(run("check", file, "--json").stdout)["problems"] == []


def test_sets_and_dictionaries_are_asked_and_shown(tmp_path: Path) -> None:
    schema, lines = pages(tmp_path, PAGES)
    database = tmp_path / "pages.toft"
    run("import", database, lines, "--schema", schema)
    line = run("query", database, "Page", "scores['a b'] == 2 AND ANY words == 'a'").stdout
    assert "words=[a \u00e9]" in line and 'scores={""=-1 "a b"=2 z=9223372036854775807}' in line
    assert "named={me=1 next=3 nobody=null}" in line
    line = run("query", database, "Page", "named['first'].id == 1").stdout
    assert line.strip() == "id=3  named={first=1}"
    for query in ("ANY scores.@keys == 'z'", "friends.@count == 2", "ANY named.id == 3"):
        counted = run("query", database, "Page", query, "--count", "--json").stdout
        assert json.loads(counted) == {"count": 1}, query


def test_what_is_no_set_and_no_dictionary_is_refused_by_its_name(tmp_path: Path) -> None:
    database = tmp_path / "pages.toft"
    for member, wrong, told in (
        ("words", "a", "a text"),
        ("words", {"a": 1}, "an object"),
        ("words", [1], "an integer"),
        ("words", [None], "null"),
        ("scores", [1], "a list"),
        ("scores", {"a": "one"}, "a text"),
        ("scores", {"a": None}, "null"),
        ("scores", {"a.b": 1}, "'.'"),
        ("scores", {"$a": 1}, "'$'"),
        ("friends", {"a": 1}, "an object"),
        ("friends", [7], "7"),
        ("named", [1], "a list"),
        ("named", {"a": 7}, "7"),
        ("named", {"a": "x"}, "a text"),
    ):
        schema, lines = pages(tmp_path, [{"id": 3}, {"id": 4, member: wrong}])
        error = run("import", database, lines, "--schema", schema, status=1).stderr
        assert "Line 2" in error and f"Page.{member}" in error and told in error, error
        assert "no class 'Page'" in run("query", database, "Page", "--count", status=1).stderr
    schema, lines = pages(tmp_path, [{"id": 4, "friends": [7], "named": {"a": 7, "b": 4}}])
    run("import", database, lines, "--schema", schema, "--ignore-missing")
    row = json.loads(run("export", database, "Page").stdout)
    assert row["friends"] == [] and row["named"] == {"a": None, "b": 4}

    both = json.loads(json.dumps(COLLECTIONS))
    both["classes"][0]["properties"][1]["list"] = True
    schema.write_text(json.dumps(both))
    error = run("import", tmp_path / "both.toft", lines, "--schema", schema, status=1).stderr
    assert "'Page.words'" in error and "only one" in error


def test_a_key_that_a_dictionary_has_twice_is_refused(tmp_path: Path) -> None:
    schema, lines = pages(tmp_path, [])
    database = tmp_path / "pages.toft"
    lines.write_text('{"id": 3, "scores": {"a": 1, "b": 2, "a": 3}}')
    error = run("import", database, lines, "--schema", schema, status=1).stderr
    assert "Line 1" in error and "'a' twice" in error
    schema.write_text(
        json.dumps({"classes": [{"name": "Any", "properties": [{"name": "a", "type": "mixed"}]}]})
    )
    lines.write_text('{"a": [{"x": 1, "x": 1}]}')
    error = run("import", tmp_path / "any.toft", lines, "--schema", schema, status=1).stderr
    assert "Line 1" in error and "'x' twice" in error


def test_who_watches_sees_sets_and_dictionaries_change(tmp_path: Path) -> None:
    schema, lines = pages(tmp_path, [{"id": 1}, {"id": 3}])
    database = tmp_path / "pages.toft"
    run("import", database, lines, "--schema", schema)
    command = [TOFTDB, "watch", str(database), "Page", "--changes", "2"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as watching:
        try:
            assert watching.stdout is not None
            assert "2 objects" in watching.stdout.readline()
            lines.write_text(json.dumps({"id": 3, "words": ["new"], "scores": {"k": 5}}) + "\n")
            run("import", database, lines, "--update", "modified")
            assert "1 modified" in watching.stdout.readline()
            assert "words=[new]  scores={k=5}" in watching.stdout.readline()
            lines.write_text(json.dumps({"id": 3, "scores": {"k": 6}}) + "\n")
            run("import", database, lines, "--update", "modified")
            assert "1 modified" in watching.stdout.readline()
            assert "scores={k=6}" in watching.stdout.readline()
            assert watching.wait(60) == 0
        finally:
            watching.kill()


MIXED = [
    None,
    True,
    False,
    0,
    -(2**63),
    2**63 - 1,
    0.1,
    1e-300,
    {"$double": 2.0},
    {"$double": -0.0},
    {"$double": 1e300},
    {"$double": "nan"},
    {"$double": "-inf"},
    {"$float": 1.5},
    {"$float": 2.0},
    {"$float": 0.10000000149011612},
    {"$float": "inf"},
    "",
    "2026-11-22T08:30:00Z",
    "Grüße, 世界 \0 end",
    {"$data": ""},
    {"$data": "AP+A"},
    {"$date": "2026-11-22T08:30:00.000000001Z"},
    {"$date": "T-62135596801:-500"},
    {"$uuid": "12345678-9abc-def0-1234-56789abcdef0"},
    {"$objectId": "507f1f77bcf86cd799439011"},
    {"$decimal": "1.50"},
    {"$decimal": "NaN"},
    [],
    {},
    [1, [{"a": [{"": {"x": None}}]}], {"$float": 0.5}],
    {"b": {"$double": 1.0}, "c": [{"$date": "2026-11-22T08:30:00Z"}], "é": 2},
]


def mixed_notes(folder: Path) -> tuple[Path, list[dict]]:
    """Notes that each have a mixed value, also alone in a list and in a dictionary."""
    schema, lines = folder / "schema.json", folder / "notes.jsonl"
    properties = [
        {"name": "id", "type": "int", "primaryKey": True},
        {"name": "any", "type": "mixed"},
        {"name": "all", "type": "mixed", "list": True},
        {"name": "named", "type": "mixed", "dictionary": True},
        {"name": "members", "type": "mixed", "set": True},
    ]
    schema.write_text(json.dumps({"classes": [{"name": "Note", "properties": properties}]}))
    last = len(MIXED)
    links = {"$class": "Note", "$link": last}, {"$class": "Note", "$link": 0}
    rows = [
        {"id": number, "any": value, "all": [value, 1, value], "named": {"x": value}, "members": []}
        for number, value in enumerate([*MIXED, links[0], [{"a": links[1]}, links[0], 5]])
    ]
    rows[0]["members"] = [None, False, 1, {"$double": 2.0}, "a", {"$data": "AA=="}, links[0]]
    lines.write_text("\n".join(map(json.dumps, rows)))
    database = folder / "notes.toft"
    run("import", database, lines, "--schema", schema, "--class", "Note")
    return database, rows


def test_mixed_values_of_every_type_come_back_from_export_and_dump(tmp_path: Path) -> None:
    database, rows = mixed_notes(tmp_path)
    exported = run("export", database, "Note").stdout
    assert [json.loads(line) for line in exported.splitlines()] == rows
    dump = tmp_path / "dump.jsonl"
    dump.write_text(run("dump", database).stdout)
    copy = tmp_path / "copy.toft"
    run("load", copy, dump)
    assert run("dump", copy).stdout == dump.read_text()
    assert run("export", copy, "Note").stdout == exported
    [declared] = json.loads(dump.read_text().splitlines()[0])["classes"]
    assert {"name": "any", "type": "mixed"} in declared["properties"]
    for file in (database, copy):
        assert json.loads(run("check", file, "--json").stdout)["problems"] == []
    assert "any" in run("schema", copy).stdout and "mixed" in run("schema", copy).stdout


def test_mixed_values_are_shown_by_a_query(tmp_path: Path) -> None:
    database, rows = mixed_notes(tmp_path)
    shown = run("query", database, "Note", "id == 31").stdout
    assert '{"b":{"$double":1.0},"c":[{"$date":"2026-11-22T08:30:00Z"}],"é":2}' in shown
    found = run("query", database, "Note", "id < 3", "--json").stdout.splitlines()
    assert [json.loads(line) for line in found] == rows[:3]


def test_what_no_mixed_value_is_is_refused_by_its_line(tmp_path: Path) -> None:
    database, _ = mixed_notes(tmp_path)
    deep: object = 0
    for _ in range(101):
        deep = [deep]
    for value, said in (
        ({"$date": "yesterday"}, "$date"),
        ({"$float": "x"}, "$float"),
        ({"$other": 1}, "key"),
        ({"a.b": 1}, "key"),
        ({"$class": "Nothing", "$link": 1}, "Nothing"),
        ({"$class": "Note", "$link": 4711}, "4711"),
        (deep, "100"),
    ):
        line = tmp_path / "wrong.jsonl"
        line.write_text(json.dumps({"id": 1000, "any": [value]}))
        done = run("import", database, line, "--class", "Note", status=1)
        assert "Line 1" in done.stderr and said in done.stderr
    line.write_text(json.dumps({"id": 1000, "any": 1, "members": [[1]]}))
    run("import", database, line, "--class", "Note", status=1)
    line.write_text(json.dumps({"id": 1000, "any": [{"$class": "Note", "$link": 4711}, 2]}))
    run("import", database, line, "--class", "Note", "--ignore-missing")
    found = json.loads(run("query", database, "Note", "id == 1000", "--json").stdout)
    assert found["any"] == [None, 2]
    assert json.loads(run("check", database, "--json").stdout)["problems"] == []


HOUSES = {
    "classes": [
        {
            "name": "House",
            "embedded": True,
            "properties": [
                {"name": "street", "type": "string"},
                {"name": "owner", "type": "link", "target": "Person"},
                {"name": "annex", "type": "link", "target": "House"},
                {"name": "rooms", "type": "link", "target": "House", "list": True},
            ],
        },
        {
            "name": "Person",
            "properties": [
                {"name": "id", "type": "int", "primaryKey": True},
                {"name": "home", "type": "link", "target": "House"},
                {"name": "earlier", "type": "link", "target": "House", "list": True},
                {
                    "name": "named",
                    "type": "link",
                    "target": "House",
                    "dictionary": True,
                },
            ],
        },
    ]
}


def house(street: str, **others: object) -> dict:
    return {"street": street, "owner": None, "annex": None, "rooms": []} | others


PEOPLE = [
    {
        "id": 1,
        "home": house("Elm", owner=2, annex=house("annex", rooms=[house("a"), house("")])),
        "earlier": [house("first", owner=1), house("second", annex=house("deep"))],
        "named": {"b": house("named", rooms=[house("room", owner=2)]), "none": None},
    },
    {"id": 2, "home": None, "earlier": [], "named": {}},
]


def test_embedded_objects_are_objects_inside_their_owner(tmp_path: Path) -> None:
    schema, lines = tmp_path / "schema.json", tmp_path / "people.jsonl"
    schema.write_text(json.dumps(HOUSES))
    lines.write_text("".join(json.dumps(person) + "\n" for person in PEOPLE))
    database = tmp_path / "people.toft"

    def houses(file: Path) -> int:
        counted = run("query", file, "House", "--count", "--json").stdout
        return json.loads(counted)["count"]

    run("import", database, lines, "--schema", schema)
    exported = run("export", database, "Person").stdout
    assert [json.loads(line) for line in exported.splitlines()] == PEOPLE
    assert houses(database) == 9
    assert json.loads(run("schema", database, "--json").stdout)["classes"] == HOUSES["classes"]
    assert "House  (9 objects), embedded\n" in run("schema", database).stdout
    query = ("Person", "home.annex.street == 'annex' AND ANY earlier.annex.street == 'deep'")
    assert json.loads(run("query", database, *query, "--count", "--json").stdout) == {"count": 1}

    # A person who is imported again loses the houses that he had.
    moved = PEOPLE[0] | {"home": house("Oak"), "earlier": [], "named": {"b": None}}
    lines.write_text(json.dumps(moved) + "\n")
    again = tmp_path / "again.toft"
    shutil.copy(database, again)
    run("import", again, lines, "--update", "all")
    assert json.loads(run("export", again, "Person").stdout.splitlines()[0]) == moved
    assert houses(again) == 1

    dump, copy = tmp_path / "dump.jsonl", tmp_path / "copy.toft"
    dump.write_text(run("dump", database).stdout)
    assert len(dump.read_text().splitlines()) == 1 + len(PEOPLE)
    run("load", copy, dump)
    assert run("dump", copy).stdout == dump.read_text()
    assert run("export", copy, "Person").stdout == exported and houses(copy) == 9
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(json.dumps({"id": 3, "home": 5}) + "\n")
    refused = run("import", copy, wrong, status=1).stderr
    assert "'Person.home' holds embedded objects" in refused
    assert run("dump", copy).stdout == dump.read_text()
    for file in (database, again, copy):
        assert json.loads(run("check", file, "--json").stdout)["problems"] == []


def test_as_many_embedded_objects_as_a_dump_can_have_within_one_another_are_stored(
    tmp_path: Path,
) -> None:
    parts = {"name": "parts", "type": "link", "list": True, "target": "Part"}
    schema = {
        "toft": 1,
        "classes": [
            {"name": "Machine", "properties": [parts]},
            {"name": "Part", "embedded": True, "properties": [parts]},
        ],
    }
    for depth in (99, 100, 101):
        inner: list = []
        for _ in range(depth):
            inner = [{"parts": inner}]
        row = {"_class": "Machine", "_key": 0, "parts": inner}
        dump = write_lines(tmp_path / "dump.jsonl", [schema, row])
        database = tmp_path / f"{depth}.toft"
        if depth > 100:
            refused = run("load", database, dump, status=1)
            assert "Line 2" in refused.stderr and "Part.parts" in refused.stderr
            assert "the limit is 100 within one another" in refused.stderr
            assert json.loads(run("schema", database, "--json").stdout)
            continue
        run("load", database, dump)
        assert lines_of("dump", database) == [schema, row]
        exported = run("export", database, "Machine").stdout
        assert json.loads(exported)["parts"] == inner
        again = tmp_path / f"again{depth}.toft"
        (tmp_path / "schema.json").write_text(json.dumps({"classes": schema["classes"]}))
        given = ["--class", "Machine", "--schema", tmp_path / "schema.json"]
        run("import", again, "-", *given, input=exported)
        assert run("dump", again).stdout == run("dump", database).stdout


def test_a_copy_is_written_and_a_file_compacted_when_nobody_has_it_open(tmp_path: Path) -> None:
    database, copy = loaded(tmp_path), tmp_path / "copy.toft"
    written = json.loads(run("copy", database, copy, "--json").stdout)
    assert written["bytes"] == copy.stat().st_size
    assert run("copy", database, copy, status=1).stderr.startswith("toftdb: There is already")
    assert run("dump", copy).stdout == run("dump", database).stdout
    sizes = json.loads(run("compact", copy, "--json").stdout)
    assert sizes["bytesAfter"] == copy.stat().st_size <= sizes["bytesBefore"]
    run("check", copy)
    assert "There is no file" in run("compact", tmp_path / "none", status=1).stderr
    watching = subprocess.Popen([TOFTDB, "watch", str(copy), "Package"], stdout=subprocess.PIPE)
    assert watching.stdout is not None
    watching.stdout.readline()
    assert "is open" in run("compact", copy, status=1).stderr
    pins = [json.loads(line) for line in run("pins", copy, "--json").stdout.splitlines()]
    assert watching.pid in {pin["process"] for pin in pins}
    assert all(pin["seconds"] is None or 0 <= pin["seconds"] < 600 for pin in pins)
    steps = json.loads(run("compact", copy, "--online", "--json").stdout)
    assert steps["bytesAfter"] <= steps["bytesBefore"]
    assert steps["heldBytes"] >= 0 and steps["movedBytes"] >= 0
    assert "now" in run("compact", copy, "--online", "--step-bytes", "0").stdout
    run("check", copy)
    info = json.loads(run("info", copy, "--json").stdout)
    parts = ("liveBytes", "freeBytes", "heldBytes", "logBytes")
    assert sum(info[part] for part in parts) == info["fileBytes"]
    watching.kill()
    watching.wait()
    watching.stdout.close()


def test_a_plan_tells_what_other_classes_would_change(tmp_path: Path) -> None:
    database = loaded(tmp_path)
    before = run("schema", database, "--json").stdout
    classes = json.loads(json.dumps(SCHEMA))
    properties = classes["classes"][0]["properties"]
    properties[1]["indexed"] = False
    properties.append({"name": "seen", "type": "int"})
    classes["classes"].append({"name": "Maintainer", "properties": []})
    new = tmp_path / "new.json"
    new.write_text(json.dumps(classes))
    assert run("plan", database, "--schema", tmp_path / "schema.json").stdout == (
        "nothing would change\n"
    )
    assert run("plan", database, "--schema", new).stdout.splitlines() == [
        "property 'Package.section' is no longer indexed",
        "property 'Package.seen' is added: int",
        "class 'Maintainer' is added",
    ]
    lines = run("plan", database, "--schema", new, "--json").stdout.splitlines()
    assert json.loads(lines[1]) == {
        "kind": "propertyAdded",
        "class": "Package",
        "property": "seen",
        "text": "property 'Package.seen' is added: int",
    }
    properties[-1] = {**properties[1], "name": "area"}
    del properties[1]
    new.write_text(json.dumps(classes))
    told = run("plan", database, "--schema", new).stdout
    assert (
        "property 'Package.section' is hidden, its values stay. Did you rename it to 'area'? "
        "Rename it in a migration then\n" in told
    )
    properties.insert(1, {"name": "section", "type": "string"})
    properties[2]["type"] = "string"
    new.write_text(json.dumps(classes))
    refused = run("plan", database, "--schema", new, "--schema-version", 1, status=1).stderr
    assert "property 'Package.size' is int in the file and string" in refused
    planned = run("plan", database, "--schema", new, "--schema-version", 1, "--migrating").stdout
    assert "property 'Package.size' is string, was int" in planned
    run("plan", database, "--schema", new, "--migrating", status=64)
    run("plan", tmp_path / "none", "--schema", new, status=1)
    assert run("schema", database, "--json").stdout == before
    assert json.loads(run("check", database, "--json").stdout)["problems"] == []


def test_a_plan_tells_whether_a_class_can_become_embedded(tmp_path: Path) -> None:
    def schema(name: str, *, embedded: bool) -> Path:
        street = {"name": "street", "type": "string"}
        home = {"name": "home", "type": "link", "target": "Home", "optional": True}
        homes = {"name": "Home", "properties": [street], "embedded": embedded}
        people = {"name": "Resident", "properties": [home]}
        path = tmp_path / name
        path.write_text(json.dumps({"classes": [homes, people]}))
        return path

    now, then = schema("now", embedded=False), schema("then", embedded=True)
    database = tmp_path / "a.toft"
    homes, people = tmp_path / "homes", tmp_path / "people"
    homes.write_text('{"_key": 0, "street": "High Street"}\n{"_key": 1, "street": "empty"}\n')
    people.write_text('{"home": {"street": "shared"}}\n')
    run("import", database, homes, "--class", "Home", "--schema", now)
    run("import", database, people, "--class", "Resident", "--schema", now)
    given = ("plan", database, "--schema", then, "--schema-version", 1, "--migrating")
    assert "2 without an owner" in run(*given, status=1).stderr
    planned = run(*given, "--automatic-backlink-handling").stdout
    assert "class 'Home' is embedded" in planned
    assert run("query", database, "Home", "--count").stdout == "3\n"
    assert json.loads(run("check", database, "--json").stdout)["problems"] == []


def test_an_encrypted_file_needs_its_key_in_a_file(tmp_path: Path) -> None:
    database, copy = loaded(tmp_path), tmp_path / "copy.toft"
    dumped = run("dump", database).stdout
    key, other, short = (tmp_path / name for name in ("a.key", "b.key", "short.key"))
    key.write_bytes(bytes(range(64)))
    other.write_bytes(bytes(range(1, 65)))
    short.write_bytes(b"short")
    run("change-key", database, "--new-key-file", key)
    assert b"homepage" not in database.read_bytes()
    for command in ("info", "check", "pages", "dump", "schema", "pins", "compact"):
        assert "is encrypted" in run(command, database, status=1).stderr
        assert "another key" in run(command, database, "--key-file", other, status=1).stderr
        run(command, database, "--key-file", key)
    assert "64 bytes" in run("info", database, "--key-file", short, status=1).stderr
    assert "Can't read the key" in run("info", database, "--key-file", copy, status=1).stderr
    assert run("dump", database, "--key-file", key).stdout == dumped
    counted = run("query", database, "Package", "size > 0", "--count", "--key-file", key)
    assert int(counted.stdout) > 0
    assert run("export", database, "Package", "--key-file", key).stdout
    run("copy", database, copy, "--key-file", key, "--new-key-file", other)
    assert run("dump", copy, "--key-file", other).stdout == dumped
    again = tmp_path / "again.toft"
    run("load", again, "-", "--key-file", key, input=dumped)
    assert run("dump", again, "--key-file", key).stdout == dumped
    for number, (options, after) in enumerate(
        ((["--key-file", key], key), (["--key-file", key, "--new-key-file", other], other))
    ):
        new = tmp_path / f"salvaged-{number}.toft"
        assert "is encrypted" in run("salvage", database, new, status=1).stderr
        run("salvage", database, new, *options)
        assert run("dump", new, "--key-file", after).stdout == dumped
    run("change-key", database, "--key-file", key)
    assert run("dump", database).stdout == dumped
    assert "not encrypted" in run("info", database, "--key-file", key, status=1).stderr
    run("change-key", database, status=1)


def test_a_damaged_file_is_salvaged_into_a_new_one(tmp_path: Path) -> None:
    database, new = loaded(tmp_path), tmp_path / "new.toft"
    count = len(sample())
    whole = run("salvage", database, new).stdout
    assert f"Package: {count} objects\n" in whole and "new.toft: version" in whole
    assert whole.strip().endswith(", complete")
    assert run("export", new, "Package").stdout == run("export", database, "Package").stdout
    assert "already something" in run("salvage", database, new, status=1).stderr
    content = bytearray(database.read_bytes())
    clusters = [start for start in range(8_192, len(content), 4_096) if content[start] == 10]
    for start in clusters[::2]:
        content[start + 100] ^= 1
    damaged = tmp_path / "damaged.toft"
    damaged.write_bytes(content)
    told = run("salvage", damaged, tmp_path / "part.toft", status=2).stdout
    assert "problem: " in told and " missing" in told and "not complete" in told, told
    found = json.loads(run("salvage", damaged, tmp_path / "json.toft", "--json", status=2).stdout)
    (packages,) = found["classes"]
    assert not found["complete"] and found["problems"]
    assert packages["objects"] + packages["missing"] == count
    assert json.loads(
        run("query", tmp_path / "json.toft", "Package", "--count", "--json").stdout
    ) == {"count": packages["objects"]}
    run("check", tmp_path / "json.toft")
    assert damaged.read_bytes() == content
    assert not (tmp_path / "damaged.toft.lock").exists()
    missing = run("salvage", tmp_path / "none.toft", tmp_path / "other.toft", status=1)
    assert "There is no file" in missing.stderr


GUESTS = {
    "classes": [
        {
            "name": "Guest",
            "properties": [
                {"name": "id", "type": "int", "primaryKey": True},
                {"name": "name", "type": "string"},
                {"name": "note", "type": "string", "optional": True},
                {"name": "came", "type": "date", "optional": True},
                {"name": "paid", "type": "bool"},
                {"name": "ratio", "type": "double"},
                {"name": "photo", "type": "data"},
                {"name": "any", "type": "mixed"},
                {"name": "tags", "type": "string", "list": True},
                {"name": "scores", "type": "int", "dictionary": True},
                {"name": "host", "type": "link", "target": "Guest"},
                {"name": "room", "type": "link", "target": "Room"},
            ],
        },
        {
            "name": "Room",
            "embedded": True,
            "properties": [{"name": "floor", "type": "int"}],
        },
    ]
}
GUEST = {
    "id": 1,
    "name": 'Ada "A", Countess\r\nof Lovelace ',
    "note": "",
    "came": "2026-11-22T08:30:00.5Z",
    "paid": True,
    "ratio": 0.1,
    "photo": "AP8=",
    "any": "text",
    "tags": ["a,b", 'c"d'],
    "scores": {"x": 1},
    "host": 2,
    "room": {"floor": 3},
}
OTHER = GUEST | {
    "id": 2,
    "name": "",
    "note": None,
    "came": None,
    "paid": False,
    "ratio": "-inf",
    "photo": "",
    "any": None,
    "tags": [],
    "scores": {},
    "host": None,
    "room": None,
}


def guests(folder: Path) -> tuple[Path, Path]:
    """A database of guests, and the schema."""
    schema, lines, database = (folder / name for name in ("s.json", "g.jsonl", "guests.toft"))
    schema.write_text(json.dumps(GUESTS))
    lines.write_text(json.dumps(GUEST) + "\n" + json.dumps(OTHER) + "\n")
    run("import", database, lines, "--schema", schema, "--class", "Guest")
    return database, schema


def test_a_class_goes_out_as_csv_and_comes_back(tmp_path: Path) -> None:
    database, schema = guests(tmp_path)
    exported = subprocess.run(
        [TOFTDB, "export", database, "Guest", "--csv"], capture_output=True, check=True
    ).stdout
    rows = list(csv.reader(io.StringIO(exported.decode(), newline="")))
    assert rows[0] == list(GUEST) and len(rows) == 3
    assert rows[1][:3] == ["1", GUEST["name"], ""] and rows[1][8] == '["a,b","c\\"d"]'
    table = tmp_path / "guests.csv"
    table.write_bytes(exported)
    again = tmp_path / "again.toft"
    run("import", again, table, "--schema", schema, "--class", "Guest")
    assert run("dump", again).stdout == run("dump", database).stdout
    piped = tmp_path / "piped.toft"
    given = b"\xef\xbb\xbfid,name,host\n7,\xc3\xa9,\n\n8,,7"
    subprocess.run(
        [TOFTDB, "import", piped, "-", "--csv", "--schema", schema, "--class", "Guest"],
        input=given,
        capture_output=True,
        check=True,
    )
    found = [json.loads(line) for line in run("export", piped, "Guest").stdout.splitlines()]
    assert [(row["id"], row["name"], row["host"]) for row in found] == [(7, "é", None), (8, "", 7)]
    for file in (again, piped):
        run("check", file)


def test_empty_lines_are_none_but_in_a_file_of_one_column(tmp_path: Path) -> None:
    schema, table, lines = (tmp_path / name for name in ("s.json", "d.csv", "d.jsonl"))
    name = {"name": "name", "type": "string", "optional": True}
    note = {"name": "note", "type": "string", "optional": True}
    schema.write_text(json.dumps({"classes": [{"name": "Dog", "properties": [name, note]}]}))
    lines.write_bytes(b'\r\n{"name": "a"}\r\n\r\n\n{"name": "b"}\r\n\r\n')
    for number, (given, names) in enumerate(
        (
            (b"\r\nname,note\r\n\r\na,\r\n\n\r\nb,\r\n\r\n", ["a", "b"]),
            (b'name\r\na\r\n\r\nb\n\n""\r\n', ["a", None, "b", None, ""]),
            (None, ["a", "b"]),
        )
    ):
        database = tmp_path / f"{number}.toft"
        table.write_bytes(given or b"")
        source = table if given else lines
        run("import", database, source, "--schema", schema, "--class", "Dog")
        rows = map(json.loads, run("export", database, "Dog").stdout.splitlines())
        assert [row["name"] for row in rows] == names
        run("check", database)


def test_wrong_csv_loads_nothing_and_is_told_by_its_line(tmp_path: Path) -> None:
    database, _ = guests(tmp_path)
    before = run("dump", database).stdout
    table = tmp_path / "wrong.csv"
    for content, told in (
        ("", "is empty"),
        ("id,name\n3", "There are 1 fields"),
        ('id,name\n3,"a', "no last quote"),
        ('id,name\n3,"a"b', "behind its last quote"),
        ('id,name\n3,5" disk\n4,6" disk\n', "Field 2 has a quote"),
        ('id,name\n3,"\n\n"\n4,"x"y\n', "Line 5"),
        ("id,nope\n3,4\n", "--ignore-unknown"),
        ("id,name\nthree,a\n", "Guest.id"),
        ("id,paid\n3,\n", "Guest.paid"),
        ("id,paid\n3,maybe\n", "a text: 'maybe'"),
        ("id,tags\n3,[\n", "Guest.tags"),
        ("id,host\n3,99\n", "--ignore-missing"),
        ("id,name\n1,a\n", "primary key"),
    ):
        table.write_text(content)
        done = run("import", database, table, "--class", "Guest", status=1)
        assert told in done.stderr, done.stderr
    table.write_bytes(b"id,name\n3,\xff\n")
    assert "UTF-8" in run("import", database, table, "--class", "Guest", status=1).stderr
    assert run("dump", database).stdout == before


NUMBERS = {
    "classes": [
        {
            "name": "N",
            "properties": [
                {"name": "id", "type": "int", "primaryKey": True},
                {"name": "i", "type": "int", "optional": True},
                {"name": "f", "type": "float", "optional": True},
                {"name": "d", "type": "double", "optional": True},
                {"name": "n", "type": "decimal128", "optional": True},
                {"name": "m", "type": "mixed"},
                {"name": "at", "type": "date", "optional": True},
            ],
        }
    ]
}
DIGITS = "12345678901234567890123456789012345"


def number(folder: Path, name: str, text: str, form: str) -> tuple[object, str]:
    """The result for a number in a file of one object, and the message if it is refused."""
    schema, given, database = (folder / each for each in ("s.json", "n." + form, "n.toft"))
    schema.write_text(json.dumps(NUMBERS))
    given.write_text(
        f"id,{name}\n1,{text}\n" if form == "csv" else f'{{"id": 1, "{name}": {text}}}\n'
    )
    database.unlink(missing_ok=True)
    done = subprocess.run(
        [TOFTDB, "import", database, given, "--schema", schema], capture_output=True, text=True
    )
    if done.returncode == 1:
        assert f"Line {2 if form == 'csv' else 1}" in done.stderr and f"'N.{name}'" in done.stderr
        return None, done.stderr
    assert done.returncode == 0, done.stderr
    run("check", database)
    return lines_of("export", database, "N")[0][name], ""


def test_a_number_is_exact_in_its_property_or_refused_by_line_and_name(tmp_path: Path) -> None:
    whole = DIGITS[:34]
    for name, text, found in (
        ("i", "2.0", 2),
        ("i", "9007199254740993.0", 2**53 + 1),
        ("i", "1e3", 1000),
        ("i", "-0", 0),
        ("d", "18446744073709551615", 2.0**64),
        ("d", "1e-320", 1e-320),
        ("d", "-0", -0.0),
        ("f", "0.1", 0.10000000149011612),
        ("n", "1.50", "1.50"),
        ("n", whole, whole),
        ("m", "18446744073709551615", {"$decimal": "18446744073709551615"}),
        ("m", whole, {"$decimal": whole}),
        ("m", "1e20", {"$double": 1e20}),
        ("m", "2.0", 2),
    ):
        for form in ("jsonl", "csv"):
            assert repr(number(tmp_path, name, text, form)[0]) == repr(found), (name, text, form)
    for name, text in (
        ("i", "2.5"),
        ("i", str(2**63)),
        ("i", "1e400"),
        ("d", "1e400"),
        ("d", "1e-400"),
        ("f", "1e39"),
        ("f", "1e-50"),
        ("n", DIGITS),
        ("n", "1e7000"),
        ("m", DIGITS),
        ("m", "1e400"),
        ("m", "1e-400"),
    ):
        for form in ("jsonl", "csv"):
            told = number(tmp_path, name, text, form)[1]
            assert told and text in told, (name, text, form)


def test_a_field_of_a_table_has_numbers_as_tables_do(tmp_path: Path) -> None:
    for name, text, found in (
        ("i", "+5", 5),
        ("i", "007", 7),
        ("i", "2.", 2),
        ("d", ".5", 0.5),
        ("d", "-.5e1", -5.0),
        ("d", "5.", 5.0),
        ("d", "+0001.5", 1.5),
        ("d", "nan", "nan"),
        ("d", "-inf", "-inf"),
    ):
        assert number(tmp_path, name, text, "csv")[0] == found, text
    for name in ("i", "f", "d"):
        for text in (
            *("0x10", "0x1p-3", "snan", "-nan", "NaN", "nan(0x1)", "1_0", "1 ", " 1", "--1", "+-1"),
            *(".", "e5", "1e", "1e+", "1.e", "\u0661", "\uff11", "1\u0301", "[1]", "null", "true"),
        ):
            told = number(tmp_path, name, text, "csv")[1]
            assert told and text.strip() in told, (name, text)


def test_a_date_is_taken_in_every_form_of_the_standard_or_what_is_wrong_is_told(
    tmp_path: Path,
) -> None:
    for text, found in (
        ("2024-01-01 00:00:00+00", "2024-01-01T00:00:00Z"),
        ("2024-01-01T00:00Z", "2024-01-01T00:00:00Z"),
        ("20240101T000000Z", "2024-01-01T00:00:00Z"),
        ("2024-W01-1T05:30:00.25+05:30", "2024-01-01T00:00:00.25Z"),
        ("2024-01-01", "2024-01-01T00:00:00Z"),
    ):
        for form, given in (("jsonl", f'"{text}"'), ("csv", text)):
            assert number(tmp_path, "at", given, form)[0] == found, (text, form)
    for text, told in (
        ("2024-01-01T00:00:00", "no time zone"),
        ("2024-13-01T00:00:00Z", "its month is 13"),
        ("01.02.2024", "YYYY-MM-DDThh:mm:ss"),
    ):
        for form, given in (("jsonl", f'"{text}"'), ("csv", text)):
            assert told in number(tmp_path, "at", given, form)[1], (text, form)


def test_json_that_others_refuse_is_refused_and_says_why(tmp_path: Path) -> None:
    database, schema = guests(tmp_path)
    lines = tmp_path / "lines.jsonl"
    for text, told in (
        ('{"id": 3, "ratio": NaN}', '"nan", "inf" and "-inf"'),
        ('{"id": 3, "any": Infinity}', '"nan", "inf" and "-inf"'),
        ('{"id": 3, "name": "a", "name": "b"}', "'name' twice"),
        ('{"id": 3, "any": {"a": {"b": 1, "b": 1}}}', "'b' twice"),
        ('{"id": 3, "nothing": {"b": 1, "b": 1}}', "'b' twice"),
        ('{"id": 3, "room": {"floor": 1, "floor": 2}}', "'floor' twice"),
        ('{"id": 3} \u00a0', "the text goes on"),
        ("\u00a0", "there is no value"),
    ):
        lines.write_text('{"id": 9}\n' + text + "\n")
        options = ("--class", "Guest", "--ignore-unknown")
        refused = run("import", database, lines, *options, status=1).stderr
        assert "Line 2" in refused and told in refused, refused
    # Lines of marks or blanks alone are left out.
    lines.write_text('\ufeff \t\n{"id": 3}\n \t \r\n\ufeff{"id": 4}\n\t')
    run("import", database, lines, "--class", "Guest")
    lines.write_text("\ufeffid,name\n5,a\n  \t\n6,b\n")
    run("import", database, lines, "--class", "Guest", "--csv")
    found = [row["id"] for row in lines_of("export", database, "Guest")]
    assert found == [1, 2, 3, 4, 5, 6]


def test_a_schema_has_no_members_that_nobody_knows(tmp_path: Path) -> None:
    database, schema, lines = (tmp_path / name for name in ("a.toft", "s.json", "a.jsonl"))
    lines.write_text('{"id": 1}\n')
    known = {"name": "id", "type": "int"}
    for class_, told in (
        ({"properties": [known | {"primary_key": True}]}, ("primary_key", "'primaryKey'?")),
        ({"properties": [known | {"nullable": True}]}, ("nullable", "'optional'?")),
        ({"properties": [known, known | {"index": True}]}, ("properties[1]", "'indexed'?")),
        ({"properties": [known | {"many": True}]}, ("many", "'list'?")),
        ({"properties": [known | {"PrimaryKey": True}]}, ("PrimaryKey", "'primaryKey'?")),
        ({"properties": [known | {"default": 5}]}, ("default", "The members are: name, type,")),
        ({"properties": [known], "embeded": True}, ("classes[0]", "'embedded'?")),
        ({"properties": [known], "primaryKey": "id"}, ("primaryKey", "name, embedded, unique")),
        ({"properties": [known | {"type": "strin"}]}, ("type 'strin'", "'string'?", "objectId")),
        ({"properties": [known | {"indexed": "yes"}]}, ("indexed", "true or false")),
        ({"properties": [known], "unique": ["id"]}, ("unique[0]", "an array")),
        ({"properties": [known], "unique": [[1]]}, ("unique[0][0]", "a text")),
    ):
        schema.write_text(json.dumps({"classes": [{"name": "P"} | class_]}))
        for command in (["import", database, lines], ["plan", database]):
            if command[0] == "plan" and not database.exists():
                continue
            refused = run(*command, "--schema", schema, status=1).stderr
            for word in told:
                assert word in refused, refused
    for text, told in (
        ('{"classes": [], "Classes": []}', "'classes'?"),
        ('{"classes": [], "version": 1}', "'version', which is unknown"),
        ('{"classes": [], "counters": {}}', "'counters', which is unknown"),
        ('{"classes": [], "classes": []}', "'classes' twice"),
        ('{"toft": 2, "classes": []}', "later version"),
    ):
        schema.write_text(text)
        assert told in run("import", database, lines, "--schema", schema, status=1).stderr
    assert not database.exists()
    first = {"toft": 1, "classes": [], "counter": {"P": 1}}
    refused = run("load", database, "-", input=json.dumps(first) + "\n", status=1).stderr
    assert "Line 1" in refused and "Did you mean 'counters'?" in refused
    told = run("help", "import").stdout
    for member in ("classes", "unique", "embedded", "dictionary", "autoIncrement", "deleteRule"):
        assert f'"{member}"' in told
    for member in ("optional", "primaryKey", "indexed", "target", "origin"):
        assert f'"{member}"' in told
    # Both names of its types are understood, and all that is printed is.
    properties = [known | {"primaryKey": True}, {"name": "to", "type": "link", "target": "P"}]
    back = {"name": "back", "type": "linkingObjects", "target": "P", "origin": "to"}
    schema.write_text(json.dumps({"classes": [{"name": "P", "properties": [*properties, back]}]}))
    run("import", database, lines, "--schema", schema)
    schema.write_text(run("schema", database, "--json").stdout)
    assert run("plan", database, "--schema", schema).stdout == "nothing would change\n"


HARMFUL = "\x1b]0;title\x07\x1b[2J\x9b1m\x00\x08\x7f\r\u202e\u2066\u200f\u061c"


def seen(*arguments: object, status: int = 0) -> str:
    """The part of a command's output and errors that a terminal gets."""
    terminal, its = pty.openpty()
    process = subprocess.Popen(
        [TOFTDB, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=its, stderr=its
    )
    os.close(its)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
    os.close(terminal)
    assert process.wait(timeout=60) == status, shown
    return shown.decode().replace("\r\n", "\n").replace("\r\n", "\n")


def test_a_terminal_obeys_nothing_that_is_in_the_data(tmp_path: Path) -> None:
    name = "Odd" + HARMFUL[-4:]  # a name has no other of these
    properties = [
        {"name": "id", "type": "int", "primaryKey": True},
        {"name": name, "type": "string"},
        {"name": "named", "type": "int", "dictionary": True},
    ]
    schema = {"toft": 1, "classes": [{"name": name, "properties": properties}]}
    forged = HARMFUL + "\nid=2\u00a0name=forged"
    row = {"_class": name, "_key": 0, "id": 1, name: forged, "named": {HARMFUL: 1}}
    dump = write_lines(tmp_path / "dump.jsonl", [schema, row])
    database, file = tmp_path / "a.toft", tmp_path / "schema.json"
    run("load", database, dump)
    file.write_text(json.dumps({"classes": [{"name": "Other" + HARMFUL[-4:], "properties": []}]}))
    for number, (status, *command) in enumerate(
        (
            (0, "query", database, name),
            (0, "query", database, name, "--json"),
            (0, "query", database, name, "id == 1", "--explain"),
            (0, "schema", database),
            (0, "schema", database, "--json"),
            (0, "export", database, name),
            (0, "export", database, name, "--csv"),
            (0, "dump", database),
            (0, "watch", database, name, "--changes", "0"),
            (0, "plan", database, "--schema", file),
            (0, "salvage", database, tmp_path / "new.toft"),
            (1, "query", database, HARMFUL.replace("\0", "")),
            (1, "query", database, name, f"'{HARMFUL[1:14]}' ==== 1"),
            (1, "info", tmp_path / HARMFUL.replace("\0", "")),
            (64, HARMFUL.replace("\0", "")),
        )
    ):
        text = seen(*(str(each).replace("\0", "") for each in command), status=status)
        for character in text:
            is_obeyed = unicodedata.category(character) == "Cc" or character in HARMFUL[-4:]
            assert character in "\n\t" or not is_obeyed, (number, character, text)
        # No name can pass for another object; only a quoted field of CSV may have line ends.
        assert "--csv" in command or "\nid=2" not in text
    assert "\\u202e" in seen("query", database, name)
    # Output for programs is unchanged.
    assert [json.loads(line) for line in run("dump", database).stdout.splitlines()] == [schema, row]


def on_a_terminal(*arguments: object, until: str = "") -> tuple[int, str]:
    """Runs toftdb with a terminal as its standard error; Control-C once a text has come."""
    terminal, its = pty.openpty()
    process = subprocess.Popen(
        [TOFTDB, *map(str, arguments)],
        stderr=its,
        stdout=subprocess.DEVNULL,
        # A shell makes its background programs ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(its)
    shown = ""
    while True:
        try:
            shown += os.read(terminal, 4096).decode()
        except OSError:  # the other end is closed
            break
        if until and until in shown and process.poll() is None:
            process.send_signal(signal.SIGINT)
            until = ""
    os.close(terminal)
    return process.wait(timeout=60), shown


def test_exports_and_imports_show_their_progress_and_can_be_ended(tmp_path: Path) -> None:
    database, schema = guests(tmp_path)
    for command in (("export", database, "Guest"), ("export", database, "Guest", "--csv")):
        status, shown = on_a_terminal(*command)
        assert (status, "50 %" in shown, "100 %" in shown) == (0, True, True), shown
    assert "100 %" in on_a_terminal("dump", database)[1]
    assert run("export", database, "Guest").stderr == ""
    table = tmp_path / "many.csv"
    table.write_text("id,name\n" + "".join(f"{n},name {n}\n" for n in range(10, 300_000)))
    status, shown = on_a_terminal("import", database, table, "--class", "Guest", until="%")
    assert status == -signal.SIGINT and "100 %" not in shown
    assert json.loads(run("query", database, "Guest", "--count", "--json").stdout) == {"count": 2}
    run("check", database)


def bash(script: str, *arguments: object, status: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run(
        ["bash", "-c", script, TOFTDB, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_what_is_read_may_come_out_of_pipes(tmp_path: Path) -> None:
    database, schema = loaded(tmp_path), tmp_path / "schema.json"
    pipes = '"$0" load "$1" <("$0" dump "$2") --key-file <(head -c 64 /dev/zero)'
    bash(pipes, tmp_path / "copy.toft", database)
    key = tmp_path / "key"
    key.write_bytes(bytes(64))
    objects = run("export", tmp_path / "copy.toft", "Package", "--key-file", key).stdout
    assert len(objects.splitlines()) == len(sample())
    bash(
        'cat "$3" | "$0" import "$1" /dev/stdin --schema <(cat "$2") --ignore-missing '
        "--ignore-unknown",
        tmp_path / "again.toft",
        schema,
        SAMPLE,
    )
    assert json.loads(run("check", tmp_path / "again.toft", "--json").stdout)["problems"] == []


def test_what_can_not_be_read_is_told_with_the_reason(tmp_path: Path) -> None:
    database, missing = loaded(tmp_path), tmp_path / "missing"
    for arguments in (
        ("import", database, missing),
        ("import", database, SAMPLE, "--schema", missing),
        ("load", tmp_path / "new.toft", missing),
        ("info", database, "--key-file", missing),
    ):
        complaint = run(*arguments, status=1).stderr
        assert f"'{missing}': No such file or directory." in complaint, complaint
    complaint = run("import", database, tmp_path, status=1).stderr
    assert f"Can't read '{tmp_path}': Is a directory." in complaint
    schema = tmp_path / "wrong.json"
    for text, reason in (
        ("{", "This is not JSON: no name of a member stands at byte 1."),
        ("[]", "it is not an object"),
        ('{"classes": 1}', "'classes' is not an array"),
        ('{"classes": [{"properties": []}]}', "'classes[0]' has no 'name'"),
        (
            '{"classes": [{"name": "A", "properties": [{"name": "a", "type": 1}]}]}',
            "'classes[0].properties[0].type' is not a text",
        ),
    ):
        schema.write_text(text)
        complaint = run("import", database, SAMPLE, "--schema", schema, status=1).stderr
        assert f"'{schema}' is no schema: " in complaint and reason in complaint, complaint


def test_an_import_that_fails_leaves_a_new_file_without_classes(tmp_path: Path) -> None:
    database, schema, lines = (tmp_path / name for name in ("a.toft", "schema.json", "a.jsonl"))
    wrong = json.loads(json.dumps(SCHEMA))
    wrong["classes"][0]["properties"][2]["type"] = "string"
    schema.write_text(json.dumps(wrong))
    options = ("--schema", schema, "--ignore-missing", "--ignore-unknown")
    complaint = run("import", database, SAMPLE, *options, status=1).stderr
    assert "Line 1 of" in complaint, complaint
    complaint = run("import", database, SAMPLE, status=1).stderr
    assert f"'{database}' has no classes. Say with --schema" in complaint, complaint
    # Another schema fits, as the file has no schema yet.
    schema.write_text(json.dumps(SCHEMA))
    run("import", database, SAMPLE, *options)
    dump = run("dump", database).stdout.splitlines()
    lines.write_text("\n".join([*dump[:-1], dump[-1].replace('"size":', '"sighs":')]))
    complaint = run("load", tmp_path / "b.toft", lines, status=1).stderr
    assert f"Line {len(dump)} of" in complaint, complaint
    lines.write_text("\n".join(dump))
    run("load", tmp_path / "b.toft", lines)
    run("check", tmp_path / "b.toft")


def test_a_limit_on_the_size_of_files_is_an_error_of_every_command(tmp_path: Path) -> None:
    database, schema = loaded(tmp_path), tmp_path / "schema.json"
    dump = tmp_path / "dump.jsonl"
    dump.write_text(run("dump", database).stdout)
    key = tmp_path / "key"
    key.write_bytes(bytes(64))
    limited = 'ulimit -f 32; "$0" "$@"'
    new = tmp_path / "new"
    for arguments in (
        ("copy", database, new),
        ("load", new, dump),
        ("import", new, SAMPLE, "--schema", schema, "--ignore-missing", "--ignore-unknown"),
        ("change-key", database, "--new-key-file", key),
        ("salvage", database, new),
    ):
        new.unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "-c", limited, TOFTDB, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 1 and "limit" in done.stderr, (arguments, done)
    for command in ("dump", "export"):
        done = bash(
            limited + f' > "{new}"',
            command,
            database,
            *["Package"][: command == "export"],
            status=1,
        )
        assert "File too large" in done.stderr
    for command in ("info", "check", "schema", "pins"):
        bash(limited, command, database)
    assert json.loads(run("check", database, "--json").stdout)["problems"] == []
