# Tests: ColumnContent.swift, CoreData.swift, DateForm.swift, LibSQLite.swift, PlannedClass.swift,
# SQLiteFile.swift, SQLiteImport.swift, SQLitePlan.swift, SQLitePlanner.swift, SQLiteTable.swift,
# SQLiteValue+Conversion.swift, Import+SQLite.swift
"""SQLite files: what an import makes of them has every value that their rows have. The databases
are made here, after public schemas, and read with Python's own library."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bindings/python"))

import toft  # noqa: E402

TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}


def terminal(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [TOFTDB, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def output(*arguments: object) -> Any:
    done = terminal(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ----------------------------------------------------------------------------------- The databases


def chinook(path: Path) -> None:
    """A shop for music: https://github.com/lerocha/chinook-database."""
    numbers = random.Random(1)
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE [Album] ([AlbumId] INTEGER NOT NULL, [Title] NVARCHAR(160) NOT NULL,
                [ArtistId] INTEGER NOT NULL, CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]),
                FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]));
            CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL PRIMARY KEY,
                [Name] NVARCHAR(120));
            CREATE TABLE [Employee] ([EmployeeId] INTEGER NOT NULL PRIMARY KEY,
                [LastName] NVARCHAR(20) NOT NULL, [ReportsTo] INTEGER, [BirthDate] DATETIME,
                FOREIGN KEY ([ReportsTo]) REFERENCES [Employee] ([EmployeeId]));
            CREATE TABLE [Invoice] ([InvoiceId] INTEGER NOT NULL PRIMARY KEY,
                [InvoiceDate] DATETIME NOT NULL, [Total] NUMERIC(10,2) NOT NULL);
            CREATE TABLE [InvoiceLine] ([InvoiceLineId] INTEGER NOT NULL PRIMARY KEY,
                [InvoiceId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
                [UnitPrice] NUMERIC(10,2) NOT NULL, [Quantity] INTEGER NOT NULL,
                FOREIGN KEY ([InvoiceId]) REFERENCES [Invoice] ([InvoiceId]),
                FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]));
            CREATE TABLE [Playlist] ([PlaylistId] INTEGER NOT NULL PRIMARY KEY,
                [Name] NVARCHAR(120));
            CREATE TABLE [PlaylistTrack] ([PlaylistId] INTEGER NOT NULL,
                [TrackId] INTEGER NOT NULL,
                CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
                FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId]),
                FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]));
            CREATE TABLE [Track] ([TrackId] INTEGER NOT NULL PRIMARY KEY,
                [Name] NVARCHAR(200) NOT NULL, [AlbumId] INTEGER, [Composer] NVARCHAR(220),
                [Milliseconds] INTEGER NOT NULL, [UnitPrice] NUMERIC(10,2) NOT NULL,
                FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId]));
            CREATE INDEX [IFK_TrackAlbumId] ON [Track] ([AlbumId]);
            CREATE INDEX [TrackName] ON [Track] ([Name]);
        """)

        def add(table: str, rows: list[tuple[object, ...]]) -> None:
            marks = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

        add("Artist", [(n, None if n % 9 == 0 else f"Artist {n} éß") for n in range(1, 40)])
        add("Album", [(n, f"Album {n}", numbers.randrange(1, 40)) for n in range(1, 80)])
        add(
            "Track",
            [
                (
                    n,
                    f"Track {n}",
                    numbers.choice([None, *range(1, 80)]),
                    f"C{n}" if n % 3 else None,
                    numbers.randrange(10**6),
                    numbers.choice([0.99, 1.99, 2]),
                )
                for n in range(1, 400)
            ],
        )
        add(
            "Employee",
            [
                (1, "Adams", None, "1962-02-18 00:00:00"),
                (2, "Edwards", 1, "1958-12-08 00:00:00"),
                (3, "Peacock", 5, None),
                (4, "Park", 2, "1947-09-19 23:59:59.5"),
                (5, "Johnson", 5, "1965-03-03"),
            ],
        )
        add("Invoice", [(n, f"2009-01-{n:02} 10:20:30", n * 1.98) for n in range(1, 29)])
        add(
            "InvoiceLine",
            [
                (n, numbers.randrange(1, 29), numbers.randrange(1, 400), 0.99, n)
                for n in range(1, 90)
            ],
        )
        add("Playlist", [(n, f"List {n}") for n in range(1, 9)])
        pairs = {(numbers.randrange(1, 8), numbers.randrange(1, 400)) for _ in range(300)}
        add("PlaylistTrack", numbers.sample(sorted(pairs), len(pairs)))


def places(path: Path) -> None:
    """The history and bookmarks of Firefox: its places.sqlite, as a program that is killed leaves
    it."""
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("""
        PRAGMA page_size = 32768;
        PRAGMA journal_mode = WAL;
        PRAGMA wal_autocheckpoint = 0;
        CREATE TABLE moz_origins (id INTEGER PRIMARY KEY, prefix TEXT NOT NULL,
            host TEXT NOT NULL, frecency INTEGER NOT NULL, UNIQUE (prefix, host));
        CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR,
            rev_host LONGVARCHAR, visit_count INTEGER DEFAULT 0,
            hidden INTEGER DEFAULT 0 NOT NULL, typed INTEGER DEFAULT 0 NOT NULL,
            frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER, guid TEXT,
            foreign_count INTEGER DEFAULT 0 NOT NULL, url_hash INTEGER DEFAULT 0 NOT NULL,
            origin_id INTEGER REFERENCES moz_origins(id));
        CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER,
            place_id INTEGER, visit_date INTEGER, visit_type INTEGER, session INTEGER);
        CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL,
            parent INTEGER, position INTEGER, title LONGVARCHAR, dateAdded INTEGER, guid TEXT);
        CREATE TABLE moz_meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
        CREATE TABLE moz_inputhistory (place_id INTEGER NOT NULL, input LONGVARCHAR NOT NULL,
            use_count INTEGER, PRIMARY KEY (place_id, input));
        CREATE TABLE moz_places_metadata (id INTEGER PRIMARY KEY, place_id INTEGER NOT NULL,
            referrer_place_id INTEGER, total_view_time INTEGER NOT NULL DEFAULT 0,
            FOREIGN KEY (place_id) REFERENCES moz_places(id) ON DELETE CASCADE,
            FOREIGN KEY (referrer_place_id) REFERENCES moz_places(id) ON DELETE CASCADE,
            CHECK(place_id != referrer_place_id));
        CREATE UNIQUE INDEX moz_places_guid_uniqueindex ON moz_places (guid);
        CREATE INDEX moz_places_lastvisitdateindex ON moz_places (last_visit_date);
        CREATE INDEX moz_bookmarks_itemindex ON moz_bookmarks (fk, type);
    """)
    now = 1_700_000_000_000_000
    for n in range(1, 20):
        database.execute("INSERT INTO moz_origins VALUES (?, 'https://', ?, ?)", (n, f"{n}.org", n))
    for n in range(1, 200):
        database.execute(
            "INSERT INTO moz_places VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, 1, ?, ?)",
            (
                n,
                f"https://{n % 19 + 1}.org/{n}",
                None if n % 5 == 0 else f"Page {n} 🌍",
                "gro.",
                n,
                n % 2,
                n * 10,
                now + n if n % 3 else None,
                f"guid{n:08}",
                n * 2**40,
                n % 19 + 1,
            ),
        )
        visit = (n, max(0, n - 3), n, now + n * 10**6, 1, 0)
        database.execute("INSERT INTO moz_historyvisits VALUES (?, ?, ?, ?, ?, ?)", visit)
    for n in range(1, 30):
        mark = (n, 1 + n % 2, n if n % 2 else None, n // 2 or None, n, f"Mark {n}", now, f"m{n}")
        database.execute("INSERT INTO moz_bookmarks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", mark)
    database.executemany(
        "INSERT INTO moz_meta VALUES (?, ?)",
        [("sync/bookmarks/version", 3), ("origin_frecency_sum", 12.5), ("z", "text"), ("b", b"\1")],
    )
    database.executemany(
        "INSERT INTO moz_inputhistory VALUES (?, ?, ?)", [(3, "go", 1), (3, "gi", 2), (4, "go", 3)]
    )
    database.executemany(
        "INSERT INTO moz_places_metadata VALUES (?, ?, ?, 7)", [(1, 2, 3), (2, 3, None)]
    )
    # As a killed program leaves them: what was committed is in the log alone.
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{path}{end}.kept")
    database.close()
    for end in ("", "-wal"):
        os.replace(f"{path}{end}.kept", f"{path}{end}")


def photos(path: Path) -> None:
    """A catalogue of photos, as digiKam has them, with all forms of dates and keys."""
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE AlbumRoots (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT,
                uuid UUID UNIQUE);
            CREATE TABLE Albums (root INTEGER REFERENCES AlbumRoots, path TEXT NOT NULL,
                date DATE, icon INTEGER REFERENCES Images(id), PRIMARY KEY (root, path));
            CREATE TABLE Images (id INTEGER PRIMARY KEY, root INTEGER, album TEXT,
                name TEXT NOT NULL, size BIGINT, hash CHAR(32) UNIQUE, thumbnail BLOB,
                favourite BOOLEAN NOT NULL DEFAULT FALSE, taken DATETIME, imported TIMESTAMP,
                modified TIMESTAMP, developed DATETIME, latitude REAL, rating,
                megabytes REAL GENERATED ALWAYS AS (size / 1000000.0) VIRTUAL,
                upper TEXT AS (upper(name)) STORED,
                FOREIGN KEY (root, album) REFERENCES Albums (root, path));
            CREATE TABLE Tags (name TEXT PRIMARY KEY, parent TEXT REFERENCES Tags(name));
            CREATE TABLE ImageTags (imageid INTEGER REFERENCES Images, tagname TEXT,
                FOREIGN KEY (tagname) REFERENCES Tags (name));
            CREATE TABLE ImageComments (imageid INTEGER NOT NULL REFERENCES Images(id),
                language VARCHAR(2) NOT NULL, comment TEXT, PRIMARY KEY (imageid, language))
                WITHOUT ROWID;
            CREATE TABLE Details (id INTEGER PRIMARY KEY REFERENCES Images(id), camera TEXT,
                serial BIGINT, exposure DECIMAL(10, 5));
            CREATE VIEW Favourites AS SELECT name FROM Images WHERE favourite;
            CREATE VIRTUAL TABLE Search USING fts5(name);
            CREATE TRIGGER deleting AFTER DELETE ON Images BEGIN
                DELETE FROM Details WHERE id = old.id; END;
            CREATE INDEX ImagesTaken ON Images (taken);
            CREATE INDEX ImagesPlace ON Images (latitude, name);
        """)
        database.executemany(
            "INSERT INTO AlbumRoots VALUES (?, ?, ?)",
            [(1, "Home", "0F1E2D3C-4b5a-6978-8796-a5b4c3d2e1f0"), (5, "Disk", None)],
        )
        albums = [(1, "/", "2020-01-01", 3), (1, "/sea", None, None), (5, "/sea", "2021-06-30", 3)]
        database.executemany("INSERT INTO Albums VALUES (?, ?, ?, ?)", albums)
        for n in range(1, 60):
            root, album = albums[n % 3][:2] if n % 7 else (None, "/")
            database.execute(
                "INSERT INTO Images (id, root, album, name, size, hash, thumbnail, favourite,"
                " taken, imported, modified, developed, latitude, rating)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    n * 3,
                    root,
                    album,
                    f"P{n}.jpg",
                    2**40 + n,
                    f"{n:032x}" if n % 4 else None,
                    bytes(range(n)) if n % 2 else None,
                    n % 3 == 0,
                    f"2019-07-{n % 28 + 1:02}T12:00:{n:02}.25+02:00" if n % 2 else None,
                    1_600_000_000 + n,
                    1_600_000_000_123 + n,
                    2_459_000.25 + n if n % 5 else None,
                    n / 8 if n % 3 else n,
                    [None, 1, 2.5, "good", b"\0\1"][n % 5],
                ),
            )
        database.executemany(
            "INSERT INTO Tags VALUES (?, ?)",
            [("child", "parent"), ("parent", None), ("loop", "loop"), ("a", "b"), ("b", "a")],
        )
        database.executemany(
            "INSERT INTO ImageTags VALUES (?, ?)",
            [(9, "child"), (3, "a"), (9, "a"), (3, "b"), (9, "child"), (None, "a"), (6, "loop")],
        )
        database.executemany(
            "INSERT INTO ImageComments VALUES (?, ?, ?)",
            [(9, "de", "Meer"), (3, "en", "sea\0deep"), (3, "de", None)],
        )
        database.executemany(
            "INSERT INTO Details VALUES (?, ?, ?, ?)",
            [(3, "X", 2**62, "0.00100"), (6, None, -1, 0.125), (9, "", 0, 3)],
        )
        database.execute("INSERT INTO Search VALUES ('sea')")


