#!/usr/bin/env python3
"""Makes a file of a given size from objects, works with it, and prints times and sizes.

    TOFT_LIBRARY=build/libtoft.so python Tests/large_file.py FOLDER --gigabytes 20

Each object has an indexed number, a text, a list of numbers and data of 1 to 32 KiB that does not
compress, and no page of the file is sparse. Every step is timed, with the most memory that the
process had so far: the file is filled, checked whole, opened anew, queried with and without an
index, changed in distant places, half of it deleted, compacted in steps, compacted whole while
nobody has it open, and checked again. A fault ends the program.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings" / "python"))

import toft

GIGABYTE = 1 << 30
# Bytes of data that are added in one transaction.
TRANSACTION = 64 << 20


class Item(toft.Object):
    number: int = toft.field(indexed=True)
    kind: int
    text: str
    readings: list[int]
    data: bytes


def gigabytes(path: Path) -> str:
    return f"{path.stat().st_size / GIGABYTE:7.2f} GB"


@contextmanager
def step(name: str, path: Path) -> Iterator[None]:
    start = time.monotonic()
    yield
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.monotonic() - start
    print(f"{name:44} {seconds:9.3f} s  {gigabytes(path)}  {memory:6.0f} MB", flush=True)


def fill(realm: toft.Realm, path: Path, size: int) -> int:
    """Adds objects until the file is as long as it is to be; how many."""
    numbers = random.Random(1)
    noise = numbers.randbytes(1 << 20)
    count = 0
    while path.stat().st_size < size:
        with realm.write():
            written = 0
            while written < TRANSACTION:
                length = numbers.randrange(1 << 10, 32 << 10)
                start = numbers.randrange(len(noise) - length)
                realm.create(
                    Item,
                    number=count,
                    kind=count % 100,
                    text=f"item {count} of a large file, with a text that is long enough",
                    readings=[count, count * 7 % 1000] * (count % 20),
                    data=noise[start : start + length],
                )
                written += length + 300
                count += 1
    return count


def checked(realm: toft.Realm) -> None:
    problems = realm.check().problems
    if problems:
        sys.exit("\n".join(problems))


def expect(found: int, wanted: int) -> None:
    if found != wanted:
        sys.exit(f"{found} where {wanted} were expected")


def work(path: Path, size: int) -> None:
    with toft.open(path, [Item]) as realm:
        with step("fill, in transactions of 64 MB", path):
            count = fill(realm, path, size)
        print(f"{count} objects")
        with step("commit of one object", path), realm.write():
            realm.create(Item, number=-1, kind=0, text="one", data=b"")
    with step("open, and read the last object", path):
        realm = toft.open(path, [Item])
        expect(realm.objects(Item)[count].number, -1)
    with realm:
        with step("check of the whole file", path):
            checked(realm)
        items = realm.objects(Item)
        with step("query by the index", path):
            expect(len(items.where("number == $0", count // 2)), 1)
        with step("query of a number, all objects", path):
            expect(len(items.where("kind == 99")), sum(n % 100 == 99 for n in range(count)))
        with step("query of texts, all objects", path):
            expect(len(items.where("text CONTAINS 'item 77 of'")), 1)
        with step("query of lists, all objects", path):
            expect(len(items.where("readings.@count == 38")), len(range(19, count, 20)))
        with step("sum of a property", path):
            expect(items.sum("number"), count * (count - 1) // 2 - 1)
        with step("change of every 1,000th object", path), realm.write():
            for index in range(0, count, 1000):
                items[index].data = b"changed" * 100
        with step("deletion of every second object", path):
            for low in range(0, count, 100_000):
                with realm.write():
                    realm.objects(Item).where(
                        "number >= $0 AND number < $1 AND kind IN $2",
                        low,
                        low + 100_000,
                        list(range(0, 100, 2)),
                    ).delete()
        left = len(realm.objects(Item))
        expect(left, count - len(range(0, count, 2)) + 1)
        longest = 0.0
        steps = 0
        with step("compaction in steps of 64 MB", path):
            has_more = True
            while has_more:
                start = time.monotonic()
                has_more = realm.compact_step(TRANSACTION).has_more
                longest = max(longest, time.monotonic() - start)
                steps += 1
        print(f"{steps} steps, the longest {longest:.3f} s")
        with step("commit of one object", path), realm.write():
            realm.create(Item, number=-2, kind=1, text="two", data=b"")
    with step("compaction where nobody has it open", path):
        toft.compact(path)
    with step("open", path):
        realm = toft.open(path, [Item])
    with realm:
        with step("check of the whole file", path):
            checked(realm)
        expect(len(realm.objects(Item)), left + 1)
        with step("data of 1,000 objects, at random", path):
            items = realm.objects(Item)
            numbers = random.Random(2)
            read = sum(len(items[numbers.randrange(left)].data) for _ in range(1000))
        print(f"{read} bytes read")
        with step("deletion of everything", path), realm.write():
            realm.objects(Item).delete()
    with step("open, and close: what is free is given back", path):
        toft.open(path, [Item]).close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=1)
    given = parser.parse_args()
    path = given.folder / "large.toft"
    if path.exists():
        sys.exit(f"{path} is there already")
    try:
        work(path, int(given.gigabytes * GIGABYTE))
    finally:
        for left in (path, Path(f"{path}.lock")):
            if left.exists():
                os.remove(left)


if __name__ == "__main__":
    main()
