# Tests: ShellCommand.swift, ShellTerminal.swift, LineEditor.swift, Interrupts.swift,
# DiffCommand.swift
"""The shell of the terminal:

what `toftdb FILE` says to a person at a prompt, with real processes and a terminal, and to a
program with pipes. TOFTDB names the program.
"""

import csv
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import unicodedata
from fcntl import ioctl
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
SCHEMA = {
    "classes": [
        {
            "name": "Person",
            "properties": [
                {"name": "id", "type": "int", "primaryKey": True},
                {"name": "name", "type": "string"},
                {"name": "age", "type": "int", "optional": True, "indexed": True},
                {"name": "boss", "type": "link", "target": "Person"},
                {"name": "tags", "type": "string", "list": True},
            ],
        },
        {"name": "Note", "properties": [{"name": "text", "type": "string"}]},
    ]
}
PEOPLE = [
    {"id": 1, "name": "Ann", "age": 50, "boss": None, "tags": ["a", "b"]},
    {"id": 2, "name": "Bob", "age": 30, "boss": 1, "tags": []},
    {"id": 3, "name": "Cid", "age": None, "boss": 2, "tags": ["c"]},
    {"id": 4, "name": "Dan", "age": 30, "boss": 1, "tags": []},
]
# Sequences that a terminal obeys.
HARMFUL = "\x1b[2J\x1b]0;title\x07\x9b5A\u202e\x7f"


def run(*arguments: object, status: int = 0, **options: object) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [TOFTDB, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def rows(*arguments: object, **options: object) -> list[dict]:
    return [json.loads(line) for line in run(*arguments, **options).stdout.splitlines()]


@pytest.fixture
def database(tmp_path: Path):
    """A file with people. It is sound afterwards."""
    schema, lines = tmp_path / "schema.json", tmp_path / "people.jsonl"
    schema.write_text(json.dumps(SCHEMA))
    lines.write_text("".join(json.dumps(person) + "\n" for person in PEOPLE))
    path = tmp_path / "people.toft"
    run("import", path, lines, "--class", "Person", "--schema", schema)
    yield path
    assert json.loads(run("check", path, "--json").stdout)["problems"] == []


class Terminal:
    """A person at the prompt of a shell."""

    def __init__(self, *arguments: object, columns: int = 80, rows: int = 24, **env: str) -> None:
        self.end, its = pty.openpty()
        ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [TOFTDB, *map(str, arguments)],
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "PAGER": "cat", **env},
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(its)
        self.seen = ""

    def until(self, text: str) -> str:
        """Reads until a text has come; returns all since the last call."""
        while text not in self.seen:
            assert select.select([self.end], [], [], 60)[0], f"no {text!r} after {self.seen!r}"
            try:
                piece = os.read(self.end, 65536)
            except OSError:  # the other end is closed
                piece = b""
            assert piece, f"no {text!r} after {self.seen!r}"
            self.seen += piece.decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def say(self, line: str, prompt: str = ".toft> ") -> str:
        """Types a line and returns what comes before the next prompt."""
        self.type(line + "\r")
        self.until("\n")
        return self.until(prompt)

    def leave(self) -> int:
        # Not Control-D: the terminal itself takes one that comes before the editor reads keys.
        self.type(".quit\r")
        try:
            while select.select([self.end], [], [], 60)[0] and os.read(self.end, 65536):
                pass
        except OSError:
            pass
        os.close(self.end)
        return self.process.wait(timeout=60)


