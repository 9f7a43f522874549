#!/usr/bin/env python3
"""The tests of each source file: Tests/WHERE.md, made of the first lines of the tests.

    Tests/where.py           fails for a source file that no test names, and for an old page
    Tests/where.py --write   writes the page

The first line of a test file names the source files that it tests, by their names alone, with the
target in front if two targets have a file of that name: `// Tests: Commit.swift, Toft/Realm.swift`.
The list may continue in the next lines. A source file is named by the test that should fail first.
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "Tests/WHERE.md"
COLUMNS = 120
IN_SWIFT = re.compile(r"Toft\w*(?:Tests|Trials)")
HEAD = """# Where the test of a thing is

For each source file the tests that should fail first if it is wrong. `Tests/where.py --write` makes
this page of the first lines of the tests.
"""


def test_files() -> list[Path]:
    """Swift files with tests or a trial, and the modules of pytest that test Swift sources."""
    swift = [
        path
        for folder in (ROOT / "Tests").iterdir()
        if folder.is_dir() and IN_SWIFT.fullmatch(folder.name)
        for path in folder.rglob("*.swift")
        if "@Test" in path.read_text() or re.search(r"Trials?\.swift$", path.name)
    ]
    names = ("toftdb", "shell", "studio", "infer", "sqlite_import", "modernize", "realmswift")
    whole = [ROOT / f"Tests/test_{name}.py" for name in names]
    python = [*whole, *(ROOT / "bindings/c/tests").glob("test_*.py")]
    return sorted([*swift, *python])


def named(path: Path) -> list[str]:
    """The names in the first lines of a test file."""
    mark = "#" if path.suffix == ".py" else "//"
    text = re.match(rf"{mark} Tests:((?:.*,\n{mark})*.*)", path.read_text())
    return re.findall(r"[\w+/]+\.swift", text[1]) if text else []


def main() -> int:
    sources = sorted((ROOT / "Sources").rglob("*.swift"))
    count = Counter(path.name for path in sources)
    by_name = {
        path.name
        if count[path.name] == 1
        else f"{path.relative_to(ROOT).parts[1]}/{path.name}": path
        for path in sources
    }
    tests: defaultdict[Path, list[Path]] = defaultdict(list)
    problems = []
    for test in test_files():
        names = named(test)
        shown = test.relative_to(ROOT)
        if not names:
            problems.append(
                f"{shown}: its first line has no `Tests:`; Tests/where.py says what it is"
            )
        for name in names:
            if name in by_name:
                tests[by_name[name]].append(test)
            else:
                problems.append(f"{shown}: there is no source file {name}, or there are several")
    for name, source in by_name.items():
        if source not in tests:
            problems.append(
                f"{source.relative_to(ROOT)}: no test names it. Add {name} to the first line of "
                "the test that should fail first if it is wrong."
            )
    page = HEAD
    for target in sorted({source.relative_to(ROOT).parts[1] for source in sources}):
        page += f"\n## {target}\n\n"
        for source in sorted(sources, key=lambda path: path.name):
            if source.relative_to(ROOT).parts[1] == target:
                where = ", ".join(f"`{test.relative_to(ROOT)}`" for test in tests[source])
                lines = wrap(
                    f"- `{source.name}`: {where}",
                    COLUMNS,
                    subsequent_indent="  ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                page += "\n".join(lines) + "\n"
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        problems.append("Tests/WHERE.md is not what the tests say: run Tests/where.py --write")
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
