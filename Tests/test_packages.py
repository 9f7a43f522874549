"""One program in C, Python and Swift, over the same packages:

what it prints is the same in each, and right.
"""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "Tests/packages.jsonl"
BUILT = Path(os.environ.get("TOFT_SWIFT_BUILD", ROOT / ".build/debug"))
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
PROGRAMS = {
    "C": [ROOT / "build/bindings-c/packages"],
    "Python": [sys.executable, ROOT / "bindings/python/examples/packages.py"],
    "Swift": [BUILT / "PackagesSwift"],
}
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}


def run(language: str, *arguments: object, status: int = 0) -> subprocess.CompletedProcess:
    command = [str(part) for part in (*PROGRAMS[language], *arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    assert done.returncode == status, f"{language}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packages") / "packages.tsv"
    subprocess.run(
        [sys.executable, ROOT / "Tests/Benchmarks/packages/packages_tsv.py", SAMPLE, path],
        check=True,
    )
    return path


def expected() -> list[str]:
    """The expected output of the programs, worked out without a database."""
    packages = {
        package["name"]: package for package in map(json.loads, SAMPLE.read_text().splitlines())
    }
    everyone = packages.values()

    def links(kind: str) -> int:
        return sum(name in packages for package in everyone for name in package[kind])

    def missing(kind: str) -> int:
        return sum(name not in packages for package in everyone for name in package[kind])

    def independent(names: collections.abc.Container[str], *kinds: str) -> int:
        return sum(
            not any(name in names for kind in kinds for name in package[kind])
            for package in everyone
            if package["name"] in names
        )

    def implemented(language: str) -> str:
        tag = f"implemented-in::{language}"
        return f"{language}: {sum(tag in package['tags'] for package in everyone)}"

    sizes = [package["installedSize"] for package in everyone]
    libraries = sorted(
        (package for package in everyone if package["section"] == "libs"),
        key=lambda each: -each["installedSize"],
    )[:5]
    largest = ", ".join(
        f"{package['name']} ({package['installedSize']} KiB)" for package in libraries
    )
    direct = {package["name"] for package in everyone if "libc6" in package["depends"]}
    second = sum(any(name in direct for name in package["depends"]) for package in everyone)
    programs = sum(
        package["section"] != "python"
        and any(name.startswith("python3") and name in packages for name in package["depends"])
        for package in everyone
    )
    games = [package for package in everyone if package["section"] == "games"]
    extra = sum(
        package["priority"] == "extra" and package["section"] != "games" for package in everyone
    ) + len(games)
    left = {name for name, package in packages.items() if package["section"] != "doc"}
    return [
        f"{len(packages)} packages are loaded, with {links('depends')} dependencies and "
        f"{links('recommends')} recommendations; "
        f"{missing('depends')} and {missing('recommends')} more name no package.",
        f"1. Installed, all of it takes {sum(sizes)} KiB, on average "
        f"{sum(sizes) / len(sizes):.1f} KiB; the largest package takes {max(sizes)} KiB.",
        f"2. The largest libraries: {largest}.",
        f"3. libc6 is needed by {len(direct)} packages directly, and by {second} at second hand.",
        f"4. {programs} packages outside section python depend on a package of Python 3; "
        f"{independent(packages, 'depends', 'recommends')} depend on nothing and recommend "
        f"nothing.",
        f"5. Their tags say that they are implemented in "
        f"{', '.join(map(implemented, ('c', 'c++', 'python', 'perl')))}; "
        f"{sum(len(package['tags']) > 3 for package in everyone)} have more than three tags.",
        f"Updated: {len(games)} games are extra; so are {extra} packages in all.",
        f"Deleted: {len(packages) - len(left)} documents, {len(left)} packages are left; "
        f"{independent(packages, 'depends')} depended on nothing, now "
        f"{independent(left, 'depends')} do.",
        "Section 'example' is observed while another process writes:",
        "   version 6; inserted 0, 1, 2 -> now example-apple example-banana example-date",
        "   version 7; inserted 2; modified 1 -> now example-apple example-banana example-cherry "
        "example-date",
        "   version 8; deleted 0; modified 3 -> now example-banana example-cherry example-date",
        "   The copy that followed the indices equals the results.",
    ]


@pytest.mark.parametrize("language", PROGRAMS)
def test_it_prints_what_is_so(language: str, table: Path, tmp_path: Path) -> None:
    database = tmp_path / "packages.toft"
    assert run(language, table, database).stdout.splitlines() == expected()
    toftdb = [TOFTDB]
    subprocess.run([*toftdb, "check", str(database)], check=True, capture_output=True)
    count = subprocess.run(
        [*toftdb, "query", str(database), "Package", "section == 'example'", "--count", "--json"],
        check=True,
        capture_output=True,
    )
    assert json.loads(count.stdout) == {"count": 3}


def test_a_database_made_in_one_language_is_loaded_again_in_the_others(
    table: Path, tmp_path: Path
) -> None:
    database = tmp_path / "packages.toft"
    outputs = {
        language: run(language, table, database).stdout.splitlines() for language in PROGRAMS
    }
    for output in outputs.values():
        assert output[:9] == expected()[:9]


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_malformed_table_is_told_with_its_line(
    language: str, table: Path, tmp_path: Path
) -> None:
    first = table.read_text().splitlines()[0]
    bad = tmp_path / "bad.tsv"
    for line, problem in {
        "only\ttwo": "there are not 13 columns",
        "a" + "\t" * 4 + "\tx" + "\t" * 7: "a size is no number",
    }.items():
        bad.write_text(f"{first}\n{line}\n")
        assert run(language, bad, tmp_path / "bad.toft", status=1).stderr == f"{bad}:2: {problem}\n"
    assert run(language, status=2).stderr.startswith("usage: ")
