#!/usr/bin/env python3
"""How long a file gets while its objects are changed for a long time: Tests/Benchmarks/growth.py
[OBJECTS [CHANGES]] (100,000 objects, each changed five times). Needs the package and TOFT_LIBRARY.

Random objects are replaced, deleted or created anew, with other texts, lists and indexed values.
No commit waits for the disk. Prints a line for each way: how many objects a transaction changes,
what is live at the end, how many times that the file was long in the middle, at its longest and at
the end, and how long the last close left it. The seed is fixed.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))
import toft  # noqa: E402


class Item(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str = toft.field(indexed=True)
    text: str
    tags: list[str]
    content: bytes = b""


class Changes:
    """Random changes of the objects of a file. `longest`: bytes of an object's long value; 0:
    without one.
    """

    def __init__(self, count: int, longest: int) -> None:
        self.count, self.longest = count, longest
        self.numbers = random.Random(7)

    def item(self, id: int) -> Item:
        numbers = self.numbers
        return Item(
            id=id,
            name=f"{numbers.getrandbits(40):x}",
            text="word " * numbers.randrange(40),
            tags=[f"tag {numbers.randrange(1000)}" for _ in range(numbers.randrange(6))],
            content=numbers.randbytes(numbers.randrange(self.longest)) if self.longest else b"",
        )

    def fill(self, realm: toft.Realm) -> None:
        for start in range(0, self.count, 10_000):
            with realm.write(durability="deferred"):
                for id in range(start, min(self.count, start + 10_000)):
                    realm.add(self.item(id))

    def change(self, realm: toft.Realm) -> None:
        id = self.numbers.randrange(self.count)
        if self.numbers.random() < 1 / 3:
            if (found := realm.object(Item, id)) is not None:
                realm.delete(found)
                return
        realm.add(self.item(id), update="all")


def measure(path: str, count: int, changes: int, size: int, longest: int, reads: bool) -> None:
    work = Changes(count, longest)
    with toft.open(path, Item) as realm:
        work.fill(realm)
    factors: list[float] = []
    with toft.open(path, Item) as realm:
        reader = realm.freeze() if reads else None
        for number in range(changes // size):
            with realm.write(durability="deferred"):
                for _ in range(size):
                    work.change(realm)
            if reader is not None and number % 40 == 0:
                reader.close()
                reader = realm.freeze()
            if number % max(1, changes // size // 100) == 0:
                info = realm.info
                factors.append(info.file_size / info.live_size)
        live = realm.info.live_size
        if reader is not None:
            reader.close()
    middle = factors[len(factors) // 2]
    print(
        f"{size:>6,} {'long values' if longest else '':<11} {'reader' if reads else '':<6}"
        f" {live / 1e6:8.1f} MB {middle:7.1f} {max(factors):7.1f} {factors[-1]:7.1f}"
        f" {os.path.getsize(path) / live:7.2f}",
        flush=True,
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    changes = int(sys.argv[2]) if len(sys.argv) > 2 else 5 * count
    print("objects a transaction            live  middle longest     end  closed")
    for size, longest, reads in (
        (1, 0, False),
        (10, 0, False),
        (1_000, 0, False),
        (1, 0, True),
        (10, 0, True),
        (1_000, 0, True),
        (10, 200_000, False),
        (10, 200_000, True),
    ):
        scale = 50 if longest else 1
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as directory:
            path = str(Path(directory) / "growth.toft")
            measure(path, max(1, count // scale), max(1, changes // scale), size, longest, reads)


if __name__ == "__main__":
    main()
