#!/usr/bin/env python3
"""Processor time of opening a file by its classes: Tests/Benchmarks/openings.py [CLASSES...]
(100, 1,000 and 4,000). Needs the package and TOFT_LIBRARY.

Each class has nine ints, one of them the primary key. SQLite has the same tables; as it reads its
schema with the first statement, it is asked one. Prints a line for each number of classes:
microseconds for each class.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))
import toft  # noqa: E402

COLUMNS = [f"p{number}" for number in range(9)]


def declared(count: int) -> list[type[toft.Object]]:
    def body(number: int) -> dict[str, Any]:
        annotations = dict.fromkeys(COLUMNS, int)
        return {"__annotations__": annotations, "p0": toft.field(primary_key=True)}

    return [type(f"C{number}", (toft.Object,), body(number)) for number in range(count)]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("SELECT * FROM C0").fetchall()
    return connection


def main() -> None:
    print(f"{'classes':>8} {'made':>8} {'anew':>8} {'joined':>8} {'SQLite':>8}  (us a class)")
    for count in [int(each) for each in sys.argv[1:]] or [100, 1_000, 4_000]:
        classes = declared(count)
        with tempfile.TemporaryDirectory() as folder:
            path, peer = Path(folder) / "many.toft", Path(folder) / "many.db"
            made, realm = timed(lambda: toft.open(path, classes))  # noqa: B023
            realm.close()
            anew, realm = timed(lambda: toft.open(path, classes))  # noqa: B023
            joined, other = timed(lambda: toft.open(path, classes))  # noqa: B023
            other.close()
            realm.close()
            with sqlite3.connect(peer) as connection:
                for number in range(count):
                    rest = ", ".join(f"{name} INTEGER" for name in COLUMNS[1:])
                    connection.execute(f"CREATE TABLE C{number} (p0 INTEGER PRIMARY KEY, {rest})")
            connection.close()
            sqlite, connection = timed(lambda: opened(peer))  # noqa: B023
            connection.close()
        figures = (made, anew, joined, sqlite)
        print(f"{count:>8}", *(f"{each / count * 1e6:8.1f}" for each in figures))


if __name__ == "__main__":
    main()
