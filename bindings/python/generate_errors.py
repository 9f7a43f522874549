#!/usr/bin/env python3
"""Writes what include/errors.tsv says of the error codes into the header, the Swift sources, the
Python package and the page of errors.

    python generate_errors.py            writes the files
    python generate_errors.py --check    fails when one of them is not what the table gives

A new code is a line of the table. Numbers are part of the ABI: they never change and are never
used again; the hundreds name the group. `level` is that of the log at which a failure is noted if
it says that the program or the library is wrong, or the database damaged.
"""

from __future__ import annotations

import argparse
import builtins
import csv
import itertools
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = ROOT / "include/errors.tsv"


class Code(NamedTuple):
    number: int
    group: str
    swift: str
    c: str
    python: str
    bases: str
    level: str
    sentence: str


def codes() -> list[Code]:
    with TABLE.open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    table = [Code(int(row[0]), *row[1:]) for row in rows]
    assert [code.number for code in table] == sorted({code.number for code in table})
    return table


def groups(table: list[Code]) -> Iterator[tuple[str, list[Code]]]:
    for group, members in itertools.groupby(table, lambda code: code.group):
        yield group, list(members)


def wrapped(text: str, prefix: str, width: int = 100) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=prefix,
        subsequent_indent=prefix,
        break_long_words=False,
        break_on_hyphens=False,
    )


# ------------------------------------------------------------------------------------------- Files


def header(table: list[Code]) -> str:
    lines = []
    for group, members in groups(table):
        lines += ["", f"    /* {group} */"]
        for code in members:
            comment = textwrap.wrap(
                f"/* {code.sentence}",
                97,
                initial_indent="    ",
                subsequent_indent="       ",
                break_on_hyphens=False,
            )
            comment[-1] += " */"
            comma = "" if code is table[-1] else ","
            lines += [*comment, f"    {code.c} = {code.number}{comma}"]
    return "\n".join(lines[1:]) + "\n"


def cases(table: list[Code], indent: str) -> list[str]:
    lines = []
    for group, members in groups(table):
        lines += ["", f"{indent}// {group}."]
        for code in members:
            lines += wrapped(code.sentence, f"{indent}/// ")
            lines.append(f"{indent}case {code.swift} = {code.number}")
    return lines[1:]


NOTE = "// Written by bindings/python/generate_errors.py from include/errors.tsv.\n\n"


def error_code(table: list[Code]) -> str:
    levels = {
        level: ", ".join(f".{code.swift}" for code in table if code.level == level)
        for level in ("warn", "error")
    }
    switch = []
    for level, names in levels.items():
        body = wrapped(f"{names}:", " " * 12)
        switch += [f"        case {body[0].strip()}", *body[1:], f"            .{level}"]
    return NOTE + "\n".join(
        [
            "package import ToftPlatform",
            "",
            "/// Everything that can go wrong, in groups by the moment at which it does. The one",
            "/// list for all APIs: `toft_status` in C, the exception tree of Python and the error",
            "/// of Swift have the same numbers.",
            "package enum ErrorCode: Int32, Sendable, CaseIterable {",
            *cases(table, "    "),
            "",
            "    /// How much a program wants to know of a failure that says that it, or the",
            "    /// library, is wrong, or the database damaged; nil for others.",
            "    package var levelOfMisuse: Diagnostics.Level? {",
            "        switch self {",
            *switch,
            "        default: nil",
            "        }",
            "    }",
            "}",
            "",
        ]
    )


def names_in_c(table: list[Code]) -> str:
    return NOTE + "\n".join(
        [
            "internal import ToftEngine",
            "",
            "extension ErrorCode {",
            "    /// The enumerator of `toft_status` with the same number.",
            "    var nameInC: StaticString {",
            "        switch self {",
            *(f'        case .{code.swift}: "{code.c}"' for code in table),
            "        }",
            "    }",
            "}",
            "",
        ]
    )


def swift(table: list[Code]) -> str:
    return NOTE + "\n".join(
        [
            "extension Realm.Error {",
            "    /// Everything that can go wrong, in groups by the moment at which it does; the",
            "    /// numbers are those of the C header.",
            "    public enum Code: Int32, Sendable, CaseIterable {",
            *cases(table, "        "),
            "    }",
            "}",
            "",
        ]
    )


def python(table: list[Code]) -> str:
    lines = []
    for code in table:
        lines += ["", "", f"class {code.python}({code.bases}):"]
        if len(code.sentence) <= 100 - 4 - 6:
            lines.append(f'    """{code.sentence}"""')
        else:
            first, *rest = wrapped(f'"""{code.sentence}', "    ", 97)
            lines += [first, *rest, '    """']
        lines += ["", f"    _status = Status.{code.c.removeprefix('TOFT_')}"]
    return "\n".join(lines) + "\n\n\n"


def names_in_python(table: list[Code]) -> str:
    # A name that hides one of Python's own is not for `import *`.
    names = [code.python for code in table if not hasattr(builtins, code.python)]
    return "".join(f'    "{name}",\n' for name in names)


def page(table: list[Code]) -> str:
    lines = [
        "# Errors",
        "",
        "Every error code, with its names in Swift (`Realm.Error.Code`), C (`toft_status`) and "
        "Python (`toft.errors`).",
        "",
        "## Overview",
        "",
        *textwrap.wrap(
            "The numbers are the same in every API and never change; the hundreds name the group. "
            "An error has a message for people besides, details where there are more, and a number "
            "if the code says so. <doc:Failures> tells what to do about which.",
            120,
        ),
    ]
    for group, members in groups(table):
        lines += ["", f"### {group}", ""]
        for code in members:
            lines += textwrap.wrap(
                f"- {code.number} `{code.swift}`, `{code.c}`, `{code.python}`: {code.sentence}",
                120,
                subsequent_indent="  ",
                break_on_hyphens=False,
            )
    return "\n".join(lines) + "\n"


def between(path: Path, mark: str, end: str, text: str) -> str:
    """The file with another text between the line that holds `mark` and the one with `end`."""
    old = path.read_text()
    start = old.index("\n", old.index(mark)) + 1
    stop = old.rindex("\n", 0, old.index(end, start)) + 1
    return old[:start] + text + old[stop:]


def files() -> dict[Path, str]:
    table = codes()
    toft_h = ROOT / "include/toft.h"
    errors_py = ROOT / "bindings/python/toft/errors.py"
    listed = between(errors_py, "# Named as in", "# The groups", names_in_python(table))
    start = listed.index("\n", listed.index("# Written by")) + 1
    stop = listed.index("class LibraryError")
    return {
        toft_h: between(toft_h, "    TOFT_OK = 0,", "};", "\n" + header(table)),
        ROOT / "Sources/ToftEngine/Errors/ErrorCode.swift": error_code(table),
        ROOT / "Sources/ToftCAPI/Handles/ErrorCode+Name.swift": names_in_c(table),
        ROOT / "Sources/Toft/Errors/RealmError+Code.swift": swift(table),
        errors_py: listed[:start] + python(table) + listed[stop:],
        ROOT / "Sources/Toft/Toft.docc/Errors.md": page(table),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    wrong = [
        path for path, text in files().items() if not path.exists() or path.read_text() != text
    ]
    if check and wrong:
        names = ", ".join(str(path.relative_to(ROOT)) for path in wrong)
        sys.exit(
            f"{names}: not what include/errors.tsv says; run bindings/python/generate_errors.py"
        )
    for path in wrong:
        path.write_text(files()[path])


if __name__ == "__main__":
    main()