def plain(text: str) -> str:
    """A text of a terminal without the control sequences that the shell itself writes."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", text)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "home"
    folder.mkdir()
    return {"HOME": str(folder)}


def test_statements_of_the_command_line_are_run_in_turn(database: Path) -> None:
    assert rows(database, "Person where age == 30 sort(name desc) show id, boss.name") == [
        {"id": 4, "boss.name": "Ann"},
        {"id": 2, "boss.name": "Ann"},
    ]
    assert rows(database, "Person count", "Person group age: count having count > 1") == [
        {"count": 4},
        {"age": 30, "count": 2},
    ]
    table = run(database, "--table", "Person where id < 3 show id, name, age").stdout
    assert table == "id  name  age\n--  ----  ---\n 1  Ann    50\n 2  Bob    30\n"


def test_lines_from_a_pipe_are_run_until_the_first_mistake(database: Path) -> None:
    lines = "Person count\n\n  set Person id=1 age=51;\nPerson where id == 1 show age\n.quit\nNo\n"
    done = run(database, input=lines)
    assert done.stdout == '{"count":4}\n{"age":51}\n'
    assert done.stderr == "1 object of 'Person' changed\n"
    done = run(database, input="Person count\nset Persn id=1 age=7\nPerson count\n", status=1)
    assert done.stdout == '{"count":4}\n'
    assert "Did you mean 'Person'?" in done.stderr
    assert done.stderr.endswith("    set Persn id=1 age=7\n        ^\n")


def test_a_transaction_that_a_mistake_ends_changes_nothing(database: Path) -> None:
    lines = "begin\nset Person id=1 age=7\nset Person id=1 age='x'\ncommit\n"
    assert "age='x'" in run(database, input=lines, status=1).stderr
    assert rows(database, "Person where id == 1 show age") == [{"age": 50}]
    run(database, "begin", "set Person id=1 age=7", "delete Person id=4", "commit")
    assert rows(database, "Person where id in {1, 4} show age") == [{"age": 7}]


def test_many_objects_are_changed_only_if_somebody_says_yes(database: Path) -> None:
    done = run(database, "delete Person where age == 30", status=1)
    assert "Delete 2 objects of 'Person'?" in done.stderr and "--yes" in done.stderr
    assert rows(database, "Person count") == [{"count": 4}]
    assert "2 objects" in run(database, "--yes", "delete Person where age == 30").stderr
    assert rows(database, "Person count") == [{"count": 2}]


def test_values_of_conditions_come_from_flags(database: Path) -> None:
    arguments = ("--arg", "30", "--arg", "Bob")
    assert rows(database, *arguments, "Person where age == $0 and name != $1 show id") == [
        {"id": 4}
    ]
    assert rows("query", database, "Person", "name == $0", "--arg", "Bob", "--fields", "id") == [
        {"id": 2}
    ]
    assert rows("query", database, "Person", "name == $0", "--arg", '"30"', "--fields", "id") == []
    refused = run("query", database, "Person", "age == $0", status=1)
    assert "$0" in refused.stderr
    refused = run("query", database, "Person", "age == $0", "--arg", "x", status=1)
    assert "    age == $0\n" in refused.stderr


def test_a_query_prints_columns_groups_and_aggregates(database: Path) -> None:
    query = ("query", database, "Person")
    assert rows(*query, "id < 3", "--fields", "id,boss.name,tags") == [
        {"id": 1, "boss.name": None, "tags": ["a", "b"]},
        {"id": 2, "boss.name": "Ann", "tags": []},
    ]
    assert rows(*query, "--group", "boss.name", "--count", "--sum", "age") == [
        {"boss.name": None, "count": 1, "sum(age)": 50},
        {"boss.name": "Ann", "count": 2, "sum(age)": 60},
        {"boss.name": "Bob", "count": 1, "sum(age)": 0},
    ]
    assert rows(*query, "--sum", "age", "--avg", "age", "--min", "id", "--max", "id") == [
        {"sum(age)": 110, "avg(age)": 110 / 3, "min(id)": 1, "max(id)": 4}
    ]
    text = run(*query, "--fields", "name,age,tags", "--csv").stdout
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read[:3] == [["name", "age", "tags"], ["Ann", "50", '["a","b"]'], ["Bob", "30", "[]"]]
    assert run(*query, "--csv").stdout == run("export", database, "Person", "--csv").stdout
    for wrong, word in (
        (("--fields", "id,nme"), "nme"),
        (("--group", "tags"), "tags"),
        (("--sum", "name"), "sum"),
    ):
        done = run(*query, *wrong, status=1)
        assert word in done.stderr and done.stderr.rstrip().endswith("^"), done.stderr
    run(*query, "--fields", "id", "--count", status=64)
    run(*query, "--csv", "--json", status=64)


def test_an_export_takes_a_query(database: Path) -> None:
    exported = rows("export", database, "Person", "age == $0 SORT(id DESC)", "--arg", "30")
    assert exported == [PEOPLE[3], PEOPLE[1]]
    assert "^" in run("export", database, "Person", "age = = 3", status=1).stderr


def test_files_that_differ_are_told_apart(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.toft"
    run("copy", database, copy)
    assert rows("diff", database, copy) == []
    run(copy, "set Person id=1 age=51", "delete Person id=3", 'create Person {"id": 9}')
    run(copy, 'create Note {"text": "n"}')
    differences = rows("diff", database, copy, status=1)
    assert [(each["kind"], each["class"], each.get("key")) for each in differences] == [
        ("changed", "Person", 1),
        ("deleted", "Person", 3),
        ("created", "Person", 9),
        ("created", "Note", None),
    ]
    assert differences[0]["properties"] == {"age": {"before": 50, "after": 51}}
    assert run("diff", database, copy, "--quiet", status=1).stdout == ""
    assert "no file" in run("diff", database, tmp_path / "none.toft", status=1).stderr


def test_a_key_may_be_written_as_hexadecimal_digits(database: Path, tmp_path: Path) -> None:
    key, text, wrong = tmp_path / "raw.key", tmp_path / "hex.key", tmp_path / "wrong.key"
    key.write_bytes(bytes(range(100, 164)))
    text.write_text(key.read_bytes().hex().upper() + "\n")
    wrong.write_text(key.read_bytes().hex()[:-1] + "x")
    copy = tmp_path / "encrypted.toft"
    run("copy", database, copy, "--new-key-file", text)
    assert rows(copy, "--key-file", key, "Person count") == [{"count": 4}]
    assert rows(copy, "--key-file", text, "Person count") == [{"count": 4}]
    assert "64 bytes" in run(copy, "--key-file", wrong, "Person count", status=1).stderr
    opened = f".open {copy}\n"
    assert "encrypted" in run(database, input=opened, status=1).stderr
    lines = f".key {text}\nPerson count\n"
    assert "not encrypted" in run(database, input=lines, status=1).stderr


def test_what_is_neither_a_command_nor_a_file_is_a_misuse(tmp_path: Path) -> None:
    done = run("qurey", tmp_path / "a.toft", status=64)
    assert "Did you mean 'query'?" in done.stderr
    assert "There is no file" in run(tmp_path / "none.toft", "Person", status=1).stderr
    assert "SUBCOMMANDS" in run().stdout


@pytest.mark.parametrize("library", ["libedit", "none"])
def test_a_person_asks_and_changes_at_a_prompt(
    database: Path, home: dict[str, str], tmp_path: Path, library: str
) -> None:
    environment = dict(home)
    if library == "none":
        # Without the library there are plain lines.
        broken = tmp_path / "broken"
        broken.mkdir()
        for name in ("libedit.so.2", "libedit.so.0", "libedit.so"):
            (broken / name).write_text("no library")
        environment["LD_LIBRARY_PATH"] = str(broken)
    shell = Terminal(database, **environment)
    shell.until("people.toft> ")
    table = plain(shell.say("Person where age == 30 show name, boss.name"))
    assert "name  boss.name\n----  ---------\nBob   Ann\nDan   Ann\n2 rows\n" in table
    assert "null" in plain(shell.say("Person where id == 3"))
    told = plain(shell.say("Person where agee > 3"))
    assert "Did you mean 'age'?" in told and "                 ^\n" in told
    shell.type("delete Person where age == 30\r")
    shell.until("Delete 2 objects of 'Person'? [y/N] ")
    shell.type("n\r")
    assert "nothing was changed" in shell.until("people.toft> ")
    shell.type("set Person where age == 30 age=31\r")
    shell.until("[y/N] ")
    shell.type("y\r")
    assert "2 objects of 'Person' changed" in shell.until("people.toft> ")
    assert "2 changes taken back" in shell.say("undo")
    shell.say("begin", "people.toft*> ")
    shell.say("set Person id=1 age=1", "people.toft*> ")
    assert "version" in shell.say("commit")
    assert "Person" in shell.say(".classes")
    assert shell.leave() == 0
    assert rows(database, "Person sort(id) show age") == [
        {"age": 1},
        {"age": 30},
        {"age": None},
        {"age": 30},
    ]


def test_the_tab_key_completes_and_lines_come_back(database: Path, home: dict[str, str]) -> None:
    shell = Terminal(database, **home)
    shell.until("people.toft> ")
    shell.type("Per\t")
    shell.until("son ")
    shell.type("where boss.na\t")
    shell.until("me ")
    shell.type("== 'Ann' cou\t")
    shell.until("nt ")
    assert "2" in plain(shell.say(""))
    # Control-U deletes the line.
    assert "2" in plain(shell.say("\x15Person where id < 3 count"))
    assert shell.leave() == 0
    history = Path(home["HOME"]) / ".toftdb_history"
    assert "Person where id < 3 count" in history.read_text().replace("\\040", " ")
    assert history.stat().st_mode & 0o077 == 0
    again = Terminal(database, **home)
    again.until("people.toft> ")
    again.type("\x1b[A\x1b[A")  # over the `.quit` of the first
    again.until("id < 3 count")
    assert "2" in plain(again.say(""))
    assert again.leave() == 0
    hidden = Terminal(database, "--no-history", **home)
    hidden.until("people.toft> ")
    hidden.say("Person count")
    assert hidden.leave() == 0
    assert "Person count" not in history.read_text().replace("\\040", " ")


def test_control_c_ends_the_line_or_the_statement_and_not_the_shell(
    database: Path, home: dict[str, str]
) -> None:
    shell = Terminal(database, **home)
    shell.until("people.toft> ")
    shell.type("Person whe\x03")
    shell.until("people.toft> ")
    shell.type(".watch Person where age > 5\r")
    shell.until(": 3 objects")
    run(database, "set Person id=1 age=77")
    shell.until('"age":77')
    shell.type("\x03")
    shell.until("people.toft> ")
    assert "4" in plain(shell.say("Person count"))
    assert shell.leave() == 0


def test_long_answers_go_to_a_pager(database: Path, home: dict[str, str]) -> None:
    lines = "".join(f'create Note {{"text": "note {number}"}}\n' for number in range(100))
    run(database, input="begin\n" + lines + "commit\n")
    pager = "sed 's/^/paged: /'"
    shell = Terminal(database, rows=20, **{**home, "PAGER": pager})
    shell.until("people.toft> ")
    assert plain(shell.say("Note")).count("paged: ") == 102
    assert "paged" not in shell.say("Note limit 3")
    shell.say(".pager off")
    assert "paged" not in shell.say("Note")
    shell.say(".pager on")
    # A person who leaves the pager early comes back to the prompt.
    assert shell.leave() == 0
    shell = Terminal(database, rows=20, **{**home, "PAGER": "head -n 1"})
    shell.until("people.toft> ")
    shell.say("Note")
    assert "100" in plain(shell.say("Note count"))
    assert shell.leave() == 0


@pytest.mark.parametrize("mode", ["table", "json", "csv", "line"])
def test_a_terminal_obeys_nothing_of_the_data(
    database: Path, home: dict[str, str], mode: str
) -> None:
    run(database, "create Note " + json.dumps({"text": HARMFUL + "\nend"}))
    shell = Terminal(database, **{**home, "NO_COLOR": "1"})
    shell.until("people.toft> ")
    shell.say(f".mode {mode}")
    shell.type("Note\r")
    shell.until("\r\n")
    shown = shell.until("end")
    for character in shown:
        category = unicodedata.category(character)
        assert category not in ("Cc", "Cf") or character in "\r\n", (mode, shown)
    shell.until(".toft> ")
    assert shell.leave() == 0


def test_a_table_fits_the_terminal(database: Path, home: dict[str, str]) -> None:
    run(database, "create Note " + json.dumps({"text": "long " * 100}))
    for columns in (40, 80):
        shell = Terminal(database, columns=columns, **{**home, "NO_COLOR": "1"})
        shell.until("people.toft> ")
        shell.type("Note\r")
        shell.until("\n")
        for line in plain(shell.until("1 row\r\n")).splitlines():
            assert len(line) <= columns
        shell.until(".toft> ")
        assert shell.leave() == 0


def test_a_shell_opens_another_file_with_its_key(
    database: Path, home: dict[str, str], tmp_path: Path
) -> None:
    key, copy = tmp_path / "a.key", tmp_path / "copy.toft"
    key.write_bytes(os.urandom(64))
    run("copy", database, copy, "--new-key-file", key)
    shell = Terminal(copy, **home)
    assert "encrypted" in shell.until("copy.toft> ")
    assert "No file is open" in shell.say("Person count")
    shell.say(f".key {key}")
    assert "4" in plain(shell.say("Person count"))
    shell.say(".key")
    assert "No file is open" in shell.say("Person count")
    assert shell.leave() == 0


def test_the_statements_of_the_page_run(database: Path) -> None:
    page = (ROOT / "Sources/Toft/Toft.docc/Shell.md").read_text()
    statements = "".join(re.findall(r"```toftdb\n(.*?)```", page, re.DOTALL))
    assert len(statements.splitlines()) > 15
    done = run(database, "--yes", input=statements)
    assert done.stderr.endswith("no object of 'Person' matches\n1 change taken back\n")


def test_a_shell_that_is_killed_in_a_transaction_changes_nothing(
    database: Path, home: dict[str, str]
) -> None:
    shell = Terminal(database, **home)
    shell.until("people.toft> ")
    shell.say("begin", "people.toft*> ")
    shell.say("set Person id=1 age=1", "people.toft*> ")
    shell.process.send_signal(signal.SIGKILL)
    shell.process.wait(timeout=60)
    os.close(shell.end)
    assert rows(database, "Person where id == 1 show age") == [{"age": 50}]
