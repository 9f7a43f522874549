# Tests: Unavailable.swift, Unavailable+Sync.swift, Unavailable+Views.swift
"""The public names of RealmSwift 10.54, held against those of the module RealmSwift.

RealmSwiftSymbols.tsv says of each whether it is there, a stub that the compiler refuses with the
way to write it, or absent, and why. A call may have more parameters with defaults than Realm's.
`python3 Tests/test_realmswift.py` prints what the module has, to bring the table up to date.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "Tests/RealmSwiftSymbols.tsv"
BUILT = Path(os.environ.get("TOFT_SWIFT_BUILD", ROOT / ".build/debug"))
GOAL = 97
# The protocols and base classes whose members a type has, too.
BASES = {
    "Object": ["ObjectBase", "ThreadConfined", "RealmSwiftObject"],
    "EmbeddedObject": ["ObjectBase", "ThreadConfined"],
    "DynamicObject": ["Object", "ObjectBase"],
    "List": ["RealmCollection", "ThreadConfined"],
    "MutableSet": ["RealmCollection", "ThreadConfined"],
    "Results": ["RealmCollection", "ThreadConfined"],
    "LinkingObjects": ["RealmCollection", "ThreadConfined"],
    "AnyRealmCollection": ["RealmCollection", "ThreadConfined"],
    "RealmCollection": ["ThreadConfined", "RealmCollectionBase"],
    "Map": ["RealmKeyedCollection", "ThreadConfined"],
    "Projection": ["ProjectionObservable", "ThreadConfined"],
    "ProjectedCollection": ["ThreadConfined"],
    "SectionedResults": ["RealmSectionedResult", "ThreadConfined"],
    "ResultsSection": ["RealmSectionedResult", "ThreadConfined"],
    "CustomPersistable": ["_CustomPersistable"],
    "ObjectKeyIdentifiable": ["Identifiable"],
}
# Members that the standard library gives, which the graph of symbols does not list.
STANDARD = {
    *("==(_:_:)", "count", "negate()", "hash(into:)", "first", "last", "Wrapped"),
    *("init(unicodeScalarLiteral:)", "init(extendedGraphemeClusterLiteral:)"),
}


# A declaration that the compiler refuses; the graph of symbols leaves such out.
STUB = re.compile(
    r"@available\(\s*\*, unavailable,(?:[^@]|@escaping|@propertyWrapper)*?"
    r"(?:struct|class|enum|protocol|typealias|var|func) (\w+)"
)


def symbols() -> dict[str, dict[str, bool]]:
    """By the path of a type, "" for what is in none, the names of its members; true: stubs."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for path in sorted((ROOT / "Sources/RealmSwift").glob("*.swift")):
        for part in re.split(r"\n(?=extension )", path.read_text()):
            extension = re.match(r"extension ([\w.]+)", part)
            body, _, rest = part.partition("\n}\n") if extension else ("", "", part)
            for owner, text in ((extension[1] if extension else "", body), ("", rest)):
                for name in STUB.findall(text):
                    found[owner][name] = True
    with tempfile.TemporaryDirectory() as folder:
        for module in ("Toft", "RealmSwift"):
            subprocess.run(
                [
                    shutil.which("swift") or "/opt/swift/usr/bin/swift",
                    "symbolgraph-extract",
                    *("-module-name", module, "-I", BUILT / "Modules"),
                    *("-I", ROOT / "include", "-I", ROOT / "Sources/CPlatform/include"),
                    *("-target", "x86_64-unknown-linux-gnu", "-output-dir", folder),
                    *("-minimum-access-level", "public", "-skip-inherited-docs"),
                ],
                check=True,
            )
        for path in Path(folder).glob("*.json"):
            for symbol in json.loads(path.read_text())["symbols"]:
                # Members that a type has of a protocol are those of the protocol.
                if "::SYNTHESIZED::" not in symbol["identifier"]["precise"]:
                    *owner, name = symbol["pathComponents"]
                    found[".".join(owner)][name] = False
    return found


