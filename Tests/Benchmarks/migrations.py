#!/usr/bin/env python3
"""How long a migration of many objects takes, and how much memory: Tests/Benchmarks/migrations.py
[OBJECTS]. Needs the package and TOFT_LIBRARY; each step is a process of its own.

Prints a line for each step: seconds, the greatest resident size and what of it is no file that is
mapped, and the size of the file.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))
import toft  # noqa: E402

STEPS = ("fill", "default", "index", "rename", "copy")


def classes(step: str) -> type[toft.Object]:
    """The classes of the step. Each adds to the one before."""
    number = STEPS.index(step)
    namespace: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    hints = namespace["__annotations__"]
    hints["name" if number < 3 else "full_name"] = str
    hints["age"] = str if number < 4 else int
    if number >= 1:
        hints["points"], namespace["points"] = int, 7
    if number >= 2:
        namespace["points"] = toft.field(default=7, indexed=True)
    return type("Person", (toft.Object,), namespace)


def migrate(migration: toft.Migration) -> None:
    if migration.new_version == 4:
        migration.rename_property("Person", "name", "full_name")
    if migration.new_version == 5:
        for old, new in migration.enumerate("Person"):
            new.age = int(old.age)


def run(step: str, path: str, count: int) -> None:
    Person = classes(step)
    begin = time.perf_counter()
    version = STEPS.index(step) + 1
    with toft.open(path, Person, schema_version=version, migration=migrate) as realm:
        if step == "fill":
            for start in range(0, count, 100_000):
                end = min(count, start + 100_000)
                with realm.write():
                    realm.insert_many(
                        Person,
                        {
                            "name": [f"Person number {each}" for each in range(start, end)],
                            "age": [f"{each % 90}" for each in range(start, end)],
                        },
                    )
        seconds = time.perf_counter() - begin
        assert len(realm.objects(Person)) == count
    status = Path("/proc/self/status").read_text()
    peak, anonymous = (
        int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]
        for name in ("VmHWM", "RssAnon")
    )
    size = Path(path).stat().st_size / 2**20
    print(
        f"{step:8} {seconds:7.2f} s, {peak:6.0f} MiB at most, {anonymous:6.0f} MiB of its own "
        f"at the end, file {size:6.0f} MiB"
    )


def main() -> None:
    if len(sys.argv) == 4:
        return run(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    count = sys.argv[1] if len(sys.argv) > 1 else "1000000"
    print(f"{int(count):,} objects")
    with tempfile.TemporaryDirectory() as directory:
        for step in STEPS:
            subprocess.run(
                [sys.executable, __file__, step, f"{directory}/people.toft", count], check=True
            )


if __name__ == "__main__":
    main()