def core_data(path: Path) -> None:
    """A store of Apple's Core Data: a note has a folder, and notes and tags have each other."""
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER,
                Z_MAX INTEGER);
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255),
                Z_PLIST BLOB);
            CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
            CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                ZPARENT INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                ZPINNED INTEGER, ZFOLDER INTEGER, ZCREATED TIMESTAMP, ZRATING FLOAT,
                ZPRICE DECIMAL, ZTITLE VARCHAR, ZDATA BLOB);
            CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                ZNAME VARCHAR);
            CREATE TABLE Z_2TAGS (Z_2NOTES INTEGER, Z_4TAGS INTEGER, Z_FOK_4TAGS INTEGER,
                PRIMARY KEY (Z_2NOTES, Z_4TAGS));
            CREATE INDEX ZNOTE_ZFOLDER_INDEX ON ZNOTE (ZFOLDER);
            CREATE INDEX Z_2TAGS_Z_4TAGS_INDEX ON Z_2TAGS (Z_4TAGS, Z_2NOTES);
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'Folder', 0, 2), (2, 'Note', 0, 9),
                (3, 'Memo', 2, 0), (4, 'Tag', 0, 3);
            INSERT INTO Z_METADATA VALUES (1, 'D4C3', x'00');
            INSERT INTO ZFOLDER VALUES (1, 1, 1, NULL, 'Work'), (2, 1, 7, 1, 'Home');
            INSERT INTO ZTAG VALUES (1, 4, 1, 'red'), (2, 4, 1, 'green'), (3, 4, 2, NULL);
            INSERT INTO Z_2TAGS VALUES (1, 2, 3072), (3, 1, 1024), (1, 3, 1024), (1, 1, 2048);
        """)
        for n in range(1, 10):
            database.execute(
                "INSERT INTO ZNOTE VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?)",
                (
                    n,
                    2 + n % 2,
                    n % 2,
                    n % 3 or None,
                    700_000_000.5 + n,
                    n / 2,
                    n * 1.5,
                    f"Note {n}",
                    bytes([n]),
                ),
            )


DATABASES = {"chinook": chinook, "places": places, "photos": photos, "core_data": core_data}


# --------------------------------------------------------------------------------- The comparison


def date(value: Any, form: str) -> datetime:
    if form == "iso":
        found = datetime.fromisoformat(value)
        return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
    if form == "julian":
        milliseconds = round((value - 2440587.5) * 86_400_000)
        return EPOCH + timedelta(milliseconds=milliseconds)
    if form == "apple":
        return datetime(2001, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=value)
    return EPOCH + timedelta(microseconds=value * 10**6 // UNITS[form])


def converted(value: Any, member: dict[str, Any]) -> Any:
    if value is None:
        return None
    match member["type"]:
        case "date":
            return date(value, member["dates"])
        case "bool":
            return bool(value)
        case "double":
            return float(value)
        case "decimal128":
            return Decimal(str(value))
        case "uuid":
            return UUID(value)
    return value


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Comparison:
    """An imported file beside the SQLite file that it came from."""

    def __init__(self, path: Path, realm: toft.Realm, plan: dict[str, Any]) -> None:
        self.database = sqlite3.connect(path)
        self.objects = {each["name"]: list(realm.objects(each["name"])) for each in plan["classes"]}
        self.plan = {each["name"]: each for each in plan["classes"]}
        self.compared = 0

    def rows(self, table: str, columns: list[str]) -> list[tuple[Any, ...]]:
        names = ", ".join(map(quoted, columns))
        return self.database.execute(f"SELECT {names} FROM {quoted(table)} NOT INDEXED").fetchall()

    def keys(self, name: str, columns: list[str]) -> dict[Any, int]:
        """For each key of a table, the number of its row."""
        return {row: n for n, row in enumerate(self.rows(self.plan[name]["table"], columns))}

    def primary_key(self, table: str) -> list[str]:
        found = self.database.execute(f'PRAGMA table_info("{table}")').fetchall()
        return [row[1] for row in sorted(found, key=lambda row: row[5]) if row[5]]

    def target_key(self, name: str, source: str, columns: list[str]) -> list[str]:
        table = self.plan[name]["table"]
        keys: dict[int, list[tuple[str, str | None]]] = {}
        for key in self.database.execute(f'PRAGMA foreign_key_list("{source}")').fetchall():
            if key[2] == table:
                keys.setdefault(key[0], []).append((key[3], key[4]))
        for parts in keys.values():
            if [part[0] for part in parts] == columns and parts[0][1] is not None:
                return [part[1] or "" for part in parts]
        return self.primary_key(table)

    def compare(self) -> int:
        for name, each in self.plan.items():
            mine = self.objects[name]
            for member in each["properties"]:
                found = [
                    getattr(o, member["name"] if hasattr(type(o), member["name"])
                            else member["name"] + "_") for o in mine
                ]  # fmt: skip
                if "join" in member:
                    wanted = self.lists(name, member)
                    found = [list(value) for value in found]
                elif member["type"] == "link":
                    columns = member.get("columns") or [member["column"]]
                    keys = self.keys(
                        member["target"],
                        self.target_key(member["target"], each["table"], columns),
                    )
                    targets = self.objects[member["target"]]
                    wanted = [
                        None if None in row else targets[keys[row]]
                        for row in self.rows(each["table"], columns)
                    ]
                else:
                    wanted = [
                        converted(row[0], member)
                        for row in self.rows(each["table"], [member["column"]])
                    ]
                assert len(found) == len(wanted), name
                for value, true in zip(found, wanted):
                    assert value == true and type(value) is type(true), (name, member, value, true)
                    self.compared += 1
        return self.compared

    def lists(self, owner: str, member: dict[str, Any]) -> list[list[Any]]:
        join, target = member["join"], member["target"]
        owners = self.keys(owner, self.target_key(owner, join["table"], [join["from"]]))
        targets = self.keys(target, self.target_key(target, join["table"], [join["to"]]))
        lists: list[list[Any]] = [[] for _ in self.objects[owner]]
        names = self.database.execute(f'PRAGMA table_info("{join["table"]}")').fetchall()
        order = next((row[1] for row in names if row[1].startswith("Z_FOK_")), "rowid")
        found = self.database.execute(
            f'SELECT "{join["from"]}", "{join["to"]}" FROM "{join["table"]}" ORDER BY {order}'
        )
        for first, second in found.fetchall():
            if first is not None and second is not None:
                link = self.objects[target][targets[(second,)]]
                lists[owners[(first,)]].append(link)
        return lists


def imported(path: Path, folder: Path, *options: object) -> tuple[Any, Any, Path]:
    made = folder / "made.toft"
    plan = output("import", made, path, "--plan", "--json", *options)
    assert not made.exists()
    report = output("import", made, path, "--json", *options)
    checked = terminal("check", made)
    assert checked.returncode == 0, checked.stdout
    return plan, report, made


@pytest.mark.parametrize("name", DATABASES)
def test_an_import_has_every_value_of_every_row(name: str, tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    DATABASES[name](path)
    before = {each.name: each.read_bytes() for each in tmp_path.glob("app.sqlite*")}
    plan, report, made = imported(path, tmp_path)
    for file, content in before.items():
        assert (tmp_path / file).read_bytes() == content, "the SQLite file was written to"
    with toft.open(made, mode="read_only") as realm:
        comparing = Comparison(path, realm, plan)
        assert comparing.compare() > 50
        counts = {each["name"]: each["objects"] for each in report["classes"]}
        assert counts == {name: len(found) for name, found in comparing.objects.items()}
    # The plan, given back, makes the same file.
    given = tmp_path / "plan.json"
    given.write_text(json.dumps(plan))
    again = tmp_path / "again.toft"
    output("import", again, path, "--schema", given, "--json")
    assert terminal("dump", again).stdout == terminal("dump", made).stdout


def member(plan: Any, name: str, prop: str) -> dict[str, Any]:
    (owner,) = (each for each in plan["classes"] if each["name"] == name)
    (found,) = (each for each in owner["properties"] if each["name"] == prop)
    return {key: value for key, value in found.items() if key not in ("name", "column")}


def test_declared_types_keys_and_joins_are_planned_as_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    plans = {}
    for name, make in DATABASES.items():
        make(path)
        plans[name] = output("import", tmp_path / "made.toft", path, "--plan", "--json")
        for file in tmp_path.glob("app.sqlite*"):
            file.unlink()
    shop, web, photo, apple = (plans[name] for name in DATABASES)
    for plan, name, prop, wanted in (
        (shop, "Track", "TrackId", {"type": "int", "primaryKey": True}),
        (shop, "Track", "Name", {"type": "string", "indexed": True}),
        (shop, "Track", "UnitPrice", {"type": "decimal128"}),
        (shop, "Track", "Album", {"type": "link", "target": "Album"}),
        (shop, "Employee", "ReportsTo", {"type": "link", "target": "Employee"}),
        (shop, "Employee", "BirthDate", {"type": "date", "dates": "iso", "optional": True}),
        (web, "moz_meta", "key", {"type": "string", "primaryKey": True}),
        (web, "moz_meta", "value", {"type": "mixed"}),
        (web, "moz_places", "origin", {"type": "link", "target": "moz_origins"}),
        (web, "moz_places", "last_visit_date", {"type": "int", "optional": True, "indexed": True}),
        (photo, "AlbumRoots", "uuid", {"type": "uuid", "optional": True}),
        (photo, "Images", "favourite", {"type": "bool"}),
        (photo, "Images", "taken",
         {"type": "date", "dates": "iso", "optional": True, "indexed": True}),
        (photo, "Images", "imported", {"type": "date", "dates": "seconds", "optional": True}),
        (photo, "Images", "modified", {"type": "date", "dates": "milliseconds", "optional": True}),
        (photo, "Images", "developed", {"type": "date", "dates": "julian", "optional": True}),
        (photo, "Images", "latitude", {"type": "double", "optional": True}),
        (photo, "Images", "rating", {"type": "mixed"}),
        (photo, "Images", "thumbnail", {"type": "data", "optional": True}),
        (photo, "Images", "Albums",
         {"type": "link", "target": "Albums", "columns": ["root", "album"]}),
        (photo, "Albums", "root", {"type": "int", "optional": True}),
        (photo, "Tags", "name", {"type": "string", "optional": True, "primaryKey": True}),
        (photo, "Tags", "parent", {"type": "link", "target": "Tags"}),
        (photo, "Details", "id", {"type": "int", "primaryKey": True}),
        (photo, "Details", "Images", {"type": "link", "target": "Images"}),
        (photo, "Details", "exposure", {"type": "decimal128", "optional": True}),
        (apple, "ZNOTE", "ZCREATED", {"type": "date", "dates": "apple", "optional": True}),
        (apple, "ZNOTE", "ZFOLDER", {"type": "link", "target": "ZFOLDER"}),
        (apple, "ZNOTE", "TAGS",
         {"type": "link", "list": True, "target": "ZTAG",
          "join": {"table": "Z_2TAGS", "from": "Z_2NOTES", "to": "Z_4TAGS"}}),
        (apple, "ZFOLDER", "ZPARENT", {"type": "int", "optional": True}),
    ):  # fmt: skip
        assert member(plan, name, prop) == wanted, (name, prop)
    uniques = {each["name"]: each.get("unique") for each in photo["classes"]}
    assert uniques["Albums"] == [["root", "path"]] and uniques["Images"] == [["hash"]]
    assert "PlaylistTrack" not in {each["name"] for each in shop["classes"]}
    notes = "\n".join(photo["notes"])
    for part in ("view 'Favourites'", "virtual table 'Search'", "trigger 'deleting'",
                 "'Images.megabytes' is computed", "index 'ImagesPlace'"):  # fmt: skip
        assert part in notes, part
    assert not any("Search_" in each["name"] for each in photo["classes"])


def test_a_changed_plan_renames_retypes_and_links_what_sqlite_does_not_declare(
    tmp_path: Path,
) -> None:
    path, given = tmp_path / "places.sqlite", tmp_path / "plan.json"
    places(path)
    given.write_text(json.dumps({"classes": [
        {"table": "moz_places", "name": "Page", "properties": [
            {"column": "id", "name": "id", "type": "int", "primaryKey": True},
            {"column": "url", "name": "url", "type": "string", "optional": True},
            {"column": "last_visit_date", "name": "visited", "type": "date",
             "dates": "microseconds", "optional": True},
            {"column": "hidden", "name": "isHidden", "type": "bool"}]},
        {"table": "moz_bookmarks", "name": "Bookmark", "properties": [
            {"name": "id", "type": "int", "primaryKey": True},
            {"column": "fk", "name": "page", "type": "link", "target": "Page"},
            {"column": "parent", "name": "folder", "type": "link", "target": "Bookmark"}]},
    ]}))  # fmt: skip
    made = tmp_path / "made.toft"
    report = output("import", made, path, "--schema", given, "--json")
    assert any("table 'moz_origins' is left out" in note for note in report["notes"])
    with toft.open(made, mode="read_only") as realm:
        page = realm.object("Page", 7)
        assert page.url == "https://8.org/7" and page.isHidden is False
        assert page.visited == date(1_700_000_000_000_007, "microseconds")
        mark = realm.object("Bookmark", 7)
        assert mark.page == page and mark.folder == realm.object("Bookmark", 3)
        assert realm.object("Bookmark", 1).folder is None
    for change, says in (
        ({"column": "url", "name": "url", "type": "int"}, "column 'url': 'https://2.org/1' is not "
         "a whole number"),
        ({"column": "url", "name": "url", "type": "date"}, "is not a date as 2026"),
        ({"column": "no", "name": "url", "type": "int"}, "column 'no', which table"),
        ({"column": "id", "name": "l", "type": "link", "target": "X"}, "'X'"),
        ({"column": "url", "name": "l", "type": "date", "dates": "tai"}, "There are: iso"),
        ({"column": "title", "name": "title", "type": "string"}, "rowid 5, column 'title': null"),
    ):  # fmt: skip
        given.write_text(json.dumps({"classes": [
            {"table": "moz_places", "name": "Page", "properties": [change]}]}))  # fmt: skip
        done = terminal("import", tmp_path / "bad.toft", path, "--schema", given)
        assert done.returncode == 1 and says in done.stderr, done.stderr
        assert not (tmp_path / "bad.toft").exists()


def test_names_that_toft_refuses_are_renamed_by_rule_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE "order items" ("unit price" REAL, "unit.price" REAL, unit_price REAL,
                "9th" TEXT, "__v" INTEGER, "" INTEGER);
            CREATE TABLE order_items (rowid TEXT, x INTEGER);
            CREATE TABLE "quote""d" (a INTEGER);
            INSERT INTO "order items" VALUES (1.5, 2.5, 3.5, 'a', 7, 8);
            INSERT INTO order_items VALUES ('own', 9);
        """)
    plan, report, made = imported(path, tmp_path)
    names = {each["table"]: each["name"] for each in plan["classes"]}
    assert names == {
        "order items": "order_items_2", "order_items": "order_items", 'quote"d': "quote_d",
    }  # fmt: skip
    (odd,) = (each for each in plan["classes"] if each["name"] == "order_items_2")
    columns = {each["column"]: each["name"] for each in odd["properties"]}
    assert columns == {
        "unit price": "unit_price_2", "unit.price": "unit_price_3", "unit_price": "unit_price",
        "9th": "_9th", "__v": "__v", "": "_",
    }  # fmt: skip
    assert "column 'order items.unit.price' is property 'unit_price_3' now" in plan["notes"]
    with toft.open(made, mode="read_only") as realm:
        assert Comparison(path, realm, plan).compare() == 8


