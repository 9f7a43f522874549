"""Three processes, one in each language, write to one file and observe it, while each is killed
again and again at random moments.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "Tests/MixedKills"
BUILT = Path(os.environ.get("TOFT_SWIFT_BUILD", ROOT / ".build/debug"))
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
LIBRARY = Path(os.environ.get("TOFT_LIBRARY", ROOT / "build/libtoft.so")).resolve()
KILLS = 100
KEPT = 20


class Worker:
    """A process, started again after each kill, and what it has acknowledged."""

    def __init__(self, number: int, command: list[object], database: Path) -> None:
        self.number = number
        self.command = [str(part) for part in (*command, database, number)]
        self.acknowledged = 0
        self.calls = 0
        self.last_word = 0.0

    def start(self) -> None:
        """Starts it; all that it has acknowledged must be there."""
        since = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, text=True, env=environment
        )
        before, self.opened_at = self.acknowledged, -1
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        self.wait_for_a_word(since, 20)
        assert self.opened_at in (before, before + 1), (
            f"{before} commits were acknowledged, {self.opened_at} are there"
        )

    def read(self) -> None:
        for line in self.process.stdout:
            word, commits, calls = line.split()
            # The commits that it found are acknowledged too: it may be killed again before its next
            # commit is.
            self.acknowledged = int(commits)
            if word == "opened":
                self.opened_at = self.acknowledged
            else:
                self.calls += int(calls) > 1  # commits after which it had been told of others
            self.last_word = time.monotonic()

    def wait_for_a_word(self, since: float, seconds: float) -> float:
        """Waits until it has opened the file or committed; returns how long after `moment`."""
        while self.last_word <= since:
            assert self.process.poll() is None, (
                f"{self.command[0]} ended by itself with {self.process.returncode}"
            )
            assert time.monotonic() < since + seconds, (
                f"{self.command[0]} said nothing for {seconds} s"
            )
            time.sleep(0.001)
        return self.last_word - since

    def kill(self) -> None:
        assert self.process.poll() is None, (
            f"{self.command[0]} ended by itself with {self.process.returncode}"
        )
        self.process.kill()
        self.process.wait()
        self.reader.join()  # what it had acknowledged is known now


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """The folder that the workers write to: in memory if the machine has such a directory.

    Nobody loses what the kernel has taken over when a process is killed, and the second that the
    others have to go on is the engine's: a busy disk alone may take longer.
    """
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as directory:
        yield Path(directory) / "shared.toft"


@pytest.fixture
def workers(tmp_path: Path, database: Path) -> Iterator[list[Worker]]:
    in_c = tmp_path / "worker"
    includes = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'bindings/c/examples'}"]
    subprocess.run(
        [
            "cc",
            "-std=gnu11",
            "-O1",
            *includes,
            SOURCES / "worker.c",
            LIBRARY,
            f"-Wl,-rpath,{LIBRARY.parent}",
            "-o",
            in_c,
        ],
        check=True,
    )
    commands = [[in_c], [sys.executable, SOURCES / "worker.py"], [BUILT / "KillWorker"]]
    started = [Worker(number, command, database) for number, command in enumerate(commands)]
    yield started
    for worker in started:
        if worker.process.poll() is None:
            worker.kill()


def test_kills_lose_nothing_and_stop_nobody_else(workers: list[Worker], database: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    choice = random.Random(seed)
    for worker in workers:
        worker.start()
    longest = 0.0
    for _ in range(KILLS):
        time.sleep(choice.uniform(0, 0.2))
        killed = choice.choice(workers)
        moment = time.monotonic()
        killed.kill()
        for other in workers:
            if other is not killed:
                longest = max(longest, other.wait_for_a_word(moment, 1))
        killed.start()
    for worker in workers:
        worker.kill()
    print(
        f"{KILLS} kills among {[worker.acknowledged for worker in workers]} commits; the others "
        f"went on within {longest * 1000:.0f} ms"
    )
    assert all(worker.calls > 0 for worker in workers)
    check(workers, database)


def check(workers: list[Worker], database: Path) -> None:
    def toftdb(*arguments: object) -> str:
        return subprocess.run(
            [TOFTDB, *map(str, arguments)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    assert json.loads(toftdb("check", database, "--json"))["problems"] == []
    counts = {
        item["worker"]: item["commits"]
        for item in map(json.loads, toftdb("export", database, "Count").splitlines())
    }
    entries = {
        item["text"]: item
        for item in map(json.loads, toftdb("export", database, "Entry").splitlines())
    }
    expected = set()
    for worker in workers:
        commits = counts[worker.number]
        assert commits in (worker.acknowledged, worker.acknowledged + 1)
        expected |= {
            f"{worker.number}/{number}" for number in range(max(1, commits - KEPT + 1), commits + 1)
        }
        for number in range(max(1, commits - KEPT + 1), commits + 1):
            assert_owns(entries[f"{worker.number}/{number}"], is_last=number == commits)
    assert set(entries) == expected
    # Five in the last entry of each worker, four in those before: all are deleted with their owner.
    parts = json.loads(toftdb("query", database, "Part", "--count", "--json"))["count"]
    assert parts == 4 * len(entries) + sum(counts[worker.number] > 0 for worker in workers)
    assert counts[-1] == sum(counts[worker.number] for worker in workers)


def assert_owns(entry: dict, is_last: bool) -> None:
    """An entry has the embedded objects that its worker made."""
    inner = {"text": entry["text"], "inner": None}
    whole = {"text": entry["text"], "inner": inner}
    assert entry["part"] == (whole if is_last else {"text": "again", "inner": None})
    assert entry["parts"] == [inner, whole]
