#!/usr/bin/env python3
"""The table of features: Tests/features.tsv as the page Features.md.

    Tests/features.py --write

writes the page. Tests/test_features.py says what the table may hold.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "Tests/features.tsv"
PAGE = ROOT / "Sources/Toft/Toft.docc/Features.md"
APIS = ("C", "Python", "Swift")
GROUPS = {
    "M": "Classes, properties and objects",
    "C": "Schema, configuration, opening",
    "W": "Writing",
    "L": "Collections",
    "Q": "Query language",
    "S": "Order and parts of results",
    "G": "Migrations",
    "E": "Encryption",
    "P": "Compaction and size",
    "X": "Several processes",
    "D": "Errors and limits",
}
# Each later feature belongs to one of these.
LATER = (
    "types and collections",
    "query language",
    "file lifetime",
    "observation",
    "sync",
    "integration",
)
STATES = ("tested", "none", "later")
TOP = """# Features

What a user of Realm knows, row by row, and whether the C, Python and Swift APIs have it.

## Overview

Each API has one of three states in each row:

- **tested**: the test of this repository that shows it through that API. In the column of C this
  may be a test of the model or the engine below, where C adds nothing of its own.
- **none**: why it has no meaning there.
- **later**: it is missing, or no test shows it yet. The group of work follows: types and
  collections, query language, file lifetime (migrations, encryption, compaction, copies,
  opening), observation, sync, integration.

A restriction of Realm that Toft has too is a row like any other. Live results, observation
and threads have no table yet.

This page is made from `Tests/features.tsv` by `Tests/features.py --write`;
`Tests/test_features.py` checks that the tests exist and that page and table agree.
"""


class Feature(NamedTuple):
    """A row: an id as "M1", what it is about, and a state of each of APIS, as "later: sync"."""

    id: str
    text: str
    states: tuple[str, ...]


def features(table: Path = TABLE) -> list[Feature]:
    """The rows of the table, without its header."""
    lines = [line.split("\t") for line in table.read_text().splitlines()]
    assert lines[0] == ["id", "feature", *APIS]
    return [Feature(cells[0], cells[1], tuple(cells[2:])) for cells in lines[1:]]


def cell(state: str) -> str:
    """A state as the page shows it: names of Python's tests as code, as those of Swift are."""
    kind, _, rest = state.partition(": ")
    return f"{kind}: `{rest}`" if rest.startswith("test_") else state


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page(rows: list[Feature]) -> str:
    """The whole page."""
    counts = [Counter(row.states[index].split(":")[0] for row in rows) for index in range(3)]
    parts = [TOP, f"## Counts\n\n{len(rows)} rows, and how many of them have each state:\n"]
    counted = [(state, *(str(count[state]) for count in counts)) for state in STATES]
    parts.append(table(("", *APIS), counted))
    for letter, title in GROUPS.items():
        shown = [(row.id, row.text, *map(cell, row.states)) for row in rows if row.id[0] == letter]
        parts += [f"## {title}\n", table(("", "Feature", *APIS), shown)]
    return "\n".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    PAGE.write_text(page(features()))