def test_what_can_not_be_read_is_an_error_that_says_where_and_nothing_is_made(
    tmp_path: Path,
) -> None:
    path, made = tmp_path / "bad.sqlite", tmp_path / "made.toft"

    def refused(says: str, *options: object) -> None:
        done = terminal("import", made, path, *options)
        assert done.returncode == 1 and says in done.stderr, done.stderr
        assert not made.exists() and not list(tmp_path.glob(".*"))

    refused("bad.sqlite")
    path.write_bytes(random.Random(3).randbytes(8192))
    refused("it is no SQLite database, or an encrypted one")
    path.unlink()
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE child (id INTEGER PRIMARY KEY, p INTEGER REFERENCES parent);
            INSERT INTO parent VALUES (1, 'one');
            INSERT INTO child VALUES (10, 1), (12, 99), (13, NULL);
        """)
    refused("table 'child', rowid 12, column 'p': no row of table 'parent' has the id 99")
    report = output("import", made, path, "--ignore-missing", "--json")
    assert report["notes"] == ["1 links led to rows that are not there"]
    with toft.open(made, mode="read_only") as realm:
        links = [each.p for each in realm.objects("child")]
        assert links == [realm.object("parent", 1), None, None]
    made.unlink()
    refused("takes no --class", "--class", "child")
    made.write_bytes(b"")
    done = terminal("import", made, path, "--ignore-missing")
    assert done.returncode == 1 and "already" in done.stderr
    made.unlink()
    with sqlite3.connect(path) as database:
        database.executemany(
            "INSERT INTO parent VALUES (?, ?)", [(n, "x" * 300) for n in range(1000, 1400)]
        )
    content = bytearray(path.read_bytes())
    for page in range(3, len(content) // 4096):
        content[page * 4096 : page * 4096 + 8] = bytes(8)
    path.write_bytes(content)
    refused("it is damaged")


def test_a_flipped_bit_gives_an_error_or_values_and_never_ends_the_program(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    numbers = random.Random(seed)
    path, made = tmp_path / "app.sqlite", tmp_path / "made.toft"
    photos(path)
    original = path.read_bytes()
    for _ in range(40):
        content = bytearray(original)
        for _ in range(numbers.randrange(1, 4)):
            content[numbers.randrange(len(content))] ^= 1 << numbers.randrange(8)
        path.write_bytes(content)
        done = terminal("import", made, path)
        assert done.returncode in (0, 1), (done.returncode, done.stderr)
        assert made.exists() == (done.returncode == 0), done.stderr
        made.unlink(missing_ok=True)


def test_a_closed_file_with_a_write_ahead_log_is_read_where_nothing_can_be_written(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "media"
    folder.mkdir()
    path = folder / "app.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER);")
        database.execute("INSERT INTO t VALUES (7)")
    database.close()
    assert [each.name for each in folder.iterdir()] == ["app.sqlite"]
    output("import", tmp_path / "made.toft", path, "--json")
    assert [each.name for each in folder.iterdir()] == ["app.sqlite"]
