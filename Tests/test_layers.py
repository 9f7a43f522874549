"""The layers inside a target.

Each folder uses only what itself and the folders before it in the order below declare: one target
is one module to the compiler, so it refuses nothing here. One test looks for the names of types in
the text; another asks the index that the compiler wrote, which knows members, extensions and
overloads, too. As every folder has its place in one order, no circle goes over two folders. And the
modules of the Python package have one order, too.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from index_store import IndexStore, IndexStoreError

ROOT = Path(__file__).resolve().parents[1]
ORDER = {
    "ToftPlatform": "System Memory Locks Processes Threads Files".split(),
    "ToftStorage": (
        "Bytes Format Cipher Mapping PageSets Pager Node Tree TreeWrite List Cluster ClusterWrite "
        "TableWrite Log Sharing Durability Transaction Check Copy Opening Salvage"
    ).split(),
    "ToftModel": (
        "Decimal Value Encoding Schema StoredSchema SchemaPlan Handles Object Check "
        "Buffer Write SchemaWrite Salvage"
    ).split(),
    "ToftQuery": "Text Syntax Bound Bind Plan Batch Nodes Run".split(),
    "ToftEngine": (
        "Errors Change Definition Calculate Observe Database Session Results Handles JSON Arrow "
        "Opening RealmImport"
    ).split(),
    "ToftSync": "Value Change Wire State Resolver Replica".split(),
    "ToftCAPI": "Arguments Handles Realms Objects Results".split(),
    "Toft": (
        "Errors Session Binding Value Schema Query Object Collection Results Realm Opening "
        "Observation Legacy"
    ).split(),
    "ToftShell": "Text Statements Output Run Shell".split(),
    "ToftCLI": "Terminal Commands Demo Modernize .".split(),
}
# The modules of the Python package: each imports only those before it.
PYTHON_ORDER = (
    "_ffi errors records identifiers timestamps decimals _lib arguments log session "
    "savepoints transactions _values _position inputs conversions parsing schema "
    "observe columns expressions dates aggregates _dispatching rows arrow paths plain notebooks "
    "objects prepared tables binding adding bulk sources reading _writing "
    "grouping query collection lists sets dicts _classes database migration opening shared "
    "__init__"
).split()
# The modules that name types of later ones in their annotations, which a type checker alone
# imports: parts of a session, of an object and of a class refer to each other.
PYTHON_TYPES = {
    "session": "_values binding database objects observe query rows savepoints transactions",
    "savepoints": "objects rows",
    "transactions": "database",
    "_position": "query rows",
    "inputs": "rows",
    "schema": "objects query",
    "observe": "rows",
    "columns": "rows",
    "expressions": "objects rows",
    "rows": "objects",
    "plain": "objects",
    "notebooks": "objects",
    "objects": "database dicts lists query sets",
    "tables": "query",
    "grouping": "query",
}
# The nouns of the Swift API. All folders of the target may name their public types, and the nouns
# each other's members, too: the names and signatures are RealmSwift's, in which a realm gives
# results and results give their realm, a value is a list or an object, and errors, schemas and
# configurations are nested in `Realm`. Nothing else of a noun may be used by a folder before them.
NOUNS = set("Object Collection Results Realm Opening Observation Legacy".split())
PUBLIC = re.compile(
    r"^ *(?:@[\w()]+ +)*(?:public|open) +(?:(?:final|indirect|nonisolated) +)*"
    r"(?:struct|class|enum|protocol|actor|typealias) +([A-Z_]\w*)",
    re.MULTILINE,
)
# Arrows that still point up: (target, folder, type of a later folder). No arrow may be added; one
# that no longer exists must be removed here.
KNOWN: set[tuple[str, str, str]] = set()
DECLARATION = re.compile(
    r"^(?:@[\w()]+ +)*(?:(?:package|internal|public|final|indirect|private|fileprivate|nonisolated"
    r"|open|private\(set\)) +)*(?:struct|class|enum|protocol|typealias|actor) +([A-Z]\w*)",
    re.MULTILINE,
)


# The targets whose arrows are looked for in the text, too.
TEXTUAL = ORDER.keys() - {"Toft"}


def code(path: Path) -> str:
    """A source without comments and texts."""
    text = re.sub(r'"""(?:.|\n)*?"""', '""', path.read_text())
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*(?:.|\n)*?\*/", "", text)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def upward(target: str) -> set[tuple[str, str, str]]:
    order = ORDER[target]
    home: dict[str, str] = {}
    sources: list[tuple[str, str]] = []
    for path in sorted((ROOT / "Sources" / target).rglob("*.swift")):
        folder = path.relative_to(ROOT / "Sources" / target).parts[0]
        text = code(path)
        sources.append((folder, text))
        for name in DECLARATION.findall(text):
            # A name that two folders have (private types) says nothing.
            home[name] = folder if home.get(name, folder) == folder else ""
    found = set()
    for folder, text in sources:
        if folder not in order:
            continue
        for name in set(re.findall(r"\b[A-Z]\w*", text)):
            there = home.get(name)
            if there in order and order.index(there) > order.index(folder):
                found.add((target, folder, name))
    return found


def test_no_folder_names_a_type_of_a_later_one() -> None:
    found = set().union(*(upward(target) for target in ORDER if target in TEXTUAL))
    assert found == KNOWN, (
        f"new: {sorted(found - KNOWN)}; to be removed from KNOWN: {sorted(KNOWN - found)}"
    )


@cache
def public_types(path: Path) -> set[str]:
    return set(PUBLIC.findall(path.read_text()))


def folder(path: Path, target: str) -> str:
    parts = path.relative_to(ROOT / "Sources" / target).parts
    return parts[0] if len(parts) > 1 else "."


def test_every_folder_has_its_place_in_the_order() -> None:
    for source in (ROOT / "Sources").iterdir():
        folders = {folder(path, source.name) for path in source.rglob("*.swift")}
        assert folders <= set(ORDER.get(source.name, ".")), f"{source.name}: {sorted(folders)}"


def test_no_file_uses_a_declaration_of_a_later_folder() -> None:
    known = set((ROOT / "Tests/known_arrows.txt").read_text().splitlines())
    try:
        sources = IndexStore(ROOT / "Sources").sources()
    except IndexStoreError as error:
        pytest.fail(str(error))
    found: dict[str, str] = {}
    for target, order in ORDER.items():
        root = ROOT / "Sources" / target
        inside = {path: index for path, index in sources.items() if root in path.parents}
        home = {
            symbol: path
            for path, index in inside.items()
            for symbol in index.defined
            if not symbol.is_extension
        }
        for path, index in inside.items():
            here = folder(path, target)
            for symbol, line in index.named.items():
                if not (there := home.get(symbol)):
                    continue
                noun = target == "Toft" and folder(there, target) in NOUNS
                if noun and (here in NOUNS or symbol.name in public_types(there)):
                    continue
                if order.index(folder(there, target)) > order.index(here):
                    arrow = f"{path.relative_to(root.parent)} -> {there.relative_to(root)}"
                    found.setdefault(arrow, f"{arrow} ({symbol.name}, line {line})")
    new = [text for arrow, text in sorted(found.items()) if arrow not in known]
    gone = sorted(known - found.keys())
    assert not new and not gone, "\n".join(
        ["New arrows to a later folder:", *new, "To be removed from known_arrows.txt:", *gone]
    )


def python_imports(path: Path) -> tuple[set[str], set[str]]:
    """The modules of its package that a module imports, anywhere; and for a type checker alone."""
    tree = ast.parse(path.read_text())
    guarded = {
        node
        for condition in ast.walk(tree)
        if isinstance(condition, ast.If) and "TYPE_CHECKING" in ast.unparse(condition.test)
        for statement in condition.body
        for node in ast.walk(statement)
    }
    used: tuple[set[str], set[str]] = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = {node.module.split(".")[0]} if node.module else {a.name for a in node.names}
            used[node in guarded].update(names)
    return used


def test_a_module_of_the_python_package_imports_only_those_below_it() -> None:
    modules = {path.stem: path for path in (ROOT / "bindings/python/toft").glob("*.py")}
    assert sorted(PYTHON_ORDER) == sorted(modules), "PYTHON_ORDER has each module once"
    place = {name: index for index, name in enumerate(PYTHON_ORDER)}
    upward: set[str] = set()
    upward_types: dict[str, set[str]] = {}
    for name, path in modules.items():
        used, types = python_imports(path)
        upward |= {f"{name} -> {each}" for each in used & place.keys() if place[each] > place[name]}
        if above := {each for each in types & place.keys() if place[each] > place[name]}:
            upward_types[name] = above
    assert not upward
    assert upward_types == {name: set(above.split()) for name, above in PYTHON_TYPES.items()}


def test_no_module_of_the_python_package_uses_what_is_private_to_a_realm() -> None:
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for path in sorted((ROOT / "bindings/python/toft").glob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"\brealm\._[a-z]", line)
    ]
    assert not found, "\n".join(["use the session, of which `session` tells:", *found])
