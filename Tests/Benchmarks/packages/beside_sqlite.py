#!/usr/bin/env python3
"""Loads the packages and commits single objects through Toft and through SQLite, in turn, and
prints the figures beside each other.

    beside_sqlite.py PACKAGES.jsonl[.gz] [--rounds N] [--commits N] [--toft PREFIX]
                     [--directory FOLDER]

PREFIX is the folder into which `cmake --install` put the library and its header. Medians over the
rounds; the ratio is Toft's figure over SQLite's. With strace on the machine it also counts the
system calls of one commit. Needs a C compiler and SQLite's header (libsqlite3-dev).
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def build(folder: pathlib.Path, prefix: str) -> dict[str, pathlib.Path]:
    programs = {}
    for engine, flags in {
        "toft": [f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-ltoft"],
        "sqlite": ["-lsqlite3"],
    }.items():
        programs[engine] = folder / f"packages_{engine}"
        sources = [HERE / "packages.c", HERE / f"packages_{engine}.c"]
        subprocess.run(
            ["cc", "-O2", "-std=c11", "-D_GNU_SOURCE", *sources, *flags, "-o", programs[engine]],
            check=True,
        )
    return programs


def run(*command: object) -> dict[str, float]:
    return json.loads(
        subprocess.run(
            [str(part) for part in command], check=True, capture_output=True, text=True
        ).stdout
    )


def calls_of_a_commit(program: pathlib.Path, database: pathlib.Path) -> str:
    """System calls of a commit: those of 200 commits less those of 100, divided by 100."""
    counts: list[dict[str, int]] = []
    for commits in (100, 200):
        report = database.with_suffix(".strace")
        subprocess.run(
            ["strace", "-f", "-c", "-o", report, program, "commits", str(commits), database],
            check=True,
            capture_output=True,
        )
        rows = re.findall(
            r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", report.read_text(), re.M
        )
        counts.append({name: int(count) for count, name in rows if name != "total"})
    each = {name: (count - counts[0].get(name, 0)) / 100 for name, count in counts[1].items()}
    return ", ".join(
        f"{name} {count:g}"
        for name, count in sorted(each.items(), key=lambda item: -item[1])
        if count >= 0.5
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--toft", default="/usr/local", metavar="PREFIX")
    parser.add_argument(
        "--directory",
        default=None,
        help="where the databases lie; must be on the disk to be measured",
    )
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.directory))
    try:
        tsv = folder / "packages.tsv"
        subprocess.run(
            [sys.executable, HERE / "packages_tsv.py", options.packages, tsv], check=True
        )
        programs = build(folder, options.toft)
        figures: dict[str, dict[str, list[float]]] = {"toft": {}, "sqlite": {}}
        for _ in range(options.rounds):
            for engine, program in programs.items():
                database = folder / f"{engine}.db"
                for leftover in folder.glob(f"{engine}.db*"):
                    leftover.unlink()
                for name, value in {
                    **run(program, "load", tsv, database),
                    **run(program, "commits", options.commits, database),
                }.items():
                    figures[engine].setdefault(name, []).append(value)
        print(f"{'':16}{'Toft':>14}{'SQLite':>14}{'ratio':>8}")
        for name in figures["toft"]:
            toft, sqlite = (
                statistics.median(figures[engine][name]) for engine in ("toft", "sqlite")
            )
            print(f"{name:16}{toft:14,.3f}{sqlite:14,.3f}{toft / sqlite:8.2f}")
        if shutil.which("strace"):
            for engine, program in programs.items():
                print(
                    f"calls of a commit, {engine}: "
                    f"{calls_of_a_commit(program, folder / f'{engine}.db')}"
                )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
