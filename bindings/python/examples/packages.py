#!/usr/bin/env python3
"""The main job in Python: loads packages, links them, asks five questions, then observes what another process commits.

    packages.py [--database FILE] [SOURCE]

SOURCE is a dpkg status file or a file of JSON lines; without it /var/lib/dpkg/status is read. The database is made in a temporary
directory and removed at the end, unless a file is named. It prints what the program of the same name in C prints.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import toft


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


# ------------------------------------------------------------------------------------------------------------- Sources

LISTS = ("tags", "depends", "recommends")
FIELDS = {
    "Package": "name",
    "Version": "version",
    "Section": "section",
    "Priority": "priority",
    "Maintainer": "maintainer",
    "Description": "description",
    "Homepage": "homepage",
}


def packages_of(source: Path) -> Iterator[dict[str, Any]]:
    """The packages of a file, each name in a list once."""
    with source.open(encoding="utf-8") as file:
        is_json = file.read(1) == "{"
        file.seek(0)
        for package in map(json.loads, file) if is_json else installed(file.read()):
            for each in LISTS:
                package[each] = list(dict.fromkeys(package.get(each) or ()))
            yield package


def installed(status: str) -> Iterator[dict[str, Any]]:
    """The paragraphs of a dpkg status file that are installed packages."""
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^([^ \t:][^:\n]*):[ ]*(.*)$", paragraph, re.M))
        if fields.get("Package") and fields.get("Status", " installed").endswith(" installed"):
            package: dict[str, Any] = {ours: fields[theirs] for theirs, ours in FIELDS.items() if theirs in fields}
            package["size"] = int(fields.get("Size", 0))
            package["installedSize"] = int(fields.get("Installed-Size", 0))
            package["essential"] = fields.get("Essential") == "yes"
            package["tags"] = re.findall(r"[^ \t,]+", fields.get("Tag", ""))
            relations = re.findall(r"^(?:Pre-)?Depends:[ ]*(.*)$", paragraph, re.M)
            package["depends"] = [name for text in relations for name in names_in(text)]
            package["recommends"] = names_in(fields.get("Recommends", ""))
            yield package


def names_in(relations: str) -> list[str]:
    """The names in "libc6 (>= 2.34), default-mta | mail-transport-agent": what may be installed, whatever the version."""
    return [found[1] for part in re.split("[,|]", relations) if (found := re.match(r"[ \t]*([^ \t(:\[<]+)", part))]


# ------------------------------------------------------------------------------------------------------------- Loading


@dataclass
class Report:
    packages: int = 0
    repeated: int = 0
    depends: int = 0
    recommends: int = 0
    missing_depends: int = 0
    missing_recommends: int = 0


def load(realm: toft.Realm, source: Path) -> Report:
    """Reads the source twice: first every package, then, when all can be found, the links between them."""
    report = Report()
    with realm.write():
        realm.delete_all(Package)
        for package in packages_of(source):
            plain = {name: value for name, value in package.items() if name not in ("depends", "recommends")}
            try:
                realm.create(Package, plain)
                report.packages += 1
            except toft.DuplicatePrimaryKeyError:  # the same package for another architecture
                report.repeated += 1
    with realm.write():
        for package in packages_of(source):
            link(realm, package, report)
    return report


def link(realm: toft.Realm, package: dict[str, Any], report: Report) -> None:
    found = realm.object(Package, package["name"])
    if found is None or len(found.depends):  # listed again, for another architecture
        return
    for name in ("depends", "recommends"):
        targets = [realm.object(Package, each) for each in package[name]]
        linked = [each for each in targets if each is not None]
        setattr(found, name, linked)
        setattr(report, name, getattr(report, name) + len(linked))
        setattr(report, f"missing_{name}", getattr(report, f"missing_{name}") + len(targets) - len(linked))


def print_load(report: Report, source: Path, duration: float, realm: toft.Realm) -> None:
    repeated = f" ({report.repeated:,} more were there already)" if report.repeated else ""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"Loaded {report.packages:,} packages from {source}{repeated}.")
    print(
        f"Linked {report.depends:,} dependencies and {report.recommends:,} recommendations; "
        f"{report.missing_depends:,} and {report.missing_recommends:,} name no package of these."
    )
    print(f"It took {duration:.2f} s and {memory:,} KiB of memory at most; the file has {realm.info.file_size // 1024:,} KiB.\n")


# ----------------------------------------------------------------------------------------------------------- Questions


def answer(realm: toft.Realm) -> None:
    """Five questions: scalars of all, scalars of some, links backwards, links forwards, lists of values."""
    packages = realm.objects(Package)
    if packages:
        total, mean, largest = (ask("installedSize") for ask in (packages.sum, packages.average, packages.max))
        print(f"1. Installed, all of it takes {total:,} KiB, on average {mean:.1f} KiB; the largest package takes {largest:,} KiB.")

    libraries = packages.where("section == 'libs'").sort("-installedSize").limit(5)
    print(f"2. The largest libraries: {', '.join(f'{each.name} ({each.installedSize:,} KiB)' for each in libraries)}.")

    libc = realm.object(Package, "libc6")
    if libc is None:
        print("3. libc6 is not among the packages.")
    else:
        print(f"3. libc6 is needed by {len(libc.dependents):,} packages directly, and by {len(needing(libc)):,} in the end.")

    programs = len(packages.where("section != 'python' AND ANY depends.name BEGINSWITH 'python3'"))
    independent = len(packages.where("depends.@count == 0 AND recommends.@count == 0"))
    print(
        f"4. {programs:,} packages outside section python depend on a package of Python 3; "
        f"{independent:,} depend on nothing and recommend nothing."
    )

    counts = {each: len(packages.where("ANY tags == $0", f"implemented-in::{each}")) for each in ("c", "c++", "python", "perl")}
    many = len(packages.where("tags.@count > 3"))
    languages = ", ".join(f"{each}: {count:,}" for each, count in counts.items())
    print(f"5. Their tags say that they are implemented in {languages}; {many:,} have more than three tags.")


def needing(package: Package) -> set[Package]:
    """Who depends on it, who depends on those..."""
    found, waiting = {package}, [package]
    while waiting:
        for other in waiting.pop().dependents:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found - {package}


# --------------------------------------------------------------------------------------------------------- Observation


COMMITS = 3


def put(realm: toft.Realm, name: str, version: str) -> None:
    realm.upsert(Package, name=name, version=version, section="example", update="modified")


def erase(realm: toft.Realm, name: str) -> None:
    package = realm.object(Package, name)
    assert package is not None
    realm.delete(package)


def commit(realm: toft.Realm, number: int) -> None:
    with realm.write():
        if number == 0:
            for fruit in ("apple", "banana", "date"):
                put(realm, f"example-{fruit}", "1.0")
        elif number == 1:
            put(realm, "example-cherry", "1.0")
            put(realm, "example-banana", "1.1")
        else:
            erase(realm, "example-apple")
            put(realm, "example-date", "2.0")


def write(database: str) -> None:
    """The process that writes: one commit for each line on its standard input."""
    if sys.stdin.readline():
        with toft.open(database, [Package]) as realm:
            for number in range(COMMITS):
                commit(realm, number)
                if not sys.stdin.readline():
                    return


def observe(realm: toft.Realm, writer: subprocess.Popen[str]) -> bool:
    """Observes a query while the writer makes its commits, follows them by their indices in a copy, and compares."""
    assert writer.stdin is not None
    examples = realm.objects(Package).where("section == 'example' SORT(name ASC)")
    copy: list[str] = []
    calls = 0

    def changed(changes: toft.Changes) -> None:
        nonlocal calls
        if changes.is_initial:
            return
        for index in reversed(changes.deletions):
            del copy[index]
        for index in changes.insertions:
            copy.insert(index, examples[index].name)
        calls += 1
        kinds = {"deleted": changes.deletions, "inserted": changes.insertions, "modified": changes.modifications}
        told = "".join(f"; {kind} {', '.join(map(str, indices))}" for kind, indices in kinds.items() if indices)
        print(f"   version {changes.version}{told} -> now {' '.join(copy)}")

    with examples.observe(changed):
        print(f"Process {os.getpid()} observes section 'example' while process {writer.pid} writes:")
        realm.wait(30)  # the initial call
        for number in range(1, COMMITS + 1):
            writer.stdin.write("next\n")
            writer.stdin.flush()
            while calls < number:
                if not realm.wait(30):
                    return False
        writer.stdin.close()
        is_right = writer.wait() == 0 and copy == [each.name for each in examples]
    print("   The copy that followed the indices equals the results." if is_right else "   Something went wrong.")
    return is_right


# ------------------------------------------------------------------------------------------------------------- Program


def run(database: str, source: Path) -> bool:
    writer = subprocess.Popen([sys.executable, __file__, "--write", database], stdin=subprocess.PIPE, text=True)
    start = time.monotonic()
    with toft.open(database, [Package]) as realm:
        report = load(realm, source)
        print_load(report, source, time.monotonic() - start, realm)
        start = time.monotonic()
        answer(realm)
        print(f"   The answers took {(time.monotonic() - start) * 1000:.0f} ms.\n")
        is_right = observe(realm, writer)
        check = realm.check()
        for problem in check.problems:
            print(problem, file=sys.stderr)
        return is_right and bool(check)


def main() -> int:
    parser = argparse.ArgumentParser(description="Loads packages, asks about them, and observes another process.")
    parser.add_argument("--database", metavar="FILE", help="where the database is to stay")
    parser.add_argument("--write", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("source", nargs="?", default="/var/lib/dpkg/status", type=Path, help="a dpkg status file or JSON lines")
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.write)
        return 0
    if arguments.database:
        return 0 if run(arguments.database, arguments.source) else 1
    with tempfile.TemporaryDirectory(prefix="packages-") as directory:
        return 0 if run(f"{directory}/packages.toft", arguments.source) else 1


if __name__ == "__main__":
    sys.exit(main())
