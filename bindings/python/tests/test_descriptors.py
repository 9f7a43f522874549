"""Programs that close descriptors which they did not open, as daemons do, and whose own files then
get the numbers: nothing is written to those, and no commit is lost in them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import PACKAGE, TESTS

BEGINNING = """
import errno, os, sys, toft
from models import *

base, kind = sys.argv[1:3]
CONTENT = b"Z" * (1 << 20)
taken = {}


def descriptors(wanted):
    found = []
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if target == wanted or "eventfd" in target:
            found.append(int(name))
    return found


def lose(wanted=None):
    # Closes one descriptor, or all of them, and gives its number to a file of the program.
    own = descriptors(wanted or path)
    for number in own if which < 0 else own[which:which + 1]:
        os.close(number)
        if kind == "closed":
            continue
        victim = os.open(f"{base}.victim{which}.{number}", os.O_RDWR | os.O_CREAT)
        os.write(victim, CONTENT)
        if victim != number:
            os.dup2(victim, number)
            os.close(victim)
        taken[number] = os.fstat(number).st_ino


def finish(count):
    for number, inode in taken.items():
        assert os.fstat(number).st_ino == inode, f"{number} was closed"
        os.close(number)
        with open(f"{base}.victim{which}.{number}", "rb") as file:
            assert file.read() == CONTENT, f"{number} was written to"
    with toft.open(path, ALL) as realm:
        assert len(realm.objects(Person)) == count, len(realm.objects(Person))
        assert realm.check()


def add(realm, name):
    # Whether it was committed.
    try:
        with realm.write():
            realm.create(Person, name=name)
        return 1
    except toft.FileAccessError as error:
        assert error.errno == errno.EBADF, error
        assert "closed by the program" in str(error)
        return 0
"""

ENDING = """
for which in (-1, 0, 1, 2, 3):
    path = f"{base}.{which}"
    taken.clear()
    run()
"""

PROGRAMS = {
    "before a transaction": """
realm = toft.open(path, ALL)
count = add(realm, "kept")
lose()
count += add(realm, "lost")
assert len(realm.objects(Person)) == count  # what was read can still be read
with toft.open(path, ALL) as again:  # though the other is still open
    count += add(again, "again")
    assert len(again.objects(Person)) == count
realm.close()
finish(count)
""",
    "in a transaction": """
realm = toft.open(path, ALL)
count = add(realm, "kept")
try:
    with realm.write():
        realm.create(Person, name="lost")
        lose()
    count += 1
except toft.FileAccessError:
    pass
realm.close()
finish(count)
""",
    "while it is observed": """
realm = toft.open(path, ALL)
count = add(realm, "kept")
calls = []
token = realm.objects(Person).observe(calls.append)
realm.dispatch()
lose()
count += add(realm, "lost")
realm.dispatch()
with toft.open(path, ALL) as other:
    count += add(other, "again")
try:
    realm.dispatch()
except toft.Error as error:
    assert "closed by the program" in str(error), error
token = None
realm.close()
finish(count)
""",
    "with commits that wait for the disk": """
realm = toft.open(path, ALL)
count = add(realm, "kept")
with realm.write(durability="deferred"):
    realm.create(Person, name="deferred")
lose()
try:
    realm.close()
except toft.CommitOutcomeUnknownError:
    pass
finish(2)
""",
    "of a database in memory": """
realm = toft.open_in_memory(ALL, name="memory")
count = add(realm, "kept")
lose("/memfd:toft (deleted)")
count += add(realm, "lost")
realm.close()
finish(0)
""",
}


@pytest.mark.parametrize("kind", ["closed", "another file"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_descriptors_are_closed_under_a_realm(tmp_path: Path, program: str, kind: str) -> None:
    body = textwrap.indent(PROGRAMS[program], "    ")
    source = f"{BEGINNING}\n\ndef run():\n    global path\n{body}{ENDING}"
    packages = os.pathsep.join([str(PACKAGE), str(TESTS)])
    result = subprocess.run(
        [sys.executable, "-c", source, str(tmp_path / "a.toft"), kind],
        env={**os.environ, "PYTHONPATH": packages},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
