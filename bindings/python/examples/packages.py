#!/usr/bin/env python3
"""The packages of a distribution as objects: load them, ask five questions, update, delete, and
observe what another process commits.

    packages.py PACKAGES.tsv DATABASE

bindings/c/examples/packages/packages.c and Tests/PackagesSwift/main.swift are the same program,
part by part, and print the same. How long it took goes to standard error.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import NoReturn

import toft

#  The class. The first properties are the columns of the TSV, in its order; lists have commas
# between their elements.


class Package(toft.Object):
    name: str = toft.field(primary_key=True)
    version: str
    section: str = toft.field(indexed=True)
    priority: str
    maintainer: str
    size: int
    installedSize: int
    essential: bool
    description: str
    homepage: str | None
    tags: list[str]
    depends: toft.List[Package]
    recommends: toft.List[Package]
    dependents: toft.Results[Package] = toft.linking_objects("Package", "depends")


# --- Loading


def fail(path: str, line: int, problem: str) -> NoReturn:
    sys.exit(f"{path}:{line}: {problem}")


def read_table(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="\n") as file:
        rows = [line.removesuffix("\n").split("\t") for line in file]
    for line, row in enumerate(rows, 1):
        if len(row) != 13:
            fail(path, line, "there are not 13 columns")
        if not row[5].isdigit() or not row[6].isdigit():
            fail(path, line, "a size is no number")
    return rows


def elements(names: str) -> list[str]:
    return names.split(",") if names else []


def create(realm: toft.Realm, row: list[str]) -> Package:
    return realm.create(
        Package,
        name=row[0],
        version=row[1],
        section=row[2],
        priority=row[3],
        maintainer=row[4],
        size=int(row[5]),
        installedSize=int(row[6]),
        essential=row[7] == "true",
        description=row[8],
        homepage=row[9] or None,
        tags=elements(row[10]),
    )


def load(realm: toft.Realm, path: str) -> None:
    """First every package, then, when all can be found, the links between them. One transaction."""
    table = read_table(path)
    linked, missing = [0, 0], [0, 0]
    with realm.write():
        realm.delete_all(Package)
        packages = {row[0]: create(realm, row) for row in table}
        for row in table:
            for column, name in enumerate(("depends", "recommends")):
                names = elements(row[11 + column])
                links = [packages[each] for each in names if each in packages]
                setattr(packages[row[0]], name, links)
                linked[column] += len(links)
                missing[column] += len(names) - len(links)
    print(
        f"{len(table)} packages are loaded, with {linked[0]} dependencies and {linked[1]} "
        f"recommendations; "
        f"{missing[0]} and {missing[1]} more name no package."
    )


# --- Five questions


def answer(realm: toft.Realm) -> None:
    packages = realm.objects(Package)

    # Aggregates of a property of all.
    total, mean, largest = (
        ask("installedSize") for ask in (packages.sum, packages.average, packages.max)
    )
    print(
        f"1. Installed, all of it takes {total} KiB, on average {mean:.1f} KiB; the largest "
        f"package takes {largest} KiB."
    )

    # An indexed property, a sort, a limit.
    libraries = packages.where("section == 'libs'").sort("-installedSize").limit(5)
    print(
        f"2. The largest libraries: "
        f"{', '.join(f'{each.name} ({each.installedSize} KiB)' for each in libraries)}."
    )

    # Links, backwards; and two links forwards.
    libc = realm.object(Package, "libc6")
    direct = len(libc.dependents) if libc else 0
    second = len(packages.where("ANY depends.depends.name == 'libc6'"))
    print(f"3. libc6 is needed by {direct} packages directly, and by {second} at second hand.")

    # Links and their number in a query.
    programs = len(packages.where("section != 'python' AND ANY depends.name BEGINSWITH 'python3'"))
    independent = len(packages.where("depends.@count == 0 AND recommends.@count == 0"))
    print(
        f"4. {programs} packages outside section python depend on a package of Python 3; "
        f"{independent} depend on nothing and recommend nothing."
    )

    # Lists of values.
    counts = {
        each: len(packages.where("ANY tags == $0", f"implemented-in::{each}"))
        for each in ("c", "c++", "python", "perl")
    }
    languages = ", ".join(f"{each}: {count}" for each, count in counts.items())
    many = len(packages.where("tags.@count > 3"))
    print(
        f"5. Their tags say that they are implemented in {languages}; {many} have more than three "
        f"tags."
    )


# --- Updating and deleting


def update(realm: toft.Realm) -> None:
    games = realm.objects(Package).where("section == 'games'")
    with realm.write():
        for game in games:
            game.priority = "extra"
    extra = realm.objects(Package).where("priority == 'extra'")
    print(f"Updated: {len(games)} games are extra; so are {len(extra)} packages in all.")


def delete_documents(realm: toft.Realm) -> None:
    packages = realm.objects(Package)
    documents, independent = (
        packages.where("section == 'doc'"),
        packages.where("depends.@count == 0"),
    )
    count, before = len(documents), len(independent)
    with realm.write():
        realm.delete(documents)
    print(
        f"Deleted: {count} documents, {len(packages)} packages are left; {before} depended on "
        f"nothing, now {len(independent)} do."
    )


# --- Observing another process

COMMITS = 3


def put(realm: toft.Realm, name: str, version: str) -> None:
    realm.upsert(Package, name=name, version=version, section="example", update="modified")


def make_commit(realm: toft.Realm, number: int) -> None:
    with realm.write():
        if number == 1:
            put(realm, "example-apple", "1.0")
            put(realm, "example-banana", "1.0")
            put(realm, "example-date", "1.0")
        elif number == 2:
            put(realm, "example-cherry", "1.0")
            put(realm, "example-banana", "1.1")
        else:
            realm.delete(realm.objects(Package).where("name == 'example-apple'"))
            put(realm, "example-date", "2.0")


def write_on_order(path: str) -> None:
    """The other process: a commit for each byte on its standard input."""
    with toft.open(path, [Package]) as realm:
        number = 1
        while sys.stdin.read(1):
            make_commit(realm, number)
            number += 1


def observe(realm: toft.Realm, path: str) -> bool:
    results = realm.objects(Package).where("section == 'example'").sort("name")
    copy: list[str] = []  # changed by what the callbacks say and never read again as a whole
    calls = 0

    def changed(changes: toft.Changes) -> None:
        nonlocal calls
        calls += 1
        if changes.is_initial:
            return
        for index in reversed(changes.deletions):
            del copy[index]
        for index in changes.insertions:
            copy.insert(index, results[index].name)
        kinds = {
            "deleted": changes.deletions,
            "inserted": changes.insertions,
            "modified": changes.modifications,
        }
        told = "".join(
            f"; {kind} {', '.join(map(str, indices))}" for kind, indices in kinds.items() if indices
        )
        print(f"   version {changes.version}{told} -> now {' '.join(copy)}")

    def wait_for_calls(count: int) -> bool:
        while calls < count:
            if not realm.wait(30):
                return False
        return True

    with results.observe(changed):
        print("Section 'example' is observed while another process writes:", flush=True)
        writer = subprocess.Popen(
            [sys.executable, __file__, "--write", path], stdin=subprocess.PIPE
        )
        assert writer.stdin is not None
        ok = wait_for_calls(1)  # the initial call
        for number in range(1, COMMITS + 1):
            if ok:
                writer.stdin.write(b"n")
                writer.stdin.flush()
                ok = wait_for_calls(1 + number)
        writer.stdin.close()
        ok = writer.wait() == 0 and ok and copy == [each.name for each in results]
    print(
        "   The copy that followed the indices equals the results."
        if ok
        else "   Something went wrong."
    )
    return ok


# --- The program


def timed(what: str, *work: Callable[[], None]) -> None:
    start = time.monotonic()
    for each in work:
        each()
    print(f"{what}: {time.monotonic() - start:.3f} s", file=sys.stderr)


def run(source: str, database: str) -> bool:
    with toft.open(database, [Package]) as realm:
        timed("loading", lambda: load(realm, source))
        timed("answers", lambda: answer(realm))
        timed("changes", lambda: update(realm), lambda: delete_documents(realm))
        ok = observe(realm, database)
        return bool(realm.check()) and ok


def main() -> int:
    if len(sys.argv) != 3:
        print(f"usage: {sys.argv[0]} PACKAGES.tsv DATABASE", file=sys.stderr)
        return 2
    if sys.argv[1] == "--write":
        write_on_order(sys.argv[2])
        return 0
    return 0 if run(sys.argv[1], sys.argv[2]) else 1


if __name__ == "__main__":
    sys.exit(main())
