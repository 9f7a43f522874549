#!/usr/bin/env python3
"""Fuzzes the parser and the binder of queries: python3 Tests/fuzz.py [SECONDS] [SEED].

Builds `Tests/Fuzz` in a copy of the package, instrumented for libFuzzer, which comes with the
toolchain, and runs it for SECONDS (600) on one core. It begins with the queries of the conformance
data and with what earlier runs kept in build/fuzz/corpus. A text that ends the program, that takes
more than ten seconds or two gigabytes is left in build/fuzz/found and ends the run with status 1:
the same program with FILE as its argument and TOFT_CONFORMANCE_DATASET runs it again.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/fuzz"
COPY = BUILD / "copy"
FIXTURES = ROOT / "Tests/ToftQueryTests/Fixtures"
TARGET = """
package.targets.append(
    .executableTarget(
        name: "QueryFuzz",
        dependencies: [
            "ToftEngine", "ToftQuery", "ToftModel", "ToftStorage", "ToftTestKit",
        ],
        path: "Tests/Fuzz"))

for target in package.targets
"""
# The words of the language, for libFuzzer to combine.
WORDS = """
AND OR NOT ANY SOME ALL NONE IN BETWEEN BEGINSWITH ENDSWITH CONTAINS LIKE MATCHES SUBQUERY(
TRUEPREDICATE FALSEPREDICATE SORT( DISTINCT( LIMIT( OFFSET( FILTER( ASC DESC SELF YES null nil true
inf nan obj( uuid( oid( binary( B64" T1:0 1970-01-01@00:00:00 double( decimal( L1:1 O1 0x1F 1e3
1.5f $0 $1 $K2 $x @count @size @min @max @sum @avg @links @type @keys @values [c] [d] [cd] [FIRST]
[LAST] [SIZE] [*] [0] == != <> <= >= =< => && || boss friends dogs owners reports ints intSet
intDict mixed address country name age
"""


def write(path: Path, text: str) -> None:
    """Writes a file unless it is what it should be, so that the next build is a short one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def copy_package() -> None:
    """The package with one target more, which has the conformance data of the tests."""
    for part in ["Sources", "include", "Tests"]:
        shutil.rmtree(COPY / part, ignore_errors=True)
        shutil.copytree(ROOT / part, COPY / part, copy_function=shutil.copy2)
    manifest = (ROOT / "Package.swift").read_text()
    write(COPY / "Package.swift", manifest.replace("\nfor target in package.targets\n", TARGET))
    for name in ["ConformanceData.swift", "Fixtures.swift"]:
        text = (ROOT / "Tests/ToftQueryTests" / name).read_text()
        # Parts that only a test may use are left out.
        for part in ["import Testing\n", "@testable ", " found.type.canBeIndexed,"]:
            text = text.replace(part, "")
        write(COPY / "Tests/Fuzz" / name, text)


def write_corpus(seeds: Path) -> None:
    """A file for each query: the number of its class, then the text."""
    classes = json.loads((FIXTURES / "dataset.json").read_text())["schema"]
    names = sorted(item["name"] for item in classes)
    seeds.mkdir(parents=True, exist_ok=True)
    for line in (FIXTURES / "queries.tsv").read_text().splitlines()[1:]:
        fields = line.split("\t")
        text = chr(len(names) * 4 + names.index(fields[2])) + json.loads(fields[3])
        (seeds / fields[0]).write_bytes(text.encode())


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(3), "little") + 1
    copy_package()
    command = ["swift", "build", "-c", "release", "--package-path", str(COPY)]
    command += ["--scratch-path", str(BUILD), "-Xswiftc", "-sanitize=fuzzer"]
    # The other linker ends with an internal error of its own.
    command += ["-Xswiftc", "-use-ld=lld"]
    subprocess.run([*command, "--product", "QueryFuzz"], check=True)
    write_corpus(BUILD / "seeds")
    write(
        BUILD / "words",
        "".join(f'"{word.replace(chr(34), chr(92) + chr(34))}"\n' for word in WORDS.split()),
    )
    (BUILD / "corpus").mkdir(exist_ok=True)
    (BUILD / "found").mkdir(exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-seed={seed}", f"-dict={BUILD / 'words'}"]
    options += ["-max_len=400", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]
    options += [f"-artifact_prefix={BUILD / 'found'}/"]
    program = BUILD / "release/QueryFuzz"
    # A crash is libFuzzer's to handle, which keeps the text; Swift's own handler does not.
    environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    environment |= {"TOFT_CONFORMANCE_DATASET": str(FIXTURES / "dataset.json")}
    corpora = [BUILD / "corpus", BUILD / "seeds"]
    run = subprocess.run([program, *options, *corpora], env=environment, check=False)
    sys.exit(1 if run.returncode else 0)


if __name__ == "__main__":
    main()