def takes(name: str, wanted: str) -> bool:
    """Whether a call serves where another one is written: it has its labels, in their order."""
    base, _, labels = name.rstrip(")").partition("(")
    wanted_base, _, wanted_labels = wanted.rstrip(")").partition("(")
    if base != wanted_base or ("(" in name) != ("(" in wanted):
        return False
    rest = iter(labels.split(":"))
    return all(label in rest for label in wanted_labels.split(":"))


def status(symbol: tuple[str, str], module: dict[str, dict[str, bool]]) -> str:
    owner, name = symbol
    outer, _, inner = owner.rpartition(".")
    places = [(outer, inner), ("Realm", owner)]
    if name:
        places = [(place, name) for place in (owner, *BASES.get(owner, []))]
    stubs = [
        stub
        for place, wanted in places
        for given, stub in module[place].items()
        if takes(given, wanted) or (stub and given == wanted.partition("(")[0])
    ]
    if not stubs and name in STANDARD:
        return "there"
    return "absent" if not stubs else "stub" if all(stubs) else "there"


# The types whose calls the matrix of misuse has to make, and what it need not make: what any value
# of Swift has, what is made without an object, and what other suites use in all these ways.
MATRIX = ROOT / "Tests/ToftTests/UseMatrixTests.swift"
MATRIX_TYPES = (
    "Realm ObjectBase RealmCollection List MutableSet Map Results ProjectedCollection "
    "RealmSectionedResult SectionedResults ResultsSection"
).split()
EXEMPT = set(
    (
        "startIndex endIndex index hash isFrozen makeIterator underestimatedCount encode id "
        "configuration flush close invalidate resolve interruption write beginWrite commitWrite "
        "cancelWrite writeAsync beginAsyncWrite commitAsyncWrite cancelAsyncWrite asyncWrite "
        "asyncRefresh isPerformingAsynchronousWriteOperations observe writeCopy compactStep "
        "readJSONLines readCSV writeJSONLines writeCSV asKeyValueSequence changes setAlias "
        "ignoredProperties indexedProperties propertiesMapping sharedSchema uniqueProperties "
        "asyncOpen changeKey compact deleteFiles dryRun failureHandler fileExists importRealmFile "
        "misuseHandler performMigration salvage"
    ).split()
)


def test_the_matrix_of_misuse_makes_every_call(module):
    text = MATRIX.read_text()
    missing = sorted(
        f"{owner}.{name}"
        for owner in MATRIX_TYPES
        for name, is_stub in module[owner].items()
        if not is_stub
        and re.match(r"[a-z]\w*", name)
        and not name.startswith(("init(", "subscript("))
        and (base := name.partition("(")[0]) not in EXEMPT
        and not re.search(rf"\b{base}\b", text)
    )
    assert not missing, missing


def table() -> list[dict[str, str]]:
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def split(symbol: str) -> tuple[str, str]:
    """The type and the member of "Realm.write(_:)"; a type alone has no member."""
    owner, _, name = symbol.partition("#")
    return owner, name


@pytest.fixture(scope="module")
def module() -> dict[str, dict[str, bool]]:
    if not (BUILT / "Modules/RealmSwift.swiftmodule").exists():
        pytest.skip("the module RealmSwift is not built: swift build")
    return symbols()


def test_the_table_says_of_each_name_what_the_module_has(module):
    rows = table()
    wrong = [
        f"{row['symbol']}: {row['status']} in the table, {now} in the module"
        for row in rows
        if (now := status(split(row["symbol"]), module)) != row["status"]
    ]
    assert not wrong, "\n".join(wrong)


def test_names_that_are_not_there_have_a_reason_and_few_are_absent():
    rows = table()
    assert len({row["symbol"] for row in rows}) == len(rows)
    without = [row["symbol"] for row in rows if row["status"] != "there" and not row["reason"]]
    assert not without, without
    counts = Counter(row["status"] for row in rows)
    share = 100 * (counts["there"] + counts["stub"]) / len(rows)
    print(f"\nRealmSwift: {len(rows)} names, {dict(counts)}; there or stub: {share:.1f} %")
    assert share >= GOAL


if __name__ == "__main__":
    found = symbols()
    for row in table():
        print(row["symbol"], status(split(row["symbol"]), found), row["reason"], sep="\t")
    sys.exit()
